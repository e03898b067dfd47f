"""Tests of the export from the window.

Before an old file is replaced, the window shows the result of checking the new file.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog
from pytestqt.qtbot import QtBot

from app.settings import LAST_FOLDER
from app.window.exchange.export import FOLDER
from app.window.exchange.export_dialog import ExportDialog
from app.wiring import Program
from bpe_core.delivery import folder
from bpe_core.formats import FORMATS, format_for, open_table, read_history, write_history
from bpe_core.recipes.recipe import Recipe
from bpe_core.text.corpus import Corpus
from tests.core.learning import train as learn
from tests.gui.conftest import WAIT, Train, export_to, reuse_session

pytestmark = pytest.mark.usefixtures("only_window")

TEXT = "the lowest price is lower than the last one, and the lower the better, is it not? thin then that\n" * 3


@pytest.fixture
def trained_window(
    qtbot: QtBot, one_session: list[object], only_window: Program, new_session: Callable[[], Program], train: Train
) -> Program:
    def make() -> Program:
        program = new_session()
        program.session.corpus.replace_by_text("small", TEXT)
        assert program.form.choose(vocab_size=300)
        train(program)
        return program

    return reuse_session(qtbot, one_session, only_window, make)


def choose(shown: ExportDialog, format: str) -> None:
    shown.format.setCurrentIndex(shown.format.findData(format))


def dialog(program: Program, path: Path, format: str) -> ExportDialog:
    program.actions["export"].trigger()
    shown = program.exchanging.export_dialog
    assert shown is not None
    choose(shown, format)
    shown.path.setText(str(path))
    return shown


def press(qtbot: QtBot, program: Program, shown: ExportDialog) -> None:
    with qtbot.waitSignal(program.exchanging.export.ended, timeout=WAIT):
        shown.begin.click()


def test_the_export_dialog_offers_every_format_under_a_different_name(trained_window: Program, tmp_path: Path) -> None:
    shown = dialog(trained_window, tmp_path / "merges.csv", "csv")
    offered = [(shown.format.itemText(row), shown.format.itemData(row)) for row in range(shown.format.count())]
    assert {name for _, name in offered} == {*FORMATS.written, FOLDER}
    assert [name for _, name in offered[:2]] == ["tokenizer.json", FOLDER], "what most people want"
    purposes = {name: row.purpose for name, row in FORMATS.written.rows.items()}
    assert all(purposes.values())
    for title, name in offered:
        assert name == FOLDER or title.casefold() == f"{purposes[name]} ({name})".casefold()
    tables = [purposes.get(name, "").startswith("a table") for _, name in offered]
    assert tables == sorted(tables), "programs first"
    proposed = []
    for name, row in FORMATS.written.rows.items():
        choose(shown, name)
        assert shown.explanation.text() == row.explanation
        proposed.append(Path(shown.path.text()).name)
    assert [format_for(name).name for name in proposed] == list(FORMATS.written)


@pytest.mark.parametrize("format", ["json", "merges.txt"])
def test_one_click_on_the_export_button_verifies_and_writes_the_file(
    qtbot: QtBot, trained_window: Program, tmp_path: Path, format: str
) -> None:
    path = tmp_path / "merges.txt" if format == "merges.txt" else tmp_path / f"ours.{format}"
    shown = dialog(trained_window, path, format)
    assert shown.begin.text() == "Write"
    with qtbot.waitSignal(trained_window.exchanging.export.finished, timeout=WAIT):
        shown.begin.click()
    qtbot.waitUntil(lambda: not trained_window.exchanging.export.is_busy, timeout=WAIT)
    assert "verified: " in shown.outcome.text()
    assert "words agree" in shown.outcome.text()
    run = trained_window.session.runs.shown
    assert run is not None
    assert run.history is not None
    assert open_table(path).format == format
    assert read_history(path).columns.left.tolist() == run.history.columns.left.tolist()
    assert f"Wrote {len(run.history)} merges" in trained_window.messages.sentence.text()
    assert shown.begin.text() == "Write"


def test_the_export_dialog_writes_a_folder_for_transformers(
    qtbot: QtBot, trained_window: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folder, "checked_by_loading", lambda prepared, *_: prepared)  # which its own tests look at
    out, template = tmp_path / "tokenizer", tmp_path / "chat.jinja"
    template.write_text("{{ messages[0].content }}", encoding="utf-8")
    shown = dialog(trained_window, out, FOLDER)
    assert shown.folder.roles["pad"].currentText() == "<|pad|>"  # nothing is there to be guessed
    shown.folder.roles["eos"].setCurrentText("</s>")
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_, **__: (str(template), ""))
    shown.folder.template.choose.click()
    with qtbot.waitSignal(trained_window.exchanging.export.finished, timeout=WAIT):
        shown.begin.click()
    qtbot.waitUntil(lambda: not trained_window.exchanging.export.is_busy, timeout=WAIT)
    outcome = shown.outcome.text()
    assert "is added as a special token" in outcome[outcome.index("Options that the program chose") :]
    assert "is added" not in outcome.partition("Facts that this format cannot store")[2]
    names = ["README.md", "idmap.npz", "tokenizer.json", "tokenizer_config.json"]
    assert sorted(path.name for path in out.iterdir()) == names
    config = json.loads((out / "tokenizer_config.json").read_text(encoding="utf-8"))
    assert (config["pad_token"], config["eos_token"]) == ("<|pad|>", "</s>")
    choose(shown, "csv")
    assert not shown.folder.isVisible()


def test_the_export_dialog_reports_what_the_format_cannot_store_before_replacing_a_file(
    qtbot: QtBot, trained_window: Program, tmp_path: Path
) -> None:
    path = tmp_path / "ours.tiktoken"
    path.write_text("the old file")
    shown = dialog(trained_window, path, "tiktoken")
    press(qtbot, trained_window, shown)
    assert "cannot store the pattern gpt2" in shown.outcome.text()
    assert "This export replaces ours.tiktoken" in shown.outcome.text()
    assert shown.begin.text() == "Replace ours.tiktoken"
    assert path.read_text() == "the old file"
    press(qtbot, trained_window, shown)
    assert path.read_text().startswith("AA== 0\n")


def test_an_export_up_to_the_shown_step_writes_no_later_merges(
    qtbot: QtBot, trained_window: Program, tmp_path: Path
) -> None:
    trained_window.session.cursor.go_to(7)
    path = tmp_path / "early.csv"
    shown = dialog(trained_window, path, "csv")
    shown.up_to_here.click()
    with qtbot.waitSignal(trained_window.exchanging.export.finished, timeout=WAIT):
        shown.begin.click()
    assert len(read_history(path)) == 7


def test_the_export_dialog_shows_the_whole_path_of_the_target_file(trained_window: Program) -> None:
    trained_window.settings.put(LAST_FOLDER, "")
    trained_window.actions["export"].trigger()
    shown = trained_window.exchanging.export_dialog
    assert shown is not None
    assert Path(shown.path.text()).is_absolute()
    shown.reject()


def test_changing_an_export_option_requires_a_new_check(qtbot: QtBot, trained_window: Program, tmp_path: Path) -> None:
    (tmp_path / "ours.csv").write_text("the old file")
    shown = dialog(trained_window, tmp_path / "ours.csv", "csv")
    press(qtbot, trained_window, shown)
    assert shown.begin.text() == "Replace ours.csv"
    shown.merges.setValue(3)
    assert shown.begin.text() == "Write"
    assert shown.outcome.text() == ""
    assert (tmp_path / "ours.csv").read_text() == "the old file"


def test_the_export_dialog_says_why_a_format_cannot_hold_the_table(
    qtbot: QtBot, trained_window: Program, tmp_path: Path
) -> None:
    shown = dialog(trained_window, tmp_path / "ours.codes", "subword-nmt")
    press(qtbot, trained_window, shown)
    assert "this table starts from bytes" in shown.outcome.text()
    assert shown.begin.text() == "Write"


def test_exporting_into_a_missing_folder_is_reported(qtbot: QtBot, trained_window: Program, tmp_path: Path) -> None:
    shown = dialog(trained_window, tmp_path / "no" / "such.csv", "csv")
    with qtbot.waitSignal(trained_window.exchanging.export.failed, timeout=WAIT):
        shown.begin.click()
    qtbot.waitUntil(lambda: not trained_window.exchanging.export.is_busy, timeout=WAIT)
    assert "Could not write" in shown.outcome.text()
    assert "Could not write" in trained_window.messages.sentence.text()


def test_closing_the_export_dialog_stops_the_check(qtbot: QtBot, trained_window: Program, tmp_path: Path) -> None:
    shown = dialog(trained_window, tmp_path / "ours.csv", "csv")
    shown.begin.click()
    assert shown.begin.text() == "Cancel"
    with qtbot.waitSignal(trained_window.exchanging.export.ended, timeout=WAIT):
        shown.reject()
    trained_window.exchanging.export.put_in_place()
    assert not trained_window.exchanging.export.is_busy
    assert not (tmp_path / "ours.csv").exists()


def test_the_export_dialog_keeps_a_file_name_chosen_by_the_user_when_the_format_changes(
    trained_window: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trained_window.actions["export"].trigger()
    shown = trained_window.exchanging.export_dialog
    assert shown is not None
    choose(shown, "tokenizer.json")
    assert Path(shown.path.text()).name == "tokenizer.json"
    choose(shown, "minbpe")
    assert Path(shown.path.text()).name == "merges.minbpe.model"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_, **__: (str(tmp_path / "mine.x"), ""))
    shown.path.choose.click()
    choose(shown, "csv")
    assert shown.path.text() == str(tmp_path / "mine.x")


def test_enter_in_a_field_of_the_export_dialog_begins_the_check(
    qtbot: QtBot, trained_window: Program, tmp_path: Path
) -> None:
    trained_window.session.cursor.go_to(3)
    shown = dialog(trained_window, tmp_path / "ours.csv", "csv")
    with qtbot.waitSignal(trained_window.exchanging.export.ended, timeout=WAIT):
        qtbot.keyClick(shown.merges, Qt.Key.Key_Return)
    assert shown.merges.value() == trained_window.exchanging.export.merges > 3
    assert "verified" in shown.outcome.text()


def test_using_the_export_action_again_opens_no_second_dialog(trained_window: Program) -> None:
    trained_window.actions["export"].trigger()
    first = trained_window.exchanging.export_dialog
    trained_window.actions["export"].trigger()
    assert trained_window.exchanging.export_dialog is first
    assert first is not None
    first.reject()
    trained_window.actions["export"].trigger()
    assert trained_window.exchanging.export_dialog is not first


def test_exporting_without_a_run_asks_the_user_to_train_first(program: Program) -> None:
    program.actions["export"].trigger()
    assert "train first" in program.messages.sentence.text()


def test_a_merge_table_can_be_exported_without_a_dialog(qtbot: QtBot, trained_window: Program, tmp_path: Path) -> None:
    with qtbot.waitSignal(trained_window.exchanging.export.ended, timeout=WAIT):
        export_to(trained_window, tmp_path / "merges.csv", "csv")
    assert len(read_history(tmp_path / "merges.csv")) == trained_window.exchanging.export.merges


CONFIG = {
    "tokenizer_class": "PreTrainedTokenizerFast",
    "eos_token": "<|end|>",
    "pad_token": "<|spare|>",
    "padding_side": "left",
    "chat_template": "{{ messages[0].content }}",
}


def test_a_folder_export_keeps_the_other_files_of_the_opened_tokenizer_folder(
    qtbot: QtBot, program: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe = Recipe.preset("gpt2", merges=20, special_tokens=("<|end|>", "<|spare|>"))
    opened, out = tmp_path / "opened", tmp_path / "written"
    opened.mkdir()
    write_history(learn(Corpus.from_texts([TEXT]), recipe), opened / "tokenizer.json")
    (opened / "tokenizer_config.json").write_text(json.dumps(CONFIG))
    file = str(opened / "tokenizer.json")
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_, **__: (file, ""))
    with qtbot.waitSignal(program.exchanging.imports.ended, timeout=WAIT):
        program.actions["import"].trigger()
    shown = dialog(program, out, FOLDER)
    assert "A folder with the other files from the folder of tokenizer.json" in shown.explanation.text()
    assert {role: box.currentText() for role, box in shown.folder.roles.items()} == {
        "pad": "<|spare|>",
        "bos": "",
        "eos": "<|end|>",
        "unk": "",
    }
    assert shown.folder.template.placeholderText() == "the template in tokenizer_config.json"
    shown.folder.roles["bos"].setCurrentText("<|begin|>")
    commands: list[tuple[str, ...]] = []
    program.exchanging.export.written.connect(lambda command, _: commands.append(command))
    press(qtbot, program, shown)
    press(qtbot, program, shown)
    config = json.loads((out / "tokenizer_config.json").read_text(encoding="utf-8"))
    assert config == {**CONFIG, "bos_token": "<|begin|>"}
    assert "<|begin|>" in read_history(out / "tokenizer.json").recipe.special_tokens
    assert commands[0][4:] == ("--at", "20", "--bos", "<|begin|>", "--like", str(opened))
