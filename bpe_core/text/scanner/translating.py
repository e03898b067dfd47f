r"""From a regular expression to the machine that cuts where it cuts.

All ways to match are followed at once, in the order in which `regex` would try them. As long as one that
comes before the best match so far may still match, the end of that best one is only a place where the
text will perhaps be cut; what would follow behind it is followed, too, as a stage of its own. A table
remembers one such place however far it lies back, beside that before the last character; where more would be
needed there is none.
"""

from __future__ import annotations

from typing import NamedTuple

from bpe_core.text.scanner.expression import NoTable
from bpe_core.text.scanner.kinds import Kind
from bpe_core.text.scanner.machine import CUT_HERE, CUT_MARK, CUT_PREVIOUS, MARK_HERE, Transition
from bpe_core.text.scanner.threads import MATCHED, Automaton, Moves

# A place that is remembered: how to cut there because of the next character.
BASE = 0  # no need to cut: the stage begins there
_OR_MARK = CUT_PREVIOUS | CUT_MARK  # the place before the last character, which is marked as well

MOST_WORK = 300_000  # steps of threads

Thread = tuple[int, int]  # the automaton's state, and the place where its match begins


class Stage(NamedTuple):
    """The search for one match, from a place on which is a cut if the stages before it end as it looks now."""

    threads: tuple[Thread, ...] = ()
    best: tuple[int, int] | None = None  # the places where the best match so far begins and ends
    is_new: bool = False  # nothing was read in it
    searches: bool = True  # a match may also begin at the next character

    @property
    def begins_at(self) -> set[int]:
        """The places where its match may begin, of those already seen."""
        return {place for _, place in self.threads} | ({self.best[0]} if self.best else set())

    def with_places(self, become: dict[int, int]) -> Stage:
        best = self.best and (become[self.best[0]], become[self.best[1]])
        return Stage(tuple([(state, become[place]) for state, place in self.threads]), best, searches=self.searches)


class Reading(NamedTuple):
    """All that the machine knows of what it read."""

    stages: tuple[Stage, ...]
    before: int  # what the expression may ask of the last character


class Machine:
    """What a character does, from each state that can be reached; NoTable where that is more than a table can tell."""

    def __init__(self, automaton: Automaton) -> None:
        self._automaton = automaton
        self._new = Stage(((automaton.start, BASE),), is_new=True)
        self._work = 0
        self._known: dict[tuple[Reading, tuple[Moves, ...], int], Transition[Reading]] = {}
        self.start = Reading((self._new,), automaton.signatures[Kind.END])

    def step(self, state: Reading, kind: int) -> Transition[Reading]:
        """The same for all kinds that no thread tells apart."""
        automaton, before = self._automaton, state.before
        moves = [automaton.moves(place, before, kind) for stage in state.stages for place, _ in stage.threads]
        moves.append(automaton.moves(automaton.start, before, kind))
        self._work += len(moves)
        if self._work > MOST_WORK:
            raise NoTable("its table would be too large")
        key = state, tuple(moves), -1 if kind == Kind.END else automaton.signatures[kind]
        if key not in self._known:
            self._known[key] = self._step(state, kind)
        return self._known[key]

    def _step(self, state: Reading, kind: int) -> Transition[Reading]:
        stages: list[Stage] = []
        for stage in state.stages:
            stages.append(self._read(stage, state.before, kind))
            if _ends_here(stages[-1]):
                break
        if kind == Kind.END:
            return Transition(self.start, _cuts_at_end(stages))
        if _ends_here(stages[-1]):
            stages.append(self._read(self._new, state.before, kind))
        stages, cuts = _settled(stages)
        places = {place for stage in stages for place in _places(stage)}
        if CUT_PREVIOUS in places:
            raise NoTable("it must remember several places at a time")
        has_mark = CUT_MARK in places or _OR_MARK in places
        marks = CUT_HERE in places and not has_mark
        become = {BASE: BASE, CUT_MARK: CUT_MARK, _OR_MARK: CUT_MARK, CUT_HERE: _OR_MARK if marks else CUT_PREVIOUS}
        after = Reading(tuple(stage.with_places(become) for stage in stages), self._automaton.signatures[kind])
        return Transition(after, cuts | (MARK_HERE if marks else 0))

    def _read(self, stage: Stage, before: int, kind: int) -> Stage:
        """The stage behind that character; places are still told as before it."""
        threads, best = stage.threads, stage.best
        may_begin = stage.searches and not stage.is_new and kind != Kind.END
        found: dict[int, int] = {}
        for state, place in (*threads, (self._automaton.start, CUT_HERE)) if may_begin else threads:
            moves = self._automaton.moves(state, before, kind)
            for target in moves:
                if target == MATCHED:
                    return self._as_sure(found, kind, (place, CUT_HERE), searches=False)
                found.setdefault(target, place)
        return self._as_sure(found, kind, best, searches=stage.searches)

    def _as_sure(self, found: dict[int, int], last: int, best: tuple[int, int] | None, *, searches: bool) -> Stage:
        """Without the threads behind one that matches whatever comes."""
        kept: list[Thread] = []
        before = self._automaton.signatures[last]
        for thread in found.items():
            kept.append(thread)
            if self._automaton.surely_matches(thread[0], before):
                return Stage(tuple(kept), best, searches=False)
        return Stage(tuple(kept), best, searches=searches)


def _ends_here(stage: Stage) -> bool:
    return stage.best is not None and stage.best[1] == CUT_HERE


def _places(stage: Stage) -> set[int]:
    return stage.begins_at | ({stage.best[1]} if stage.best else set())


def _cuts_at_end(stages: list[Stage]) -> int:
    """Where the text must be cut before its end, now that nothing follows."""
    cuts = 0
    for stage in stages:
        if stage.best is None:
            break
        cuts |= _cut(stage.best[0])
        if not _ends_here(stage):
            cuts |= _cut(stage.best[1])
    return cuts


def _settled(stages: list[Stage]) -> tuple[list[Stage], int]:
    """Without the stages that are over, and the cuts that are certain now."""
    cuts, over = 0, 0
    while (best := stages[over].best) and not stages[over].threads:
        cuts |= _cut(best[0]) | _cut(best[1])
        over += 1
    first, *others = stages[over:]
    if not first.searches and len(begins_at := first.begins_at) == 1:
        place = begins_at.pop()
        cuts |= _cut(place)
        best = first.best and (BASE, first.best[1])
        first = Stage(tuple((state, BASE) for state, _ in first.threads), best, searches=False)
    return [first, *others], cuts


def _cut(place: int) -> int:
    return CUT_PREVIOUS if place == _OR_MARK else place
