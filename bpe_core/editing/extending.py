"""A table that goes on learning on new texts: all that it has keeps its ids.

- Steps that can be made again on other words are, and the learner goes on from there.
- A table that joins in an order of its own, or lists WordPiece's tokens only, cuts the words as it is (`go_on`).
- Unigram's new pieces are the best of a vocabulary learned on the new texts alone (`more_pieces`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bpe_core.counting.count_words import count_words
from bpe_core.counting.words import WordTable
from bpe_core.editing.added_pieces import more_pieces
from bpe_core.editing.further_merges import go_on
from bpe_core.editing.numbering import further_numbers, numbers_of
from bpe_core.editing.without_tokens import Further, lone_characters, without
from bpe_core.history.arguments import Learned, history_of
from bpe_core.history.history import History, Int64s
from bpe_core.learning.growing import check_grew, growing_recipe, grown_numbers, makes_steps_again, steps_alone
from bpe_core.learning.trainer import learn
from bpe_core.recipes.methods import METHODS
from bpe_core.recipes.recipe import Recipe
from bpe_core.support.progress import CancelCheck, ProgressReport, Work, ignore_progress, never_cancelled
from bpe_core.text.corpus import Corpus


@dataclass(frozen=True, eq=False)
class Extended:
    history: History
    new_ids: Int64s  # for each id of before the one of now
    characters: int = 0  # that only longer tokens held, and that have a token of their own now

    @property
    def added(self) -> Int64s:
        """The ids of all that is new, by their numbers."""
        new = np.setdiff1d(np.arange(self.history.id_count), self.new_ids)
        return new[np.argsort(self.history.numbers_of(new))]


def extend(
    corpus: Corpus,
    learned: Learned,
    by: int,
    *,
    first_id: int | None = None,
    progress: ProgressReport = ignore_progress,
    cancelled: CancelCheck = never_cancelled,
    **changes: Any,
) -> Extended:
    """So many tokens more, learned on a corpus; `changes` are of choices such as min_frequency or ties."""
    history = history_of(learned)
    recipe = growing_recipe(history, by, **changes)
    words = count_words(corpus, recipe, Work(progress, cancelled))
    return extend_on(words, history, recipe, first_id, progress=progress, cancelled=cancelled)


def extend_on(
    words: WordTable,
    history: History,
    recipe: Recipe,
    first_id: int | None = None,
    *,
    progress: ProgressReport = ignore_progress,
    cancelled: CancelCheck = never_cancelled,
) -> Extended:
    """The same with words that are counted, by a recipe that `growing_recipe` made."""
    known = numbers_of(history)
    if not METHODS[recipe.method].can_be_steered:
        added = more_pieces(words, history, recipe, progress=progress, cancelled=cancelled)
        added.history.recipe = added.history.recipe.with_changes(name=recipe.name)
        numbers = further_numbers(known, added.old_ids, first_id)
        return Extended(added.history.numbered(numbers), added.new_ids)
    if makes_steps_again(history):
        grown = learn(words, recipe, history=steps_alone(history), progress=progress, cancelled=cancelled)
        check_grew(grown)
        return Extended(grown.numbered(grown_numbers(grown, known, first_id)), places_in(grown, history))
    lone = lone_characters(history)
    table = without(history, np.zeros(history.id_count, np.bool_), further=Further(lone))
    known = further_numbers(known, table.old_ids, first_id)
    first_id = None if first_id is None else first_id + len(lone)
    grown = go_on(words, table.history if lone else history, recipe, progress=progress, cancelled=cancelled)
    check_grew(grown)
    new_ids = places_in(grown, table.history)[table.new_ids]
    return Extended(grown.numbered(grown_numbers(grown, known, first_id)), new_ids, len(lone))


def places_in(grown: History, old: History) -> Int64s:
    """The ids of a table's tokens where steps were made behind its own: only special tokens stand behind these."""
    ids = np.arange(old.id_count)
    ids[old.first_special :] += grown.first_special - old.first_special
    return ids
