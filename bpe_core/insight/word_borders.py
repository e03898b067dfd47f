"""A check of whether a word can end between two tokens in any text.

If tokens have markers, a marker shows whether a word ends there. Without markers, the table of the pattern
shows whether the pattern can split between two texts in any surrounding text. Each operation of a file that
splits texts is examined in the same way.

    >>> from bpe_core.recipes.recipe import Recipe
    >>> borders = PatternBorders(scan_table(Recipe.preset("gpt2")))  # its pattern has a table
    >>> borders.can_split(b"lo", b"w"), borders.can_split(b"'", b"ll"), borders.can_split(b"\\xc3", b"\\xa9")
    (False, True, False)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np

from bpe_core.history.history import History
from bpe_core.history.token_texts import written
from bpe_core.insight.characters_by_bytes import first_and_last_character
from bpe_core.kernels.stored_tables import scan_table
from bpe_core.segmenting.cutting import Cutting
from bpe_core.support.arrays import Bools, Int64s
from bpe_core.text.older_unicode import NUMBERS
from bpe_core.text.preparation.expressions import Expression
from bpe_core.text.preparation.pre_tokenizers import (
    GPT2,
    BertPreTokenizer,
    ByteLevel,
    CharDelimiterSplit,
    Digits,
    Metaspace,
    PreTokenizer,
    Punctuation,
    Split,
    Whitespace,
    WhitespaceSplit,
)
from bpe_core.text.preparation.steps import is_pre_tokenizer
from bpe_core.text.scanner import ScanTable, table_of
from bpe_core.text.scanner.kinds import Kind
from bpe_core.text.scanner.machine import CUT_HERE, CUT_MARK, CUT_PREVIOUS, MARK_HERE, ROW, STATE_SHIFT
from bpe_core.text.stand_ins import byte_of_stand_in, stand_ins

Place = Literal["same word", "other words", "unknown"]
OUTSIDE = -2  # the place of a mark that does not matter
PATTERN_IS_SLOW = "only a regular expression can say where words end in a text"
DROPS_TEXT = "text between words is left out, so the texts of two neighbours need not touch"
SIGNS = r"[\p{P}\p{S}\p{M}]"  # more characters than the operation Punctuation splits at
SURE_SIGNS = r"[!-/:-@\[-`{-~]"  # some of them
SPLITS_MORE = {r"\s+$": r"\s"}  # expressions without a table, and others that split there and at more places
STEPS = "one of the operations of the file splits a text in a way that depends on more than the two tokens"


class WaysToMeet(NamedTuple):
    """The ways in which two tokens can be neighbours: in one word, or in two words."""

    in_one_word: bool
    in_two_words: bool


class WordBorders:
    """A check of two neighbouring tokens: can both be in the same word, and can a word end between them?"""

    def __init__(self, history: History) -> None:
        self._history = history
        self._recipe = history.recipe
        self._marker = self._recipe.marker_text.encode()

    def meeting(self, left: int, right: int) -> WaysToMeet:
        """Return how two tokens can be neighbours: in one word, in two words, in both ways or never.

        If it is not known whether a way is possible, the way counts as possible.
        """
        place = self._place_by_marker(left, right)
        if self.leaves_out:
            return WaysToMeet(True, bool(self._stages) and place != "same word")
        before, after = self.text_to_split(left), self.text_to_split(right)
        if not (before and after):
            return WaysToMeet(place != "other words", place != "same word")
        is_whole = self.is_of_bytes and not self._splits_bytes and is_inside_a_character(before, after)
        may_part = place != "same word" and not is_whole
        begun = self.only_continues(left) and not self._sign_of_each_word
        goes_on = self.never_ends(right)
        stages = self._stages

        def apart(stage: Stage) -> bool:
            return not (stage.always_splits([before], begun=begun) or stage.always_splits([after], goes_on=goes_on))

        in_two_words = False
        is_joint = True  # whether the two texts can still be in one piece
        for number, stage in enumerate(stages):
            if not is_joint:
                break
            if may_part and stage.can_split(before, after):
                stays = stage.drops or not stage.always_splits([before, after], begun=begun, goes_on=goes_on)
                further = stages[number:] if stage.drops else stages[number + 1 :]
                in_two_words = in_two_words or (stays and all(map(apart, further)))
            is_joint = not stage.always_splits([before + after], begun=begun, goes_on=goes_on)
        return WaysToMeet(is_joint and place != "other words", in_two_words)

    def only_continues(self, token: int) -> bool:
        """Return whether no word begins with this token."""
        if self._recipe.marker == "prefix":
            return not self._texts[token].startswith(self._marker)
        if self._has_continuations:
            return self._continues(token)
        sign = self._sign_of_each_word
        return bool(sign) and not self._texts[token].startswith(sign)

    def never_ends(self, token: int) -> bool:
        """Return whether no word ends with this token."""
        return self._recipe.marker in ("symbol", "glued") and not self._texts[token].endswith(self._marker)

    @property
    def leaves_out(self) -> bool:
        """Return whether some parts of a text get no token.

        If so, there may be other text between two neighbouring tokens.
        """
        return self._history.joining is not None and bool(self._history.joining.left_out)

    @cached_property
    def why_unknown(self) -> str:
        """Return a phrase that says why the ends of words are unknown, or an empty string if they are known."""
        known_by_marker = self._has_markers or self._sign_of_each_word
        return "" if known_by_marker else next((stage.reason for stage in self._stages if stage.reason), "")

    # -- by markers ------------------------------------------------------------------------

    @cached_property
    def _texts(self) -> list[bytes]:
        return written(self._history)

    @cached_property
    def _has_continuations(self) -> bool:
        return bool(self._history.alphabet.ids_of_kinds("continuation"))

    @property
    def _has_markers(self) -> bool:
        return self._recipe.marker in ("symbol", "glued", "prefix") or self._has_continuations

    def _place_by_marker(self, left: int, right: int) -> Place:
        if self._recipe.marker in ("symbol", "glued"):
            return "same word" if self.never_ends(left) else "other words"
        if self._recipe.marker == "prefix":
            return "same word" if self.only_continues(right) else "other words"
        if self._has_continuations:
            return "same word" if self._continues(right) else "unknown"
        sign = self._sign_of_each_word
        if sign:
            return "other words" if self._texts[right].startswith(sign) else "same word"
        return "unknown"

    def _continues(self, token: int) -> bool:
        """Return whether a token cannot begin a word, because it has a continuation marker such as `##`.

        A text may itself contain the characters of the marker. If the text `##ing` is a single word, this word may
        begin with the token `##ing`. In this case, return False.
        """
        alphabet = self._history.alphabet
        symbol = alphabet.symbols[self._history.symbols_of(token)[0]]
        if symbol.text == symbol.decoded or symbol.kind not in ("continuation", "seed"):
            return False
        text = self._texts[token].decode(errors="replace")
        return next(iter(self._cutting.words(text)), "") != text

    @cached_property
    def _cutting(self) -> Cutting:
        return Cutting(self._recipe)

    @cached_property
    def _sign_of_each_word(self) -> bytes:
        """Return the character that begins each word and occurs nowhere else, such as `▁`.

        Return an empty text if there is none.
        """
        last = self._steps[-1] if self._steps else None
        if isinstance(last, Metaspace) and last.split and last.prepend_scheme == "always":
            return last.replacement.encode()
        return b""

    # -- by tables -------------------------------------------------------------------------

    @cached_property
    def _steps(self) -> list[PreTokenizer]:
        return [step for step in self._recipe.preparation if is_pre_tokenizer(step)]

    def text_to_split(self, token: int) -> bytes:
        """Return the text of a token as it occurs in a text before splitting, without the marker that splitting adds.

        Return an empty text if the original text is not known.
        """
        if token in self._unknown:
            return b""
        text = self._without_marker(self._texts[token])
        return bytes(byte_of_stand_in()[sign] for sign in text.decode()) if self._shows_bytes else text

    def _without_marker(self, text: bytes) -> bytes:
        if self._recipe.marker in ("symbol", "glued"):
            return text.removesuffix(self._marker)
        if self._recipe.marker == "prefix" or self._has_continuations:
            return text.removeprefix(self._marker)
        return text

    @cached_property
    def _unknown(self) -> set[int]:
        """Return the tokens that stand for characters without a token, such as the unknown token."""
        return {index for index, merges in enumerate(self._history.alphabet.merging) if not merges}

    @property
    def _shows_bytes(self) -> bool:
        return self._recipe.shows_bytes and any(isinstance(step, ByteLevel) for step in self._steps)

    @property
    def is_of_bytes(self) -> bool:
        return self._recipe.base == "bytes" or self._shows_bytes

    @property
    def _splits_bytes(self) -> bool:
        """Return whether an operation splits a text after another operation has turned the text into bytes."""
        return any(isinstance(step, ByteLevel) for step in self._steps[:-1])

    @cached_property
    def _stages(self) -> list[Stage]:
        """Return the operations that split a text, in order."""
        if self._steps:
            return [*self._stages_of_steps()]
        if self._recipe.pattern == "none" and self._recipe.unit == "file":
            return []
        table = scan_table(self._recipe)
        if table is None:
            return [Stage(reason=PATTERN_IS_SLOW)]
        borders = PatternBorders(table)
        return [Stage(sure=borders, reason=DROPS_TEXT) if table.drops_blanks else Stage(borders, borders)]

    def _stages_of_steps(self) -> Iterator[Stage]:
        for place, step in enumerate(self._steps):
            sign = _sign_of_blanks(self._steps[place + 1 :])
            in_bytes = any(isinstance(earlier, ByteLevel) for earlier in self._steps[:place])
            splitting = splitting_of(step)
            complete, sure = (
                None if table is None else PatternBorders(table, in_bytes=in_bytes, unclear=sign)
                for table in map(_table_of, (splitting.complete, splitting.sure))
            )
            if complete is None and splitting.complete:
                yield Stage(sure=sure, reason=STEPS)
            elif splitting != StepSplitting():
                yield Stage(complete, sure, splitting.reason)


def _table_of(expression: str) -> ScanTable | None:
    return table_of(expression, older=True) if expression else None


def _sign_of_blanks(steps: Sequence[PreTokenizer]) -> str:
    """Return the character that the given operations write in place of a space, or put before a text.

    Return an empty string if there is no such character.
    """
    for step in steps:
        if isinstance(step, Metaspace):
            return step.replacement
        if isinstance(step, ByteLevel) and step.add_prefix_space:
            return " "
    return ""


class StepSplitting(NamedTuple):
    """The regular expressions that describe where an operation splits texts. Each match is a word."""

    complete: str = ""  # splits wherever the operation does, and maybe at more places
    sure: str = ""  # splits only where the operation does, and maybe at fewer places
    reason: str = ""  # why no expression is complete


def splitting_of(step: PreTokenizer) -> StepSplitting:
    match step:
        case ByteLevel(use_regex=True):
            return StepSplitting(GPT2, GPT2)
        case Metaspace(split=True):
            sign = step.replacement
            return StepSplitting(f"{sign}[^{sign}]*", f"{sign}[^{sign}]*")
        case ByteLevel() | Metaspace():
            return StepSplitting()
        case Digits():
            return StepSplitting(NUMBERS, NUMBERS if step.individual_digits else "")
        case Punctuation(behavior="Isolated"):
            return StepSplitting(SIGNS, SURE_SIGNS)
        case Punctuation(behavior="Removed") | BertPreTokenizer():
            return StepSplitting("", SURE_SIGNS, DROPS_TEXT)
        case Punctuation():
            return StepSplitting(SIGNS)
        case Whitespace():
            return StepSplitting("", r"\w+|[^\w\s]+", DROPS_TEXT)
        case WhitespaceSplit() | CharDelimiterSplit():
            return StepSplitting(reason=DROPS_TEXT)
        case Split():
            expression = Expression.of(step.pattern, step.is_regex).source
            if step.behavior == "Removed":
                return StepSplitting("", expression, DROPS_TEXT)
            more = SPLITS_MORE.get(step.pattern, expression)
            return StepSplitting(more, expression if step.behavior == "Isolated" else "")
    return StepSplitting(reason=STEPS)


@dataclass(frozen=True, eq=False)
class Stage:
    """An operation that splits texts, described by two tables of patterns.

    The table `complete` splits wherever the operation does, and possibly at more places. The table `sure` splits only
    where the operation does, but possibly at fewer places. Either may be None. `reason` says why there is no complete
    table.
    """

    complete: PatternBorders | None = None
    sure: PatternBorders | None = None
    reason: str = ""

    @property
    def drops(self) -> bool:
        """Return whether the operation may leave out text between two neighbouring words."""
        return self.complete is None

    def can_split(self, before: bytes, after: bytes) -> bool:
        return self.complete is None or self.complete.can_split(before, after)

    def always_splits(self, texts: Sequence[bytes], *, begun: bool = False, goes_on: bool = False) -> bool:
        return self.sure is not None and self.sure.always_splits(texts, begun=begun, goes_on=goes_on)


class PatternBorders:
    """A test of where a pattern can split a text, and where it must split.

    It tells whether the pattern splits between two given texts if a suitable text surrounds them. It also tells whether
    the pattern splits inside given texts no matter which text surrounds them.

    If `in_bytes` is true, the pattern reads byte characters instead of the text. `unclear` is a marker, or empty. It is
    inserted in place of a space or before a word, but only after the pattern has split the text. So the pattern never
    reads the marker, and a token that begins with it is also tested without it.
    """

    def __init__(self, table: ScanTable, *, in_bytes: bool = False, unclear: str = "") -> None:
        self._table = table
        self._in_bytes = in_bytes
        self._unclear = unclear

    def can_split(self, before: bytes, after: bytes) -> bool:
        left, right = self._read(before), self._read(after)
        if not self._in_bytes and is_inside_a_character(before, after):
            return False
        others = {right}
        if self._unclear:
            left = left.removeprefix(self._unclear)
            others.add(right.removeprefix(self._unclear))
        rows = self._reachable
        for columns in self._kinds(left):
            rows = self._after(rows, columns)
        return any(self._can_word_begin(rows, self._kinds(text) or [self._table.kinds]) for text in others)

    def _read(self, raw: bytes) -> str:
        return "".join(stand_ins()[byte] for byte in raw) if self._in_bytes else raw.decode(errors="surrogateescape")

    def _kinds(self, text: str) -> list[Sequence[int]]:
        """Return the kinds that each character of a text can have. The pattern's table treats all characters of a kind
        alike.

        The text may begin or end with escaped bytes, which are only a part of a character. For them, return the kinds
        of all characters that contain these bytes.
        """
        kinds = list[Sequence[int]]()
        part = b""  # the bytes of the character that is not whole
        for sign in text:
            byte = sign.encode(errors="surrogateescape") if "\ud800" <= sign <= "\udfff" else b""
            if part and not (byte and byte[0] & 0xC0 == 0x80):
                kinds.append(self._kinds_with(part))
                part = b""
            if byte:
                part += byte
            else:
                kinds.append(self._table.kinds if sign == self._unclear else (self._kind_of(ord(sign)),))
        return [*kinds, self._kinds_with(part)] if part else kinds

    def _kind_of(self, code_point: int) -> int:
        return int(self._table.kind_of_code_point[code_point])

    def _kinds_with(self, part: bytes) -> Sequence[int]:
        """Return the kinds of all characters that begin with the bytes `part`.

        If `part` is the end of a character, return all kinds.
        """
        if part[0] & 0xC0 == 0x80:
            return self._table.kinds
        ends = first_and_last_character(part)
        return [*map(int, np.unique(self._table.kind_of_code_point[ends[0] : ends[1] + 1]))]

    @cached_property
    def _entries(self) -> Int64s:
        return self._table.entries.reshape(-1, ROW).astype(np.int64)

    @cached_property
    def texts_to_states(self) -> Sequence[str]:
        """Return the shortest text that leads to each state of the table."""
        signs = {kind: _example_of_kind(kind, self._table) for kind in self._table.kinds}
        texts = {0: ""}
        for row, text in (waiting := [(0, "")]):  # grows during the loop
            for kind, sign in signs.items():
                following = int(self._entries[row, kind] >> STATE_SHIFT) // ROW
                if following not in texts:
                    texts[following] = text + sign
                    waiting.append((following, text + sign))
        return tuple(texts.values())

    def always_splits(self, texts: Sequence[bytes], *, begun: bool = False, goes_on: bool = False) -> bool:
        """Return whether the pattern splits at least one of these texts, whatever text comes before and after them.

        The texts follow one another. A split at the place where two of them meet does not count. If `begun` is true, a
        split before the first text counts, too. If `goes_on` is true, a split after the last text counts, too.
        """
        text = self._read(b"".join(texts))
        if self._unclear and self._unclear in text:
            return False
        kinds = self._kinds(text)
        inner = set(range(1, len(kinds)))
        if len(texts) > 1 and (self._in_bytes or not is_inside_a_character(*texts)):
            inner.discard(len(self._kinds(self._read(texts[0]))))
        inner |= ({0} if begun else set()) | ({len(kinds)} if goes_on else set())
        paths = {(int(row), OUTSIDE) for row in np.flatnonzero(self._reachable)}
        for place, columns in enumerate(kinds):
            paths = self._unsplit(paths, place, columns, inner)
        return not self._can_end_unsplit(paths, len(kinds), inner)

    def _unsplit(
        self, paths: set[tuple[int, int]], place: int, columns: Sequence[int], inner: set[int]
    ) -> set[tuple[int, int]]:
        """Continue each path with one more character. Drop the paths on which a word begins at an index in `inner`.

        A path shows how the pattern's automaton may have read the text. It is a pair: the automaton's state, and the
        index of the character that the automaton has last marked as a possible beginning of a word.

        `place` is the index of the new character, and `columns` are the kinds of characters that it can be.
        """
        after = set[tuple[int, int]]()
        for row, mark in paths:
            for column in columns:
                entry = int(self._entries[row, column])
                begins = ((CUT_HERE, place), (CUT_PREVIOUS, place - 1), (CUT_MARK, mark))
                if not any(entry & action and at in inner for action, at in begins):
                    marked = place if entry & MARK_HERE else mark
                    after.add(((entry >> STATE_SHIFT) // ROW, marked if marked in inner else OUTSIDE))
        return after

    def _can_end_unsplit(self, paths: set[tuple[int, int]], length: int, inner: set[int]) -> bool:
        """Return whether the text can be continued and ended so that no word begins at an index in `inner`.

        `paths` shows how the automaton of the pattern may have read the first `length` characters. A path is a pair:
        the state of the automaton, and the index of the character that the automaton has marked last, because a word
        may begin there.
        """
        seen = set[tuple[int, int, int]]()
        waiting = [(row, mark, length) for row, mark in paths]
        while waiting:
            path = waiting.pop()
            if path in seen:
                continue
            seen.add(path)
            row, mark, place = path
            if not (length in inner and place == length) and self._unsplit(
                {(row, mark)}, place, [int(Kind.END)], inner
            ):
                return True
            further = self._unsplit({(row, mark)}, place, self._table.kinds, inner)
            waiting += [(next_row, next_mark, min(place + 1, length + 2)) for next_row, next_mark in further]
        return False

    @cached_property
    def _reachable(self) -> Bools:
        """Return a mask of the states in the pattern's table that can be reached by reading some text."""
        rows = np.zeros(len(self._entries), np.bool_)
        rows[0] = True
        while True:
            more = rows | self._after(rows, self._table.kinds)
            if (more == rows).all():
                return rows
            rows = more

    def _after(self, rows: Bools, columns: Sequence[int]) -> Bools:
        after = np.zeros_like(rows)
        for column in columns:
            after[(self._entries[rows, column] >> STATE_SHIFT) // ROW] = True
        return after

    def _can_word_begin(self, rows: Bools, kinds: Sequence[Sequence[int]]) -> bool:
        """Return whether a word may begin at the first character of a token.

        `rows` is a mask of the states in which the automaton of the pattern may be before this character. The automaton
        divides characters into kinds. For each character of the token, `kinds` lists the kinds that it may have.
        """
        first, *others = kinds
        marked = np.zeros_like(rows)
        plain = np.zeros_like(rows)
        for column in first:
            entries = self._entries[rows, column]
            if (entries & CUT_HERE).any():
                return True
            behind = (entries >> STATE_SHIFT) // ROW
            is_marked = (entries & MARK_HERE) != 0
            marked[behind[is_marked]] = True
            plain[behind[~is_marked]] = True
        ahead = [*others, *[self._table.kinds] * len(self._entries)]  # any text may follow the token
        if self._has_action(plain | marked, CUT_PREVIOUS, ahead[0], is_last=not others):
            return True
        for place, columns in enumerate(ahead):
            if self._has_action(marked, CUT_MARK, columns, is_last=place >= len(others)):
                return True
            marked = self._still_marked(marked, columns)
            if not marked.any():
                break
        return False

    def _has_action(self, rows: Bools, action: int, columns: Sequence[int], *, is_last: bool) -> bool:
        columns = [*columns, *([int(Kind.END)] if is_last else [])]
        return bool((self._entries[rows][:, columns] & action).any())

    def _still_marked(self, rows: Bools, columns: Sequence[int]) -> Bools:
        after = np.zeros_like(rows)
        for column in columns:
            entries = self._entries[rows, column]
            after[(entries[(entries & MARK_HERE) == 0] >> STATE_SHIFT) // ROW] = True
        return after


def is_inside_a_character(before: bytes, after: bytes) -> bool:
    """Return whether the border between two texts is certainly inside a UTF-8 character."""
    if after[:1] and after[0] & 0xC0 == 0x80:
        return True
    for back in range(1, min(4, len(before)) + 1):
        byte = before[-back]
        if byte & 0xC0 != 0x80:
            length = 1 + (byte >= 0xC0) + (byte >= 0xE0) + (byte >= 0xF0)
            return length > back
    return False  # the end of a character whose beginning is not known


def _example_of_kind(kind: int, table: ScanTable) -> str:
    """Return an example of a character of this kind. Prefer a visible ASCII character."""
    codes = np.flatnonzero(table.kind_of_code_point == kind)
    visible = codes[(codes > ord(" ")) & (codes < 127)]
    return chr(int((visible if len(visible) else codes)[0]))
