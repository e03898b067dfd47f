"""Unigram's pieces with their log-probabilities and numbers, as files hold them, and as ours.

A file does not say which pieces were dropped on the way. So all are in the alphabet, and there are no steps.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from bpe_core.errors import FormatError
from bpe_core.formats.base import NO_NUMBER, dense_numbers, unless_ids
from bpe_core.formats.limitations import listed
from bpe_core.formats.sentencepiece_fields import BYTE, CONTROL, NORMAL, UNKNOWN, Piece, in_order
from bpe_core.history.alphabet import Alphabet, Symbol, SymbolKind, unknown_symbols
from bpe_core.history.columns import Float32s, Scores
from bpe_core.history.history import Columns, History, Int64s
from bpe_core.history.token_texts import written
from bpe_core.learning.mingram.method import puts_fewest_first
from bpe_core.recipes.recipe import UNKNOWN_TOKEN, Recipe

UNKNOWN_COSTS = (
    10.0  # how far below all pieces the log-probability of a character without one lies, as in SentencePiece
)
LARGEST_SCORE = 3e38  # that a number of 32 bits holds


class ScoredPiece(NamedTuple):
    text: str
    score: float
    number: int


@dataclass(frozen=True)
class Pieces:
    """What a file says about its tokens."""

    scored: Sequence[ScoredPiece]
    unknown: int  # the number of what is unknown; NO_NUMBER where all of it becomes bytes
    fallback: Sequence[int] = ()  # the numbers of the 256 bytes
    specials: Sequence[int] = ()  # of the recipe's special tokens
    notes: list[str] = field(default_factory=list)  # grows


def history_of(pieces: Pieces, recipe: Recipe, name: str, sign: str = "") -> History:
    """Return pieces as a history without steps.

    `sign` stands for blanks where words are not marked, but hold it as any other character.
    """
    if not pieces.scored:
        raise FormatError(f"{name}: the model has no pieces that a text could be cut into.")
    marker = recipe.marker_text
    within = [piece for piece in pieces.scored if not marker or marker not in piece.text[1:]]
    _note_left_out(pieces, [piece.text for piece in pieces.scored if marker and marker in piece.text[1:]])
    unknown_score = min(piece.score for piece in pieces.scored) - UNKNOWN_COSTS
    within += [ScoredPiece(text, unknown_score, pieces.unknown) for text in _lone_characters(pieces, within, marker)]
    symbols = unknown_symbols(recipe)
    numbers = list(pieces.fallback) or [pieces.unknown]
    scores = [unknown_score] * len(symbols)
    for kind in ("character", "marker", "seed"):
        for piece in within:
            if _kind(piece.text, marker) == kind:
                symbols.append(_symbol(piece.text, marker) if marker else _as_written(piece.text, sign))
                numbers.append(piece.number)
                scores.append(piece.score)
    numbers += pieces.specials
    row = np.array(scores, np.float32)
    if not np.array_equal(row, scores):
        pieces.notes.append(
            "Log-probabilities are rounded to 32 bits here; of two cuts that are equally probable it may be the other."
        )
    return History(
        recipe,
        Alphabet(tuple(symbols)),
        Columns.with_room(0).first(0),
        scores=Scores((0,), (row,), np.zeros(0, np.int32)),
        numbers=unless_ids(np.array(numbers, np.int64)),
    )


def method_of(scored: Sequence[ScoredPiece]) -> str:
    """How they were learned: scores that put the fewest tokens first are MinGram's, which no file says otherwise."""
    return "mingram" if puts_fewest_first([piece.score for piece in scored]) else "unigram"


def checked_score(value: object, where: str) -> float:
    if isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < LARGEST_SCORE:
        return float(value)
    raise FormatError(f"{where}: its log-probability is {str(value)[:40]}, which is no finite number.")


def _kind(text: str, marker: str) -> SymbolKind:
    return "marker" if text == marker else "character" if len(text) == 1 else "seed"


