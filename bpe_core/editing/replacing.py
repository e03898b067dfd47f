"""The replacement of tokens: the best new tokens get the ids of the tokens that a corpus needs least.

The size of the table and all other ids stay the same. So a model keeps its embeddings, and only the rows of the
replaced tokens must be trained again. Tokens are removed in the same way as by `trim`, so every other token can still
be made. New tokens are learned in the same way as by `extend`. If fewer new tokens can be learned than requested, fewer
tokens are replaced.

    >>> from bpe_core.history.alphabet import Alphabet
    >>> from bpe_core.recipes.recipe import Recipe
    >>> pairs = [(113, 122), (108, 111)]  # q+z, l+o
    >>> history = History.from_pairs(Recipe.preset("gpt2"), Alphabet.of_bytes(), pairs)
    >>> found = replace(Corpus.from_texts(["low low lower"]), history, 1)
    >>> found.removed, found.added.tolist(), found.history.numbers_of(found.history.vocabulary)[-2:].tolist()
    ((256,), [256], [257, 256])
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bpe_core.counting.count_words import count_words
from bpe_core.counting.words import WordTable
from bpe_core.editing.extending import extend_on
from bpe_core.editing.growing import growing_recipe
from bpe_core.editing.trimming import Trimmed, check_can_be_edited, least_used, sentence_of_characters, trim_indices
from bpe_core.errors import BpeError, NothingToLearn
from bpe_core.formats.base import NO_NUMBER, ids_beside, own_numbers
from bpe_core.history.arguments import Learned, history_of
from bpe_core.history.history import History, Int64s
from bpe_core.history.token_texts import quoted, written
from bpe_core.insight.audit import TokenPlaces
from bpe_core.support.progress import CancelCheck, ProgressReport, Work, ignore_progress, never_cancelled
from bpe_core.support.wording import count_text
from bpe_core.text.corpus import Corpus

MOST_QUOTED = 5


@dataclass(frozen=True, eq=False)
class Replacement:
    """A table in which new tokens have replaced some tokens. All ids are ids in the tokenizer's file."""

    history: History
    asked: int  # how many tokens were to be swapped
    removed: tuple[int, ...]  # the ids that mean other tokens now
    removed_texts: tuple[bytes, ...]  # the tokens that had these ids
    characters: int = 0  # characters among the new tokens that only removed tokens held

    @property
    def added(self) -> Int64s:
        """Return the ids of the new tokens in ascending order. New tokens take over the ids of the removed tokens."""
        return np.array(sorted(self.removed), np.int64)

    @property
    def new_ids(self) -> Mapping[int, int]:
        """Return a dictionary from the old id of each remaining token to its new id.

        A replacement changes no id, so each id maps to itself.
        """
        gone = set(self.removed)
        ids = self.history.numbers_of(self.history.vocabulary).tolist()
        specials = self.history.numbers_of(np.arange(self.history.first_special, self.history.index_count)).tolist()
        return {id: id for id in sorted((*ids, *specials)) if id >= 0 and id not in gone}

    @property
    def sentences(self) -> list[str]:
        swapped = len(self.removed)
        some = ", ".join(map(quoted, self.removed_texts[:MOST_QUOTED]))
        more = " …" if swapped > MOST_QUOTED else ""
        sentences = [
            f"{count_text(swapped, 'token is', 'tokens are')} replaced by the same number of new tokens, which get "
            "the ids of the replaced tokens. All other ids and the size of the vocabulary stay the same. "
            f"Replaced tokens: {some}{more}"
        ]
        if swapped < self.asked:
            sentences.append(
                f"Only {swapped:,} of the requested {count_text(self.asked, 'token is', 'tokens are')} swapped, "
                "because no other token of the corpus occurs often enough."
            )
        if self.characters:
            sentences.append(sentence_of_characters(self.characters))
        return sentences


