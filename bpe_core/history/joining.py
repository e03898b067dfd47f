"""The priorities of merges. They set the order in which pairs are joined in a text.

Most histories need no priorities, because pairs are joined in the order of the steps. Some imported vocabularies
need a different order. Then the steps only say how the tokens were made, and `segmenting/by_priority.py` splits
words by the priorities. A token that no pair makes is a seed of the alphabet.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from bpe_core.errors import BpeError, damage_error
from bpe_core.support.arrays import Int64s
from bpe_core.support.former_names import former_classes

NO_PRIORITY = -1  # the priority of a token that no two neighbours become
LARGEST = 2**31 - 1  # the largest priority or token
_CHOICES = ("whole_words", "joins_unknown")
_TOKENS = ("found_first", "left_out")


class PairRows(NamedTuple):
    """The pairs that can be joined, in the order of their priority. Each row holds a pair and the token that it
    becomes."""

    left: Int64s
    right: Int64s
    token: Int64s


@dataclass(frozen=True, eq=False)
class MergePriorities:
    """The priorities of pairs.

    In a word, the pair with the best priority is joined first. If a pair occurs several times, its leftmost occurrence
    is joined first. A table gives the priorities either by `pairs` or by `priorities`. The other attribute is None.
    """

    pairs: PairRows | None = None
    priorities: Int64s | None = None  # of each token that neighbours with its text become, the lowest first
    whole_words: bool = False  # a word that spells a token becomes that token
    joins_unknown: bool = False  # neighbouring unknown characters become one token
    left_out: tuple[int, ...] = ()  # base symbols that are removed, so that their neighbours meet
    found_first: tuple[int, ...] = ()  # tokens that are searched before pairs are joined, and are never joined
    hidden: tuple[int, ...] = ()  # tokens that only serve as parts; alone they are split or unknown

    def before(self, token: int) -> MergePriorities:
        """Return a copy without the tokens whose index is `token` or higher."""
        hidden = tuple(hidden_token for hidden_token in self.hidden if hidden_token < token)
        if self.pairs is None:
            assert self.priorities is not None
            return replace(self, priorities=self.priorities[:token], hidden=hidden)
        kept = np.maximum.reduce(self.pairs) < token
        return replace(self, pairs=PairRows(*(column[kept] for column in self.pairs)), hidden=hidden)

    @cached_property
    def to_dict(self) -> dict[str, Any]:
        numbers = {} if self.pairs is None else {name: getattr(self.pairs, name).tolist() for name in PairRows._fields}
        if self.priorities is not None:
            numbers = {"priorities": self.priorities.tolist()}
        return {name: getattr(self, name) for name in _CHOICES} | {
            **{name: list(getattr(self, name)) for name in _TOKENS},
            **({"hidden": list(self.hidden)} if self.hidden else {}),
            **numbers,
        }

    @cached_property
    def as_json(self) -> str:
        return json.dumps(self.to_dict)

    @classmethod
    def from_dict(cls, values: object, base: int, tokens: int, where: str) -> MergePriorities:
        """Return priorities from JSON values. Entries about tokens that a damaged file lacks are left out.

        Raise FormatError if a value is wrong. The message begins with `where`.
        """
        if not isinstance(values, Mapping):
            raise _wrong(where)
        chosen: dict[str, Any] = {name: values.get(name) for name in _CHOICES}
        if not all(isinstance(value, bool) for value in chosen.values()):
            raise _wrong(where)
        chosen |= {name: tuple(_numbers(values.get(name), 0, base - 1, where).tolist()) for name in _TOKENS}
        hidden = _numbers(values.get("hidden", []), 0, LARGEST, where).tolist()
        chosen["hidden"] = tuple(hidden)
        if "priorities" in values:
            priorities = _numbers(values["priorities"], NO_PRIORITY, LARGEST, where)
            if len(priorities) < tokens:
                raise _wrong(where)
            joining = cls(priorities=priorities, **chosen)
        else:
            rows = PairRows(*(_numbers(values.get(name), 0, LARGEST, where) for name in PairRows._fields))
            if len({len(column) for column in rows}) > 1:
                raise _wrong(where)
            joining = cls(pairs=rows, **chosen)
        return joining.before(tokens)


def _numbers(values: object, least: int, most: int, where: str) -> Int64s:
    if not isinstance(values, list) or not all(type(value) is int and least <= value <= most for value in values):
        raise _wrong(where)
    return np.array(values, np.int64)


def _wrong(where: str) -> BpeError:
    return damage_error(f"{where}: the merge priorities are damaged.")


__getattr__ = former_classes(__name__, Joining="MergePriorities")
