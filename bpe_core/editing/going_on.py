"""Going on from a table that joins texts in an order of its own, not in that of its tokens' births.

Its steps cannot be made one after the other on another corpus. So the words of that corpus are cut by the table as it
is, and the tokens they fall into are the symbols of a training of its own. Each pair that this joins is joined behind
all pairs of the table.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from bpe_core.counting.words import WordTable
from bpe_core.errors import NothingToLearn
from bpe_core.history.history import History, Int64s, Pair
from bpe_core.history.joining import Joining, PairRows
from bpe_core.learning.growing import NOTHING_NEW
from bpe_core.learning.trainer import learn
from bpe_core.progress import CancelCheck, ProgressReport, ignore_progress, never_cancelled, while_wanted
from bpe_core.recipe import Recipe
from bpe_core.segmenting.by_priority import JoinedWords
from bpe_core.token_texts import written

FIRST_CODE, HALVES, HALF_COUNT = 0x100, 0xD800, 0x800  # code points that stand for tokens; halves of pairs are none
BY_IDS = "lowest-ids"  # the tie rule, where the recipe's own asks for texts


def go_on(
    words: WordTable,
    history: History,
    recipe: Recipe,
    *,
    progress: ProgressReport = ignore_progress,
    cancelled: CancelCheck = never_cancelled,
) -> History:
    """The table with as many new steps as the recipe has more than it; how often its own are made is not known."""
    in_codes = WordTable.from_counts(_in_codes(words, history, cancelled))
    by, least = (recipe.merges or 0) - len(history), recipe.min_frequency
    ties = recipe.ties if recipe.ties == "first-seen" else BY_IDS
    of_codes = Recipe.preset("words", merges=by, min_frequency=least, ties=ties, max_token_length=None)
    if len(in_codes) == 0:
        raise NothingToLearn(NOTHING_NEW)
    found = learn(in_codes, of_codes, progress=progress, cancelled=cancelled)
    ids = [_token(symbol.text) for symbol in found.alphabet.symbols]
    return _with_pairs(history, recipe, ids, found)


def _in_codes(words: WordTable, history: History, cancelled: CancelCheck) -> list[tuple[bytes, int]]:
    """The words with a character for each token; what is never joined parts them."""
    cut, joining = JoinedWords(history).cut, history.joining
    assert joining is not None
    symbols = history.alphabet.symbols
    alone = {id for id, symbol in enumerate(symbols) if not symbol.merges} | {*joining.found_first, -1}
    found: list[tuple[bytes, int]] = []
    for word, count in while_wanted(words, cancelled):
        stretch: list[str] = []
        for id in (*cut(word, len(history)).ids, -1):
            if id not in alone:
                stretch.append(_code(id))
            elif stretch:
                found.append(("".join(stretch).encode(), count))
                stretch = []
    return found


def _code(id: int) -> str:
    code = id + FIRST_CODE
    return chr(code if code < HALVES else code + HALF_COUNT)


def _token(text: bytes) -> int:
    """Which token a symbol stands for; that for what is unknown, of several characters, stands for none."""
    character = text.decode()
    if len(character) != 1:
        return -1
    code = ord(character)
    return (code if code < HALVES else code - HALF_COUNT) - FIRST_CODE


def _with_pairs(history: History, recipe: Recipe, ids: list[int], found: History) -> History:
    """The table's tokens and the new ones; what is written as a token is already becomes that token."""
    joining, texts = history.joining, written(history)
    assert joining is not None
    id_of = {text: id for id, text in reversed(list(enumerate(texts))) if id not in set(joining.hidden)}
    rows: list[tuple[int, int, int]] = []
    born: list[Pair] = []
    for one, other in found.pairs():
        left, right = ids[one], ids[other]
        text = history.alphabet.joined_text(texts[left], texts[right])
        if text not in id_of:
            id_of[text] = len(texts)
            texts.append(text)
            born.append((left, right))
        ids.append(id_of[text])
        rows.append((left, right, id_of[text]))
    steps = recipe.with_changes(merges=len(history) + len(born))
    grown = History.from_pairs(steps, history.alphabet, history.pairs() + born, _behind(joining, rows, len(born)))
    grown.end_reason = found.end_reason
    return grown


def _behind(joining: Joining, rows: list[tuple[int, int, int]], born: int) -> Joining:
    """What is joined before, and then what is new."""
    new = np.array(rows, np.int64).reshape(-1, 3).T
    if joining.pairs is not None:
        columns: list[Int64s] = [np.concatenate(both) for both in zip(joining.pairs, new, strict=True)]
        return replace(joining, pairs=PairRows(*columns))
    assert joining.priorities is not None
    first = int(joining.priorities.max(initial=0)) + 1
    return replace(joining, priorities=np.concatenate([joining.priorities, np.arange(first, first + born)]))
