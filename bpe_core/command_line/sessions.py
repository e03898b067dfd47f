"""The runs of sessions: read for a command, or written by one. Loaded for whoever names a session."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from bpe_core.command_line.arguments import run_of
from bpe_core.command_line.tables import is_session
from bpe_core.counting.words import WordTable
from bpe_core.errors import FormatError
from bpe_core.formats import OpenedTable
from bpe_core.history.history import END_SENTENCES, History
from bpe_core.history.token_texts import TokenTexts
from bpe_core.recipes.run_titles import name_of
from bpe_core.session_file.reading import read_session
from bpe_core.session_file.values import RunState, SavedRun, SavedSession, View
from bpe_core.session_file.writing import write_session


def opened_run(path: str, number: int | None) -> OpenedTable:
    """The run of that number; without one the run that was looked at, else the last one."""
    session = read_session(path)
    run = _chosen(session, path, number)
    learned = sum(one.history is not None for one in session.runs)
    note = f"Of the {learned} runs in {path} this is run {run.number}, the one that was shown; {path}#N is run N."
    return _opened(run, (note,) if learned > 1 and number is None else ())


def opened_runs(path: Path | str) -> dict[str, OpenedTable]:
    """All runs of a session, named as the window does."""
    return {name: _opened(run) for name, run in _named(read_session(path)).items()}


def runs_in(path: Path | str) -> dict[str, tuple[History, int]]:
    """All runs of a session at their ends, named as the window does; the one shown at the moment shown, too."""
    session, found = read_session(path), {}
    for name, run in _named(session).items():
        history, at = run.history, session.view.position
        assert history is not None  # it was chosen so
        found[name] = history, len(history)
        if run.number == session.view.shown_run and at < len(history):
            found[f"{name}, after {history.recipe.wording.counted(at)}"] = history, at
    return found


def write_run(history: History, words: WordTable, path: Path | str) -> None:
    """Write a session of this one run, which the window opens and goes on with."""
    run = _saved(1, history, words)
    write_session(SavedSession(history.recipe, runs=(run,), view=View(shown_run=1, position=len(history))), path)


def add_branch(
    source: Path | str,
    opened: OpenedTable,
    branch: History,
    words: WordTable,
    path: Path | str,
) -> None:
    """The session, or one of the table, that `opened` was read from, with a branch of it as the run that is shown."""
    place, chosen = run_of(str(source))
    if is_session(Path(place)):
        session = read_session(place)
        parent = _chosen(session, place, chosen).number
    else:
        session, parent = SavedSession(branch.recipe, runs=(_saved(1, opened.history, words),)), 1
    number = 1 + max(run.number for run in session.runs)
    run = replace(_saved(number, branch, words), parent=parent)
    view = replace(session.view, shown_run=number, position=len(branch))
    write_session(replace(session, runs=(*session.runs, run), view=view), path)


def _saved(number: int, history: History, words: WordTable) -> SavedRun:
    state: RunState = "paused" if history.end_reason in ("", "stopped") else "ended"
    sentence = END_SENTENCES[history.end_reason]
    return SavedRun(number, history.recipe, (), words, history, state=state, sentence=sentence)


def _named(session: SavedSession) -> dict[str, SavedRun]:
    """The runs that have learned something."""
    runs = [run for run in session.runs if run.history is not None and run.history.id_count]
    return {name_of(run, session.runs, lambda one, id: TokenTexts.of(one.history).text[id]): run for run in runs}


def _opened(run: SavedRun, notes: tuple[str, ...] = ()) -> OpenedTable:
    assert run.history is not None  # it was chosen so
    texts = tuple((one.name, one.path, one.text, one.group) for one in run.sources)
    return OpenedTable(run.history, "session", notes, run.words, texts)


def _chosen(session: SavedSession, path: str, number: int | None) -> SavedRun:
    """The run of that number; without one the run that was shown."""
    learned = [run for run in session.runs if run.history is not None]
    if not learned:
        raise FormatError(f"{path} is a session without a run; train one, or name a merge table.")
    wanted = session.view.shown_run if number is None else number
    found = next((one for one in learned if one.number == wanted), None)
    if found is None and number is not None:
        there = ", ".join(str(one.number) for one in learned[:20])
        raise FormatError(f"{path} has no run {number} that has learned anything; it has the runs {there}.")
    return found or learned[-1]
