"""The search for a text whose encoding contains a certain token. It also finds all tokens of a table without such a
text.

While a token is made, the merges inside it do not depend on the text around it. So if any word produces the token, the
token's own text alone produces it, too. In imported tables the text of a token may become other tokens. Then no text
produces the token. For a whole table, all tokens are tested together, and then the undecided tokens one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice, pairwise, product
from typing import Literal

import numpy as np

from bpe_core.errors import Cancelled, TooLarge
from bpe_core.history.history import History
from bpe_core.history.token_texts import TokenBytes
from bpe_core.insight.ranked_words import RankedWords, words_with
from bpe_core.methods.kit.histories import has_ranks
from bpe_core.methods.kit.layout import SEPARATOR
from bpe_core.methods.kit.life import Reachability
from bpe_core.methods.kit.tokenizer import Tokenizer
from bpe_core.segmenting.by_priority import JoinedWords
from bpe_core.segmenting.cutting import Cutting
from bpe_core.segmenting.merging import Merges
from bpe_core.support.arrays import Bools, Int32s, Int64s
from bpe_core.support.progress import ALONE, CancelCheck, Progress, Work, never_cancelled, while_wanted

MOST_TRIALS = 3_000  # about 0.1 s
TRIED_ALONE = 1
TRIED_AT_ONCE = 200
MOST_TRIED = 2**25  # characters and tokens of all trials of a table, some seconds
PRIVATE = "\ue000"  # a character that hardly any alphabet holds
AROUND = (PRIVATE, "\x00", "q", "e", "0", ".")  # characters before or behind a token, of which few are joined to it
CONTINUATIONS = (0x80, 0x90, 0x9F, 0xA0, 0xBF)  # at least one of these fits after every lead byte


@dataclass
class SearchBudget:
    """The number of texts that may still be tried for a table. The search for each token reduces this number."""

    left: int = MOST_TRIED


def reachability(
    history: History,
    token: int,
    at: int | None = None,
    *,
    corpus: RankedWords | None = None,
    tokenizer: Tokenizer | None = None,
    merges: Merges | None = None,
    budget: SearchBudget | None = None,
    cancelled: CancelCheck = never_cancelled,
) -> Reachability:
    """Search for a text that produces a token, and return the result.

    If the result is "not found", some texts were tried. In each of them, several tokens share the symbols of the token.
    """
    at = len(history) if at is None else at
    base = len(history.alphabet)
    if token >= base + at:
        return Reachability("not learned yet")
    symbols = history.symbols_of(token)
    if not has_ranks(history):
        return _by_encoding_texts(
            history, token, symbols, at, tokenizer or Tokenizer(history), budget or SearchBudget(), cancelled
        )
    kept = corpus if corpus is not None and corpus.has_merges_of(history) else None
    merges = kept.merges if kept is not None else merges or Merges(history)
    pieces = tuple(merges.tokens(merges.merged(symbols), at))
    if pieces != (token,):
        return Reachability("unreachable", pieces=pieces)
    tokenizer = tokenizer or (kept.tokenizer if kept is not None else Tokenizer(history))
    texts = _candidates(history, token, symbols, at, corpus)
    text = _first_producing(texts, token, at, tokenizer, budget or SearchBudget(), cancelled)
    if text is not None:
        return Reachability("reachable", text, pieces)
    if not _can_stand_in_text(history, symbols):
        return Reachability("unreachable", pieces=pieces)
    return Reachability("not found", pieces=pieces)


def _by_encoding_texts(
    history: History,
    token: int,
    symbols: list[int],
    at: int,
    tokenizer: Tokenizer,
    budget: SearchBudget,
    cancelled: CancelCheck,
) -> Reachability:
    """Search for a text that produces a token by encoding several texts.

    This serves methods that do not join pairs in the order of the steps. For them, encoding only the token's own text
    proves nothing.
    """
    at = history.last_step_beside(token, at)
    text = _first_producing(_candidates(history, token, symbols, at, None), token, at, tokenizer, budget, cancelled)
    return Reachability("not found" if text is None else "reachable", text)


def _first_producing(
    texts: Iterator[str], token: int, at: int, tokenizer: Tokenizer, budget: SearchBudget, cancelled: CancelCheck
) -> str | None:
    """Return the first text that produces a token, or None.

    The first text is tried alone, because it mostly succeeds. The other texts are tried in batches, which is faster.
    """
    left = MOST_TRIALS
    wanted = TRIED_ALONE
    while left > 0 and (some := list(islice(texts, min(left, wanted)))):
        if cancelled():
            raise Cancelled("Cancelled.")
        ids, offsets = _encoded(some, at, tokenizer)
        places = np.flatnonzero(ids == token)
        if len(places):
            return some[int(np.searchsorted(offsets, places[0], side="right")) - 1]
        budget.left -= max(sum(map(len, some)), len(ids))
        if budget.left < 0:
            break
        left -= len(some)
        wanted = TRIED_AT_ONCE
    return None


def _encoded(texts: list[str], at: int, tokenizer: Tokenizer) -> tuple[Int32s, Int64s]:
    if len(texts) == 1:
        ids = tokenizer.encode_to_array(texts[0], at=at)
        return ids, np.array([0, len(ids)])
    batch = tokenizer.encode_batch(texts, at=at)
    return batch.ids, batch.offsets


def _candidates(history: History, token: int, symbols: list[int], at: int, corpus: RankedWords | None) -> Iterator[str]:
    if corpus is not None:
        for held in words_with(corpus, corpus.occurrences(token), at).words[:20]:
            yield corpus.words.word(held.word).decode()
    kinds = [history.alphabet.symbols[id] for id in symbols]
    raw = b"".join(_without_marker(symbol.decoded, symbol.kind) for symbol in kinds)
    unknown = any(symbol.kind == "unknown" for symbol in kinds)
    texts: list[str] = []
    for text in [PRIVATE] if unknown else islice(completions(raw), 500):
        texts.append(text)
        yield text  # the first text is mostly right, and then no other is made
    symbols_around = history.alphabet.symbols[:MOST_TRIALS]  # more would take too long
    around = [*AROUND] + [
        symbol.decoded.decode(errors="ignore") for symbol in symbols_around if symbol.kind != "marker"
    ]
    for text in texts[:20]:
        for other in around:
            yield text + other
            yield other + text
    for text in texts[:5]:
        for first, last in product(around[:20], repeat=2):
            yield first + text + last


def _without_marker(decoded: bytes, kind: str) -> bytes:
    if kind == "marker":
        return b""
    return decoded[:-1] if kind == "glued" else decoded


def _can_stand_in_text(history: History, symbols: list[int]) -> bool:
    raw = b"".join(history.alphabet.symbols[id].decoded for id in symbols)
    return next(completions(raw), None) is not None


def completions(raw: bytes) -> Iterator[str]:
    r"""Yield texts whose UTF-8 contains these bytes. Incomplete characters at both ends are completed.

    >>> next(completions(b"low")), next(completions("é".encode()[1:])).encode()[1:] == "é".encode()[1:]
    ('low', True)
    >>> list(completions(b"\xff"))
    []
    """
    leads = (bytes([lead]) for lead in range(0xC2, 0xF5))
    heads = [b"", *leads]
    for missing in range(4):
        for head in heads if raw[:1] and raw[0] & 0xC0 == 0x80 else [b""]:
            for inner in range(3) if head else (0,):
                for middle in product(CONTINUATIONS, repeat=inner):
                    for tail in product(CONTINUATIONS, repeat=missing):
                        try:
                            yield (head + bytes(middle) + raw + bytes(tail)).decode()
                        except UnicodeDecodeError:
                            continue


REPORTED = 4_096  # tokens between two reports
MOST_ASKED = 50  # tokens tested one by one, about 0.1 s each if no text is found
MOST_WAYS = 2**33  # parts of all tokens that are examined as texts; about 10 s
MOST_SYMBOLS = 2**26  # symbols of all tokens together; far more than tables of texts have

Kind = Literal["falls apart", "no text", "not found"]


@dataclass(frozen=True)
class Reason:
    kind: Kind
    pieces: tuple[int, ...] = ()  # the tokens that its own text becomes

    def sentence(self, name: Callable[[int], str]) -> str:
        if self.kind == "falls apart" and len(self.pieces) == 1:
            return "an earlier merge makes another token of the same pair"
        if self.kind == "falls apart":
            return "its text is split into " + " | ".join(map(name, self.pieces))
        return "no text holds these bytes" if self.kind == "no text" else "no text was found that becomes this token"


def unreachable_tokens(history: History, work: Work = ALONE) -> dict[int, Reason]:
    """Return the learned tokens that no text produces, each with the reason.

    >>> from bpe_core.history.alphabet import Alphabet
    >>> from bpe_core.recipes.recipe import Recipe
    >>> pairs = [(97, 98), (98, 99), (97, 257), (0xE2, 0xE2), (98, 32)]
    >>> history = History.from_pairs(Recipe.preset("gpt2"), Alphabet.of_bytes(), pairs)
    >>> for id, reason in unreachable_tokens(history).items():
    ...     print(id, reason.sentence(str))
    258 its text is split into 256 | 99
    259 no text holds these bytes
    260 no text was found that becomes this token
    """
    learned = np.flatnonzero(is_learned(history)).tolist()
    if has_ranks(history) and history.only_joins:
        apart = _tokens_merged_otherwise(history, work.cancelled)
    elif history.joining is not None and history.recipe.base == "bytes" and history.recipe.marker == "none":
        apart = _tokens_not_joined(history, learned, work)
    else:
        doubtful = _not_from_their_texts(history, learned, work)
        return dict(sorted(_search_one_by_one(history, doubtful, work.cancelled).items()))
    whole = [id for id in learned if id not in apart]
    doubtful = _tokens_of_several_words(history, whole, work)
    return dict(sorted((apart | _search_one_by_one(history, doubtful, work.cancelled)).items()))


def first_learned(history: History) -> int:
    return sum(symbol.kind != "seed" for symbol in history.alphabet.symbols)


def is_learned(history: History) -> Bools:
    """Return a mask of the learned tokens.

    Special tokens, dropped tokens and tokens without an id do not count as learned.
    """
    mask: Bools = np.arange(history.first_special) >= first_learned(history)
    if not history.only_joins:
        mask[np.setdiff1d(np.arange(history.first_special), history.vocabulary)] = False
    if history.joining is not None:
        mask[[*history.joining.hidden, *history.joining.found_first]] = False
    return mask


def _with_progress(ids: list[int], work: Work, what: str = "looking for texts that become the tokens") -> Iterator[int]:
    for done, id in enumerate(while_wanted(ids, work.cancelled, every=64)):
        if done % REPORTED == 0:
            work.progress(Progress(what, done, len(ids), "tokens"))
        yield id


def _tokens_not_joined(history: History, ids: list[int], work: Work) -> dict[int, Reason]:
    texts = TokenBytes(history)
    words = JoinedWords(history)
    reason_of = dict[int, Reason]()
    for id in _with_progress(ids, work, "looking for texts that merge into the tokens"):
        pieces = tuple(words.cut(texts[id], len(history)).ids)
        if pieces != (id,):
            reason_of[id] = Reason("falls apart", pieces)
    return reason_of


def _tokens_merged_otherwise(history: History, cancelled: CancelCheck) -> dict[int, Reason]:
    base = len(history.alphabet)
    lengths = history.token_lengths()[len(history.alphabet) :]
    starts = np.concatenate([np.ones(1, np.int64), 1 + np.cumsum(np.minimum(lengths, MOST_SYMBOLS) + 1)])
    if starts[-1] > MOST_SYMBOLS:
        raise TooLarge(f"The tokens have more than {MOST_SYMBOLS:,} symbols in all, too many to compare.")
    if not len(history):
        return {}
    merges = Merges(history)
    ranks = merges.ranks_of(_symbols_in_a_row(history, starts, cancelled), Work(cancelled=cancelled))
    inside = np.ones(int(starts[-1]), np.bool_)
    inside[0] = inside[starts[:-1]] = inside[starts[1:] - 1] = False
    last = np.maximum.reduceat(np.where(inside, ranks, -1), starts[:-1])
    odd = np.flatnonzero(last != np.arange(len(history))).tolist()
    reason_of = dict[int, Reason]()
    for row in while_wanted(odd, cancelled, every=64):
        merged = merges.merged(history.symbols_of(base + row))
        reason_of[base + row] = Reason("falls apart", tuple(merges.tokens(merged, len(history))))
    return reason_of


def _symbols_in_a_row(history: History, starts: Int64s, cancelled: CancelCheck) -> Int32s:
    symbols = np.full(int(starts[-1]), SEPARATOR, np.int32)
    base = len(history.alphabet)
    places = starts.tolist()
    for row, parts in while_wanted(enumerate(history.pairs()), cancelled):
        place = places[row]
        for part in parts:
            if part < base:
                symbols[place] = part
                place += 1
            else:
                first = places[part - base]
                end = places[part - base + 1] - 1
                symbols[place : place + end - first] = symbols[first:end]
                place += end - first
    return symbols


def _tokens_of_several_words(history: History, ids: list[int], work: Work) -> list[int]:
    """Return the tokens whose text is split into several words when the text is encoded alone.

    In a longer text, the text of such a token may still be a part of one word.
    """
    texts = TokenBytes(history)
    cutting = Cutting(history.recipe)
    marks = history.recipe.marker != "none"
    raws = ((id, texts[id].strip(b" ") if marks else texts[id]) for id in _with_progress(ids, work))
    return [id for id, raw in raws if not _is_one_word(raw, cutting)]


def _is_one_word(raw: bytes, cutting: Cutting) -> bool:
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        return False
    if cutting.recipe.normalizes and any(part != text for part, _ in cutting.normalized_parts(text, ())):
        return False
    return next(iter(cutting.words(text)), "") == text


def _not_from_their_texts(history: History, ids: list[int], work: Work) -> list[int]:
    texts = TokenBytes(history)
    tokenizer = Tokenizer(history)
    if sum(len(texts[id]) ** 2 for id in ids) > MOST_WAYS:
        raise TooLarge(
            f"The tokens are too long: more than {MOST_WAYS:,} of their parts could be tokens, too many to compare."
        )
    left = ids
    for before, behind in [("", ""), *((sign, "") for sign in AROUND), *(("", sign) for sign in AROUND)]:
        if before + behind and len(left) <= MOST_ASKED:
            break  # these few are tried one by one
        doubtful = list[int]()
        for first in range(0, len(left), REPORTED):
            work.check()
            work.progress(Progress("looking for texts that become the tokens", first, len(left), "tokens"))
            some = left[first : first + REPORTED]
            batch = tokenizer.encode_batch([f"{before}{texts[id].decode(errors='replace')}{behind}" for id in some])
            spans = pairwise(batch.offsets.tolist())
            doubtful += [id for id, (start, stop) in zip(some, spans, strict=True) if id not in batch.ids[start:stop]]
        left = doubtful
    return left


def _search_one_by_one(history: History, ids: list[int], cancelled: CancelCheck) -> dict[int, Reason]:
    """Search for a text that produces a token, for one token after another. Return the tokens for which no text was
    found.

    If too many searches fail or too many texts were tried, the search ends. The remaining tokens are not returned.
    """
    tokenizer = Tokenizer(history)
    merges = Merges(history)
    reason_of = dict[int, Reason]()
    in_vain = 0
    budget = SearchBudget()
    for id in while_wanted(ids, cancelled, every=1):
        reached = reachability(history, id, tokenizer=tokenizer, merges=merges, budget=budget, cancelled=cancelled)
        if budget.left < 0:
            break
        if reached.kind != "reachable":
            reason_of[id] = Reason("no text" if reached.kind == "unreachable" else "not found")
            in_vain += reached.kind == "not found"
        if in_vain == MOST_ASKED:
            break
    return reason_of
