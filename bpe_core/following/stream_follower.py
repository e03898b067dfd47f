"""The follower of a stream of steps, such as the output of `ssh host bpe-explorer follow run.bpex`."""

from __future__ import annotations

from typing import BinaryIO, get_args

from bpe_core.errors import BpeError
from bpe_core.following.file_follower import is_continued
from bpe_core.following.followed_run import FollowedRun, FollowState
from bpe_core.following.step_lines import history_of
from bpe_core.formats.json_reading import Object, parsed_object
from bpe_core.history.history import History
from bpe_core.methods.kit.leading import LeadingPairs

LARGEST_LINE = 2**25  # bytes; the alphabet is one line


class StreamFollower:
    """A follower of a run whose steps arrive as lines of a stream. Incomplete lines are ignored."""

    def __init__(self, stream: BinaryIO, name: str = "standard input") -> None:
        self._stream = stream
        self._name = name
        self._about: Object = {}
        self._steps: list[bytes] = []
        self._history: History | None = None
        self._is_new = False
        self._place = 1
        self._last: FollowedRun | None = None
        self._leading: object = None  # as values

    def look(self) -> FollowedRun:
        """Wait for the next line about the run's state, and return what is then known about the run."""
        try:
            state = self._next_state()
            self._build_history()
        except BpeError as error:
            return self._run_at_end_of_stream(str(error))
        if state is None:
            return self._run_at_end_of_stream("")
        kind = state.get("state")
        age = state.get("age")
        texts = state.get("texts")
        is_written = state.get("is_written")
        self._last = FollowedRun(
            str(state.get("name", self._name)),
            next((known for known in get_args(FollowState) if known == kind), "training"),
            self._history,
            age=float(age) if isinstance(age, int | float) else 0.0,
            why=str(state.get("why", "")),
            texts=tuple(map(str, texts)) if isinstance(texts, list) else (),
            place=self._place,
            is_written=is_written if isinstance(is_written, bool) else None,
            leading=None if self._history is None else LeadingPairs.of_values(self._leading, self._history.index_count),
        )
        return self._last

    def _next_state(self) -> Object | None:
        """Read lines, and return the next line about the state. Return None if the stream has ended."""
        while True:
            line = self._stream.readline(LARGEST_LINE + 1)
            if not line.endswith(b"\n") and len(line) <= LARGEST_LINE:
                return None
            values = parsed_object(line, self._name, LARGEST_LINE)
            if isinstance(values.get("run"), dict):
                self._about = values["run"]
                self._is_new = True
            elif "step" in values:
                self._take_step(values["step"], line)
            elif "leading" in values:
                self._leading = values["leading"]
            elif "state" in values:
                return values

    def _take_step(self, number: object, line: bytes) -> None:
        if number == 1:
            self._steps = []
        self._steps.append(line.strip())
        self._is_new = True

    def _build_history(self) -> None:
        """Build the history from all lines, if there are new lines."""
        if self._is_new and self._about:
            history = history_of(self._about, self._steps, self._name)
            if self._history is not None and not is_continued(self._history, history):
                self._place += 1
            self._history = history
            self._is_new = False

    def _run_at_end_of_stream(self, why: str) -> FollowedRun:
        """Return the run as it was known when the stream ended.

        `why` is the reason if a line could not be read, or empty. A run that had ended stays "ended" if there is no
        such reason. Otherwise the state is "cut".
        """
        last = self._last
        if last is not None and last.state == "ended" and not why:
            return last
        name = self._name if last is None else last.name
        texts = () if last is None else last.texts
        return FollowedRun(name, "cut", self._history, why=why, texts=texts, place=self._place)
