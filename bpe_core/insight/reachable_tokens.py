"""Which tokens of a whole table no text can produce, with the reason of each.

`reachability` tells it of one token, with a text that does. Here it is told of all, some hundred thousand in a moment:
what the merges make of each token's own symbols is found for all of them together, as if these were words. Only where
that is not the end of it is a token asked about by itself.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np

from bpe_core.errors import TooLarge
from bpe_core.history.history import Bools, History, Int32s, Int64s
from bpe_core.insight.ranked_words import ranks_of
from bpe_core.insight.reachability import reachability
from bpe_core.learning.layout import SEPARATOR
from bpe_core.learning.methods import has_ranks
from bpe_core.progress import CancelCheck, Progress, ProgressReport, ignore_progress, never_cancelled, while_wanted
from bpe_core.records import dataclass
from bpe_core.segmenting.by_priority import JoinedWords
from bpe_core.segmenting.cutting import Cutting
from bpe_core.segmenting.merging import Merges
from bpe_core.segmenting.tokenizer import Tokenizer
from bpe_core.token_texts import TokenBytes

REPORTED = 4_096  # tokens between two reports
MOST_ASKED = 50  # tokens that are asked about one by one, some 0.1 s each where no text is found
MOST_SYMBOLS = 2**26  # of all tokens together; tables of texts never come near

Kind = Literal["falls apart", "no text", "not found"]


@dataclass(frozen=True)
class Reason:
    """Why no text becomes a token."""

    kind: Kind
    pieces: tuple[int, ...] = ()  # what its own symbols become

    def told(self, name: Callable[[int], str]) -> str:
        """In a few words."""
        if self.kind == "falls apart" and len(self.pieces) == 1:
            return "another token is made of the same pair before"
        if self.kind == "falls apart":
            return "its own text falls into " + " | ".join(map(name, self.pieces))
        return "no text holds these bytes" if self.kind == "no text" else "no text was found that becomes it"


def unreachable_tokens(
    history: History, *, progress: ProgressReport = ignore_progress, cancelled: CancelCheck = never_cancelled
) -> dict[int, Reason]:
    """The learned tokens that no text becomes.

    >>> from bpe_core.alphabet import Alphabet
    >>> from bpe_core.recipe import Recipe
    >>> pairs = [(97, 98), (98, 99), (97, 257), (0xE2, 0xE2), (98, 32)]
    >>> history = History.from_pairs(Recipe.preset("gpt2"), Alphabet.of_bytes(), pairs)
    >>> for id, reason in unreachable_tokens(history).items():
    ...     print(id, reason.told(str))
    258 its own text falls into 256 | 99
    259 no text holds these bytes
    260 no text was found that becomes it
    """
    learned = np.flatnonzero(is_learned(history)).tolist()
    if has_ranks(history) and history.only_joins:
        apart = _that_fall_apart(history, cancelled)
    elif history.joining is not None and history.recipe.base == "bytes" and history.recipe.marker == "none":
        apart = _that_are_not_joined(history, learned, progress, cancelled)
    else:
        doubtful = _not_from_their_texts(history, learned, progress, cancelled)
        return dict(sorted(_asked_one_by_one(history, doubtful, cancelled).items()))
    whole = [id for id in learned if id not in apart]
    doubtful = _in_no_single_word(history, whole, progress, cancelled)
    return dict(sorted((apart | _asked_one_by_one(history, doubtful, cancelled)).items()))


def first_learned(history: History) -> int:
    """The first id that is none of a base symbol, without which some texts could not be cut at all."""
    return sum(symbol.kind != "seed" for symbol in history.alphabet.symbols)


def is_learned(history: History) -> Bools:
    """Of each token but the special ones whether it was learned and is still there.

    It was not chosen by hand, nor is it a mere step without an id.
    """
    found: Bools = np.arange(history.first_special) >= first_learned(history)
    if not history.only_joins:
        found[np.setdiff1d(np.arange(history.first_special), history.vocabulary)] = False
    if history.joining is not None:
        found[[*history.joining.hidden, *history.joining.found_first]] = False
    return found


def _that_are_not_joined(
    history: History, ids: list[int], progress: ProgressReport, cancelled: CancelCheck
) -> dict[int, Reason]:
    """The same of a table with an order of its own, whose words are bytes as they are."""
    texts, words, found = TokenBytes(history), JoinedWords(history), dict[int, Reason]()
    for done, id in enumerate(while_wanted(ids, cancelled, every=64)):
        if done % REPORTED == 0:
            progress(Progress("looking whether they are joined", done, len(ids), "tokens"))
        pieces = tuple(words.cut(texts[id], len(history)).ids)
        if pieces != (id,):
            found[id] = Reason("falls apart", pieces)
    return found


def _that_fall_apart(history: History, cancelled: CancelCheck) -> dict[int, Reason]:
    """Those whose own symbols become something else."""
    base, lengths = len(history.alphabet), history.token_lengths()[len(history.alphabet) :]
    starts = np.concatenate([np.ones(1, np.int64), 1 + np.cumsum(np.minimum(lengths, MOST_SYMBOLS) + 1)])
    if starts[-1] > MOST_SYMBOLS:
        raise TooLarge(f"The tokens have more than {MOST_SYMBOLS:,} symbols together, too many to look at.")
    if not len(history):
        return {}
    ranks = ranks_of(_laid_out(history, starts, cancelled), history)
    inside = np.ones(int(starts[-1]), np.bool_)
    inside[0] = inside[starts[:-1]] = inside[starts[1:] - 1] = False
    last = np.maximum.reduceat(np.where(inside, ranks, -1), starts[:-1])
    odd = np.flatnonzero(last != np.arange(len(history))).tolist()
    merges, found = Merges(history), dict[int, Reason]()
    for row in while_wanted(odd, cancelled, every=64):
        merged = merges.merged(history.symbols_of(base + row))
        found[base + row] = Reason("falls apart", tuple(merges.tokens(merged, len(history))))
    return found


def _laid_out(history: History, starts: Int64s, cancelled: CancelCheck) -> Int32s:
    """The symbols of each token, a separator behind each and one in front: what a token is made of stands there."""
    symbols = np.full(int(starts[-1]), SEPARATOR, np.int32)
    base, places = len(history.alphabet), starts.tolist()
    for row, parts in while_wanted(enumerate(history.pairs()), cancelled):
        place = places[row]
        for part in parts:
            if part < base:
                symbols[place] = part
                place += 1
            else:
                first, end = places[part - base], places[part - base + 1] - 1
                symbols[place : place + end - first] = symbols[first:end]
                place += end - first
    return symbols


def _in_no_single_word(history: History, ids: list[int], progress: ProgressReport, cancelled: CancelCheck) -> list[int]:
    """Those whose text is not one word, as the pattern parts texts: another text may leave it together."""
    texts, cutting, marks = TokenBytes(history), Cutting(history.recipe), history.recipe.marker != "none"
    found = []
    for done, id in enumerate(while_wanted(ids, cancelled)):
        if done % REPORTED == 0:
            progress(Progress("looking whether texts become them", done, len(ids), "tokens"))
        raw = texts[id].strip(b" ") if marks else texts[id]
        if not _is_one_word(raw, cutting):
            found.append(id)
    return found


def _is_one_word(raw: bytes, cutting: Cutting) -> bool:
    """Whether bytes are a text of one word."""
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        return False
    if cutting.recipe.normalizes and any(part != text for part, _ in cutting.normalized_parts(text, ())):
        return False
    return next(iter(cutting.words(text)), "") == text


def _not_from_their_texts(
    history: History, ids: list[int], progress: ProgressReport, cancelled: CancelCheck
) -> list[int]:
    """Those that are not cut from their own texts."""
    texts, tokenizer = TokenBytes(history), Tokenizer(history)
    found = []
    for done, id in enumerate(while_wanted(ids, cancelled, every=64)):
        if done % REPORTED == 0:
            progress(Progress("looking whether texts become them", done, len(ids), "tokens"))
        if id not in tokenizer.encode(texts[id].decode(errors="replace")):
            found.append(id)
    return found


def _asked_one_by_one(history: History, ids: list[int], cancelled: CancelCheck) -> dict[int, Reason]:
    """In many texts. When too many were looked for in vain, the others are given the benefit of the doubt."""
    tokenizer, merges, found, in_vain = Tokenizer(history), Merges(history), dict[int, Reason](), 0
    for id in while_wanted(ids, cancelled, every=1):
        reached = reachability(history, id, tokenizer=tokenizer, merges=merges, cancelled=cancelled)
        if reached.kind != "reachable":
            found[id] = Reason("no text" if reached.kind == "unreachable" else "not found")
            in_vain += reached.kind == "not found"
        if in_vain == MOST_ASKED:
            break
    return found
