"""The reference of Unigram: short and slow code in plain Python, which learns in the same way as SentencePiece.

**The model.** Every token has a probability. The probability of a way to split a word is the product of the
probabilities of its tokens. A word is split in the most probable way. The code adds log-probabilities ("scores")
instead of multiplying. For example, `l`, `o` and `w` have the score -2 each, and `lo` has the score -3. Then `low` has
the score -6 as `l o w`, and -5 as `lo w`.

**Learning.** Begin with many pieces of words (`find_seeds`). The first probability of a piece follows from the number
of symbols that it could cover in the corpus. Then work in rounds. Compute the expected count of each token: the average
over all ways to split the words, weighted by their probability. Compute new scores from these counts. Drop the pieces
with an expected count below one half. Repeat these three steps `em_passes` times. Then drop the pieces whose own text
is split into other pieces, and the pieces with the least loss, until `keep_share` per cent are left. Once no more than
1.1 times the requested size is left, drop the least likely pieces until the size is reached.

    >>> words = WordTable.from_counts({"low": 5, "lower": 2, "newest": 6, "widest": 3})
    >>> history = train(words, Recipe.preset("unigram", vocab_size=14))
    >>> [history.alphabet.symbols[id].text.decode() for id in history.vocabulary.tolist()][-2:]
    ['▁low', 'we']

Scores, losses and expected counts are rounded to 32 bits, as in models. Values that are equal after rounding count as
equal.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache, partial
from itertools import accumulate, pairwise

import numpy as np

from bpe_core.counting.words import WordTable
from bpe_core.history.alphabet import Alphabet, Spelling, Symbol
from bpe_core.history.columns import DROPPED, Scores
from bpe_core.history.history import NOTHING, EndReason, History
from bpe_core.kernels import LARGEST_SUM, TRANSPARENT
from bpe_core.methods.bpe.reference import as_history
from bpe_core.methods.kit.best_paths import scores_of
from bpe_core.methods.kit.cells import lead_of
from bpe_core.methods.unigram.seeds import scripts_by
from bpe_core.recipes.recipe import Recipe
from bpe_core.segmenting.segmentation import NO_TOKEN
from bpe_core.segmenting.word_tokens import ALWAYS, WordCut, WordCutter
from bpe_core.splitting.normalization import normalize
from bpe_core.splitting.splitter import split_words

Piece = tuple[int, ...]  # base symbols
Scored = dict[int, float]  # the score of each usable token
Tokens = dict[Piece, int]  # the usable tokens, by their base symbols


def paths(stretch: Piece, tokens: Tokens) -> Iterator[list[int]]:
    if not stretch:
        yield []
    for stop in range(1, len(stretch) + 1):
        if stretch[:stop] in tokens:
            for rest in paths(stretch[stop:], tokens):
                yield [tokens[stretch[:stop]], *rest]


def best_path(stretch: Piece, tokens: Tokens, scores: Scored) -> tuple[float, list[int]]:
    """Return the score and the tokens of the best way to split a stretch.

    The best way has the highest sum of scores. In a tie, the way with the longest last token wins.
    """
    best: list[tuple[float, list[int]]] = [(0.0, [])]
    for stop in range(1, len(stretch) + 1):
        ways = [
            (best[start][0] + scores[token], [*best[start][1], token])
            for start in range(stop)
            if (token := tokens.get(stretch[start:stop])) is not None
        ]
        best.append(max(ways, key=lambda way: way[0]) if ways else (-math.inf, []))
    return best[-1]


def ids_by_piece(alphabet: Alphabet, recipe: Recipe) -> Tokens:
    symbol_of = {text.decode(): id for text, id in alphabet.id_of_piece.items()}
    id_of: Tokens = {}
    for id, symbol in enumerate(alphabet.symbols):
        if symbol.kind == "seed":
            text = symbol.text.decode()
            begins = symbol.text.startswith(recipe.marker_text.encode())
            front = (alphabet.marker_id,) if begins and alphabet.marker_id is not None else ()
            letters = text[len(recipe.marker_text) :] if front else text
            id_of[(*front, *(symbol_of[letter] for letter in letters))] = id
        else:
            id_of[(id,)] = id
    return id_of


BestPath = Callable[[Piece, Tokens, Scored], tuple[float, list[int]]]


def encode(text: str, history: History, *, at: int | None = None, best: BestPath = best_path) -> list[int]:
    """Return the ids of a text's tokens after `at` steps, or after all steps."""
    words = split_words(normalize(text, history.recipe), history.recipe)
    paths = WordPaths(history, best)
    return [id for word in words for id in paths.cut(word.encode(), len(history) if at is None else at).ids]


