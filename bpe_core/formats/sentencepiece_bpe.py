"""The pieces of a SentencePiece model of the kind BPE, as tokens of ours, and back.

Neighbours are joined whose text together is a piece, the highest score first. Which two made a piece is recovered (see
recovering.py). In models that others made, ▁ is a character like any other, so pieces may reach over words.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np

from bpe_core.formats.base import NO_NUMBER, unless_ids
from bpe_core.formats.limitations import listed
from bpe_core.formats.recovering import Recovered, recover, with_seeds
from bpe_core.formats.sentencepiece_fields import (
    BYTE,
    CONTROL,
    MARKER,
    NORMAL,
    UNKNOWN,
    UNUSED,
    USER_DEFINED,
    Piece,
    Stored,
    in_order,
)
from bpe_core.formats.sentencepiece_text import is_own, prepared_recipe, recipe_of
from bpe_core.history.alphabet import Alphabet, Symbol, SymbolKind, symbols_for_unknown
from bpe_core.history.history import History, Int64s
from bpe_core.history.joining import NO_PRIORITY, Joining
from bpe_core.history.token_texts import written
from bpe_core.recipes.recipe import CUSTOM_PATTERN, UNKNOWN_TOKEN

WORDS = f"{MARKER}+[^{MARKER}]*"  # what no piece reaches over, where blanks stand at the beginning of pieces only
_KINDS: dict[SymbolKind | None, int] = {"unknown": UNKNOWN, "fallback": BYTE}


def history_of(stored: Stored, name: str) -> tuple[History, list[str]]:
    """Return what the pieces make, and notes. Models of ours say how words are marked and split, so merges suffice."""
    own = is_own(stored)
    symbols = _base_symbols(stored, own)
    base = {text: id for id, (text, symbol) in enumerate(symbols) if symbol.merges}
    steps_only = {piece.text for piece in _of_kind(stored, UNUSED, longer_than=1)}
    longer = [piece for kind in (NORMAL, UNUSED)[: 2 - own] for piece in _of_kind(stored, kind, longer_than=1)]
    made = sorted(longer, key=lambda piece: -piece.score)
    recovered = recover({piece.text: rank for rank, piece in enumerate(made)}, base, len(symbols))
    alphabet, joining = Alphabet(tuple(symbol for _, symbol in symbols)), None
    names = [text for text, _ in symbols]
    if own:
        recipe, notes = recipe_of(stored, len(recovered.pairs), name)
        specials = [*recipe.special_tokens]
        notes += _about_own(recovered)
    else:
        recovered.lost[:] = [text for text in recovered.lost if text not in steps_only]  # nobody will miss it
        found_first = [piece.text for piece in _of_kind(stored, USER_DEFINED)]
        alphabet = with_seeds(alphabet, [_texts(text) for text in (*found_first, *recovered.lost)])
        names += [*found_first, *recovered.lost]
        specials = [piece.text for piece in stored.pieces if _is_special(piece, stored)]
        tokens = [*names, *recovered.tokens]
        hidden = tuple(id for id, text in enumerate(tokens) if id >= len(alphabet) and text in steps_only)
        if found_first or hidden or _is_more_than_merges(recovered, made, stored):
            joining = Joining(
                priorities=_priorities(tokens, made),
                joins_unknown=not stored.byte_fallback,
                found_first=tuple(range(len(symbols), len(symbols) + len(found_first))),
                hidden=hidden,
            )
        unknown = {} if stored.byte_fallback else {"unknown_text": _unknown_text(stored)}
        choices = {"special_tokens": tuple(specials), **_words(stored), **unknown}
        recipe, notes = prepared_recipe(stored, len(recovered.pairs), name, **choices), _notes(recovered, stored, base)
    history = History.from_pairs(recipe, alphabet, recovered.pairs_behind(len(alphabet)), joining)
    steps_only = set() if own else steps_only
    number_of = {piece.text: number for number, piece in enumerate(stored.pieces) if piece.text not in steps_only}
    numbers = np.array([number_of.get(text, NO_NUMBER) for text in (*names, *recovered.tokens, *specials)], np.int64)
    return history.numbered(unless_ids(numbers)), notes


def _of_kind(stored: Stored, kind: int, longer_than: int = 0) -> Iterator[Piece]:
    return (piece for piece in stored.pieces if piece.kind == kind and len(piece.text) > longer_than)


def _base_symbols(stored: Stored, own: bool) -> list[tuple[str, Symbol]]:
    """What represents the unknown, and the characters; in models of ours ▁ is no character, but a marker at the end."""
    unknown = "" if stored.byte_fallback else UNKNOWN_TOKEN if own else _unknown_text(stored)
    symbols = [(symbol.text.decode(), symbol) for symbol in symbols_for_unknown(unknown)]
    if own and unknown:
        symbols[0] = (_unknown_text(stored), symbols[0][1])
    singles = [piece.text for piece in _of_kind(stored, NORMAL) if len(piece.text) == 1]
    symbols += [(text, Symbol(*_texts(text), "character")) for text in singles if not (own and text == MARKER)]
    return [*symbols, (MARKER, Symbol(*_texts(MARKER), "marker"))] if own else symbols


def _texts(text: str) -> tuple[bytes, bytes]:
    return text.encode(), text.replace(MARKER, " ").encode()


def _unknown_text(stored: Stored) -> str:
    return next((piece.text for piece in _of_kind(stored, UNKNOWN)), UNKNOWN_TOKEN)


def _is_special(piece: Piece, stored: Stored) -> bool:
    """What no text becomes: control symbols, and where bytes stand for what is unknown the piece that would."""
    return piece.kind == CONTROL or (piece.kind == UNKNOWN and stored.byte_fallback)


def _is_more_than_merges(recovered: Recovered[str], made: Sequence[Piece], stored: Stored) -> bool:
    ties = any(one.score == other.score for one, other in pairwise(made))
    return bool(ties or recovered.lost or recovered.out_of_turn or not stored.byte_fallback)


def _priorities(names: Sequence[str], made: Sequence[Piece]) -> Int64s:
    """By token: the place of its score among all scores, from the highest on."""
    place = {score: number for number, score in enumerate(sorted({-piece.score for piece in made}))}
    of_text = {piece.text: place[-piece.score] for piece in made}
    return np.array([of_text.get(name, NO_PRIORITY) for name in names], np.int64)


def _words(stored: Stored) -> dict[str, str]:
    """Where a text may be cut before anything is joined: before blanks, if no piece holds one behind another sign."""
    texts = [piece.text for kind in (NORMAL, USER_DEFINED) for piece in _of_kind(stored, kind)]
    reaches = any(before != MARKER and behind == MARKER for text in texts for before, behind in pairwise(text))
    if reaches or MARKER not in texts:
        return {"pattern": "none"}
    return {"pattern": CUSTOM_PATTERN, "custom_pattern": WORDS}


def _about_own(recovered: Recovered[str]) -> list[str]:
    notes = []
    if recovered.out_of_turn:
        tokens = listed([text.encode() for text in recovered.out_of_turn])
        notes.append(
            f"{len(recovered.out_of_turn):,} pieces are made of a piece with a lower score than their own: {tokens}. "
            "Here their merges follow those of their parts."
        )
    if recovered.lost:
        tokens = listed([text.encode() for text in recovered.lost])
        notes.append(f"{len(recovered.lost):,} pieces are made by no two others and left out: {tokens}.")
    return notes


def _notes(recovered: Recovered[str], stored: Stored, base: dict[str, int]) -> list[str]:
    notes = []
    if recovered.out_of_turn:
        tokens = listed([text.encode() for text in recovered.out_of_turn])
        notes.append(
            f"{len(recovered.out_of_turn):,} pieces are made of a piece with a lower score than their own: {tokens}. "
            "Neighbours are joined by the score of their text, as in SentencePiece."
        )
    characters = {character for text in recovered.lost for character in text} - set(base)
    if characters:
        few = listed([character.encode() for character in sorted(characters)])
        notes.append(
            f"{len(characters):,} characters stand in longer pieces only: {few}. Texts that hold them can be cut "
            "otherwise than by SentencePiece."
        )
    elif recovered.lost:
        tokens = listed([text.encode() for text in recovered.lost])
        notes.append(f"{len(recovered.lost):,} pieces are made by no two others, so no text becomes them: {tokens}.")
    alone = [piece.text.encode() for piece in _of_kind(stored, UNUSED) if len(piece.text) == 1]
    if alone:
        notes.append(f"{len(alone):,} characters are marked as unused and left out: {listed(alone)}.")
    unused = [piece.text.encode() for piece in _of_kind(stored, UNUSED, longer_than=1)]
    if unused:
        notes.append(
            f"{len(unused):,} pieces are marked as unused: {listed(unused)}. Each is a step to others only; "
            "where nothing is made of it, it falls into what it was made of, as in SentencePiece."
        )
    return notes


# --- Writing ----------------------------------------------------------------------------


def joins_by_score(history: History) -> bool:
    """Whether scores of the pieces can say in which order texts are joined."""
    joining = history.joining
    if joining is None or joining.whole_words or joining.left_out:
        return joining is None
    if joining.pairs is None:
        return True
    born = np.array(history.pairs(), np.int64).reshape(-1, 2).T
    tokens = np.arange(len(history)) + len(history.alphabet)
    return all(map(np.array_equal, joining.pairs, (*born, tokens)))


def pieces_of(history: History, numbers: Int64s) -> list[Piece]:
    """The pieces by number."""
    texts, base = [text.decode() for text in written(history)], len(history.alphabet)
    lowest = -float(len(texts))  # base symbols lie below all merges
    first = set() if history.joining is None else set(history.joining.found_first)
    hidden = set() if history.joining is None else set(history.joining.hidden)
    found: dict[int, Piece] = {}
    steps_only: list[Piece] = []
    seen: set[str] = set()
    for id, text in enumerate(texts):
        kind = USER_DEFINED if id in first else UNUSED if id in hidden else _KINDS.get(_kind(history, id), NORMAL)
        score = _score(history, id, lowest) if kind in (NORMAL, UNUSED) else 0.0
        if text in seen:  # no two pieces may have the same text
            text, kind, score = f"<unused {id}>", UNUSED, 0.0
        seen.add(text)
        if id in hidden:
            steps_only.append(Piece(text, score, kind))
        else:
            found[int(numbers[id])] = Piece(text, score, kind)
    for id, special in enumerate(history.recipe.special_tokens, base + len(history)):
        is_unknown = history.recipe.unknown == "bytes" and special == UNKNOWN_TOKEN
        found[int(numbers[id])] = Piece(special, 0.0, UNKNOWN if is_unknown else CONTROL)
    found.pop(NO_NUMBER, None)
    return in_order(found, lowest, steps_only)


def _kind(history: History, id: int) -> SymbolKind | None:
    return history.alphabet.symbols[id].kind if id < len(history.alphabet) else None


def _score(history: History, id: int, lowest: float) -> float:
    if history.joining is not None and history.joining.priorities is not None:
        priority = int(history.joining.priorities[id])
        if priority != NO_PRIORITY:
            return -float(priority)
    elif id >= len(history.alphabet):
        return float(len(history.alphabet) - id)
    return lowest - id
