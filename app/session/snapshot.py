"""Functions that convert the open session to an immutable snapshot, and convert a snapshot back to a session."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from app.session.corpus_texts import CorpusText, from_session
from app.session.merge_filter import MergeFilter
from app.session.run import Phase, Run
from app.session.session import Contents, Session
from bpe_core.history.token_texts import BLANK, TokenTexts
from bpe_core.session_file.values import Fingerprint, RunState, SavedRun, SavedSession, SavedSource, View

STATES: dict[Phase, RunState] = {Phase.ENDED: "ended", Phase.FAILED: "failed"}  # all other phases are saved as paused
BLANK_BEFORE = "·"  # the sign of a space in old sessions, which do not name it
LONGEST_TOKEN = 100_000  # most bytes of a token that can be filtered for


def snapshot_of(session: Session, layout: Mapping[str, Any], saved_as: Path | None = None) -> SavedSession:
    """Return the state of a session as a file stores it.

    Runs whose training has not begun and the runs of lessons are left out.
    """
    lesson_contents = session.lesson_contents
    theirs = lesson_contents.own_contents()
    runs = tuple(
        _saved_run(run) for run in session.runs.all if run.history is not None and not lesson_contents.owns(run)
    )
    shown = theirs.shown
    is_kept = shown is not None and shown.history is not None
    shown_number, position = (shown.number, theirs.position) if shown and is_kept else (None, 0)
    return SavedSession(
        recipe=theirs.recipe,
        sources=tuple(_saved_source(source) for source in theirs.sources),
        text=theirs.text,
        runs=runs,
        bookmarks=tuple(mark for mark in session.bookmarks.value if any(run.number == mark.run for run in runs)),
        filter=dataclasses.asdict(theirs.filter) | {"blank": BLANK},
        view=View(shown_number, position, theirs.is_live, layout),
        saved_as="" if saved_as is None else str(saved_as),
        written=datetime.now(UTC),
    )


def restore(session: Session, saved: SavedSession, names: Mapping[int, TokenTexts]) -> None:
    runs = [_run(run, names.get(run.number)) for run in saved.runs]
    sources = tuple(from_session(source) for source in saved.sources)
    view = saved.view
    shown = next((run for run in runs if run.number == view.shown_run), None)
    values = sources, saved.recipe, saved.text, _filter(saved.filter)
    session.replace(Contents(*values, shown, view.position, view.is_live), saved.bookmarks, runs)


def _saved_run(run: Run) -> SavedRun:
    return SavedRun(
        number=run.number,
        recipe=run.recipe,
        sources=tuple(_saved_source(source, run.fingerprints.get(source.number)) for source in run.sources),
        words=run.words,
        history=run.history,
        symbol_counts=run.symbol_counts,
        state=STATES.get(run.phase, "paused"),
        sentence=run.sentence,
        parent=run.parent,
        names=run.only_named,
    )


def _saved_source(source: CorpusText, fingerprint: Fingerprint | None = None) -> SavedSource:
    saved = SavedSource(source.name, encoding=source.encoding, group=source.group)
    if not source.place:
        return dataclasses.replace(saved, text=source.text)
    saved = dataclasses.replace(saved, column=source.column, word_list=source.word_list, picked=source.picked)
    return dataclasses.replace(saved, path=source.place, fingerprint=fingerprint)


def _run(saved: SavedRun, names: TokenTexts | None) -> Run:
    sources = tuple(from_session(source) for source in saved.sources)
    known = zip(sources, saved.sources, strict=True)
    run = Run(saved.number, saved.recipe, sources, phase=Phase(saved.state), sentence=saved.sentence)
    run.words = saved.words
    run.symbol_counts = saved.symbol_counts
    run.history = saved.history
    run.names = names
    run.parent = saved.parent
    run.only_named = saved.names
    run.fingerprints = {source.number: was.fingerprint for source, was in known if was.fingerprint is not None}
    return run


def _filter(values: Mapping[str, Any]) -> MergeFilter:
    """Return the filter of the merge table, as a snapshot stores it.

    The filter gets no regular expression, even if the snapshot holds one. The snapshot may come from a stranger, and
    the search for some expressions never ends.
    """
    needle = values.get("needle")
    kind = values.get("kind")
    min_length = values.get("min_length")
    if not isinstance(needle, str) or kind not in ("text", "hex") or not isinstance(min_length, int):
        return MergeFilter()
    if values.get("blank") is None:
        needle = needle.replace(BLANK_BEFORE, BLANK)
    return MergeFilter(needle, kind, values.get("ties_only") is True, min(max(1, min_length), LONGEST_TOKEN))
