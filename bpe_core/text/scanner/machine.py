r"""The table that splits texts by a pattern, and the functions that make and read the table.

The machine never looks ahead. If an expression looks ahead, the machine reads on, and later splits before an earlier
character. A step function describes the machine: for a state and a kind of character it returns the next state, and the
places at which the text is split.

    >>> def step(state: str, kind: int) -> Transition[str]:
    ...     '''Cuts before every newline.'''
    ...     return Transition("inside", CUT_HERE if kind == Kind.NEWLINE and state != "start" else 0)
    >>> kinds = np.array([kind == Kind.NEWLINE * ord("\n") for kind in range(128)], np.uint8)
    >>> ScanTable.of(step, "start", kinds).cuts(b"to be\nor not\n")
    [0, 5, 12, 13]
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

import numpy as np
import numpy.typing as npt

from bpe_core.text.scanner.kinds import BLANKS, Kind

# The actions at a character: the first three split the text at an offset
CUT_MARK = 1  # before the character that was marked
CUT_PREVIOUS = 2  # before the character before this one
CUT_HERE = 4  # before this character
MARK_HERE = 8  # remember this character: the text may have to be cut before it later
STATE_SHIFT = 4  # above these bits, an entry of the table holds the row of the next state
ACTIONS = (1 << STATE_SHIFT) - 1

ROW = 32  # entries of a state in the table, of which KINDS are used
MOST_STATES = (1 << 16 - STATE_SHIFT) // ROW
SEPARATOR = 0  # the character between texts that are joined
MOST_UNREDUCED = 20 * MOST_STATES
TABLES_KEPT = 16  # tables of a megabyte each that are kept in memory

State = TypeVar("State", bound=Hashable)
Numbers = npt.NDArray[np.int64]


class TooLarge(Exception):
    """An error that is raised if an automaton has too many states or character classes for a table."""


@dataclass(frozen=True)
class Transition(Generic[State]):
    """The next state of the machine after a character, and the actions that the machine takes at this character."""

    state: State
    actions: int = 0

    def and_also(self, actions: int) -> Transition[State]:
        return Transition(self.state, self.actions | actions)


StepFunction = Callable[[State, int], Transition[State]]


@dataclass(frozen=True, eq=False)
class ScanTable:
    """The table of a pattern as arrays.

    An entry, `entries[row + kind]`, holds the actions in its low bits. Its high bits, from STATE_SHIFT on, hold the row
    of the next state. Row 0 is the state at the start of a text. The column `Kind.END` is for the end of a text.
    """

    entries: npt.NDArray[np.uint16]
    kind_of_code_point: npt.NDArray[np.uint8] = field(repr=False)
    kinds: tuple[int, ...]  # all kinds that occur, without the end
    drops_blanks: bool = False  # text that begins with a blank is no word

    @classmethod
    def of(
        cls,
        step: StepFunction[State],
        start: State,
        kind_of_code_point: npt.NDArray[np.uint8],
        *,
        drops_blanks: bool = False,
    ) -> ScanTable:
        kinds = np.flatnonzero(np.bincount(kind_of_code_point)).tolist()
        following, actions = _reduce(*_explore(step, start, [*kinds, Kind.END]))
        numbers = _columns_of_kinds(kinds, following, actions, drops_blanks)
        if len(following) > MOST_STATES or max(numbers) >= Kind.END:
            raise TooLarge
        entries = np.zeros((len(following), ROW), np.uint16)
        entries[:, [*numbers, Kind.END]] = ROW * following << STATE_SHIFT | actions
        entries[:, Kind.END] &= CUT_MARK | CUT_PREVIOUS  # the end of the text is a cut anyway, and no character follows
        number_of = np.zeros(max(kinds) + 1, np.uint8)
        number_of[kinds] = numbers
        kind_of_code_point = number_of[kind_of_code_point]
        kind_of_code_point.flags.writeable = False
        return cls(entries.reshape(-1), kind_of_code_point, tuple(sorted(set(numbers))), drops_blanks)

    def for_joined_texts(self) -> ScanTable | None:
        """Return a table for texts that are joined by SEPARATOR. It splits each text as if the text were alone.

        Each separator is also a word. If the first text is empty, an empty word comes before the first separator.

        The new table needs one more state, which follows a separator. Return None if there is no room for it.
        """
        rows = self.entries.reshape(-1, ROW)
        if len(rows) == MOST_STATES:
            return None
        entries = np.concatenate([rows, rows[:1] | np.uint16(CUT_HERE)])
        entries[:, Kind.END] |= np.uint16(ROW * len(rows) << STATE_SHIFT | CUT_HERE)
        kind_of_code_point = self.kind_of_code_point.copy()
        kind_of_code_point[SEPARATOR] = Kind.END
        return ScanTable(entries.reshape(-1), kind_of_code_point, self.kinds, self.drops_blanks)

    def cuts(self, text: bytes) -> list[int]:
        """Return the offsets in bytes at which words begin, followed by the length of the text.

        This method is the reference implementation of a scan with the table.
        """
        cuts = [0]
        row = 0
        mark = 0
        previous = 0
        here = 0
        for character in text.decode():
            entry = int(self.entries[row + int(self.kind_of_code_point[ord(character)])])
            cuts += _places(entry, mark, previous, here)
            mark = here if entry & MARK_HERE else mark
            row = entry >> STATE_SHIFT
            previous = here
            here = here + len(character.encode())
        cuts += _places(int(self.entries[row + Kind.END]) & ~CUT_HERE, mark, previous, here)
        return [*cuts, len(text)] if text else cuts


def _places(entry: int, mark: int, previous: int, here: int) -> Iterable[int]:
    places = ((CUT_MARK, mark), (CUT_PREVIOUS, previous), (CUT_HERE, here))
    return (place for action, place in places if entry & action)


def by_line(step: StepFunction[State], start: State) -> StepFunction[tuple[State, bool]]:
    """Return a step function that treats each line as a separate text.

    A state of this function also stores whether a line has just ended.
    """

    def step_by_line(state: tuple[State, bool], kind: int) -> Transition[tuple[State, bool]]:
        inside, has_ended = state
        after = step(inside, Kind.END if has_ended else kind)
        if has_ended and kind != Kind.END:
            after = step(start, kind).and_also(after.actions | CUT_HERE)
        return Transition((after.state, kind == Kind.NEWLINE), after.actions)

    return step_by_line


def _explore(step: StepFunction[State], start: State, kinds: Sequence[int]) -> tuple[Numbers, Numbers]:
    """Find all states that can be reached from `start`. Return the next states and the actions of each state.

    The states are in the order in which they are found.
    """
    numbers = {start: 0}
    following: list[list[int]] = []
    actions: list[list[int]] = []
    for state in (waiting := [start]):  # grows during the loop
        steps = [step(state, kind) for kind in kinds]
        for after in steps[:-1]:
            if after.state not in numbers:
                numbers[after.state] = len(numbers)
                waiting.append(after.state)
        if len(numbers) > MOST_UNREDUCED:
            raise TooLarge
        following.append([*(numbers[after.state] for after in steps[:-1]), 0])
        actions.append([after.actions for after in steps])
    return np.array(following), np.array(actions)


def _reduce(following: Numbers, actions: Numbers) -> tuple[Numbers, Numbers]:
    """Merge states that have equal effects. Return smaller arrays of next states and actions."""
    actions = _without_useless_marks(following, actions)
    classes = np.zeros(len(following), np.int64)
    count = 0
    while True:
        numbers: dict[bytes, int] = {}
        rows = np.concatenate([actions, classes[following]], axis=1)
        classes = np.array([numbers.setdefault(row.tobytes(), len(numbers)) for row in rows])
        if len(numbers) == count:
            break
        count = len(numbers)
    firsts = np.unique(classes, return_index=True)[1]
    return classes[following[firsts]], actions[firsts]


def _columns_of_kinds(kinds: Sequence[int], following: Numbers, actions: Numbers, drops_blanks: bool) -> list[int]:
    """Return the column of each kind in the table. Kinds that no state distinguishes share a column."""
    blanks = iter(BLANKS)
    others = iter([0, *range(Kind.BLANK + 1 if drops_blanks else Kind.NEWLINE, ROW)])
    numbers: dict[tuple[bytes, bool], int] = {}
    joined = []
    for place, kind in enumerate(kinds):
        is_blank = drops_blanks and kind in BLANKS
        column = np.append(following[:, place], actions[:, place]).tobytes(), is_blank
        if column not in numbers:
            numbers[column] = next(blanks if is_blank else others, ROW)
        joined.append(numbers[column])
    return joined


def _without_useless_marks(following: Numbers, actions: Numbers) -> Numbers:
    """Return the actions without useless marks.

    A mark stores an offset at which the text may be split later. A mark is useless if no state splits there before the
    next mark is set.
    """
    asks = (actions & CUT_MARK != 0).any(axis=1)
    keeps = actions[:, :-1] & MARK_HERE == 0
    while True:
        more = asks | (asks[following[:, :-1]] & keeps).any(axis=1)
        if (more == asks).all():
            break
        asks = more
    return actions & np.where(asks[following], ACTIONS, ACTIONS & ~MARK_HERE)
