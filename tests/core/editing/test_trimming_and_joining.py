"""Tests of trimmed and joined tables. Every id can be decoded, and each token is the result of encoding some text."""

from __future__ import annotations

import json
from io import BytesIO

import numpy as np
import pytest
import tokenizers
from hypothesis import given, settings
from hypothesis import strategies as st

from bpe_core.counting.count_words import count_words
from bpe_core.counting.words import WordTable
from bpe_core.editing.putting_together import put_together
from bpe_core.editing.trimming import NEEDED, Needed, costs, least_used, surplus, trim
from bpe_core.errors import BpeError, FormatError, OutputError
from bpe_core.formats import FORMATS
from bpe_core.formats.base import NO_NUMBER
from bpe_core.history.alphabet import Alphabet, Symbol
from bpe_core.history.history import History, Int64s
from bpe_core.history.joining import MergePriorities, PairRows
from bpe_core.insight.audit import TokenPlaces
from bpe_core.insight.reachability import unreachable_tokens
from bpe_core.methods.kit.tokenizer import Tokenizer
from bpe_core.methods.kit.trainer import learn
from bpe_core.recipes.recipe import Recipe
from bpe_core.text.corpus import Corpus
from tests.core.learning import train
from tests.shared import text_of

RECIPE = Recipe.preset("gpt2", merges=150, special_tokens=("<|end|>", "<|pad|>"))
TEXT = "the lowest price is lower than the last one, né? 価格は安い"


@pytest.fixture(scope="module")
def words() -> WordTable:
    return count_words(Corpus.from_texts([text_of("poem")[:3_000]]), RECIPE)


@pytest.fixture(scope="module")
def history(words: WordTable) -> History:
    return learn(words, RECIPE)


@pytest.fixture(scope="module")
def other() -> History:
    return train(Corpus.from_texts([text_of("greek")[:1_500] + text_of("prose")[:1_500]]), RECIPE)


def peer_of(history: History, numbers: Int64s | None = None) -> tokenizers.Tokenizer:
    file = BytesIO()
    FORMATS["tokenizer.json"].write(history.numbered(numbers), file)
    return tokenizers.Tokenizer.from_buffer(file.getvalue())


def split_hidden_tokens(ids: list[int], hidden: set[int], history: History) -> list[int]:
    """Replace each token in `hidden` by the two tokens that its merge joined, until no hidden token is left."""
    parts_so_far = []
    for id in ids:
        parts_so_far += split_hidden_tokens(list(history.parts(id) or ()), hidden, history) if id in hidden else [id]
    return parts_so_far


def without_joining(history: History) -> History:
    return History.from_pairs(history.recipe, history.alphabet, history.pairs())


@settings(max_examples=8)
@given(data=st.data())
def test_a_trimmed_table_can_still_produce_all_its_tokens_and_encode_every_text(
    history: History, data: st.DataObject
) -> None:
    learned = st.integers(len(history.alphabet), history.index_count - 1)
    chosen, text = data.draw(st.sets(learned, max_size=60)), data.draw(st.text(max_size=30)) + TEXT
    needed: Needed = data.draw(st.sampled_from(tuple(NEEDED)))
    numbers = np.arange(history.index_count) * 3 + 7  # numbers with holes
    given = numbers[[*chosen]].tolist()
    trimmed = trim(history.numbered(numbers), given, needed=needed, renumber=False)
    assert {*trimmed.asked, *trimmed.spared, *trimmed.hidden} == {*given}
    assert unreachable_tokens(trimmed.history) == {}
    before, now = Tokenizer(history), Tokenizer(trimmed.history)
    ids = now.encode(text)
    assert now.decode(ids) == text
    assert trimmed.history.numbers is not None
    left = [id for id in range(history.index_count) if numbers[id] not in trimmed.removed]
    hidden = {place for place, id in enumerate(left) if numbers[id] in trimmed.hidden}
    assert hidden == set(np.flatnonzero(trimmed.history.numbers == NO_NUMBER).tolist())
    if hidden:
        assert hidden.isdisjoint(ids)
        assert ids == split_hidden_tokens(
            Tokenizer(without_joining(trimmed.history)).encode(text), hidden, trimmed.history
        )
        file = BytesIO()
        FORMATS["json"].write(trimmed.history, file)
        opened = FORMATS["json"].open(file.getvalue(), "it")
        assert Tokenizer(opened.history).encode(text) == ids
        assert opened.history.numbers is not None
        assert trimmed.history.numbers is not None
        assert opened.history.numbers.tolist() == trimmed.history.numbers.tolist()
        with pytest.raises(OutputError, match="tokens without an id"):
            peer_of(trimmed.history)
    else:
        text += "<|end|>"
        ids = now.encode(text, allowed_special="all" if "<|end|>" in trimmed.history.recipe.special_tokens else ())
        theirs = peer_of(trimmed.history, trimmed.history.numbers).encode(text, add_special_tokens=False).ids
        assert trimmed.history.numbers is not None
        assert trimmed.history.numbers[ids].tolist() == theirs
    assert [now.token_bytes(place) for place in range(len(left))] == [before.token_bytes(id) for id in left]
    assert trimmed.new_ids == {numbers[id]: numbers[id] for id in left if numbers[id] not in trimmed.hidden}
    again = trim(history.numbered(numbers), given, needed=needed)
    places = {number: place for place, number in enumerate(sorted(trimmed.new_ids))}
    assert again.new_ids == {number: places[number] for number in trimmed.new_ids}
    assert hidden or again.history.numbers is None  # without gaps, in the same order


