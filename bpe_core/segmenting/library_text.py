"""A decoder that converts tokens to text in the same way as the library of the tokenizer's file.

If no library belongs to the file, the decoder behaves as a library does with the `tokenizer.json` for this
table.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property

from bpe_core.errors import BpeError
from bpe_core.history.history import History
from bpe_core.history.token_texts import written
from bpe_core.splitting.normalization import normalize
from bpe_core.text import decoding
from bpe_core.text.preparation.pieces import AddedToken
from bpe_core.text.stand_ins import stand_ins


class LibraryText:
    def __init__(self, history: History) -> None:
        self._history = history
        recipe = history.recipe
        self._steps = recipe.decoding or recipe.usual_decoding
        plain = {step.content for step in recipe.preparation if isinstance(step, AddedToken) and not step.special}
        self._silent = frozenset(recipe.tokens_looked_for) - plain
        later = [step.content for step in recipe.preparation if isinstance(step, AddedToken) and step.normalized]
        as_text = recipe.with_changes(special_tokens=()) if later else recipe
        self._shown = {content: normalize(content, as_text) for content in later}  # texts after normalization
        self._first_special = history.first_special
        self._id_count = history.index_count
        self._text_of = dict[int, str]()  # tokens written so far

    def text(self, ids: Iterable[int], *, skip_special: bool = False) -> str:
        meant = self._by_ids_of_file([int(id) for id in ids])
        for id in meant:
            if id not in self._text_of:
                self._text_of[id] = self._written(id)
        texts = [self._text_of[id] for id in meant]
        tokens = [self._shown.get(token, token) for token in texts] if self._shown else texts
        kept = [token for token in tokens if token not in self._silent] if skip_special else tokens
        return decoding.text_of(self._steps, kept, self._silent)

    def _by_ids_of_file(self, indices: Sequence[int]) -> Sequence[int]:
        """Convert indices to the ids in the tokenizer's file, and convert these ids back to indices.

        Tokens without an id are left out. Several tokens may share an id. The id then becomes the index of only one of
        them, as in the library. Raise BpeError if an index is out of range.
        """
        if indices and not 0 <= min(indices) <= max(indices) < self._id_count:
            raise BpeError(f"An id is out of range. The ids of tokens go from 0 to {self._id_count - 1:,}.")
        if self._history.numbers is None:
            return indices
        ids = self._history.numbers_of(indices).tolist()
        return self._history.indices_of(id for id in ids if id >= 0)

    def _written(self, id: int) -> str:
        if id >= self._first_special:
            return self._history.recipe.special_tokens[id - self._first_special]
        raw = self._texts[id]
        return "".join(map(stand_ins().__getitem__, raw)) if self._history.recipe.base == "bytes" else raw.decode()

    @cached_property
    def _texts(self) -> list[bytes]:
        return written(self._history)
