"""The automaton of a regular expression, and the machine that splits texts in the same way as the expression.

A thread is one way in which the expression may match. The automaton follows all threads at once, in the order in which
`regex` would try them.

The best match so far is not final while a thread with a higher priority may still match. Until then, the text may have
to be split at the end of this match. The search that begins there is a separate stage. A table can remember two such
offsets: one at any distance, and the offset before the last character. If more offsets are needed, there is no table.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from bpe_core.text.scanner.expression import (
    CharacterSet,
    Either,
    Expression,
    Look,
    NoTable,
    Part,
    Repeat,
    Sequence,
    can_be_empty,
)
from bpe_core.text.scanner.kinds import MOST_KINDS, Kind, Kinds, TooManyKinds
from bpe_core.text.scanner.machine import CUT_HERE, CUT_MARK, CUT_PREVIOUS, MARK_HERE, Transition

MATCH = 0  # the last state: a thread in it has matched before the next character
MATCHED = -1  # in place of a state: the thread has matched before this character
MOST_STATES = 1_500
EDGE = 1 << Kind.END  # in a mask of kinds: the end or start of the text
_ALL = (1 << MOST_KINDS) - 1

Node = tuple[int, int]  # a state, and the signature of the last character
Moves = tuple[int, ...]  # the next states of threads, in order; MATCHED is always the last

# Remembered offsets, with the way to cut there because of the next character
BASE = 0  # no cut is needed: the stage begins there
_OR_MARK = CUT_PREVIOUS | CUT_MARK  # the offset before the last character, which is also marked

MOST_WORK = 300_000  # the most steps of threads before the machine gives up

Thread = tuple[int, int]  # the automaton's state, and the offset at which its match begins


@dataclass(frozen=True)
class _ReadState:
    """A state of an automaton. It reads one character of certain kinds and goes on to the state `then`."""

    mask: int
    then: int


@dataclass(frozen=True)
class _TryState:
    """A state of an automaton. It reads no character, and goes on to each of its target states, in order."""

    targets: tuple[int, ...]


@dataclass(frozen=True)
class _CheckState:
    """A state that checks a neighbouring character. If the kind of the character is in `mask`, it goes on to `then`.

    If `behind` is true, the state checks the character before the current offset, and otherwise the character after it.
    """

    mask: int
    then: int
    behind: bool = False
    unclear: int = 0


class Automaton:
    def __init__(self, expression: Expression, *, drops_blanks: bool = False) -> None:
        if can_be_empty(expression.body):
            raise NoTable("the pattern may match an empty text")
        sources = sorted(_sources_of(expression.body))
        try:
            self.kinds = Kinds(sources, expression.characters, expression.classes, drops_blanks=drops_blanks)
        except TooManyKinds:
            raise NoTable("the pattern distinguishes too many kinds of characters") from None
        self._states: list[_ReadState | _TryState | _CheckState] = [_TryState(())]  # the first state is MATCH
        self.start = self._build(expression.body, MATCH)
        behind = sorted({state.mask for state in self._states if isinstance(state, _CheckState) and state.behind})
        self.signatures = {
            kind: sum((mask >> kind & 1) << i for i, mask in enumerate(behind)) for kind in range(MOST_KINDS)
        }
        self._bit_of_mask = {mask: i for i, mask in enumerate(behind)}
        self._moves: dict[tuple[int, int, int], Moves] = {}
        self._surely: dict[tuple[int, int], bool] = {}

    def moves(self, state: int, before: int, kind: int) -> Moves:
        """Return the states that a thread in this state can reach by reading a character of this kind.

        `before` is the signature of the previous character.
        """
        known = self._moves.get((state, before, kind))
        if known is None:
            targets: dict[int, None] = {}
            self._follow(state, before, kind, targets, set())
            known = self._moves[state, before, kind] = tuple(targets)
        return known

    def _follow(self, first: int, before: int, kind: int, targets: dict[int, None], seen: set[int]) -> None:
        waiting = [first]
        while waiting:
            place = waiting.pop()
            if place in seen:
                continue
            seen.add(place)
            if place == MATCH:
                targets[MATCHED] = None
                return
            state = self._states[place]
            if isinstance(state, _ReadState):
                if state.mask >> kind & 1:
                    targets.setdefault(state.then)
            elif isinstance(state, _TryState):
                waiting += reversed(state.targets)
            elif self._holds(state, before, kind):
                waiting.append(state.then)

    def _holds(self, check: _CheckState, before: int, kind: int) -> bool:
        if check.behind:
            return bool(before >> self._bit_of_mask[check.mask] & 1)
        if check.unclear >> kind & 1:
            raise NoTable("$ before a line end: write \\Z, or (?m:$)")
        return bool(check.mask >> kind & 1)

    def surely_matches(self, state: int, before: int) -> bool:
        """Return whether a thread in this state will match, no matter which characters follow.

        `before` is the signature of the previous character.
        """
        if (state, before) not in self._surely:
            ways = {(state, before): self._moves_without_match(state, before)}
            for node in (waiting := [(state, before)]):  # grows during the loop
                for target in {target for targets in ways[node] for target in targets} - ways.keys():
                    ways[target] = self._moves_without_match(*target)
                    waiting.append(target)
            sure = set(ways)
            count = 0
            while count != len(sure):
                count = len(sure)
                for node in reversed(waiting):
                    if any(sure.isdisjoint(targets) for targets in ways[node]):
                        sure.discard(node)
            self._surely |= {node: node in sure for node in ways}
        return self._surely[state, before]

    def begins_match(self, kind: int) -> bool | None:
        """Return whether a match begins with a character of this kind.

        Return None if this depends on the characters around it.
        """
        if self._bit_of_mask:
            return None
        moves = self.moves(self.start, self.signatures[Kind.END], kind)
        if any(target != MATCHED and self.surely_matches(target, self.signatures[kind]) for target in moves):
            return True
        return None if moves else False

    def _moves_without_match(self, state: int, before: int) -> set[frozenset[Node]]:
        """Return the nodes to which a thread can move if the next character does not complete a match.

        The result has a set of nodes for each kind of character. Equal sets are in the result only once.
        """
        ways: set[frozenset[Node]] = set()
        for kind in (*self.kinds.numbers, int(Kind.END)):
            try:
                moves = self.moves(state, before, kind)
            except NoTable:
                moves = ()
            if MATCHED not in moves:
                ways.add(frozenset((target, self.signatures[kind]) for target in moves))
        return ways

    # -- building, from the end ------------------------------------------------------------

    def _add(self, state: _ReadState | _TryState | _CheckState) -> int:
        if len(self._states) >= MOST_STATES:
            raise NoTable("the pattern is too long")
        self._states.append(state)
        return len(self._states) - 1

    def _build(self, node: Part, then: int) -> int:
        """Build the states that read a part of the expression, and return the first state.

        After the part, the automaton goes on to the state `then`.
        """
        match node:
            case CharacterSet(sources):
                return self._add(_ReadState(self.kinds.mask(sources), then))
            case Sequence(parts):
                for part in reversed(parts):
                    then = self._build(part, then)
                return then
            case Either(options):
                return self._add(_TryState(tuple(self._build(option, then) for option in options)))
            case Look():
                mask = self.kinds.mask(node.sources) | (EDGE if node.edge else 0)
                mask = mask ^ _ALL if node.negated else mask
                return self._add(_CheckState(mask, then, node.behind, self.kinds.mask(node.unclear)))
            case Repeat():
                return self._repeat(node, then)

    def _repeat(self, node: Repeat, then: int) -> int:
        if node.most is not None and node.most < node.least:
            raise NoTable("a repetition with an impossible count")
        end = then
        if node.mode == "possessive":
            assert isinstance(node.body, CharacterSet)
            end = self._add(_CheckState(_ALL ^ self.kinds.mask(node.body.sources), then))
        if node.most is None:
            entry = self._add(_TryState(()))  # its targets are set when the body has been built
            self._states[entry] = _once_more(node, self._build(node.body, entry), end)
        else:
            entry = then
            for _ in range(node.most - node.least):
                entry = self._add(_once_more(node, self._build(node.body, entry), end))
        for _ in range(node.least):
            entry = self._build(node.body, entry)
        return entry


def _once_more(node: Repeat, body: int, end: int) -> _TryState:
    return _TryState((end, body) if node.mode == "lazy" else (body, end))


def _sources_of(node: Part) -> set[str]:
    match node:
        case CharacterSet(sources):
            return set(sources)
        case Sequence(parts) | Either(parts):
            return {source for part in parts for source in _sources_of(part)}
        case Repeat(body):
            return _sources_of(body)
        case Look(sources, unclear=unclear):
            return {*sources, *unclear}


# The machine


class Stage(NamedTuple):
    """The search for one match.

    A stage begins at the end of the best match of the stage before it. If this match becomes final, the text is split
    there.
    """

    threads: tuple[Thread, ...] = ()
    best: tuple[int, int] | None = None  # the offsets at which the best match so far begins and ends
    is_new: bool = False  # whether no character was read yet
    searches: bool = True  # whether a match may also begin at the next character

    @property
    def begins_at(self) -> set[int]:
        """Return the offsets, among the characters read so far, at which the match of this stage may begin."""
        return {place for _, place in self.threads} | ({self.best[0]} if self.best else set())

    def with_places(self, become: dict[int, int]) -> Stage:
        best = self.best and (become[self.best[0]], become[self.best[1]])
        return Stage(tuple([(state, become[place]) for state, place in self.threads]), best, searches=self.searches)


class ReaderState(NamedTuple):
    stages: tuple[Stage, ...]
    before: int  # the signature of the last character


class Machine:
    """A machine that computes what a character does in each state. It raises NoTable if no table can express this."""

    def __init__(self, automaton: Automaton) -> None:
        self._automaton = automaton
        self._new = Stage(((automaton.start, BASE),), is_new=True)
        self._work = 0
        self._known: dict[tuple[ReaderState, tuple[Moves, ...], int], Transition[ReaderState]] = {}
        self.start = ReaderState((self._new,), automaton.signatures[Kind.END])

    def step(self, state: ReaderState, kind: int) -> Transition[ReaderState]:
        """Return the transition that a character makes.

        If no thread distinguishes two kinds of characters, the kinds share a cached transition.
        """
        automaton = self._automaton
        before = state.before
        moves = [automaton.moves(place, before, kind) for stage in state.stages for place, _ in stage.threads]
        moves.append(automaton.moves(automaton.start, before, kind))
        self._work += len(moves)
        if self._work > MOST_WORK:
            raise NoTable("the table of the pattern would be too large")
        key = state, tuple(moves), -1 if kind == Kind.END else automaton.signatures[kind]
        if key not in self._known:
            self._known[key] = self._step(state, kind)
        return self._known[key]

    def _step(self, state: ReaderState, kind: int) -> Transition[ReaderState]:
        stages: list[Stage] = []
        for stage in state.stages:
            stages.append(self._read(stage, state.before, kind))
            if _ends_here(stages[-1]):
                break
        if kind == Kind.END:
            return Transition(self.start, _cuts_at_end(stages))
        if _ends_here(stages[-1]):
            stages.append(self._read(self._new, state.before, kind))
        stages, cuts = _without_finished(stages)
        places = {place for stage in stages for place in _places(stage)}
        if CUT_PREVIOUS in places:
            raise NoTable("the pattern must remember several places at a time")
        has_mark = CUT_MARK in places or _OR_MARK in places
        marks = CUT_HERE in places and not has_mark
        become = {BASE: BASE, CUT_MARK: CUT_MARK, _OR_MARK: CUT_MARK, CUT_HERE: _OR_MARK if marks else CUT_PREVIOUS}
        after = ReaderState(tuple(stage.with_places(become) for stage in stages), self._automaton.signatures[kind])
        return Transition(after, cuts | (MARK_HERE if marks else 0))

    def _read(self, stage: Stage, before: int, kind: int) -> Stage:
        """Return the stage after a character of this kind.

        The offsets in the result are still relative to the offset before the character.
        """
        threads = stage.threads
        best = stage.best
        may_begin = stage.searches and not stage.is_new and kind != Kind.END
        threads_after: dict[int, int] = {}
        for state, place in (*threads, (self._automaton.start, CUT_HERE)) if may_begin else threads:
            moves = self._automaton.moves(state, before, kind)
            for target in moves:
                if target == MATCHED:
                    return self._stage_of(threads_after, kind, (place, CUT_HERE), searches=False)
                threads_after.setdefault(target, place)
        return self._stage_of(threads_after, kind, best, searches=stage.searches)

    def _stage_of(self, threads: dict[int, int], last: int, best: tuple[int, int] | None, *, searches: bool) -> Stage:
        """Return a stage with these threads, which are in the order of their priority.

        If a thread will certainly match, the threads after it are left out.
        """
        kept: list[Thread] = []
        before = self._automaton.signatures[last]
        for thread in threads.items():
            kept.append(thread)
            if self._automaton.surely_matches(thread[0], before):
                return Stage(tuple(kept), best, searches=False)
        return Stage(tuple(kept), best, searches=searches)


def _ends_here(stage: Stage) -> bool:
    return stage.best is not None and stage.best[1] == CUT_HERE


def _places(stage: Stage) -> set[int]:
    return stage.begins_at | ({stage.best[1]} if stage.best else set())


def _cuts_at_end(stages: list[Stage]) -> int:
    cuts = 0
    for stage in stages:
        if stage.best is None:
            break
        cuts |= _cut(stage.best[0])
        if not _ends_here(stage):
            cuts |= _cut(stage.best[1])
    return cuts


def _without_finished(stages: list[Stage]) -> tuple[list[Stage], int]:
    """Remove the finished stages.

    Return the other stages, and a bit mask of the offsets at which the text is certainly split.
    """
    cuts = 0
    over = 0
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
