"""SentencePiece's .model, which holds pieces with scores.

In BPE, a score is the negative rank of a merge. In Unigram, it is a log-probability.

In BPE, two neighbouring pieces are joined if their joined text is a piece. The join with the highest score comes first.
The two parts of each piece are recovered (see recovering.py). In models from other programs `▁` is an ordinary
character, so pieces may cross the ends of words. Models from this program state how words are marked and split, so they
are read as merges within words.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from bpe_core.errors import FormatError
from bpe_core.formats import limitations, sentencepiece_fields, unigram_vocabulary
from bpe_core.formats.base import (
    IN_WORDS,
    NO_NUMBER,
    SCORES,
    Beside,
    Format,
    Opened,
    Peer,
    about,
    complete_numbers,
    dense_numbers,
    unless_ids,
)
from bpe_core.formats.limitations import about_same_text, about_unrecoverable
from bpe_core.formats.recovering import RecoveredMerges, recover, recovered_among, with_seeds
from bpe_core.formats.sentencepiece_fields import (
    BPE,
    CHARACTERS,
    MARKER,
    UNIGRAM,
    WORDS,
    FieldValues,
    Kind,
    ScoredPiece,
)
from bpe_core.formats.sentencepiece_text import (
    decoding_fields,
    is_own,
    map_differs,
    normalizer_spec,
    recipe_of,
    recipe_with,
    spec_of_steps,
    steps_of,
)
from bpe_core.formats.unigram_vocabulary import ScoredPieces, method_of
from bpe_core.history.alphabet import (
    NUMBER_OF_KIND,
    Alphabet,
    LaidSymbols,
    RawTexts,
    Symbol,
    symbols_for_unknown,
)
from bpe_core.history.columns import DROPPED
from bpe_core.history.history import History, Int64s
from bpe_core.history.joining import NO_PRIORITY, MergePriorities
from bpe_core.history.laid_texts import LaidTexts
from bpe_core.history.token_texts import written
from bpe_core.methods.kit.method import Method
from bpe_core.recipes.parts import CUSTOM_PATTERN, UNKNOWN_TOKEN
from bpe_core.support.arrays import Float64s
from bpe_core.support.progress import Progress, ProgressReport
from bpe_core.support.wording import count_text
from bpe_core.text.preparation.whole_texts import WholeTexts

RUNS = f"{MARKER}+[^{MARKER}]*"  # characters that no piece crosses, if pieces have blanks only at their beginning
EACH_WORD = f"{MARKER}[^{MARKER}]*"
USER_DEFINED_SCORE = 0.1  # the bytes before a byte piece, except the first, as SentencePiece 0.2.3 writes them
_KINDS = {"unknown": Kind.UNKNOWN, "fallback": Kind.BYTE}


class _SymbolsAndMerges(NamedTuple):
    """The base symbols of a model, and the pieces that are made by merges."""

    alphabet: Alphabet
    places: Int64s  # indices of its symbols among the pieces
    lone: int  # the number of last symbols that occur only in longer pieces: alone they are unknown
    made: Int64s  # the pieces that neighbours are joined to, the highest score first
    ranks: Int64s  # the ranks of their scores
    merges: RecoveredMerges[str]  # the parts of these pieces
    lost: Int64s  # pieces that no two parts make


def bpe_history(stored: FieldValues, name: str) -> tuple[History, list[str]]:
    own = is_own(stored)
    return (_history_of_own if own else _history_of_others)(stored, _found(stored, own), name)


def _found(stored: FieldValues, own: bool) -> _SymbolsAndMerges:
    pieces = stored.pieces
    (alphabet, places) = _base_symbols(stored, own)
    unused = pieces.numbers_of(Kind.UNUSED)[: 0 if own else None]  # pieces that only serve to make other pieces
    longer = np.concatenate((pieces.numbers_of(Kind.NORMAL), unused))
    are_single = pieces.texts.are_single
    longer, ranks = _best_first(pieces.scores, longer[~are_single[longer]])
    # no neighbours are joined then
    made, whole = (longer[:0], longer) if stored.kind == CHARACTERS else (longer, longer[:0])
    merging = np.where(alphabet.merging, places, NO_NUMBER)
    merges = recovered_among(pieces.texts, merging, made)
    if merges is None:
        merges = recover(pieces.texts_of(made), _ids_of(alphabet), len(alphabet))
    singles = unused[are_single[unused]]
    single = dict(zip(pieces.texts_of(singles), singles.tolist(), strict=True))
    letters = set() if own else single.keys() | pieces.texts_of(made[merges.unmade]).together
    lone = sorted(letters - _ids_of(alphabet).keys() - {*pieces.of_kind(Kind.USER_DEFINED)}) if letters else []
    if lone:
        alphabet = Alphabet((*alphabet.given, *_characters(LaidTexts.of(lone))))
        places = np.append(places, [single.get(text, NO_NUMBER) for text in lone])
        merges = recover(pieces.texts_of(made), _ids_of(alphabet), len(alphabet))
    lost = np.concatenate((made[merges.unmade], whole))
    return _SymbolsAndMerges(alphabet, places, len(lone), made, ranks[: len(made)], merges, lost)


def _best_first(scores: Float64s, numbers: Int64s) -> tuple[Int64s, Int64s]:
    """Sort pieces by their scores, the highest first. Return the ids of the pieces, and the ranks of their scores.

    Equal scores have the same rank.
    """
    given = scores[numbers]
    if (given[1:] < given[:-1]).all():  # most files are sorted, so this saves time
        return numbers, np.arange(len(numbers))
    # The library sorts -0.0 below 0.0, so -0.0 becomes a tiny negative number.
    given[(given == 0) & np.signbit(given)] = -np.finfo(np.float64).tiny
    order = np.argsort(-given, kind="stable")
    return numbers[order], np.cumsum(np.diff(given[order], prepend=np.inf) != 0) - 1


def _history_of_own(stored: FieldValues, parts: _SymbolsAndMerges, name: str) -> tuple[History, list[str]]:
    pieces = stored.pieces
    merges = parts.merges
    recipe, notes = recipe_of(stored, len(merges.pairs), name)
    notes += _about_recovered(merges, "In this program the merges of these pieces come after the merges of their parts")
    notes += about([*pieces.texts_of(parts.lost)], "pieces cannot be made of two other pieces and are left out: {}")
    history = History.from_pairs(recipe, parts.alphabet, merges.pairs)
    specials = pieces.texts.places_of(recipe.special_tokens)
    numbers = np.concatenate((parts.places, parts.made[merges.places], specials))
    return history.numbered(unless_ids(numbers)), notes


def _history_of_others(stored: FieldValues, parts: _SymbolsAndMerges, name: str) -> tuple[History, list[str]]:
    pieces = stored.pieces
    merges = parts.merges
    base = len(parts.alphabet)
    found_first = pieces.numbers_of(Kind.USER_DEFINED)  # searched for in texts, before any neighbours are joined
    seeds = np.concatenate((found_first, parts.lost))
    alphabet = with_seeds(parts.alphabet, list(map(_texts, pieces.texts_of(seeds))))
    first = np.concatenate((parts.places, seeds))
    last = parts.made[merges.places]
    behind = np.concatenate((seeds, last))
    are_unused = np.flatnonzero(np.isin(behind, pieces.numbers_of(Kind.UNUSED)))
    hidden = (*range(base - parts.lone, base), *(base + are_unused).tolist())
    joining = None
    if len(seeds) or hidden or _is_more_than_merges(parts, stored):
        unmade = parts.ranks[merges.unmade]  # the last seeds
        others = np.full(base + len(seeds) - len(unmade), NO_PRIORITY)
        joining = MergePriorities(
            priorities=np.concatenate((others, unmade, parts.ranks[merges.places])),
            joins_unknown=not stored.byte_fallback,
            found_first=tuple(range(base, base + len(found_first))),
            hidden=hidden,
        )
    specials = _specials(stored)
    unknown = {} if stored.byte_fallback else {"unknown_text": stored.pieces.unknown_text}
    choices = {
        "special_tokens": tuple(pieces.texts_of(specials)),
        "preparation": steps_of(stored),
        **_choices_for_splitting(stored),
    }
    recipe = recipe_with(stored, len(merges.pairs), name, **choices, **unknown)
    history = History.from_pairs(recipe, alphabet, merges.pairs_for_alphabet(len(alphabet)), joining)
    numbers = np.concatenate((first, last, specials))
    texts = pieces.texts if (numbers != NO_NUMBER).all() else None
    return history.numbered(unless_ids(numbers), texts), _notes(parts, stored)


def words_history(stored: FieldValues, name: str) -> tuple[History, list[str]]:
    """Return the history of a model of whole words, and notes about it.

    A word that is not a piece becomes the unknown token, or its bytes.
    """
    _check_unknown(stored, name)
    unknown = "" if stored.byte_fallback else stored.pieces.unknown_text
    pieces = stored.pieces
    words = pieces.texts_of(pieces.numbers_of(Kind.NORMAL, Kind.USER_DEFINED))
    specials = tuple(pieces.texts_of(_specials(stored)))
    unused = pieces.of_kind(Kind.UNUSED)
    symbols = [*symbols_for_unknown(unknown), *(Symbol(*_texts(text), "seed") for text in (*words, *unused))]
    choices: dict[str, Any] = {"unknown_text": unknown} if unknown else {}
    choices |= {"special_tokens": specials, "preparation": steps_of(stored)}
    recipe = recipe_with(stored, 0, name, pattern=CUSTOM_PATTERN, custom_pattern=EACH_WORD, **choices)
    joining = MergePriorities(
        priorities=np.full(len(symbols), NO_PRIORITY),
        whole_words=True,
        joins_unknown=not stored.byte_fallback,
        hidden=tuple(range(len(symbols) - len(unused), len(symbols))),
    )
    history = History.from_pairs(recipe, Alphabet(tuple(symbols)), [], joining)
    names = [*(symbol.text.decode() for symbol in symbols), *specials]
    numbers = np.array([pieces.number_of[text] for text in names], np.int64)
    return history.numbered(unless_ids(numbers)), []


def _base_symbols(stored: FieldValues, own: bool) -> tuple[Alphabet, Int64s]:
    """Return the alphabet, and the index of each symbol's piece. The alphabet holds the unknown symbol and all
    characters.

    If `own` is true, this program wrote the model. In such a model `▁` is a marker and comes last.
    """
    pieces = stored.pieces
    unknown = ""
    if not stored.byte_fallback:
        unknown = UNKNOWN_TOKEN if own else stored.pieces.unknown_text
    first = pieces.numbers_of_bytes if stored.byte_fallback else pieces.numbers_of(Kind.UNKNOWN)[:1]
    if not len(first):
        first = pieces.texts.places_of([UNKNOWN_TOKEN])
    normal = pieces.numbers_of(Kind.NORMAL)
    singles = normal[pieces.texts.are_single[normal]]
    marker = pieces.texts.places_of([MARKER]) if own else first[:0]
    singles = singles[~np.isin(singles, marker)] if own else singles
    symbols = LaidSymbols.of(symbols_for_unknown(unknown))
    symbols = symbols.followed_by(_characters(pieces.texts_of(singles)))
    if own:
        symbols = symbols.followed_by(LaidSymbols.of([Symbol(*_texts(MARKER), "marker")]))
    return Alphabet(symbols), np.concatenate((first, singles, marker))


def _ids_of(alphabet: Alphabet) -> dict[str, int]:
    """Return a dictionary from the texts of base symbols to their ids, for all symbols that merges may join."""
    merging = zip(alphabet.texts, alphabet.merging, strict=True)
    return {text.decode(): id for id, (text, merges) in enumerate(merging) if merges}


def _characters(texts: LaidTexts) -> LaidSymbols:
    raw = RawTexts(texts.data, texts.starts)
    shown = MARKER.encode()
    read = RawTexts.of([b" " if text == shown else text for text in raw])
    return LaidSymbols(raw, read, np.full(len(texts), NUMBER_OF_KIND["character"], np.int8))


def _texts(text: str) -> tuple[bytes, bytes]:
    written = text.encode()
    return written, text.replace(MARKER, " ").encode() if MARKER in text else written


def _specials(stored: FieldValues) -> Int64s:
    kinds = (Kind.CONTROL, Kind.UNKNOWN) if stored.byte_fallback else (Kind.CONTROL,)
    return stored.pieces.numbers_of(*kinds)


def _is_more_than_merges(parts: _SymbolsAndMerges, stored: FieldValues) -> bool:
    if len(parts.merges.late) or not stored.byte_fallback:
        return True
    return len(parts.ranks) > 0 and int(parts.ranks[-1]) != len(parts.ranks) - 1  # some have equal scores


def _choices_for_splitting(stored: FieldValues) -> dict[str, str]:
    """Return the choices of a recipe that say how a text is split into words.

    If pieces contain spaces only at their start, and a single space is a piece, a text is split before each run of
    spaces. Otherwise a text is not split.
    """
    texts = stored.pieces.texts
    data = texts.data
    first = texts.starts[:-1]
    sign = MARKER.encode()
    is_blank = np.zeros(len(data) + 1, np.bool_)
    is_blank[: -len(sign)] = (data[:-2] == sign[0]) & (data[1:-1] == sign[1]) & (data[2:] == sign[2])
    begins = is_blank[first]
    alone = np.flatnonzero(begins & (np.diff(texts.starts) == len(sign)))
    kinds = stored.pieces.kinds
    # Without such a piece, an unknown space is joined with the unknown characters before it.
    if {Kind.NORMAL, Kind.USER_DEFINED}.isdisjoint(kinds[alone].tolist()):
        return {"pattern": "none"}
    if np.count_nonzero(is_blank) > np.count_nonzero(begins):  # rarely, and finding out where takes time
        blanks = np.flatnonzero(is_blank)
        is_edge = np.zeros(len(data) + 1, np.bool_)
        is_edge[first] = True
        behind = blanks[~is_edge[blanks] & (np.diff(blanks, prepend=-len(sign) - 1) != len(sign))]
        reaches = np.searchsorted(first, behind, side="right") - 1
        if not {Kind.NORMAL, Kind.USER_DEFINED, Kind.UNUSED}.isdisjoint(kinds[reaches].tolist()):
            return {"pattern": "none"}
    return {"pattern": CUSTOM_PATTERN, "custom_pattern": RUNS}


def _about_recovered(recovered: RecoveredMerges[str], joined: str) -> list[str]:
    said = f"pieces are made of a piece with a lower score: {{}}. {joined}"
    return about(recovered.out_of_turn, said)


def _notes(parts: _SymbolsAndMerges, stored: FieldValues) -> list[str]:
    pieces = stored.pieces
    lost = parts.lost[stored.pieces.kinds[parts.lost] != Kind.UNUSED]
    notes = _about_recovered(parts.merges, "Pairs are merged in the order of their scores, as in SentencePiece")
    notes += about(
        [*pieces.texts_of(lost)], "pieces cannot be made of two other pieces, so no text is split into them: {}"
    )
    unused = pieces.of_kind(Kind.UNUSED)
    alone = [text for text in unused if len(text) == 1]
    notes += about(alone, "characters are marked as unused, and are unknown outside of longer pieces: {}")
    return notes + about(
        [text for text in unused if len(text) > 1],
        "pieces are marked as unused: {}. Such a piece is only used to make longer pieces, and otherwise is "
        "split again. SentencePiece may split the piece differently, so ids can differ",
    )


# --- Writing ----------------------------------------------------------------------------


def has_words_only(history: History) -> bool:
    joining = history.joining
    return joining is not None and joining.whole_words and history.recipe.custom_pattern == EACH_WORD


def _kind_of_bpe(history: History) -> int:
    """Return the kind of the model: BPE, or CHARACTERS if no tokens are joined."""
    joining = history.joining
    is_joined = len(history) or joining is None or joining.priorities is None or joining.priorities.max() != NO_PRIORITY
    return BPE if is_joined else CHARACTERS


def joins_by_score(history: History) -> bool:
    joining = history.joining
    if joining is None or joining.whole_words or joining.left_out:
        return joining is None
    if joining.pairs is None:
        return True
    born = np.array(history.pairs(), np.int64).reshape(-1, 2).T
    tokens = np.arange(len(history)) + len(history.alphabet)
    return all(map(np.array_equal, joining.pairs, (*born, tokens)))


def bpe_pieces(history: History, numbers: Int64s) -> list[ScoredPiece]:
    texts = [text.decode() for text in written(history)]
    base = len(history.alphabet)
    lowest = -float(len(texts))  # base symbols lie below all merges
    symbols = history.alphabet.symbols
    joining = history.joining
    kinds = {id: _KINDS[symbol.kind] for id, symbol in enumerate(symbols) if symbol.kind in _KINDS}
    hidden = set() if joining is None else set(joining.hidden)
    if joining is not None:
        kept = unigram_vocabulary.kept_texts(history.recipe) if joining.whole_words else ()
        alone = (*joining.found_first, *(id for id, text in enumerate(texts) if text in kept))
        kinds |= dict.fromkeys(hidden, Kind.UNUSED) | dict.fromkeys(alone, Kind.USER_DEFINED)
    piece_of: dict[int, ScoredPiece] = {}
    steps_only: list[ScoredPiece] = []
    seen: set[str] = set()
    for id, text in enumerate(texts):
        kind = kinds.get(id, Kind.NORMAL)
        score = _score(history, id, lowest) if kind in (Kind.NORMAL, Kind.UNUSED) else 0.0
        if text in seen:  # two pieces must not have the same text
            text = f"<unused {id}>"
            kind = Kind.UNUSED
            score = 0.0
        seen.add(text)
        if numbers[id] == NO_NUMBER and id in hidden:
            steps_only.append(ScoredPiece(text, score, kind))
        else:
            piece_of[int(numbers[id])] = ScoredPiece(text, score, kind)
    for id, special in enumerate(history.recipe.special_tokens, base + len(history)):
        is_unknown = history.recipe.unknown == "bytes" and special == UNKNOWN_TOKEN
        piece_of[int(numbers[id])] = ScoredPiece(special, 0.0, Kind.UNKNOWN if is_unknown else Kind.CONTROL)
    piece_of.pop(NO_NUMBER, None)
    return sentencepiece_fields.in_order(piece_of, lowest, steps_only)


def _score(history: History, id: int, lowest: float) -> float:
    if history.joining is not None and history.joining.priorities is not None:
        priority = int(history.joining.priorities[id])
        if priority != NO_PRIORITY:
            return -float(priority)
    elif id >= len(history.alphabet):
        return float(len(history.alphabet) - id)
    return lowest - id


def _check_unknown(stored: FieldValues, name: str) -> None:
    total = len(stored.pieces.numbers_of(Kind.UNKNOWN))
    if total != 1:
        kind = "Unigram model" if stored.kind == UNIGRAM else "model of words"
        raise FormatError(
            f"{name}: {count_text(total, 'piece is', 'pieces are')} for unknown characters; a {kind} has exactly one "
            "such piece, like <unk>."
        )


def unigram_history(stored: FieldValues, name: str) -> tuple[History, list[str]]:
    if is_own(stored):
        _check_unknown(stored, name)
        pieces, unknown, said = _most_probable(stored)
        recipe, notes = recipe_of(stored, 0, name, **said)
        numbers_of = stored.pieces.texts.places_of
        history, more = unigram_vocabulary.history_of(pieces, numbers_of, unknown, recipe, name)
        return history, notes + more
    texts = stored.pieces.texts
    found_first = stored.pieces.numbers_of(Kind.USER_DEFINED)
    others = {number: USER_DEFINED_SCORE * (len(texts[number].encode()) - 1) for number in found_first.tolist()}
    return most_probable_history(stored, name, others, "32 bits")


def _most_probable(stored: FieldValues) -> tuple[ScoredPieces, int, dict[str, Any]]:
    """Return the pieces that can occur in a split text, the id of the unknown token, and choices of a recipe."""
    pieces = stored.pieces
    unknown = int(pieces.numbers_of(Kind.UNKNOWN)[0])
    normal = pieces.numbers_of(Kind.NORMAL)
    scored = ScoredPieces(pieces.texts_of(normal), pieces.scores[normal], normal)
    said = {"method": method_of(scored.scores)} | (
        {} if stored.byte_fallback else {"unknown_text": pieces.texts[unknown]}
    )
    return scored, NO_NUMBER if stored.byte_fallback else unknown, said


def most_probable_history(
    stored: FieldValues, name: str, others: Mapping[int, float], sums: str
) -> tuple[History, list[str]]:
    """Return the history of a Unigram model, and notes about it.

    `others` maps the ids of additional pieces to their scores. These pieces can also occur in a split text, but their
    scores do not change the score of unknown characters.
    """
    _check_unknown(stored, name)
    scored, unknown, said = _most_probable(stored)
    specials = tuple(stored.pieces.texts_of(_specials(stored)))
    steps = steps_of(stored)
    choices = {"special_tokens": specials, "preparation": steps, "pattern": "none", "sums": sums, **said}
    recipe = recipe_with(stored, 0, name, **choices)
    least = float(scored.scores.min()) if len(scored.scores) else 0.0
    sign = MARKER if stored.shows_blanks else ""
    pieces = stored.pieces
    more = {**others}
    for number in pieces.numbers_of(Kind.UNUSED).tolist():
        more.setdefault(number, float(DROPPED))
    numbers = np.concatenate((scored.numbers, np.array([*more], np.int64)))
    scores = np.concatenate((scored.scores, np.array([*more.values()], np.float64)))
    scored = ScoredPieces(pieces.texts_of(numbers), scores, numbers)
    return unigram_vocabulary.history_of(scored, pieces.texts.places_of, unknown, recipe, name, sign, least)


def _joins_within_words(history: History) -> bool:
    """Return whether the method joins tokens within words. Other methods choose tokens by score."""
    return IN_WORDS in Method.of(history.recipe).tables


class SentencePieceModel(Format):
    name = "sentencepiece"
    tables = frozenset({IN_WORDS, SCORES})
    holds = "only merges of pairs, and the tokens of Unigram"
    sums = "32 bits"
    peer_name = "sentencepiece"
    joins_unknown = True
    holds_specials = False
    holds_hidden = True

    def holds_joining(self, history: History) -> bool:
        return has_words_only(history) or joins_by_score(history)

    def impossible(self, history: History) -> list[str]:
        recipe = history.recipe
        if recipe.base != "characters":
            return ["SentencePiece models start from characters, but this table starts from bytes."]
        if recipe.preparation and spec_of_steps(recipe) is None:
            return ["SentencePiece models have only one normalizer, and this table needs more."]
        if recipe.preparation:
            return []
        if recipe.marker != "prefix" or recipe.marker_text != MARKER:
            return [f"SentencePiece models put {MARKER} before each word. This table's word marker is {recipe.marker}."]
        if recipe.pattern != "whitespace":
            return [f"SentencePiece models split only at spaces. This table's pattern is {recipe.pattern}."]
        return []

    def does_otherwise(self, history: History) -> list[str]:
        recipe = history.recipe
        control = ["Special tokens become control symbols. Control symbols have ids, but are not matched in texts."]
        controls = control if recipe.special_tokens else []
        if recipe.preparation or recipe.sums:
            in_pairs = _joins_within_words(history) and history.joining is None
            lost = about_unrecoverable(history, [text.decode() for text in written(history)]) if in_pairs else []
            return about_same_text(history) + lost + controls + limitations.about_sums(recipe, self.sums)
        sentences = [
            *about_same_text(history),
            f"In this format a {MARKER} in a text means a space. The check leaves out texts that hold a {MARKER}.",
        ]
        if _joins_within_words(history):
            sentences += about_unrecoverable(history, [text.decode() for text in written(history)])
            if recipe.unknown == "unk":
                sentences.append(
                    "Several unknown characters in a row become a single <unk> in this format. In this table "
                    "each unknown character becomes an <unk>."
                )
        elif Method.of(recipe).cost_of_token:
            sentences.append(
                "The file prefers splits into the fewest tokens by lowering all scores by a large number. In a "
                "text of more than 256 tokens this format's library rounds the sums of scores. So it may choose "
                "another split into equally many tokens."
            )
        else:
            sentences.append(
                "Where two splits of a text are equally probable, this format's library may choose the other split."
            )
        if recipe.unicode_form:
            sentences.append(
                "This format composes a letter with its marks one by one. Letters with marks in a rare order "
                "may differ. The check leaves out such letters."
            )
        if recipe.lowercase and recipe.final_sigma:
            sentences.append("A capital Σ at the end of a word becomes ς in this program, but σ in this format.")
        return sentences + controls

    def spelled(self, history: History) -> tuple[str, ...]:
        return (MARKER, *(() if history.scores is None else unigram_vocabulary.pieces_like_tokens(history)))

    def is_beyond(self, history: History, text: str) -> bool:
        return not (history.recipe.preparation or text.isascii()) and map_differs(history.recipe, text)

    def numbers(self, history: History) -> Int64s:
        if _joins_within_words(history):
            return complete_numbers(history.numbered(dense_numbers(history)))
        return unigram_vocabulary.numbers_for(history)

    def write_all(self, history: History, file: BinaryIO, progress: ProgressReport) -> None:
        progress(Progress("writing", 0, len(history), "steps"))
        is_bpe = _joins_within_words(history)
        if is_bpe:
            pieces = bpe_pieces(history, self.numbers(history))
        else:
            pieces = [
                piece._replace(score=piece.score * (piece.kind != Kind.UNUSED))
                for piece in unigram_vocabulary.pieces_of(history, with_unused=True)
            ]
        file.writelines(piece.message() for piece in pieces)
        kind = _kind_of_bpe(history) if is_bpe else UNIGRAM
        if has_words_only(history):
            kind = WORDS
        trained = sentencepiece_fields.trainer_spec(kind, history.recipe, pieces)
        whole = WholeTexts.of(history.recipe.preparation)
        trained += sentencepiece_fields.varint_field(24, 1) if whole and whole.marks.suffix else b""
        shown, behind = decoding_fields(history.recipe)
        changes = spec_of_steps(history.recipe) or normalizer_spec(history.recipe)
        file.write(sentencepiece_fields.bytes_field(2, trained + shown))
        file.write(sentencepiece_fields.bytes_field(3, changes) + behind)

    def recognizes(self, data: bytes) -> bool:
        # The first field is a piece. It begins with its text, then has its score, or its kind if there is no score.
        if len(data) < 8 or data[0] != 0x0A or data[2] != 0x0A:
            return False
        length = data[3]
        behind = data[4 + length : 5 + length]
        return length + 2 == data[1] or (length + 2 < data[1] and behind in (b"\x15", b"\x18"))

    def read_all(self, data: bytes, name: str, beside: Beside) -> Opened:
        stored = sentencepiece_fields.read(data, name)
        return {UNIGRAM: unigram_history, WORDS: words_history}.get(stored.kind, bpe_history)(stored, name)

    def loaded_by(self, library: Any, data: bytes, history: History, name: str, beside: Beside) -> Peer | None:
        processor = library.SentencePieceProcessor(model_proto=data)
        return lambda text: list(processor.encode(text))