def replace(
    corpus: Corpus,
    learned: Learned,
    swap: int,
    *,
    progress: ProgressReport = ignore_progress,
    cancelled: CancelCheck = never_cancelled,
    **changes: Any,
) -> Replacement:
    """Replace the tokens that a corpus needs least by the best new tokens.

    Each new token gets the id of a replaced token.

    Parameters
    ----------
    corpus
        The texts in which the tokens are counted, and from which the new tokens are learned.
    learned
        A study, or another object with a history.
    swap
        The number of tokens to replace by new tokens.
    progress, cancelled
        The callbacks that receive the progress and may cancel the work.
    **changes
        Choices for learning such as `min_frequency` or `ties`.

    Examples
    --------
    >>> import bpe_core as bpe
    >>> study = bpe.train("low low lower", "gpt2", vocab_size=258)
    >>> replaced = replace(bpe.Corpus.from_texts(["new new newer"]), study, swap=1)
    >>> replaced.removed, replaced.removed_texts
    ((257,), (b'low',))
    """
    history = history_of(learned)
    check_can_be_edited(history)
    work = Work(progress, cancelled)
    words = count_words(corpus, growing_recipe(history, max(1, swap), **changes), work)
    return replace_on([words], history, swap, changes, work)


def replace_on(
    parts: Sequence[WordTable], history: History, swap: int, changes: Mapping[str, Any], work: Work
) -> Replacement:
    """Replace `swap` tokens. The counts of words decide which tokens are removed and which are learned.

    `parts` has a table of counted words for each part of a corpus.
    """
    if swap < 1:
        raise BpeError(f"The number of tokens to swap must be at least 1, not {swap:,}.")
    check_can_be_edited(history)
    counts = TokenPlaces.of(parts, history).counts
    chosen = least_used(history, counts, swap, cancelled=work.cancelled)
    words = WordTable.merged(parts)
    while chosen:
        left = trim_indices(history, chosen, renumber=False, cancelled=work.cancelled)
        wanted = len(left.removed) - left.added
        if wanted < 1:
            raise NothingToLearn(
                f"No token was swapped: without {count_text(len(left.removed), 'token')}, "
                f"{count_text(left.added, 'character')} would need a token, so no id is left for a new token. Swap "
                f"more than {count_text(left.added, 'token')}."
            )
        try:
            grown = extend_on(words, left.history, growing_recipe(left.history, wanted, **changes), None, work)
        except NothingToLearn:
            break
        texts = _texts_of(history, left.removed)
        learned = _texts_of(grown.history, grown.added.tolist())
        again = {index for index in chosen if written(history)[index] in {*learned.values()}}
        if again:  # the corpus needs these more than others that it could have
            chosen = [index for index in chosen if index not in again]
        elif len(learned) < wanted:
            chosen = chosen[: len(learned) - wanted]
        else:
            numbered = _with_freed_ids(grown.history, left)
            return Replacement(numbered, swap, left.removed, tuple(texts.values()), left.added)
    raise NothingToLearn(
        "No token was swapped: even the tokens that this corpus needs least save more than a new token would save. "
        "Add texts, choose other texts, or lower the minimum count."
    )


def _texts_of(history: History, ids: Iterable[int]) -> dict[int, bytes]:
    """Return a dictionary from each of the given ids to the text of its token. The ids are ids of the file."""
    wanted = {*ids}
    numbers = own_numbers(history)[: history.first_special].tolist()
    return {id: text for id, text in zip(numbers, written(history), strict=True) if id in wanted}


def _with_freed_ids(history: History, left: Trimmed) -> History:
    """Return a history in which the new tokens have the ids of the removed tokens, in ascending order."""
    numbers = own_numbers(history).copy()
    stays = np.array([*left.new_ids], np.int64)
    new = np.flatnonzero((numbers != NO_NUMBER) & ~np.isin(numbers, stays))
    new = new[np.argsort(numbers[new])]
    numbers[new] = np.sort(np.array(left.removed, np.int64))
    return history.numbered(ids_beside(history, numbers))
