"""The state of a run at each moment of a film: the tokens of a text, the leading pairs, and the last step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bpe_core.errors import BpeError
from bpe_core.history.history import Pair
from bpe_core.insight.pairs import FollowedPair, compared_by, leading_pairs, measure_of, race
from bpe_core.methods.kit.histories import learns_by_ranks
from bpe_core.methods.kit.tokenizer import TokenSpan
from bpe_core.studies.study import Study
from bpe_core.support.progress import Work

LARGEST_WORDS = 500_000  # bytes of distinct words; for more, only the next step and its runner-up are shown
LEADERS = 5
FRAMES_A_SECOND = 12.5
MILLISECONDS = 80
SLOWEST, GROWTH = 2.0, 8.0  # the slowest pace in steps a second, and the steps after which the pace grows by one


@dataclass(frozen=True)
class Leader:
    name: str
    measure: float = 0.0  # the value by which pairs are ranked, if it is known
    written: str = ""
    taken: str = ""  # how many tokens the last step took, and which token it made


class FilmedRun:
    def __init__(self, title: str, study: Study, text: str, work: Work) -> None:
        self.title = title
        self.study = study
        self.text = text
        self._work = work
        history = study.history
        # Changes a text to the form that people read: if the symbols are not text, to their names.
        self.shown: Callable[[str], str] = history.recipe.names.shown if history.recipe.base_symbols else str
        words = None if study.texts is None else study.inside.words(work=work)
        self._words = words if words is not None and words.total_bytes <= LARGEST_WORDS else None
        self._ranked = study.inside.ranked(work=work) if self._words is not None and learns_by_ranks(history) else None
        self._runners: dict[Pair, FollowedPair] = {}
        self._tokens: dict[int, list[TokenSpan]] = {}

    def __len__(self) -> int:
        return len(self.study.history)

    def tokens(self, at: int) -> list[TokenSpan]:
        if at not in self._tokens:
            self._tokens[at] = self.study.inside.by_index.tokenizer.token_spans(self.text, at)
        return self._tokens[at]

    def newest(self, at: int) -> int | None:
        return int(self.study.history.indices[at - 1]) if at else None

    def size_at(self, at: int) -> int:
        return self.study.history.vocabulary_size_at(at)

    def step_with_size(self, size: int) -> int:
        """Return the number of steps after which the vocabulary has `size` tokens.

        If it never has this size, use the nearest size.
        """
        first = self.size_at(0)
        far = size - first if self.size_at(len(self)) >= first else first - size
        return max(0, min(len(self), far))

    def leaders(self, at: int) -> list[Leader]:
        if at >= len(self):
            return []
        if self._words is None:
            return self._recorded_leaders(at)
        candidates = leading_pairs(self._words, self.study.history, at, LEADERS, cancelled=self._work.cancelled)[
            :LEADERS
        ]
        reason = compared_by(self.study.history.recipe, candidates)
        rows = list[Leader]()
        for candidate in candidates:
            pair = (candidate.left, candidate.right)
            written = f"{candidate.count:,}" if reason is None else reason.text(candidate.count, candidate.reasons)
            rows.append(Leader(self._name(pair), measure_of(candidate, reason), written, self._taken(pair, at)))
        return rows

    def _recorded_leaders(self, at: int) -> list[Leader]:
        history = self.study.history
        columns = self.study.history.columns
        if not history.has_counts:
            return [Leader(self._name(history.pair(at)))]
        known = [(history.pair(at), int(columns.count[at]))]
        if columns.runner_up_left[at] >= 0:
            other = int(columns.runner_up_left[at]), int(columns.runner_up_right[at])
            known.append((other, int(columns.runner_up_count[at])))
        return [Leader(self._name(pair), count, f"{count:,}") for pair, count in known]

    def _taken(self, pair: Pair, at: int) -> str:
        if self._ranked is None or not at:
            return ""
        if pair not in self._runners:
            self._runners[pair] = race(self._ranked, [pair], cancelled=self._work.cancelled)[0]
        runner = self._runners[pair]
        fewer = runner.count_at(at - 1) - runner.count_at(at)
        newest = self.newest(at)
        texts = self.study.inside.by_index.texts.text
        return f"−{fewer:,}, taken by {texts[newest]}" if fewer > 0 and newest is not None else ""

    def _name(self, pair: Pair) -> str:
        return " + ".join(self.study.inside.by_index.texts.text[id] for id in pair if id >= 0)


@dataclass(frozen=True)
class FilmMoments:
    """The moments that a film shows, with one moment for each frame.

    A moment is a number of steps. In a film of two runs, a moment is a vocabulary size.
    """

    places: tuple[int, ...]
    is_by_size: bool
    most: int  # the last step, or the largest size

    @classmethod
    def of(
        cls, runs: Sequence[FilmedRun], first: int | None, last: int | None, seconds: float | None, usual: float
    ) -> FilmMoments:
        """Return the moments of a film. Each moment is a step or a vocabulary size.

        The film goes through the moments faster and faster. It takes `seconds`, or `usual` seconds if `seconds` is
        None. If `last` is given, the film reaches this step or size at its end. If neither `last` nor `seconds` is
        given, a film of a short run can be shorter.
        """
        is_by_size = len(runs) > 1
        least = 0
        most = len(runs[0])
        if is_by_size:
            sizes = [(run.size_at(0), run.size_at(len(run))) for run in runs]
            least = max(map(min, sizes))
            most = max(map(max, sizes))
        start = least if first is None else max(0, first)
        end = most if last is None else min(last, most)
        if start >= end:
            what = "sizes of the vocabularies" if is_by_size else runs[0].study.history.recipe.wording.steps
            raise BpeError(f"There are no steps from {start:,} to {end:,}. The {what} go from {least:,} to {most:,}.")
        frames = round((usual if seconds is None else seconds) * FRAMES_A_SECOND)
        walked = _moments_of_frames(start, end, None if last is not None else frames)
        if last is not None or seconds is not None:
            walked = [walked[i * (len(walked) - 1) // max(1, frames - 1)] for i in range(frames)]
        return cls(tuple(walked), is_by_size, most)

    def step(self, run: FilmedRun, place: int) -> int:
        return run.step_with_size(place) if self.is_by_size else place


def _moments_of_frames(start: int, end: int, most: int | None) -> list[int]:
    """Return the moment of each frame, from `start` to `end`. If `most` is not None, stop after `most` frames.

    >>> _moments_of_frames(0, 3, None)
    [0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 3]
    """
    walked = list[int]()
    place = 0.0
    while start + int(place) < end and (most is None or len(walked) < most):
        walked.append(start + int(place))
        place += max(SLOWEST, place / GROWTH) / FRAMES_A_SECOND
    return walked if most is not None and len(walked) == most else [*walked, end]
