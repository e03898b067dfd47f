"""The merge table as rows: what each cell of it says, whatever file it is written to.

Merges are the rows of step 1, 2, 3 and so on. The base symbols they grew from are there
before the first step, so they are rows of step 0; the special tokens as well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from bpe_core.history.alphabet import Alphabet
from bpe_core.history.history import NOTHING, History, Int32s, Int64s, Pair, Step
from bpe_core.history.token_texts import BUDGET, LONGEST_SHOWN, TokenTexts, of_tokens
from bpe_core.kernels.readiness import Policy
from bpe_core.support.honest_text import escape

Cell = int | str | bool | None

KERNELS = Policy("bpe_core.formats.compiled_rows", small=20_000, small_when_loaded=500)  # steps


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


AT_ONCE = 512  # rows
Column = list[Any]  # a cell of each of several rows
TEXT_COLUMNS = frozenset({"left_text", "right_text", "token", "runner_up_left_text", "runner_up_right_text"})


@dataclass(frozen=True)
class Layout:
    """How a file lays out the row of a merge: cells, each behind a text of its own."""

    before: Mapping[str, str]  # what stands before the cell of each column, in their order
    behind: str  # the last cell
    nothing: str  # in the place of a cell that says nothing
    spelled: Callable[[str], str]  # the text of a token as the file has it


class MergeRows:
    """Makes the row of each merge; absurdly long tokens are cut off."""

    def __init__(self, alphabet: Alphabet) -> None:
        self.written = TokenTexts(alphabet, escape)
        self.decoded = TokenTexts(alphabet, _hex, decoded=True)

    def add(self, pairs: Iterable[Pair]) -> None:
        """Enter the tokens that join these pairs; a step that drops one makes none."""
        joined = [pair for pair in pairs if pair[1] != NOTHING]
        self.written.add(joined)
        self.decoded.add(joined)

    def row(self, merge: Step) -> Row:
        """The row of a merge, whose token must be entered."""
        left, right, id, count = merge.left, merge.right, merge.id, merge.count
        text, joins = self.written.text, right >= 0
        other_left, other_right = merge.runner_up or (NOTHING, NOTHING)
        return Row(  # in their order: with their names it takes twice as long
            merge.step,
            left,
            right if joins else None,
            id,
            text[left],
            text[right] if joins else None,
            text[id],
            self.decoded.text[id],
            self.decoded.lengths[id],
            count if count >= 0 else None,
            merge.tied if count >= 0 else None,
            other_left if other_left >= 0 else None,
            other_right if other_right >= 0 else None,
            text[other_left] if other_left >= 0 else None,
            text[other_right] if other_right >= 0 else None,
            merge.runner_up_count if other_left >= 0 and merge.runner_up_count >= 0 else None,
            merge.tokens_left if merge.tokens_left >= 0 else None,
            "merge" if joins else "drop",
        )


def merge_rows(history: History) -> Iterator[Row]:
    """A row a merge, each as `MergeRows.row` makes it."""
    for columns in merge_columns(history):
        yield from map(Row._make, zip(*columns, strict=True))


def merge_columns(history: History, spelled: Callable[[str], str] | None = None) -> Iterator[list[Column]]:
    """The cells of the same rows, some rows at a time and column by column, at a fraction of the time.

    The texts of tokens are `spelled` as the file has them, once a token instead of once a cell.
    """
    rows = of_tokens("rows", history, lambda: _with_tokens(history))
    texts = list(map(spelled, rows.written.text)) if spelled else rows.written.text
    for start in range(0, len(history), AT_ONCE):
        yield _columns(history, slice(start, start + AT_ONCE), rows, texts)


def rows_by_kernels(history: History, layout: Layout, numbers: Int64s | None) -> Iterator[tuple[int, bytes]] | None:
    """The rows laid out, and after how many steps they end; None where they are to be made of the columns above.

    So it is of few, and of tokens too long to be shown. `numbers` are those of the tokens, if they have a column.
    """
    if not KERNELS.chooses(len(history)) or not _are_shown_whole(history):
        return None
    from bpe_core.formats.compiled_rows import written_rows  # loads machine code

    return written_rows(history, layout, numbers)


def _are_shown_whole(history: History) -> bool:
    lengths = [history.token_lengths(list(map(len, one))) for one in (history.alphabet.texts, history.alphabet.decoded)]
    return all(int(one.max(initial=0)) <= LONGEST_SHOWN and int(one.sum()) <= BUDGET for one in lengths)


def _with_tokens(history: History) -> MergeRows:
    rows = MergeRows(history.alphabet)
    for start in range(0, len(history), AT_ONCE):
        rows.add(history.pairs(start, start + AT_ONCE))
    return rows


def _columns(history: History, steps: slice, rows: MergeRows, texts: list[str]) -> list[Column]:
    left, right, count, other_left, other_right, other_count, tokens_left = (
        column[steps] for column in history.columns
    )
    has_other = other_left >= 0
    other_right = np.where(has_other, other_right, NOTHING)
    ids = history.ids[steps]
    tied = history.tied[steps].tolist()
    return [
        [*range(steps.start + 1, steps.start + 1 + len(left))],
        left.tolist(),
        _numbers(right),
        ids.tolist(),
        _picked(texts, left),
        _picked(texts, right),
        _picked(texts, ids),
        _picked(rows.decoded.text, ids),
        _picked(rows.decoded.lengths, ids),
        _numbers(count),
        [is_tied if known else None for is_tied, known in zip(tied, (count >= 0).tolist(), strict=True)],
        _numbers(other_left),
        _numbers(other_right),
        _picked(texts, other_left),
        _picked(texts, other_right),
        _numbers(np.where(has_other, other_count, NOTHING)),
        _numbers(tokens_left),
        ["merge" if joins else "drop" for joins in (right >= 0).tolist()],
    ]


def _numbers(column: Int32s | Int64s) -> Column:
    """None for what is nothing."""
    told = column.tolist()
    return told if column.min() >= 0 else [one if one >= 0 else None for one in told]


def _picked(of_tokens: list[Any], ids: Int32s | Int64s) -> Column:
    """What is told of each of these tokens."""
    if ids.min() >= 0:
        return [of_tokens[id] for id in ids.tolist()]
    return [of_tokens[id] if id >= 0 else None for id in ids.tolist()]


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
    of_symbols = [len(text) for text in history.alphabet.texts]
    lengths = history.token_lengths(of_symbols)
    specials = [len(special.encode()) for special in history.recipe.special_tokens]
    if max([*specials, int(lengths.max(initial=0))]) <= LONGEST_SHOWN and int(lengths.sum()) <= BUDGET:
        return []  # nearly all tables, without a text
    cut = TokenTexts.of(history, escape).cut_off
    if not cut:
        return []
    return [
        f"{len(cut):,} tokens, the first with the id {cut[0]:,}, are longer than {LONGEST_SHOWN:,} bytes; "
        "their text is cut off in the table (their parts are not, so it can be read back)."
    ]


def _hex(raw: bytes) -> str:
    return raw.hex(" ")
