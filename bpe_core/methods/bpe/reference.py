"""The reference of byte-pair encoding, as the articles describe it: short, plain and slow. Read this file first.

**Learning.** A corpus is a list of words. Each word is a list of symbols with a weight, the number of times the word
occurs. Count every pair of neighbouring symbols. Join the most frequent pair into a new symbol wherever the pair
occurs. Then begin again. The result is the list of joined pairs, in order. By hand, on the eleven bytes `aaabdaaabac`:

    a a a b d a a a b a c      a+a occurs 4 times (overlaps count), so aa is made
    aa a b d aa a b a c        aa+a twice, a+b twice: a tie, and aa+a occurs first
    aaa b d aaa b a c          aaa+b twice
    aaab d aaab a c            no pair occurs twice any more

    >>> words = WordTable.from_counts({"aaabdaaabac": 1})
    >>> history = train(words, Recipe.preset("raw-bytes", min_frequency=2))
    >>> [(merge.left, merge.right, merge.index, merge.count, merge.tied) for merge in history]
    [(97, 97, 256, 4, False), (256, 97, 257, 2, True), (257, 98, 258, 2, False)]

**Encoding.** A word is split into base symbols, and the learned merges are applied in the order of learning:

    >>> encode_word(b"aaabdaaabac", history)
    [258, 100, 258, 97, 99]
    >>> encode_word(b"aaabdaaabac", history, at=1)  # as the tokenizer encoded after one merge
    [256, 97, 98, 100, 256, 97, 98, 97, 99]

All pairs are counted again at each step, so no table must be updated and little can go wrong. The tests check that the
fast engine makes exactly the same steps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import pairwise
from typing import Any

from bpe_core.counting.words import WordTable
from bpe_core.history.alphabet import Alphabet
from bpe_core.history.history import NOTHING, Columns, EndReason, History
from bpe_core.recipes.interventions import forbidden_from, forced_at
from bpe_core.recipes.recipe import Recipe
from bpe_core.recipes.ties import TIE_RULES, Pair
from bpe_core.splitting.normalization import normalize
from bpe_core.splitting.splitter import split_words

Word = list[int]  # the ids of the word's symbols

NOBODY = ((NOTHING, NOTHING), NOTHING)  # the values if there is no runner-up


# --- Learning ---------------------------------------------------------------------------


def train(words: WordTable, recipe: Recipe, alphabet: Alphabet | None = None, given: Sequence[Pair] = ()) -> History:
    """Learn merges until the vocabulary is full or no pair is frequent enough.

    `given` holds the pairs that the first steps must join, such as the merges of a table that is continued.
    """
    alphabet = alphabet or Alphabet.for_words(words, recipe)
    corpus = [(alphabet.symbols_of(word, recipe), count) for word, count in words]
    tokens_at_start = count_tokens(corpus)
    limit = recipe.merge_limit(len(alphabet))
    tokens = TokenBook(alphabet)
    rows: list[tuple[int, ...]] = []
    while True:
        counts = count_pairs(corpus)
        ranking = ranked(allowed(counts, tokens, recipe), tokens, recipe)
        joinable = [choice for choice in ranking if not recipe.keeps_characters or keeps_characters(choice[0], tokens)]
        frequent = steered(joinable, counts, recipe, len(rows) + 1, given)
        if len(rows) == limit or not frequent:
            reason: EndReason = "too rare" if ranking else "no pairs"
            if len(rows) == limit:
                reason = "vocabulary full"
            return as_history(rows, recipe, alphabet, tokens_at_start, reason)
        (pair, count), (runner_up, runner_up_count) = [*frequent, NOBODY][:2]
        token = tokens.add(pair)
        corpus = [(join(word, pair, token), weight) for word, weight in corpus]
        rows.append((*pair, count, *runner_up, runner_up_count, count_tokens(corpus)))


def steered(
    ranking: list[tuple[Pair, int]], counts: dict[Pair, int], recipe: Recipe, step: int, given: Sequence[Pair] = ()
) -> list[tuple[Pair, int]]:
    """Return the pairs that the method may choose from at a step, the best pair first.

    A forbidden pair is left out at its step and at all later steps. A pair that is forced at this step comes first,
    even if it is rare or long. `given` holds the pairs that the first steps must join, one for each of these steps.
    They come first, too.

    >>> recipe = Recipe(interventions=("forbid:1+2@3", "force:5+6@4"))
    >>> ranking = [((1, 2), 9), ((3, 4), 7), ((5, 6), 1)]
    >>> [steered(ranking, dict(ranking), recipe, step) for step in (2, 3, 4)]
    [[((1, 2), 9), ((3, 4), 7)], [((3, 4), 7)], [((5, 6), 1), ((3, 4), 7)]]
    """
    forced = given[step - 1] if step <= len(given) else forced_at(recipe.interventions).get(step)
    forbidden = forbidden_from(recipe.interventions, step)
    frequent = [
        (pair, count) for pair, count in ranking if count >= recipe.min_frequency and pair not in {forced, *forbidden}
    ]
    return frequent if forced is None else [(forced, counts.get(forced, 0)), *frequent]


def count_pairs(corpus: list[tuple[Word, int]]) -> dict[Pair, int]:
    """Return the count of each pair of neighbours. The pairs are in the order in which they first occur.

    >>> count_pairs([([1, 2, 3, 1, 2], 1), ([1, 1, 1], 10)])
    {(1, 2): 2, (2, 3): 1, (3, 1): 1, (1, 1): 20}
    """
    counts: dict[Pair, int] = {}
    for word, weight in corpus:
        for pair in pairwise(word):
            counts[pair] = counts.get(pair, 0) + weight
    return counts


def join(word: Word, pair: Pair, token: int) -> Word:
    """Return the word with each occurrence of the pair replaced by the token, from left to right, without overlap.

    >>> join([1, 1, 1, 2, 1, 1], (1, 1), 9)
    [9, 1, 2, 9]
    """
    joined: Word = []
    i = 0
    while i < len(word):
        if tuple(word[i : i + 2]) == pair:
            joined.append(token)
            i += 2
        else:
            joined.append(word[i])
            i += 1
    return joined


class TokenBook:
    """The text of each token, its length in base symbols, and whether merges may join it."""

    def __init__(self, alphabet: Alphabet) -> None:
        self.joined_text = alphabet.joined_text
        self.texts = [symbol.text for symbol in alphabet.symbols]
        self.lengths = [1] * len(alphabet)
        self.merges = [symbol.merges for symbol in alphabet.symbols]

    def add(self, pair: Pair) -> int:
        left, right = pair
        self.texts.append(self.joined_text(self.texts[left], self.texts[right]))
        self.lengths.append(self.lengths[left] + self.lengths[right])
        self.merges.append(True)
        return len(self.texts) - 1


def allowed(counts: dict[Pair, int], tokens: TokenBook, recipe: Recipe) -> dict[Pair, int]:
    """Return the pairs that may be merged. Pairs that are too long or contain an unknown symbol are left out."""
    longest = recipe.max_token_length
    return {
        (left, right): count
        for (left, right), count in counts.items()
        if tokens.merges[left]
        and tokens.merges[right]
        and (longest is None or tokens.lengths[left] + tokens.lengths[right] <= longest)
    }


def keeps_characters(pair: Pair, tokens: TokenBook) -> bool:
    """Return whether a pair joins whole characters, or parts of the same character.

    >>> tokens = TokenBook(Alphabet.of_bytes())
    >>> [keeps_characters(pair, tokens) for pair in [(97, 98), (0xC3, 0xA9), (97, 0xC3), (0xA9, 97)]]
    [True, True, False, False]
    """
    left, right = (tokens.texts[id] for id in pair)
    return (_are_whole(left) and _are_whole(right)) or _is_a_part(left + right)


def _are_whole(text: bytes) -> bool:
    while text:
        length = _length_of(text[0])
        if not (length and _is_a_part(text[:length]) and len(text) >= length):
            return False
        text = text[length:]
    return True


def _is_a_part(text: bytes) -> bool:
    """Return whether the bytes `text` are one character, or a part of one character."""
    return all(_length_of(byte) == 0 for byte in text[1:]) and len(text) <= (_length_of(text[0]) or 3)


def _length_of(byte: int) -> int:
    """Return the length in bytes of a character that begins with the byte `byte`.

    Return 0 for a byte from 0x80 to 0xBF, because such a byte only continues a character.
    """
    if byte < 0x80:
        return 1
    if byte < 0xC0:
        return 0
    return 2 + (byte >= 0xE0) + (byte >= 0xF0)


def ranked(
    counts: dict[Pair, int], tokens: TokenBook, recipe: Recipe, worth: Callable[[Pair], Any] | None = None
) -> list[tuple[Pair, int]]:
    """Sort pairs by their worth, the largest worth first. Ties are sorted by the tie rule (see recipes/ties.py).

    The worth of a pair is its count, unless `worth` computes another number. If the tie rule cannot decide, the pair
    with the lower ids comes first. This happens only if two pairs have the same text, for example because a word
    contains the text of the marker.
    """
    worth = worth or counts.__getitem__
    rule = TIE_RULES[recipe.ties]
    first_place = {pair: place for place, pair in enumerate(counts)}

    def order(pair: Pair) -> tuple[int, Any, Pair]:
        return -worth(pair), rule.key(pair, tokens.texts, first_place.__getitem__), pair

    return [(pair, counts[pair]) for pair in sorted(counts, key=order)]


def count_tokens(corpus: list[tuple[Word, int]]) -> int:
    return sum(len(word) * weight for word, weight in corpus)


def as_history(
    rows: list[tuple[int, ...]], recipe: Recipe, alphabet: Alphabet, at_start: int, reason: EndReason, **more: Any
) -> History:
    """Return a history from the rows that `train` makes.

    `at_start` is the number of tokens before the first step, and `reason` says why the run ended. Other methods pass
    their own reasons and scores as `more`.
    """
    columns = Columns.with_room(len(rows))
    for number, column in enumerate(columns._asdict().values()):
        column[:] = [row[number] for row in rows]
    return History(recipe, alphabet, columns.first(len(rows)), tokens_at_start=at_start, end_reason=reason, **more)


# --- Encoding ---------------------------------------------------------------------------


def encode(text: str, history: History, *, at: int | None = None) -> Word:
    """Return the ids of a text, word by word. Special tokens in the text are treated as ordinary text.

    >>> history = train(WordTable.from_counts({"low": 3, " low": 2}), Recipe.preset("gpt2"))
    >>> encode("low slow", history)  # l+o is 256, lo+w is 257, " "+low is 258
    [257, 32, 115, 257]
    """
    recipe = history.recipe.with_changes(special_tokens=())
    words = split_words(normalize(text, recipe), recipe)
    return [id for word in words for id in encode_word(word.encode(), history, at=at)]


def encode_word(word: bytes, history: History, *, at: int | None = None) -> Word:
    """Return the ids of one word after the first `at` merges, or after all merges."""
    symbols = history.alphabet.symbols_of(word, history.recipe)
    for index, _, joined in merges_within(symbols, history):
        if at is not None and index >= at:
            break
        symbols = joined
    return symbols


def merges_within(symbols: Word, history: History) -> Iterator[tuple[int, Pair, Word]]:
    """Yield each merge that changes a word, in the order of learning: its index, its pair, and the word after this
    merge.

    A merge joins only older tokens. So the next merge is always the earliest learned pair that is in the word.
    """
    index_of = history.ranks_within(symbols)
    base = len(history.alphabet)
    while learned := [pair for pair in pairwise(symbols) if pair in index_of]:
        pair = min(learned, key=index_of.__getitem__)
        index = index_of[pair]
        symbols = join(symbols, pair, base + index)
        yield index, pair, symbols


def boundary_ranks(word: bytes, history: History) -> list[int | None]:
    """Return, for each boundary between two base symbols of a word, the index of the merge that removes it.

    A merge only removes boundaries. So after `n` merges the word is split at the boundaries whose index is `n` or more.
    If no merge removes a boundary, its index is None.

    >>> history = train(WordTable.from_counts({"aaabdaaabac": 1}), Recipe.preset("raw-bytes", min_frequency=2))
    >>> boundary_ranks(b"aaab", history)
    [0, 1, 2]
    """
    return ranks_of_symbols(history.alphabet.symbols_of(word, history.recipe), history)


def word_ranks(history: History) -> Callable[[Word], list[int | None]]:
    return partial(ranks_of_symbols, history=history)


def ranks_of_symbols(symbols: Word, history: History) -> list[int | None]:
    lengths = dict.fromkeys(symbols, 1)
    ranks: list[int | None] = [None] * max(0, len(symbols) - 1)
    base = len(history.alphabet)
    for index, (left, right), joined in merges_within(symbols, history):
        lengths[base + index] = lengths[left] + lengths[right]
        start = 0
        for id in joined:
            for boundary in range(start, start + lengths[id] - 1):
                if ranks[boundary] is None:
                    ranks[boundary] = index
            start += lengths[id]
    return ranks


def encode_word_greedily(word: bytes, history: History, *, at: int | None = None) -> Word:
    """Encode a word greedily: choose the longest token that fits at each offset.

    This ignores the order of the merges, so the result can differ from that of `encode_word`:

    >>> recipe = Recipe.preset("words", min_frequency=1, merges=2)
    >>> history = train(WordTable.from_counts({"bc": 3, "abc": 1, "ab": 2}), recipe)
    >>> [(merge.left, merge.right) for merge in history]  # b+c, then a+b; 1, 2 and 3 are a, b and c
    [(2, 3), (1, 2)]
    >>> encode_word(b"abc", history), encode_word_greedily(b"abc", history)
    ([1, 4], [5, 3])

    A symbol that is in no token becomes the alphabet's token for unknown symbols.
    """
    symbols = tuple(history.alphabet.symbols_of(word, history.recipe))
    token_of = token_of_symbols(history if at is None else history.first(at))
    ids: Word = []
    start = 0
    while start < len(symbols):
        stop = next(stop for stop in range(len(symbols), start, -1) if symbols[start:stop] in token_of)
        ids.append(token_of[symbols[start:stop]])
        start = stop
    return ids


def token_of_symbols(history: History) -> dict[tuple[int, ...], int]:
    """Return a dictionary from the base symbols of each token to the oldest token that consists of these symbols."""
    symbols_of = [(id,) for id in range(len(history.alphabet))]
    expanded: list[tuple[int, ...]] = [*symbols_of]
    for merge in history:
        expanded.append(expanded[merge.left] + expanded[merge.right])
    token_of: dict[tuple[int, ...], int] = {}
    for id, symbols in enumerate(expanded):
        token_of.setdefault(symbols, id)
    return token_of
