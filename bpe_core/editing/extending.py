"""Functions that learn more tokens for a table from new texts. All tokens of the table keep their ids.

There are three cases:

- If a learner can repeat the steps of the table on the new words, it does so, and then learns more steps.
- Some tables merge by priority, or list tokens without steps. Then the table splits the new words into tokens, and
  these tokens are the base symbols of a second training run (`train_further`). The merges of the second run get lower
  priorities than all pairs of the table.
- If tokens have log-probabilities, a second vocabulary is learned only on the new texts, and its best pieces are added
  (`more_pieces`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bpe_core.counting.count_words import count_words
from bpe_core.counting.words import WordTable
from bpe_core.editing.added_pieces import more_pieces
from bpe_core.editing.growing import (
    NOTHING_NEW,
    can_repeat_steps,
    check_grew,
    growing_recipe,
    grown_numbers,
    without_counts,
)
from bpe_core.editing.without_tokens import AdditionalTokens, further_numbers, numbers_of, remove_tokens
from bpe_core.errors import NothingToLearn
from bpe_core.formats.base import NO_NUMBER
from bpe_core.history.arguments import Learned, history_of
from bpe_core.history.history import History, Int64s, Pair
from bpe_core.history.joining import MergePriorities, PairRows
from bpe_core.history.token_texts import written
from bpe_core.methods.kit.method import Method
from bpe_core.methods.kit.trainer import learn
from bpe_core.methods.registry import METHODS
from bpe_core.recipes.recipe import Recipe
from bpe_core.segmenting.cutting import Cutting
from bpe_core.support.progress import (
    ALONE,
    CancelCheck,
    ProgressReport,
    Work,
    ignore_progress,
    never_cancelled,
    while_wanted,
)
from bpe_core.text.corpus import Corpus

FIRST_CODE = 0x10000  # the first code point that stands for a token; there are no surrogates after it
BY_IDS = "lowest-ids"  # the tie rule if the recipe's own rule compares texts


def train_further(words: WordTable, history: History, recipe: Recipe, work: Work) -> History:
    """Learn new steps with the tokens of the table as base symbols. Return the table with these steps added.

    The recipe says how many steps the new table has. The old steps get no counts.
    """
    in_codes = WordTable.from_counts(_words_as_characters(words, history, work.cancelled))
    by = (recipe.merges or 0) - len(history)
    of_codes = _of_codes(recipe, by)
    if len(in_codes) == 0:
        raise NothingToLearn(NOTHING_NEW)
    trained = learn(in_codes, of_codes, progress=work.progress, cancelled=work.cancelled)
    grown = _with_pairs(history, recipe, trained)
    while (missing := by - len(grown) + len(history)) > 0 and trained.end_reason == "vocabulary full":
        of_codes = of_codes.with_changes(merges=len(trained) + missing)  # some new steps made tokens that exist already
        trained = learn(in_codes, of_codes, history=trained, progress=work.progress, cancelled=work.cancelled)
        grown = _with_pairs(history, recipe, trained)
    return grown


def _of_codes(recipe: Recipe, by: int) -> Recipe:
    method = METHODS[recipe.method]
    ties = recipe.ties if recipe.ties == "first-seen" else BY_IDS
    said = {"merges": by, "min_frequency": recipe.min_frequency, "ties": ties, "max_token_length": None}
    if method.has_continuations:  # this method may choose by more than the count
        said |= {"method": recipe.method, **{name: getattr(recipe, name) for name in method.own_choices}}
    return Recipe.preset("words", **said)


def _words_as_characters(words: WordTable, history: History, cancelled: CancelCheck) -> list[tuple[bytes, int]]:
    """Encode words, and represent each token by a single character.

    Return strings of such characters with their counts.

    Some tokens must not be joined with others. A word is divided at these tokens, and they are left out.
    """
    joining = history.joining
    segmenter = METHODS[history.recipe.method].cutter(history, Cutting(history.recipe))
    alone = {id for id, symbol in enumerate(history.alphabet.symbols) if not symbol.merges} | {-1}
    alone |= set() if joining is None else {*joining.found_first}
    stretches: list[tuple[bytes, int]] = []
    for word, count in while_wanted(words, cancelled):
        stretch: list[str] = []
        for id in (*segmenter.ids_of_word(word, len(history)), -1):
            if id not in alone:
                stretch.append(chr(id + FIRST_CODE))
            elif stretch:
                stretches.append(("".join(stretch).encode(), count))
                stretch = []
    return stretches


def _token_of_character(text: bytes) -> int:
    """Return the token of the extended table that is written as the character `text`.

    To extend a table, `train_further` trains again. In this second training run, the base symbols are the tokens of the
    table, and each of them is written as one character. Only the unknown token is written as a longer text. Return -1
    for it.
    """
    character = text.decode()
    return ord(character) - FIRST_CODE if len(character) == 1 else -1


def _with_pairs(history: History, recipe: Recipe, trained: History) -> History:
    """Extend the table `history` by the tokens that a second training run, `trained`, has learned.

    If a joined pair has the text of an existing token, no token is added. The merge of this pair makes the
    existing token.
    """
    joining = history.joining
    texts = written(history)
    ids = [_token_of_character(symbol.decoded) for symbol in trained.alphabet.symbols]
    hidden = set() if joining is None else set(joining.hidden)
    id_of = {text: id for id, text in reversed(list(enumerate(texts))) if id not in hidden}
    rows: list[tuple[int, int, int]] = []
    born: list[Pair] = []
    for first, other in trained.pairs():
        left = ids[first]
        right = ids[other]
        text = history.alphabet.joined_text(texts[left], texts[right])
        if text not in id_of:
            id_of[text] = len(texts)
            texts.append(text)
            born.append((left, right))
        ids.append(id_of[text])
        rows.append((left, right, id_of[text]))
    steps = recipe.with_changes(merges=len(history) + len(born))
    joining = None if joining is None else _with_lower_priorities(joining, rows, len(born))
    grown = History.from_pairs(steps, history.alphabet, history.pairs() + born, joining)
    grown.end_reason = trained.end_reason
    return grown


def _with_lower_priorities(joining: MergePriorities, rows: list[tuple[int, int, int]], born: int) -> MergePriorities:
    new = np.array(rows, np.int64).reshape(-1, 3).T
    if joining.pairs is not None:
        columns: list[Int64s] = [np.concatenate(both) for both in zip(joining.pairs, new, strict=True)]
        return replace(joining, pairs=PairRows(*columns))
    assert joining.priorities is not None
    first = int(joining.priorities.max(initial=0)) + 1
    return replace(joining, priorities=np.concatenate([joining.priorities, np.arange(first, first + born)]))


@dataclass(frozen=True, eq=False)
class Extended:
    """A table that was extended by new tokens. All ids are those of the tokenizer's file."""

    history: History
    places: Int64s  # the new index of each former index
    characters: int = 0  # characters that only longer tokens held, and that now have their own token

    @property
    def added(self) -> Int64s:
        """Return the ids of all new tokens in ascending order."""
        return self.history.numbers_of(self.added_indices)

    @property
    def new_ids(self) -> Mapping[int, int]:
        """Return a dictionary from each former id to the new id. Both ids are equal, because tokens keep their ids."""
        ids = self.history.numbers_of(self.places)
        return {id: id for id in ids[ids != NO_NUMBER].tolist()}

    @property
    def added_indices(self) -> Int64s:
        """Return the indices of all new tokens, in the order of their ids."""
        new = np.setdiff1d(np.arange(self.history.index_count), self.places)
        return new[np.argsort(self.history.numbers_of(new))]


