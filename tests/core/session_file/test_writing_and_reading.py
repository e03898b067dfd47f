"""Tests that a session file is read back exactly, and that SQL programs can read it."""

from __future__ import annotations

import dataclasses
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_core.counting.words import WordTable
from bpe_core.errors import Cancelled, OutputError
from bpe_core.history.history import History
from bpe_core.methods.kit.trainer import learn
from bpe_core.methods.registry import METHODS
from bpe_core.recipes.recipe import Recipe
from bpe_core.session_file import stored_columns as chunks_file
from bpe_core.session_file.reading import read_session, read_summary
from bpe_core.session_file.stored_columns import word_chunks, word_table
from bpe_core.session_file.values import SavedRun, SavedSession, SavedSource
from bpe_core.session_file.writing import SessionWriter, write_session
from tests.core.session_file.sessions import (
    COUNTS,
    RECIPES,
    assert_same,
    assert_same_history,
    large_history,
    run_by_method,
    run_of,
    session,
    with_reasons,
    with_reasons_and_names,
)


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda recipe: f"{recipe.name}-{recipe.marker}")
def test_a_session_with_each_kind_of_recipe_is_read_back_unchanged(tmp_path: Path, recipe: Recipe) -> None:
    written = session(run_of(recipe))
    assert written.runs[0].learned > 0
    write_session(written, tmp_path / "one.bpex")
    assert_same(read_session(tmp_path / "one.bpex"), written)


def test_several_runs_of_a_session_file_share_one_table_of_words(tmp_path: Path) -> None:
    words = WordTable.from_counts(COUNTS)
    written = session(run_of(RECIPES[0], 1, words), run_of(RECIPES[1], 2, words), run_of(RECIPES[2], 4))
    write_session(written, tmp_path / "one.bpex")
    read = read_session(tmp_path / "one.bpex")
    assert_same(read, written)
    assert read.runs[0].words is read.runs[1].words
    with closing(sqlite3.connect(tmp_path / "one.bpex")) as connection:
        assert connection.execute("SELECT count(DISTINCT word_table) FROM word_chunks").fetchone() == (2,)


def test_an_empty_session_file_is_read_back_unchanged(tmp_path: Path) -> None:
    write_session(SavedSession(Recipe.preset("gpt2")), tmp_path / "empty.bpex")
    assert_same(read_session(tmp_path / "empty.bpex"), SavedSession(Recipe.preset("gpt2")))


def test_a_session_keeps_an_imported_table_that_has_no_words_or_counts(tmp_path: Path) -> None:
    learned = run_of(RECIPES[0]).history
    assert learned is not None
    pairs = [(merge.left, merge.right) for merge in learned]
    imported = History.from_pairs(learned.recipe, learned.alphabet, pairs)
    written = session(SavedRun(3, imported.recipe, history=imported, state="ended"))
    write_session(written, tmp_path / "one.bpex")
    assert_same(read_session(tmp_path / "one.bpex"), written)


def test_the_reasons_for_steps_are_read_back_unchanged_from_a_session_file(tmp_path: Path) -> None:
    written = session(with_reasons_and_names(run_of(RECIPES[0])), run_of(RECIPES[2], 2))
    write_session(written, tmp_path / "one.bpex")
    assert_same(read_session(tmp_path / "one.bpex"), written)


@pytest.mark.parametrize("method", METHODS)
def test_a_run_of_each_method_is_read_back_unchanged_when_saved_at_once_or_step_by_step(
    tmp_path: Path, method: str
) -> None:
    run = run_by_method(method)
    write_session(session(run), tmp_path / "one.bpex")
    assert_same(read_session(tmp_path / "one.bpex"), session(run))
    writer = SessionWriter(tmp_path / "kept.bpex")
    for learned in (0, 1, 3, run.learned, 2):
        writer.update(session(first_steps(run, learned)))
        assert_same(read_session(tmp_path / "kept.bpex", is_safety_copy=True), session(first_steps(run, learned)))
    writer.close()
    back = read_session(tmp_path / "kept.bpex").runs[0]
    assert back.words is not None
    assert_same_history(learn(back.words, back.recipe, history=back.history), run.history)


