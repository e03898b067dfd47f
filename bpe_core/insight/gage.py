"""What Gage's compressor did to the texts of a run: its blocks, and what the bytes around a place stand for.

After k steps a text is cut by the table of the block that step k belongs to. A place is inside what a byte stands for,
or will be when that table is complete, or no byte of the table stands for what is around it.

    >>> from bpe_core.reference.gage import train
    >>> blocks = WordTable.from_counts({"aaabdaaabac": 1, "ab": 3})
    >>> found = blocks_of_run(blocks, Recipe.preset("gage", block_size=8))
    >>> found.starts.tolist(), found.stops.tolist(), found.texts.tolist(), found.different.tolist()
    ([0, 8, 0], [8, 11, 2], [0, 0, 1], [3, 3, 2])
    >>> found.size_at_start  # each has an empty table and a length
    42
    >>> recipe = Recipe.preset("gage", min_frequency=2, ties="lowest-ids")
    >>> why = WhyGage("aaab", train(WordTable.from_counts({"aaabdaaabac": 1}), recipe))
    >>> [why.at_byte(byte).kind for byte in range(5)], why.at_byte(2, at=2).kind
    (['edge', 'joined', 'joined', 'joined', 'edge'], 'later')
    >>> name = {97: "a", 98: "b", 256: "aa", 257: "ab", 258: "aaab"}.__getitem__
    >>> why.sentence(why.at_byte(2), name)
    'In block 1 the byte 0xFD stands for `aaab`: it is 0xFF and 0xFE; 0xFF is `a` and `a`; 0xFE is `a` and `b`.'
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from bpe_core.counting.words import WordTable
from bpe_core.errors import Cancelled
from bpe_core.history.history import NOTHING, History
from bpe_core.history.token_texts import TokenTexts
from bpe_core.insight.reasons import Explain, Explanation, ShownToken, Way
from bpe_core.learning.gage.block_form import blocks_of, size_of_block
from bpe_core.recipes.recipe import Recipe
from bpe_core.segmenting.block_tables import BlockTables
from bpe_core.segmenting.boundaries import NEVER, PATTERN_CUT
from bpe_core.segmenting.cutting import Allowed, Cutting
from bpe_core.support.arrays import Int64s
from bpe_core.support.progress import CancelCheck, never_cancelled


@dataclass(frozen=True, eq=False)
class RunBlocks:
    """One row a block, numbered as the steps number them."""

    texts: Int64s  # the text each is a part of; the first is 0
    starts: Int64s  # in that text
    stops: Int64s
    different: Int64s  # bytes that occur in it
    size_at_start: int  # of all blocks before the first step, each as often as its text occurs

    def __len__(self) -> int:
        return len(self.starts)


def blocks_of_run(words: WordTable, recipe: Recipe, *, cancelled: CancelCheck = never_cancelled) -> RunBlocks:
    rows: list[tuple[int, int, int, int]] = []
    size = 0
    for text, (word, times) in enumerate(words):
        for start, stop in blocks_of(word, recipe.block_size, recipe.block_bytes):
            if cancelled():
                raise Cancelled("Cancelled.")
            rows.append((text, start, stop, len(set(word[start:stop]))))
            size += size_of_block((), stop - start) * times
    texts, starts, stops, different = np.array(rows, np.int64).reshape(-1, 4).T
    return RunBlocks(texts, starts, stops, different, size)


Kind = Literal["edge", "special", "joined", "later", "never"]
Name = Callable[[int], str]

MOST_TOLD = 12  # bytes of a chain


@dataclass(frozen=True)
class StandIn:
    """A byte that stands for a pair in one block."""

    byte: int
    token: int  # what it stands for
    step: int  # 1 is the first
    left: int  # tokens
    right: int


@dataclass(frozen=True)
class GageReason:
    """Why a text is cut at a place, or why it is not."""

    kind: Kind
    block: int = NOTHING  # whose table is in force; NOTHING before the first step
    token: int | None = None  # what the place lies in, or will lie in
    before: int | None = None  # the tokens at both sides of it where it is a cut
    after: int | None = None

    @property
    def is_cut(self) -> bool:
        return self.kind != "joined"


class WhyGage:
    """Answers for one text and one history."""

    def __init__(self, text: str, history: History, *, allowed_special: Allowed = ()) -> None:
        self.history, self._text = history, text
        cutting = Cutting(history.recipe)
        self._allowed = cutting.allowed(allowed_special)
        self._tables = BlockTables(history, cutting)
        self._length = len(text.encode())

    def at_byte(self, byte: int, at: int | None = None) -> GageReason:
        """What is true of the place before that byte of `text.encode()` after so many steps (all, if not said)."""
        at = len(self.history) if at is None else at
        block = self._tables.block(at)
        if byte <= 0 or byte >= self._length:
            return GageReason("edge", block)
        table = self._tables.table(at)
        found = table.encoder.segmentation(self._text, self._allowed)
        rank, own = int(found.ranks[byte]), at - table.first

        def token(place: int, steps: int) -> int:
            return int(self._tables.named(found.tokens_between(place, place + 1, steps).ids, table)[0])

        around = token(byte - 1, own), token(byte, own)
        if rank == PATTERN_CUT:
            return GageReason("special", block, None, *around)
        if rank == NEVER:
            return GageReason("never", block, None, *around)
        if rank < own:
            return GageReason("joined", block, around[0])
        return GageReason("later", block, token(byte, rank + 1), *around)

    def chain(self, token: int) -> list[StandIn]:
        """The byte that stands for a token, then those that it and the others stand for; empty for a byte itself."""
        found: list[StandIn] = []
        waiting = [token]
        while waiting and len(found) <= MOST_TOLD:
            one = waiting.pop(0)
            row = self.history.row_of(one)
            if row is None or any(one == told.token for told in found):
                continue
            left, right = self.history.pair(row)
            found.append(StandIn(int(self.history.reasons["byte"][row]), one, row + 1, left, right))
            waiting += left, right
        return found

    def sentence(self, reason: GageReason, name: Name) -> str:
        """The reason for a person; `name` gives the text of a token."""
        where = f"In block {reason.block + 1:,}"
        if reason.kind == "edge":
            return "The text begins or ends here."
        if reason.kind == "special":
            return "A special token stands here, which is compressed with nothing."
        if reason.kind == "joined":
            assert reason.token is not None  # or it would be of another kind
            return f"{where} {self._told(reason.token, name)}"
        assert reason.before is not None
        assert reason.after is not None
        around = f"`{name(reason.before)}` and `{name(reason.after)}`"
        if reason.kind == "later":
            assert reason.token is not None
            row = self.history.row_of(reason.token)
            assert row is not None  # what lies across a place was joined
            byte = int(self.history.reasons["byte"][row])
            token = name(reason.token)
            return (
                f"{where} the byte 0x{byte:02X} will stand for `{token}`, across this place, from step {row + 1:,} on."
            )
        if reason.block == NOTHING:
            return f"Nothing has been replaced yet, so {around} stand by themselves."
        return f"{where} no byte stands for anything that holds {around} side by side."

    def _told(self, token: int, name: Name) -> str:
        first, *others = self.chain(token)
        told = [f"it is {self._half(first.left, name)} and {self._half(first.right, name)}"]
        told += [
            f"0x{one.byte:02X} is {self._half(one.left, name)} and {self._half(one.right, name)}"
            for one in others[: MOST_TOLD - 1]
        ]
        rest = "; and so on" if len(others) >= MOST_TOLD else ""
        return f"the byte 0x{first.byte:02X} stands for `{name(token)}`: {'; '.join(told)}{rest}."

    def _half(self, token: int, name: Name) -> str:
        row = self.history.row_of(token)
        return f"`{name(token)}`" if row is None else f"0x{int(self.history.reasons['byte'][row]):02X}"


def explain(text: str, history: History, allowed: Allowed) -> Explain:
    """The reasons as explanations, with what each byte of a chain stands for."""
    why, names = WhyGage(text, history, allowed_special=allowed), TokenTexts.of(history).text

    def at_byte(byte: int, at: int) -> Explanation:
        reason = why.at_byte(byte, at)
        chain = [] if reason.token is None else why.chain(reason.token)
        ways = tuple(
            Way(
                f"0x{one.byte:02X}",
                (ShownToken(names[one.left]), ShownToken(names[one.right])),
                names[one.token],
                one.step,
            )
            for one in chain
        )
        sentence, steps = why.sentence(reason, names.__getitem__), tuple(one.step for one in chain[:1])
        return Explanation(reason.kind, reason.is_cut, sentence, steps, ways)

    return at_byte
