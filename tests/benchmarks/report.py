"""The table: medians, ratios, and who agrees with whom."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tests.benchmarks.jobs import Measured
from tests.benchmarks.measure import Failed
from tests.benchmarks.peers import OURS

Results = dict[tuple[str, str], list[Measured | Failed]]  # by peer and tie rule, one a round


@dataclass(frozen=True)
class Medians:
    wall: float
    cpu: float
    peak: float
    start_up: float
    size: int
    results: frozenset[str]

    @classmethod
    def of(cls, rounds: Sequence[Measured]) -> Medians:
        def median(value: Callable[[Measured], float]) -> float:
            return statistics.median(map(value, rounds))

        return cls(
            wall=median(lambda one: one.wall),
            cpu=median(lambda one: one.cpu),
            peak=median(lambda one: one.peak),
            start_up=median(lambda one: one.start_up),
            size=rounds[-1].size,
            results=frozenset(one.result for one in rounds),
        )


def summed_up(results: Results) -> dict[tuple[str, str], Medians | Failed]:
    summary: dict[tuple[str, str], Medians | Failed] = {}
    for contestant, rounds in results.items():
        measured = [one for one in rounds if isinstance(one, Measured)]
        failed = [one for one in rounds if isinstance(one, Failed)]
        summary[contestant] = failed[0] if failed else Medians.of(measured)
    return summary


HEADER = f"  {'':<14} {'ties':<14} {'wall':>10} {'CPU':>10} {'peak':>10} {'start-up':>10} {'size':>10}   agrees with us"


def table(results: Results) -> tuple[list[str], bool]:
    """The lines of a job's table, and whether all who should agree do."""
    summary = summed_up(results)
    lines, sound = [HEADER], True
    for (name, ties), one in summary.items():
        if isinstance(one, Failed):
            lines.append(f"  {name:<14} {ties:<14} {one.reason}")
            sound &= name != OURS
            continue
        verdict = agreement(name, ties, summary)
        sound &= verdict != "NO"
        lines.append(
            f"  {name:<14} {ties or '(its own)':<14} {_time(one.wall):>10} {_time(one.cpu):>10}"
            f" {one.peak / 1e6:>7,.0f} MB {_time(one.start_up):>10} {one.size:>10,}   {verdict}"
        )
    return lines + comparisons(summary), sound


def agreement(name: str, ties: str, summary: dict[tuple[str, str], Medians | Failed]) -> str:
    ours, theirs = summary.get((OURS, ties)), summary[name, ties]
    if name == OURS or not isinstance(ours, Medians) or not isinstance(theirs, Medians):
        return "" if name != OURS or isinstance(theirs, Failed) or len(theirs.results) == 1 else "NO"
    if theirs.results == {""}:
        return "not comparable"
    return "yes" if theirs.results == ours.results else "NO"


def comparisons(summary: dict[tuple[str, str], Medians | Failed]) -> list[str]:
    """For each tie rule ours beside the fastest peer, of any rule."""
    peers = [(one, key) for key, one in summary.items() if isinstance(one, Medians) and key[0] != OURS]
    if not peers:
        return []
    best, (name, ties) = min(peers, key=lambda pair: pair[0].wall)
    lines = []
    for (who, rule), ours in summary.items():
        if who == OURS and isinstance(ours, Medians):
            lines.append(
                f"  ours{f' ({rule})' if rule else ''} / {name}{f' ({ties})' if ties else ''}: "
                f"wall {ours.wall / best.wall:.2f}, CPU {ours.cpu / max(best.cpu, 1e-9):.2f}, "
                f"memory {ours.peak / best.peak:.2f}"
            )
    return lines


def _time(seconds: float) -> str:
    if seconds >= 0.1:
        return f"{seconds:,.2f} s"
    if seconds >= 0.001:
        return f"{seconds * 1e3:,.1f} ms"
    return f"{seconds * 1e6:,.1f} us"
