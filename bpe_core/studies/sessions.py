"""The runs of a session as studies."""

from __future__ import annotations

import re
from pathlib import Path

from bpe_core.errors import FormatError
from bpe_core.history.token_texts import TokenTexts
from bpe_core.recipes.run_titles import name_of
from bpe_core.session_file import HEADER
from bpe_core.session_file.reading import read_session
from bpe_core.session_file.values import SavedRun, SavedSession
from bpe_core.studies.study import Study
from bpe_core.studies.texts import KnownWords


def run_of(path: str) -> tuple[str, int | None]:
    """Split a session's name from the number of one of its runs; a file of that very name is itself.

    >>> run_of("book.bpex#2"), run_of("book.bpex")
    (('book.bpex', 2), ('book.bpex', None))
    """
    found = re.fullmatch(r"(.+)#(\d{1,9})", path, re.DOTALL)
    return (path, None) if found is None or Path(path).exists() else (found[1], int(found[2]))


def is_session(path: Path) -> bool:
    if not path.is_file():
        return False
    with open(path, "rb") as file:
        return file.read(len(HEADER)) == HEADER


def run_of_session(path: str, number: int | None) -> Study:
    """Open the run of that number; without one the run that was shown, else the last one."""
    session = read_session(path)
    run = chosen_run(session, path, number)
    learned = sum(one.history is not None for one in session.runs)
    note = f"Of the {learned} runs in {path} this is run {run.number}, the one that was shown; {path}#N is run N."
    return _study(run, path, (note,) if learned > 1 and number is None else ())


def runs_of_session(path: Path | str) -> dict[str, Study]:
    """Open all runs of a session, named as the window does."""
    return {name: _study(run, name) for name, run in _named(read_session(path)).items()}


def moments_of_session(path: Path | str) -> dict[str, tuple[Study, int]]:
    """The same with their ends; and the run that was shown as it was at the moment shown."""
    session = read_session(path)
    found: dict[str, tuple[Study, int]] = {}
    for name, run in _named(session).items():
        study, at = _study(run, name), session.view.position
        found[name] = study, len(study.history)
        if run.number == session.view.shown_run and at < len(study.history):
            found[f"{name}, after {run.recipe.wording.counted(at)}"] = study, at
    return found


def chosen_run(session: SavedSession, path: str, number: int | None) -> SavedRun:
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


def _named(session: SavedSession) -> dict[str, SavedRun]:
    """The runs that have learned something."""
    runs = [run for run in session.runs if run.history is not None and run.history.id_count]
    return {name_of(run, session.runs, lambda one, id: TokenTexts.of(one.history).text[id]): run for run in runs}


def _study(run: SavedRun, name: str, notes: tuple[str, ...] = ()) -> Study:
    assert run.history is not None  # it was chosen so
    texts = None if run.words is None else KnownWords(run.words)
    sources = tuple((one.name, one.path, one.text, one.group) for one in run.sources)
    return Study(run.history, texts, name=name, format="session", notes=notes, sources=sources, texts_are_own=True)
