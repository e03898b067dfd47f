"""From the description of a pattern to the table that finds its words.

A pattern is described by one function: in which state is the machine behind a character of
some kind, and where is the text cut because of it? The machine only looks back: where an
expression looks ahead, the machine goes on and cuts later, before an earlier character.

    >>> def step(state: str, kind: Kind) -> Transition:
    ...     '''Cuts before every space.'''
    ...     return Transition("inside", CUT_HERE if kind is Kind.SPACE and state != START else 0)
    >>> ScanTable.of(step).cuts(b"to be or not")
    [0, 2, 5, 8, 12]
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from bpe_core.text.scanner.kinds import Kind, kind_of_code_point

# Where to cut because of the character now seen; in the order the places stand in the text.
CUT_MARK = 1  # before the character that was marked
CUT_PREVIOUS = 2  # before the character before this one
CUT_HERE = 4  # before this character
MARK_HERE = 8  # remember this character: the text may have to be cut before it later
STATE_SHIFT = 4  # above these bits an entry of the table holds the next state's row

ROW = 32  # entries a state has in the table, of which KINDS are used

START = "start"


@dataclass(frozen=True)
class Transition:
    """What a character does to the machine."""

    state: str
    actions: int = 0

    def and_also(self, actions: int) -> Transition:
        return Transition(self.state, self.actions | actions)


StepFunction = Callable[[str, Kind], Transition]


@dataclass(frozen=True, eq=False)
class ScanTable:
    """A pattern as arrays, for the kernels and for everybody who wants to know where it cuts.

    `entries[row + kind]` holds the actions and, shifted by STATE_SHIFT, the row of the next
    state; row 0 is the start of a text. The column `Kind.END` tells what the end does.
    """

    entries: npt.NDArray[np.uint16]
    kind_of_code_point: npt.NDArray[np.uint8] = field(repr=False)
    drops_blanks: bool = False  # words that begin with a blank are no words

    @classmethod
    def of(cls, step: StepFunction, *, drops_blanks: bool = False) -> ScanTable:
        return cls(_table(step), kind_of_code_point(), drops_blanks)

    def cuts(self, text: bytes) -> list[int]:
        """Where the words of a text start, and its end: how the table is read, step by step."""
        cuts, row, mark, previous, here = [0], 0, 0, 0, 0
        for character in text.decode():
            entry = int(self.entries[row + int(self.kind_of_code_point[ord(character)])])
            cuts += _places(entry, mark, previous, here)
            mark = here if entry & MARK_HERE else mark
            row = entry >> STATE_SHIFT
            previous, here = here, here + len(character.encode())
        cuts += _places(int(self.entries[row + Kind.END]), mark, previous, here)
        return [*cuts, len(text)] if text else cuts


def _places(entry: int, mark: int, previous: int, here: int) -> Iterable[int]:
    places = ((CUT_MARK, mark), (CUT_PREVIOUS, previous), (CUT_HERE, here))
    return (place for action, place in places if entry & action)


def by_line(step: StepFunction) -> StepFunction:
    """The same pattern for a text whose lines are texts of their own."""
    ended = "\n"  # behind the name of a state: a newline was the last character

    def step_by_line(state: str, kind: Kind) -> Transition:
        if not state.endswith(ended):
            after = step(state, kind)
        else:
            line_end = step(state.removesuffix(ended), Kind.END)
            after = line_end if kind is Kind.END else step(START, kind).and_also(line_end.actions | CUT_HERE)
        return Transition(after.state + ended, after.actions) if kind is Kind.NEWLINE else after

    return step_by_line


def _table(step: StepFunction) -> npt.NDArray[np.uint16]:
    """The rows of all states that can be reached, in the order they are met."""
    rows = {START: 0}
    entries: list[int] = []
    for state in (waiting := [START]):  # grows while it is walked
        row = [0] * ROW
        for kind in Kind:
            after = step(state, kind)
            if kind is Kind.END:  # the end of the text is a cut anyhow, and nothing comes behind
                row[kind] = after.actions & (CUT_MARK | CUT_PREVIOUS)
                continue
            if after.state not in rows:
                rows[after.state] = ROW * len(rows)
                waiting.append(after.state)
            row[kind] = rows[after.state] << STATE_SHIFT | after.actions
        entries += row
    return np.array(entries, np.uint16)
