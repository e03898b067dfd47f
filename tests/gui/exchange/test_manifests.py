"""Tests of the manifests that the window writes.

The window checks that the command in a manifest makes the same file.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import partial
from hashlib import sha256
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from app.session.manifests import MANIFEST
from app.window.exchange.export import FOLDER, FolderChoices
from app.window.pages import SIZES
from app.window.parts.page import Page
from app.window.questions.audit.page import AuditPage
from app.window.questions.compare.answers import ComparePage, LabPage
from app.window.questions.token.page import TokenPage
from app.window.questions.why.page import WhyPage
from app.window.questions.words.page import WordsPage
from app.wiring import Program
from bpe_core.command_line.commands.repeat import MADE_AT
from bpe_core.command_line.main import run
from bpe_core.support.data_table import read_plainly
from tests.gui.conftest import WAIT, Train, export_to, settle, wait_for_rest
from tests.shared import ROOT

TEXT = "the lowest price is lower than the last one, and the widest of the low is the lowest.\n" * 4


class WindowSaver:
    """A helper that saves files from a window, and reads the message about each manifest."""

    def __init__(self, qtbot: QtBot, program: Program, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.program, self.folder = program, folder
        self.names: list[str] = []  # of what a command makes again
        self.commands: list[list[str]] = []
        self._qtbot, self._monkeypatch, self._told = qtbot, monkeypatch, list[str]()
        program.session.background.noticed.connect(
            lambda notice: self._take(notice.sentence.replace(str(folder), ""))  # the folder is called by the test
        )
        program.actions["manifests"].setChecked(True)

    def _take(self, sentence: str) -> None:
        if "manifest" in sentence:
            self._told.append(sentence)

    def said_of(self, name: str, save: Callable[[Path], object]) -> str:
        count = len(self._told)
        save(self.folder / name.rstrip("/"))
        self._qtbot.waitUntil(lambda: len(self._told) > count, timeout=WAIT)
        return self._told[-1]

    def again(self, name: str, save: Callable[[Path], object]) -> None:
        """Save a file, and check that the command recorded for it makes an identical file."""
        assert "identical" in self.said_of(name, save), name
        self.names.append(name)

    def instead_of_processes(self) -> None:
        """Record commands instead of running them, because it takes a long time to start a process."""

        def keep(command: list[str], *_: object) -> bool:
            self.commands.append(command)
            return True

        self._monkeypatch.setattr("app.session.manifests.keep_manifest", keep)

    def show(self, *pages: str) -> Iterator[str]:
        for page in pages:
            self.program.charts.show_page(page)
            wait_for_rest(self._qtbot, self.program)
            yield page

    def shown(self, page: str) -> None:
        list(self.show(page))

    def chart(self, path: Path) -> None:
        self._answer(path)
        self.program.actions["save_chart"].trigger()

    def print(self, path: Path, page: Page | None = None) -> None:
        self._answer(path)
        self.program.charting._print(page or self.program.charting._shown, 90, 60, 7, is_dark=False, has_caption=False)

    def words_of_the_token(self, path: Path) -> None:
        self._answer(path)
        self.program.pages[TokenPage].life.list_wanted.emit(path.stem)

    def words_that_differ(self, path: Path) -> None:
        self._answer(path)
        self.program.pages[LabPage].save_list.click()

    def export_folder(self, path: Path) -> None:
        export = self.program.exchanging.export
        wish = FolderChoices((("pad", "<|pad|>"), ("bos", ""), ("eos", ""), ("unk", "")))
        export.checked.connect(lambda _: export.put_in_place(), Qt.ConnectionType.SingleShotConnection)
        self._qtbot.waitUntil(lambda: not export.is_busy, timeout=WAIT)
        export.prepare(path, FOLDER, 20, wish)
        self._qtbot.waitUntil(lambda: not export.is_busy, timeout=WAIT)

    def _answer(self, path: Path) -> None:
        self._monkeypatch.setattr("app.window.charts.wiring.ask_where_to_save", lambda *_: path)


def test_the_window_writes_manifests_for_every_kind_of_saved_file(
    qtbot: QtBot,
    program: Program,
    train: Train,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """All cases share one window and one training, because opening and training take longer than the cases."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))  # of the commands
    (tmp_path / "book.txt").write_text(TEXT, encoding="utf-8")
    program.session.corpus.add_paths([tmp_path / "book.txt"])
    assert program.form.choose(vocab_size=280)
    settle(qtbot, program)
    train(program)
    program.session.cursor.go_to(10)
    saving = WindowSaver(qtbot, program, tmp_path, monkeypatch)
    save_by_separate_command(saving)
    saving.instead_of_processes()
    qtbot.waitUntil(lambda: not program.session.background.is_busy(), timeout=WAIT)
    save_answers_about_one_run(saving)
    save_other_files(saving)
    first = program.session.runs.shown
    train_gage_on_two_texts(qtbot, saving, train)
    program.session.runs.show(first)
    program.session.cursor.go_to(10)
    compare_two_runs(qtbot, saving)
    assert len((tmp_path / "compare.csv").read_text(encoding="utf-8").splitlines()) > 5
    assert (tmp_path / "curves.csv.text-2.txt").read_text(encoding="utf-8").startswith("a text in no file")
    for command, name in zip(saving.commands, saving.names, strict=True):
        repeat(command, name, tmp_path, capsys)

    monkeypatch.setattr("app.session.manifests.keep_manifest", lambda *_: False)
    saving.shown("ranks")
    assert "the manifest would hold makes a different file" in saving.said_of("other.csv", saving.chart)
    assert not (tmp_path / "other.csv.bpex").exists()
    program.actions["manifests"].setChecked(False)


