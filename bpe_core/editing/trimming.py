"""Functions that trim a table: they remove some of its tokens.

Other tokens may be made of a removed token. `NEEDED` lists what can happen to them. After the removal, every
remaining token can still be made from its parts, because merges keep their order. But a text may be split
into different tokens than before. The function `costs` counts the tokens before and after. Methods that look
tokens up in the vocabulary do not need the parts of a token. Some of their tables have no token for a
character that occurs only in longer tokens. Such a character gets a token, so that it does not become unknown
when a longer token is removed.

    >>> from bpe_core.history.alphabet import Alphabet
    >>> from bpe_core.recipes.recipe import Recipe
    >>> pairs = [(116, 104), (256, 101), (97, 110)]  # t+h, th+e, a+n
    >>> history = History.from_pairs(Recipe.preset("gpt2"), Alphabet.of_bytes(), pairs)
    >>> spared = trim(history, [256, 258])
    >>> spared.removed, spared.spared, spared.history.pairs()
    ((258,), (256,), [(116, 104), (256, 101)])
    >>> lost = trim(history, [256], needed="lose", renumber=False)
    >>> lost.removed, lost.asked, lost.history.pairs(), lost.history.numbers[256:].tolist()
    ((256, 257), (256,), [(97, 110)], [258])
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush
from typing import Literal, get_args

import numpy as np

from bpe_core.counting.words import WordTable
from bpe_core.editing import without_tokens
from bpe_core.editing.without_tokens import ReducedHistory, remove_tokens
from bpe_core.errors import BpeError
from bpe_core.formats.base import NO_NUMBER, ids_beside, own_numbers
from bpe_core.history.arguments import Learned, history_of
from bpe_core.history.history import Bools, History, Int64s
from bpe_core.history.token_texts import written
from bpe_core.insight.reachability import first_learned, unreachable_tokens
from bpe_core.insight.tokenized_words import TokenizedWords
from bpe_core.methods.kit.method import Method
from bpe_core.methods.registry import METHODS
from bpe_core.recipes.recipe import Recipe
from bpe_core.support.progress import CancelCheck, Work, never_cancelled, while_wanted
from bpe_core.support.wording import count_sentence, count_text

Needed = Literal["spare", "lose", "hide"]
NEEDED: dict[Needed, str] = {
    "spare": "a chosen token is kept and listed if other tokens are made of it",
    "lose": "tokens made of a removed token are removed, too",
    "hide": "a chosen token loses its id if other tokens are made of it, and is used only to make these tokens",
}
assert tuple(NEEDED) == get_args(Needed)


@dataclass(frozen=True, eq=False)
class Trimmed:
    """A table after tokens were removed, with lists of the removed and the kept tokens.

    All tokens are identified by their ids before the removal.
    """

    history: History
    new_ids: Mapping[int, int] = field(repr=False)  # the new id of each remaining token, by its former id
    removed: tuple[int, ...]
    asked: tuple[int, ...]  # removed tokens that were named
    spared: tuple[int, ...]  # named tokens that stay, because kept tokens are made of them
    hidden: tuple[int, ...] = ()  # named tokens that stay only as parts, for the same reason
    doubles: int = 0  # number of tokens removed because an older token has the same text
    lost: int = 0  # number of tokens removed because they are made of removed tokens
    added: int = 0  # number of characters that got their own token
    nameless: int = 0  # number of removed tokens without an id, which only served as parts

    @property
    def changes_nothing(self) -> bool:
        return not self.removed and not self.hidden and not self.nameless

    @property
    def sentences(self) -> list[str]:
        gone = len(self.removed) + self.nameless + len(self.hidden)
        left = self.history.vocabulary_size - len(self.hidden)
        sentences = [f"{count_text(gone, 'token is', 'tokens are')} removed, {left:,} are left."]
        more = (
            (self.lost, "tokens were removed though not chosen, because they are made of removed tokens."),
            (len(self.spared), "chosen tokens stay, because other tokens are made of them."),
            (len(self.hidden), "tokens have no id any more, but are still used to make other tokens."),
            (
                self.doubles,
                "tokens were removed though not chosen, because they have the same text as an older token. So they "
                "never occurred.",
            ),
        )
        sentences += [count_sentence(count, sentence) for count, sentence in more if count]
        if self.added:
            sentences.append(sentence_of_characters(self.added))
        return sentences


def sentence_of_characters(added: int) -> str:
    return (
        f"{count_text(added, 'character')} that occurred only in longer tokens {'is' if added == 1 else 'are'} now "
        f"{'a token' if added == 1 else 'tokens'}, so that no text becomes unknown."
    )


def trim(
    learned: Learned,
    tokens: Iterable[int],
    *,
    needed: Needed = "spare",
    renumber: bool = True,
    cancelled: CancelCheck = never_cancelled,
) -> Trimmed:
    """Return the table without some tokens. The other tokens keep their ids, or get new ids without gaps.

    Parameters
    ----------
    learned
        A study, or another object with a history.
    tokens
        The ids of the tokens to remove.
    needed
        What happens to a chosen token that other tokens are made of: "spare" keeps it, "lose" removes it together with
        the tokens made of it, and "hide" only takes its id away.
    renumber
        Whether the other tokens get new ids without gaps. Otherwise they keep their ids.
    cancelled
        The callback that may cancel the work.

    Examples
    --------
    >>> import bpe_core as bpe
    >>> study = bpe.train("low low lower", "gpt2", vocab_size=258)
    >>> trimmed = trim(study, [257])
    >>> trimmed.removed, bpe.Study.of(trimmed).encode("low")
    ((257,), [256, 119])
    """
    history = history_of(learned)
    check_can_be_edited(history)
    without_tokens.numbers_of(history)  # which refuses a table that contradicts itself
    indices = _indices_of(history, set(tokens))
    return trim_indices(history, indices, needed=needed, renumber=renumber, cancelled=cancelled)


def trim_indices(
    history: History,
    named: Iterable[int],
    *,
    needed: Needed = "spare",
    renumber: bool = True,
    cancelled: CancelCheck = never_cancelled,
) -> Trimmed:
    """Remove tokens as `trim` does. The tokens are given by index, not by id."""
    check_can_be_edited(history)
    known = without_tokens.numbers_of(history)
    named = sorted(set(named))
    _check_named(history, named, known)
    goes, hidden = _tokens_to_remove(history, named, needed)
    more = without_tokens.AdditionalTokens(Method.of(history.recipe).lone_characters(history))
    left = remove_tokens(history, goes, hidden, more)
    while history.joining is not None and (unmade := _tokens_not_made_now(history, left, cancelled)):
        goes[unmade] = True
        left = remove_tokens(history, goes, hidden)
    before = own_numbers(history)
    known = without_tokens.further_numbers(np.where(hidden, NO_NUMBER, known), left.old_ids)
    known = without_tokens.renumbered(known) if renumber else known

    def numbers(indices: Iterable[int]) -> tuple[int, ...]:
        return tuple(number for number in before[np.array([*indices], np.int64)].tolist() if number != NO_NUMBER)

    doubles = int(np.count_nonzero(goes)) - len(named) if looks_tokens_up(history) else 0
    return Trimmed(
        history=left.history.numbered(ids_beside(history, known)),
        new_ids=without_tokens.new_numbers(before, known, left.new_ids),
        removed=numbers(np.flatnonzero(goes)),
        asked=numbers(index for index in named if goes[index]),
        spared=numbers(index for index in named if not goes[index] and not hidden[index]),
        hidden=numbers(np.flatnonzero(hidden)),
        doubles=doubles,
        lost=int(np.count_nonzero(goes)) - int(np.count_nonzero(goes[named])) - doubles,
        added=len(more.symbols),
        nameless=int(np.count_nonzero(before[goes] == NO_NUMBER)),
    )


def _tokens_to_remove(history: History, named: list[int], needed: Needed) -> tuple[Bools, Bools]:
    goes = np.zeros(history.index_count, np.bool_)
    hidden = np.zeros(history.index_count, np.bool_)
    goes[named] = True
    if looks_tokens_up(history):
        goes[repeated_texts(history)] = True
    elif needed == "lose":
        _lose(history, goes)
    else:
        spare_parts(history, goes)
        if needed == "hide":
            hidden[[id for id in named if not goes[id]]] = True
    return goes, hidden


def _tokens_not_made_now(history: History, left: ReducedHistory, cancelled: CancelCheck) -> list[int]:
    """Return the remaining tokens that no longer occur in any split text, although they did before the removal."""
    after = unreachable_tokens(left.history, Work(cancelled=cancelled))
    if not after:
        return []
    before = unreachable_tokens(history, Work(cancelled=cancelled))
    old_ids = np.flatnonzero(left.new_ids != without_tokens.GONE)
    return [id for id in old_ids[list(after)].tolist() if id not in before]


def check_can_be_edited(history: History) -> None:
    """Raise BpeError if no token of a table can be removed, because its method needs all of them."""
    if Method.of(history.recipe).joins_runs:
        raise BpeError(
            f"A table that {METHODS[history.recipe.method].title} learned cannot be trimmed or combined: its "
            "superwords need the tokens inside them. Train a new table of another size instead."
        )
    if not looks_tokens_up(history) and not (Method.of(history.recipe).has_ranks and history.only_joins):
        raise BpeError(
            f"A table that {METHODS[history.recipe.method].title} learned cannot be trimmed or combined: each "
            "block of its text has different replacements. Train a new table of another size instead."
        )


def looks_tokens_up(history: History) -> bool:
    """Return whether the method looks tokens up in the vocabulary. With such a method, no token needs its parts."""
    return Method.of(history.recipe).looks_tokens_up


def repeated_texts(history: History) -> list[int]:
    """Return the indices of joined tokens that have the same text as an older token.

    Such tokens never occur in a split text.
    """
    seen = set(history.alphabet.texts)
    ids = []
    for id, text in enumerate(written(history)[len(history.alphabet) :], len(history.alphabet)):
        if text in seen:
            ids.append(id)
        seen.add(text)
    return ids


def _indices_of(history: History, ids: Collection[int]) -> list[int]:
    """Convert ids to the indices of their tokens. Raise BpeError if an id is unknown.

    Several tokens may have the same id.
    """
    known = own_numbers(history)
    missing = sorted(id for id in ids if id < 0 or id not in known)
    if missing:
        raise BpeError(f"There is no token with the id {missing[0]:,}. `audit` lists all tokens of the table.")
    indices: list[int] = np.flatnonzero(np.isin(known, np.array([*ids], np.int64))).tolist()
    return indices


def _check_named(history: History, named: list[int], known: Int64s) -> None:
    first = first_learned(history)
    symbols = [index for index in named if index < first]
    if symbols:
        raise BpeError(
            f"{len(symbols):,} of the tokens to remove are base symbols, such as the token with the id "
            f"{int(known[symbols[0]]):,}. Without base symbols some texts could not be split. Remove only learned "
            "tokens."
        )


def spare_parts(history: History, goes: Bools) -> None:
    """Change the mask `goes` so that no remaining token loses a part.

    `goes` marks the tokens to remove, and is changed in place.
    """
    left, right, token = _made_of(history, by_birth=False)
    while True:
        stays = ~goes[token]
        needed = np.concatenate([left[stays], right[stays]])
        if not goes[needed].any():
            return
        goes[needed] = False


def _lose(history: History, goes: Bools) -> None:
    left, right, token = _made_of(history, by_birth=True)
    while True:
        lost = token[(goes[left] | goes[right]) & ~goes[token]]
        if not len(lost):
            return
        goes[lost] = True


def _made_of(history: History, *, by_birth: bool) -> tuple[Int64s, Int64s, Int64s]:
    """Return three arrays: the left part, the right part and the result of each pair that can be joined.

    If `by_birth` is true, the arrays contain one pair for each token: the pair whose merge first made the token.
    Otherwise they also contain the other pairs that make the same tokens.
    """
    left, right = (column.astype(np.int64) for column in history.columns[:2])
    token = np.arange(len(history.alphabet), history.first_special)
    pairs = None if by_birth or history.joining is None else history.joining.pairs
    if pairs is None:
        return left, right, token
    columns = zip((left, right, token), (pairs.left, pairs.right, pairs.token), strict=True)
    left, right, token = (np.concatenate(both) for both in columns)
    return left, right, token


# --- The tokens to remove ---------------------------------------------------------------


def least_used(
    history: History, counts: Int64s, how_many: int, *, cancelled: CancelCheck = never_cancelled
) -> list[int]:
    """Choose the `how_many` learned tokens that a corpus needs least.

    Tokens are chosen one by one. A token can be chosen only if no remaining token is made of it, so no other token is
    lost. The token with the lowest count is chosen, or the youngest of several such tokens. Then its count is added to
    the counts of its parts.

    If the method looks tokens up in the vocabulary, no token needs its parts. Then the tokens with the lowest counts
    are chosen.
    """
    check_can_be_edited(history)
    first = first_learned(history)
    end = history.first_special
    chosen = _chosen_by_hand(history)
    learned = np.setdiff1d(history.vocabulary[history.vocabulary >= first], chosen)
    if not 0 <= how_many <= len(learned):
        raise BpeError(
            f"The table has {count_text(len(learned), 'learned token')}, so {count_text(how_many, 'token')} cannot be "
            "removed."
        )
    if looks_tokens_up(history):
        rarest: list[int] = learned[np.lexsort((-learned, counts[learned]))][:how_many].tolist()
        return rarest
    made_of: list[list[int]] = [[] for _ in range(end)]
    left, right, token = (column.tolist() for column in _made_of(history, by_birth=False))
    for first_part, other, made in zip(left, right, token, strict=True):
        made_of[made] += first_part, other
    needed_by = np.bincount([*left, *right], minlength=end).tolist()
    use = counts.tolist()
    waiting = [(use[id], -id) for id in learned.tolist() if not needed_by[id]]
    heapify(waiting)
    least = []
    for _ in while_wanted(range(how_many), cancelled):
        count, id = heappop(waiting)
        least.append(-id)
        for part in history.parts(-id) or ():
            use[part] += count
        for part in made_of[-id]:
            needed_by[part] -= 1
            if part >= first and not needed_by[part]:
                heappush(waiting, (use[part], -part))
    return least


def _chosen_by_hand(history: History) -> tuple[int, ...]:
    """Return the tokens that a user added. A text is searched for these tokens before any merge.

    A low count is no reason to remove such a token.
    """
    return () if history.joining is None else history.joining.found_first


def least_size(history: History) -> int:
    """Return the number of tokens that are never removed.

    These are base symbols, special tokens, and tokens that a user added. If a character occurs only in longer tokens,
    it is included, too, because it gets a token when other tokens are removed.
    """
    by_hand = len(_chosen_by_hand(history)) + len(history.recipe.special_tokens)
    return first_learned(history) + len(Method.of(history.recipe).lone_characters(history)) + by_hand


def surplus(history: History, size: int) -> int:
    """Return how many tokens must be removed so that `size` tokens remain.

    Base symbols and special tokens are included in `size`.
    """
    least = least_size(history)
    if size < least:
        specials = len(history.recipe.special_tokens)
        raise BpeError(
            f"A table cannot be trimmed to {count_text(size, 'token')}: its "
            f"{count_text(least - specials, 'base symbol')} and "
            f"{count_text(specials, 'special token')} stay. Ask for at least {least:,}."
        )
    now = history.vocabulary_size
    if size > now:
        raise BpeError(f"The table has {count_text(now, 'token')}, fewer than the {size:,} it should be trimmed to.")
    return now + len(Method.of(history.recipe).lone_characters(history)) - size


@dataclass(frozen=True)
class Costs:
    before: int
    now: int

    def __str__(self) -> str:
        change = f" ({self.now / self.before - 1:+.1%})".replace("%", " %") if self.before else ""
        return f"{count_text(self.before, 'token')} before, {self.now:,} now{change}"


def costs(
    words: WordTable,
    before: History,
    now: History,
    *,
    counted_by: Recipe | None = None,
    cancelled: CancelCheck = never_cancelled,
) -> Costs:
    """Count the tokens of words before and after a change of the table.

    `counted_by` is the recipe by which the words were counted, by default the recipe of `before`.
    """
    recipe = counted_by or before.recipe
    both = (TokenizedWords.of(words, recipe, history, cancelled=cancelled) for history in (before, now))
    return Costs(*(int(cut.counts(len(cut.history)).sum()) for cut in both))
