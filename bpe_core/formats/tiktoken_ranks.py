"""tiktoken's ranks and Mistral's tekken.json.

In tiktoken's ranks, each line holds a token in base64 and its rank.

The two parts of each token are recovered (see recovering.py). If a token cannot be made from two tokens of
lower rank, texts are split as tiktoken splits them. Then a word that is a token becomes this token. In all
other words, the two neighbours whose joined text has the lowest rank are joined first.

A tekken.json also has the pattern. Its first ids, often 1,000, belong to special tokens. The id of any other
token is its rank plus the number of these ids. Only the tokens that fit into the stated size of the
vocabulary are read.
"""

from __future__ import annotations

import binascii
import re
from collections.abc import Collection, Mapping, Sequence
from itertools import islice
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from bpe_core.errors import FormatError, TooLarge
from bpe_core.formats import limitations
from bpe_core.formats.base import NO_NUMBER, Beside, Format, Opened, Peer, about, recipe_from, unless_ids
from bpe_core.formats.json_reading import (
    Object,
    indented_json,
    number_of,
    object_in,
    objects_in,
    parsed_object,
    text_in,
)
from bpe_core.formats.limitations import about_same_text, about_unrecoverable
from bpe_core.formats.patterns import expression_of, likely_pattern, pattern_choices
from bpe_core.formats.recovering import RecoveredMerges, recover, recovered_among, with_seeds
from bpe_core.history.alphabet import Alphabet, RawTexts
from bpe_core.history.history import History, Int64s
from bpe_core.history.joining import MergePriorities
from bpe_core.history.token_texts import written
from bpe_core.recipes.choice import LARGEST_VOCABULARY
from bpe_core.support.arrays import Bytes, repeat
from bpe_core.support.progress import Progress, ProgressReport
from bpe_core.support.result_cache import cached
from bpe_core.support.wording import count_text

LARGEST_FILE = 2**26  # bytes; recovering the merges takes up to some seconds per megabyte
LARGEST_RANK = 2**31 - 1
ROWS_BETWEEN_REPORTS = 4_096
EVERYTHING = "(?s:.+)"  # an expression that splits nothing, for a peer that gets words

_LETTER = rb"[A-Za-z0-9+/]"
_LINE = re.compile(rb"(?=\S)(%b{4})*(%b{2}==|%b{3}=)? -?\d+\r?(\n|\Z)" % (_LETTER, _LETTER, _LETTER))
_USUAL_DIGITS = 10  # the most digits of a rank in a line of the usual form
_EMPTY = b"="  # the way in which files write a token without bytes, as Whisper's do


