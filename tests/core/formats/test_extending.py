"""Tests of extending an imported tokenizer: its tokens stay, and its own library loads the result."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tokenizers

from bpe_core.command_line.main import run
from bpe_core.counting.words import WordTable
from bpe_core.editing.growing import check_grew, growing_recipe, grown_numbers, without_counts
from bpe_core.errors import FormatError, NothingToLearn, RecipeError
from bpe_core.formats import write_history
from bpe_core.history.history import History
from bpe_core.history.token_texts import written
from bpe_core.methods.kit.tokenizer import Tokenizer
from bpe_core.methods.kit.trainer import learn
from bpe_core.recipes.recipe import Recipe
from bpe_core.studies.making import open_study
from tests.core.formats.samples import learn_text
from tests.shared import ROOT, text_of

TEXTS = ROOT / "tests" / "texts"
SPECIALS = ("<|first|>", "<|last|>")
BY = 40


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a byte-level tokenizer file of the library `tokenizers`, with special tokens at the first and last id."""
    path = tmp_path_factory.mktemp("library") / "tokenizer.json"
    made = tokenizers.Tokenizer(tokenizers.models.BPE())
    made.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = tokenizers.decoders.ByteLevel()
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=320, special_tokens=[SPECIALS[0]], show_progress=False,
        initial_alphabet=tokenizers.pre_tokenizers.ByteLevel.alphabet(),
    )  # fmt: skip
    made.train([str(TEXTS / "prose.txt")], trainer)
    made.add_special_tokens([SPECIALS[1]])
    made.save(str(path))
    return path


def small() -> History:
    return learn_text(text_of("prose"), "gpt2", merges=60)


def run_extend(
    table: Path, out: str, *more: str, capsys: pytest.CaptureFixture[str], text: str = "code.txt"
) -> dict[str, Any]:
    options = ["--corpus", str(TEXTS / text), "--by", str(BY), "-o", out, "--json", *more]
    assert run(["extend", str(table), *options]) == 0
    report: dict[str, Any] = json.loads(capsys.readouterr().out)
    return report


