"""Tests of WordPiece and Unigram files that are extended, joined or trimmed: ids stay, and any text can be encoded."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
import sentencepiece
import tokenizers
from hypothesis import given, settings
from hypothesis import strategies as st

from bpe_core.command_line.main import run
from bpe_core.counting.count_words import count_words
from bpe_core.counting.words import WordTable
from bpe_core.editing.extending import extend, extend_on
from bpe_core.editing.growing import growing_recipe
from bpe_core.editing.putting_together import put_together
from bpe_core.editing.trimming import least_size, least_used, surplus, trim, trim_indices
from bpe_core.errors import BpeError, NothingToLearn
from bpe_core.formats import FORMATS, OpenedTable
from bpe_core.formats.bert_vocabulary import history_of
from bpe_core.history.history import History
from bpe_core.history.token_texts import written
from bpe_core.insight.audit import TokenPlaces, never_used
from bpe_core.insight.reachability import unreachable_tokens
from bpe_core.methods.kit.tokenizer import Tokenizer
from bpe_core.recipes.recipe import Recipe
from bpe_core.text.corpus import Corpus
from tests.core.learning import train
from tests.shared import text_of

POEM, PROSE = text_of("poem")[:1_500], text_of("prose")[:1_500]
TEXT = POEM[:400] + PROSE[:200]
SPECIALS = ("[PAD]", "<end of text>")  # one special token with blanks
KINDS = {"bert": "tokenizer.json", "wordpiece": "vocab.txt", "unigram": "sentencepiece"}


class Table(NamedTuple):
    """A tokenizer file learned from a poem, with gaps between its ids, and its learned tokens."""

    opened: OpenedTable
    numbers: np.ndarray[Any, Any]
    other: History
    kind: str


@pytest.fixture(scope="module", params=KINDS)
def table(request: pytest.FixtureRequest) -> Table:
    specials = SPECIALS if request.param == "bert" else ()
    recipe = Recipe.preset(request.param, vocab_size=170, special_tokens=specials)
    learned, other = (train(Corpus.from_texts([text]), recipe) for text in (POEM, text_of("greek")[:600] + PROSE))
    opened = read_again(learned, KINDS[request.param])
    numbers = np.arange(opened.history.index_count) if opened.history.numbers is None else opened.history.numbers
    return Table(opened, 3 * numbers + 7, other, request.param)


def read_again(history: History, format: str, numbers: Any = None) -> OpenedTable:
    file = BytesIO()
    FORMATS[format].write(history.numbered(numbers), file)
    return FORMATS[format].open(file.getvalue(), "vocab.txt")


def peer_of(history: History, numbers: Any, kind: str) -> Any:
    """Return a function that encodes a text to ids with the library `sentencepiece` or `tokenizers`."""
    file = BytesIO()
    format = "sentencepiece" if kind == "unigram" else "tokenizer.json"
    FORMATS[format].write(history.numbered(numbers), file)
    if kind == "unigram":
        return sentencepiece.SentencePieceProcessor(model_proto=file.getvalue()).encode
    theirs = tokenizers.Tokenizer.from_buffer(file.getvalue())
    return lambda text: theirs.encode(text, add_special_tokens=False).ids


def check(before: OpenedTable, known: Any, now: History, numbers: Any, kind: str, text: str) -> None:
    """Check that each token of the old table is in the new table with its id and its bytes, unless it was removed.

    Also check that both tables give the same text after encoding and decoding. A text with an unknown character need
    not agree. The library of the file must encode the text to the same ids as the new table.
    """
    old_tokenizer, new_tokenizer = Tokenizer(before.history), Tokenizer(now)
    place_of = {number: place for place, number in enumerate(numbers.tolist())}
    kept = [id for id in range(before.history.index_count) if known[id] in place_of]
    assert [new_tokenizer.token_bytes(place_of[known[id]]) for id in kept] == [
        old_tokenizer.token_bytes(id) for id in kept
    ]
    assert new_tokenizer.decode(new_tokenizer.encode(text)) == old_tokenizer.decode(
        old_tokenizer.encode(text)
    ) or now.alphabet.unknown_id in old_tokenizer.encode(text)
    assert peer_of(now, numbers, kind)(text) == numbers[new_tokenizer.encode(text)].tolist()


@settings(max_examples=3)
@given(data=st.data())
def test_removing_tokens_keeps_the_other_tokens_and_their_ids(table: Table, data: st.DataObject) -> None:
    opened, known, kind = table.opened, table.numbers, table.kind
    old, text = opened.history, TEXT
    learned = [id for id in range(old.first_special) if old.alphabet.symbols[id].kind == "seed"]
    chosen = data.draw(st.sets(st.sampled_from(learned), min_size=1, max_size=40))
    ids = set(known[[*chosen]].tolist())
    trimmed = trim(old.numbered(known), ids, renumber=False)
    assert (set(trimmed.removed), trimmed.asked, trimmed.spared, trimmed.lost) == (ids, trimmed.removed, (), 0)
    assert set(trimmed.new_ids) == set(known.tolist()) - ids
    check(opened, known, trimmed.history, trimmed.history.numbers, kind, text)
    for format in ("csv", "json"):  # these formats also keep the ids of the original file
        again = read_again(trimmed.history, format, trimmed.history.numbers)
        assert again.history.numbers is not None
        assert (
            again.history.numbers.tolist()
            == (trimmed.history.numbers if trimmed.history.numbers is not None else known).tolist()
        )
    anew = trim(old.numbered(known), ids)  # in the same order, without holes
    numbers = np.arange(anew.history.index_count) if anew.history.numbers is None else anew.history.numbers
    assert trimmed.history.numbers is not None
    assert np.array_equal(np.argsort(numbers), np.argsort(trimmed.history.numbers))
    assert sorted(numbers.tolist()) == list(range(len(numbers)))


def test_extending_a_table_or_joining_another_table_keeps_the_old_tokens_and_their_ids(table: Table) -> None:
    opened, known, kind = table.opened, table.numbers, table.kind
    old, text = opened.history, TEXT
    grown = extend(Corpus.from_texts([PROSE]), old.numbered(known), 20, min_frequency=1)
    assert (len(grown.added), grown.characters) == (20, 0)
    assert grown.added.tolist() == list(range(known.max() + 1, known.max() + 21))
    check(opened, known, grown.history, grown.history.numbers, kind, text)
    assert len(Tokenizer(grown.history).encode(PROSE)) < len(Tokenizer(old).encode(PROSE))

    both = put_together(old.numbered(known), table.other)
    assert min(both.added, both.new_symbols) > 5
    assert both.history.numbers is not None
    in_both = {int(number): id for id, number in enumerate(both.history.numbers)}
    check(opened, known, both.history, both.history.numbers, kind, text + "Όλοι")
    assert set(unreachable_tokens(both.history)) <= {in_both[int(known[id])] for id in unreachable_tokens(old)}


def test_trimming_removes_the_least_used_tokens_and_extending_reports_unused_tokens(table: Table) -> None:
    old = table.opened.history
    words = count_words(Corpus.from_texts([PROSE]), old.recipe)
    counts = TokenPlaces.of([words], old).counts
    size = old.vocabulary_size - 30
    trimmed = trim_indices(old, least_used(old, counts, surplus(old, size)))
    assert (trimmed.history.vocabulary_size, len(trimmed.removed)) == (size, 30)
    assert max(counts[old.indices_of(trimmed.removed)]) <= sorted(counts)[-(size - least_size(old))]
    grown = extend_on(words, old, growing_recipe(old, 10))
    unused = never_used(words, old, grown.history, grown.places)
    assert unused
    used = {*Tokenizer(old).encode(PROSE)}
    assert used.isdisjoint(unused)
    with pytest.raises(NothingToLearn, match="Nothing new"):
        extend(Corpus.from_texts(["  "]), old, 5)
    with pytest.raises(BpeError, match="base symbols"):
        surplus(old, 5)
    with pytest.raises(BpeError, match="the first was learned by"):
        put_together(old, train(Corpus.from_texts(["low lower"]), Recipe.preset("words")))


def test_extending_a_wordpiece_table_joins_pairs_by_count_or_by_score() -> None:
    recipe = Recipe.preset("wordpiece", special_tokens=(), merges=0)
    table = {"[UNK]": 0, "a": 1, "b": 2, "##a": 3, "##b": 4, "##c": 5, "##ac": 6}
    history = history_of(table, recipe, "it")
    words = WordTable.from_counts({"aab": 10, "bac": 4, "bab": 9})  # encoded as: a ##a ##b, b ##ac, b ##a ##b
    added_tokens = {}
    for rule in ("count", "score"):
        grown = extend_on(words, history, growing_recipe(history, 1, wordpiece_rule=rule))
        added_tokens[rule] = [written(grown.history)[id] for id in grown.added_indices]
    assert added_tokens == {"count": [b"##ab"], "score": [b"aab"]} or added_tokens["count"] != added_tokens["score"]


def test_extending_a_vocabulary_adds_tokens_for_characters_that_occur_only_inside_longer_tokens(tmp_path: Path) -> None:
    """A word may end with such a character after another token.

    Without a token for the character, the word is unknown.
    """
    path, corpus = tmp_path / "vocab.txt", tmp_path / "corpus.txt"
    path.write_text("[UNK]\nplay\n##ed\n##ing\nun\n##s\n")
    corpus.write_text("unplayed played playing plays play " * 9)
    commands: dict[str, list[str]] = {
        "extended.txt": ["extend", str(path), "--corpus", str(corpus), "--by", "2", "--to", "vocab.txt"],
        "trimmed.txt": ["trim", str(path), "--remove", "3", "--ids", "keep", "--to", "vocab.txt"],
        "both.txt": ["merge", str(path), str(path), "--to", "vocab.txt"],
    }
    for name, command in commands.items():
        assert run([*command, "-o", str(tmp_path / name)]) == 0
        lines = (tmp_path / name).read_text().split()
        assert [line for line in lines[:6] if line != "[unused3]"] == [
            line for line in path.read_text().split() if line != "##ing" or name != "trimmed.txt"
        ]
        assert {"p", "u", "##l", "##a", "##y", "##e", "##d", "##n"} <= set(lines)
        table = FORMATS["vocab.txt"].open((tmp_path / name).read_bytes(), "vocab.txt").history
        assert table.alphabet.unknown_id not in Tokenizer(table).encode("played playing plays")
    assert len((tmp_path / "extended.txt").read_text().split()) > len((tmp_path / "both.txt").read_text().split())
