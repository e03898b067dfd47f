"""The learner of Best, which searches for the pieces that split the words into the fewest tokens.

All pieces that may be useful get prices (see `prices.py`). A vocabulary is made from the prices, and swaps improve it.
The chosen pieces are then added one by one, the most valuable first, as byte-pair encoding adds its tokens. Words are
split by the rule of MinGram: a word is split into the fewest tokens. If several splits have the same number of tokens,
the most probable split is chosen.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from bpe_core.counting.words import WordTable
from bpe_core.errors import FormatError, SizeDoesNotFit
from bpe_core.history.alphabet import Alphabet
from bpe_core.history.columns import ADDED, DROPPED, Float32s, Scores
from bpe_core.history.history import History, Reasons
from bpe_core.kernels.stored_code import EVERY_PART
from bpe_core.methods.kit.cells import may_be_joined
from bpe_core.methods.kit.dropping_learner import Batch, DroppingLearner, LatticesMaker, first_scores
from bpe_core.methods.kit.floor.lattice import LONGEST, Lattice
from bpe_core.methods.kit.floor.search import Budget, Guess, Search
from bpe_core.methods.kit.floor.vocabulary import by_value
from bpe_core.methods.kit.learner import Candidate, LearnerStart
from bpe_core.methods.kit.reasons import Reason
from bpe_core.methods.mingram.learn import fewest_first
from bpe_core.methods.unigram.learn import check_marker, compiled_lattices, compiled_way
from bpe_core.recipes.recipe import Recipe
from bpe_core.support.arrays import Int32s, Int64s
from bpe_core.support.wording import count_text

ROUNDS, SWAPS = 600, 60  # the same on every machine
USUAL_LONGEST = 16


class BestLearner(DroppingLearner):
    """A learner that searches for the best pieces, and then adds them one by one, the most valuable piece first.

    To find this order, the learner drops the chosen pieces, beginning with the least valuable, and then reverses the
    order. If a given history already adds some pieces, these come first. The least valuable pieces are left out to make
    room.
    """

    _right = ADDED

    def __init__(
        self,
        words: WordTable,
        alphabet: Alphabet,
        recipe: Recipe,
        forced: History | None,
        lattices: LatticesMaker,
        *,
        search: Search | None = None,  # the search that made the alphabet, if there was a search
    ) -> None:
        self._search = search or _new_search(words, recipe)
        self._is_found = False
        super().__init__(words, alphabet, recipe, forced, lattices)
        self.tokens_at_start = int(self.coverage[~self._is_seed].sum()) + self._unknown_tokens

    @property
    def scores(self) -> Scores:
        return Scores((0,), (self._rows[0],), self._dropped[: self.learned])

    def candidates(self, wanted: int) -> list[Candidate]:
        """Return the chosen pieces that have not been added yet.

        Until the search has ended, return the pieces that are the best according to the current prices.
        """
        if self._is_found:
            return super().candidates(min(wanted, len(self._batch.pieces) - self._next))
        search = self._search
        first = len(self._alphabet) - self._alphabet.seed_count
        most = np.lexsort((-search.lattice.saves, -search.wish))[:wanted]
        counts = search.lattice.counts[most].tolist()
        saves = search.lattice.saves[most].tolist()
        rows = zip(most.tolist(), counts, saves, strict=True)
        return [Candidate(first + piece, ADDED, count, {"saves": most}) for piece, count, most in rows]

    def _room_for_reasons(self, steps: int) -> Reasons:
        return {"saves": np.empty(steps, np.int64)}

    def _rounds(self) -> Iterator[bool]:
        search = self._search
        ranking = np.zeros(0, np.int64)
        search.wanted = steps_planned(self._recipe, self._alphabet)
        for _ in search.steps():
            self._work -= len(search.lattice.edges.piece)
            yield True
        for longer in by_value(search.lattice, search.best):
            ranking = longer
            self._work -= len(search.lattice.edges.piece)
            yield True
        pieces = self._with_forced(len(self._alphabet) - len(search.lattice) + ranking)
        outside = self._is_seed.copy()
        outside[pieces] = False
        for number in range(1 + self._recipe.em_passes):
            scores = fewest_first(first_scores(self._lattices.counts)) if number else self._first_scores()
            self._scores = np.where(outside, DROPPED, scores).astype(np.float32)
            self._rows = [_read_only(scores)]
            yield from self._cut()
        tokens = self._tokens()
        yield from self._in_slices(partial(self._lattices.plan, pieces=pieces[::-1].copy()))
        left = np.append(tokens, self._lattices.tokens_after + self._unknown_tokens)[
            ::-1
        ]  # at first, and after each step
        self._batch = Batch(pieces, {"saves": -np.diff(left)}, self._lattices.leaving[::-1], left[1:])
        self._is_found = True
        yield True

    def _first_scores(self) -> Float32s:
        return fewest_first(first_scores(self.coverage))

    def _with_forced(self, chosen: Int64s) -> Int32s:
        forced = self._forced[: self._search.wanted]
        if len(forced) and not self._is_seed[np.clip(forced, 0, len(self._is_seed) - 1)].all():
            raise FormatError("The steps do not belong to these words: a step adds a token that occurs in no word.")
        pieces = np.concatenate((forced, chosen[~np.isin(chosen, forced)]))[: len(chosen)]
        return pieces.astype(np.int32)

    def _remove_pieces(self, pieces: Int32s) -> None:
        """Do nothing, because this method adds pieces and drops none."""


def _read_only(row: Float32s) -> Float32s:
    row.flags.writeable = False
    return row


def steps_planned(recipe: Recipe, alphabet: Alphabet) -> int:
    always = len(alphabet) - alphabet.seed_count + len(recipe.special_tokens)
    wanted = recipe.merges if recipe.vocab_size is None else recipe.vocab_size - always
    if wanted is None or wanted < 0:
        raise SizeDoesNotFit(
            f"A vocabulary of {recipe.vocab_size or 0:,} has no room for the {count_text(always, 'token')} that it "
            "always has: every character of the text, and the special tokens.",
            f"Choose a size of at least {always:,}, or set an alphabet limit.",
            always + alphabet.seed_count // 2,
        )
    return min(wanted, alphabet.seed_count)


def _new_search(words: WordTable, recipe: Recipe) -> Search:
    check_marker(recipe)
    base = Alphabet.for_words(words, recipe)
    longest = min(LONGEST, recipe.max_token_length or USUAL_LONGEST)
    wanted = recipe.merges if recipe.vocab_size is None else recipe.vocab_size - len(base) - len(recipe.special_tokens)
    wanted = max(0, wanted or 0)
    guess = Guess.of(words, recipe, wanted, longest)
    limit = guess.worth(wanted) // 2
    joined = may_be_joined(base, recipe)
    lattice = Lattice.of(words, base, recipe, longest=longest, limit=limit, joined=joined)
    return Search(lattice, wanted, guess, Budget(ROUNDS, SWAPS, gap=recipe.gap_to_floor / 1_000))


def tokens_at_first(words: WordTable, recipe: Recipe) -> Alphabet:
    return _alphabet_of(_new_search(words, recipe), words, recipe)


def _alphabet_of(search: Search, words: WordTable, recipe: Recipe) -> Alphabet:
    base = Alphabet.for_words(words, recipe)
    if not len(search.lattice):
        return base
    return Alphabet(base.symbols, search.lattice.spelled(np.arange(len(search.lattice))))


def begin(words: WordTable, recipe: Recipe, known: History | None) -> LearnerStart:
    """Return the learner, ready for its first step.

    The learner searches for the best pieces. If `known` is None, each piece that it may choose is a seed of the
    alphabet. Otherwise the alphabet is that of the history `known`.
    """
    search = _new_search(words, recipe)
    alphabet = _alphabet_of(search, words, recipe) if known is None else known.alphabet
    steps_planned(recipe, alphabet)
    return LearnerStart(alphabet, BestLearner(words, alphabet, recipe, known, compiled_lattices(), search=search))


SAVES = Reason.of_column(
    "saves", "The number of tokens that the piece saves in the corpus, after the pieces that were added earlier"
)


COMPILED = compiled_way(BestLearner, EVERY_PART)  # the kernels price pieces, weigh them and join pairs
