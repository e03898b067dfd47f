"""Texts on which tokenizers part ways: blanks, signs nobody sees, long repetitions, and the tokens themselves."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from itertools import islice

from bpe_core.errors import BpeError
from bpe_core.history.history import History
from bpe_core.history.token_texts import written
from bpe_core.recipes.recipe import Recipe

HARD_TEXTS = (
    "",
    " ",
    "   ",
    "\n",
    "  two  blanks \n\n\t and a tab\r\n",
    "trailing blanks   \n   \n  ",
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

FEWEST, MOST = 1, 4  # tokens put together to a new word
WORDS_A_LINE = 20
ATTEMPTS = 8  # words made at most, for each that is wanted


def special_texts(recipe: Recipe) -> Iterator[str]:
    """Texts in which special tokens stand alone, side by side and inside words."""
    for special in recipe.special_tokens[:20]:
        yield f"{special}"
        yield f"a{special}b {special}{special} end {special[:-1]}"


def joined_tokens(history: History, wanted: int, seed: int = 1) -> Iterator[str]:
    """Lines of words made of the vocabulary's own tokens, so that merges meet in ways no text shows.

    There are more than wanted, for many come out alike: a small vocabulary makes few words.
    """
    pieces = _pieces(history)
    if not pieces:
        return
    import random  # takes a while to load, and many a table is compared with no other library

    rng = random.Random(seed)
    form = history.recipe.unicode_form  # marks meet in an order in which no text has them
    words_a_line = 1 if history.recipe.pattern == "none" else WORDS_A_LINE  # there a line is a word
    for _ in range(ATTEMPTS * wanted // words_a_line):
        lengths = rng.choices(range(FEWEST, MOST + 1), k=words_a_line)
        drawn = iter(rng.choices(pieces, k=sum(lengths)))
        words = (b"".join(islice(drawn, length)).decode(errors="ignore") for length in lengths)
        yield " ".join(unicodedata.normalize(form, word) if form else word for word in words)


def _pieces(history: History) -> list[bytes]:
    """What tokens look like in a text: without the marker, and no longer than a long word."""
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
