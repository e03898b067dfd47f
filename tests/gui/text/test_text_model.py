"""Tests of the text model. After any edits, its tokens are those that a new encoding of the text gives."""

from __future__ import annotations

import itertools
import zlib

import numpy as np
import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from app.window.text import chunks as text_chunks
from app.window.text import text_model
from app.window.text.chunks import TextChunks
from app.window.text.text_model import NO_TOKEN, TextChange, TokenAt, TokenTextModel
from bpe_core.kernels import NEVER
from bpe_core.recipes.recipe import Recipe
from bpe_core.segmenting.boundaries import INSIDE, Boundaries
from bpe_core.segmenting.merging import PATTERN_CUT as CUT
from bpe_core.splitting.safe_cuts import SafeCuts
from bpe_core.support.arrays import Int32s
from bpe_core.text.patterns import NAMED_PATTERNS

GPT2 = regex.compile(NAMED_PATTERNS["gpt2"].expression)
CUTS = SafeCuts.of(Recipe.preset("gpt2"))

# Letters, blanks, line ends of all kinds, marks, joiners, right-to-left, beyond the first plane.
CHARACTERS = "ab z1'.,s\n\n\r\t\x00\u0301\u200d\u2028\u2029é€אم日한😀👍🏽🇩🇪"
texts = st.text(st.sampled_from(CHARACTERS) | st.characters(codec="utf-8"), max_size=60)
lines = st.lists(st.text("abc '!\n", max_size=12), max_size=12).map("".join)


def made_up_ranks(text: str) -> Int32s:
    """Return made-up ranks of boundaries. As in the engine, all occurrences of a word have the same ranks."""
    ranks: list[int] = []
    for match in GPT2.finditer(text):
        word = match.group().encode()
        ranks.append(CUT)
        numbers = [zlib.crc32(word, i) for i in range(1, len(word))]
        ranks += [number % 50 if number % 7 else NEVER for number in numbers]
    return np.array([*ranks, CUT], np.int32)


def made_up_boundaries(text: str) -> Boundaries:
    return Boundaries(text.encode(), made_up_ranks(text))


def answer(model: TokenTextModel) -> None:
    request = model.request(CUTS)
    if request:
        assert model.accept(request.revision, request.start, made_up_boundaries(request.text))


def naive_spans(ranks: Int32s, at: int) -> list[tuple[int, int]]:
    edges = [i for i, rank in enumerate(ranks.tolist()) if rank >= at]
    return list(itertools.pairwise(edges))


def naive_ids(data: bytes, ranks: Int32s, at: int) -> list[int]:
    return [data[a] if b - a == 1 else 256 + max(ranks[a + 1 : b].tolist()) for a, b in naive_spans(ranks, at)]


