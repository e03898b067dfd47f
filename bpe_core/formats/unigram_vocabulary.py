"""The pieces of Unigram, with their log-probabilities and ids, in files and in the engine.

A file does not say which pieces were dropped during training. So all pieces are in the alphabet, and there are no
steps.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from bpe_core.errors import FormatError
from bpe_core.formats.base import NO_NUMBER, SCORES, about, dense_numbers
from bpe_core.formats.byte_level import read
from bpe_core.formats.sentencepiece_fields import Kind, ScoredPiece, in_order
from bpe_core.history.alphabet import BYTE_TEXTS, Alphabet, SpelledSeeds, Symbol, SymbolKind, unknown_symbols
from bpe_core.history.columns import Float32s, Scores
from bpe_core.history.history import History, Int64s
from bpe_core.history.laid_texts import LaidTexts
from bpe_core.history.token_texts import written
from bpe_core.methods.registry import METHODS
from bpe_core.recipes.parts import UNKNOWN_TOKEN
from bpe_core.recipes.recipe import Recipe
from bpe_core.support.arrays import Float64s
from bpe_core.text.characters import code_points
from bpe_core.text.preparation.normalizers import Precompiled

# How far the log-probability of an unknown character lies below that of all pieces, as in SentencePiece.
UNKNOWN_COSTS = 10.0
LARGEST_SCORE = 3e38  # the lowest 32-bit number


class ScoredPieces(NamedTuple):
    """The pieces that can occur in a split text, with their scores and ids. No two pieces have the same text."""

    texts: LaidTexts
    scores: Float64s
    numbers: Int64s

    def only(self, places: Int64s) -> ScoredPieces:
        return ScoredPieces(self.texts.only(places), self.scores[places], self.numbers[places])

    def with_lone(self, texts: Sequence[str], score: float, number: int) -> ScoredPieces:
        scores, numbers = (np.full(len(texts), value) for value in (score, number))
        return ScoredPieces(
            self.texts.followed_by(LaidTexts.of(texts)),
            np.concatenate((self.scores, scores)),
            np.concatenate((self.numbers, numbers)),
        )


def history_of(
    pieces: ScoredPieces,
    numbers_of: Callable[[Sequence[str]], Int64s],
    unknown: int,
    recipe: Recipe,
    name: str,
    sign: str = "",
    least: float | None = None,
    *,
    by_bytes: bool = False,
) -> tuple[History, list[str]]:
    """Return pieces as a history without steps, and a list of notes.

    Parameters
    ----------
    pieces
        The pieces that a text is split into.
    numbers_of
        A function that returns the ids of texts. The texts can be pieces and special tokens.
    unknown
        The id of the unknown token, or NO_NUMBER if unknown characters become bytes.
    recipe
        The recipe of the history.
    name
        The name of the file in errors.
    sign
        The character that represents a space, if words have no marker.
    least
        The score from which the score of unknown characters is computed. By default this is the lowest score of the
        pieces.
    by_bytes
        Whether characters represent bytes.
    """
    if not len(pieces.texts):
        raise FormatError(f"{name}: the model has no pieces that a text could be split into.")
    marker = recipe.marker_text
    unknown_score = (float(pieces.scores.min()) if least is None else least) - UNKNOWN_COSTS
    over_words = [place for place, text in enumerate(pieces.texts) if text.find(marker, 1) > 0] if marker else []
    left_out = [pieces.texts[place] for place in over_words]
    if over_words:
        pieces = pieces.only(np.delete(np.arange(len(pieces.texts)), over_words))
    # Characters that only longer pieces have, and the marker if it is one: alone they are unknown.
    codes = code_points(pieces.texts.together)
    is_single = pieces.texts.are_single
    is_lone = np.zeros(sys.maxunicode + 1, np.bool_)
    is_lone[codes] = is_lone[code_points(marker)] = True
    is_lone[codes[pieces.texts.edges[:-1][is_single]]] = False
    lone = list(map(chr, np.flatnonzero(is_lone).tolist()))
    within = pieces.with_lone(lone, -math.inf if recipe.sums else unknown_score, unknown)
    is_marker = np.zeros(len(within.texts), np.bool_)
    is_marker[[place for place in within.texts.places_of([marker] * bool(marker)).tolist() if place >= 0]] = True
    is_single = within.texts.lengths == 1
    characters, markers, seeds = (
        np.flatnonzero(which) for which in (is_single & ~is_marker, is_marker, ~(is_single | is_marker))
    )
    base = unknown_symbols(recipe)
    of_all = within.texts.only
    alphabet = _alphabet(
        base, [*of_all(characters)], [*of_all(markers)], of_all(seeds), marker or sign or " ", by_bytes=by_bytes
    )
    order = np.concatenate((characters, markers, seeds))
    numbers = (
        numbers_of([symbol.text.decode() for symbol in base]),
        within.numbers[order],
        numbers_of(recipe.special_tokens),
    )
    row = np.concatenate((np.full(len(base), unknown_score), within.scores[order]))
    rounded = row if recipe.sums == "64 bits" else row.astype(np.float32)
    notes = about(left_out, "pieces cross several words and are left out: {}") if left_out else []
    if lone not in ([], [marker]) and not recipe.sums:
        notes += about(lone, "characters occur only in longer pieces, and are unknown outside of such pieces: {}")
    scores = Scores((0,), (rounded,), np.zeros(0, np.int32))
    return History.from_pairs(recipe, alphabet, [], scores=scores, numbers=np.concatenate(numbers)), notes


def _alphabet(
    base: list[Symbol], characters: list[str], markers: list[str], seeds: LaidTexts, blank: str, *, by_bytes: bool
) -> Alphabet:
    """Return the alphabet of the pieces. `blank` is the text that represents a space in a piece, such as `▁`."""

    def symbol(text: str, kind: SymbolKind) -> Symbol:
        raw = text.encode()
        return Symbol(raw, (read(text) or raw) if by_bytes else raw.replace(blank.encode(), b" "), kind)

    given = [
        *base,
        *(symbol(piece, "character") for piece in characters),
        *(symbol(piece, "marker") for piece in markers),
    ]
    if by_bytes or len(blank) > 1:  # otherwise a piece may read differently from its single characters
        return Alphabet((*given, *(symbol(piece, "seed") for piece in seeds)))
    known = code_points("".join((*characters, *markers)))
    id_of = np.zeros(int(known.max(initial=0)) + 1, np.int32)
    id_of[known] = np.arange(len(base), len(given))
    return Alphabet(tuple(given), SpelledSeeds(id_of[code_points(seeds.together)], seeds.edges))


def method_of(scores: Float64s) -> str:
    """Guess the method that computed the given scores, because no file names its method.

    Some methods recognize their own scores. If no method recognizes the scores, return the first method whose pieces
    have scores.
    """
    numbers = scores.tolist()
    usual, *others = [name for name, method in METHODS.items() if SCORES in method.tables]
    return next((name for name in others if METHODS[name].knows(numbers)), usual)


def checked_score(value: object, where: str) -> float:
    if isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < LARGEST_SCORE:
        return float(value)
    raise FormatError(f"{where}: the log-probability {str(value)[:40]} is not a finite number.")


# --- Writing ----------------------------------------------------------------------------


def numbers_for(history: History) -> Int64s:
    """Return an array with the id that each index of a history gets in a file.

    If the history already has the ids of a file, they are kept, unless too many ids up to the largest are unused. Ids
    that are not kept are given in this order: the unknown token, the special tokens, the symbols for the bytes of
    unknown characters, the marker, and the other pieces from the best score to the worst. Dropped pieces get no id. If
    there is no unknown token, id 0 stays free for <unk>, which such files must have.
    """
    kept = dense_numbers(history)
    if kept is not None:
        return kept
    numbers = np.full(history.index_count, NO_NUMBER, np.int64)
    specials = range(history.first_special, history.index_count)
    alphabet = history.alphabet
    scores = scores_of(history)
    fallback = [id for id, symbol in enumerate(alphabet.symbols) if symbol.kind == "fallback"]
    first = [alphabet.unknown_id if alphabet.unknown_id is not None else NO_NUMBER, *specials, *fallback]
    best = np.setdiff1d(np.flatnonzero(np.isfinite(scores)), first)
    best = best[np.argsort(-scores[best], kind="stable")]
    texts = written(history)
    number_of: dict[bytes, int] = {}
    if alphabet.marker_id is not None:
        best = np.concatenate((best[best == alphabet.marker_id], best[best != alphabet.marker_id]))
    for id in best.tolist():  # if marker and character are written alike, nothing distinguishes them
        numbers[id] = number_of.setdefault(texts[id], len(first) + len(number_of))
    for number, id in enumerate(first):
        if id != NO_NUMBER:
            numbers[id] = number
    return numbers


def scores_of(history: History) -> Float32s:
    assert history.scores is not None  # without it no text could be split
    return history.scores.at(len(history))


def pieces_like_tokens(history: History) -> dict[str, float]:
    """Return the pieces that have the same text as a special token, the unknown token or a byte token.

    Each piece is returned with its score.
    """
    recipe = history.recipe
    alphabet = history.alphabet
    unknown = BYTE_TEXTS if recipe.unknown == "bytes" else (recipe.unknown_text,)
    texts = {text.encode() for text in (*recipe.special_tokens, *unknown)}
    ids = [id for id, text in enumerate(alphabet.texts) if text in texts]
    id_of = {alphabet.texts[id]: id for id in ids if alphabet.symbols[id].kind in ("character", "seed")}
    scores = {text.decode(): float(scores_of(history)[id]) for text, id in id_of.items()}
    # otherwise it occurs in longer pieces only
    return {text: score for text, score in scores.items() if math.isfinite(score)}


_KINDS = {"unknown": Kind.UNKNOWN, "fallback": Kind.BYTE}


def kept_texts(recipe: Recipe) -> set[str]:
    """Return the texts that the recipe protects from replacement by a table of characters."""
    return set().union(*(step.kept_texts for step in recipe.preparation if isinstance(step, Precompiled)))


def pieces_of(history: History, *, with_unused: bool = False) -> list[ScoredPiece]:
    """Return the pieces with SentencePiece's kinds, in the order of their ids.

    Pieces that never occur in a split text are included only if `with_unused` is true.
    """
    numbers = numbers_for(history)
    scores = scores_of(history)
    texts = [text.decode() for text in written(history)]
    piece_of: dict[int, ScoredPiece] = {}
    kept = kept_texts(history.recipe)
    alphabet = history.alphabet
    unknown = NO_NUMBER if alphabet.unknown_id is None else numbers[alphabet.unknown_id]
    for id, symbol in enumerate(history.alphabet.symbols):
        kind = Kind.USER_DEFINED if texts[id] in kept else _KINDS.get(symbol.kind, Kind.NORMAL)
        if numbers[id] != NO_NUMBER and (symbol.kind in _KINDS or np.isfinite(scores[id])):
            score = float(scores[id]) if kind == Kind.NORMAL else 0.0
            piece_of.setdefault(int(numbers[id]), ScoredPiece(texts[id], score, kind))
    for id in np.flatnonzero(~np.isfinite(scores)).tolist() if with_unused else ():
        if numbers[id] not in (NO_NUMBER, unknown):
            piece_of.setdefault(int(numbers[id]), ScoredPiece(texts[id], 0.0, Kind.UNUSED))
    for id, special in enumerate(history.recipe.special_tokens, history.first_special):
        is_unknown = special == UNKNOWN_TOKEN and history.alphabet.unknown_id is None
        piece_of[int(numbers[id])] = ScoredPiece(special, 0.0, Kind.UNKNOWN if is_unknown else Kind.CONTROL)
    return in_order(piece_of, min(piece.score for piece in piece_of.values()))
