"""The merge table as rows for any file format. The rows of steps are numbered from 1. The rows of all other tokens have
step 0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from bpe_core.history.alphabet import Alphabet
from bpe_core.history.columns import SINGLE
from bpe_core.history.history import History, Int64s
from bpe_core.history.token_texts import BUDGET, LONGEST_SHOWN, TokenTexts, of_tokens
from bpe_core.kernels.readiness import use_machine_code
from bpe_core.kernels.stored_code import OPENING
from bpe_core.support.escaped_bytes import escape
from bpe_core.support.wording import count_text

ROWS_AT_ONCE = 4_096
BYTES_A_ROW = 40  # about


class Row(NamedTuple):
    """A row of the merge table. Each field is a column of the same name, and None is an empty cell."""

    step: int
    left: int | None = None
    right: int | None = None
    id: int | None = None
    left_text: str | None = None
    right_text: str | None = None
    token: str | None = None  # escaped text, with the word marker
    bytes: str | None = None  # the bytes that the token decodes to, in hex
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


COLUMNS_BUT_KIND = tuple(column for column in Row._fields if column != "kind")
TEXT_COLUMNS = frozenset({"left_text", "right_text", "token", "runner_up_left_text", "runner_up_right_text"})


@dataclass(frozen=True)
class Layout:
    """The layout of a row in a file: the fixed text before each cell and after the last cell."""

    before: Mapping[str, str]  # the text before the cell of each column, in their order
    behind: str  # the text after the last cell
    nothing: str  # the text of an empty cell
    spelled: Callable[[str], str]  # the text of a token in the file


KIND_OF: dict[int, str] = {right: kind for kind, right in SINGLE.items() if kind}


def merge_rows(history: History) -> Iterator[Row]:
    """Yield one row for each step. The text of an extremely long token is truncated."""
    if not len(history):
        return  # the texts of the tokens are not needed, and a table of pieces has very many
    text, in_hex, lengths = of_tokens("rows", history, lambda: _token_cells(history))
    columns = (*history.columns, history.indices, history.tied)
    for start in range(0, len(history), ROWS_AT_ONCE):
        some = zip(*(column[start : start + ROWS_AT_ONCE].tolist() for column in columns), strict=True)
        for step, row in enumerate(some, start + 1):
            left, right, count, other_left, other_right, other_count, tokens_left, id, tied = row
            yield Row(  # positional arguments, because keyword arguments take twice as long
                step,
                left,
                right if right >= 0 else None,
                id,
                text[left],
                text[right] if right >= 0 else None,
                text[id],
                in_hex[id],
                lengths[id],
                count if count >= 0 else None,
                tied if count >= 0 else None,
                other_left if other_left >= 0 else None,
                other_right if other_right >= 0 else None,
                text[other_left] if other_left >= 0 else None,
                text[other_right] if other_right >= 0 else None,
                other_count if other_left >= 0 and other_count >= 0 else None,
                tokens_left if tokens_left >= 0 else None,
                KIND_OF.get(right, "merge"),
            )


def _token_cells(history: History) -> tuple[list[str], list[str], list[int]]:
    texts = TokenTexts(history.alphabet, escape)
    texts.grow(history)
    written = texts.text
    texts = TokenTexts(history.alphabet, _hex, decoded=True)
    texts.grow(history)
    return written, texts.text, texts.lengths


def _hex(raw: bytes) -> str:
    return raw.hex(" ")


def rows_by_kernels(history: History, layout: Layout, numbers: Int64s | None) -> Iterator[tuple[int, bytes]] | None:
    """Yield the bytes of many rows at a time, together with the number of the last step in them.

    Return None if `merge_rows` must be used instead, because there are few steps or very long tokens.
    """
    if not use_machine_code(BYTES_A_ROW * len(history), OPENING) or not _are_shown_whole(history):
        return None
    from bpe_core.formats.compiled_rows import written_rows  # loads machine code

    return written_rows(history, layout, numbers)


def _are_shown_whole(history: History) -> bool:
    lengths = [
        history.token_lengths(list(map(len, column))) for column in (history.alphabet.texts, history.alphabet.decoded)
    ]
    return all(int(column.max(initial=0)) <= LONGEST_SHOWN and int(column.sum()) <= BUDGET for column in lengths)


def base_rows(alphabet: Alphabet) -> Iterator[Row]:
    for id, symbol in enumerate(alphabet.symbols):
        yield _row_of_step_0(id, symbol.text, symbol.decoded, symbol.kind)


def special_rows(history: History) -> Iterator[Row]:
    """Yield one row for each special token. The indices of special tokens come after the last merge."""
    for id, special in enumerate(history.recipe.special_tokens, start=history.first_special):
        yield _row_of_step_0(id, special.encode(), special.encode(), "special")


def _row_of_step_0(id: int, text: bytes, decoded: bytes, kind: str) -> Row:
    return Row(step=0, id=id, token=escape(text), bytes=_hex(decoded), length=len(decoded), kind=kind)


def too_long_to_show(history: History) -> list[str]:
    """Return a list with one warning if some tokens have texts that are too long for a row of the table.

    The rows of these tokens contain only the beginning of their texts. If there are no such tokens, the list is empty.
    """
    specials = (len(special.encode()) for special in history.recipe.special_tokens)
    if max(specials, default=0) <= LONGEST_SHOWN and _are_shown_whole(history):
        return []  # this is so for nearly all tables, and no text is made
    cut = TokenTexts.of(history, escape).cut_off
    if not cut:
        return []
    return [
        f"{count_text(len(cut), 'token is', 'tokens are')} longer than {LONGEST_SHOWN:,} bytes. The first has the id "
        f"{cut[0]:,}. The table truncates such long texts, but it can still be read back."
    ]
