"""Functions that rename, add and remove special tokens. Every other token keeps its id.

Some models have embeddings for reserved tokens that are not used. If you rename such a token, its id and its embedding
stay. An ordinary token can also become a special token, like BERT's `[unused5]`, if no other token is made of it.

    >>> from bpe_core.history.alphabet import Alphabet
    >>> from bpe_core.recipes.recipe import Recipe
    >>> recipe = Recipe.preset("gpt2").with_changes(special_tokens=("<end>", "<spare>"))
    >>> history = History.from_pairs(recipe, Alphabet.of_bytes(), [(116, 104)])
    >>> done = change_specials(history, rename={"<spare>": "<user>"}, add=["<new>"], remove=["<end>"])
    >>> special_ids(history), special_ids(done.history)
    ({'<end>': 257, '<spare>': 258}, {'<user>': 258, '<new>': 259})
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bpe_core.editing.growing import free_numbers
from bpe_core.editing.trimming import check_can_be_edited, looks_tokens_up, spare_parts
from bpe_core.editing.without_tokens import further_numbers, numbers_of, remove_tokens
from bpe_core.errors import BpeError
from bpe_core.formats.base import NO_NUMBER, ids_beside, own_numbers
from bpe_core.history.alphabet import Alphabet
from bpe_core.history.arguments import Learned, history_of
from bpe_core.history.history import History, Int64s
from bpe_core.history.token_texts import quoted, written
from bpe_core.insight.reachability import first_learned
from bpe_core.support.wording import count_text
from bpe_core.text.preparation.pieces import AddedToken


@dataclass(frozen=True, eq=False)
class SpecialsChanged:
    """A table after its special tokens were changed.

    All ids are the ids in the tokenizer's file, not the indices in the engine.
    """

    history: History
    renamed: Mapping[str, str]  # new names by the former names
    added: Mapping[str, int]
    removed: Mapping[str, int]

    @property
    def sentences(self) -> list[str]:
        sentences = []
        ids = special_ids(self.history)
        for before, now in self.renamed.items():
            sentences.append(f"{quoted(before)} is renamed to {quoted(now)}, and keeps the id {ids[now]:,}.")
        if self.added:
            some = ", ".join(f"{quoted(text)} ({id:,})" for text, id in self.added.items())
            sentences.append(f"{count_text(len(self.added), 'special token is', 'special tokens are')} new: {some}.")
        if self.removed:
            some = ", ".join(f"{quoted(text)} ({id:,})" for text, id in self.removed.items())
            sentences.append(f"{count_text(len(self.removed), 'token is', 'tokens are')} removed: {some}.")
            pieces = {*written(self.history)}  # in files of Unigram, a special token is also a piece
            sentences += [
                f"{quoted(text)} is still an ordinary token of the vocabulary. To remove this token, too, use trim."
                for text in self.removed
                if text.encode() in pieces
            ]
        return sentences


def special_ids(learned: Learned) -> dict[str, int]:
    """Return a dictionary from the text of each special token to its id, sorted by id.

    The unknown token is included if it has a text.
    """
    history = history_of(learned)
    numbers = own_numbers(history)
    id_of = dict(zip(history.recipe.special_tokens, numbers[history.first_special :].tolist(), strict=True))
    unknown = history.alphabet.unknown_id
    if unknown is not None:
        id_of.setdefault(history.alphabet.texts[unknown].decode(), int(numbers[unknown]))
    return {text: id for text, id in sorted(id_of.items(), key=lambda row: row[1]) if id != NO_NUMBER}


def change_specials(
    learned: Learned,
    *,
    rename: Mapping[str, str] | None = None,
    add: Iterable[str] = (),
    remove: Iterable[str] = (),
    first_id: int | None = None,
) -> SpecialsChanged:
    """Rename, add and remove special tokens. All other tokens keep their ids.

    Parameters
    ----------
    learned
        A study, or another object with a history.
    rename
        A dictionary from the former text of a token to its new text. All changes are made at once, so two tokens can
        swap their names.
    add, remove
        The texts of the tokens to add and to remove.
    first_id
        The first id of the added tokens. By default the new ids follow all other ids.

    Examples
    --------
    >>> import bpe_core as bpe
    >>> study = bpe.train("low low lower", "gpt2", vocab_size=258)
    >>> change_specials(study, add=["<end>"]).added
    {'<end>': 258}
    """
    history = history_of(learned)
    renames = dict(rename or {})
    added = list(dict.fromkeys(add))
    removed = list(dict.fromkeys(remove))
    numbers_of(history)  # this refuses a table that contradicts itself
    _check(history, renames, added, removed)
    ids = special_ids(history)
    gone = {text: ids[text] for text in removed}
    ordinary = [text for text in renames if text not in ids]
    promoted: dict[str, int] = {}
    for text in ordinary:
        history, promoted[renames[text]] = _without_ordinary(history, text)
    behind = free_numbers(own_numbers(history), len(added), _first_new_id(history, promoted, first_id)).tolist()
    given = dict(zip(added, behind, strict=True))
    of_specials = {text: new for text, new in renames.items() if text in ids}
    changed = with_specials(history, rename=of_specials, add={**promoted, **given}, remove=removed)
    return SpecialsChanged(changed, renames, given, gone)


def with_specials(
    history: History, *, rename: Mapping[str, str], add: Mapping[str, int], remove: Sequence[str]
) -> History:
    """Return the table with changed special tokens.

    `rename` maps each old text to its new text. `add` maps each added text to its id. `remove` lists the texts of
    the tokens to remove.
    """
    numbers = own_numbers(history)
    before = history.recipe.special_tokens
    stay = [place for place, text in enumerate(before) if text not in remove]
    texts = [*(rename.get(before[place], before[place]) for place in stay), *add]
    learned, specials = np.split(numbers, [history.first_special])
    new: Int64s = np.concatenate([learned, specials[stay], np.array([*add.values()], np.int64)])
    steps = tuple(
        replace(step, content=rename.get(step.content, step.content)) if isinstance(step, AddedToken) else step
        for step in history.recipe.preparation
        if not (isinstance(step, AddedToken) and step.content in remove)
    )
    size = history.recipe.vocab_size
    changes: dict[str, Any] = {} if size is None else {"vocab_size": size + len(texts) - len(before)}
    unknown = history.alphabet.unknown_id
    unknown_text = None if unknown is None else rename.get(history.alphabet.texts[unknown].decode())
    if unknown_text is not None:
        changes |= {"unknown_text": unknown_text}
    recipe = history.recipe.with_changes(special_tokens=tuple(texts), preparation=steps, **changes)
    return History(
        recipe,
        _with_renamed_pieces(history, rename),
        history.columns,
        reasons=history.reasons,
        scores=history.scores,
        joining=history.joining,
        tokens_at_start=history.tokens_at_start,
        end_reason=history.end_reason,
        numbers=ids_beside(history, new),
    )


def _with_renamed_pieces(history: History, rename: Mapping[str, str]) -> Alphabet:
    """Return the alphabet in which the unknown token and the pieces of renamed special tokens have the new texts.

    In files of Unigram, each special token is also a piece with the same id.
    """
    alphabet = history.alphabet
    new_texts = {before.encode(): after.encode() for before, after in rename.items()}
    places = [place for place, text in enumerate(alphabet.texts) if text in new_texts]
    numbers = own_numbers(history).tolist()
    unknown = [] if alphabet.unknown_id is None else [numbers[alphabet.unknown_id]]
    special_numbers = {*unknown, *numbers[history.first_special :]}
    pieces = [place for place in places if place == alphabet.unknown_id or numbers[place] in special_numbers]
    if not pieces:
        return alphabet
    symbols = list(alphabet.symbols)
    for place in pieces:
        text = new_texts[symbols[place].text]
        symbols[place] = symbols[place]._replace(text=text, decoded=text)
    return Alphabet(tuple(symbols))


def _check(history: History, rename: Mapping[str, str], add: Sequence[str], remove: Sequence[str]) -> None:
    ids = special_ids(history)
    unknown = history.alphabet.unknown_id
    for text in remove:
        if text not in ids:
            raise BpeError(f"There is no special token {quoted(text)} to remove{_list_of_specials(ids)}")
        if text not in history.recipe.special_tokens:
            raise BpeError(
                f"{quoted(text)} is the token for unknown characters; without it some texts could not be encoded. Keep "
                "it, or rename it."
            )
        if text in rename:
            raise BpeError(f"{quoted(text)} is both renamed and removed; choose one of the two.")
    if unknown is not None and rename.get(history.alphabet.texts[unknown].decode()) == "":
        raise BpeError("The unknown token needs a name.")
    taken = {*ids, *(text.decode(errors="replace") for text in written(history))} - {*rename, *remove}
    seen = set[str]()
    for text in (*rename.values(), *add):
        if text in taken or text in seen:
            raise BpeError(f"A token {quoted(text)} exists already; choose another text.")
        seen.add(text)


def _list_of_specials(ids: Mapping[str, int]) -> str:
    return f"; the special tokens are {', '.join(map(quoted, ids))}." if ids else "; the table has none."


def _without_ordinary(history: History, text: str) -> tuple[History, int]:
    """Remove an ordinary token that becomes a special token.

    Return the history without this token, and the id of the token.
    """
    check_can_be_edited(history)
    places = [place for place, token in enumerate(written(history)) if token == text.encode()]
    if not places:
        raise BpeError(f"There is no token {quoted(text)} to rename{_list_of_specials(special_ids(history))}")
    id = int(own_numbers(history)[places[0]])
    goes = np.zeros(history.index_count, np.bool_)
    goes[places[0]] = True
    if not looks_tokens_up(history):
        spare_parts(history, goes)
    if not goes.any() or places[0] < first_learned(history) or id == NO_NUMBER:
        raise BpeError(
            f"{quoted(text)} cannot become a special token: other tokens are made of it, or texts need it. Add a "
            "special token with another text."
        )
    left = remove_tokens(history, goes)
    return left.history.numbered(ids_beside(history, further_numbers(own_numbers(history), left.old_ids))), id


def _first_new_id(history: History, promoted: Mapping[str, int], first_id: int | None) -> int | None:
    """Return the first id for new special tokens.

    By default it comes after the ids of the table and of `promoted`, the ordinary tokens that become special tokens.
    """
    largest = max([int(own_numbers(history).max(initial=-1)), *promoted.values()])
    return largest + 1 if first_id is None else first_id