def test_the_tokenizers_library_confirms_that_extending_a_tokenizer_keeps_all_old_ids(
    library: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    held_out = TEXTS / "latin.txt"
    report = run_extend(library, f"{tmp_path}/new/", "--held-out", str(held_out), str(library), capsys=capsys)
    path = tmp_path / "new" / "tokenizer.json"
    old, new = (tokenizers.Tokenizer.from_file(str(tokenizer)) for tokenizer in (library, path))
    size = old.get_vocab_size()
    assert [new.id_to_token(id) for id in range(size)] == [old.id_to_token(id) for id in range(size)]
    assert [new.token_to_id(special) for special in SPECIALS] == [0, size - 1]
    assert new.get_vocab_size() == size + BY
    assert report["new_ids"] == [size, size + BY - 1]
    assert (report["kept"], report["learned"], report["verified"], report["asked"]) == (
        320 - 257,
        BY,
        True,
        "tokenizers",
    )

    before, after = open_study(library), open_study(path)
    assert after.history.pairs()[: len(before.history)] == before.history.pairs()
    assert after.history.numbers is not None
    ours = Tokenizer(after.history)
    for text in ((TEXTS / "code.txt").read_text(), f"def {SPECIALS[1]} return{SPECIALS[0]}"):
        ids = new.encode(text, add_special_tokens=False).ids
        assert after.history.numbers_of(ours.encode(text, allowed_special="all")).tolist() == ids
        assert new.decode(ids, skip_special_tokens=False) == text
    figures = report["held_out"][str(held_out)]
    counted = [len(tokenizer.encode(held_out.read_text()).ids) for tokenizer in (old, new)]
    assert [figures["before"], figures["after"]] == counted
    used = {id for tokenizer in (old, new) for id in tokenizer.encode((TEXTS / "code.txt").read_text()).ids}
    unused = [id for id in range(257, size - 1) if id not in used]
    assert report["never_used"] == len(unused)
    assert [id for id, _ in report["never_used_first"]] == unused[:10]


@pytest.mark.parametrize("name", ["ranks.tiktoken", "merges.txt", "run.bpex"])
def test_an_extended_tokenizer_file_can_be_extended_again(
    library: Path, tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The tokenizer keeps the ids of both extensions."""
    once, twice = tmp_path / name, tmp_path / "twice" / name
    first = run_extend(library if name != "ranks.tiktoken" else _ranks(tmp_path), str(once), capsys=capsys)
    assert first.get("asked", "") == {"ranks.tiktoken": "tiktoken", "merges.txt": "tokenizers"}.get(name, "")
    lists_no_specials = any("lists no special tokens" in note for note in first.get("notes", ()))
    assert lists_no_specials == (name == "ranks.tiktoken")
    behind = ("--first-id", "9000") if lists_no_specials else ()  # the model may have special tokens at the next ids
    second = run_extend(once, f"{twice.parent}/", "--min-frequency", "1", *behind, text="poem.txt", capsys=capsys)
    assert second["kept"] == first["kept"] + BY
    assert second["new_ids"][0] == (9000 if behind else first["new_ids"][1] + 1)
    extended_once, extended_twice = open_study(once), open_study(twice)
    size = extended_once.history.first_special
    assert (
        extended_once.history.numbers_of(range(size)).tolist()
        == extended_twice.history.numbers_of(range(size)).tolist()
    )


def test_if_a_table_has_merge_priorities_then_extending_gives_the_new_merges_lower_priorities(
    library: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One table prefers whole words. It joins pairs in a different order than it learned them.

    The other table is a file of ranks, in which one part of a token has a higher rank than the token.
    """
    whole, odd = json.loads(library.read_bytes()), tmp_path / "odd.json"
    whole["model"]["merges"].reverse()
    whole["model"]["ignore_merges"] = True
    odd.write_text(json.dumps(whole))
    ranks = _ranks(tmp_path)
    lines = ranks.read_text().splitlines()
    (line, rank), (other, other_rank) = lines[257].split(), lines[259].split()
    lines[257], lines[259] = f"{line} {other_rank}", f"{other} {rank}"
    ranks.write_text("\n".join(lines))
    for table, asked in ((odd, "tokenizers"), (ranks, "tiktoken")):
        report = run_extend(
            table, f"{tmp_path}/{asked}/", *(["--to", "tokenizer.json"] if table is odd else []), capsys=capsys
        )
        assert (report["learned"], report["verified"], report["asked"]) == (BY, True, asked)
        before = open_study(table)
        after = open_study(tmp_path / asked / ("tokenizer.json" if table is odd else table.name))
        assert before.history.joining is not None
        assert after.history.joining is not None
        texts, numbers = (
            written(before.history),
            before.history.numbers_of(range(before.history.first_special)).tolist(),
        )
        new = dict(
            zip(
                after.history.numbers_of(range(after.history.first_special)).tolist(),
                written(after.history),
                strict=True,
            )
        )
        assert [new[number] for number in numbers] == texts
        code = (TEXTS / "code.txt").read_text()
        tokenizer = Tokenizer(after.history)
        assert tokenizer.decode(tokenizer.encode(code)) == code
        assert len(tokenizer.encode(code)) < len(Tokenizer(before.history).encode(code))
    written_elsewhere = ["--to", "minbpe", "-o", f"{tmp_path}/table.model"]
    assert run(["extend", str(library), "--corpus", str(TEXTS / "poem.txt"), "--by", "3", *written_elsewhere]) == 1
    assert "so old ids would change" in capsys.readouterr().err


def _ranks(folder: Path) -> Path:
    path = folder / "small.tiktoken"
    write_history(small(), path)
    return path


def test_extending_a_table_that_cannot_grow_is_refused_with_an_error_message(
    library: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = small()
    for history, by, sentence in (
        (table, 0, "must be at least 1, not"),
        (learn_text("low lower " * 9, "gage", merges=2), 5, "each block of the text"),
    ):
        with pytest.raises(RecipeError, match=sentence):
            growing_recipe(history, by)
    alone, recipe = without_counts(table), growing_recipe(table, 5)
    with pytest.raises(NothingToLearn, match="Nothing new can be learned from this corpus"):
        check_grew(learn(WordTable.from_counts({"xy": 1}), recipe, history=alone))
    with pytest.raises(FormatError, match="cannot have ids from 257 on"):
        grown_numbers(
            learn(WordTable.from_counts({"xy": 2}), recipe, history=alone),
            np.arange(table.index_count),
            257,
        )
    with pytest.raises(RecipeError, match="continues a table of 9 steps, and a recipe does not hold"):
        learn(WordTable.from_counts({"xy": 2}), Recipe(grown_from=9))
    extend = ["extend", str(library), "--by", "5", "--corpus", str(TEXTS / "poem.txt")]
    assert run([*extend, "-o", str(library.parent)]) == 1
    assert "is the input table itself" in capsys.readouterr().err
    assert run([*extend, "-o", f"{tmp_path}/new.json", "--to", "tokenizer.json", "--first-id", "10"]) == 1
    assert "Choose a larger first id" in capsys.readouterr().err
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine.txt").touch()
    assert run([*extend, "-o", f"{tmp_path}/full"]) == 1
    assert "full holds mine.txt" in capsys.readouterr().err
