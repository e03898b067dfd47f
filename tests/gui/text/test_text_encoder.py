"""Tests of the encoder of the user's text: tokens before any training, and the thread that splits words."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest
from pytestqt.qtbot import QtBot

from app.window.text.encoder import _are_the_same
from app.wiring import Program
from bpe_core.counting.words import WordTable
from bpe_core.history.alphabet import Alphabet
from bpe_core.history.history import History
from bpe_core.methods.wordpiece.cut import LongestPieces
from bpe_core.recipes.recipe import Recipe
from bpe_core.segmenting.word_tokens import WordCut
from tests.gui.conftest import settle


def history_without_steps(recipe: Recipe, counts: dict[str, int]) -> History:
    return History.from_pairs(recipe, Alphabet.for_words(WordTable.from_counts(counts), recipe), [])


def test_two_runs_without_steps_are_equal_if_and_only_if_their_alphabets_are_equal() -> None:
    recipe = Recipe.preset("words")
    nobody, low, again = (history_without_steps(recipe, counts) for counts in ({}, {"low": 1}, {"low": 2}))
    assert not _are_the_same(low, nobody)
    assert not _are_the_same(nobody, low)
    assert _are_the_same(low, again)
    assert not _are_the_same(low, None)


def test_without_a_run_each_character_of_the_text_is_a_token(qtbot: QtBot, program: Program) -> None:
    program.form.choose_preset("bert")
    for text in ("low, owl", "low ☃ owl"):  # which it need not be in the corpus
        program.token_text.set_text(text)
        settle(qtbot, program)
        ids = program.token_text.ids_in(0, program.token_text.byte_length)
        assert (len(ids), 0 in ids) == (7, False)


def test_words_of_the_text_are_split_outside_the_thread_of_the_window(
    qtbot: QtBot, program: Program, train: Callable[[Program], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Splitting a single word can take minutes with a vocabulary from an unknown source."""
    cut, threads = LongestPieces.cut, set[int]()

    def cut_and_note(pieces: LongestPieces, word: bytes, at: int) -> WordCut:
        threads.add(threading.get_ident())
        return cut(pieces, word, at)

    program.form.choose_method("wordpiece")
    settle(qtbot, program)
    train(program)
    monkeypatch.setattr(LongestPieces, "cut", cut_and_note)
    program.token_text.set_text("the lighthouse keeper")
    settle(qtbot, program)
    program.token_text.replace(3, 4, " lonely ")
    settle(qtbot, program)
    assert program.token_text.token_count() > 3
    many = " ".join(f"light{a}{b}keeper" for a in "abcdefghijkl" for b in "abcdefghijkl")
    program.token_text.set_text(many)
    program.encoder.encode()
    program.session.cursor.go_to(3)  # before the answer is there, which tells of another moment
    settle(qtbot, program)
    assert program.token_text.cursor == 3
    assert program.token_text.token_count() > len(many.split())
    assert threads
    assert threading.get_ident() not in threads