def test_reasons_saved_in_parts_are_the_same_as_reasons_saved_at_once(tmp_path: Path) -> None:
    history = with_reasons(large_history(1_500))
    run = SavedRun(1, history.recipe, history=history)
    writer = SessionWriter(tmp_path / "kept.bpex")
    for merges in (0, 1, 511, 512, 513, 1_500):
        writer.update(session(first_steps(run, merges)))
        assert_same(read_session(tmp_path / "kept.bpex", is_safety_copy=True), session(first_steps(run, merges)))
    writer.update(session(dataclasses.replace(run, history=large_history(1_500))))  # chosen by the count alone
    writer.close()
    with closing(sqlite3.connect(tmp_path / "kept.bpex")) as connection:
        assert connection.execute("SELECT count(*) FROM reasons").fetchone() == (0,)


def test_a_run_whose_training_never_began_is_read_back_from_a_session(tmp_path: Path) -> None:
    written = session(run_of(RECIPES[0]), SavedRun(2, RECIPES[1], state="failed", sentence="There was no text."))
    write_session(written, tmp_path / "one.bpex")
    assert_same(read_session(tmp_path / "one.bpex"), written)


@given(st.dictionaries(st.text(min_size=1), st.integers(1, 2**40), max_size=30), st.integers(1, 5), st.integers(1, 9))
def test_word_tables_of_a_session_are_read_back_unchanged_from_parts_of_any_size(
    counts: dict[str, int], words: int, size: int
) -> None:
    table = WordTable.from_counts((word.encode(errors="replace"), count) for word, count in counts.items())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(chunks_file, "WORDS_IN_A_CHUNK", words)
        patch.setattr(chunks_file, "BYTES_IN_A_CHUNK", size)
        assert list(word_table(list(word_chunks(table)), "here")) == list(table)


@given(st.text(), st.text(), st.text())
def test_any_text_in_a_session_is_read_back_unchanged(
    tmp_path_factory: pytest.TempPathFactory, text: str, name: str, given_text: str
) -> None:
    path = tmp_path_factory.mktemp("any") / "one.bpex"
    written = SavedSession(Recipe.preset("gpt2"), (SavedSource(name, text=given_text),), text)
    write_session(written, path)
    assert_same(read_session(path), written)


def test_the_sqlite_library_can_read_a_session_file(tmp_path: Path) -> None:
    write_session(session(run_of(RECIPES[0])), tmp_path / "one.bpex")
    with closing(sqlite3.connect(tmp_path / "one.bpex")) as connection:
        first = connection.execute("SELECT step, token, count FROM merges WHERE run = 1 ORDER BY step").fetchone()
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    assert first == (1, "es", 9)


def test_training_can_continue_from_the_words_stored_in_a_session(tmp_path: Path) -> None:
    recipe = Recipe.preset("gpt2", merges=25, min_frequency=1)
    whole = run_of(recipe)
    assert whole.history is not None
    part = dataclasses.replace(whole, history=whole.history.first(7))
    write_session(session(part), tmp_path / "one.bpex")
    read = read_session(tmp_path / "one.bpex").runs[0]
    assert read.words is not None
    assert_same_history(learn(read.words, read.recipe, history=read.history), whole.history)


def test_cancelling_a_save_leaves_the_existing_session_file_unchanged(tmp_path: Path) -> None:
    path = tmp_path / "one.bpex"
    write_session(session(), path)
    before = path.read_bytes()
    with pytest.raises(Cancelled):
        write_session(session(run_of(RECIPES[1])), path, cancelled=lambda: True)
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["one.bpex"]


@pytest.mark.parametrize("place", ["no/such/one.bpex", "file/one.bpex", "folder"])
def test_saving_a_session_to_an_unwritable_place_is_reported(tmp_path: Path, place: str) -> None:
    (tmp_path / "file").write_text("not a folder")
    (tmp_path / "folder").mkdir()
    with pytest.raises(OutputError, match="Could not write"):
        write_session(session(), tmp_path / place)