class TiktokenRanks(Format):
    name = "tiktoken"
    peer_name = "tiktoken"
    peer_call = "encode_ordinary(text)"
    holds_splitting = False
    holds_specials = False

    def holds_joining(self, history: History) -> bool:
        return True

    def impossible(self, history: History) -> list[str]:
        return limitations.needs_bytes(history, ".tiktoken")

    def does_otherwise(self, history: History) -> list[str]:
        texts = written(history)
        lost = about_unrecoverable(history, texts) if history.joining is None else []
        return about_same_text(history) + lost + limitations.about_splitting(history.recipe)

    def numbers(self, history: History) -> Int64s:
        """Return the rank of each token in the file.

        If the history has merge priorities, they are the ranks. Otherwise the ids of the history's own file are the
        ranks, provided that they are all different and not negative. If merges are applied in the order of learning,
        the ids must also grow from step to step. In all other cases, the indices are the ranks.
        """
        ids = super().numbers(history)
        if history.joining is not None and history.joining.priorities is not None:
            ids[: history.first_special] = history.joining.priorities
        elif (known := history.numbers) is not None:
            ranks = known[: history.first_special]
            rises = history.joining is not None or bool((np.diff(ranks[len(history.alphabet) :]) > 0).all())
            return known if rises and (np.diff(np.sort(ranks)) > 0).all() and ranks.min(initial=0) >= 0 else ids
        return ids

    def write_all(self, history: History, file: BinaryIO, progress: ProgressReport) -> None:
        texts = written(history)
        numbers = self.numbers(history)
        order = np.argsort(numbers[: len(texts)], kind="stable").tolist()
        rank_of: dict[bytes, int] = {}
        for id, rank in zip(order, numbers[order].tolist(), strict=True):
            rank_of.setdefault(texts[id], rank)  # of two tokens with the same text, the older one
        rows = iter(rank_of.items())
        for done in range(0, len(rank_of), ROWS_BETWEEN_REPORTS):
            progress(Progress("writing", max(0, done - len(history.alphabet)), len(history), "steps"))
            some = islice(rows, ROWS_BETWEEN_REPORTS)
            file.write(b"".join([b"%s %d\n" % (binascii.b2a_base64(text, newline=False), rank) for text, rank in some]))

    def recognizes(self, data: bytes) -> bool:
        return _LINE.match(data) is not None

    def read_all(self, data: bytes, name: str, beside: Beside) -> Opened:
        ranked_tokens = _tokens_in(data, name)
        pattern = likely_pattern(ranked_tokens.tokens)
        note = (
            "A .tiktoken file does not say how text is split into words. The tokens of this file fit the pattern "
            f"{pattern}."
        )
        opened = ranked(ranked_tokens, {"pattern": pattern, "older_unicode": True}, (), self.name, name)
        return opened.history.numbered(unless_ids(opened.numbers)), (note, *opened.notes)

    def loaded_by(self, library: Any, data: bytes, history: History, name: str, beside: Beside) -> Peer | None:
        ranks = {token: rank for token, rank in read_ranks(data, name).items() if token}
        encoding = library.Encoding("checked", pat_str=EVERYTHING, mergeable_ranks=ranks, special_tokens={})
        return lambda word: list(encoding.encode_ordinary(word))


# --- Reading ----------------------------------------------------------------------------


class RankedTokens(NamedTuple):
    """Tokens and their ranks, in ascending order."""

    tokens: RawTexts
    ranks: Int64s

    @classmethod
    def of(cls, ranks: Mapping[bytes, int]) -> RankedTokens:
        return cls(RawTexts.of([*ranks]), np.fromiter(ranks.values(), np.int64, len(ranks)))

    def only(self, places: Int64s) -> RankedTokens:
        return RankedTokens(self.tokens.only(places), self.ranks[places])


class RankedHistory(NamedTuple):
    history: History
    numbers: Int64s  # the rank of each token
    notes: tuple[str, ...]


def ranked(
    given: RankedTokens,
    choices: dict[str, Any],
    specials: tuple[str, ...],
    name: str,
    where: str,
    taken: Collection[int] = (),
) -> RankedHistory:
    """Return a history for some tokens and their ranks. `choices` are the choices of its recipe.

    `taken` holds the ids of special tokens.
    """
    lengths = given.tokens.lengths
    empty = given.ranks[lengths == 0]
    tokens, numbers = given.only(np.flatnonzero(lengths)) if len(empty) else given
    is_base = tokens.lengths == 1
    base, others = np.flatnonzero(is_base), np.flatnonzero(~is_base)
    letters = tokens.only(base)
    recovered = recovered_among(tokens, base, others)
    if recovered is None:
        recovered = recover(tokens.only(others), {letter: id for id, letter in enumerate(letters)}, len(base))
    of_others = numbers[others]
    ids = np.concatenate([numbers[base], of_others[recovered.unmade], of_others[recovered.places]])
    merges = len(recovered.pairs)
    recipe = recipe_from(where, name=name, merges=merges, special_tokens=specials, **choices)
    lost = recovered.lost
    alphabet = with_seeds(Alphabet.of_bytes(letters.data.tolist()), [(text, text) for text in lost])
    by_rank = None
    if len(recovered.late) or lost:
        by_rank = MergePriorities(priorities=ids, whole_words=True)
    history = History.from_pairs(recipe, alphabet, recovered.pairs_for_alphabet(len(alphabet)), by_rank)
    return RankedHistory(history, ids, tuple(_notes(recovered, numbers, empty, taken)))


