"""Texts and words that are hard to split, and a tokenizer that is compared with another library on them.

The tokenizer uses only the features that files of a format can store.
"""

from __future__ import annotations

import copy
import math
import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import islice, pairwise

import numpy as np

from bpe_core.errors import BpeError, throwing_exceptions
from bpe_core.formats.base import RANKS, Format, Peer
from bpe_core.history.history import History
from bpe_core.history.token_texts import quoted, written
from bpe_core.methods.kit.histories import has_ranks
from bpe_core.methods.kit.tokenizer import NEVER, Tokenizer
from bpe_core.methods.registry import METHODS, USUAL
from bpe_core.recipes.parts import Normalization
from bpe_core.recipes.recipe import Recipe
from bpe_core.segmenting.cutting import Allowed
from bpe_core.splitting.normalization import normalize
from bpe_core.splitting.splitter import Splitter
from bpe_core.support.former_names import former_classes

HARD_TEXTS = (
    "",
    " ",
    "   ",
    "\n",
    "  two  spaces \n\n\t and a tab\r\n",
    "trailing spaces   \n   \n  ",
    " \u00a0\u2003\u3000wide\u200bblanks\u2028and\u2029lines\u0085",
    "naïve café e\u0301 o\u0302\u0323 — “quotes” … ½ ² ٣ №",
    "👩‍👩‍👧‍👦 🏽 \U0001f1e9\U0001f1ea ☂️ zero\u200dwidth\ufeff",
    "\x00\x01\x02\x1b[0m\x1c\x1f\x7f\x80\x9f control",
    "don't we'll I'm they've 'tis 'S 'LL rock'n'roll",
    "1 12 123 1234 12345678 3.14 1,000,000 ²³ ½",
    "camelCase HTMLParser snake_case kebab-case a/b/c x=y+1; // no\n\treturn {}\n",
    "人人生而自由 すべての人間は 모든 인간은 كل الناس שוויון ทุกคน",
    "<0x41> <unk> </w> #version: 0.2 ## Ġ Ċ \\u0041 \\n %20 &amp;",
    "a" * 300 + " " + "ab" * 150 + " " + "abc" * 100 + " " * 50 + "!" * 80 + "\n" * 40,
)

HALF = re.compile("[\ud800-\udfff]")  # a part of a character, for words that are split between bytes: no text has it
FEWEST, MOST = 1, 4  # tokens joined to a new word
WORDS_A_LINE = 20
MOST_ASKED = 20_000  # tokens that are encoded alone: the oldest, which are the most frequent in texts
MOST_TORN = 200  # the most of these tokens that are split into several tokens
HALF_SHOWN = "\ufffd"  # in place of a part of a character
BLANK_SIGN = "▁"  # in files that write a character for each blank
ATTEMPTS = 8  # words made at most, for each wanted word


def special_texts(history: History, recipe: Recipe) -> Iterator[str]:
    """Yield texts with tokens that are searched for before a text is split, such as special tokens.

    The tokens occur alone, next to each other, and inside words.
    """
    joining = history.joining
    first = [] if joining is None else [history.alphabet.symbols[id].decoded.decode() for id in joining.found_first]
    for special in (*recipe.special_tokens[:20], *first[:20]):
        yield f"{special}"
        yield f"a{special}b {special}{special} end {special[:-1]}"


def torn_tokens(tokenizer: Tokenizer) -> Iterator[str]:
    """Yield lines with torn tokens. A token is torn if its text is encoded as several tokens.

    Only tables from other programs have torn tokens. Some libraries look for whole tokens before they merge, so they
    would encode a torn token as a single token. In the lines, each torn token comes directly after a letter.
    """
    pieces = [raw.decode(errors="replace") for raw in _pieces(tokenizer.history)[:MOST_ASKED]]
    _, offsets = tokenizer.encode_batch(pieces, allowed_special=())
    several = np.flatnonzero(np.diff(offsets) > 1).tolist()
    torn = [text for place in several if HALF_SHOWN not in (text := pieces[place])][:MOST_TORN]
    blank = tokenizer.history.recipe.marker_text or BLANK_SIGN
    for start in range(0, len(torn), WORDS_A_LINE):
        yield " ".join(f"a{text.replace(blank, ' ')} b" for text in torn[start : start + WORDS_A_LINE])