# Kept up to date


def first_steps(run: SavedRun, merges: int) -> SavedRun:
    assert run.history is not None
    return dataclasses.replace(run, history=run.history.first(merges))


def test_updating_a_session_file_in_steps_gives_the_same_content_as_writing_the_whole_file_at_once(
    tmp_path: Path,
) -> None:
    """After each update, the file must hold the newest state of the session, whatever has changed."""
    first, second = run_of(RECIPES[0], 1), run_of(RECIPES[2], 2)
    waiting = SavedRun(1, first.recipe, first.sources)
    steps = [
        SavedSession(first.recipe),
        SavedSession(first.recipe, text="a", runs=(waiting,)),
        session(first_steps(first, 0)),
        session(first_steps(first, 3)),
        session(first_steps(first, 3), first_steps(second, 5)),
        dataclasses.replace(session(first, second), text="another", bookmarks=(), sources=()),
        session(second),  # the first run was removed
        session(second, run_of(RECIPES[1], 3)),
        session(dataclasses.replace(run_of(RECIPES[1], 2))),  # another run under the same number
        session(with_reasons_and_names(run_of(RECIPES[1], 2))),  # and the same with more facts
    ]
    writer = SessionWriter(tmp_path / "kept.bpex")
    for number, step in enumerate(steps):
        writer.update(step)
        write_session(step, tmp_path / "at-once.bpex")
        assert_same(read_session(tmp_path / "kept.bpex", is_safety_copy=True), step)
        assert dump(tmp_path / "kept.bpex") == dump(tmp_path / "at-once.bpex"), number
    writer.close()


def dump(path: Path) -> set[str]:
    """Return the rows of a database as SQL statements.

    The numbers of word tables are changed to start from zero, because two equal sessions may number them differently.
    """
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE word_chunks SET word_table = word_table - (SELECT min(word_table) FROM word_chunks)")
        connection.execute("UPDATE runs SET word_table = NULL")
        lines = set(connection.iterdump())
        connection.rollback()
        return lines


def test_a_failed_update_of_a_session_file_changes_nothing_and_can_be_repeated(tmp_path: Path) -> None:
    run = run_of(RECIPES[0])
    writer = SessionWriter(tmp_path / "kept.bpex")
    writer.update(session(first_steps(run, 2)))
    calls = iter([False, True])
    with pytest.raises(Cancelled):
        writer.update(session(run, run_of(RECIPES[1], 2)), cancelled=lambda: next(calls, True))
    assert_same(read_session(tmp_path / "kept.bpex", is_safety_copy=True), session(first_steps(run, 2)))
    writer.update(session(run))
    writer.close()
    assert_same(read_session(tmp_path / "kept.bpex"), session(run))


def test_a_full_disk_during_an_update_is_reported_and_the_session_file_keeps_its_old_content(tmp_path: Path) -> None:
    run = run_of(RECIPES[0])
    writer = SessionWriter(tmp_path / "kept.bpex")
    writer.update(session(first_steps(run, 2)))
    # The limit acts like a full disk. The writer opens the file itself, so the test uses its private connection.
    writer._connection.execute("PRAGMA max_page_count = 1")  # SQLite never shrinks below the present size
    big = dataclasses.replace(session(run), text="x" * 2**20)
    with pytest.raises(OutputError, match=r"Could not write .*kept.bpex: the disk is full"):
        writer.update(big)
    assert_same(read_session(tmp_path / "kept.bpex", is_safety_copy=True), session(first_steps(run, 2)))
    writer._connection.execute("PRAGMA max_page_count = 1000000")
    writer.update(big)
    writer.close()
    assert_same(read_session(tmp_path / "kept.bpex"), big)


