"""Tests of the agreement of tokens with morphemes.

The counts must equal those of a simple comparison, word by word.
"""

from __future__ import annotations

import csv
import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_core.command_line.main import run
from bpe_core.counting.words import WordTable
from bpe_core.errors import CorpusError
from bpe_core.measures.morphemes import morpheme_agreement, own_lists, read_morphemes
from bpe_core.methods.bpe import reference as reference
from bpe_core.methods.kit.tokenizer import Tokenizer
from bpe_core.recipes.recipe import Recipe
from tests.core.random_training import recipes, words

PARTS = st.lists(st.text("abé漢", min_size=1, max_size=3), min_size=1, max_size=4)


@given(words(), recipes(), st.lists(PARTS, min_size=1, max_size=5))
def test_token_boundaries_and_morpheme_boundaries_are_counted_word_by_word(
    table: WordTable, recipe: Recipe, segmented: list[list[str]]
) -> None:
    history = reference.train(table, recipe)
    morphemes = {"".join(parts): parts for parts in segmented}
    agreement = morpheme_agreement({"begin": (history, 0), "end": history}, {"x": morphemes}, threads=1).columns
    for place, at in enumerate((0, len(history))):
        cuts = borders = hits = whole = alike = 0
        for word, parts in morphemes.items():
            length = len(word.encode())
            ends = {stop - 1 for _, stop, _ in Tokenizer(history).spans(f" {word}", at) if 1 < stop < length + 1}
            starts = {start - 1 for start, *_ in Tokenizer(history).spans(f" {word}", at) if 1 < start < length + 1}
            borders_in_word = {len("".join(parts[:count]).encode()) for count in range(1, len(parts))}
            cut = ends | starts
            cuts, borders, hits = cuts + len(cut), borders + len(borders_in_word), hits + len(cut & borders_in_word)
            whole, alike = whole + (not cut), alike + (cut == borders_in_word)
        expected = {
            "words": len(morphemes),
            "cuts": cuts,
            "borders": borders,
            "hits": hits,
            "precision": hits / cuts if cuts else math.nan,
            "recall": hits / borders if borders else math.nan,
            "f1": 2 * hits / (cuts + borders) if cuts + borders else math.nan,
            "share_whole": whole / len(morphemes),
            "share_alike": alike / len(morphemes),
        }
        assert {name: float(agreement[name][place]) for name in expected} == pytest.approx(expected, nan_ok=True)


def test_the_morphemes_command_uses_its_built_in_word_lists_and_lists_from_files(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert {len(words) > 150 for words in own_lists().values()} == {True}
    table, output, own = tmp_path / "m.csv", tmp_path / "out.csv", tmp_path / "own.tsv"
    (tmp_path / "text.txt").write_text("lower lowest slower slowest " * 3)
    assert run(["train", str(tmp_path / "text.txt"), "--merges", "9", "--output", str(table), "--quiet"]) == 0
    assert run(["morphemes", str(table), "--sizes", "256", "265", "-o", str(output)]) == 0
    rows = list(csv.DictReader(output.read_text().splitlines()))
    assert [(row["text"], row["vocabulary"]) for row in rows] == [
        ("de", "256"), ("en", "256"), ("de", "265"), ("en", "265")
    ]  # fmt: skip
    assert [row["recall"] for row in rows[:2]] == ["1.0", "1.0"]
    own.write_text("lowest\tlow est\n\n# no words\nslower\tslow er\n", encoding="utf-8")
    assert run(["morphemes", str(table), "--list", str(own)]) == 0
    assert "precision" in capsys.readouterr().out
    for line, sentence in (
        ("lowest\tlo est", "line 2"),
        ("lowest low est", "line 2"),
        ("lowest\tlowe st", "in an earlier line"),
    ):
        own.write_text(f"lowest\tlow est\n{line}\n", encoding="utf-8")
        assert run(["morphemes", str(table), "--list", str(own)]) == 1
        assert sentence in capsys.readouterr().err
    own.write_text("# nothing\n")
    with pytest.raises(CorpusError, match="holds no words"):
        read_morphemes(own)
    with pytest.raises(CorpusError, match="as a list of texts"):
        morpheme_agreement({}, {"en": {"low": "low"}})
    with pytest.raises(CorpusError, match="do not spell"):
        morpheme_agreement({}, {"en": {"low": ["l", "w"]}})