def save_by_separate_command(saving: WindowSaver) -> None:
    saving.shown("ranks")
    assert "identical" in saving.said_of("ranks.csv", saving.chart)
    assert "no command draws" in saving.said_of("ranks.png", saving.chart)
    manifest = json.loads((saving.folder / f"ranks.csv{MANIFEST}").read_text(encoding="utf-8"))
    assert manifest["folder"] == "."
    assert [entry["path"] for entry in manifest["inputs"]] == ["ranks.csv.bpex"]
    assert [entry["sha256"] for entry in manifest["texts"]["ranks.csv.bpex"]] == [sha256(TEXT.encode()).hexdigest()]
    assert str(saving.folder) not in json.dumps(manifest)


def save_answers_about_one_run(saving: WindowSaver) -> None:
    program = saving.program
    saving.shown("race")
    saving.again("race.svg", saving.print)
    saving.again("own.tokenizer.json", lambda path: export_to(program, path, "tokenizer.json"))
    saving.again("page.html", program.publishing.publications.report)
    program.asking.open_token_page(260)
    for page in saving.show("sizes", "ties", "words", "audit", "benchmark", "pairs"):
        saving.again(f"{page}.csv", saving.chart)
    saving.shown("benchmark")
    saving.again("dots.svg", saving.print)
    life = program.pages[TokenPage]
    saving.again("life.csv", partial(program.charting._write, life.table_function(), life.watched.command))
    saving.again("life.svg", lambda path: saving.print(path, life))
    for name in ("words.tsv", "paid.json"):
        saving.again(name, saving.words_of_the_token)


def save_other_files(saving: WindowSaver) -> None:
    exchanging, book = saving.program.exchanging, saving.folder / "book.txt"
    saving.again("folder/", saving.export_folder)
    saving.again("ids.npy", lambda path: exchanging.encoding.start([], 7, None, path))
    saving.again("book.gage", lambda path: exchanging.compression.start("compress", book, path))


def train_gage_on_two_texts(qtbot: QtBot, saving: WindowSaver, train: Train) -> None:
    program = saving.program
    program.session.corpus.add_text("Pasted", "a text in no file, lower and lower\n" * 3)
    program.form.choose_preset("gage")
    wait_for_rest(qtbot, program)
    train(program)
    saving.shown("blocks")
    saving.again("blocks.svg", saving.print)
    sizes = program.pages.page(SIZES)
    sizes.form.choose_files("held_out", str(saving.folder / "book.txt"))
    saving.shown("sizes")
    sizes.model.choose("each", True)
    sizes.model.choose("measure", "tokens_per_word")
    wait_for_rest(qtbot, program)
    saving.again("each.svg", saving.print)
    program.pages[WordsPage].table.sortByColumn(0, Qt.SortOrder.DescendingOrder)  # which is another order than at first
    program.pages[AuditPage].model.choose("sort", "token")
    for page in saving.show("words", "audit"):
        saving.again(f"{page} of both.csv", saving.chart)


def compare_two_runs(qtbot: QtBot, saving: WindowSaver) -> None:
    program = saving.program
    program.pages[ComparePage].lanes.compare_with(2)
    for page in saving.show("compare", "curves"):
        saving.again(f"{page}.csv", saving.chart)
    program.pages[WhyPage].model.look_at(6)
    for page, show in (("tree", program.window.set_stage), ("lab", program.charts.show_page)):
        program.window.set_stage("")
        show(page)
        wait_for_rest(qtbot, program)
        saving.again(f"{page}.svg", saving.print)
    qtbot.waitUntil(lambda: program.pages[LabPage].model.answer is not None, timeout=WAIT)
    saving.again("differing.csv", saving.words_that_differ)
    program.window.set_stage("")


def repeat(command: list[str], name: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Run the command in a manifest, and compare the file that it makes with the file that the window saved."""
    path, again = folder / name.rstrip("/"), folder / "again" / name.rstrip("/")
    again.parent.mkdir(exist_ok=True)
    ending = "/" if name.endswith("/") else ""
    words = [f"{again}{ending}" if word == f"{path}{ending}" else word for word in command]
    assert run(words) == (3 if name == "compare.csv" else 0), capsys.readouterr()  # which tells that they differ
    if name == "benchmark.csv":  # which tells seconds
        two = [read_plainly(item) for item in (path, again)]
        assert all(item.pop("seconds") for item in two)
        assert two[0] == two[1]
        assert {*two[0]["tokenizer"]} == {"Run 1: gpt2", "Run 1: gpt2, after 5 merges"}
        return
    for file in path.rglob("*") if ending else [path]:
        other = again / file.relative_to(path) if ending else again
        assert MADE_AT.sub(b"", file.read_bytes()) == MADE_AT.sub(b"", other.read_bytes()), file
