"""The reference implementation of MinGram, as the paper on MinGram describes it: short, plain and slow.

**The split.** A word is split into the fewest tokens. If several splits have the same number of tokens, the most
probable split wins. It has the highest sum of log-probabilities, as in Unigram. With `low`, `er` and `lo`, `wer` there
are two ways to split `lower` into two tokens, and their probabilities decide.

**Learning.** Begin with the tokens of byte-pair encoding, a tenth more than requested. The first probabilities follow
from the number of symbols that each token could cover in the corpus. Twice (`em_passes`), split all words and compute
the probabilities from the counts of the tokens. Then repeat two steps until the size is reached: drop the
token that is used least, and split its words again.

    >>> words = WordTable.from_counts({"low": 5, "lower": 2, "newest": 6, "widest": 3})
    >>> history = train(words, Recipe.preset("mingram", merges=1))
    >>> [history.alphabet.symbols[step.left].text.decode() for step in history]
    ['▁w']

Log-probabilities are rounded to sixteenths, so that their sums are exact.
"""

from __future__ import annotations

import contextlib

import bpe_core.methods.bpe.reference as bpe
import bpe_core.methods.unigram.reference as unigram
from bpe_core.counting.words import WordTable
from bpe_core.history.alphabet import Alphabet, Symbol
from bpe_core.history.columns import Scores
from bpe_core.history.history import History
from bpe_core.methods.mingram.choices import COST
from bpe_core.methods.unigram.reference import Piece, Scored, Tokens
from bpe_core.recipes.recipe import Recipe

SIXTEENTHS = 16


def fewest_tokens(stretch: Piece, tokens: Tokens, scores: Scored) -> tuple[float, list[int]]:
    """Return the best way to split a stretch into the fewest tokens: its score and its tokens.

    In a tie, the way with the longest last token wins.
    """
    best: list[tuple[int, float, list[int]]] = [(0, 0.0, [])]
    for stop in range(1, len(stretch) + 1):
        ways = [
            (best[start][0] - 1, best[start][1] + scores[token], [*best[start][2], token])
            for start in range(stop)
            if (token := tokens.get(stretch[start:stop])) is not None
        ]
        best.append(max(ways, key=lambda way: way[:2]))
    return best[-1][1:]


def tokens_at_first(words: WordTable, recipe: Recipe) -> Alphabet:
    base = Alphabet.for_words(words, recipe)
    room = int((recipe.vocab_size or 0) * 1.1) - len(base) - len(recipe.special_tokens)
    wanted = max(0, room) if recipe.merges is None else 11 * recipe.merges  # ten elevenths of these tokens stay
    joined = bpe.train(words, recipe.with_changes(method="bpe", ties="first-seen", merges=wanted))
    spelled: list[Piece] = [(id,) for id in range(len(base))]
    for left, right in joined.pairs():
        spelled.append(spelled[left] + spelled[right])
    seeds = list[Symbol]()
    for piece in dict.fromkeys(spelled[len(base) :]):
        symbols = [base.symbols[id] for id in piece]
        if all(symbol.kind == "marker" or symbol.text.decode() not in recipe.marker_text for symbol in symbols):
            text, decoded = (b"".join(getattr(symbol, what) for symbol in symbols) for what in ("text", "decoded"))
            seeds.append(Symbol(text, decoded, "seed"))
    return Alphabet((*base.symbols, *seeds))


class Run(unigram.Run):
    best_path = staticmethod(fewest_tokens)

    def scores_of(self, counts: dict[int, int]) -> Scored:
        return {id: round(score * SIXTEENTHS) / SIXTEENTHS for id, score in super().scores_of(counts).items()}


def train(words: WordTable, recipe: Recipe) -> History:
    """Drop pieces until the vocabulary has the requested size. Return all steps."""
    run = Run(words, recipe, tokens_at_first(words, recipe))
    with contextlib.suppress(unigram.SizeReached):
        run.look()
        for _ in range(recipe.em_passes):
            run.scores = run.scores_of(run.token_counts())
            run.set_scores()
        counts = run.token_counts()
        for piece in sorted(run.seeds, key=lambda id: (counts[id], -id)):
            run.drop(piece, unigram.RARELY_USED)
    learned = run.history()
    assert learned.scores is not None
    scores = Scores(learned.scores.since, [row - COST for row in learned.scores.rows], learned.scores.dropped)
    return History(
        recipe, run.alphabet, learned.columns, scores=scores, tokens_at_start=learned.tokens_at_start,
        end_reason=learned.end_reason,
    )  # fmt: skip
