"""Tests of runs that are saved as sessions. Commands read such a session in the same way as a table."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tokenizers import ByteLevelBPETokenizer

from bpe_core.command_line.main import run
from bpe_core.methods.registry import METHODS
from bpe_core.report import report_of
from bpe_core.session_file.reading import read_session
from tests.core.learning import text_arguments

TEXT = "the keeper of the light wrote one word more into the log of the light\n" * 30
SIZES = {"wordpiece": ["--vocab-size", "40"], "unigram": ["--vocab-size", "20"], "gage": []}


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "text.txt"
    path.write_text(TEXT)
    return path


@pytest.mark.parametrize("method", METHODS)
def test_the_train_command_saves_a_run_as_a_session(
    method: str, text: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kept = text.with_name("run.bpex")
    assert (
        run(
            [
                "train",
                *text_arguments(method, str(text)),
                "--method",
                method,
                *SIZES.get(method, ["--merges", "20"]),
                "--output",
                str(kept),
                "--quiet",
            ]
        )
        == 0
    )
    (saved,) = read_session(kept).runs
    assert saved.recipe.method == method
    assert saved.words is not None
    assert saved.learned > 0
    assert saved.names_of_texts[0] == text.name
    assert report_of(read_session(kept)).title.split(" learned from ")[1].startswith(text.name)
    assert run(["verify", str(kept)]) == 0
    capsys.readouterr()
    assert run(["encode", "--merges", str(kept), "the light"]) == 0
    ids = capsys.readouterr().out.split()
    assert run(["decode", "--merges", str(kept), *ids]) == 0
    assert capsys.readouterr().out.strip() == "the light"


def test_a_branch_of_a_saved_run_is_stored_with_its_interventions_and_can_be_exported(
    text: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kept, table = text.with_name("run.bpex"), text.with_name("branch.json")
    assert run(["train", str(text), "--merges", "20", "--output", str(kept), "--quiet"]) == 0
    assert run(["branch", str(kept), "--forbid", "t+h@4", "--force", "w+r@6", "-o", str(kept)]) == 0
    assert (
        "20 merges, and shares the first 3 with the run (forbid:116+104@4, force:119+114@6)" in capsys.readouterr().out
    )
    first, branch = read_session(kept).runs
    assert first.history is not None
    assert branch.history is not None
    assert (first.parent, branch.parent, branch.history.pair(5)) == (None, 1, (119, 114))
    assert first.history.pairs()[:3] == branch.history.pairs()[:3]
    assert run(["branch", str(kept), "--forbid", "o+n@9", "-o", str(table)]) == 0  # the branch was shown
    assert read_session(kept).view.shown_run == 2
    written = table.read_text()
    left, right = branch.history.pair(0)
    for is_now, sentence in (
        ("force:116+104@6", "step 6 merges another"),
        (f"forbid:{left}+{right}@1", "step 1 merges"),
    ):
        table.write_text(written.replace("force:119+114@6", is_now).replace("forbid:116+104@4", "forbid:116+104@7"))
        assert run(["encode", "--merges", str(table), "light"]) == 1
        assert sentence in capsys.readouterr().err
    table.write_text(written)
    for wrong, sentence in {
        (str(kept),): "Say which pair the branch forbids or forces",
        (str(table), "--forbid", "o+n@3"): "Name its texts with --corpus",
        (str(kept), "--forbid", "o+n@99"): "There is no step 99",
    }.items():
        assert run(["branch", *wrong, "-o", str(table)]) == 1
        assert sentence in capsys.readouterr().err


def test_a_pair_given_by_its_ids_in_an_extended_table_can_be_forbidden_in_a_branch(
    text: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first, kept, branch = (text.with_name(name) for name in ("first.json", "run.bpex", "branch.bpex"))
    tokenizer = ByteLevelBPETokenizer()
    tokenizer.train([str(text)], vocab_size=270, special_tokens=["<a>", "<b>"], show_progress=False)
    tokenizer.save(str(first))
    assert run(["extend", str(first), "--corpus", str(text), "--by", "6", "-o", str(kept)]) == 0

    def pairs_of(path: Path) -> list[tuple[int, int]]:
        capsys.readouterr()
        assert run(["steps", str(path), "--json"]) == 0
        return [(row["left_id"], row["right_id"]) for row in json.loads(capsys.readouterr().out)["rows"]]

    pairs = pairs_of(kept)
    step = len(pairs) - 2
    left, right = pairs[step - 1]
    request = ["branch", str(kept), "--corpus", str(text), "--forbid", f"#{left}+#{right}@{step}", "--json"]
    assert run([*request, "-o", str(branch)]) == 0
    assert json.loads(capsys.readouterr().out)["decided"] == [f"forbid:{left}+{right}@{step}"]
    assert pairs_of(branch)[: step - 1] == pairs[: step - 1]
    assert (left, right) not in pairs_of(branch)


def test_a_branch_of_a_table_keeps_the_names_of_its_training_texts(text: Path) -> None:
    table, kept = text.with_name("run.csv"), text.with_name("branch.bpex")
    assert run(["train", str(text), "--merges", "20", "--output", str(table), "--quiet"]) == 0
    assert run(["branch", str(table), "--corpus", str(text), "--forbid", "t+h@4", "-o", str(kept)]) == 0
    session = read_session(kept)
    assert [saved_run.names_of_texts for saved_run in session.runs] == [(text.name,)] * 2
    assert report_of(session).title.endswith(f"learned from {text.name}")


def test_questions_about_pair_ranks_are_refused_for_a_method_without_ranks(
    text: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kept = text.with_name("run.bpex")
    assert run(["train", str(text), "--method", "gage", "--output", str(kept), "--quiet"]) == 0
    assert run(["paid", "--merges", str(kept), "--corpus", str(text), "--step", "1"]) == 1
    assert "only for tokenizers that merge pairs" in capsys.readouterr().err


def test_encoding_with_a_session_file_that_has_no_run_is_refused_with_an_error_message(
    text: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from bpe_core.recipes.recipe import Recipe
    from bpe_core.session_file.values import SavedSession
    from bpe_core.session_file.writing import write_session

    path = text.with_name("empty.bpex")
    write_session(SavedSession(Recipe.preset("gpt2")), path)
    assert run(["encode", "--merges", str(path), "the"]) == 1
    assert "a session in which no run" in capsys.readouterr().err


def test_commands_about_tokenizer_files_accept_a_session(text: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kept = str(text.with_name("run.bpex"))
    other = text.with_name("other.txt")
    other.write_text("another light and another word\n" * 20)
    assert run(["train", str(text), "--merges", "20", "--output", kept, "--quiet"]) == 0
    assert run(["pin", kept]) == 0
    assert run(["check", "--pins", str(text.with_name("run.pins.json"))]) == 0
    assert run(["bench", kept, "--texts", str(text)]) == 0
    assert "No other library uses this format" in capsys.readouterr().out
    pytest.importorskip("highspy", reason="shares are found by highspy, an extra of the project")
    assert run(["mixture", kept, "--group", "own", str(text), "--group", "other", str(other)]) == 0