@pytest.fixture
def nearly_full_disk() -> Iterator[None]:
    """Refuse to let any file grow beyond 48 KiB, as a full disk does."""
    resource = pytest.importorskip("resource", reason="this system sets no such limits")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (48 * 2**10, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_saving_a_session_on_a_full_disk_leaves_only_the_old_file(tmp_path: Path, nearly_full_disk: None) -> None:
    (tmp_path / "one.bpex").write_bytes(b"what stood there before")
    with pytest.raises(OutputError, match=r"Could not write .*one.bpex: "):
        write_session(dataclasses.replace(session(), text="x" * 2**20), tmp_path / "one.bpex")
    assert [(file.name, file.read_bytes()) for file in tmp_path.iterdir()] == [("one.bpex", b"what stood there before")]


def test_a_safety_copy_keeps_its_old_content_if_the_disk_is_full(tmp_path: Path, nearly_full_disk: None) -> None:
    run = run_of(RECIPES[0])
    writer = SessionWriter(tmp_path / "kept.bpex")
    with pytest.raises(OutputError, match="Could not write"):
        writer.update(dataclasses.replace(session(run), text="x" * 2**20))
    writer.close()
    assert (tmp_path / "kept.bpex").stat().st_size <= 48 * 2**10


def test_the_summary_of_a_safety_copy_lists_its_runs_and_merges_and_texts(tmp_path: Path) -> None:
    run = run_of(RECIPES[0])
    kept = dataclasses.replace(session(run, run_of(RECIPES[1], 2)), saved_as="/home/x/harbour.bpex", was_closed=True)
    write_session(kept, tmp_path / "one.bpex")
    summary = read_summary(tmp_path / "one.bpex")
    assert (summary.saved_as, summary.was_closed, summary.runs) == ("/home/x/harbour.bpex", True, 2)
    assert summary.merges == sum(run.learned for run in kept.runs)
    assert summary.texts == ("a.txt", "“lines”", "odd")


def test_a_session_with_a_hundred_thousand_merges_opens_in_seconds(tmp_path: Path) -> None:
    history = large_history(100_000)
    words = WordTable.from_counts((b"w%d" % number, 1 + number) for number in range(50_000))
    run = SavedRun(1, history.recipe, (), words, history, np.ones(256, np.int64), "paused")
    write_session(session(run), tmp_path / "large.bpex")
    began = time.process_time()
    read = read_session(tmp_path / "large.bpex")
    assert time.process_time() - began < 20.0  # below a second; a busy machine needs a few times as long
    assert_same_history(read.runs[0].history, history)


def test_an_imported_table_is_rewritten_in_the_session_when_its_counts_are_known(tmp_path: Path) -> None:
    counted = run_of(RECIPES[0])
    assert counted.history is not None
    pairs = zip(counted.history.columns.left.tolist(), counted.history.columns.right.tolist(), strict=True)
    bare = History.from_pairs(counted.recipe, counted.history.alphabet, list(pairs))
    imported = dataclasses.replace(
        counted, words=None, sources=(), history=bare, symbol_counts=np.zeros(0, np.int64), sentence="Imported."
    )
    writer = SessionWriter(tmp_path / "kept.bpex")
    writer.update(session(imported))
    writer.update(session(counted))
    writer.close()
    back = read_session(tmp_path / "kept.bpex").runs[0]
    assert_same_history(back.history, counted.history)
    assert back.symbol_counts.tolist() == counted.symbol_counts.tolist()


def test_ids_of_an_imported_table_are_read_back_from_a_session(tmp_path: Path) -> None:
    run = run_of(RECIPES[1])
    assert run.history is not None
    numbers = np.arange(run.history.vocabulary_size)[::-1] - 1
    renumbered = dataclasses.replace(run, history=run.history.numbered(numbers))
    write_session(session(renumbered), tmp_path / "one.bpex")
    back = read_session(tmp_path / "one.bpex").runs[0].history
    assert back is not None
    assert back.numbers is not None
    assert back.numbers.tolist() == numbers.tolist()
    write_session(session(run), tmp_path / "one.bpex")
    again = read_session(tmp_path / "one.bpex").runs[0].history
    assert again is not None
    assert again.numbers is None
