"""Tests of the shelf in the window. The shelf shows how several tokenizers split the same text.

The tokenizers can be downloaded, saved as one picture, and opened in the room `Compare`.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import QFileDialog
from pytestqt.qtbot import QtBot

import bpe_core as bpe
from app.settings import TOKENIZER_FOLDER, Settings
from app.window.pages import LANES
from app.window.rooms.my_word import LONGEST
from app.window.shelf import model as shelf_model
from app.window.shelf.cards import ShelfCard
from app.window.shelf.dialog import ShelfDialog
from app.wiring import Program
from tests.gui.conftest import WAIT, settle
from tests.hub import FakeHub, put

GPT2 = "openai-community/gpt2"
GPT4O = "Xenova/gpt-4o"
TEXT = "low lower lowest newest"


def saved_as(folder: Path, name: str, preset: str = "gpt2") -> bytes:
    path = folder / name
    bpe.train([TEXT], preset, merges=8, min_frequency=1).save(path)
    return path.read_bytes()


@pytest.fixture
def content(tmp_path: Path) -> bytes:
    """Return the content of a tokenizer.json file with a small vocabulary."""
    (tmp_path / "source").mkdir()
    return saved_as(tmp_path / "source", "tokenizer.json")


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes) -> FakeHub:
    """Return an object that replaces the Hugging Face Hub. The folder of the download cache is empty."""
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setattr(sys, "executable", str(tmp_path / "program" / "bpe-explorer"))
    hub = FakeHub({GPT2: {"tokenizer.json": content}, GPT4O: {"tokenizer.json": content}})
    monkeypatch.setitem(sys.modules, "huggingface_hub", hub)
    return hub


@pytest.fixture
def program(new_program: Callable[..., Program], hub: FakeHub, train: Callable[[Program], None]) -> Program:
    program = new_program()
    train(program)
    program.window.show_room("watch")
    program.watch.field.setText("lowest")
    return program


def open_shelf(qtbot: QtBot, program: Program) -> ShelfDialog:
    program.actions["shelf"].trigger()
    dialog = program.shelf.dialog
    assert dialog is not None
    qtbot.waitUntil(lambda: len(dialog.sheet.cards) > 1, timeout=WAIT)
    settle(qtbot, program)
    return dialog


def card_of(dialog: ShelfDialog, title: str) -> ShelfCard:
    return next(card for card in dialog.sheet.cards if card.title.text() == title and not card.isHidden())


def ids_on(card: ShelfCard, program: Program) -> list[int | None]:
    text = next(text for text in program.shelf.model.cards if text.key == card.key)
    assert text.split is not None
    return [tile.id for tile in text.split.tiles.tiles]


def wait_for_tokens(qtbot: QtBot, dialog: ShelfDialog, title: str) -> ShelfCard:
    qtbot.waitUntil(lambda: "token" in card_of(dialog, title).total.text(), timeout=WAIT)
    return card_of(dialog, title)


def test_a_shelf_without_tokenizers_shows_the_run_and_offers_downloads_without_connecting(
    qtbot: QtBot, program: Program, hub: FakeHub
) -> None:
    dialog = open_shelf(qtbot, program)
    titles = [card.title.text() for card in dialog.sheet.cards]
    assert titles[0].startswith("This run: ")
    assert titles[1:] == ["GPT-2", "GPT-4o", "Llama 3", "BERT", "T5"]
    assert card_of(dialog, "GPT-2").fetch.text() == "Fetch (about 1.4 MB, licence MIT)"
    assert card_of(dialog, "Llama 3").fetch.text() == "Fetch (about 9.0 MB, licence Llama 3 Community License)"
    assert card_of(dialog, "GPT-4o").fetch.text() == "Fetch (size not known yet, licence MIT)"
    assert dialog.field.text() == "lowest"
    run = program.session.runs.shown
    assert run is not None
    study = program.session.runs.studies.of(run)
    assert study is not None
    assert ids_on(dialog.sheet.cards[0], program) == study.encode(" lowest")
    assert (hub.asked, hub.downloaded) == ([], [])


def test_the_shelf_shows_the_tokens_that_the_library_of_a_cached_tokenizer_makes(
    qtbot: QtBot, program: Program, content: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    tokenizers = pytest.importorskip("tokenizers")
    file = put(GPT2, {"tokenizer.json": content}) / "tokenizer.json"
    threads = list[str]()

    def open_study(path: str) -> Any:
        threads.append(threading.current_thread().name)
        return bpe.open(path)

    monkeypatch.setattr(shelf_model, "open_study", open_study)
    dialog = open_shelf(qtbot, program)
    card = wait_for_tokens(qtbot, dialog, "GPT-2")
    library = tokenizers.Tokenizer.from_file(str(file))
    assert ids_on(card, program) == library.encode(" lowest").ids
    dialog.space.click()
    dialog.field.setText("newest low")
    expected = library.encode("newest low").ids
    qtbot.waitUntil(lambda: ids_on(card, program) == expected, timeout=WAIT)
    assert card.total.text() == f"{len(expected)} tokens"
    assert threads
    assert threading.main_thread().name not in threads


def test_the_shelf_counts_unknown_tokens_and_marks_them_with_hatching(
    qtbot: QtBot, program: Program, tmp_path: Path, settings: Settings
) -> None:
    (tmp_path / "own" / "bert").mkdir(parents=True)
    saved_as(tmp_path / "own" / "bert", "vocab.txt", "bert")
    settings.put(TOKENIZER_FOLDER, str(tmp_path / "own"))
    program.watch.field.setText("Ж")
    dialog = open_shelf(qtbot, program)
    card = wait_for_tokens(qtbot, dialog, "BERT")
    assert card.total.text() == "1 token, 1 unknown"
    shown = next(text for text in program.shelf.model.cards if text.title == "BERT")
    assert shown.split is not None
    assert [tile.unknown for tile in shown.split.tiles.tiles] == [1]
    assert "in your folder" in card.facts.text()


def test_a_download_that_begins_on_the_shelf_shows_the_progress_and_can_be_cancelled(
    qtbot: QtBot, program: Program, hub: FakeHub
) -> None:
    dialog = open_shelf(qtbot, program)
    card = card_of(dialog, "GPT-2")
    hub.may_go_on.clear()
    card.fetch.click()
    qtbot.waitUntil(lambda: card.bar.value() >= 450, timeout=WAIT)
    assert (card.fetch.isVisible(), card.cancel.isVisible()) == (False, True)
    assert f"licence mit, from hf:{GPT2}" in card.facts.text(), "as the hub says"
    card.cancel.click()
    hub.may_go_on.set()
    qtbot.waitUntil(card.fetch.isVisible, timeout=WAIT)
    assert hub.downloaded == []
    card.fetch.click()
    fetched = wait_for_tokens(qtbot, dialog, "GPT-2")
    assert hub.downloaded == [(GPT2, "tokenizer.json")]
    assert not fetched.fetch.isVisible()
    assert "in the Hugging Face cache" in fetched.facts.text()


def test_the_shelf_asks_again_before_a_download_whose_size_or_licence_differs_from_the_shown_one(
    qtbot: QtBot, program: Program, hub: FakeHub, content: bytes
) -> None:
    hub.card.license = "gpl-3.0"
    dialog = open_shelf(qtbot, program)
    for title, name in (("GPT-2", GPT2), ("GPT-4o", GPT4O)):
        card = card_of(dialog, title)
        card.fetch.click()
        qtbot.waitUntil(card.trouble.isVisible, timeout=WAIT)
        assert card.trouble.text() == shelf_model.AGREE
        assert "kB, licence gpl-3.0" in card.fetch.text()
        assert (name, "tokenizer.json") not in hub.downloaded
        card.fetch.click()
        wait_for_tokens(qtbot, dialog, title)
        assert (name, "tokenizer.json") in hub.downloaded


def test_a_card_on_the_shelf_says_why_its_tokenizer_cannot_be_downloaded_or_opened(
    qtbot: QtBot, program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    put("somebody/broken", {"tokenizer.json": b"{"})
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    dialog = open_shelf(qtbot, program)
    card = card_of(dialog, "T5")
    card.fetch.click()
    qtbot.waitUntil(card.trouble.isVisible, timeout=WAIT)
    assert "pip install 'bpe-explorer[hub]'" in card.trouble.text()
    broken = card_of(dialog, "somebody/broken")
    qtbot.waitUntil(lambda: "tokenizer.json" in broken.trouble.text(), timeout=WAIT)
    assert not broken.compare.isVisible()


def test_a_card_of_the_shelf_can_open_its_tokenizer_as_a_lane_of_the_compare_page(
    qtbot: QtBot, program: Program, content: bytes
) -> None:
    put(GPT2, {"tokenizer.json": content})
    dialog = open_shelf(qtbot, program)
    wait_for_tokens(qtbot, dialog, "GPT-2")
    with qtbot.waitSignal(program.exchanging.imports.ended, timeout=WAIT):
        card_of(dialog, "GPT-2").compare.click()
    assert program.window.room == "compare"
    settle(qtbot, program)
    lanes = program.pages.page(LANES).model.lanes
    assert [lane.run.recipe.name for lane in lanes][-1] == "GPT-2"
    assert len(lanes) == 2


def test_the_shelf_saves_the_cards_of_opened_tokenizers_as_one_picture(
    qtbot: QtBot, program: Program, content: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(GPT2, {"tokenizer.json": content})
    dialog = open_shelf(qtbot, program)
    wait_for_tokens(qtbot, dialog, "GPT-2")
    dialog.copy.click()
    image = QGuiApplication.clipboard().image()
    assert (image.width(), image.height() > 200) == (2000, True)
    for ending in ("png", "svg"):
        path = tmp_path / f"shelf.{ending}"
        monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_, path=path: (str(path), ""))
        dialog.save.click()
        assert dialog.outcome.text() == f"Saved the picture as {path}."
    assert QSvgRenderer(str(tmp_path / "shelf.svg")).isValid()
    svg = (tmp_path / "shelf.svg").read_text(encoding="utf-8")
    assert ("GPT-2" in svg, "Llama 3" in svg, "Compare" in svg) == (True, False, False)


def test_the_shelf_lists_the_tokenizers_of_a_chosen_folder_and_remembers_the_folder(
    qtbot: QtBot, program: Program, content: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = tmp_path / "own"
    own.mkdir()
    (own / "mine.json").write_bytes(content)
    dialog = open_shelf(qtbot, program)
    monkeypatch.setattr(QFileDialog, "getExistingDirectory", lambda *_: str(own))
    dialog.folder.click()
    qtbot.waitUntil(lambda: any(card.title.text() == "mine" for card in dialog.sheet.cards), timeout=WAIT)
    wait_for_tokens(qtbot, dialog, "mine")
    assert Settings().get(TOKENIZER_FOLDER) == str(own)


def test_a_card_of_the_shelf_shows_a_long_text_completely(qtbot: QtBot, program: Program) -> None:
    dialog = open_shelf(qtbot, program)
    view = dialog.sheet.cards[0].tiles
    before = view.height()
    dialog.field.setText("Q" * LONGEST)
    qtbot.waitUntil(lambda: view.height() > before, timeout=WAIT)
    view.repaint()
    inside = [target for target in view.targets if not target.is_split]
    assert len(inside) == len(ids_on(dialog.sheet.cards[0], program))
    assert max(target.area.bottom() for target in inside) <= view.height()


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\n\nlow and lower\nnewest", "low and lower"),
        ("low and lower " * 6, "low and lower low and lower low and lower low and lower low"),
        ("王" * 100, "王" * 60),
    ],
)
def test_the_compare_page_opens_the_shelf_with_the_first_line_of_the_text(
    qtbot: QtBot, program: Program, text: str, shown: str
) -> None:
    program.session.text.put_quietly(text)
    program.window.show_room("compare")
    qtbot.mouseClick(program.pages.page(LANES).shelf, Qt.MouseButton.LeftButton)
    dialog = program.shelf.dialog
    assert dialog is not None
    assert (dialog.field.text(), dialog.space.isChecked()) == (shown, False)


def test_a_closed_shelf_keeps_no_tokenizer_in_memory_and_opens_again(
    qtbot: QtBot, program: Program, content: bytes
) -> None:
    put(GPT2, {"tokenizer.json": content})
    dialog = open_shelf(qtbot, program)
    wait_for_tokens(qtbot, dialog, "GPT-2")
    dialog.close()
    settle(qtbot, program)
    assert program.shelf.model.cards[1:] == []
    wait_for_tokens(qtbot, open_shelf(qtbot, program), "GPT-2")


def test_the_shelf_opens_a_few_tokenizers_and_each_further_tokenizer_on_demand(
    qtbot: QtBot, program: Program, content: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shelf_model, "MOST_OPENED", 1)
    for name in ("anna/first", "anna/second"):
        put(name, {"tokenizer.json": content})
    dialog = open_shelf(qtbot, program)
    wait_for_tokens(qtbot, dialog, "anna/first")
    second = card_of(dialog, "anna/second")
    assert (second.open.isVisible(), second.total.text()) == (True, "")
    second.open.click()
    wait_for_tokens(qtbot, dialog, "anna/second")
    assert not second.open.isVisible()