@pytest.fixture
def short_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Break lines after a few characters, so that a small text has many chunks."""
    make_chunks_short(monkeypatch)


def make_chunks_short(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(text_chunks, "LONGEST_CHUNK", 8)
    patch.setattr(text_chunks, "SHORTEST_PART", 3)
    patch.setattr(text_chunks, "CUT_SEARCH", 4)


# -- chunks and positions ------------------------------------------------------------------


def check_chunks(chunks: TextChunks, text: str) -> None:
    parts = list(chunks)
    assert "".join(parts) == text == chunks.text()
    assert all(parts[:-1]), "only the last chunk may be empty"
    assert not parts[-1].endswith("\n")
    assert all("\n" not in part[:-1] for part in parts)
    assert chunks.length == len(text)
    assert chunks.byte_length == len(text.encode())


@given(texts)
def test_character_and_byte_offsets_of_text_chunks_agree_with_utf_8_encoding(text: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        make_chunks_short(patch)
        chunks = TextChunks(text)
        check_chunks(chunks, text)
        data = text.encode()
        for character in range(len(text) + 1):
            byte = len(text[:character].encode())
            assert chunks.byte_of(character) == byte
            assert chunks.character_of(byte) == character
        for byte in range(len(data)):
            assert chunks.character_of(byte) == len(data[:byte].decode(errors="ignore"))


@given(texts, st.lists(st.tuples(st.integers(0, 80), st.integers(0, 12), texts), max_size=8))
def test_text_chunks_contain_the_edited_text_after_every_edit(text: str, edits: list[tuple[int, int, str]]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        make_chunks_short(patch)
        chunks = TextChunks(text)
        for start, length, added in edits:
            start = min(start, len(text))
            stop = min(start + length, len(text))
            before = list(chunks)
            change = chunks.replace(start, stop, added)
            text = text[:start] + added + text[stop:]
            check_chunks(chunks, text)
            after = list(chunks)
            assert before[: change.first] == after[: change.first]
            assert before[change.first + change.removed :] == after[change.first + change.added :]


def test_a_long_line_is_divided_at_blanks_and_never_inside_a_grapheme() -> None:
    assert all(chunk.endswith(" ") for chunk in list(TextChunks("some words " * 500))[:-1])
    for whole in ("e\u0301", "👍🏽", "👩\u200d👧", "🇩🇪"):
        chunks = list(TextChunks("x" + whole * 4000))
        assert len(chunks) > 2
        assert all("".join(chunks[:i]).endswith(whole) for i in range(1, len(chunks)))


# -- ranks and tokens ----------------------------------------------------------------------


@given(texts, st.integers(0, 60), st.data())
def test_tokens_and_ids_of_the_text_model_match_those_of_a_plain_loop(text: str, at: int, data: st.DataObject) -> None:
    model = TokenTextModel(text)
    answer(model)
    model.set_cursor(at)
    ranks, raw = made_up_ranks(text), text.encode()
    spans = naive_spans(ranks, at)
    assert model.token_count() == len(spans)
    assert model.counts().words == len(text.split())
    if not raw:
        assert model.token_at(0) is None
        return
    tokens = model.tokens_between(0, len(raw))
    assert tokens.edges.tolist() == [a for a, _ in spans] + [len(raw)]
    assert tokens.ids.tolist() == naive_ids(raw, ranks, at)
    byte = data.draw(st.integers(0, len(raw) - 1))
    index = next(i for i, (a, b) in enumerate(spans) if a <= byte < b)
    token = model.token_at(byte)
    assert token is not None
    assert token == TokenAt(*spans[index], naive_ids(raw, ranks, at)[index], raw[slice(*spans[index])])
    assert model.index_of_token(byte) == index


def test_characters_outside_the_alphabet_are_shown_without_a_token() -> None:
    model = TokenTextModel("né!")
    ranks = np.array([CUT, 7, INSIDE, CUT, CUT], np.int32)
    symbols = np.array([14, 30, 30, NO_TOKEN], np.int32)
    assert model.accept(model.revision, 0, Boundaries(model.data, ranks, symbols, alphabet_size=40))
    model.set_cursor(7)
    assert model.tokens_between(0, 4).ids.tolist() == [14, 30, NO_TOKEN]
    assert model.token_count() == 2
    model.set_cursor(8)
    assert model.tokens_between(0, 4).ids.tolist() == [47, NO_TOKEN]


# -- edits ---------------------------------------------------------------------------------


class EditedText(RuleBasedStateMachine):
    """A state machine that edits a text, undoes edits and moves the time slider.

    The engine, which encodes the text, answers rarely, and sometimes too late.
    """

    def __init__(self) -> None:
        super().__init__()
        self._patch = pytest.MonkeyPatch()
        make_chunks_short(self._patch)
        self.model = TokenTextModel("It was\na test, don't\nyou see")
        self.text = self.model.text()
        self.past: list[str] = []
        self.future: list[str] = []
        self.changes: list[TextChange] = []
        self.model.text_changed.connect(self.changes.append)
        answer(self.model)

    def teardown(self) -> None:
        self._patch.undo()

    @rule(start=st.integers(0, 80), length=st.integers(0, 9), added=texts | lines)
    def edit(self, start: int, length: int, added: str) -> None:
        start = min(start, len(self.text))
        stop = min(start + length, len(self.text))
        new = self.text[:start] + added + self.text[stop:]
        if self.text[start:stop] != added:
            self.past.append(self.text)
            self.future.clear()
        self.model.replace(start, stop, added)
        self._check_last_change(self.text, new)
        self.text = new

    @precondition(lambda self: self.past)
    @rule()
    def undo(self) -> None:
        self.future.append(self.text)
        self.text = self.past.pop()
        self.model.undo.undo()

    @precondition(lambda self: self.future)
    @rule()
    def redo(self) -> None:
        self.past.append(self.text)
        self.text = self.future.pop()
        self.model.undo.redo()

    @rule()
    def engine_answers(self) -> None:
        answer(self.model)
        assert not self.model.is_pending

    @precondition(lambda self: self.text)
    @rule(letter=st.sampled_from("aé😀\n"))
    def engine_answers_too_late(self, letter: str) -> None:
        request = self.model.request(CUTS)
        self.edit(len(self.text) // 2, 0, letter)
        if request:
            assert not self.model.accept(request.revision, request.start, made_up_boundaries(request.text))

    @rule(at=st.integers(0, 60))
    def travel(self, at: int) -> None:
        self.model.set_cursor(at)

    @invariant()
    def text_is_exact(self) -> None:
        check_chunks(self.model.chunks, self.text)
        assert self.model.undo.canUndo() == bool(self.past)
        assert self.model.undo.canRedo() == bool(self.future)

    @invariant()
    def words_are_counted_on_as_they_would_be_counted_anew(self) -> None:
        assert self.model.counts().words == len(self.text.split())

    @invariant()
    def tokens_cover_the_text_without_a_gap(self) -> None:
        if self.text:
            edges = self.model.tokens_between(0, self.model.byte_length).edges
            assert edges[0] == 0
            assert edges[-1] == len(self.text.encode())
            assert (np.diff(edges) > 0).all()

    @invariant()
    def known_ranks_are_those_of_the_whole_text(self) -> None:
        if not self.model.is_pending:
            expected = naive_spans(made_up_ranks(self.text), self.model.cursor)
            assert self.model.edges().tolist() == [a for a, _ in expected] + [len(self.text.encode())]

    def _check_last_change(self, old: str, new: str) -> None:
        if old != new:
            change = self.changes[-1]
            assert old[: change.start] + change.added + old[change.start + len(change.removed) :] == new


TestEditedText = EditedText.TestCase


def test_an_edited_word_keeps_the_old_tokens_until_the_word_is_encoded_again() -> None:
    model = TokenTextModel("low and high")
    ranks = np.array([CUT, 0, 1, CUT, 2, 3, 4, CUT, 5, 6, 7, 8, CUT], np.int32)
    model.accept(0, 0, Boundaries(model.data, ranks))
    model.set_cursor(100)
    before = model.tokens_between(0, 12)
    model.replace(6, 6, "x")
    after = model.tokens_between(0, 13)
    assert after.ids.tolist() == before.ids.tolist()
    assert after.edges.tolist() == [0, 3, 8, 13]
    token = model.token_at(5)
    assert token is not None
    assert token.id == NO_TOKEN, "its id is not known yet, and is not made up"
    known = model.token_at(10)
    assert known is not None
    assert known.id == before.ids[-1]
    assert not model.counts().known


def test_a_long_pasted_text_has_no_tokens_until_the_text_is_encoded() -> None:
    model = TokenTextModel("ab")
    model.accept(0, 0, Boundaries(model.data, np.array([CUT, 0, CUT], np.int32)))
    model.set_cursor(1)
    model.replace(1, 1, "paste " * 50)
    ids = model.tokens_between(0, model.byte_length).ids.tolist()
    assert ids == [ord("a"), NO_TOKEN, ord("b")]


def test_undo_removes_typed_words_one_by_one_and_restores_characters_deleted_in_a_row() -> None:
    model = TokenTextModel()
    for character in "one two":
        model.replace(model.length, model.length, character, joins=True)
    model.replace(6, 7, "", joins=True)
    model.replace(5, 6, "", joins=True)
    texts_on_the_way_back: list[str] = []
    while model.undo.canUndo():
        model.undo.undo()
        texts_on_the_way_back.append(model.text())
    assert texts_on_the_way_back == ["one two", "one ", ""]
    while model.undo.canRedo():
        model.undo.redo()
    assert model.text() == "one t"


def test_setting_a_new_text_clears_the_undo_stack_and_moving_the_caret_ends_an_undo_step() -> None:
    model = TokenTextModel("old")
    model.replace(0, 0, "x")
    model.set_text("new")
    model.undo.undo()
    assert model.text() == "new"
    model.replace(3, 3, "a", joins=True)
    model.steps.end_typing()
    model.replace(4, 4, "b", joins=True)
    model.undo.undo()
    assert model.text() == "newa"


@given(texts)
def test_the_text_model_keeps_the_text_exactly(text: str) -> None:
    model = TokenTextModel(text)
    assert model.text() == text
    model.replace(0, 0, text)
    assert model.text() == text + text


def test_a_lone_surrogate_in_the_text_is_replaced_by_the_replacement_character() -> None:
    assert TokenTextModel("a\ud83d").text() == "a\ufffd"
    model = TokenTextModel()
    model.replace(0, 0, "\udc00b")
    assert model.text() == "\ufffdb"


def test_bytes_per_token_are_shown_as_missing_for_an_empty_text() -> None:
    model = TokenTextModel()
    assert model.counts().bytes_per_token is None
    model.set_text("né né")
    answer(model)
    counts = model.counts()
    assert (counts.characters, counts.bytes, counts.words) == (5, 7, 2)
    assert counts.bytes_per_token == 7 / counts.tokens
    assert counts.tokens_per_word == counts.tokens / 2


def test_the_text_model_requests_the_encoding_of_the_whole_text_if_no_token_is_known() -> None:
    model = TokenTextModel("some text")
    answer(model)
    model.accept(model.revision, 0, Boundaries.unknown(model.data))
    request = model.request(CUTS)
    assert request is not None
    assert (request.start, request.text) == (0, "some text")
    assert set(model.tokens_between(0, 9).ids.tolist()) == {NO_TOKEN}


def test_the_oldest_undo_steps_are_dropped_when_they_hold_too_many_characters(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_model, "REMEMBERED_CHARACTERS", 5)
    model = TokenTextModel()
    for text in ("aaa", "bbb", "cc"):
        model.replace(model.length, model.length, text)
    while model.undo.canUndo():
        model.undo.undo()
    assert model.text() == "aaa"
    while model.undo.canRedo():
        model.undo.redo()
    assert model.text() == "aaabbbcc"
