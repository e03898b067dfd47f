"""A search for a text whose encoding contains a certain token. It can also find all tokens of a table that have no such
text.

While a token is made, the merges inside it do not depend on the text around it. So if any word produces the token, the
token's own text alone produces it, too. In imported tables the text of a token may become other tokens. Then no text
produces the token. For a whole table, all tokens are tested together, and then the undecided tokens one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, product
from typing import Literal

import numpy as np

from bpe_core.errors import Cancelled, TooLarge
from bpe_core.history.history import History
from bpe_core.history.token_texts import decoded, is_text
from bpe_core.insight.ranked_words import RankedWords, words_with
from bpe_core.methods.kit.histories import has_ranks
from bpe_core.methods.kit.layout import SEPARATOR
from bpe_core.methods.kit.life import Reachability
from bpe_core.methods.kit.tokenizer import Tokenizer
from bpe_core.segmenting.by_priority import JoinedWords
from bpe_core.segmenting.merging import Merges
from bpe_core.support.arrays import Bools, Int32s, Int64s
from bpe_core.support.progress import ALONE, CancelCheck, Progress, Work, never_cancelled, while_wanted
from bpe_core.text.decoding import writes_bytes
from bpe_core.text.stand_ins import byte_of_stand_in

MOST_TRIALS = 3_000  # about 0.1 s
TRIALS_OF_MANY = 500  # for each token of a whole table
TRIED_ALONE = 1
TRIED_AT_ONCE = 200
MOST_TRIED = 2**25  # characters and tokens of all trials of a table, some seconds
PRIVATE = "\ue000"  # a character that hardly any alphabet holds
AROUND = (PRIVATE, "\x00", "q", "e", "0", ".")  # characters before or behind a token, of which few are joined to it
INSIDE_CHARACTERS = bytes(range(0x80, 0xC0))  # all bytes of UTF-8 that do not begin a character
CONTINUATIONS = (0x80, 0x90, 0x9F, 0xA0, 0xBF)  # at least one of these fits after every lead byte


@dataclass
class SearchBudget:
    """A limit on the texts that a search may try: `left` for the whole table, and `trials` for each token.

    The search for each token reduces `left`.
    """

    left: int = MOST_TRIED
    trials: int = MOST_TRIALS


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

    The result "not found" proves nothing: only some texts are tried, and none of them produced the token.
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
    """Encode several texts, in search of a text that produces a token.

    This is needed for methods that do not join pairs in the order of the steps. For them, encoding only the token's own
    text proves nothing.
    """
    at = history.last_step_beside(token, at)
    text = _first_producing(_candidates(history, token, symbols, at, None), token, at, tokenizer, budget, cancelled)
    return Reachability("not found" if text is None else "reachable", text)


def _first_producing(
    texts: Iterator[str], token: int, at: int, tokenizer: Tokenizer, budget: SearchBudget, cancelled: CancelCheck
) -> str | None:
    """Return the first text that produces a token, or None.

    The first text is tried alone, because it usually succeeds. The other texts are tried in batches, which is faster.
    """
    left = budget.trials
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
    in_text = _bytes_in_texts(history)
    kinds = [history.alphabet.symbols[id] for id in symbols]
    raw = in_text(b"".join(_without_marker(symbol.decoded, symbol.kind) for symbol in kinds))
    unknown = any(symbol.kind == "unknown" for symbol in kinds)
    texts: list[str] = []
    for text in [PRIVATE] if unknown else islice(completions(raw), 500):
        texts.append(text)
        yield text  # the first text is mostly right, and then no other is made
    symbols_around = history.alphabet.symbols[:MOST_TRIALS]  # more would take too long
    around = [*AROUND] + [
        in_text(symbol.decoded).decode(errors="ignore") for symbol in symbols_around if symbol.kind != "marker"
    ]
    for text in texts[:20]:
        for other in around:
            yield text + other
            yield other + text
    for text in texts[:5]:
        for first, last in product(around[:20], repeat=2):
            yield first + text + last


def _bytes_in_texts(history: History) -> Callable[[bytes], bytes]:
    """Return a function that returns the bytes which a text must contain to produce a token.

    The function gets the bytes of the token. If the recipe turns texts into byte characters, the function returns the
    bytes that the characters of the token represent, such as " the" for a token "Ġthe".
    """
    recipe = history.recipe
    if not (recipe.shows_bytes and writes_bytes(recipe.preparation)):
        return bytes
    known = byte_of_stand_in()

    def read(raw: bytes) -> bytes:
        written = raw.decode(errors="replace")
        return bytes(map(known.__getitem__, written)) if known.keys() >= set(written) else raw

    return read


def _without_marker(decoded: bytes, kind: str) -> bytes:
    if kind == "marker":
        return b""
    return decoded[:-1] if kind == "glued" else decoded


def _can_stand_in_text(history: History, symbols: list[int]) -> bool:
    raw = b"".join(history.alphabet.symbols[id].decoded for id in symbols)
    return next(completions(raw), None) is not None


def completions(raw: bytes) -> Iterator[str]:
    r"""Yield texts whose UTF-8 contains the bytes `raw`. Incomplete characters at both ends are completed.

    >>> next(completions(b"low")), next(completions("é".encode()[1:])).encode()[1:] == "é".encode()[1:]
    ('low', True)
    >>> list(completions(b"\xff"))
    []
    """
    inside = len(raw) - len(raw.lstrip(INSIDE_CHARACTERS))  # bytes of a character that begins before them
    rest = raw[inside:]
    for missing in range(4):
        tails = [
            tail for tail in map(bytes, product(CONTINUATIONS, repeat=missing)) if not rest or is_text(rest + tail)
        ]
        of_first = inside + missing if inside and not rest else inside
        for begin in _beginnings(of_first) if tails else ():
            texts = (begin + raw + tail for tail in tails)
            yield from (text.decode() for text in texts if is_text(text))


def _beginnings(continued: int) -> Iterator[bytes]:
    """Yield each sequence of bytes that can stand before the last `continued` bytes of a UTF-8 character.

    If `continued` is 0, no byte is missing, so only an empty sequence is yielded.
    """
    if not continued:
        yield b""
        return
    for lead in range(0xC2, 0xF5):
        width = 2 + (lead >= 0xE0) + (lead >= 0xF0)
        if continued < width:
            yield from (bytes((lead, *middle)) for middle in product(CONTINUATIONS, repeat=width - 1 - continued))


REPORTED = 4_096  # tokens between two reports
SAMPLED = 100  # tokens that show which texts beside them succeed most often
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
            return "an earlier merge joins the same pair into another token"
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
        apart = {}
        _check_lengths(history, learned)
    doubtful = _not_from_their_texts(history, [id for id in learned if id not in apart], work)
    return dict(sorted((apart | _search_one_by_one(history, doubtful, work.cancelled)).items()))


def first_learned(history: History) -> int:
    return sum(symbol.kind != "seed" for symbol in history.alphabet.symbols)


def is_learned(history: History) -> Bools:
    """Return a mask of the learned tokens.

    Special tokens and dropped tokens do not count as learned. Nor do tokens that only serve as parts, and tokens that
    are searched for before pairs are joined.
    """
    mask: Bools = np.arange(history.first_special) >= first_learned(history)
    if not history.only_joins:
        mask[np.setdiff1d(np.arange(history.first_special), history.vocabulary)] = False
    if history.joining is not None:
        mask[[*history.joining.hidden, *history.joining.found_first]] = False
    return mask


def _tokens_not_joined(history: History, ids: list[int], work: Work) -> dict[int, Reason]:
    texts = decoded(history)
    words = JoinedWords(history)
    reason_of = dict[int, Reason]()
    for done, id in enumerate(while_wanted(ids, work.cancelled, every=64)):
        if done % REPORTED == 0:
            work.progress(Progress("looking for texts that merge into the tokens", done, len(ids), "tokens"))
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


def _check_lengths(history: History, ids: list[int]) -> None:
    texts = decoded(history)
    if sum(len(texts[id]) ** 2 for id in ids) > MOST_WAYS:
        raise TooLarge(
            f"The tokens are too long: more than {MOST_WAYS:,} of their parts could be tokens, too many to compare."
        )


def _not_from_their_texts(history: History, ids: list[int], work: Work) -> list[int]:
    """Return those tokens of `ids` that do not appear when their own text is encoded.

    The text of a token is encoded alone, and also with one of a few characters before or after it. The search ends
    early when only a few tokens are left. So some of the returned tokens may appear in an encoded text.
    """
    texts = decoded(history)
    tokenizer = Tokenizer(history)
    left = _not_beside(("", ""), ids, texts, tokenizer, work)
    sample = left[:: max(1, len(left) // SAMPLED)]
    ways = [*((sign, "") for sign in AROUND), *(("", sign) for sign in AROUND)]
    for way in sorted(ways, key=lambda way: len(_not_beside(way, sample, texts, tokenizer, work))):
        if len(left) <= MOST_ASKED:
            break  # these few are tried one by one
        left = _not_beside(way, left, texts, tokenizer, work)
    return left


def _not_beside(
    around: tuple[str, str], ids: list[int], texts: Sequence[bytes], tokenizer: Tokenizer, work: Work
) -> list[int]:
    """Return the tokens that are not produced when their own text is put between the two texts `around`."""
    before, behind = around
    in_text = _bytes_in_texts(tokenizer.history)
    doubtful = list[int]()
    for first in range(0, len(ids), REPORTED):
        work.check()
        work.progress(Progress("looking for texts that become the tokens", first, len(ids), "tokens"))
        some = np.array(ids[first : first + REPORTED])
        own = [in_text(texts[id]).decode(errors="replace") for id in some.tolist()]
        batch = tokenizer.encode_batch([f"{before}{text}{behind}" for text in own])
        rows = np.repeat(np.arange(len(some)), np.diff(batch.offsets))
        is_made = np.zeros(len(some), np.bool_)
        is_made[rows[batch.ids == some[rows]]] = True
        doubtful += some[~is_made].tolist()
    return doubtful


def _search_one_by_one(history: History, ids: list[int], cancelled: CancelCheck) -> dict[int, Reason]:
    """Search for texts that produce the tokens, for each token separately.

    Return the tokens without such a text, each with the reason. If too many searches fail or too many texts were
    tried, the search ends. The remaining tokens are not returned.
    """
    tokenizer = Tokenizer(history)
    merges = Merges(history)
    reason_of = dict[int, Reason]()
    in_vain = 0
    budget = SearchBudget(trials=TRIALS_OF_MANY)
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
