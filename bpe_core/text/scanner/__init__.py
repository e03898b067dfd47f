r"""The scanner. It splits a text by a table that is made from a pattern, without a regular expression.

`kernels.scan` reads the table.

>>> table_of(r"(?:a|bc)+").cuts(b"abca, cab"), why_no_table(r"(?<=the )\w+")
([0, 4, 7, 8, 9], 'a lookbehind of more than one character')
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import product

import numpy as np
import numpy.typing as npt
import regex

from bpe_core.text.older_unicode import with_older_values
from bpe_core.text.patterns import NAMED_PATTERNS
from bpe_core.text.scanner.machine import TABLES_KEPT, ScanTable, TooLarge, by_line

IOTA = "\u0345"  # a combining mark; the only mark that equals a letter, ι, if case is ignored
IGNORES_CASE = re.compile(r"\(\?[a-z]*i")

__all__ = ["ScanTable", "characters_beginning_matches", "table_for", "table_of", "why_no_table"]


def characters_beginning_matches(expression: str) -> npt.NDArray[np.bool_] | None:
    """Return a mask of the code points that begin a match wherever they occur.

    The only exception is a place where an earlier match continues. Return None if the neighbours of a character
    decide whether it begins a match.
    """
    from bpe_core.text.scanner.automaton import Automaton
    from bpe_core.text.scanner.expression import NoTable, read_expression

    try:
        automaton = Automaton(read_expression(expression))
        begins = {kind: automaton.begins_match(kind) for kind in automaton.kinds.numbers}
    except (NoTable, RecursionError):
        return None
    if None in begins.values():
        return None
    by_kind = np.zeros(max(begins) + 1, np.bool_)
    by_kind[[kind for kind, is_one in begins.items() if is_one]] = True
    return by_kind[automaton.kinds.of_code_point]


def table_for(pattern: str, unit: str = "file", custom: str = "", *, older: bool = False) -> ScanTable | None:
    """Return the table for a named or custom pattern. Return None if there can be no table.

    `unit` says whether a file or a line is the unit that is split.
    """
    if named := NAMED_PATTERNS.get(pattern):
        return table_of(named.expression, unit, drops_blanks=named.drops_whitespace, older=older)
    return table_of(custom, unit, older=older)


def table_of(
    expression: str, unit: str = "file", *, drops_blanks: bool = False, older: bool = False
) -> ScanTable | None:
    """Return the scan table for an expression of `regex`, or None if the expression cannot become a table.

    If `older` is true, newer characters count as not assigned, as in an older version of Unicode.
    """
    table = _translated(expression, unit, drops_blanks, older)
    return table if isinstance(table, ScanTable) else None


def why_no_table(expression: str, unit: str = "file") -> str:
    """Return a phrase for the part of the expression that no table can express, such as "a lookbehind".

    Return an empty string if there is a table.
    """
    reason = _translated(expression, unit, False, False)
    return "" if isinstance(reason, ScanTable) else reason


def _splits_beside_iota(expression: str, table: ScanTable) -> bool:
    """Return whether the table and `regex` split in the same way around U+0345, a mark whose upper case is a letter.

    If case is ignored, `regex` may skip this mark.
    """
    for before, behind in product(("", "ა", "a", "1", " ", IOTA), repeat=2):
        text = f"{before}{IOTA}{behind}"
        places = {0, len(text), *(place for match in regex.finditer(expression, text) for place in match.span())}
        if {len(text[:place].encode()) for place in places} != {*table.cuts(text.encode())}:
            return False
    return True


@lru_cache(maxsize=TABLES_KEPT)
def _translated(expression: str, unit: str, drops_blanks: bool, older: bool) -> ScanTable | str:
    from bpe_core.text.scanner.automaton import Automaton, Machine  # slow to load, and stored tables need none
    from bpe_core.text.scanner.expression import NoTable, read_expression

    is_plain = unit == "file" and not older and not drops_blanks
    if not is_plain and IGNORES_CASE.search(expression):
        alone = _translated(expression, "file", False, False)
        if isinstance(alone, str):
            return alone
    try:
        automaton = Automaton(read_expression(expression), drops_blanks=drops_blanks)
        machine = Machine(automaton)
        kinds = automaton.kinds.of_code_point
        kinds = with_older_values(kinds, expression) if older else kinds
        if unit == "line":
            step = by_line(machine.step, machine.start)
            start = (machine.start, False)
            return ScanTable.of(step, start, kinds, drops_blanks=drops_blanks)
        table = ScanTable.of(machine.step, machine.start, kinds, drops_blanks=drops_blanks)
        if is_plain and IGNORES_CASE.search(expression) and not _splits_beside_iota(expression, table):
            return "U+0345 when case is ignored"
        return table
    except NoTable as why:
        return str(why)
    except TooLarge:
        return "the table of the pattern would be too large"
    except RecursionError:
        return "groups inside groups"
