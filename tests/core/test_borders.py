"""Tests of borders inside words, such as morpheme borders.

Learning with borders gives the merges that the specification learns from the parts of the words.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bpe_core as bpe
from bpe_core.command_line.main import run
from bpe_core.counting.borders import cut_at_borders
from bpe_core.counting.count_words import count_words
from bpe_core.counting.words import WordTable
from bpe_core.errors import RecipeError
from bpe_core.history.token_texts import decoded
from bpe_core.methods.bpe import reference as reference
from bpe_core.recipes.recipe import Recipe
from bpe_core.text.corpus import Corpus
from tests.core.learning import all_columns, train

TEXT = "un|happy|ness un|kind|ness kind|ness happy un|do do|ing un|do|ing\n" * 4


@pytest.mark.parametrize("pattern", ["gpt2", "cl100k", "whitespace"])
def test_no_learned_token_crosses_a_morpheme_border(pattern: str) -> None:
    recipe = Recipe.preset("gpt2", pattern=pattern, border="|", merges=60, min_frequency=1)
    tokens = [text.decode().strip() for text in decoded(train(Corpus.from_texts([TEXT]), recipe))[256:]]
    assert {"un", "happy", "ness", "kind", "do", "ing"} <= {*tokens}
    morphemes = TEXT.replace("|", " ").split()
    assert all(any(token in morpheme for morpheme in morphemes) for token in tokens if token)


@given(st.lists(st.text("ab|é", min_size=1, max_size=9), min_size=1, max_size=6), st.integers(1, 20))
def test_training_with_a_border_in_words_gives_the_same_merges_as_training_on_the_parts_between_borders(
    texts: list[str], merges: int
) -> None:
    recipe = Recipe.preset("words", base="bytes", border="|", merges=merges, min_frequency=1)
    parts: dict[str, int] = {}
    for text in texts:
        for part in filter(None, text.split("|")):
            parts[part] = parts.get(part, 0) + 1
    words = count_words(Corpus.from_texts([" ".join(texts)]), recipe)
    assert dict(words) == {part.encode(): count for part, count in parts.items()}
    if max(map(len, (part.encode() for part in parts)), default=0) > 1:
        expected = reference.train(WordTable.from_counts(parts), recipe)
        assert all_columns(train(Corpus.from_texts([" ".join(texts)]), recipe)) == all_columns(expected)


def test_encoding_keeps_the_border_character_in_the_text() -> None:
    study = bpe.train([TEXT], Recipe.preset("gpt2", border="|", merges=30))
    assert study.decode(study.encode("un|do a|b")) == "un|do a|b"
    measured = bpe.benchmark({"ours": study}, texts={"it": ["un|do " * 30_000]}).table.records()[0]
    assert measured["tokens"] == len(study.encode("un|do " * 30_000)), "measured as it is split, however long"


def test_the_line_ends_of_a_word_cut_at_borders_are_counted_for_the_last_part() -> None:
    words = WordTable.from_counts({"un|do": 3, "do": 2, "|": 1})
    cut_words = cut_at_borders(WordTable(words.text, words.starts, words.counts, np.array([2, 1, 0]), 99), "|")
    assert (list(cut_words), cut_words.text_bytes) == ([(b"un", 3), (b"do", 5)], 99)
    assert cut_words.line_ends is not None
    assert cut_words.line_ends.tolist() == [0, 3]
    assert cut_at_borders(cut_words, "|") is cut_words


def test_the_train_command_accepts_border_characters_in_word_lists(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "list.tsv").write_text("word\tcount\nun|do\t5\nun|til\t4\nundo\t1\n")
    asked = [
        "train",
        str(tmp_path / "list.tsv"),
        "--pattern",
        "whitespace",
        "--border",
        "|",
        "--merges",
        "2",
        "--quiet",
    ]
    assert run(asked) == 0
    output = capsys.readouterr().out
    assert "u + n → un" in output
    assert "10 times" in output
    asked[asked.index("|")] = " "
    assert run(asked) == 1
    assert "A border must not begin or end with white space" in capsys.readouterr().err


def test_a_border_is_refused_if_the_recipe_has_a_word_marker_or_if_normalization_removes_the_border() -> None:
    with pytest.raises(RecipeError, match="cannot have both a border and a word marker"):
        Recipe.preset("sentencepiece-like", border="|")
    with pytest.raises(RecipeError, match=r"changes or removes the border .* before it splits texts"):
        count_words(Corpus.from_texts(["a|b"]), Recipe.preset("gpt2", strip_ascii_punctuation=True, border="|"))
