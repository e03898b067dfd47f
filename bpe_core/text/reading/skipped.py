"""What was passed over while reading, so that nothing is lost silently."""

from __future__ import annotations

from collections import Counter

from bpe_core.records import dataclass

SHOWN_PER_SOURCE = 20  # a file with a million bad rows must not fill the memory with reports


@dataclass(frozen=True)
class Skipped:
    """One thing that was left out or replaced."""

    source: str
    sentence: str
    count: int = 1  # how many such things this one report stands for

    def __str__(self) -> str:
        """The sentence for whoever does not know which source it is about.

        >>> print(Skipped("a.jsonl", "line 3: it is not JSON"))
        a.jsonl: line 3: it is not JSON
        """
        return self.sentence if self.source in self.sentence else f"{self.source}: {self.sentence}"


class SkipLog:
    """Reports in the order they came; of many from one source the first are kept and the rest counted.

    >>> log = SkipLog()
    >>> for line in range(1, 25):
    ...     log.add("a.jsonl", f"line {line} is not JSON")
    >>> len(log.reports()), log.reports()[-1]
    (21, Skipped(source='a.jsonl', sentence='and 4 more', count=4))
    """

    def __init__(self) -> None:
        self._shown: list[Skipped] = []
        self._seen: Counter[str] = Counter()

    def add(self, source: str, sentence: str, count: int = 1) -> None:
        self._seen[source] += 1
        if self._seen[source] <= SHOWN_PER_SOURCE:
            self._shown.append(Skipped(source, sentence, count))

    def reports(self) -> tuple[Skipped, ...]:
        more = {source: seen - SHOWN_PER_SOURCE for source, seen in self._seen.items()}
        rest = [Skipped(source, f"and {n:,} more", n) for source, n in more.items() if n > 0]
        return (*self._shown, *rest)


def perhaps_cut_off(name: str) -> str:
    """Of a file that lacks the mark at its end, which not every program writes."""
    return f"{name} ends without the mark that such files end with: if it was cut off, texts are missing."
