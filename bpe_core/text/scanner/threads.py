"""An expression as an automaton: from each of its states, whatever comes next, to which states threads go on.

A thread is one way in which an expression may match. Those that go out from a state are in the order in
which `regex` would try them; none goes back to try another, for all are followed at once.
"""

from __future__ import annotations

from bpe_core.records import dataclass
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

MATCH = 0  # the state of a thread that will have matched when the next character is seen
MATCHED = -1  # stands for a match before that character
MOST_STATES = 1_500
EDGE = 1 << Kind.END  # in a mask of kinds: the end or start of the text
_ALL = (1 << MOST_KINDS) - 1

Node = tuple[int, int]  # a state, and what may be asked of the last character
Moves = tuple[int, ...]  # states that threads go on to, in order; behind MATCHED there is nothing


@dataclass(frozen=True)
class _Read:
    """Goes on behind a character of these kinds."""

    mask: int
    then: int


@dataclass(frozen=True)
class _Try:
    """Goes on to each of these, in order."""

    targets: tuple[int, ...]


@dataclass(frozen=True)
class _Check:
    """Goes on if what comes next, or came last, is of these kinds."""

    mask: int
    then: int
    behind: bool = False
    unclear: int = 0


class Automaton:
    """All states of an expression, and what each of them does."""

    def __init__(self, expression: Expression, *, drops_blanks: bool = False) -> None:
        if can_be_empty(expression.body):
            raise NoTable("it may match nothing at all")
        sources = sorted(_sources_of(expression.body))
        try:
            self.kinds = Kinds(sources, expression.characters, expression.classes, drops_blanks=drops_blanks)
        except TooManyKinds:
            raise NoTable("it tells too many kinds of characters apart") from None
        self._states: list[_Read | _Try | _Check] = [_Try(())]  # the first is MATCH
        self.start = self._build(expression.body, MATCH)
        behind = sorted({state.mask for state in self._states if isinstance(state, _Check) and state.behind})
        self.signatures = {
            kind: sum((mask >> kind & 1) << i for i, mask in enumerate(behind)) for kind in range(MOST_KINDS)
        }
        self._bit_of_mask = {mask: i for i, mask in enumerate(behind)}
        self._moves: dict[tuple[int, int, int], Moves] = {}
        self._surely: dict[tuple[int, int], bool] = {}

    def moves(self, state: int, before: int, kind: int) -> Moves:
        """Where threads go from a state because of the next character; `before` is the signature of the last one."""
        known = self._moves.get((state, before, kind))
        if known is None:
            found: dict[int, None] = {}
            self._follow(state, before, kind, found, set())
            known = self._moves[state, before, kind] = tuple(found)
        return known

    def _follow(self, first: int, before: int, kind: int, found: dict[int, None], seen: set[int]) -> None:
        waiting = [first]
        while waiting:
            place = waiting.pop()
            if place in seen:
                continue
            seen.add(place)
            if place == MATCH:
                found[MATCHED] = None
                return
            state = self._states[place]
            if isinstance(state, _Read):
                if state.mask >> kind & 1:
                    found.setdefault(state.then)
            elif isinstance(state, _Try):
                waiting += reversed(state.targets)
            elif self._holds(state, before, kind):
                waiting.append(state.then)

    def _holds(self, check: _Check, before: int, kind: int) -> bool:
        if check.behind:
            return bool(before >> self._bit_of_mask[check.mask] & 1)
        if check.unclear >> kind & 1:
            raise NoTable("$ before a line end: write \\Z, or (?m:$)")
        return bool(check.mask >> kind & 1)

    def surely_matches(self, state: int, before: int) -> bool:
        """Whether a thread in this state, behind such a character, matches sooner or later, whatever comes."""
        if (state, before) not in self._surely:
            ways = {(state, before): self._ways(state, before)}
            for node in (waiting := [(state, before)]):  # grows while it is walked
                for target in {target for targets in ways[node] for target in targets} - ways.keys():
                    ways[target] = self._ways(*target)
                    waiting.append(target)
            sure, count = set(ways), 0
            while count != len(sure):
                count = len(sure)
                for node in reversed(waiting):
                    if any(sure.isdisjoint(targets) for targets in ways[node]):
                        sure.discard(node)
            self._surely |= {node: node in sure for node in ways}
        return self._surely[state, before]

    def begins_match(self, kind: int) -> bool | None:
        """Whether a match begins with a character of that kind; None where that depends on what stands around it."""
        if self._bit_of_mask:
            return None
        moves = self.moves(self.start, self.signatures[Kind.END], kind)
        if any(target != MATCHED and self.surely_matches(target, self.signatures[kind]) for target in moves):
            return True
        return None if moves else False

    def _ways(self, state: int, before: int) -> set[frozenset[Node]]:
        """Where threads go on, for each next character before which they have not matched."""
        ways: set[frozenset[Node]] = set()
        for kind in (*self.kinds.numbers, int(Kind.END)):
            try:
                moves = self.moves(state, before, kind)
            except NoTable:
                moves = ()
            if MATCHED not in moves:
                ways.add(frozenset((target, self.signatures[kind]) for target in moves))
        return ways

    # Building, from behind

    def _add(self, state: _Read | _Try | _Check) -> int:
        if len(self._states) >= MOST_STATES:
            raise NoTable("it is too long")
        self._states.append(state)
        return len(self._states) - 1

    def _build(self, node: Part, then: int) -> int:
        """The state from which threads read the node, and go on with `then`."""
        match node:
            case CharacterSet(sources):
                return self._add(_Read(self.kinds.mask(sources), then))
            case Sequence(parts):
                for part in reversed(parts):
                    then = self._build(part, then)
                return then
            case Either(options):
                return self._add(_Try(tuple(self._build(option, then) for option in options)))
            case Look():
                mask = self.kinds.mask(node.sources) | (EDGE if node.edge else 0)
                mask = mask ^ _ALL if node.negated else mask
                return self._add(_Check(mask, then, node.behind, self.kinds.mask(node.unclear)))
            case Repeat():
                return self._repeat(node, then)

    def _repeat(self, node: Repeat, then: int) -> int:
        if node.most is not None and node.most < node.least:
            raise NoTable("a repetition of fewer than it needs")
        end = then
        if node.mode == "possessive":
            assert isinstance(node.body, CharacterSet)
            end = self._add(_Check(_ALL ^ self.kinds.mask(node.body.sources), then))
        if node.most is None:
            entry = self._loop(node, end)
        else:
            entry = then
            for _ in range(node.most - node.least):
                entry = self._one_more(node, entry, end)
        for _ in range(node.least):
            entry = self._build(node.body, entry)
        return entry

    def _loop(self, node: Repeat, end: int) -> int:
        again = self._add(_Try(()))
        body = self._build(node.body, again)
        self._states[again] = _Try((end, body) if node.mode == "lazy" else (body, end))
        return again

    def _one_more(self, node: Repeat, behind: int, end: int) -> int:
        body = self._build(node.body, behind)
        return self._add(_Try((end, body) if node.mode == "lazy" else (body, end)))


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