def test_trimming_to_a_size_removes_the_least_used_tokens(history: History, words: WordTable) -> None:
    counts = TokenPlaces.of([words], history).counts
    trimmed = trim(history, least_used(history, counts, surplus(history, 358)))
    assert (trimmed.history.index_count, trimmed.spared, trimmed.lost) == (358, (), 0)
    token_costs = costs(words, history, trimmed.history)
    by_age = costs(words, history, history.first(100))
    assert token_costs.before == by_age.before < token_costs.now <= by_age.now
    assert str(token_costs).startswith(f"{token_costs.before:,} tokens before, {token_costs.now:,} now (+")


@settings(max_examples=4)
@given(text=st.text(max_size=30))
def test_joining_two_tables_keeps_the_ids_of_the_first_table(history: History, other: History, text: str) -> None:
    numbers = np.arange(history.index_count) + 5
    both = put_together(history.numbered(numbers), other)
    assert both.history.numbers is not None
    assert both.shared + both.added + len(both.left_out) == len(other)
    assert min(both.added - 50, both.shared - 10) > 0
    assert unreachable_tokens(both.history) == {}
    tokenizer, first = Tokenizer(both.history), Tokenizer(history)
    new = {number: id for id, number in enumerate(both.history.numbers.tolist())}
    assert len(new) == both.history.index_count
    for id, number in enumerate(numbers.tolist()):
        assert tokenizer.token_bytes(new[number]) == first.token_bytes(id)
    text += TEXT + "Όλοι οι άνθρωποι"
    ids = tokenizer.encode(text)
    assert tokenizer.decode(ids) == text
    assert len(ids) <= len(first.encode(text))
    theirs = peer_of(both.history, both.history.numbers).encode(text, add_special_tokens=False).ids
    assert both.history.numbers[ids].tolist() == theirs


def test_joining_two_tables_of_characters_keeps_the_symbols_of_both_tables() -> None:
    recipe = Recipe.preset("words", merges=6, min_frequency=1)
    first, second = (train(Corpus.from_texts([text]), recipe) for text in ("low lower", "höher"))
    both = put_together(first, second)
    assert both.new_symbols == 2  # ö and h
    texts = {Tokenizer(both.history).token_bytes(id) for id in range(both.history.index_count)}
    assert {"höher".encode(), b"lower"} <= texts


