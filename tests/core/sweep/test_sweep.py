"""Tests of sweeps: each row of the result has the values of a separate run, and no run is made twice."""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bpe_core as bpe
from bpe_core.command_line.main import run
from bpe_core.counting.count_words import count_unmixed, count_words
from bpe_core.errors import Cancelled, RecipeError
from bpe_core.measures.bits_per_byte import bits_per_byte
from bpe_core.measures.bootstrap import DRAWS, LEAST
from bpe_core.measures.morphemes import morpheme_agreement, read_morphemes
from bpe_core.measures.size_curves import renyi_efficiency
from bpe_core.methods.kit.tokenizer import Tokenizer
from bpe_core.recipes.recipe import Recipe
from bpe_core.session_file.reading import read_session
from bpe_core.session_file.values import Bookmark
from bpe_core.session_file.writing import write_session
from bpe_core.support.data_table import DataTable, csv_text
from bpe_core.support.progress import Work
from bpe_core.support.rounding import with_deviation, with_interval
from bpe_core.sweep import results
from bpe_core.sweep.measuring import intervals
from bpe_core.sweep.plan import Plan, read_plan
from bpe_core.sweep.results import COLUMNS, read_results, summary_of
from bpe_core.sweep.running import SweepResult, sweep
from bpe_core.sweep.runs_in_session import RunsInSession
from bpe_core.text.corpus import Corpus
from bpe_core.text.mixture import Group, Mixture, Sample, weight_of
from tests.core.learning import train
from tests.shared import text_of