def extend(
    corpus: Corpus,
    learned: Learned,
    by: int,
    *,
    across_words: bool = False,
    first_id: int | None = None,
    progress: ProgressReport = ignore_progress,
    cancelled: CancelCheck = never_cancelled,
    **changes: Any,
) -> Extended:
    """Learn more tokens on a corpus. The tokens of the table keep their ids.

    Parameters
    ----------
    corpus
        The texts that the new tokens are learned from.
    learned
        A study, or another object with a history.
    by
        The number of new tokens.
    across_words
        Whether new tokens may contain several words. If so, the table's merges serve as the first stage.
    first_id
        The first id of the new tokens. By default the new ids follow all other ids.
    progress, cancelled
        The callbacks that receive the progress and may cancel the work.
    **changes
        Choices for learning such as `min_frequency` or `ties`.

    Examples
    --------
    >>> import bpe_core as bpe
    >>> study = bpe.train("low low lower", "gpt2", vocab_size=258)
    >>> extended = extend(bpe.Corpus.from_texts(["new new newer"]), study, by=2)
    >>> extended.added.tolist(), bpe.Study.of(extended).token_to_id("new")
    ([258, 259], 259)
    """
    history = history_of(learned)
    recipe = growing_recipe(history, by, across_words=across_words, **changes)
    work = Work(progress, cancelled)
    return extend_on(count_words(corpus, recipe, work), history, recipe, first_id, work)


def extend_on(
    words: WordTable, history: History, recipe: Recipe, first_id: int | None = None, work: Work = ALONE
) -> Extended:
    """Learn more tokens on counted words. `recipe` comes from the function `growing_recipe`."""
    known = numbers_of(history)
    if not METHODS[recipe.method].can_be_steered:
        added = more_pieces(words, history, recipe, work)
        added.history.recipe = added.history.recipe.with_changes(name=recipe.name)
        numbers = further_numbers(known, added.old_ids, first_id)
        return Extended(added.history.numbered(numbers), added.new_ids)
    if can_repeat_steps(history):
        grown = learn(words, recipe, history=without_counts(history), progress=work.progress, cancelled=work.cancelled)
        check_grew(grown)
        return Extended(grown.numbered(grown_numbers(grown, known, first_id)), new_indices(grown, history))
    lone = Method.of(history.recipe).lone_characters(history)
    table = remove_tokens(history, np.zeros(history.index_count, np.bool_), further=AdditionalTokens(lone))
    known = further_numbers(known, table.old_ids, first_id)
    first_id = None if first_id is None else first_id + len(lone)
    grown = train_further(words, table.history if lone else history, recipe, work)
    check_grew(grown)
    places = new_indices(grown, table.history)[table.new_ids]
    return Extended(grown.numbered(grown_numbers(grown, known, first_id)), places, len(lone))


def new_indices(grown: History, old: History) -> Int64s:
    """Return an array that maps each index of the old table to the index of the same token in the grown table.

    Only special tokens get a new index.
    """
    ids = np.arange(old.index_count)
    ids[old.first_special :] += grown.first_special - old.first_special
    return ids