def word_cutter(history: History) -> WordCutter:
    return SummedPaths(history).cut if history.recipe.sums else WordPaths(history, best_path).cut


def _usable(piece_of: Mapping[int, Piece], scores_over_time: Scores, at: int) -> tuple[Tokens, Scored]:
    scores = dict(enumerate(scores_over_time.at(at).tolist()))
    return {piece: id for id, piece in piece_of.items() if scores[id] > -math.inf}, scores


class WordPaths:
    """A segmenter that splits each word in the best way.

    Neighbouring characters that the alphabet lacks become one unknown token, or they become tokens of bytes.
    """

    def __init__(self, history: History, best: BestPath) -> None:
        self._alphabet = history.alphabet
        self._spelling = Spelling(history.alphabet, history.recipe)
        self._best = best
        self._piece_of = {id: piece for piece, id in ids_by_piece(history.alphabet, history.recipe).items()}
        self._usable_at = lru_cache(maxsize=1)(partial(_usable, self._piece_of, scores_of(history)))

    def cut(self, word: bytes, at: int) -> WordCut:
        symbols = self._spelling.symbols(word)
        places = [0, *accumulate(self._spelling.widths(word, symbols))]
        ids = list[int]()
        ends = list[int]()
        start = 0
        unknown = [place for place, symbol in enumerate(symbols) if not self._alphabet.symbols[symbol].merges]
        for stop in [*unknown, len(symbols)]:
            for id in self._best(tuple(symbols[start:stop]), *self._usable_at(at))[1]:
                start += len(self._piece_of[id])
                ids.append(id)
                ends.append(places[start])
            if stop < len(symbols) and ids[-1:] == [self._alphabet.unknown_id]:
                ends[-1] = places[stop + 1]
            elif stop < len(symbols):
                ids.append(symbols[stop])
                ends.append(places[stop + 1])
            start = stop + 1
        return WordCut(ids, ends, at, at + 1)


class SummedPaths:
    """A segmenter that splits each word in the way with the highest sum of scores.

    It rounds the sums in the same way as the libraries whose files it reads.
    """

    def __init__(self, history: History) -> None:
        self._alphabet = history.alphabet
        self._known = scores_of(history).at(len(history))
        self._is_narrow = history.recipe.sums == "32 bits"
        self._unknown = history.alphabet.unknown_id
        self._first_fallback = history.alphabet.first_fallback_id
        self._means_unknown = {NO_TOKEN, history.unknown_twin}

    @cached_property
    def _scores(self) -> list[float]:
        scores: list[float] = self._known.tolist()
        return scores

    @cached_property
    def _unknown_score(self) -> float:
        return self._scores[self._first_fallback if self._unknown is None else self._unknown or 0]  # type: ignore[index]

    @cached_property
    def _id_of(self) -> dict[bytes, int]:
        return {
            symbol.text: id
            for id, symbol in enumerate(self._alphabet.symbols)
            if symbol.kind in ("character", "seed") and self._scores[id] != DROPPED
        }

    @cached_property
    def _lengths(self) -> list[int]:
        return sorted({len(text) for text in self._id_of})

    def cut(self, word: bytes, at: int) -> WordCut:
        size = len(word)
        narrowed = narrow if self._is_narrow else float
        best = [0.0] + [-math.inf] * size
        last = [NO_TOKEN] * (size + 1)
        before = [0] * (size + 1)
        starts = [place for place, byte in enumerate(word) if byte & 0xC0 != 0x80]
        for here, behind in pairwise([*starts, size]):
            if self._is_narrow and abs(sum_here := best[here]) > LARGEST_SUM:
                reached = slice(here, here + max(self._lengths, default=0) + 1)
                best[reached] = [narrow(total - sum_here) for total in best[reached]]
            is_one = False
            for length in self._lengths:
                id = self._id_of.get(word[here : here + length]) if here + length <= size else None
                if id is None:
                    continue
                total = narrowed(best[here] + self._scores[id])
                if total > best[here + length]:
                    best[here + length] = total
                    last[here + length] = id
                    before[here + length] = here
                is_one |= here + length == behind
            if not is_one and (total := narrowed(best[here] + self._unknown_score)) > best[behind]:
                best[behind] = total
                last[behind] = NO_TOKEN
                before[behind] = here
        ids = list[int]()
        ends = list[int]()
        place = size
        while place:
            self._put_before(ids, ends, last[place], before[place], place, word)
            place = before[place]
        return WordCut(ids[::-1], ends[::-1], at, ALWAYS)

    def _put_before(self, ids: list[int], ends: list[int], id: int, start: int, stop: int, word: bytes) -> None:
        if id not in self._means_unknown:
            ids.append(id)
            ends.append(stop)
        elif self._unknown is None:
            ids += [self._first_fallback + byte for byte in reversed(word[start:stop])]  # type: ignore[operator]
            ends += range(stop, start, -1)
        elif ids[-1:] != [self._unknown]:  # neighbouring unknown characters are one token
            ids.append(self._unknown)
            ends.append(stop)


