"""Tests of the word that a user types in the room Watch.

The run shown splits the word, even if the tokens of the run arrive later.
"""

from __future__ import annotations

from pytestqt.qtbot import QtBot

from app.wiring import Program
from bpe_core.history.token_texts import TokenTexts
from tests.gui.conftest import Train, settle


def test_the_watched_word_never_shows_ids_of_the_previously_shown_run(
    qtbot: QtBot, program: Program, train: Train, long_time_limit: None
) -> None:
    """The new run has a smaller alphabet, so it lacks some ids of the previous run."""
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
    word.show_word("xylophone")
    settle(qtbot, program)
    assert max(tile.id for tile in word.cut.tiles if tile.id is not None) >= symbols
    runs.show(of_letters)
    program.session.cursor.moved.emit(program.session.cursor.position)
    settle(qtbot, program)
    assert all(tile.id is None or tile.id < symbols for tile in word.cut.tiles)


def test_the_watched_word_is_shown_before_the_text_of_its_newest_token_is_known(
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
    word.show_word("the lowest")
    settle(qtbot, program)
    newest = max(tile.id for tile in word.cut.tiles if tile.id is not None)
    assert newest >= len(run.names.raw)
    run.names = names


def test_the_watch_room_without_a_run_names_the_texts_to_learn_from(program: Program) -> None:
    word = program.watch.word
    said: list[str] = []
    word.changed.connect(lambda: said.append(word.sentence))
    program.session.corpus.replace_by_text("a.txt", "low lower")
    program.session.corpus.add_text("b.txt", "lowest")
    program.session.corpus.add_text("c.txt", "x" * 2_000_000)
    program.session.corpus.remove({source.number for source in program.session.corpus.texts.value})
    assert said[0] == "Press Train to learn from a.txt."
    assert said[-2] == "Press Train to learn from b.txt; c.txt, 2.0 MB."
    assert said[-1] == "Open a text, then press Train."
