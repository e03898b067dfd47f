"""A test that a person's word is always split by the run shown, even if the tokens of the run arrive later."""

from __future__ import annotations

from pytestqt.qtbot import QtBot

from app.wiring import Program
from bpe_core.history.token_texts import TokenTexts
from tests.gui.conftest import Train, settle


def test_the_watched_word_never_shows_ids_of_the_run_shown_before(
    qtbot: QtBot, program: Program, train: Train, long_time_limit: None
) -> None:
    """The tokens of the former run must not be shown, because the alphabet of the new run is smaller."""
    runs, word = program.session.runs, program.watch.word
    assert program.form.choose(vocab_size=257)
    train(program)
    program.form.choose_preset("clean-words")
    assert program.form.choose(merges=1)
    train(program)
    of_bytes, of_letters = runs.all[-2:]
    assert of_letters.names is not None
    symbols = len(of_letters.names.raw)
    runs.show(of_bytes)
    word.look_at("xylophone")
    settle(qtbot, program)
    assert max(tile.id for tile in word.cut.tiles if tile.id is not None) >= symbols
    runs.show(of_letters)
    program.session.cursor.moved.emit(program.session.cursor.position)
    settle(qtbot, program)
    assert all(tile.id is None or tile.id < symbols for tile in word.cut.tiles)


def test_the_watched_word_is_shown_before_its_newest_token_has_a_text(
    qtbot: QtBot, program: Program, train: Train, long_time_limit: None
) -> None:
    train(program)
    run = program.session.runs.shown
    word = program.watch.word
    assert run is not None
    assert run.history is not None
    settle(qtbot, program)
    names = run.names
    run.names = TokenTexts(run.history.alphabet)  # as when steps of an imported table are there before their names
    word.look_at("the lowest")
    settle(qtbot, program)
    newest = max(tile.id for tile in word.cut.tiles if tile.id is not None)
    assert newest >= len(run.names.raw)
    run.names = names
