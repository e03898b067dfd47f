"""The map from the ids of one table to the ids of another.

With this map, a model's embeddings can be moved to the rows of the new ids. The map has a row for each id of the new
table, in order. After these, it has a row for each token that only the old table has. A token in both tables keeps its
embedding, even if its id changes. The embedding of a new token is the mean of the embeddings of its parts. The parts
are the tokens into which the old table splits the text of the new token.

    >>> from bpe_core.history.alphabet import Alphabet
    >>> from bpe_core.recipes.recipe import Recipe
    >>> recipe = Recipe.preset("gpt2", special_tokens=("<|end|>",))
    >>> old = History.from_pairs(recipe, Alphabet.of_bytes(), [(108, 111), (97, 98)])  # l+o, a+b
    >>> new = History.from_pairs(recipe, Alphabet.of_bytes(), [(108, 111), (256, 119)])  # l+o, lo+w
    >>> for row in IdMap.of(old, new).table().records()[256:]:
    ...     print(row["new"], row["old"], row["text"], row["special"], row["parts"], row["weights"])
    256 256 lo False (256,) (1.0,)
    257 None low False (256, 119) (0.5, 0.5)
    258 258 <|end|> True (258,) (1.0,)
    None 257 ab False () ()
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bpe_core.editing.parts_of_tokens import Parts, TokenText
from bpe_core.errors import BpeError
from bpe_core.history.arguments import Learned, history_of
from bpe_core.history.history import NO_NUMBER, Bools, History, Int64s
from bpe_core.history.ids_in_use import final_indices
from bpe_core.history.token_texts import decoded, quoted, shown, written
from bpe_core.support.data_table import DataTable
from bpe_core.support.garbage import without_garbage_collection
from bpe_core.support.progress import CancelCheck, never_cancelled, while_wanted
from bpe_core.support.wording import as_call

NONE = -1  # in an array, where there is no id


@dataclass(frozen=True, eq=False)
class IdMap:
    """A map from the ids of an old table to the ids of a new table.

    Parameters
    ----------
    new
        The new id of each row. It is -1 in the last rows, for tokens that only the old table has.
    old
        The old id of each row. It is -1 for a token that only the new table has.
    special
        Whether the token of a row is a special token.
    texts
        The bytes of each token.
    parts
        The old ids of all parts, row by row. A token that is in both tables has itself as its only part.
    offsets
        The index in `parts` at which each row begins, and the length of `parts`.

    Examples
    --------
    >>> from bpe_core.studies.making import train
    >>> old, new = (train(["low low lower"], "gpt2", merges=merges, min_frequency=1) for merges in (1, 3))
    >>> IdMap.of(old, new)
    IdMap(kept=257, new=2, gone=0)
    """

    new: Int64s
    old: Int64s
    special: Bools
    texts: Sequence[bytes]
    parts: Int64s
    offsets: Int64s

    @classmethod
    @without_garbage_collection()
    def of(
        cls,
        old: Learned,
        new: Learned,
        *,
        renamed: Mapping[str, str] | None = None,
        cancelled: CancelCheck = never_cancelled,
    ) -> IdMap:
        """Return the map from the ids of the table `old` to the ids of the table `new`.

        Parameters
        ----------
        old, new
            The results of `train` or `open`, or changed tables.
        renamed
            A dictionary from the old name of a special token to its new name. Such a token keeps its row.
        cancelled
            A function that is called from time to time, and returns whether to stop.
        """
        before = history_of(old)
        former = _texts_by_id(before)
        now = _texts_by_id(history_of(new))
        names = {name.encode(): text.encode() for text, name in (renamed or {}).items()}
        old_of = _same_tokens(former, {id: _former_name(token, names) for id, token in now.items()})
        gone = sorted(former.keys() - old_of.values())
        fresh = [id for id in now if id not in old_of]
        indices = Parts(before).of([now[id] for id in fresh], cancelled) if fresh else []
        parts_of = dict(zip(fresh, indices, strict=True))
        numbers = before.numbers_of(np.arange(before.index_count)).tolist()
        rows = []
        for id, token in while_wanted(now.items(), cancelled):
            parts = [numbers[index] for index in parts_of.get(id, ())] if id in parts_of else [old_of[id]]
            known = tuple(part for part in parts if part != NO_NUMBER)
            rows.append(MapRow(id, old_of.get(id, NONE), token.text, token.is_special, known))
        rows += [MapRow(NONE, id, former[id].text, former[id].is_special, ()) for id in gone]
        return cls.of_rows(rows)

    def __len__(self) -> int:
        return len(self.new)

    def __repr__(self) -> str:
        return as_call("IdMap", kept=int(self.kept.sum()), new=int(self.added.sum()), gone=int(self.gone.sum()))

    @property
    def kept(self) -> Bools:
        """Return a mask of the rows whose token is in both tables."""
        mask: Bools = (self.new != NONE) & (self.old != NONE)
        return mask

    @property
    def added(self) -> Bools:
        """Return a mask of the rows whose token is only in the new table."""
        mask: Bools = self.old == NONE
        return mask

    @property
    def gone(self) -> Bools:
        """Return a mask of the rows whose token is only in the old table."""
        mask: Bools = self.new == NONE
        return mask

    @property
    def lengths(self) -> Int64s:
        """Return the number of old tokens into which the token of each row is split."""
        return np.diff(self.offsets)

    @property
    def weights(self) -> npt.NDArray[np.float64]:
        """Return a weight for each item of `parts`: one divided by the number of parts in the same row.

        With these weights, the embedding of a new token is the mean of the embeddings of its parts.
        """
        weights: npt.NDArray[np.float64] = 1.0 / np.repeat(self.lengths, self.lengths)
        return weights

    def then(self, further: IdMap) -> IdMap:
        """Join two maps into one: this map, and a map from its new table to a third table.

        Parameters
        ----------
        further
            The map to the third table. Its old table is the new table of this map.
        """
        self._check_leads_to(further)
        own = {row.new: row for row in self._rows() if row.new != NONE}
        rows = []
        for row in further._rows():
            if row.new != NONE:
                old = own[row.old].old if row.old != NONE else NONE
                rows.append(row._replace(old=old, parts=tuple(part for id in row.parts for part in own[id].parts)))
        known = {row.old for row in rows}
        gone = [row for row in self._rows() if row.old != NONE and row.old not in known]
        gone.sort(key=lambda row: row.old)
        return self.of_rows([*rows, *(row._replace(new=NONE, parts=()) for row in gone)])

    def _check_leads_to(self, further: IdMap) -> None:
        """Raise BpeError if the new table of this map is not the old table of the map `further`."""
        ours = {row.new: row for row in self._rows() if row.new != NONE}
        theirs = {row.old: row for row in further._rows() if row.old != NONE}
        differing = sorted(ours.keys() ^ {*theirs, *further.parts.tolist()})
        if differing:
            which = "second" if differing[0] in ours else "first"
            raise BpeError(f"These maps cannot be combined: the {which} map has no token with the id {differing[0]:,}.")
        for id, row in theirs.items():
            if row.text != ours[id].text and not row.is_special:  # special tokens may be renamed
                raise BpeError(
                    f"These maps cannot be combined: the token with the id {id:,} is {quoted(ours[id].text)} in "
                    f"the first map and {quoted(row.text)} in the second map."
                )

    def difference(self, other: IdMap) -> str:
        """Return a phrase about the first row in which the two maps differ.

        The phrase is empty if the maps are equal.
        """
        ours = {row[:2]: row for row in self._rows()}
        theirs = {row[:2]: row for row in other._rows()}
        if ours == theirs:
            return ""
        either = ours.keys() | theirs.keys()
        differing = (ids for ids in either if ours.get(ids) != theirs.get(ids))
        new, old = min(differing, key=lambda ids: (ids[0] == NONE, *ids))
        which = f"the new id {new:,}" if new != NONE else f"the old id {old:,}"
        own = ours.get((new, old))
        two = theirs.get((new, old))
        if own is None or two is None:
            return f"{which} has different rows in the two maps, or is in only one of them"
        if own.text != two.text:
            return f"{which} is {quoted(own.text)} in one map and {quoted(two.text)} in the other"
        return f"{which}, {quoted(own.text)}, has different parts, or is special in only one of the two maps"

    def table(self) -> DataTable:
        """Return the map as a data table. A missing id is None."""
        rows = self._rows()
        share = [1.0 / max(1, length) for length in self.lengths.tolist()]
        return DataTable(
            {
                "new": [None if row.new == NONE else row.new for row in rows],
                "old": [None if row.old == NONE else row.old for row in rows],
                "text": [shown(row.text) for row in rows],
                "hex": [row.text.hex(" ") for row in rows],
                "special": self.special.tolist(),
                "parts": [row.parts for row in rows],
                "weights": [(weight,) * len(row.parts) for weight, row in zip(share, rows, strict=True)],
            }
        )

    def _rows(self) -> list[MapRow]:
        parts = self.parts.tolist()
        parts_of_rows = [tuple(parts[start:stop]) for start, stop in pairwise(self.offsets.tolist())]
        columns = (self.new.tolist(), self.old.tolist(), self.texts, self.special.tolist(), parts_of_rows)
        return [MapRow(*row) for row in zip(*columns, strict=True)]

    @classmethod
    def of_rows(cls, rows: Sequence[MapRow]) -> IdMap:
        """Return a map that consists of the given rows, in the same order."""
        return cls(
            new=np.array([row.new for row in rows], np.int64),
            old=np.array([row.old for row in rows], np.int64),
            special=np.array([row.is_special for row in rows], np.bool_),
            texts=[row.text for row in rows],
            parts=np.array([part for row in rows for part in row.parts], np.int64),
            offsets=np.cumsum([0, *(len(row.parts) for row in rows)], dtype=np.int64),
        )


class MapRow(NamedTuple):
    """A row of a map. A missing id is -1."""

    new: int
    old: int
    text: bytes
    is_special: bool
    parts: tuple[int, ...]


def _texts_by_id(history: History) -> dict[int, TokenText]:
    """Return a dictionary from the id of each token in use to its text. The ids are those of the file."""
    texts = decoded(history)
    alphabet = history.alphabet
    symbols = alphabet.but_seeds
    forms = written(history) if alphabet.continuing else texts
    specials = history.recipe.special_tokens
    first_special = history.first_special
    text_of = {}
    for id, index in final_indices(history).items():
        if index >= first_special:
            text_of[id] = TokenText(specials[index - first_special].encode(), is_special=True)
        elif index == alphabet.unknown_id:
            text_of[id] = TokenText(symbols[index].text, is_special=True)
        else:
            is_fallback = index < len(symbols) and symbols[index].kind == "fallback"
            text = texts[index]
            text_of[id] = TokenText(
                text, continues=text is not forms[index] and text != forms[index], is_fallback=is_fallback
            )
    return text_of


def _former_name(token: TokenText, names: Mapping[bytes, bytes]) -> TokenText:
    return token._replace(text=names[token.text]) if token.is_special and token.text in names else token


def _same_tokens(former: Mapping[int, TokenText], now: Mapping[int, TokenText]) -> dict[int, int]:
    """Match the tokens that are in both tables. Return the old id for each new id.

    No old id is used twice. A new token is matched with an equal old token, if possible with the same id. If there is
    no equal token, the same text is enough, because a token may be special in only one of the files.
    """
    old_ids = {id: id for id, token in now.items() if former.get(id) == token}
    keys: tuple[Callable[[TokenText], Hashable], ...] = (_itself, _without_kind)
    for key in keys:
        waiting = _ids_by(former.keys() - old_ids.values(), former, key)
        for id, token in now.items():
            ids = waiting.get(key(token)) if id not in old_ids else None
            if ids:
                old_ids[id] = ids.pop()
    return old_ids


def _itself(token: TokenText) -> Hashable:
    return token


def _without_kind(token: TokenText) -> Hashable:
    return token.text, token.continues


def _ids_by(
    ids: Iterable[int], tokens: Mapping[int, TokenText], key: Callable[[TokenText], Hashable]
) -> Mapping[Hashable, list[int]]:
    """Group the ids of tokens by a key that is computed from the token.

    The ids of each group are in descending order, so that `pop` takes the smallest id.
    """
    ids_of: defaultdict[Hashable, list[int]] = defaultdict(list)
    for id in sorted(ids, reverse=True):
        ids_of[key(tokens[id])].append(id)
    return ids_of
