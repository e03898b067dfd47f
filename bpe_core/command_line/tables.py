"""What a command is given to cut texts by: a merge table, another program's tokenizer, or a run of a session."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import bpe_core as bpe
from bpe_core.errors import FormatError
from bpe_core.formats import OpenedTable
from bpe_core.formats import open_table as open_file
from bpe_core.history.history import END_SENTENCES, History, Int64s
from bpe_core.learning.methods import Wording
from bpe_core.run_titles import name_of
from bpe_core.session_file import RunState, SavedRun, SavedSession, View, read_session, write_session
from bpe_core.session_file.reading import HEADER
from bpe_core.session_file.schema import EXTENSION
from bpe_core.token_texts import TokenTexts


def open_table(path: Path | str) -> OpenedTable:
    """The tokenizer in a file. Of a session it is the run that was looked at, else the last one."""
    return _of_session(str(path)) if _is_session(Path(path)) else open_file(path)


def is_session_name(path: Path) -> bool:
    return path.suffix.lower() == EXTENSION


def write_run(history: History, words: bpe.WordTable, path: Path | str, numbers: Int64s | None = None) -> None:
    """A session of this one run, which the window opens and goes on with; `numbers` are those of its ids elsewhere."""
    run = _saved(1, history, words, numbers)
    write_session(SavedSession(history.recipe, runs=(run,), view=View(shown_run=1, position=len(history))), path)


def add_branch(
    source: Path | str,
    opened: OpenedTable,
    branch: History,
    words: bpe.WordTable,
    path: Path | str,
    numbers: Int64s | None,
) -> None:
    """The session, or one of the table, that `opened` was read from, with a branch of it as the run that is shown."""
    if _is_session(Path(source)):
        session = read_session(source)
        parent = _shown(session, str(source)).number
    else:
        session, parent = SavedSession(branch.recipe, runs=(_saved(1, opened.history, words, opened.numbers),)), 1
    number = 1 + max(run.number for run in session.runs)
    run = replace(_saved(number, branch, words, numbers), parent=parent)
    view = replace(session.view, shown_run=number, position=len(branch))
    write_session(replace(session, runs=(*session.runs, run), view=view), path)


def _saved(number: int, history: History, words: bpe.WordTable, numbers: Int64s | None) -> SavedRun:
    state: RunState = "paused" if history.end_reason in ("", "stopped") else "ended"
    sentence = END_SENTENCES[history.end_reason]
    return SavedRun(number, history.recipe, (), words, history, state=state, sentence=sentence, numbers=numbers)


def runs_in(path: Path | str) -> dict[str, tuple[History, int]]:
    """All runs of a session at their ends, named as the window does; the one shown at the moment shown, too."""
    session = read_session(path)
    found: dict[str, tuple[History, int]] = {}
    for run in session.runs:
        history = run.history
        if history is None or not history.id_count:
            continue
        name = name_of(run, session.runs, lambda one, id: TokenTexts.of(one.history).text[id])
        found[name] = history, len(history)
        at = session.view.position
        if run.number == session.view.shown_run and at < len(history):
            found[f"{name}, after {Wording.of(history.recipe).counted(at)}"] = history, at
    return found


def _is_session(path: Path) -> bool:
    if not path.is_file():
        return False
    with open(path, "rb") as file:
        return file.read(len(HEADER)) == HEADER


def _of_session(path: str) -> OpenedTable:
    session = read_session(path)
    run = _shown(session, path)
    assert run.history is not None  # it was chosen so
    learned = sum(one.history is not None for one in session.runs)
    note = f"Of the {learned} runs in {path} this is run {run.number}, the one that was shown."
    return OpenedTable(run.history, "session", (note,) if learned > 1 else (), run.numbers, run.words)


def _shown(session: SavedSession, path: str) -> SavedRun:
    learned = [run for run in session.runs if run.history is not None]
    if not learned:
        raise FormatError(f"{path} is a session without a run; train one, or name a merge table.")
    return next((one for one in learned if one.number == session.view.shown_run), learned[-1])
