"""The runs of a sweep in one session file that the window can open.

Two runs with the same recipe and words learn the same tokens. So a run is not learned again if the file has a run with
its recipe and words. All other contents of the file stay unchanged. During the sweep, the table of the results and the
session are written every few seconds.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from bpe_core.counting.words import WordTable
from bpe_core.errors import CorpusError, OutputError
from bpe_core.history.history import END_SENTENCES, History
from bpe_core.recipes.recipe import Recipe
from bpe_core.session_file.reading import read_session
from bpe_core.session_file.values import Fingerprint, SavedRun, SavedSession, SavedSource, View
from bpe_core.session_file.writing import write_session
from bpe_core.support.data_table import DataTable, write_data
from bpe_core.support.fingerprints import fingerprint_of
from bpe_core.support.wording import count_text
from bpe_core.sweep.plan import Plan

LOOKED_AT = 1_000  # bytes of a text, up to the last line end


class RunsInSession:
    """A session file that collects runs. The file is only written when `write` is called."""

    def __init__(self, path: Path, plan: Plan) -> None:
        self._path = path
        self._plan = plan
        self._state = _state_of(path)
        self._before = read_session(path) if path.exists() else None
        self._found: dict[int, SavedRun] = {}  # by the index in the plan, with its number in the file
        self._fresh: dict[int, SavedRun] = {}
        self._sources = {corpus: _sources_of(corpus, plan) for corpus in plan.corpora}

    @property
    def description(self) -> str:
        """Return a phrase with the number of runs, such as `3 runs (1 of them was in the file already)`."""
        old = len({run.number for run in self._found.values()})
        total = old + len(self._fresh)
        were = "was" if old == 1 else "were"
        return count_text(total, "run") + (f" ({old:,} of them {were} in the file already)" if old else "")

    def history(self, recipe: Recipe, words: WordTable) -> History | None:
        run = self._known(recipe, words)
        return None if run is None else run.history

    def _known(self, recipe: Recipe, words: WordTable) -> SavedRun | None:
        for run in () if self._before is None else self._before.runs:
            if run.history is None or run.state != "ended" or run.words is None:
                continue
            if run.recipe.with_changes(name=recipe.name) == recipe and run.words.has_words_of(words):
                return run
        return None

    def add(self, place: int, title: str, corpus: str, recipe: Recipe, words: WordTable, history: History) -> None:
        """Add a run.

        `place` is the index of the run in the plan. If the file already has the run, the run keeps its number and name.
        """
        known = self._known(recipe, words)
        if known is not None:
            self._found[place] = replace(known, words=words)  # shared by all runs of a corpus
            return
        self._fresh[place] = SavedRun(
            0,
            recipe.with_changes(name=title),
            self._sources[corpus],
            words,
            history,
            state="ended",
            sentence=END_SENTENCES[history.end_reason],
        )

    def write(self) -> None:
        """Write the new runs to the file, after its old runs and in the order of the plan.

        Raise OutputError if another program has changed the file.
        """
        if _state_of(self._path) != self._state:
            raise OutputError(
                f"{self._path} was changed by another program during the sweep, so no runs were added to it. Run the "
                "sweep again."
            )
        before = self._before or self._begun()
        runs_by_number = {run.number: run for run in self._found.values()}
        old = [runs_by_number.get(run.number, run) for run in before.runs]
        first = max((run.number for run in old), default=0) + 1
        fresh = [replace(self._fresh[place], number=first + index) for index, place in enumerate(sorted(self._fresh))]
        view = before.view
        if view.shown_run is None and fresh:
            view = View(shown_run=fresh[0].number, position=fresh[0].learned)
        write_session(replace(before, runs=(*old, *fresh), view=view), self._path)
        self._state = _state_of(self._path)

    def _begun(self) -> SavedSession:
        recipe = next(iter(self._plan.recipes.values()))
        corpus = next(iter(self._plan.corpora))
        text = ""
        with suppress(CorpusError):  # words with their counts are no text
            data = next((chunk.data for chunk in self._plan.corpus(corpus).chunks()), b"")
            text = bytes(data[:LOOKED_AT]).decode(errors="ignore")
        return SavedSession(recipe, self._saved_sources(), text[: text.rfind("\n") + 1] or text)

    def _saved_sources(self) -> tuple[SavedSource, ...]:
        if len(self._sources) == 1:
            return next(iter(self._sources.values()))
        return tuple(replace(source, group=corpus) for corpus, sources in self._sources.items() for source in sources)


def _state_of(path: Path) -> object:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns


def _sources_of(corpus: str, plan: Plan) -> tuple[SavedSource, ...]:
    sources = []
    for path in (Path(name_of_file).absolute() for name_of_file in plan.corpora[corpus]):
        known = None
        if path.is_file():
            status = path.stat()
            known = Fingerprint(status.st_size, status.st_mtime_ns, fingerprint_of(path)[1])
        encoding = plan.reading.get("encoding")
        column = plan.reading.get("field", "")
        name = path.name + ("/" if path.is_dir() else "")
        sources.append(SavedSource(name, str(path), encoding=encoding, fingerprint=known, column=column))
    return tuple(sources)


SECONDS_BETWEEN = 2.0
TIMES_THE_WRITING = 10


class DiskWriter:
    """A writer of a sweep's table and session.

    It writes at most every two seconds. If writing takes a long time, it writes less often.
    """

    def __init__(self, path: Path | None, runs: RunsInSession | None) -> None:
        self._path = path
        self._runs = runs
        self._written = time.monotonic()
        self._rest = SECONDS_BETWEEN
        self._table: Callable[[], DataTable] | None = None

    def __call__(self, so_far: Callable[[], DataTable]) -> None:
        self._table = so_far
        if time.monotonic() - self._written >= self._rest:
            self.write()

    def write(self) -> None:
        if self._table is None:
            return
        began = time.monotonic()
        if self._path is not None:
            write_data(self._table(), self._path)
        if self._runs is not None:
            self._runs.write()
        self._table = None
        self._written = time.monotonic()
        self._rest = max(SECONDS_BETWEEN, TIMES_THE_WRITING * (self._written - began))