# Each part of a word that pieces may cover, with its symbols, its count, and its followers. A follower is the first
# byte of the text that follows, or 0 for the end of a line.
Stretches = list[tuple[Piece, int, set[int]]]

RARE = 0.5
PENALTY = 10.0
LEAST_EXPECTED = 1e-3
MORE_THAN_ASKED = 1.1
DIFFERENCE = 0.0001
RARELY_USED, NOT_ITS_OWN_PATH, LEAST_LOSS, LEAST_LIKELY = range(4)


# --- Seeds ------------------------------------------------------------------------------


def tokens_at_first(words: WordTable, recipe: Recipe) -> Alphabet:
    base = Alphabet.for_words(words, recipe)
    seeds = [
        Symbol(_join_texts(piece, base, "text"), _join_texts(piece, base, "decoded"), "seed")
        for piece in find_seeds(stretches_of(words, base, recipe), base, recipe)
    ]
    return Alphabet((*base.symbols, *seeds))


def stretches_of(words: WordTable, alphabet: Alphabet, recipe: Recipe) -> Stretches:
    """Return the stretches of each word with their counts and followers.

    A stretch is a part of a word in which all characters are in the alphabet. Followers are the bytes that can come
    after a stretch.
    """
    stretches: Stretches = []
    for (word, count), ends in zip(words, words.counts if words.line_ends is None else words.line_ends, strict=True):
        stretch: list[int] = []
        behind = {0} if ends else set[int]()
        if ends < count:
            behind.add(recipe.marker_text.encode()[0])
        for symbol in [*alphabet.symbols_of(word, recipe), NOTHING]:
            if symbol != NOTHING and alphabet.symbols[symbol].merges:
                stretch.append(symbol)
            elif stretch:
                stretches.append((tuple(stretch), count, behind if symbol == NOTHING else {0}))
                stretch = []
    return stretches


def find_seeds(stretches: Stretches, base: Alphabet, recipe: Recipe) -> list[Piece]:
    """Return the pieces that Unigram begins with.

    A seed has at least two symbols, and occurs at least twice. Its letters have one script, and at least two different
    bytes follow it. Of these seeds, the `seed_size` seeds that cover most of the text are returned.
    """
    longest = recipe.max_token_length or 512
    counts: dict[Piece, int] = {}
    followers: dict[Piece, set[int]] = {}
    for stretch, weight, behind in stretches:
        for start in range(len(stretch)):
            for stop in range(start + 2, min(len(stretch), start + longest) + 1):
                piece = stretch[start:stop]
                counts[piece] = counts.get(piece, 0) + weight
                follower = {lead_of(base.symbols[stretch[stop]], recipe)} if stop < len(stretch) else behind
                followers.setdefault(piece, set()).update(follower)
    script_of = {
        id: int(scripts_by(symbol.text.decode(), recipe)[0])
        for id, symbol in enumerate(base.symbols)
        if symbol.kind == "character" and symbol.text.decode() not in recipe.marker_text
    }

    def is_whole(piece: Piece) -> bool:
        """Return whether all letters of a piece have one script, and a marker occurs only at its beginning.

        A character that looks like the marker is treated like the marker.
        """
        scripts = {script_of.get(letter) for letter in piece[piece[0] == base.marker_id :]} - {TRANSPARENT}
        return len(scripts) <= 1 and None not in scripts

    seeds = [piece for piece in counts if counts[piece] >= 2 and len(followers[piece]) > 1 and is_whole(piece)]
    seeds.sort(key=lambda piece: _join_texts(piece, base, "text"))
    seeds.sort(key=lambda piece: (counts[piece] * len(piece), len(_join_texts(piece, base, "text"))), reverse=True)
    return seeds[: recipe.seed_size]