def read_ranks(data: bytes, name: str) -> dict[bytes, int]:
    """Return a dictionary from each token to its rank, sorted by rank."""
    tokens, ranks = _tokens_in(data, name)
    return dict(zip(tokens, ranks.tolist(), strict=True))


def _tokens_in(data: bytes, name: str) -> RankedTokens:
    return cached("ranks", data, lambda: _read_tokens(data, name))


def _read_tokens(data: bytes, name: str) -> RankedTokens:
    if len(data) > LARGEST_FILE:
        raise TooLarge(
            f"{name} has {count_text(len(data), 'byte')}. This program reads .tiktoken files of at most "
            f"{LARGEST_FILE:,} bytes."
        )
    usual = _tokens_at_once(data)
    if usual is not None:
        return usual
    ranks: dict[bytes, int] = {}
    for number, line in enumerate(data.split(b"\n"), start=1):
        if line.strip():
            token, rank = _token_and_rank(line.removesuffix(b"\r"), f"{name}, line {number:,}")
            if ranks.setdefault(token, rank) != rank:
                raise FormatError(
                    f"{name}, line {number:,}: the token {token[:40]!r} has another rank in an earlier line."
                )
    return RankedTokens.of(checked_ranks(ranks, name))


def _tokens_at_once(data: bytes) -> RankedTokens | None:
    """Return the tokens of a file, and their ranks.

    Return None if a line does not have the usual form, or if the ranks are not sound. Then the lines are read one by
    one, to find out what is wrong.
    """
    cells = np.frombuffer(data, np.uint8)
    blanks, ends = (np.flatnonzero(cells == ord(sign)) for sign in " \n")
    if not len(blanks) or len(blanks) != len(ends) or ends[-1] != len(data) - 1 or len(blanks) > LARGEST_VOCABULARY:
        return None
    widths = np.diff(ends, prepend=-1) - (ends - blanks) - 1
    digits = ends - blanks - 1
    if min(widths.min(), digits.min()) < 1 or digits.max() > _USUAL_DIGITS:
        return None
    is_token = repeat(np.tile([True, False], len(blanks)), np.stack([widths, digits + 2], axis=1).ravel())
    ranks = _numbers_in(cells[~is_token].tobytes())
    tokens = _decoded(cells[is_token], widths)
    if ranks is None or tokens is None:
        return None
    if (np.diff(ranks) <= 0).any():
        order = np.argsort(ranks, kind="stable")
        tokens, ranks = tokens.only(order), ranks[order]
    is_sound = (np.diff(ranks) > 0).all() and ranks[-1] <= LARGEST_RANK and np.count_nonzero(tokens.lengths == 1) == 256
    return RankedTokens(tokens, ranks) if is_sound and (tokens.firsts == np.arange(len(tokens))).all() else None


def _numbers_in(text: bytes) -> Int64s | None:
    """Return the numbers in a text that holds only digits, spaces and ends of lines. Return None for another text."""
    if text.translate(None, b"0123456789 \n"):
        return None
    return np.fromstring(text.decode(), np.int64, sep=" ")


