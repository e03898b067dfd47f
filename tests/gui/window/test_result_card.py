"""Tests of the card that is shown after a user has watched a run: its facts, links and buttons."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtGui import QAction, QGuiApplication
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from app.session.run import Phase
from app.settings import PLAYS, START_HERE, Settings
from app.window.actions import title_of
from app.window.charts.pairs_page import PairsPage
from app.window.rooms import result
from app.window.rooms.result_card import ResultCard
from app.window.time.step_in_words import words_of_step
from app.wiring import Program
from bpe_core.history.history import NOTHING
from bpe_core.methods.kit.layout import count_symbols
from bpe_core.methods.registry import METHODS
from bpe_core.recipes.interventions import Intervention
from bpe_core.recipes.recipe import Recipe
from bpe_core.studies.making import train
from bpe_core.support.progress import ALONE
from resources import samples
from tests.gui.conftest import HURRY, WAIT, settle
from tests.gui.small_run import shown_run

LOOK = 500  # milliseconds


@pytest.fixture
def watched_window(
    qtbot: QtBot,
    settings: Settings,
    new_program: Callable[..., Program],
    monkeypatch: pytest.MonkeyPatch,
    long_time_limit: None,
) -> Program:
    """Return a new window, as at the first start of the program. Its run was playing, and was skipped to the end."""
    monkeypatch.setattr(result, "LOOK_MILLISECONDS", LOOK * HURRY)  # what is shown too shortly is not seen to happen
    settings.put(START_HERE, True)
    settings.put(PLAYS, True)
    program = new_program()
    program.window.show_room("watch")
    qtbot.waitUntil(lambda: program.session.playing.is_playing, timeout=WAIT)
    assert program.card.isHidden(), "while it plays"
    program.actions["skip"].trigger()
    wait_for_card(qtbot, program)
    return program


def wait_for_card(qtbot: QtBot, program: Program) -> None:
    runs = program.session.runs
    qtbot.waitUntil(lambda: runs.shown is not None and runs.shown.phase is Phase.ENDED, timeout=WAIT)
    settle(qtbot, program)
    program.actions["live"].trigger()
    qtbot.waitUntil(lambda: not program.card.isHidden(), timeout=WAIT)


def button(card: ResultCard, title: str) -> QPushButton:
    return next(
        candidate
        for candidate in card.findChildren(QPushButton)
        if candidate.text() == title and not candidate.isHidden()
    )


def action_of_card(card: ResultCard, title: str) -> QAction:
    """Return the action with the title `title` on the card."""
    return next(action for action in card.next.menu().actions() if title_of(action) == title and action.isVisible())


PRESETS = ("gpt2", "gage", "bert", "unigram", "mingram", "best", "superbpe", "raw-bytes")


def test_the_watch_room_shows_the_result_card_at_the_last_step(qtbot: QtBot, watched_window: Program) -> None:
    study, card = train([samples()[0].text()], Recipe.preset("gpt2", vocab_size=512)), watched_window.card
    words, before, after = study.inside.words(), study.history.tokens_at_start, study.history[-1].tokens_left
    assert card.sentence.text() == f"The corpus had {before:,} tokens at first, and has {after:,} now."
    whole = sum(len(study.encode(word)) == 1 for word, _ in words)
    assert [number.text() for number, _ in card.numbers] == ["256", str(whole), f"{before / after:.2f}"]
    assert card.numbers[1][1].text() == f"of {len(words)} different words are one token"
    moments = card.moments.text()
    assert 't + h <a href="step:1">−117, taken by he</a>' in moments
    assert "␣</span>lighthouse</a>" in moments
    watched_window.window.show_room("ask")
    assert watched_window.card.isHidden()
    watched_window.window.show_room("watch")
    qtbot.waitUntil(lambda: not watched_window.card.isHidden(), timeout=WAIT)
    watched_window.session.cursor.go_to(100)
    assert watched_window.card.isHidden()


def test_a_link_on_the_result_card_plays_a_step_that_reduced_the_count_of_a_pair(
    qtbot: QtBot, watched_window: Program
) -> None:
    watched_window.card.moments.linkActivated.emit("step:1")
    cursor, page = watched_window.session.cursor, watched_window.pages[PairsPage]
    assert cursor.position == 0
    assert watched_window.card.isHidden()
    qtbot.waitUntil(lambda: cursor.position == 1, timeout=WAIT)
    qtbot.waitUntil(lambda: page.headline().endswith("t + h: −117, taken by he."), timeout=WAIT)
    watched_window.card.model.show_step(1)
    cursor.go_to(40)
    qtbot.wait(2 * LOOK)
    assert cursor.position == 40, "whoever goes on is not taken back"


def test_the_result_card_describes_a_method_that_adds_pieces(qtbot: QtBot, watched_window: Program) -> None:
    runs = watched_window.session.runs
    watched_window.watch.choose_method("best")
    qtbot.waitUntil(lambda: runs.shown is not None and runs.shown.recipe.method == "best", timeout=WAIT)
    wait_for_card(qtbot, watched_window)
    assert watched_window.watch.method.currentText() == METHODS["best"].title
    shown = runs.shown
    assert shown is not None
    assert shown.history is not None
    first, end = shown.history.vocabulary_size_at(0), len(shown.history)
    assert watched_window.card.sentence.text().startswith(
        f"At first there were {first} tokens. Then {end} pieces were added. "
    )
    assert words_of_step(shown, end).before == f"Addition {end}:  +"


def test_the_result_card_does_not_count_dropped_tokens_as_merged_pairs() -> None:
    history = train(["low low low lowest lowest newest"], "picky", merges=4, min_frequency=1).history
    dropped = int((history.columns.right == NOTHING).sum())
    assert dropped > 1
    expected = (
        f"At first there were 256 tokens. Then {len(history) - dropped} pairs were merged, "
        f"and {dropped} tokens were dropped again. "
    )
    assert result.sentence_of(history).startswith(expected)


def test_the_menu_of_the_result_card_can_forbid_a_pair_and_try_another_method(
    qtbot: QtBot, watched_window: Program
) -> None:
    runs = watched_window.session.runs
    action_of_card(watched_window.card, "Forbid he").trigger()
    assert runs.shown is not None
    assert runs.shown.recipe.interventions == (Intervention(1, "forbid", ord("h"), ord("e")),)
    wait_for_card(qtbot, watched_window)
    assert "taken by he" not in watched_window.card.moments.text()
    first = runs.shown.history
    assert first is not None
    action_of_card(watched_window.card, "The Same with Unigram").trigger()
    qtbot.waitUntil(lambda: runs.shown is not None and runs.shown.recipe.method == "unigram", timeout=WAIT)
    wait_for_card(qtbot, watched_window)
    size = first.vocabulary_size
    assert watched_window.card.sentence.text().startswith(f"Of 589 pieces, the best {size} are left. "), (
        "as many tokens"
    )
    assert not watched_window.card.forbid.isVisible()
    assert "The step that changed the corpus most: " in watched_window.card.moments.text()
    action_of_card(watched_window.card, "The Same with WordPiece").trigger()
    qtbot.waitUntil(lambda: runs.shown is not None and runs.shown.recipe.method == "wordpiece", timeout=WAIT)
    wait_for_card(qtbot, watched_window)
    assert "taken by" in watched_window.card.moments.text()
    pieces = shown_run(watched_window).history
    assert pieces is not None
    assert pieces.vocabulary_size < size
    why = f"The vocabulary has {pieces.vocabulary_size} tokens and not {size}: No pair reaches"
    assert why in watched_window.card.sentence.text()
    action_of_card(watched_window.card, "The Same with Byte-pair encoding").trigger()
    qtbot.waitUntil(lambda: runs.shown is not None and runs.shown.recipe.method == "bpe", timeout=WAIT)


def test_the_result_card_can_share_the_run_and_add_a_pasted_text(
    qtbot: QtBot, watched_window: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, card = tmp_path / "run.html", watched_window.card
    monkeypatch.setattr("app.window.publishing.wiring.ask_where_to_save", lambda *_: path)
    action_of_card(card, "Share …").trigger()
    qtbot.waitUntil(path.is_file, timeout=WAIT)
    assert "Made with BPE Explorer" in path.read_text(encoding="utf-8")
    card.moments.linkActivated.emit("step:176")
    qtbot.waitUntil(lambda: watched_window.session.cursor.position == 176, timeout=WAIT)
    deeds = [item.objectName() for item in card.next.menu().actions() if item.objectName()]
    assert deeds == ["open", "paste_text", "share"]
    runs, first = watched_window.session.runs, watched_window.session.runs.shown
    QGuiApplication.clipboard().setText("the cat sat on the mat, and the rat sat on the cat " * 9)
    watched_window.live.is_on = True
    watched_window.actions["paste_text"].trigger()
    qtbot.waitUntil(lambda: runs.shown is not None and runs.shown is not first, timeout=WAIT)
    assert [item.name for item in watched_window.session.corpus.texts.value] == [
        "“the cat sat on the mat, and the rat sat ”"
    ]


@pytest.mark.parametrize("preset", PRESETS)
def test_the_result_card_shows_a_sentence_and_three_numbers_for_every_method(preset: str) -> None:
    few = preset in ("unigram", "mingram", "best")
    size: dict[str, Any] = {"vocab_size": METHODS[preset].first_size} if few else {"vocab_size": None, "merges": 60}
    study = train([samples()[0].text()], Recipe.preset(preset, **size))
    assert study.inside.own_words is not None
    symbols = count_symbols(study.inside.own_words, study.history.alphabet, study.history.recipe)
    shown_result = result.result_of(study, symbols, ALONE)
    assert len(shown_result.numbers) == 3
    assert (shown_result.loss is None) != (shown_result.largest is None)
    assert "<unk>" not in shown_result.longest
    assert not any(number == "0" for number, _ in shown_result.numbers)