PLAN = """
sizes = [300, 270]
ties = ["first-seen", "lowest-ids"]
seeds = [1, 2]
sample = "60%"
sample_of = "lines"
interval_over = "lines"
held_out = ["other.txt"]
bits = true
morphemes = "words.tsv"

[corpora]
poem = ["poem.txt"]

[recipes.bytes]
preset = "gpt2"

[recipes.blanks]
preset = "raw-bytes"
max_token_length = 5
"""
LINES = text_of("prose").splitlines(keepends=True)[:6]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sweep")
    (folder / "poem.txt").write_text(text_of("poem"), encoding="utf-8", newline="")
    (folder / "other.txt").write_text("".join(LINES), encoding="utf-8", newline="")
    (folder / "words.tsv").write_text("rowing\trow ing\nboats\tboat s\n", encoding="utf-8")
    (folder / "plan.toml").write_text(PLAN, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def plan(folder: Path) -> Plan:
    return read_plan(folder / "plan.toml")


@pytest.fixture(scope="module")
def sweep_result(plan: Plan) -> SweepResult:
    return sweep(plan)


def test_every_row_of_a_sweep_matches_the_result_of_a_separate_run(
    folder: Path, plan: Plan, sweep_result: SweepResult
) -> None:
    rows = sweep_result.table.records()
    assert list(sweep_result.table.columns) == list(COLUMNS)
    assert [(row["recipe"], row["ties"], row["seed"], row["size"]) for row in rows] == [
        (recipe, ties, seed, size)
        for recipe in ("bytes", "blanks")
        for ties in ("first-seen", "lowest-ids")
        for seed in (1, 2)
        for size in (270, 300)
    ]
    for row in rows:
        _check(folder, plan, row)


def _check(folder: Path, plan: Plan, row: dict[str, Any]) -> None:
    """Compare a row of the sweep with a separate run of the same recipe.

    A sweep trains once for several sizes, but the separate run has only one size.
    """
    sample = Sample(None, weight_of("60%"), "lines", row["seed"])
    recipe = plan.recipes[row["recipe"]].with_changes(
        ties=row["ties"], vocab_size=row["size"], mixture=Mixture((Group("", sample=sample),))
    )
    words = count_words(Corpus.from_files(folder / "poem.txt"), recipe)
    history = train(Corpus.from_files(folder / "poem.txt"), recipe)
    lines = [Tokenizer(history).encode(line) for line in LINES]
    ids = [id for line in lines for id in line]
    size = len("".join(LINES).encode())
    held_out = count_unmixed(Corpus.from_texts(LINES), recipe)
    bits = bits_per_byte(words, held_out, history, np.array([row["vocabulary"]])).bits[0]
    morphemes = read_morphemes(folder / "words.tsv")
    agreement = morpheme_agreement({"": history}, {"": morphemes}).columns
    ((low, high),) = intervals([np.array([len(line.encode()) for line in LINES])], np.array([[*map(len, lines)]]))
    expected = {
        "vocabulary": history.vocabulary_size,
        "documents": len(LINES),
        "bytes": size,
        "tokens": len(ids),
        "bytes_per_token": size / len(ids),
        "tokens_per_word": len(ids) / len("".join(LINES).split()),
        "renyi_efficiency": renyi_efficiency(np.bincount(ids)),
        "share_in_use": len(set(ids)) / history.vocabulary_size,
        "unknown_share": 0.0,
        "bits_per_byte": bits,
        "morpheme_f1": agreement["f1"][0],
        "morpheme_recall": agreement["recall"][0],
        "bytes_per_token_low": low[0],
        "bytes_per_token_high": high[0],
    }
    assert {name: row[name] for name in expected} == pytest.approx(expected)
    assert row["tokens_per_word_low"] <= row["tokens_per_word"] <= row["tokens_per_word_high"]


@given(st.lists(st.tuples(st.integers(1, 9), st.integers(1, 9)), min_size=LEAST, max_size=7))
def test_bootstrap_intervals_of_a_sweep_match_the_quantiles_of_sorted_samples(documents: list[tuple[int, int]]) -> None:
    tokens, of = ([document[place] for document in documents] for place in range(2))
    times = np.random.default_rng(0).multinomial(len(tokens), [1 / len(tokens)] * len(tokens), size=DRAWS).tolist()
    drawn = sorted(
        sum(a * n for a, n in zip(tokens, row, strict=True)) / sum(b * n for b, n in zip(of, row, strict=True))
        for row in times
    )
    cut = statistics.quantiles(drawn, n=40, method="inclusive")
    ((low, high),) = intervals([np.array(tokens)], np.array([of]))
    assert (low[0], high[0]) == pytest.approx((cut[0], cut[-1]))


def test_the_summary_of_a_sweep_matches_the_statistics_over_its_seeds(sweep_result: SweepResult) -> None:
    rows = sweep_result.table.records()
    for summary in summary_of(sweep_result.table).records():
        own = [row for row in rows if all(row[name] == summary[name] for name in ("recipe", "corpus", "ties", "size"))]
        values = [row["tokens_per_word"] for row in own]
        assert summary["runs"] == len(own) == 2
        assert summary["tokens_per_word_mean"] == pytest.approx(statistics.mean(values))
        assert summary["tokens_per_word_deviation"] == pytest.approx(statistics.stdev(values))
        assert (summary["tokens_per_word_least"], summary["tokens_per_word_most"]) == (min(values), max(values))


def test_printed_measures_of_a_sweep_are_rounded_according_to_their_standard_deviation(
    folder: Path, sweep_result: SweepResult, capsys: pytest.CaptureFixture[str]
) -> None:
    first = summary_of(sweep_result.table).records()[0]
    expected = with_deviation(first["bytes_per_token_mean"], first["bytes_per_token_deviation"])
    for form in ([], ["--markdown"]):
        assert run(["sweep", str(folder / "plan.toml"), *form]) == 0
        printed = capsys.readouterr().out
        assert expected in printed
        assert ("mean ± standard deviation over the seeds" in printed) == bool(form)


def test_a_sweep_without_random_seeds_prints_measures_rounded_according_to_their_intervals(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    texts = []
    for number in range(6):
        texts.append(str(tmp_path / f"{number}.txt"))
        Path(texts[-1]).write_text("low lower lowest " * (number + 1) + "new" * number, encoding="utf-8")
    (tmp_path / "plan.toml").write_text(
        f"sizes = [270]\nheld_out = {json.dumps(texts)}\n[corpora]\nall = {json.dumps(texts)}\n"
        '[recipes.bpe]\npreset = "gpt2"\n'
    )
    (row,) = sweep(read_plan(tmp_path / "plan.toml")).table.records()
    assert run(["sweep", str(tmp_path / "plan.toml"), "--markdown", "--summary", str(tmp_path / "s.csv")]) == 0
    printed = capsys.readouterr().out
    for name in ("bytes_per_token", "tokens_per_word"):
        assert with_interval(row[name], row[f"{name}_low"], row[f"{name}_high"]) in printed
    assert "95 % interval over resampled documents" in printed


def test_a_resumed_sweep_does_not_repeat_finished_runs(
    folder: Path, sweep_result: SweepResult, capsys: pytest.CaptureFixture[str]
) -> None:
    grown: list[DataTable] = []
    plan = read_plan(folder / "plan.toml")
    with pytest.raises(Cancelled):
        sweep(plan, keep=lambda so_far: grown.append(so_far()), threads=1, work=Work(cancelled=lambda: len(grown) > 2))
    again = sweep(plan, before=grown[-1])
    assert again.runs == 8
    assert 3 <= again.known < 8
    assert csv_text(again.table) == csv_text(sweep_result.table)

    table, asked = folder / "out.parquet", ["sweep", str(folder / "plan.toml"), "-o", str(folder / "out.parquet")]
    assert run([*asked, "--summary", str(folder / "summary.csv")]) == 0
    assert csv_text(read_results(table)) == csv_text(sweep_result.table)
    assert "bytes/token" in capsys.readouterr().out
    (folder / "fewer.toml").write_text(PLAN.replace("seeds = [1, 2]", "seeds = [2, 3]"), encoding="utf-8")
    assert run(["sweep", str(folder / "fewer.toml"), "-o", str(table)]) == 0
    assert "16 rows of 8 runs (4 of these were in the table already)" in (output := capsys.readouterr().out)
    assert "8 rows that are no longer in the plan were left out" in output


def test_runs_of_a_sweep_are_saved_in_a_session_and_resumed(
    folder: Path, sweep_result: SweepResult, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, asked = tmp_path / "all.bpex", ["sweep", str(folder / "plan.toml"), "-o", str(tmp_path / "all.bpex")]
    begun = RunsInSession(path, plan := read_plan(folder / "plan.toml"))
    grown: list[DataTable] = []
    stops = Work(cancelled=lambda: len(grown) > 2)
    with pytest.raises(Cancelled):
        sweep(plan, session=begun, keep=lambda so_far: grown.append(so_far()), threads=1, work=stops)
    begun.write()
    partly_saved = read_session(path)
    assert partly_saved.text
    assert (folder / "poem.txt").read_text(encoding="utf-8").startswith(partly_saved.text)
    marked = replace(partly_saved, bookmarks=(Bookmark(2, 5, "look"),))
    write_session(marked, path)
    assert run([*asked, "-o", str(tmp_path / "all.csv")]) == 0
    output = capsys.readouterr().out
    assert f"Wrote 8 runs ({len(partly_saved.runs)} of them were in the file already) to {path}" in output
    assert csv_text(read_results(tmp_path / "all.csv")) == csv_text(sweep_result.table)
    saved = read_session(path)
    assert [saved_run.number for saved_run in saved.runs] == [*range(1, 9)]
    assert [saved_run.note for saved_run in saved.bookmarks] == ["look"]
    assert len({(saved_run.recipe.name, saved_run.recipe.ties) for saved_run in saved.runs}) == 8
    for saved_run in saved.runs:
        recipe = plan.recipes[saved_run.recipe.name.partition(",")[0]]
        changes = {"ties": saved_run.recipe.ties, "mixture": saved_run.recipe.mixture}
        by_hand = train(Corpus.from_files(folder / "poem.txt"), recipe.with_changes(**changes))
        assert saved_run.history is not None
        assert saved_run.history.pairs() == by_hand.pairs()
    assert run(asked) == 0
    assert "(8 of them were in the file already)" in capsys.readouterr().out
    assert run([*asked, "-o", str(tmp_path / "other.bpex")]) == 1
    assert "one table and one session at most" in capsys.readouterr().err


def test_a_sweep_does_not_overwrite_a_text_that_a_window_saved_meanwhile(
    tmp_path: Path, folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path, asked = tmp_path / "all.bpex", ["sweep", str(folder / "plan.toml"), "-o", str(tmp_path / "all.bpex")]
    assert run(asked) == 0
    kept = read_session(path)
    original = RunsInSession.add

    def saved_elsewhere(self: RunsInSession, *given: Any) -> None:
        write_session(replace(kept, text="typed meanwhile"), path)
        original(self, *given)

    with monkeypatch.context() as patch:
        patch.setattr(RunsInSession, "add", saved_elsewhere)
        assert run(asked) == 1
    assert "was changed by another program during the sweep, so no runs were added to it" in capsys.readouterr().err
    assert read_session(path).text == "typed meanwhile"
    assert run(asked) == 0
    assert read_session(path).text == "typed meanwhile"


def test_a_mistake_in_a_sweep_plan_is_reported_before_any_run_begins(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    three = PLAN.replace("bits = true", "") + '\n[recipes.third]\npreset = "gpt2"\n'
    for changed, sentence in (
        (three + "min_freqency = 2", "The recipe 'third': A recipe has no choice named 'min_freqency'"),
        (three + 'pattern = "custom"\ncustom_pattern = "("', "The recipe 'third'"),
        (three + 'special_tokens = "<s>"', "third': The special tokens must be a list of texts"),
        ("encoding = 5\n" + three, "encoding must be text in quotes, not 5"),
        (three + "vocab_size = 300", "The recipe 'third' cannot set vocab_size: the plan's sizes"),
        (three.replace('"lowest-ids"]', '"byte-alphabet"]') + 'base = "characters"', "'third': The tie rule"),
        (three.replace("sizes = [300, 270]", "sizes = [300, 40]"), "A vocabulary of 40"),
        (three.replace("other.txt", "others.txt"), "others.txt"),
        (three.replace('sample = "60%"', ""), "Several seeds need a sample"),
        (three.replace("sizes", "size"), "A plan has no entry named 'size'"),
        (three.replace("words.tsv", "poem.txt"), "is not a word with its morphemes"),
        (three.replace('poem = ["poem.txt"]', ""), "at least one entry in [corpora]"),
        (three.replace('"poem.txt"', '"s3://poem.txt"'), "reads only files and folders"),
        ("[", "is not TOML"),
    ):
        (folder / "bad.toml").write_text(changed, encoding="utf-8")
        assert run(["sweep", str(folder / "bad.toml"), "-o", str(folder / "bad.csv")]) == 1, sentence
        assert sentence in capsys.readouterr().err
    # Only the texts show the number of characters. The texts are counted first, and no merge is learned.
    characters = three + 'base = "characters"\n'
    (folder / "bad.toml").write_text(characters.replace("[300, 270]", "[300, 256]").replace("300", "257"))
    (folder / "poem.txt").write_text("".join(map(chr, range(0x4E00, 0x4F80))), encoding="utf-8")
    grown: list[DataTable] = []
    with pytest.raises(RecipeError, match="The recipe 'third' on 'poem'"):
        sweep(read_plan(folder / "bad.toml"), keep=lambda so_far: grown.append(so_far()))
    assert not grown
    assert run(["sweep", "--example"]) == 0
    assert run(["sweep", str(folder / "plan.toml"), "-o", str(folder / "words.tsv")]) == 1
    assert "not the table of a sweep" in capsys.readouterr().err


def test_the_table_of_a_sweep_is_built_once_if_no_intermediate_result_is_requested(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[DataTable] = []
    table_of = results.table_of

    def counted(rows: Iterable[results.Row]) -> DataTable:
        made.append(table_of(rows))
        return made[-1]

    monkeypatch.setattr(results, "table_of", counted)
    assert sweep(read_plan(folder / "plan.toml"), threads=1).runs == 8
    assert len(made) == 1


def test_a_sweep_can_train_on_integers(tmp_path: Path) -> None:
    np.save(tmp_path / "notes.npy", np.array([60, 62, 64, 60, 62, 64, 60, 62, 67]))
    plan = tmp_path / "plan.toml"
    plan.write_text(
        'sizes = [5, 6]\n[corpora]\nnotes = ["notes.npy"]\n[recipes.notes]\npreset = "gpt2"\nbase = "characters"\n'
        'base_symbols = "integers"\npattern = "none"\n'
    )
    rows = sweep(read_plan(plan)).table.records()
    study = bpe.train(
        Corpus.from_files(tmp_path / "notes.npy"), Recipe.preset("gpt2").of_symbols("integers"), vocab_size=6
    )
    assert [row["vocabulary"] for row in rows] == [5, 6]
    assert rows[1]["tokens"] == study.history.tokens_after[-1]
