"""Whether any text can produce a token, with a text that does.

What decides is the token by itself: merges inside it see nothing of what stands around it
as long as it comes to be, so if any word ever holds the token, the token's own symbols
alone become it, too. If they fall into other pieces, no text at all can produce it.

That happens in tables that were not learned by plain merging, such as imported ones:

    >>> from bpe_core import Alphabet, Recipe
    >>> pairs = [(97, 98), (98, 99), (97, 257)]  # a+b, b+c, a+bc: but the b of abc goes to ab first
    >>> history = History.from_pairs(Recipe.preset("gpt2"), Alphabet.of_bytes(), pairs)
    >>> reachability(history, 258)
    Reachability(kind='unreachable', witness=None, pieces=(256, 99))
    >>> reachability(history, 257)
    Reachability(kind='reachable', witness='bc', pieces=(257,))
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice, product
from typing import Literal

from bpe_core.errors import Cancelled
from bpe_core.history.history import History
from bpe_core.insight.contributions import words_with
from bpe_core.insight.ranked_words import RankedWords
from bpe_core.learning.methods import has_ranks
from bpe_core.progress import CancelCheck, never_cancelled
from bpe_core.records import dataclass
from bpe_core.segmenting.merging import Merges
from bpe_core.segmenting.tokenizer import Tokenizer

MOST_TRIALS = 3_000  # some 0.1 s
MOST_TRIED = 2**24  # characters of all trials, for tokens that are long
PRIVATE = "\ue000"  # a character that hardly any alphabet holds
CONTINUATIONS = (0x80, 0x90, 0x9F, 0xA0, 0xBF)  # enough for every lead byte to find one that fits


@dataclass(frozen=True)
class Reachability:
    """`witness` is a text whose tokens hold the one asked for."""

    kind: Literal["reachable", "unreachable", "not learned yet", "not found"]
    witness: str | None = None
    pieces: tuple[int, ...] = ()  # what the token's own symbols become


def reachability(
    history: History,
    token: int,
    at: int | None = None,
    *,
    corpus: RankedWords | None = None,
    tokenizer: Tokenizer | None = None,
    merges: Merges | None = None,
    cancelled: CancelCheck = never_cancelled,
) -> Reachability:
    """Whether a text can produce the token with the first `at` merges (all, if not said).

    Who asks about many tokens brings the tokenizer and the merges of the history along.
    "not found": its own symbols become the token, but the pattern seems never to leave them together.
    """
    at = len(history) if at is None else at
    base = len(history.alphabet)
    if token >= base + at:
        return Reachability("not learned yet")
    symbols = history.symbols_of(token)
    if not has_ranks(history):
        return _by_trying(history, token, symbols, at, tokenizer or Tokenizer(history), cancelled)
    kept = corpus if corpus is not None and corpus.serves(history) else None
    merges = kept.merges if kept is not None else merges or Merges(history)
    pieces = tuple(merges.tokens(merges.merged(symbols), at))
    if pieces != (token,):
        return Reachability("unreachable", pieces=pieces)
    tokenizer = tokenizer or (kept.tokenizer if kept is not None else Tokenizer(history))
    text = _witness(_candidates(history, token, symbols, at, corpus), token, at, tokenizer, cancelled)
    if text is not None:
        return Reachability("reachable", text, pieces)
    if not _can_stand_in_text(history, symbols):
        return Reachability("unreachable", pieces=pieces)
    return Reachability("not found", pieces=pieces)


def _by_trying(
    history: History, token: int, symbols: list[int], at: int, tokenizer: Tokenizer, cancelled: CancelCheck
) -> Reachability:
    """Where a method cuts by other rules than the order of its steps: nothing follows from the token by itself."""
    at = history.last_step_beside(token, at)
    text = _witness(_candidates(history, token, symbols, at, None), token, at, tokenizer, cancelled)
    return Reachability("not found" if text is None else "reachable", text)


def _witness(texts: Iterator[str], token: int, at: int, tokenizer: Tokenizer, cancelled: CancelCheck) -> str | None:
    """The first of these texts that the token is cut from."""
    room = MOST_TRIED
    for text in islice(texts, MOST_TRIALS):
        if cancelled():
            raise Cancelled("Nobody wants to know any more whether a text can produce the token.")
        if token in tokenizer.encode(text, at=at):
            return text
        room -= len(text)
        if room < 0:
            break
    return None


def _candidates(history: History, token: int, symbols: list[int], at: int, corpus: RankedWords | None) -> Iterator[str]:
    """Texts that may produce the token: words of the corpus, its own text, and that within others."""
    if corpus is not None:
        for held in words_with(corpus, corpus.occurrences(token), at).words[:20]:
            yield corpus.words.word(held.word).decode()
    kinds = [history.alphabet.symbols[id] for id in symbols]
    raw = b"".join(_without_marker(symbol.decoded, symbol.kind) for symbol in kinds)
    unknown = any(symbol.kind == "unknown" for symbol in kinds)
    texts: list[str] = []
    for text in [PRIVATE] if unknown else islice(completions(raw), 500):
        texts.append(text)
        yield text  # mostly the first is one, and the others need not be made
    symbols_around = history.alphabet.symbols[:MOST_TRIALS]  # for more there is no time
    around = [PRIVATE, "\x00", "q", "e", "0", "."] + [
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
    return b"" if kind == "marker" else decoded[:-1] if kind == "glued" else decoded


def _can_stand_in_text(history: History, symbols: list[int]) -> bool:
    """Whether UTF-8 allows these bytes beside each other at all."""
    raw = b"".join(history.alphabet.symbols[id].decoded for id in symbols)
    return next(completions(raw), None) is not None


def completions(raw: bytes) -> Iterator[str]:
    """Texts whose UTF-8 holds these bytes: themselves, or with a cut character made whole.

    >>> next(completions(b"low")), next(completions("é".encode()[1:])).encode()[1:] == "é".encode()[1:]
    ('low', True)
    >>> list(completions(b"\\xff"))
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
