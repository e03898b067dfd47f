"""Functions that read the runs of a session as studies, and write runs as a session.

A study is a vocabulary with its history, its ids and its texts.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from bpe_core.counting.words import WordTable
from bpe_core.errors import BpeError, OutputError
from bpe_core.history.history import END_SENTENCES, History
from bpe_core.history.token_texts import TokenTexts
from bpe_core.methods.kit.trainer import Trainer
from bpe_core.recipes.recipe import Recipe
from bpe_core.recipes.run_titles import name_of
from bpe_core.session_file import is_session_file, run_of
from bpe_core.session_file.newest_steps import StepsWriter
from bpe_core.session_file.reading import read_session
from bpe_core.session_file.requests import request_for, withdraw_request
from bpe_core.session_file.values import SavedRun, SavedSession, View
from bpe_core.session_file.writing import write_session
from bpe_core.studies.study import Study
from bpe_core.studies.texts import KnownWords
from bpe_core.support.atomic import place_immediately
from bpe_core.support.progress import CancelCheck, never_cancelled
from bpe_core.text.reading.utf8 import first_invalid


def study_of_run(path: str, number: int | None) -> Study:
    """Return a run of a session as a study. `number` is the number of the run.

    If `number` is None, return the run that the window showed when the session was saved, or else the last run.
    """
    session = read_session(path)
    run = session.chosen_run(path, number)
    learned = sum(each_run.history is not None for each_run in session.runs)
    note = (
        f"{path} holds {learned} runs. Run {run.number} is used, because it was shown last. To use run N, write "
        f"{path}#N."
    )
    return _study(run, path, (note,) if learned > 1 and number is None else ())


def runs_of_session(path: Path | str, *, with_moment: bool = False) -> dict[str, Study]:
    """Return a dictionary of studies with all runs of a session that have tokens.

    The keys are the names that the window shows. With `with_moment`, the run that was shown is included a second time,
    with only the steps up to the time slider. If the slider was at the end of the run, the run is included only once.
    """
    session = read_session(path)
    runs = [run for run in session.runs if run.history is not None and run.history.index_count]
    studies: dict[str, Study] = {}
    for run in runs:
        name = name_of(run, session.runs, lambda named_run, id: TokenTexts.of(named_run.history).text[id])
        studies[name] = _study(run, name)
        at = session.view.position
        if with_moment and run.number == session.view.shown_run and at < run.learned:
            studies[f"{name}, after {run.recipe.wording.counted(at)}"] = studies[name].at(at)
    return studies


def _study(run: SavedRun, name: str, notes: tuple[str, ...] = ()) -> Study:
    assert run.history is not None  # the step was chosen by a user
    texts = None if run.words is None else KnownWords(run.words)
    sources = tuple((source.name, source.path, source.text, source.group) for source in run.sources)
    return Study(run.history, texts, name=name, format="session", notes=notes, sources=sources, texts_are_own=True)


def write_run(history: History, words: WordTable, path: Path | str, names: Sequence[str] = ()) -> None:
    """Write a session with one run, which the window can open and continue. `names` are the names of the texts."""
    run = _saved(1, history, words, names)
    view = View(shown_run=1, position=len(history))
    write_session(SavedSession(history.recipe, runs=(run,), view=view), path)


SECONDS_BETWEEN = 2.0
TIMES_THE_WRITING = 10
SECONDS_BETWEEN_LOOKS = 0.2  # for requests to the training


class GrowingRun:
    """A session of one run that is saved again and again while the run is learned.

    Each time the whole file is replaced. If the program is killed, the same command continues from the last saved
    step. A request file next to the session file can pause or stop the run.
    """

    def __init__(
        self, path: Path | str, words: WordTable, names: Sequence[str] = (), interruption: CancelCheck = never_cancelled
    ) -> None:
        if first_invalid(words.text.data) >= 0:
            raise OutputError(
                f"{path} was not written: a session stores words of text, and these files hold bytes that are not "
                "text. "
                "Write a .json, .csv or .tsv table."
            )
        self._path = Path(path)
        self._words = words
        self._names = tuple(names)
        self._newest = StepsWriter(self._path, self._names)
        self._written = time.monotonic()
        self._rest = SECONDS_BETWEEN
        self._looked = time.monotonic()
        self._interruption = interruption
        self.is_stopped = False  # by a request
        self.trouble = ""  # the error of the last attempt to write
        if request_for(self._path) == "stop":  # it was made to an earlier training
            withdraw_request(self._path)

    def cancelled(self) -> bool:
        """Return whether the run should end, because of an interruption or a request."""
        return self.is_stopped or self._interruption()

    def known(self, recipe: Recipe) -> History | None:
        """Return the steps of an earlier run in the file, if this run had the same recipe and the same words.

        Return None if the file holds no such run, several runs, or a run that is not paused. Some methods need the dev
        texts of languages. A session does not hold these texts, so the result is None for these methods, too.
        """
        if self._words.languages or not (self._path.is_file() and is_session_file(self._path)):
            return None
        try:
            runs = read_session(self._path).runs
        except BpeError:  # a damaged file is replaced
            return None
        run = runs[0] if len(runs) == 1 else None
        if run is None or run.history is None or run.words is None or run.state != "paused":
            return None
        is_same = run.recipe == recipe and run.words.has_words_of(self._words)
        return run.history if is_same else None

    def keep(self, trainer: Trainer) -> None:
        """Save the steps of the trainer, unless the last save was only a moment ago.

        Between two saves, the newest steps are in a small file, where programs that follow the run find them. Pause
        or stop the training if one of these programs requests it.
        """
        self._newest.write_if_due(trainer)
        began = time.monotonic()
        if began - self._written >= self._rest:
            self._save(trainer)
        if began - self._looked >= SECONDS_BETWEEN_LOOKS:
            self._looked = began
            if request_for(self._path) is not None:
                self._save(trainer)
                self._newest.write(trainer)
                self._wait()

    def _wait(self) -> None:
        """Wait while a request asks the run to pause. Record whether a request asks the run to end."""
        while request_for(self._path) == "pause" and not self.cancelled():
            time.sleep(SECONDS_BETWEEN_LOOKS)
        if request_for(self._path) == "stop":
            withdraw_request(self._path)
            self.is_stopped = True

    def _save(self, trainer: Trainer) -> None:
        began = time.monotonic()
        history = trainer.history
        if len(history):
            self.trouble = ""
            try:
                with place_immediately():
                    self.write(history)
            except OutputError as error:  # there may be room on the disk at the end
                self.trouble = str(error)
        self._written = time.monotonic()
        self._rest = max(SECONDS_BETWEEN, TIMES_THE_WRITING * (self._written - began))

    def write(self, history: History) -> None:
        write_run(history, self._words, self._path, self._names)

    def close(self) -> None:
        """Remove the small file that holds the newest steps during training. It lies beside the session."""
        self._newest.remove()


def add_branch(
    source: str, history: History, branch: History, words: WordTable, path: Path | str, names: Sequence[str] = ()
) -> None:
    """Write a session in which a branch is a new run. The window will show this run.

    If `source` is a session, its runs are kept. If `source` is a table, `history` becomes the first run, and `names`
    are the names of its texts.
    """
    place, chosen = run_of(source)
    if is_session_file(place):
        session = read_session(place)
        parent = session.chosen_run(place, chosen)
    else:
        parent = _saved(1, history, words, names)
        session = SavedSession(branch.recipe, runs=(parent,))
    number = 1 + max(run.number for run in session.runs)
    run = replace(_saved(number, branch, words, parent.names_of_texts), parent=parent.number)
    view = replace(session.view, shown_run=number, position=len(branch))
    write_session(replace(session, runs=(*session.runs, run), view=view), path)


def _saved(number: int, history: History, words: WordTable, names: Sequence[str]) -> SavedRun:
    goes_on = history.end_reason in ("", "stopped")
    return SavedRun(
        number,
        history.recipe,
        words=words,
        history=history,
        state="paused" if goes_on else "ended",
        sentence=END_SENTENCES[history.end_reason],
        names=tuple(names),
    )
