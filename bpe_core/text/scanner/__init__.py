r"""Where a pattern cuts a text, without regular expressions: one small table for each.

    expression.py     reads an expression, as far as a table can do the same
    kinds.py          what the pattern can tell a character to be
    threads.py        the expression as an automaton
    translating.py    all ways to match, followed at once: what a character does to the machine
    machine.py        how a description becomes a table, and how the table is read
    as_kept.py        the tables of named patterns, kept from one start to the next

The tables are plain arrays; `bpe_core.kernels.scan` reads them at full speed.

    >>> table_for("gpt2").cuts(b"It's  12 o'clock")
    [0, 2, 4, 5, 8, 10, 11, 16]
    >>> table_of(r"(?:a|bc)+").cuts(b"abca, cab"), why_no_table(r"(?<=the )\w+")
    ([0, 4, 7, 8, 9], 'looking behind at more than a character')
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import product

import numpy as np
import numpy.typing as npt

from bpe_core.text.older_unicode import as_before
from bpe_core.text.patterns import NAMED_PATTERNS
from bpe_core.text.scanner.machine import ScanTable, TooLarge, by_line

IOTA = "\u0345"  # stands below a Greek letter; the only mark that is ι, a letter, where case does not count
IGNORES_CASE = re.compile(r"\(\?[a-z]*i")

__all__ = ["ScanTable", "beginnings", "table_for", "table_of", "why_no_table"]


def beginnings(expression: str) -> npt.NDArray[np.bool_] | None:
    """By code point: whether a match begins there, if none is going on. None where that is not told by one character.

    >>> found = beginnings("ab*|c")
    >>> found is not None and bool(found[ord("a")]), beginnings("ab") is None
    (True, True)
    """
    from bpe_core.text.scanner.expression import NoTable, read_expression  # loaded for whoever needs a table
    from bpe_core.text.scanner.threads import Automaton

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


TABLES_KEPT = 16  # of a megabyte each


def table_for(pattern: str, unit: str = "file", custom: str = "", *, older: bool = False) -> ScanTable | None:
    """The table of a named pattern, or a person's own, for that unit of text; None where there can be none."""
    return _of_named(pattern, unit, older) if pattern in NAMED_PATTERNS else table_of(custom, unit, older=older)


@lru_cache(maxsize=TABLES_KEPT)
def _of_named(pattern: str, unit: str, older: bool) -> ScanTable | None:
    from bpe_core.text.scanner.as_kept import kept_table  # beside the kernels, which need a table

    named = NAMED_PATTERNS[pattern]
    found = kept_table(pattern, unit, older)
    return found or table_of(named.expression, unit, drops_blanks=named.drops_whitespace, older=older)


def table_of(
    expression: str, unit: str = "file", *, drops_blanks: bool = False, older: bool = False
) -> ScanTable | None:
    """The table of any expression that `regex` takes; None where only `regex` can tell what it matches.

    An older one takes characters that came to Unicode lately for none.
    """
    found = _translated(expression, unit, drops_blanks, older)
    return found if isinstance(found, ScanTable) else None


def why_no_table(expression: str, unit: str = "file") -> str:
    """In a few words what a table cannot do of this expression; empty where there is one."""
    found = _translated(expression, unit, False, False)
    return "" if isinstance(found, ScanTable) else found


def _cuts_beside_iota(expression: str, table: ScanTable) -> bool:
    """Whether it cuts as `regex` does around a mark whose twin is a letter: searching, that may pass over it."""
    import regex  # takes a while to load

    for before, behind in product(("", "ა", "a", "1", " ", IOTA), repeat=2):
        text = f"{before}{IOTA}{behind}"
        places = {0, len(text), *(place for found in regex.finditer(expression, text) for place in found.span())}
        if {len(text[:place].encode()) for place in places} != {*table.cuts(text.encode())}:
            return False
    return True


@lru_cache(maxsize=TABLES_KEPT)
def _translated(expression: str, unit: str, drops_blanks: bool, older: bool) -> ScanTable | str:
    from bpe_core.text.scanner.expression import NoTable, read_expression
    from bpe_core.text.scanner.threads import Automaton
    from bpe_core.text.scanner.translating import Machine

    is_plain = unit == "file" and not older and not drops_blanks
    if not is_plain and IGNORES_CASE.search(expression):
        alone = _translated(expression, "file", False, False)
        if isinstance(alone, str):
            return alone
    try:
        automaton = Automaton(read_expression(expression), drops_blanks=drops_blanks)
        machine, kinds = Machine(automaton), automaton.kinds.of_code_point
        kinds = as_before(kinds) if older else kinds
        if unit == "line":
            step, start = by_line(machine.step, machine.start), (machine.start, False)
            return ScanTable.of(step, start, kinds, drops_blanks=drops_blanks)
        found = ScanTable.of(machine.step, machine.start, kinds, drops_blanks=drops_blanks)
        if is_plain and IGNORES_CASE.search(expression) and not _cuts_beside_iota(expression, found):
            return "U+0345 where case does not count"
        return found
    except NoTable as why:
        return str(why)
    except TooLarge:
        return "its table would be too large"
    except RecursionError:
        return "groups inside groups"