def _symbol(text: str, marker: str) -> Symbol:
    read = " " + text[len(marker) :] if text.startswith(marker) else text
    return Symbol(text.encode(), read.encode(), _kind(text, marker))


def _as_written(text: str, sign: str) -> Symbol:
    read = text.replace(sign, " ") if sign else text
    return Symbol(text.encode(), read.encode(), "character" if len(text) == 1 else "seed")


def _lone_characters(pieces: Pieces, within: Sequence[ScoredPiece], marker: str) -> list[str]:
    """Characters that only longer pieces have, and the marker if it is one: alone they are unknown."""
    known = {piece.text for piece in within}
    missing = sorted(({character for piece in within for character in piece.text} | {*marker}) - known)
    if any(character != marker for character in missing):
        few = listed([character.encode() for character in missing])
        pieces.notes.append(f"{len(missing):,} characters stand in longer pieces only; alone they are unknown: {few}.")
    return missing


def _note_left_out(pieces: Pieces, texts: list[str]) -> None:
    if texts:
        few = listed([text.encode() for text in texts])
        pieces.notes.append(f"{len(texts):,} pieces reach over several words and are left out: {few}.")


# --- Writing ----------------------------------------------------------------------------


def numbers_for(history: History) -> Int64s:
    """The numbers that a file gives our ids: those it came with, or what is unknown, special tokens, the best first.

    What was dropped has none. Where what is unknown becomes bytes, a number is left for <unk>, which files must have.
    """
    kept = dense_numbers(history)
    if kept is not None:
        return kept
    numbers = np.full(history.id_count, NO_NUMBER, np.int64)
    specials = range(history.first_special, history.id_count)
    alphabet, scores = history.alphabet, scores_of(history)
    fallback = [id for id, symbol in enumerate(alphabet.symbols) if symbol.kind == "fallback"]
    first = [alphabet.unknown_id if alphabet.unknown_id is not None else NO_NUMBER, *specials, *fallback]
    best = np.setdiff1d(np.flatnonzero(np.isfinite(scores)), first)
    best = best[np.argsort(-scores[best], kind="stable")]
    texts = written(history)
    number_of: dict[bytes, int] = {}
    if alphabet.marker_id is not None:
        best = np.concatenate((best[best == alphabet.marker_id], best[best != alphabet.marker_id]))
    for id in best.tolist():  # of two written alike, the marker and the character, nothing tells one from the other
        numbers[id] = number_of.setdefault(texts[id], len(first) + len(number_of))
    return _with_first(numbers, first)


def _with_first(numbers: Int64s, first: Sequence[int]) -> Int64s:
    for number, id in enumerate(first):
        if id != NO_NUMBER:
            numbers[id] = number
    return numbers


def scores_of(history: History) -> Float32s:
    """The log-probabilities in force, by id; not finite for what has none."""
    assert history.scores is not None  # no text could be cut without
    return history.scores.at(len(history))


_KINDS = {"unknown": UNKNOWN, "fallback": BYTE}


def pieces_of(history: History) -> list[Piece]:
    """The pieces by number, as SentencePiece calls their kinds."""
    numbers = numbers_for(history)
    scores, texts = scores_of(history), [text.decode() for text in written(history)]
    found: dict[int, Piece] = {}
    for id, symbol in enumerate(history.alphabet.symbols):
        kind = _KINDS.get(symbol.kind, NORMAL)
        if numbers[id] != NO_NUMBER and (kind != NORMAL or np.isfinite(scores[id])):
            score = float(scores[id]) if kind == NORMAL else 0.0
            found.setdefault(int(numbers[id]), Piece(texts[id], score, kind))
    for id, special in enumerate(history.recipe.special_tokens, history.first_special):
        is_unknown = special == UNKNOWN_TOKEN and history.alphabet.unknown_id is None
        found[int(numbers[id])] = Piece(special, 0.0, UNKNOWN if is_unknown else CONTROL)
    return in_order(found, min(piece.score for piece in found.values()))