def test_a_table_with_merge_priorities_keeps_its_priorities_when_trimmed(words: WordTable, history: History) -> None:
    """The table prefers whole words, and one of its tokens is made by no pair.

    It also joins pairs in a different order than it learned them.
    """
    alphabet = Alphabet((*history.alphabet.symbols, Symbol(b"qqx", b"qqx", "seed")))
    pairs = [(left + (left > 255), right + (right > 255)) for left, right in history.pairs()]
    order = [*range(10), *reversed(range(10, 60)), *range(60, len(pairs))]
    rows = PairRows(*np.array([(*pairs[row], 257 + row) for row in order]).T)
    table = History.from_pairs(RECIPE, alphabet, pairs, MergePriorities(pairs=rows, whole_words=True))
    assert 256 not in unreachable_tokens(table)  # the token is reachable as a whole word
    before = set(unreachable_tokens(table))
    peer_of(table)
    for needed in NEEDED:
        trimmed = trim(table, range(256, 340), needed=needed)
        kept = [id for id in range(table.first_special) if id not in trimmed.removed]
        assert {kept[id] for id in unreachable_tokens(trimmed.history)} <= before
        ids = Tokenizer(trimmed.history).encode(TEXT + "qqx")
        assert Tokenizer(trimmed.history).decode(ids) == TEXT + "qqx"
        if not trimmed.hidden:
            assert ids == peer_of(trimmed.history).encode(TEXT + "qqx", add_special_tokens=False).ids
    counts = TokenPlaces.of([words], table).counts
    trimmed = trim(table, least_used(table, counts, surplus(table, 300)))
    assert (trimmed.history.index_count, trimmed.lost) == (300, 0)
    with pytest.raises(BpeError, match="merges by priority"):
        put_together(table, history)


def test_impossible_table_edits_are_refused_with_an_error_message(history: History) -> None:
    characters = train(Corpus.from_texts(["low lower"]), Recipe.preset("words"))
    blocks = train(Corpus.from_texts(["low lower" * 9]), Recipe.preset("gage"))
    twice = np.zeros(history.index_count, np.int64)
    cases = [
        (lambda: trim(history, [3]), "base symbols"),
        (lambda: trim(history, [9_999]), "no token with the id 9,999"),
        (lambda: surplus(history, 200), "at least 258"),
        (lambda: surplus(history, 2_000), "fewer than the 2,000"),
        (lambda: least_used(history, twice, 151), "150 learned tokens"),
        (lambda: trim(history.numbered(twice), [300]), "both have the id 0"),
        (lambda: trim(history.numbered(twice[:5]), [300]), "ids for 5"),
        (lambda: put_together(history.numbered(twice), history), "both have the id 0"),
        (lambda: put_together(history, characters), "base is 'bytes' in the first"),
        (lambda: trim(blocks, [3]), "each block"),
    ]
    for attempt, message in cases:
        with pytest.raises((BpeError, FormatError), match=message):
            attempt()


def test_joining_reports_a_token_of_the_second_table_that_cannot_be_made() -> None:
    recipe = Recipe.preset("gpt2")
    first = History.from_pairs(recipe, Alphabet.of_bytes(), [(98, 99)])  # b+c
    second = History.from_pairs(recipe, Alphabet.of_bytes(), [(97, 98), (99, 100), (256, 257)])  # a+b, c+d, ab+cd
    both = put_together(first, second)
    assert both.left_out == (b"abcd",)  # b and c are joined before
    assert both.sentences[-1] == (
        "1 token of the second table cannot be made after the merges of the first table. The result leaves out “abcd”."
    )


def test_trimming_a_unigram_file_keeps_the_id_of_a_piece_that_is_also_the_unknown_token() -> None:
    """A Unigram file has one id for the piece and for the unknown token, and the library finds the piece by this id."""
    pieces = [["<unk>", 0.0], ["ab", -1.5], ["a", -1.0], ["b", -2.0], ["ba", -9.0]]
    model = {"type": "Unigram", "unk_id": 0, "vocab": pieces, "byte_fallback": False}
    given = json.dumps({"version": "1.0", "added_tokens": [], "model": model}).encode()
    form = FORMATS["tokenizer.json"]
    history = form.open(given, "given.json").history
    trimmed = trim(history, [1, 4]).history
    file = BytesIO()
    form.write(trimmed, file)
    library = tokenizers.Tokenizer.from_str(file.getvalue().decode())
    assert library.get_vocab() == {"<unk>": 0, "a": 1, "b": 2}
    for text in ("ab", "<unk>", "xab<unk>ba"):
        assert trimmed.numbers_of(Tokenizer(trimmed).encode(text)).tolist() == library.encode(text).ids
