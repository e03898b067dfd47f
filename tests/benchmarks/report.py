"""The table of a benchmark: median times, ratios, and whether the results of each library agree with ours."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tests.benchmarks.jobs import Measurement
from tests.benchmarks.measure import Failure
from tests.benchmarks.peers import OURS

Results = dict[tuple[str, str], list[Measurement | Failure]]  # by peer and tie rule, one a round


@dataclass(frozen=True)
class Medians:
    wall: float
    cpu: float
    peak: float
    start_up: float
    size: int
    results: frozenset[str]

    @classmethod
    def of(cls, rounds: Sequence[Measurement]) -> Medians:
        def median(value: Callable[[Measurement], float]) -> float:
            return statistics.median(map(value, rounds))

        return cls(
            wall=median(lambda measurement: measurement.wall),
            cpu=median(lambda measurement: measurement.cpu),
            peak=median(lambda measurement: measurement.peak),
            start_up=median(lambda measurement: measurement.start_up),
            size=rounds[-1].size,
            results=frozenset(measurement.result for measurement in rounds),
        )


Summary = dict[tuple[str, str], Medians | Failure]


def summed_up(results: Results) -> Summary:
    summary: Summary = {}
    for contestant, rounds in results.items():
        measured = [result for result in rounds if isinstance(result, Measurement)]
        failed = [result for result in rounds if isinstance(result, Failure)]
        summary[contestant] = failed[0] if failed else Medians.of(measured)
    return summary


HEADER = f"  {'':14} {'ties':14} {'wall':>9} {'CPU':>9} {'peak':>9} {'start-up':>9} {'size':>10} {'ours/it':>8}  agrees"


def table(results: Results) -> tuple[list[str], bool]:
    """Return the lines of a job's table, and whether all results that should be equal are equal."""
    summary = summed_up(results)
    lines, sound = [HEADER], True
    for (name, ties), result in summary.items():
        if isinstance(result, Failure):
            lines.append(f"  {name:14} {ties:14} {result.reason}")
            sound &= name != OURS
            continue
        verdict = agreement(name, ties, summary)
        sound &= verdict != "NO"
        peak = f"{result.peak / 1e6:,.0f} MB" if result.peak else ""
        lines.append(
            f"  {name:14} {ties:14} {_time(result.wall):>9} {_time(result.cpu):>9} {peak:>9}"
            f" {_time(result.start_up):>9} {f'{result.size:,}' if result.size else '-':>10}"
            f" {_ratio(name, ties, summary):>8}  {verdict}"
        )
    return lines + comparisons(summary), sound


def _ratio(name: str, ties: str, summary: Summary) -> str:
    """Return our wall time divided by the wall time of another library.

    If possible, our time is the time with the tie rule of the other library. Return an empty string if one of the two
    times is missing.
    """
    candidates = [summary.get((OURS, ties)), *(result for (who, _), result in summary.items() if who == OURS)]
    ours = next((candidate for candidate in candidates if isinstance(candidate, Medians)), None)
    theirs = summary[name, ties]
    if name == OURS or ours is None or not isinstance(theirs, Medians):
        return ""
    return f"{ours.wall / theirs.wall:.2f}"


def agreement(name: str, ties: str, summary: Summary) -> str:
    ours, theirs = summary.get((OURS, ties)), summary[name, ties]
    if name == OURS or not isinstance(ours, Medians) or not isinstance(theirs, Medians):
        return "" if name != OURS or isinstance(theirs, Failure) or len(theirs.results) == 1 else "NO"
    if theirs.results == {""}:
        return "not comparable"
    return "yes" if theirs.results == ours.results else "NO"


def comparisons(summary: Summary) -> list[str]:
    """Return a line for each of our tie rules. It compares our time and memory with the fastest other library."""
    peers = [(result, key) for key, result in summary.items() if isinstance(result, Medians) and key[0] != OURS]
    if not peers:
        return []
    best, (name, ties) = min(peers, key=lambda pair: pair[0].wall)
    lines = []
    for (who, rule), ours in summary.items():
        if who == OURS and isinstance(ours, Medians):
            lines.append(
                f"  ours{f' ({rule})' if rule else ''} / {name}{f' ({ties})' if ties else ''}: "
                f"wall {ours.wall / best.wall:.2f}, CPU {ours.cpu / max(best.cpu, 1e-9):.2f}, "
                f"memory {ours.peak / max(best.peak, 1):.2f}"
            )
    return lines


def _time(seconds: float) -> str:
    if seconds >= 0.1:
        return f"{seconds:,.2f} s"
    if seconds >= 0.001:
        return f"{seconds * 1e3:,.1f} ms"
    return f"{seconds * 1e6:,.1f} us"