def _join_texts(piece: Piece, base: Alphabet, what: str) -> bytes:
    return b"".join(getattr(base.symbols[symbol], what) for symbol in piece)


# --- Learning ---------------------------------------------------------------------------


def train(words: WordTable, recipe: Recipe) -> History:
    """Drop seeds until the vocabulary has the requested size. Return all steps."""
    run = Run(words, recipe)
    with contextlib.suppress(SizeReached):
        run.look()
        while run.seeds:
            run.round += 1
            rare = [piece for _ in range(recipe.em_passes) for piece in run.estimate()]
            run.set_scores()
            for piece in rare:
                run.drop(piece, RARELY_USED)
            run.prune()
            if len(run.in_force) <= run.most:
                break
        run.round += 1
        run.finish()
    return run.history()


class SizeReached(Exception):
    """An exception that ends learning when the vocabulary is small enough."""


class Run:
    best_path: BestPath = staticmethod(best_path)

    def __init__(self, words: WordTable, recipe: Recipe, alphabet: Alphabet | None = None) -> None:
        self.recipe = recipe
        self.alphabet = alphabet or tokens_at_first(words, recipe)
        self.unknown_tokens = sum(
            count * unknown_tokens(self.alphabet.symbols_of(word, recipe), self.alphabet) for word, count in words
        )
        self.seeds = {id for id, symbol in enumerate(self.alphabet.symbols) if symbol.kind == "seed"}
        specials = len(recipe.special_tokens)
        size = recipe.vocab_size
        first = len(self.alphabet) + specials
        self.limit = first - size if size is not None else min(recipe.merges or 0, len(self.seeds))  # steps
        self.most = int((first - self.limit) * MORE_THAN_ASKED)
        self.corpus = stretches_of(words, self.alphabet, recipe)
        self.paths: dict[Piece, list[int]] = {}  # the best paths known for the scores in force
        self.id_of = ids_by_piece(self.alphabet, recipe)
        self.piece_of = {id: piece for piece, id in self.id_of.items()}
        covered = self.covered()
        self.scores = self.scores_of(covered)
        self.occurring = {id for id in covered if covered[id]}
        self.in_force = set(self.occurring)  # tokens with a probability
        self.rows: list[tuple[int, ...]] = []
        self.reasons: list[tuple[float, int, int]] = []
        self.since, self.score_rows, self.round = [0], [self.score_row()], 0
        self.tokens_at_start = self.count_tokens()

    def covered(self) -> dict[int, int]:
        """Return a dictionary from each token to the number of symbols in the corpus that its occurrences cover.

        Each place with the text of the token counts as an occurrence. Occurrences may overlap.
        """
        covered = dict.fromkeys(range(len(self.alphabet)), 0)
        for stretch, weight, _ in self.corpus:
            for start in range(len(stretch)):
                for stop in range(start + 1, len(stretch) + 1):
                    if (token := self.id_of.get(stretch[start:stop])) is not None:
                        covered[token] += weight * (stop - start)
        return covered

    def scores_of(self, counts: dict[int, int]) -> Scored:
        """Return a score for each token: the logarithm of its share in the sum of all counts."""
        total = math.log(sum(counts.values()))
        return {id: narrow(math.log(max(1, count)) - total) for id, count in counts.items()}

    # Expected counts, and the new scores that follow from them.

    def estimate(self) -> list[int]:
        """Estimate new scores. Return the pieces that become too rare and lose their score, the rarest piece first."""
        scores = self.with_penalties()
        expected = dict.fromkeys(range(len(self.alphabet)), 0.0)
        for stretch, weight, _ in self.corpus:
            for token, share in shares(stretch, self.usable(scores), scores).items():
                expected[token] += weight * share
        counts = {id: narrow(rounded_sum(count)) for id, count in expected.items()}
        stay = {id for id in self.in_force if counts[id] >= RARE}
        rare = sorted((self.in_force - stay) & self.seeds, key=lambda id: (counts[id], -id))
        waiting = len([id for id in self.seeds if self.scores[id] == -math.inf])
        leaving = rare[: self.limit - len(self.rows) - waiting]
        stay |= set(rare) - set(leaving)
        self.in_force = stay or self.in_force - self.seeds
        total = digamma(sum(counts[id] for id in sorted(self.in_force)))
        for id in self.scores:
            known = id in self.in_force
            self.scores[id] = narrow(digamma(max(counts[id], LEAST_EXPECTED)) - total) if known else -math.inf
        return leaving

    def usable(self, scores: Scored) -> Tokens:
        return {piece: id for piece, id in self.id_of.items() if scores[id] > -math.inf}

    def prune(self) -> None:
        counts = self.token_counts()
        size = len(self.in_force)
        total = math.log(sum(counts.values()))
        self.in_force = {id for id in self.in_force if id in self.seeds or counts[id]}
        losses: dict[int, float] = {}
        for piece in sorted(self.in_force & self.seeds):
            others = {symbols: id for symbols, id in self.id_of.items() if id != piece}
            score, path = best_path(self.piece_of[piece], others, self.scores)
            if counts[piece] and narrow(score) <= self.scores[piece]:
                count = counts[piece]
                new_total = math.log(sum(counts.values()) + count * (len(path) - 1))
                replaced = sum(math.log(counts[other] + count) - new_total for other in path)
                losses[piece] = narrow(count / sum(counts.values()) * (math.log(count) - total - replaced))
        for piece in sorted(self.seeds - set(losses), key=lambda id: (self.scores[id], -id)):
            self.drop(piece, NOT_ITS_OWN_PATH)
        room = max(self.most, size * self.recipe.keep_share // 100) - len(self.in_force - self.seeds)
        ranking = sorted(losses, key=lambda id: (losses[id], -id))
        for piece in ranking[: max(0, len(ranking) - max(0, room))]:
            self.drop(piece, LEAST_LOSS, losses[piece])

    def finish(self) -> None:
        """Give every base symbol a score. Then drop the least likely pieces until the vocabulary has the right size."""
        covered = self.covered()
        missing = sorted(
            (self.occurring & set(self.scores)) - self.seeds - self.in_force, key=lambda id: (-covered[id], id)
        )
        least = min(self.scores[id] for id in self.in_force)
        for number, symbol in enumerate(missing):
            self.scores[symbol] = narrow(least + narrow(narrow(DIFFERENCE) * number))
        self.in_force |= set(missing)
        text_of = [symbol.text for symbol in self.alphabet.symbols]
        pieces = sorted(sorted(self.seeds, key=lambda id: text_of[id], reverse=True), key=lambda id: self.scores[id])
        leaving = pieces[: self.limit - len(self.rows)]
        self.set_scores(self.in_force - set(leaving))
        for piece in leaving:
            self.drop(piece, LEAST_LIKELY)

    # Steps.

    def drop(self, piece: int, cause: int, loss: float = math.nan) -> None:
        count = self.token_counts()[piece]
        self.seeds.remove(piece)
        self.in_force.discard(piece)
        del self.id_of[self.piece_of[piece]], self.scores[piece]
        self.paths = {stretch: path for stretch, path in self.paths.items() if piece not in path}
        self.reasons.append((loss, self.round, cause))
        self.rows.append((piece, NOTHING, count, NOTHING, NOTHING, NOTHING, self.count_tokens()))
        self.look()

    def look(self) -> None:
        if len(self.rows) == self.limit:
            raise SizeReached

    def token_counts(self) -> dict[int, int]:
        counts = dict.fromkeys(range(len(self.alphabet)), 0)
        tokens = self.usable(self.scores)
        for stretch, weight, _ in self.corpus:
            if stretch not in self.paths:
                self.paths[stretch] = self.best_path(stretch, tokens, self.scores)[1]
            for token in self.paths[stretch]:
                counts[token] += weight
        return counts

    def count_tokens(self) -> int:
        """Return the number of tokens in the corpus, including the tokens for unknown characters."""
        return sum(self.token_counts().values()) + self.unknown_tokens

    # Scores.

    def set_scores(self, staying: set[int] | None = None) -> None:
        self.scores = self.with_penalties(staying)
        self.paths = {}
        if len(self.since) > 1 and self.since[-1] == len(self.rows):  # the row before was never in force
            self.since.pop()
            self.score_rows.pop()
        self.since.append(len(self.rows))
        self.score_rows.append(self.score_row())

    def with_penalties(self, staying: set[int] | None = None) -> Scored:
        """Return all scores. A base symbol without a probability gets the lowest score of the tokens, minus a penalty.

        The lowest score is that of the tokens in `staying`, or of all tokens with a probability if `staying` is None.
        """
        least = min((self.scores[id] for id in (self.in_force if staying is None else staying)), default=0.0)
        return {
            id: score if id in self.in_force or id in self.seeds else narrow(least - PENALTY)
            for id, score in self.scores.items()
        }

    def score_row(self) -> list[float]:
        return [self.scores[id] for id in sorted(self.scores)]

    def history(self) -> History:
        names = ("loss", "round", "cause")
        kinds = (np.float64, np.int32, np.int8)
        reasons = {name: np.array([row[i] for row in self.reasons], kinds[i]) for i, name in enumerate(names)}
        reason: EndReason = "vocabulary full" if len(self.rows) == self.limit else "no pairs"
        dropped = np.array([row[0] for row in self.rows], np.int32)
        scores = Scores(self.since, [np.array(row, np.float32) for row in self.score_rows], dropped)
        return as_history(
            self.rows, self.recipe, self.alphabet, self.tokens_at_start, reason, reasons=reasons, scores=scores
        )


def shares(stretch: Piece, tokens: Tokens, scores: Scored) -> dict[int, float]:
    """Return the expected count of each token in a stretch.

    The expected count is the average over all ways to split the stretch, weighted by their probability.
    """
    size = len(stretch)
    edges = [
        (start, stop, tokens[stretch[start:stop]])
        for start in range(size)
        for stop in range(start + 1, size + 1)
        if stretch[start:stop] in tokens
    ]
    nothing = -math.inf  # logarithms, as the probabilities of long words are too small for floats
    # The sums over all paths to a position, and over all paths from this position to the end.
    reached = [0.0] + [nothing] * size
    left = [nothing] * size + [0.0]
    for start, stop, token in edges:
        reached[stop] = log_of_sum(reached[stop], reached[start] + scores[token])
    for start, stop, token in sorted(edges, key=lambda edge: (-edge[0], edge[1])):
        left[start] = log_of_sum(left[start], scores[token] + left[stop])
    count_of: dict[int, float] = {}
    for start, stop, token in edges:
        share = math.exp(reached[start] + scores[token] + left[stop] - reached[size])
        count_of[token] = count_of.get(token, 0.0) + share
    return count_of


def log_of_sum(first: float, second: float) -> float:
    low, high = sorted((first, second))
    return high if low == -math.inf else high + math.log1p(math.exp(low - high))


def unknown_tokens(symbols: Sequence[int], alphabet: Alphabet) -> int:
    """Return the number of tokens for the unknown characters of a word.

    Each byte is a token if the alphabet has tokens for bytes. Otherwise each run of neighbouring unknown characters is
    a token.
    """
    unknown = [not alphabet.symbols[symbol].merges for symbol in symbols]
    if alphabet.unknown_id is None:
        return sum(unknown)
    return sum(here and not before for before, here in zip([False, *unknown], unknown, strict=False))


def digamma(number: float) -> float:
    lost = 0.0
    while number < 7:
        lost += 1 / number
        number += 1
    square = 1 / (number - 0.5) ** 2
    series = square * (1 / 24 - square * (7 / 960 - square * (31 / 8064 - square * 127 / 30720)))
    return math.log(number - 0.5) + series - lost


def narrow(number: float) -> float:
    return float(np.float32(number))


def rounded_sum(number: float) -> float:
    """Round a sum so that its last bits, which depend on the order of adding, are zero."""
    fraction, exponent = math.frexp(number)
    return math.ldexp(round(math.ldexp(fraction, 40)), exponent - 40)
