"""The audit of a table, which uses several criteria to find the tokens that a user should check.

Some criteria need only the table. Others need the places where a corpus uses each token (`TokenPlaces`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Self, get_args

import numpy as np

from bpe_core.counting.words import WordTable
from bpe_core.history.history import NO_NUMBER, History
from bpe_core.history.token_texts import LONGEST_SHOWN, TokenTexts
from bpe_core.insight.reachability import Reason, is_learned, unreachable_tokens
from bpe_core.insight.tokenized_words import TokenizedWords
from bpe_core.kernels import TRANSPARENT
from bpe_core.methods.kit.scripts import COMMON, scripts_of
from bpe_core.support.arrays import Bools, Int64s
from bpe_core.support.data_table import DataTable
from bpe_core.support.progress import ALONE, CancelCheck, Work, never_cancelled, while_wanted

Criterion = Literal["scaffold", "unreachable", "unused", "rare", "one-file", "broken", "long", "mixed"]

RARE = 5  # a token with a smaller count is rare
LONG = 20  # characters; a longer token is very long
SCAFFOLD_SHARE = 100  # of this many occurrences at most one remains

# A sentence for each, in the order of display.
CRITERIA: dict[Criterion, str] = {
    "scaffold": (
        f"The token occurs almost only in longer tokens: of {SCAFFOLD_SHARE} occurrences in the corpus, at most one "
        "remains."
    ),
    "unreachable": "No text produces this token: its text is split into other tokens, or cannot occur.",
    "unused": "The token never occurs in the corpus, and longer tokens made of this token never occur.",
    "rare": f"The token occurs in the corpus, but fewer than {RARE} times (or your limit), and is not a scaffold.",
    "one-file": "The token occurs only in one file of a corpus of several files.",
    "broken": "The token begins or ends inside a character.",
    "long": f"The token has more than {LONG} characters (or your limit).",
    "mixed": "The token has letters of several scripts. The scripts of Japanese count as one script.",
}
OF_CORPUS: tuple[Criterion, ...] = ("scaffold", "unused", "rare", "one-file")  # these need a corpus
assert tuple(CRITERIA) == get_args(Criterion)

NO_FILE = -1
SEVERAL_FILES = -2


@dataclass(frozen=True, eq=False)
class TokenPlaces:
    counts: Int64s
    files: Int64s  # the only file that holds each token, or NO_FILE or SEVERAL_FILES
    file_count: int

    @classmethod
    def of(cls, tables: Sequence[WordTable], history: History, *, cancelled: CancelCheck = never_cancelled) -> Self:
        words = WordTable.merged(tables)
        only_in = _only_files(words, tables, cancelled)
        cut = TokenizedWords.of(words, history.recipe, history, cancelled=cancelled)
        ids, word_of = cut.tokens_in_words(len(history))
        counts = np.zeros(history.index_count, np.int64)
        np.add.at(counts, ids, words.counts[word_of])
        lowest = np.full(history.index_count, len(tables))
        highest = np.full(history.index_count, NO_FILE)
        np.minimum.at(lowest, ids, only_in[word_of])
        np.maximum.at(highest, ids, only_in[word_of])
        files = np.where(counts == 0, NO_FILE, np.where(lowest == highest, highest, SEVERAL_FILES))
        return cls(counts, files, len(tables))


def _only_files(words: WordTable, tables: Sequence[WordTable], cancelled: CancelCheck) -> Int64s:
    if len(tables) == 1:
        return np.zeros(len(words), np.int64)
    file_of: dict[bytes, int] = {}
    for file, table in enumerate(tables):
        for word, _ in while_wanted(table, cancelled):
            file_of[word] = file if file_of.setdefault(word, file) == file else SEVERAL_FILES
    return np.fromiter((file_of[word] for word, _ in while_wanted(words, cancelled)), np.int64, len(words))


@dataclass(frozen=True, eq=False)
class Audit:
    meets: Mapping[Criterion, Bools]  # for each known criterion, which tokens meet it
    reasons: Mapping[int, Reason]  # why a token is unreachable
    lengths: Int64s  # in characters; each byte outside a whole character counts as one
    places: TokenPlaces | None

    def ids(self, *criteria: Criterion) -> list[int]:
        ids: list[int] = np.flatnonzero(np.any([self.meets[criterion] for criterion in criteria], axis=0)).tolist()
        return ids

    @property
    def totals(self) -> dict[Criterion, int]:
        return {criterion: int(np.count_nonzero(met)) for criterion, met in self.meets.items()}

    def criteria_of(self, id: int) -> list[Criterion]:
        return [criterion for criterion, met in self.meets.items() if met[id]]


def audit(
    history: History, places: TokenPlaces | None = None, *, rare: int = RARE, long: int = LONG, work: Work = ALONE
) -> Audit:
    """Test every token by every criterion, and return the result.

    Without `places`, only the criteria that need no corpus are tested. A token is rare if the corpus uses it fewer than
    `rare` times, and long if it has more than `long` characters.
    """
    texts = TokenTexts(history.alphabet, decoded=True)  # a word marker does not count for the length
    texts.grow(history)
    broken, lengths, mixed = how_written(texts.raw, work.cancelled)
    reasons = unreachable_tokens(history, work)
    meets: dict[Criterion, Bools] = {}
    if places is not None:
        meets |= _in_corpus(history, places, rare)
    unreachable = np.zeros(history.first_special, np.bool_)
    unreachable[list(reasons)] = True
    learned = is_learned(history)
    there = np.zeros(history.first_special, np.bool_)
    there[history.vocabulary] = True
    meets |= {"unreachable": unreachable, "broken": broken & learned}
    meets |= {"long": there & (lengths > long), "mixed": there & mixed}
    return Audit(
        {criterion: meets[criterion] for criterion in CRITERIA if criterion in meets}, reasons, lengths, places
    )


def _in_corpus(history: History, places: TokenPlaces, rare: int) -> dict[Criterion, Bools]:
    counts = places.counts[: history.first_special]
    learned = is_learned(history)
    made = _times_made(history, counts) if history.only_joins else counts
    scaffold = learned & (made > counts) & (counts * SCAFFOLD_SHARE <= made)
    meets: dict[Criterion, Bools] = {"scaffold": scaffold} if history.only_joins else {}
    meets |= {"unused": learned & (made == 0), "rare": learned & ~scaffold & (made > 0) & (counts < rare)}
    if places.file_count > 1:
        meets["one-file"] = learned & (places.files[: history.first_special] >= 0)
    return meets


def _times_made(history: History, counts: Int64s) -> Int64s:
    """Return how often each token is made while the corpus is encoded.

    `counts` holds how often each token is in the final result. A token also counts if it is joined into a longer
    token later.
    """
    made = counts.tolist()
    base = len(history.alphabet)
    for token, (left, right) in reversed(list(enumerate(history.pairs(), base))):
        times = made[token]
        made[left] += times
        made[right] += times
    return np.array(made, np.int64)


def how_written(texts: Sequence[bytes], cancelled: CancelCheck) -> tuple[Bools, Int64s, Bools]:
    broken = np.zeros(len(texts), np.bool_)
    mixed = np.zeros(len(texts), np.bool_)
    lengths = np.zeros(len(texts), np.int64)
    known: list[str] = []
    for id, raw in while_wanted(enumerate(texts), cancelled):
        try:
            text = raw.decode()
        except UnicodeDecodeError:
            broken[id] = len(raw) < LONGEST_SHOWN or _is_broken_before_its_end(raw)
            text = raw.decode(errors="surrogateescape")
        lengths[id] = len(text)
        known.append(text)
    several = [id for id, text in enumerate(known) if not text.isascii() and lengths[id] > 1]
    script_of = _scripts([known[id] for id in several])
    for id in while_wanted(several, cancelled):
        mixed[id] = len({script_of[character] for character in known[id]} - {COMMON, TRANSPARENT}) > 1
    return broken, lengths, mixed


def _is_broken_before_its_end(raw: bytes) -> bool:
    """Return whether a truncated text contains invalid UTF-8 that does not result from the truncation."""
    return max(raw[:-3].decode(errors="surrogateescape")[:-3]) >= "\udc80"


def _scripts(texts: Sequence[str]) -> dict[str, int]:
    different = "".join({character for text in texts for character in text})
    return dict(zip(different, scripts_of(different).tolist(), strict=True))


ORDERS = ("id", "token", "length", "count", "criteria", "reason")


class AuditRow(NamedTuple):
    id: int | None  # the id in the file, if it has one
    token: str
    hex: str
    characters: int
    times: int | None  # the count in the corpus, if there is one
    criteria: tuple[str, ...]
    reason: str  # why no text becomes it
    only_in: str  # the only file that holds it


class AuditRows:
    def __init__(self, history: History, audit: Audit, files: Sequence[str] = ()) -> None:
        self._texts = TokenTexts.of(history)
        self._audit = audit
        self._numbers = history.numbers
        self._files = files

    def row(self, id: int) -> AuditRow:
        audit = self._audit
        reason = self._audit.reasons.get(id)
        file = -1 if audit.places is None or len(self._files) < 2 else int(audit.places.files[id])
        return AuditRow(
            id=None if self.number(id) == NO_NUMBER else self.number(id),
            token=self._texts.text[id],
            hex=self._texts.raw[id].hex(" "),
            characters=int(audit.lengths[id]),
            times=None if audit.places is None else int(audit.places.counts[id]),
            criteria=tuple(audit.criteria_of(id)),
            reason="" if reason is None else reason.sentence(self._texts.text.__getitem__),
            only_in=self._files[file] if file >= 0 else "",
        )

    @property
    def texts(self) -> list[str]:
        return self._texts.text

    def number(self, id: int) -> int:
        return id if self._numbers is None else int(self._numbers[id])

    def in_order(self, ids: Iterable[int], by: str, *, from_end: bool = False) -> list[int]:
        """Return the ids sorted by one of `ORDERS`. If `from_end` is true, the largest values come first.

        Tokens with equal values keep their order.
        """
        return sorted(ids, key=self._key(by), reverse=from_end)

    def _key(self, by: str) -> Callable[[int], Any]:
        """Return a sort key: a function from the index of a token to the value by which the token is sorted.

        The function does not build the rows, because this takes too long for a hundred thousand tokens.
        """
        audit = self._audit
        places = self._audit.places
        if by == "token":
            return self.texts.__getitem__
        if by == "reason":
            files = [0] * len(audit.lengths) if places is None else places.files.tolist()
            return lambda id: (audit.reasons[id].kind if id in audit.reasons else "", files[id])
        columns = {"length": audit.lengths}
        if places is not None:
            columns["count"] = places.counts
        if by == "criteria":
            columns[by] = (1 << np.arange(len(audit.meets))) @ np.array(list(audit.meets.values()))
        return columns[by].tolist().__getitem__ if by in columns else self.number


def table_of(rows: Iterable[AuditRow]) -> DataTable:
    listed = list(rows)
    return DataTable({name: [row[place] for row in listed] for place, name in enumerate(AuditRow._fields)})


def never_used(
    words: WordTable, old: History, grown: History, new_ids: Int64s, *, cancelled: CancelCheck = never_cancelled
) -> list[int]:
    """Return the learned tokens of `old` that the words do not use, neither before nor after the table grew.

    `old` is the table before it grew, and `grown` is the table afterwards. `new_ids` holds the index in the grown
    table for each index of the old table.
    """
    learned = np.flatnonzero(is_learned(old))
    before, now = (TokenizedWords.of(words, grown.recipe, table, cancelled=cancelled) for table in (old, grown))
    used = before.counts(len(old))[learned] + now.counts(len(grown))[new_ids[learned]]
    ids: list[int] = learned[used == 0].tolist()
    return ids
