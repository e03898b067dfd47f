"""The pairs of tokens that can never be neighbours in an encoded text, and texts that show other pairs as neighbours.

    >>> from bpe_core.studies.making import train
    >>> study = train("low low lower lower", "gpt2", merges=4)  # l+o, lo+w, ␣+low, ␣low+e
    >>> together = PairsInTexts(study.inside.by_index.tokenizer)
    >>> [together.verdict(*pair).kind for pair in ((256, 119), (111, 119), (195, 195))]
    ['never', 'together', 'never']
    >>> together.verdict(108, 111).text  # by GPT-2's pattern, “'ll” is a word
    "'llo"

A proof has two parts. The first part is about two tokens in one word. No merge crosses the boundary between them, so
the merges inside each token do not depend on the text around it. So if the two tokens are neighbours in any word, they
are neighbours in the word that consists of only these two tokens. This word is encoded. The second part is about tokens
in two words. They are neighbours only if the pattern splits between them. The table of the pattern shows whether it
does so in any text. If each word ends with a marker, a token without the marker is in one word with the next token. If
neither is possible, no text contains the pair. All other pairs are tried in texts with different characters before and
after them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice, product
from typing import Literal

import numpy as np

from bpe_core.history.history import History
from bpe_core.history.token_texts import written
from bpe_core.insight.reachability import completions
from bpe_core.kernels.stored_tables import scan_table
from bpe_core.methods.kit.histories import first_stage_steps, has_ranks
from bpe_core.methods.kit.tokenizer import Tokenizer
from bpe_core.segmenting.merging import Merges
from bpe_core.support.arrays import Bools, Int64s
from bpe_core.text.scanner import ScanTable
from bpe_core.text.scanner.kinds import Kind
from bpe_core.text.scanner.machine import CUT_HERE, CUT_MARK, CUT_PREVIOUS, MARK_HERE, ROW, STATE_SHIFT

Verdict = Literal["together", "never", "not found"]
AROUND = ("", "a", " ", "\n", ".", "0", "'", "A", "é", "日")
BETWEEN = (b"", b" ")  # some tokenizers drop the space between two words
MOST_COMPLETED = 4  # texts that complete parts of characters
NEVER_SPLIT = "the pattern never splits between these tokens"
ANY = -1  # the kind of a character of which a token holds a part


@dataclass(frozen=True)
class PairVerdict:
    kind: Verdict
    sentence: str
    text: str | None = None  # a text in which they are side by side


class PairsInTexts:
    """An object that decides whether two tokens of a tokenizer can be neighbours in a text.

    Tokens are named by the engine's indices.
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.tokenizer = tokenizer
        self._history = tokenizer.history

    def verdict(self, left: int, right: int) -> PairVerdict:
        """Return whether two tokens can be neighbours in this order, with a sentence or a text that shows it."""
        is_learned = not (self.tokenizer.is_special(left) or self.tokenizer.is_special(right))
        if is_learned and self._history.recipe.base == "bytes":
            raw = self.tokenizer.token_bytes(left) + self.tokenizer.token_bytes(right)
            if next(completions(raw), None) is None:
                return PairVerdict("never", "No text in UTF-8 holds the bytes of these tokens side by side.")
        if is_learned and self._has_ranks:
            is_inside = self._are_in_one_word(left, right)
            knows_splits = self._knows_splits and not self._unknown & {left, right}
            joined = self._inside_a_word(left, right) if is_inside or knows_splits else ""
            if joined and (is_inside or not self._can_split_between(left, right)):
                why = "no word ends between them, as the marker of its end is missing" if is_inside else NEVER_SPLIT
                return PairVerdict("never", f"{joined}, and {why}.")
        text = self._text_with(left, right)
        if text is not None:
            return PairVerdict("together", "A text holds these tokens side by side.", text)
        return PairVerdict("not found", "No text was found that holds these tokens side by side.")

    # -- by texts --------------------------------------------------------------------------

    def _text_with(self, left: int, right: int) -> str | None:
        before, after = self.tokenizer.token_bytes(left), self.tokenizer.token_bytes(right)
        for between in BETWEEN:
            bare = [*islice(completions(before + between + after), MOST_COMPLETED)]
            around = [first + text + last for first, last in product(self._before, AROUND) for text in bare]
            for texts in (bare, around):
                text = self._first_with(texts, left, right)
                if text is not None:
                    return text
        return None

    def _first_with(self, texts: list[str], left: int, right: int) -> str | None:
        """Return the first of these texts in which two tokens are neighbours, or None."""
        batch = self.tokenizer.encode_batch(texts, allowed_special="all")
        together = (batch.ids[:-1] == left) & (batch.ids[1:] == right)
        together[batch.offsets[(batch.offsets > 0) & (batch.offsets < len(batch.ids))] - 1] = False
        if together.any():
            return texts[int(np.searchsorted(batch.offsets, int(together.argmax()), side="right")) - 1]
        return None

    @cached_property
    def _before(self) -> Sequence[str]:
        """Return the texts that are tried before a pair of tokens.

        Some of them are common characters. For each state of the pattern's table, another text is the shortest text
        that leads to this state.
        """
        table = self._table
        if table is None:
            return AROUND
        signs = {kind: _example_of_kind(kind, table) for kind in table.kinds}
        texts = {0: ""}
        for row, text in (waiting := [(0, "")]):  # grows during the loop
            for kind, sign in signs.items():
                following = int(self._entries[row, kind] >> STATE_SHIFT) // ROW
                if following not in texts:
                    texts[following] = text + sign
                    waiting.append((following, text + sign))
        return tuple(dict.fromkeys((*AROUND, *texts.values())))

    # -- by proof --------------------------------------------------------------------------

    @cached_property
    def can_prove(self) -> bool:
        """Return whether some pairs of this tokenizer can be proved to be never together.

        Pairs whose bytes are not UTF-8 are left out.
        """
        return self._has_ranks and (self._knows_splits or self._history.recipe.marker == "symbol")

    @cached_property
    def _has_ranks(self) -> bool:
        history = self._history
        return has_ranks(history) and history.only_joins and not first_stage_steps(history)

    @cached_property
    def _knows_splits(self) -> bool:
        """Return whether the table of the pattern shows where words begin in any text."""
        recipe = self._history.recipe
        has_plain_symbols = recipe.base == "bytes" or recipe.unknown == "unk"
        is_plain = recipe.marker == "none" and not (recipe.normalizes or recipe.preparation)
        return has_plain_symbols and is_plain and self._table is not None and not self._table.drops_blanks

    @cached_property
    def _unknown(self) -> set[int]:
        """Return the tokens that stand for any unknown character. The pattern's table does not describe them."""
        recipe = self._history.recipe
        text = recipe.unknown_text.encode()
        return {index for index, known in enumerate(self._texts) if recipe.base == "characters" and known == text}

    @cached_property
    def _texts(self) -> list[bytes]:
        return written(self._history)

    def _are_in_one_word(self, left: int, right: int) -> bool:
        """Return whether two neighbours must be in the same word, because no marker ends the word after the first."""
        recipe = self._history.recipe
        return recipe.marker == "symbol" and not self._texts[left].endswith(recipe.marker_text.encode())

    @cached_property
    def _merges(self) -> Merges:
        return Merges(self._history)

    @cached_property
    def _table(self) -> ScanTable | None:
        return scan_table(self._history.recipe)

    def _inside_a_word(self, left: int, right: int) -> str:
        """Return the beginning of a sentence that says why two tokens cannot be neighbours in one word.

        Return an empty text if they can be neighbours.
        """
        history = self._history
        symbols = [*history.symbols_of(left), *history.symbols_of(right)]
        merged = self._merges.merged(symbols)
        tokens = self._merges.tokens(merged, len(history))
        if tokens == [left, right]:
            return ""
        step = int(merged.ranks[len(history.symbols_of(left)) - 1]) + 1
        if step <= len(history):
            return f"Merge {step:,} joins these tokens inside a word"
        return "Inside a word one of the two is split into other tokens"

    def _can_split_between(self, left: int, right: int) -> bool:
        """Return whether the pattern splits between two tokens in some text."""
        before = self.tokenizer.token_bytes(left)
        after = self.tokenizer.token_bytes(right)
        kinds = self._kinds(before), self._kinds(after)
        if _ends_inside(before) or after[0] & 0xC0 == 0x80:
            return False  # inside a character
        rows = self._reachable
        for kind in kinds[0]:
            rows = self._after(rows, kind)
        return self._can_word_begin(rows, kinds[1])

    def _kinds(self, raw: bytes) -> list[int]:
        """Return the kind of each character of a token. The pattern's table treats all characters of a kind alike.

        An incomplete character at the start or end has the kind ANY.
        """
        table = self._table
        assert table is not None
        text = raw.decode(errors="surrogateescape")
        kinds: list[int] = []
        for sign in text:
            is_part = "\ud800" <= sign <= "\udfff"
            if not (is_part and kinds[-1:] == [ANY]):
                kinds.append(ANY if is_part else int(table.kind_of_code_point[ord(sign)]))
        return kinds

    @cached_property
    def _entries(self) -> Int64s:
        assert self._table is not None
        return self._table.entries.reshape(-1, ROW).astype(np.int64)

    @cached_property
    def _reachable(self) -> Bools:
        """Return a mask of the table's states that some text leads to."""
        rows = np.zeros(len(self._entries), np.bool_)
        rows[0] = True
        while True:
            more = rows | self._after(rows, ANY)
            if (more == rows).all():
                return rows
            rows = more

    def _columns(self, kind: int) -> Sequence[int]:
        assert self._table is not None
        return self._table.kinds if kind == ANY else (kind,)

    def _after(self, rows: Bools, kind: int) -> Bools:
        after = np.zeros_like(rows)
        for column in self._columns(kind):
            after[(self._entries[rows, column] >> STATE_SHIFT) // ROW] = True
        return after

    def _can_word_begin(self, rows: Bools, kinds: Sequence[int]) -> bool:
        """Return whether a word may begin at the first character of a token. `kinds` holds the kinds of the token's
        characters.

        `rows` is a mask of the states in which the scanner may be before this character.
        """
        first, *others = kinds
        marked = np.zeros_like(rows)
        plain = np.zeros_like(rows)
        for column in self._columns(first):
            entries = self._entries[rows, column]
            if (entries & CUT_HERE).any():
                return True
            behind = (entries >> STATE_SHIFT) // ROW
            is_marked = (entries & MARK_HERE) != 0
            marked[behind[is_marked]] = True
            plain[behind[~is_marked]] = True
        ahead = [*others, *[ANY] * len(self._entries)]  # any text may follow the token
        if self._has_action(plain | marked, CUT_PREVIOUS, ahead[0], is_last=not others):
            return True
        for place, kind in enumerate(ahead):
            if self._has_action(marked, CUT_MARK, kind, is_last=place >= len(others)):
                return True
            marked = self._still_marked(marked, kind)
            if not marked.any():
                break
        return False

    def _has_action(self, rows: Bools, action: int, kind: int, *, is_last: bool) -> bool:
        columns = [*self._columns(kind), *([int(Kind.END)] if is_last else [])]
        return bool((self._entries[rows][:, columns] & action).any())

    def _still_marked(self, rows: Bools, kind: int) -> Bools:
        after = np.zeros_like(rows)
        for column in self._columns(kind):
            entries = self._entries[rows, column]
            after[(entries[(entries & MARK_HERE) == 0] >> STATE_SHIFT) // ROW] = True
        return after


def _ends_inside(raw: bytes) -> bool:
    """Return whether these bytes end before their last UTF-8 character is complete."""
    for back in range(1, min(4, len(raw)) + 1):
        byte = raw[-back]
        if byte & 0xC0 != 0x80:
            length = 1 + (byte >= 0xC0) + (byte >= 0xE0) + (byte >= 0xF0)
            return length > back
    return True


def drawn_pairs(history: History, number: int, seed: int = 0) -> Iterator[tuple[int, int]]:
    """Yield `number` random pairs of tokens in use. All pairs are equally likely."""
    tokens = history.vocabulary
    chance = np.random.default_rng(seed)
    for left, right in chance.integers(len(tokens), size=(number, 2)).tolist():
        yield int(tokens[left]), int(tokens[right])


def _example_of_kind(kind: int, table: ScanTable) -> str:
    """Return an example of a character of this kind. Prefer a visible ASCII character."""
    codes = np.flatnonzero(table.kind_of_code_point == kind)
    visible = codes[(codes > ord(" ")) & (codes < 127)]
    return chr(int((visible if len(visible) else codes)[0]))
