"""The merge table as rows: what each cell of it says, whatever file it is written to.

Merges are the rows of step 1, 2, 3 and so on. The base symbols they grew from are there
before the first step, so they are rows of step 0; the special tokens as well.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from bpe_core.alphabet import Alphabet
from bpe_core.history.history import NOTHING, History, Step
from bpe_core.honest_text import escape
from bpe_core.token_texts import LONGEST_SHOWN, TokenTexts

Cell = int | str | bool | None


class Row(NamedTuple):
    """One row; the names are the columns. None is an empty cell."""

    step: int
    left: int | None = None
    right: int | None = None
    id: int | None = None
    left_text: str | None = None
    right_text: str | None = None
    token: str | None = None  # as honest text, the word marker included
    bytes: str | None = None  # what the token decodes to, in hex
    length: int | None = None  # in bytes
    count: int | None = None  # type: ignore[assignment]  # hides tuple.count, which nobody needs here
    tied: bool | None = None
    runner_up_left: int | None = None
    runner_up_right: int | None = None
    runner_up_left_text: str | None = None
    runner_up_right_text: str | None = None
    runner_up_count: int | None = None
    tokens_left: int | None = None
    kind: str = "merge"


TEXT_COLUMNS = frozenset({"left_text", "right_text", "token", "runner_up_left_text", "runner_up_right_text"})


class MergeRows:
    """Makes the row of each merge; absurdly long tokens are cut off."""

    def __init__(self, alphabet: Alphabet) -> None:
        self.written = TokenTexts(alphabet, escape)
        self.decoded = TokenTexts(alphabet, _hex, decoded=True)

    def add(self, left: int, right: int) -> None:
        """Enter the token that joins the two; a step that drops one makes none."""
        if right != NOTHING:
            self.written.add([(left, right)])
            self.decoded.add([(left, right)])

    def row(self, merge: Step) -> Row:
        """The row of a merge, whose token must be entered."""
        other_left, other_right = map(_known, merge.runner_up or (NOTHING, NOTHING))
        text, right = self.written.text, _known(merge.right)
        return Row(
            step=merge.step,
            left=merge.left,
            right=right,
            id=merge.id,
            left_text=text[merge.left],
            right_text=None if right is None else text[right],
            token=text[merge.id],
            bytes=self.decoded.text[merge.id],
            length=self.decoded.lengths[merge.id],
            count=_known(merge.count),
            tied=merge.tied if merge.count >= 0 else None,
            runner_up_left=other_left,
            runner_up_right=other_right,
            runner_up_left_text=None if other_left is None else text[other_left],
            runner_up_right_text=None if other_right is None else text[other_right],
            runner_up_count=None if other_left is None else _known(merge.runner_up_count),
            tokens_left=_known(merge.tokens_left),
            kind="drop" if right is None else "merge",
        )


def merge_rows(history: History) -> Iterator[Row]:
    """A row a merge."""
    rows = MergeRows(history.alphabet)
    for merge in history:
        rows.add(merge.left, merge.right)
        yield rows.row(merge)


def base_rows(alphabet: Alphabet) -> Iterator[Row]:
    """A row a base symbol."""
    for id, symbol in enumerate(alphabet.symbols):
        yield Row(
            step=0,
            id=id,
            token=escape(symbol.text),
            bytes=symbol.decoded.hex(" "),
            length=len(symbol.decoded),
            kind=symbol.kind,
        )


def special_rows(history: History) -> Iterator[Row]:
    """A row a special token; their ids follow the last merge."""
    for id, special in enumerate(history.recipe.special_tokens, start=history.first_special):
        raw = special.encode()
        yield Row(step=0, id=id, token=escape(raw), bytes=raw.hex(" "), length=len(raw), kind="special")


def too_long_to_show(history: History) -> list[str]:
    """What the rows cannot say of a history, a sentence each."""
    cut = TokenTexts.of(history, escape).cut_off
    if not cut:
        return []
    return [
        f"{len(cut):,} tokens, the first with the id {cut[0]:,}, are longer than {LONGEST_SHOWN:,} bytes; "
        "their text is cut off in the table (their parts are not, so it can be read back)."
    ]


def _known(number: int) -> int | None:
    return number if number >= 0 else None


def _hex(raw: bytes) -> str:
    return raw.hex(" ")
