"""Tests of corpus groups on the command line: commands train on weighted groups and report on each group."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bpe_core.command_line.main import run
from bpe_core.formats import open_table
from bpe_core.text.mixture import Group, Mixture, Sample, weight_of


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with two groups of texts. One group contains a text twice."""
    for name, text in (("de/a.txt", "neue neue Worte\n" * 40), ("code/a.py", "new = old\n" * 20)):
        path = tmp_path / "all" / name
        path.parent.mkdir(parents=True)
        path.write_text(text)
    (tmp_path / "all" / "code" / "b.py").write_text("new = old\n" * 20)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_commands_can_train_on_a_mixture_of_corpus_groups_and_answer_questions_about_the_trained_table(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    groups = ["--group", "de", "all/de", "--group", "code", "all/code"]
    shares = ["--weights", "de=25%", "code=75%", "--unique", "code=documents", "--merges", "5"]
    assert run(["train", *groups, *shares, "--output", "m.csv"]) == 0
    output = capsys.readouterr().err
    assert "1 duplicate document of the group 'code' was left out" in output
    assert "de: 640 bytes, counted 1 times: 25.0% of the corpus." in output
    mixture = Mixture((Group("de", weight_of("1/4")), Group("code", weight_of("3/4"), unique="documents")), "bytes")
    history = open_table(Path("m.csv")).history
    assert history.recipe.mixture == mixture
    Path("mix.toml").write_text(
        'merges = 5\n[mixture]\nby = "bytes"\ngroups = [{ name = "de", weight = "25%" }, '
        '{ name = "code", weight = 0.75, unique = "documents" }]\n'
    )
    assert run(["train", *groups, "--recipe", "mix.toml", "--output", "again.csv"]) == 0
    assert open_table(Path("again.csv")).history.pairs() == history.pairs()
    Path("mix.toml").write_text("merges = = 5")
    assert run(["train", *groups, "--recipe", "mix.toml"]) == 1
    assert "mix.toml: The recipe is not valid TOML: Invalid value (at line 1" in capsys.readouterr().err
    assert run(["paid", "--merges", "m.csv", "--groups-of", "all", "--step", "1", "--json"]) == 0
    paid = json.loads(capsys.readouterr().out)
    assert [*paid["parts"]] == ["code", "de"]
    assert sum(paid["parts"].values()) == paid["count"] == history[0].count
    assert run(["sizes", "--merges", "m.csv", *groups, "--each", "--json"]) == 0
    assert [*dict.fromkeys(row["text"] for row in json.loads(capsys.readouterr().out)["rows"])] == ["de", "code"]
    assert run(["why", "neue", "--merges", "m.csv", *groups]) == 0


def test_the_sample_option_takes_a_size_for_one_group_or_for_all_groups(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    chosen = ["--sample", "100B", "de=5%", "--sample-of", "lines", "--seed", "7", "--unique", "lines"]
    assert run(["train", "--groups-of", "all", *chosen, "--merges", "0", "--output", "m.json"]) == 0
    mixture = open_table(Path("m.json")).history.recipe.mixture
    assert mixture is not None
    assert mixture.of("code") == Group("code", sample=Sample(100), unique="lines")
    assert mixture.of("de").sample == Sample(100, weight_of("5%"), "lines", 7)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ("--groups-of all --weights de=80% code=30%", "must add up to 100 %; 30 % + 80 % are 110 %"),
        ("--groups-of all --weights de=100%", "'code' has no share"),
        ("--groups-of all --weights de=100% code=1", "all weights as shares"),
        ("--groups-of all --weights de=40% de=60% code=40%", "--weights names 'de' twice"),
        ("--groups-of all --weights de=-1", "cannot be negative"),
        ("--groups-of all --weights de=0 code=0", "All weights of the mixture are zero"),
        ("--groups-of all --weights fr=2", "--weights names 'fr', but the groups are code, de"),
        ("--groups-of all --weights fr=40% de=60%", "--weights names 'fr', but the groups are code, de"),
        ("--groups-of all --weights 2", "the group of each weight"),
        ("--groups-of all --sample much", "is not the size of a sample"),
        ("--groups-of all/de", "all/de has no subfolders"),
        ("--group de", "Which texts are in the group 'de'"),
        ("all/de --group code all/code", "all/de is in no group"),
        ("--groups-of nowhere", "cannot be looked through"),
    ],
)
def test_impossible_mixture_options_are_refused_with_an_error_message(
    folder: Path, arguments: str, sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["train", *arguments.split(), "--merges", "2"]) != 0
    assert sentence in capsys.readouterr().err


def test_a_file_of_counts_stores_the_corpus_groups_and_training_can_weight_the_groups(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["count", "--groups-of", "all", "-o", "c.parquet"]) == 0
    assert run(["train", "--groups-of", "all", "--weights", "code=40%", "de=60%", "--merges", "5", "-o", "m.csv"]) == 0
    pairs = open_table(Path("m.csv")).history.pairs()
    counts = ["train", "c.parquet", "--merges", "5"]
    assert run([*counts, "--weights", "code=40%", "de=60%", "-o", "again.csv"]) == 0
    assert open_table(Path("again.csv")).history.pairs() == pairs
    mixed = 'merges = 5\n[mixture]\nby = "bytes"\ngroups = [{ name = "code", weight = "40%" }, '
    Path("mix.toml").write_text(mixed + '{ name = "de", weight = "60%" }]\n')
    assert run(["train", "c.parquet", "--recipe", "mix.toml", "-o", "by_recipe.csv"]) == 0
    assert open_table(Path("by_recipe.csv")).history.pairs() == pairs
    assert run([*counts, "--weights", "code=3", "de=1", "-o", "factors.csv"]) == 0
    mixture = open_table(Path("factors.csv")).history.recipe.mixture
    assert mixture == Mixture((Group("code", weight_of("3")), Group("de")))
    capsys.readouterr()
    assert run([*counts, "--weights", "code=40%"]) == 1
    assert "The group 'de' has no share" in capsys.readouterr().err
    assert run(["train", "all/code/a.py", "--recipe", "mix.toml"]) == 1
    assert "The recipe mixes the groups 'code', 'de', but the texts are in no groups" in capsys.readouterr().err
