"""Tests of the commands `words` and `presets`, which show merges step by step and explain recipes."""

from __future__ import annotations

import json

import pytest

from bpe_core.command_line.main import run
from bpe_core.recipes.presets import PRESETS
from bpe_core.recipes.recipe import Recipe


def test_the_words_command_prints_the_words_after_each_merge(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["words", "low", "lower", "lowest", "--apply", "lowly"]) == 0
    assert [line.strip() for line in capsys.readouterr().out.splitlines() if line] == [
        "start  l o w | l o w e r | l o w e s t",
        "1  l + o → lo                        3 times, as often as o + w",
        "lo w | lo w e r | lo w e s t",
        "2  lo + w → low                      3 times",
        "low | low e r | low e s t",
        "3  low + e → lowe                    2 times",
        "low | lowe r | lowe s t",
        "No pair reaches the minimum count any more.",
        "lowly → low l y   (y: not in the words to learn from)",
    ]


def test_the_words_command_accepts_counts_and_a_word_end_marker(capsys: pytest.CaptureFixture[str]) -> None:
    toy = ["low=5", "lower=2", "newest=6", "widest=3"]
    assert run(["words", *toy, "--marker", "symbol", "--merges", "6", "--json", "--apply", "newer"]) == 0
    whole = json.loads(capsys.readouterr().out)
    assert [merge["token"] for merge in whole["merges"]] == ["es", "est", "est</w>", "lo", "low", "ne"]
    assert [merge["count"] for merge in whole["merges"]] == [9, 9, 9, 7, 7, 6]
    assert whole["words"] == {"low": 5, "lower": 2, "newest": 6, "widest": 3}
    assert whole["merges"][-1]["words"] == "low </w> | low e r </w> | ne w est</w> | w i d est</w>"
    assert whole["applied"] == {"newer": ["ne", "w", "e", "r", "</w>"]}


def test_the_presets_command_explains_every_preset(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["presets"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == list(PRESETS)
    assert all(preset.explanation in line for line, preset in zip(lines, PRESETS.values(), strict=True))


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_printed_by_the_command_can_be_read_as_a_recipe(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["presets", name]) == 0
    assert Recipe.from_json(capsys.readouterr().out) == Recipe.preset(name)


def test_the_presets_command_prints_all_presets_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["presets", "--json"]) == 0
    whole = json.loads(capsys.readouterr().out)
    assert {name: Recipe.from_dict(preset["recipe"]) for name, preset in whole.items()} == {
        name: Recipe.preset(name) for name in PRESETS
    }