def joined_tokens(history: History, wanted: int, seed: int = 1) -> Iterator[str]:
    """Yield lines of made-up words, each joined from random tokens.

    Such words contain pairs of neighbouring tokens that never occur in natural texts. The number of words is
    larger than `wanted`, because a small vocabulary makes many equal words.
    """
    pieces = _pieces(history)
    if not pieces:
        return
    import random  # takes a while to load, and many tables are compared with no other library

    rng = random.Random(seed)
    recipe = history.recipe
    form = recipe.unicode_form  # marks meet in an order that no text has
    parted = islice(Splitter(recipe).words(normalize("a a", recipe)), 2)
    words_a_line = WORDS_A_LINE if len([*parted]) > 1 else 1  # there a line is a word
    for _ in range(ATTEMPTS * wanted // words_a_line):
        lengths = rng.choices(range(FEWEST, MOST + 1), k=words_a_line)
        drawn = iter(rng.choices(pieces, k=sum(lengths)))
        words = (b"".join(islice(drawn, length)).decode(errors="ignore") for length in lengths)
        yield " ".join(unicodedata.normalize(form, word) if form else word for word in words)


def _pieces(history: History) -> list[bytes]:
    """Return the texts of the tokens of a history, without the marker for the beginning or the end of a word.

    Empty texts and texts longer than 64 bytes are left out, and so are the symbols for markers and for unknown
    characters.
    """
    marker = history.recipe.marker_text.encode()
    try:
        texts = written(history)
    except BpeError:  # tokens of many megabytes; their parts are in the other texts
        return []
    kinds = [symbol.kind for symbol in history.alphabet.symbols]
    unusual = ("marker", "unknown", "fallback")
    usual = [text for text, kind in zip(texts, kinds, strict=False) if kind not in unusual] + texts[len(kinds) :]
    cleaned = [text.removesuffix(marker).removeprefix(marker) for text in usual] if marker else usual
    return [text for text in cleaned if 0 < len(text) <= 64]


WANTED_WORDS = 10_000
NOTHING_NEW = 100  # samples in a row without a new word: a small vocabulary makes few
MOST_CHARACTERS = 4_000_000  # characters of the prepared text: a step may make a long text of each character
LONGEST_TEXT = 300_000  # characters of the user's text that are checked
EPSILON = 2.0**-24  # the relative error of a 32-bit number
MOST_ROUNDED = 0.05  # the largest error of a log-probability, however long the text is


class CheckedTokenizer:
    """A tokenizer with only the features that files of a format can store, and the samples on which it is compared.

    If files of the format say how text is split into words, the samples are whole texts. Otherwise the samples are
    words.
    """

    def __init__(
        self, history: History, format: Format, recipe: Recipe | None = None, *, as_opened: bool = False
    ) -> None:
        """Prepare a tokenizer for the history. By default, it has the recipe of the history.

        If the format cannot store special tokens, the recipe has none. With `as_opened`, special tokens are kept, and
        their texts are then encoded as the library of the format would encode them.
        """
        self.words: set[str] = set()
        self._format = format
        self._spelled = format.spelled(history)
        self._as_opened = as_opened and format.holds_splitting
        kept = (
            history.recipe
            if format.holds_specials or self._as_opened
            else history.recipe.with_changes(special_tokens=())
        )
        self.recipe = recipe or kept
        needs_words = has_ranks(history) and self.recipe.marker != "none"  # only some of them have a marker
        alone = not format.holds_splitting and not needs_words
        self.history = _with_recipe(history, _of_one_word(self.recipe) if alone else self.recipe)
        self.tokenizer = Tokenizer(self.history)
        self._score_of = _scores(self.history)

    def samples(self, text: str = "") -> Iterator[str]:
        """Yield texts or words to compare, until there are enough samples.

        Some samples come from `text`, which a user chose.
        """
        recipe = self.recipe
        signs = re.compile("|".join(map(re.escape, self._spelled)) or r"(?!)")
        words_of = Splitter(recipe).words
        nothing_new = prepared = 0
        for whole in self._within_limits(signs.sub("", sample) for sample in _texts(self.tokenizer, recipe, text)):
            changed = normalize(whole, recipe)
            prepared += len(changed)
            fresh = {word for word in words_of(changed) if not HALF.search(word)} - self.words
            self.words |= fresh
            nothing_new = 0 if fresh else nothing_new + 1
            if self._format.holds_splitting:
                yield whole
            else:
                yield from sorted(fresh)
            if len(self.words) >= WANTED_WORDS or nothing_new >= NOTHING_NEW or prepared >= MOST_CHARACTERS:
                return

    def _within_limits(self, texts: Iterable[str]) -> Iterator[str]:
        """Yield the texts without the lines that a file of this format may split differently from the history."""
        is_beyond = partial(self._format.is_beyond, self.history)
        for text in texts:
            if not is_beyond(text):
                yield text
            else:
                yield from (line for line in text.splitlines(keepends=True) if not is_beyond(line))

    def answers(self, samples: list[str]) -> Iterator[list[int]]:
        """Yield the ids of each sample. If the format has no ids, yield the number of characters in each token."""
        if not self._format.numbers_tokens:
            yield from (piece_lengths(self.tokenizer, word) for word in samples)
        elif self.history.recipe.pattern != "none" and not self._format.holds_splitting:
            numbers_of = self.history.numbers_of
            yield from (numbers_of(encode_word(self.tokenizer, word)).tolist() for word in samples)
        else:
            specials: Allowed = "all" if self._format.holds_splitting and self._format.holds_specials else ()
            specials = None if self._as_opened else specials
            ids, offsets = self.tokenizer.encode_batch(samples, allowed_special=specials)
            of_all: list[int] = self.history.numbers_of(ids).tolist()
            yield from (self._joined(of_all[start:stop]) for start, stop in pairwise(offsets.tolist()))

    def _joined(self, numbers: list[int]) -> list[int]:
        unknown = self.history.alphabet.unknown_id
        if not (self._format.holds_splitting and self._format.joins_unknown) or unknown is None:
            return numbers
        alone = int(self.history.numbers_of(unknown))
        return [number for i, number in enumerate(numbers) if number != alone or i == 0 or numbers[i - 1] != alone]

    def difference(self, sample: str, answer: list[int], other: object, whose: str) -> str:
        """Return a sentence that describes how two encodings of a sample differ.

        The sentence is empty if they agree. `whose` is the name of the program that made the encoding `other`.
        """
        if answer == other or self._is_as_probable(answer, other):
            return ""
        theirs = other if isinstance(other, list) else [other]
        place = next((i for i, (a, b) in enumerate(zip(answer, theirs, strict=False)) if a != b), None)
        place = min(len(answer), len(theirs)) if place is None else place
        near = slice(max(0, place - 1), place + 3)
        what = "ids" if self._format.numbers_tokens else "lengths of the tokens"
        return (
            f"{quoted(sample)} has other tokens from token {place + 1:,} on: the {what} are {answer[near]} here, but "
            f"{theirs[near]} in {whose}."
        )

    def _is_as_probable(self, answer: list[int], other: object) -> bool:
        """Return whether two splits of a text are equally probable, apart from rounding errors of 32-bit numbers."""
        if self._score_of is None or self.recipe.sums == self._format.sums or not isinstance(other, list):
            return False
        sums = [sum(self._score_of.get(number, -math.inf) for number in cut) for cut in (answer, other)]
        return abs(sums[0] - sums[1]) <= min(MOST_ROUNDED, EPSILON * len(answer) * abs(sums[0]))


def _texts(tokenizer: Tokenizer, recipe: Recipe, text: str) -> Iterator[str]:
    history = tokenizer.history
    yield from HARD_TEXTS
    yield from special_texts(history, recipe)
    yield from torn_tokens(tokenizer)
    yield text[:LONGEST_TEXT]
    yield from joined_tokens(history, WANTED_WORDS)


def _scores(history: History) -> dict[int, float] | None:
    if history.scores is None:
        return None
    scores = [*history.scores.at(len(history)).tolist(), *(0.0 for _ in history.recipe.special_tokens)]
    return dict(zip(history.numbers_of(range(len(scores))).tolist(), scores, strict=True))


def encode_word(tokenizer: Tokenizer, word: str) -> list[int]:
    """Return the ids of a text that is one word.

    The text is not split into words again, unless the boundaries of this tokenizer have no ranks.
    """
    if not has_ranks(tokenizer.history):
        return tokenizer.encode(word)
    return tokenizer.tokens_of_word(word.encode())


def piece_lengths(tokenizer: Tokenizer, word: str) -> list[int]:
    """Return the number of characters of each token in a word. A token that is only a marker is left out."""
    marks_end = tokenizer.history.recipe.marker == "symbol"
    lengths = [1]
    for rank in tokenizer.ranks_of_word(word.encode()):
        if rank == NEVER:
            lengths.append(1)
        else:
            lengths[-1] += 1
    if marks_end:
        lengths[-1] -= 1
    return [length for length in lengths if length]


def answer_of(peer: Peer, sample: str) -> object:
    """Return another library's answer to a sample, or the message of the exception that it raises.

    Each token that the library returns as bytes is replaced by its number of characters.
    """
    try:
        with throwing_exceptions():
            return [len(piece.decode()) if isinstance(piece, bytes) else piece for piece in peer(sample)]
    except Exception as error:  # any exception of another library
        return str(error)


def _of_one_word(recipe: Recipe) -> Recipe:
    plain = vars(Normalization())
    cuts_alike = RANKS in METHODS[recipe.method].tables
    method = USUAL if cuts_alike else recipe.method  # some methods need their own pattern
    return recipe.with_changes(method=method, pattern="none", custom_pattern="", unit="file", preparation=(), **plain)


def _with_recipe(history: History, recipe: Recipe) -> History:
    """Return a history with the same merges but a different recipe.

    This is needed for formats that cannot store all choices of a recipe.
    """
    if history.recipe == recipe:
        return history
    other = copy.copy(history)
    other.recipe = recipe
    return other


__getattr__ = former_classes(__name__, Checked="CheckedTokenizer")