def _decoded(letters: Bytes, widths: Int64s) -> RawTexts | None:
    """Decode texts in base64 that are stored one after another. `widths` holds the number of letters of each text.

    Return None if a text is not valid base64.
    """
    if (widths % 4).any():
        return None
    ends = np.cumsum(widths)
    is_padding = letters == ord("=")
    is_short = is_padding[ends - 1]
    padding = is_short.astype(np.int64) + (is_short & is_padding[ends - 2])
    if np.count_nonzero(is_padding) != padding.sum():
        return None
    try:  # with `A` for each `=`, one call decodes all texts, and the padding becomes zero bytes
        data = np.frombuffer(binascii.a2b_base64(letters.tobytes().replace(b"=", b"A"), strict_mode=True), np.uint8)
    except binascii.Error:
        return None
    stays = np.ones(len(data), np.bool_)
    last = ends // 4 * 3 - 1
    stays[last[padding > 0]] = False
    stays[last[padding > 1] - 1] = False
    starts = np.concatenate((np.zeros(1, np.int64), np.cumsum(widths // 4 * 3 - padding)))
    return RawTexts(data[stays], starts)


def checked_ranks(ranks: dict[bytes, int], name: str) -> dict[bytes, int]:
    """Return the ranks in ascending order. Raise FormatError if two tokens have the same rank or a byte has no rank."""
    if len(ranks) > LARGEST_VOCABULARY:
        raise FormatError(f"{name}: there are more than {LARGEST_VOCABULARY:,} tokens.")
    _check_ranks(ranks, name)
    in_order = list(ranks.values()) == sorted(ranks.values())
    return ranks if in_order else dict(sorted(ranks.items(), key=lambda item: item[1]))


def _token_and_rank(line: bytes, where: str) -> tuple[bytes, int]:
    parts = line.split(b" ")
    if len(parts) != 2:
        raise FormatError(f"{where}: there must be a token in base64, a space and its rank.")
    encoded, digits = parts
    token = read_token(encoded, where)
    if not (digits.isdigit() and len(digits) < 11 and int(digits) <= LARGEST_RANK):
        shown = digits[:40].decode("ascii", "replace")
        raise FormatError(f"{where}: {shown!r} is not a rank; ranks are whole numbers from 0 to {LARGEST_RANK:,}.")
    return token, int(digits)


def read_token(encoded: bytes, where: str) -> bytes:
    try:
        token = b"" if encoded == _EMPTY else binascii.a2b_base64(encoded, strict_mode=True)
    except (binascii.Error, ValueError) as error:
        raise FormatError(f"{where}: {encoded[:40].decode('ascii', 'replace')!r} is not base64.") from error
    if not token and encoded != _EMPTY:
        raise FormatError(f"{where}: a token must have at least one byte.")
    return token


def _check_ranks(ranks: Mapping[bytes, int], name: str) -> None:
    if len(set(ranks.values())) < len(ranks):
        seen: dict[int, bytes] = {}
        for token, rank in ranks.items():
            if rank in seen:
                raise FormatError(f"{name}: the rank {rank:,} is given to {seen[rank][:40]!r} and to {token[:40]!r}.")
            seen[rank] = token
    missing = [byte for byte in range(256) if bytes([byte]) not in ranks]
    if missing:
        raise FormatError(f"{name}: {len(missing)} of the 256 bytes have no rank; the first is 0x{missing[0]:02X}.")


def _notes(recovered: RecoveredMerges[bytes], ranks: Int64s, empty: Int64s, taken: Collection[int]) -> list[str]:
    notes = about(
        recovered.out_of_turn,
        "tokens are made of a token with a higher rank: {}. So pairs are merged by the rank of the merged token, as "
        "tiktoken does, not in the order of merges",
    )
    notes += about(recovered.lost, "tokens cannot be made of two other tokens, and occur only as a whole word: {}")
    notes += [f"The token with the rank {rank:,} is empty, and is left out." for rank in empty.tolist()]
    highest = int(ranks[-1])
    others = sum(rank < highest for rank in (*empty.tolist(), *taken))
    gaps = highest + 1 - len(ranks) - others
    if gaps:
        notes.append(f"{gaps:,} of the ranks from 0 to {highest:,} belong to no token.")
    return notes


RANKS = TiktokenRanks()
NUMBERS_FOR_SPECIALS = 1_000  # the least number of these ids in our files, as in Mistral's
VERSION = "v7"  # the first version that lists its special tokens
# The first special tokens, for files that do not list them.
OLDER_SPECIALS = (
    "<unk>", "<s>", "</s>", "[INST]", "[/INST]", "[AVAILABLE_TOOLS]", "[/AVAILABLE_TOOLS]", "[TOOL_RESULTS]",
    "[/TOOL_RESULTS]", "[TOOL_CALLS]", "[IMG]", "<pad>", "[IMG_BREAK]", "[IMG_END]", "[PREFIX]", "[MIDDLE]", "[SUFFIX]",
    "[SYSTEM_PROMPT]", "[/SYSTEM_PROMPT]", "[TOOL_CONTENT]",
)  # fmt: skip


class Tekken(Format):
    name = "tekken"
    peer_name = "tiktoken"
    peer_call = "encode_ordinary(text)"
    holds_specials = False

    def holds_joining(self, history: History) -> bool:
        return RANKS.holds_joining(history)

    def impossible(self, history: History) -> list[str]:
        recipe = history.recipe
        if recipe.base == "bytes" and (recipe.normalizes or recipe.preparation or recipe.unit == "line"):
            return ["A tekken.json has no normalizer and only one pattern, but this table needs more."]
        return [sentence.replace(".tiktoken", "tekken.json") for sentence in RANKS.impossible(history)]

    def does_otherwise(self, history: History) -> list[str]:
        lost = about_unrecoverable(history, written(history)) if history.joining is None else []
        return about_same_text(history) + lost

    def numbers(self, history: History) -> Int64s:
        """Return the id of each token. The library numbers special tokens first, and then the other tokens by rank.

        The ids of the history are kept if they follow this rule. Otherwise all tokens get new ids.
        """
        specials = len(history.recipe.special_tokens)
        first = history.first_special
        known = history.numbers
        if known is not None:
            shift = int(known[:first].min())
            ranks = np.append(known[:first] - shift, known[first:])
            rise = np.array_equal(RANKS.numbers(history.numbered(ranks))[:first], ranks[:first])
            room = known[first:].max(initial=NO_NUMBER) < shift and int(ranks[:first].max()) == first - 1
            if rise and room and np.array_equal(_bytes_first(history, ranks[:first]), ranks[:first]):
                return known
        ranks = _bytes_first(history, RANKS.numbers(history.numbered(None))[:first])
        return np.append(ranks + max(NUMBERS_FOR_SPECIALS, specials), np.arange(specials))

    def write_all(self, history: History, file: BinaryIO, progress: ProgressReport) -> None:
        texts = written(history)
        numbers = self.numbers(history)
        shift = int(numbers[: len(texts)].min())
        of_token = numbers[: len(texts)] - shift
        special = zip(numbers[len(texts) :].tolist(), history.recipe.special_tokens, strict=True)
        whole = {
            "config": {
                "pattern": expression_of(history.recipe) or EVERYTHING,
                "num_vocab_tokens": len(texts),
                "default_vocab_size": shift + len(texts),
                "default_num_special_tokens": shift,
                "version": VERSION,
            },
            "vocab": _written_tokens(texts, of_token),
            "special_tokens": [
                {"rank": number, "token_str": token, "is_control": True} for number, token in sorted(special)
            ],
        }
        file.write(indented_json(whole, 1).encode())

    def recognizes(self, data: bytes) -> bool:
        return data.lstrip()[:1] == b"{" and b'"token_bytes"' in data and b'"rank"' in data

    def read_all(self, data: bytes, name: str, beside: Beside) -> Opened:
        whole, ranks, shift = _read(data, name)
        specials, notes = _specials(whole, shift, name)
        choices, about_pattern = pattern_choices(_pattern(whole, name))
        choices["older_unicode"] = True
        opened = ranked(RankedTokens.of(ranks), choices, tuple(specials), "tekken.json", name)
        numbers = np.append(opened.numbers + shift, np.array(list(specials.values()), np.int64))
        return opened.history.numbered(numbers), (*notes, *about_pattern, *opened.notes)

    def loaded_by(self, library: Any, data: bytes, history: History, name: str, beside: Beside) -> Peer | None:
        whole, ranks, shift = _read(data, name)
        pattern = _pattern(whole, name)
        encoding = library.Encoding("checked", pat_str=pattern, mergeable_ranks=ranks, special_tokens={})
        return lambda text: [rank + shift for rank in encoding.encode_ordinary(text)]


def _bytes_first(history: History, ranks: Int64s) -> Int64s:
    """Return ranks that begin with the 256 bytes in ascending order, as Mistral's library needs them."""
    places = ranks + 256
    for id, symbol in enumerate(history.alphabet.symbols):
        if symbol.kind == "byte":
            places[id] = symbol.text[0]
    new_ranks = np.empty(len(ranks), np.int64)
    new_ranks[np.argsort(places, kind="stable")] = np.arange(len(ranks))
    return new_ranks


def _written_tokens(texts: Sequence[bytes], ranks: Int64s) -> list[Object]:
    in_order = sorted(zip(ranks.tolist(), texts, strict=True))
    return [
        {"rank": rank, "token_bytes": binascii.b2a_base64(text, newline=False).decode(), "token_str": _text(text)}
        for rank, text in in_order
    ]


def _text(token: bytes) -> str | None:
    try:
        return token.decode()
    except UnicodeDecodeError:
        return None


# --- Reading ----------------------------------------------------------------------------


def _read(data: bytes, name: str) -> tuple[Object, dict[bytes, int], int]:
    """Return the parsed file, a dictionary from each token to its rank, and the number of ids before the ranks.

    Tokens that do not fit into the stated size of the vocabulary are left out.
    """

    def found() -> tuple[Object, dict[bytes, int], int]:
        whole = parsed_object(data, name)
        return whole, *_ranks(whole, name)

    return cached("tekken", data, found)


def _pattern(whole: Object, name: str) -> str:
    return text_in(object_in(whole, "config", name), "pattern", f"{name}, config")


def _ranks(whole: Object, name: str) -> tuple[dict[bytes, int], int]:
    config = object_in(whole, "config", name)
    shift = number_of(config.get("default_num_special_tokens"), f"{name}: default_num_special_tokens")
    size = number_of(config.get("default_vocab_size"), f"{name}: default_vocab_size")
    ranks: dict[bytes, int] = {}
    for where, item in objects_in(whole, "vocab", name, "token"):
        rank = number_of(item.get("rank"), f"{where}: its rank")
        token = read_token(text_in(item, "token_bytes", where).encode(), where)
        if rank < size - shift and ranks.setdefault(token, rank) != rank:
            raise FormatError(f"{where}: the token {token[:40]!r} has another rank in an earlier line.")
    if size <= shift or len(ranks) != size - shift:
        raise FormatError(
            f"{name}: the file claims {count_text(size, 'token')}, and {shift:,} of them are special tokens. But "
            f"{count_text(len(ranks), 'other token has', 'other tokens have')} a rank below {size - shift:,}."
        )
    return checked_ranks(ranks, name), shift


def _specials(whole: Object, shift: int, name: str) -> tuple[dict[str, int], Sequence[str]]:
    notes = list[str]()
    rank_of = dict[str, int]()
    if not whole.get("special_tokens") and shift:
        older = [{"rank": rank, "token_str": text} for rank, text in enumerate(OLDER_SPECIALS[:shift])]
        whole = {"special_tokens": older}
        notes.append(
            "The file does not list its special tokens. This program uses the special tokens of Mistral's older files."
        )
    for where, item in objects_in(whole, "special_tokens", name, "special token"):
        text = text_in(item, "token_str", where)
        rank = number_of(item.get("rank"), f"{where}: its rank")
        if not text or text in rank_of or rank in rank_of.values() or rank >= shift:
            raise FormatError(
                f"{where}: each special token needs a text and a rank that no other special token has, and its rank "
                f"must be below {shift:,}."
            )
        rank_of[text] = rank
    if shift > len(rank_of):
        notes.append(
            f"{shift - len(rank_of):,} of the first {count_text(shift, 'id belongs', 'ids belong')} to no token."
        )
    return rank_of, notes
