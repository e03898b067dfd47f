"""Manifests of what the window saves: each is tried first, and a command makes the file again."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from hashlib import sha256
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from app.session.manifests import MANIFEST
from app.window.exchange.export import FOLDER, FolderWish
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
from tests.gui.conftest import WAIT, export_to, rest, settle
from tests.shared import ROOT

TEXT = "the lowest price is lower than the last one, and the widest of the low is the lowest.\n" * 4


def test_a_table_a_drawing_an_export_and_a_report(
    qtbot: QtBot,
    program: Program,
    train: Callable[[Program], None],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))  # of the commands
    (tmp_path / "book.txt").write_text(TEXT, encoding="utf-8")
    program.session.corpus.add_paths([tmp_path / "book.txt"])
    assert program.form.choose(vocab_size=280)
    settle(qtbot, program)
    train(program)
    program.session.cursor.go_to(10)
    told: list[str] = []
    program.session.aside.noticed.connect(
        lambda notice: told.append(notice.sentence) if "manifest" in notice.sentence else None
    )
    program.actions["manifests"].setChecked(True)

    def saved(name: str, save: Callable[[Path], object]) -> str:
        count = len(told)
        save(tmp_path / name)
        qtbot.waitUntil(lambda: len(told) > count, timeout=WAIT)
        return told[-1]

    def save_chart(path: Path) -> None:
        monkeypatch.setattr("app.window.charts.wiring.ask_where_to_save", lambda *_: path)
        program.actions["save_chart"].trigger()

    def print_chart(path: Path, page: Page | None = None) -> None:
        monkeypatch.setattr("app.window.charts.wiring.ask_where_to_save", lambda *_: path)
        program.charting._print(page or program.charting._shown, 90, 60, 7, False)

    program.charts.show_page("ranks")
    settle(qtbot, program)
    assert "identical" in saved("ranks.csv", save_chart)  # by a command of its own
    assert "no command draws" in saved("ranks.png", save_chart)
    manifest = json.loads((tmp_path / f"ranks.csv{MANIFEST}").read_text(encoding="utf-8"))
    assert manifest["folder"] == "."
    assert [one["path"] for one in manifest["inputs"]] == ["ranks.csv.bpex"]
    assert [one["sha256"] for one in manifest["texts"]["ranks.csv.bpex"]] == [sha256(TEXT.encode()).hexdigest()]
    assert str(tmp_path) not in json.dumps(manifest)

    commands: list[list[str]] = []  # which are given here, for processes take their time to begin

    def keep(command: list[str], *_: object) -> bool:
        commands.append(command)
        return True

    monkeypatch.setattr("app.session.manifests.keep_manifest", keep)
    program.charts.show_page("race")
    settle(qtbot, program)
    qtbot.waitUntil(lambda: not program.session.aside.is_busy(), timeout=WAIT)
    assert "identical" in saved("race.svg", print_chart)
    assert "identical" in saved("own.tokenizer.json", lambda path: export_to(program, path, "tokenizer.json"))
    assert "identical" in saved("page.html", program.publishing.publications.report)
    program.asking.about_token(260)
    for page in ("sizes", "ties", "words", "audit", "benchmark", "pairs"):
        program.charts.show_page(page)
        rest(qtbot, program)
        assert "identical" in saved(f"{page}.csv", save_chart), page
    program.charts.show_page("benchmark")
    rest(qtbot, program)
    assert "identical" in saved("dots.svg", print_chart)
    life = program.pages[TokenPage]
    save_life = partial(program.charting._write, life.exact(), life.watched.command)
    assert "identical" in saved("life.csv", save_life)
    assert "identical" in saved("life.svg", lambda path: print_chart(path, program.pages[TokenPage]))

    def save_words_of(path: Path) -> None:
        monkeypatch.setattr("app.window.charts.wiring.ask_where_to_save", lambda *_: path)
        program.pages[TokenPage].life.list_wanted.emit(path.stem)

    for name in ("words.tsv", "paid.json"):
        assert "identical" in saved(name, save_words_of)
    wish = FolderWish((("pad", "<|pad|>"), ("bos", ""), ("eos", ""), ("unk", "")))
    export = program.exchanging.export

    def export_folder(path: Path) -> None:
        export.checked.connect(lambda _: export.put_in_place(), Qt.ConnectionType.SingleShotConnection)
        qtbot.waitUntil(lambda: not export.is_busy, timeout=WAIT)
        export.prepare(path, FOLDER, 20, wish)
        qtbot.waitUntil(lambda: not export.is_busy, timeout=WAIT)

    assert "identical" in saved("folder", export_folder)
    encoding, compressing = program.exchanging.encoding, program.exchanging.compression
    assert "identical" in saved("ids.npy", lambda path: encoding.start([], 7, None, path))
    assert "identical" in saved("book.gage", lambda path: compressing.start("compress", tmp_path / "book.txt", path))
    first = program.session.runs.shown
    program.session.corpus.add_text("Pasted", "a text in no file, lower and lower\n" * 3)
    program.form.choose_preset("gage")
    rest(qtbot, program)
    train(program)
    program.charts.show_page("blocks")
    rest(qtbot, program)
    assert "identical" in saved("blocks.svg", print_chart)
    program.pages.page(SIZES).choose_files("held_out", str(tmp_path / "book.txt"))
    program.charts.show_page("sizes")
    rest(qtbot, program)
    program.pages.page(SIZES).model.choose("each", True)
    program.pages.page(SIZES).model.choose("measure", "tokens_per_word")
    rest(qtbot, program)
    assert "identical" in saved("each.svg", print_chart)
    program.pages[WordsPage].table.sortByColumn(0, Qt.SortOrder.DescendingOrder)  # which is another order than at first
    program.pages[AuditPage].model.choose("sort", "token")
    for page in ("words", "audit"):
        program.charts.show_page(page)
        rest(qtbot, program)
        assert "identical" in saved(f"{page} of both.csv", save_chart)
    program.session.runs.show(first)
    program.session.cursor.go_to(10)
    program.pages[ComparePage].lanes.compare_with(2)
    for page in ("compare", "curves"):
        program.charts.show_page(page)
        rest(qtbot, program)
        assert "identical" in saved(f"{page}.csv", save_chart), page
    program.pages[WhyPage].model.look_at(6)
    for page, show in (("tree", program.window.set_stage), ("lab", program.charts.show_page)):
        program.window.set_stage("")
        show(page)
        rest(qtbot, program)
        assert "identical" in saved(f"{page}.svg", print_chart), page

    def save_words(path: Path) -> None:
        monkeypatch.setattr("app.window.charts.wiring.ask_where_to_save", lambda *_: path)
        program.pages[LabPage].save_list.click()

    qtbot.waitUntil(lambda: program.pages[LabPage].model.answer is not None, timeout=WAIT)
    assert "identical" in saved("differing.csv", save_words)
    program.window.set_stage("")
    names = [
        "race.svg",
        "own.tokenizer.json",
        "page.html",
        "sizes.csv",
        "ties.csv",
        "words.csv",
        "audit.csv",
        "benchmark.csv",
        "pairs.csv",
        "dots.svg",
        "life.csv",
        "life.svg",
        "words.tsv",
        "paid.json",
        "folder/",
        "ids.npy",
        "book.gage",
        "blocks.svg",
        "each.svg",
        "words of both.csv",
        "audit of both.csv",
        "compare.csv",
        "curves.csv",
        "tree.svg",
        "lab.svg",
        "differing.csv",
    ]
    assert len((tmp_path / "compare.csv").read_text(encoding="utf-8").splitlines()) > 5
    assert (tmp_path / "curves.csv.text-2.txt").read_text(encoding="utf-8").startswith("a text in no file")
    for command, name in zip(commands, names, strict=True):
        again = tmp_path / "again" / name.rstrip("/")
        again.parent.mkdir(exist_ok=True)
        ending = "/" if name.endswith("/") else ""
        words = [f"{again}{ending}" if word == f"{tmp_path / name}{ending}" else word for word in command]
        assert run(words) == (3 if name == "compare.csv" else 0), capsys.readouterr()  # which tells that they differ
        if name == "benchmark.csv":  # which tells seconds
            two = [read_plainly(path) for path in (tmp_path / name, again)]
            assert all(one.pop("seconds") for one in two)
            assert two[0] == two[1]
            assert {*two[0]["tokenizer"]} == {"Run 1: gpt2", "Run 1: gpt2, after 5 merges"}
            continue
        for file in (tmp_path / name).rglob("*") if ending else [tmp_path / name]:
            other = again / file.relative_to(tmp_path / name) if ending else again
            assert MADE_AT.sub(b"", file.read_bytes()) == MADE_AT.sub(b"", other.read_bytes()), file

    monkeypatch.setattr("app.session.manifests.keep_manifest", lambda *_: False)
    program.charts.show_page("ranks")
    settle(qtbot, program)
    assert "the command makes another one" in saved("other.csv", save_chart)
    assert not (tmp_path / "other.csv.bpex").exists()
    program.actions["manifests"].setChecked(False)
