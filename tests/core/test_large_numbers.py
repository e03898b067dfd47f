"""Tests of options and files with numbers beyond 64 bits. The program gives an answer or an error message."""

from __future__ import annotations

import argparse
import contextlib
import json
import random
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from bpe_core.command_line.commands import COMMANDS
from bpe_core.command_line.main import run
from bpe_core.command_line.parser import parser_for
from bpe_core.counting.words import WordTable
from bpe_core.errors import BpeError
from bpe_core.formats import open_table, write_history
from bpe_core.methods.kit.trainer import Trainer
from bpe_core.recipes.recipe import Recipe
from bpe_core.text.corpus import Corpus
from tests.core.learning import train

NUMBERS = (str(2**31), str(2**63 - 1), str(2**63), "9" * 23, "-" + "9" * 23, "9" * 5_000, "1e400", "٣" * 30)
TEXT = "the lowest price is lower than the last one\n"


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "text.txt"
    path.write_text(TEXT)
    return path


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "table.csv"
    write_history(train(Corpus.from_texts([TEXT]), Recipe.preset("gpt2", merges=9)), path)
    return path


def number_options() -> Iterator[tuple[str, argparse.Action]]:
    """Yield all options that take a number, each with the name of its command."""
    for command in COMMANDS:
        parsers = next(action for action in parser_for([command])._actions if isinstance(action.choices, dict))
        assert isinstance(parsers.choices, dict)
        for action in parsers.choices[command]._actions:
            if action.type is not None and getattr(action.type, "__name__", "") in ("number", "float", "int"):
                yield command, action


def needed_arguments(command: str, text: Path, table: Path, folder: Path) -> list[str]:
    """Return the arguments that the command requires."""
    on_text = ["--merges", str(table), "--corpus", str(text)]
    return {
        "train": [str(text)],
        "encode": ["low", "--merges", str(table)],
        "why": ["low", "--merges", str(table)],
        "token": ["#260", *on_text],
        "convert": [str(table), str(folder / "out.json")],
        "export": [str(folder / "out.json"), "--merges", str(table)],
        "diff": [str(table), str(table)],
        "report": [str(table), "--output", str(folder / "report.html")],
        "words": ["low", "lower"],
    }.get(command, on_text)


@pytest.mark.parametrize("number", NUMBERS)
def test_commands_answer_or_report_an_error_if_a_number_option_is_very_large(
    number: str, text: Path, table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = list(number_options())
    assert len(options) > 15
    for command, option in options:
        given = [command, *needed_arguments(command, text, table, tmp_path), f"{option.option_strings[0]}={number}"]
        assert run(given) in (0, 1, 2), given
        message = capsys.readouterr().err
        assert len(message.splitlines()[-1] if message else "") < 300, given


@pytest.mark.parametrize("number", NUMBERS)
def test_commands_with_large_ids_and_counts_give_an_answer_or_an_error_message(
    number: str, text: Path, table: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    on_text = ["--merges", str(table), "--corpus", str(text)]
    for given in (
        ["decode", "--merges", str(table), "--", number],
        ["token", f"#{number}", *on_text],
        ["race", "--pair", f"#{number}", "l", *on_text],
        ["words", f"low={number}", f"lower={number}"],
    ):
        assert run(given) in (0, 1), given
        assert len(capsys.readouterr().err) < 300, given


@pytest.mark.parametrize("count", [2**61, 2**63 - 1, 2**63, 10**30])
def test_word_counts_whose_sum_exceeds_64_bits_are_refused(count: int) -> None:
    with pytest.raises(BpeError, match=r"symbols\. Give smaller counts|below 2\^63"):
        train(Corpus.from_word_counts({"low": count, "lower": count}), Recipe.preset("words", merges=5))
    arrays = WordTable.from_counts({"low": 1, "lower": 1})
    table = WordTable(arrays.text, arrays.starts, np.array([2**62, 2**62], np.int64))
    with pytest.raises(BpeError, match="Give smaller counts"):
        Trainer(table, Recipe.preset("words", merges=5))


@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.parametrize("ending", [".csv", ".json"])
def test_table_files_with_large_numbers_are_read_or_refused_with_an_error_message(
    tmp_path: Path, ending: str, number: str
) -> None:
    path, changed = tmp_path / f"table{ending}", tmp_path / f"changed{ending}"
    write_history(train(Corpus.from_texts([TEXT]), Recipe.preset("gpt2", merges=3)), path)
    whole = path.read_text()
    places = [place for place in range(1, len(whole)) if whole[place].isdigit() and not whole[place - 1].isdigit()]
    for place in random.Random(number).sample(places, min(len(places), 24)):
        stop = next(stop for stop in range(place, len(whole)) if not whole[stop].isdigit())
        changed.write_text(whole[:place] + number + whole[stop:])
        with contextlib.suppress(BpeError):
            open_table(changed)


@pytest.mark.parametrize("number", NUMBERS)
def test_a_recipe_with_large_numbers_is_valid_or_refused_with_an_error_message(number: str) -> None:
    recipe = json.loads(Recipe.preset("gpt2").to_json())
    for name in recipe:
        with contextlib.suppress(BpeError):
            Recipe.from_json(json.dumps({**recipe, name: "?"}).replace('"?"', number))
