"""Functions that read the files in which students hand in their merges.

The files are JSON, text, Python's own notation, pickles of plain values, ranks of tiktoken and rustbpe, and minbpe's
files.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bpe_core.errors import FormatError
from bpe_core.formats.recovering import recover
from bpe_core.formats.tiktoken_ranks import read_ranks
from bpe_core.support.plain_pickle import values_of
from bpe_core.support.wording import count_text
from bpe_core.text.stand_ins import byte_of_stand_in

Merge = tuple[bytes, bytes]
KINDS = (
    "a list of pairs in JSON, a merges.txt in GPT-2's byte characters or with b'...' as Python writes bytes, a "
    "vocab.json, a pickle of lists, tuples and dictionaries, minbpe's .model, or a file of tiktoken"
)
_MINBPE = b"minbpe v1"
_PICKLE = re.compile(rb"\x80[\x02-\x05]|\([ld]p\d|[\]}]q\x00")  # the last two are of protocols 0 and 1
_RANKS = re.compile(rb"[A-Za-z0-9+/]+={0,2} \d+\s")
_MINBPE_FOR_PEOPLE = re.compile(r"\[.*\] 0$")
_LITERAL = r"""b(?:'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*")"""
_OF_BYTES = re.compile(rf"^([\[(])?\s*({_LITERAL})\s*,?\s*({_LITERAL})\s*(?(1)[\])]),?$")
_OF_IDS = re.compile(r"^([\[(])?\s*(\d{1,9})\s*[ ,]\s*(\d{1,9})\s*(?(1)[\])]),?$")
_OF_ONE = re.compile(_LITERAL)
MOST_MERGES = 2_000_000
MOST_SOURCE = 20_000_000  # characters of Python's own notation


@dataclass(frozen=True)
class Submission:
    """The merges that a student hands in, in the order in which they were learned.

    If the student hands in a vocabulary, the merges are recovered from its tokens. Then only the merged tokens are
    certain, and not their order or their parts.
    """

    merges: list[Merge]
    is_vocabulary: bool = False


def submission_in(data: bytes, name: str) -> Submission:
    """Return the merges in a student's file."""
    if not data.strip():
        raise FormatError(f"{name} is empty. A result must be {KINDS}.")
    if data.startswith(_MINBPE):
        submission = _of_minbpe(data, name)
    elif _PICKLE.match(data):
        submission = _of_value(values_of(data, name), name)
    elif _RANKS.match(data) and not _OF_IDS.match(data.split(b"\n", 1)[0].decode().strip()):
        submission = _of_ranks(read_ranks(data, name), name)
    else:
        submission = _of_text(data, name)
    count = len(submission.merges)
    if not count:
        raise FormatError(f"{name} holds no merges. A result must be {KINDS}.")
    if count > MOST_MERGES:
        raise FormatError(f"{name} holds {count_text(count, 'merge')}; at most {MOST_MERGES:,} are graded.")
    return submission


def merges_in(data: bytes, name: str) -> list[Merge]:
    """Return the merges in a student's file, in the order in which they were learned."""
    return submission_in(data, name).merges


def _of_text(data: bytes, name: str) -> Submission:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FormatError(
            f"{name} is not a text: its bytes are not UTF-8 from byte {error.start:,} on. A result must be {KINDS}."
        ) from error
    first = text.lstrip()[:1]
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    if _MINBPE_FOR_PEOPLE.match(lines[0]):
        raise FormatError(
            f"{name} is the readable list that minbpe writes, which lacks some bytes. Name minbpe's .model instead."
        )
    if all(_OF_BYTES.match(line) or _OF_IDS.match(line) for line in lines[:2]) or first not in ("[", "{", "("):
        return _of_lines(text, name)
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        value = _literal(text)
        if value is None:
            raise FormatError(f"{name} is not valid JSON: {error}") from error
    if isinstance(value, dict) and "merges" not in value and not isinstance(value.get("model"), dict):
        return _of_dictionary(value, name)
    return _of_value(value, name)


def _literal(text: str) -> Any:
    """Evaluate a Python literal without running code.

    Return None if the text is not a literal, or if it is too long.
    """
    if len(text) > MOST_SOURCE:
        return None
    try:
        return ast.literal_eval(text.strip())
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
        return None


def _of_value(value: Any, name: str) -> Submission:
    """Return the merges in a value.

    The value is the list of merges, an object with `merges`, a vocabulary, or a list of tokens with their ranks. It can
    also be a pair of a vocabulary and a list of merges in either order. If the value has an object `model`, only this
    object is read.
    """
    if isinstance(value, dict) and isinstance(value.get("model"), dict):
        value = value["model"]
    if isinstance(value, dict) and "merges" in value:
        value = value["merges"]
    elif isinstance(value, tuple | list) and len(value) == 2 and any(isinstance(part, dict) for part in value):
        value = next((part for part in reversed(value) if not _is_vocabulary(part)), value[0])
    if isinstance(value, dict):
        return _of_dictionary(value, name)
    if not isinstance(value, tuple | list):
        raise FormatError(f"{name} does not hold a list of merges. A result must be {KINDS}.")
    if value and all(_is_token_with_rank(item) for item in value):  # rustbpe lists its tokens with their ranks
        return _of_ranks({bytes(token): rank for token, rank in value}, name)
    pairs = [_pair(item, place, name) for place, item in enumerate(value, 1)]
    return _resolved(pairs, name)


def _is_token_with_rank(item: Any) -> bool:
    if not isinstance(item, tuple | list) or len(item) != 2 or not _is_id(item[1]):
        return False
    token = item[0]
    return isinstance(token, bytes) or (isinstance(token, list) and all(map(_is_byte, token)))


def _is_vocabulary(value: Any) -> bool:
    if not isinstance(value, dict):
        return False
    return all(_is_id(key) for key in value) or all(isinstance(key, bytes) for key in value)


def _is_id(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_byte(value: Any) -> bool:
    return _is_id(value) and 0 <= value < 256


def _of_dictionary(value: dict[Any, Any], name: str) -> Submission:
    """Return the merges that a dictionary describes.

    Either the keys of the dictionary are merges, or the dictionary is a vocabulary.
    """
    if not value:
        return Submission([])
    if all(isinstance(key, tuple) for key in value):  # pairs with the ids, or the texts, of the merged tokens
        items = list(value.items())
        if all(_is_id(id) for id in value.values()):
            items.sort(key=lambda item: item[1])
        return _resolved([_pair(pair, place, name) for place, (pair, _) in enumerate(items, 1)], name)
    if all(_is_id(key) for key in value):
        return _of_vocabulary({token: id for id, token in value.items()}, name)
    if not all(_is_id(id) for id in value.values()):
        raise FormatError(f"{name} holds no merges, and is not a vocabulary: its values are not ids.")
    if all(isinstance(key, bytes) for key in value):
        return _of_ranks(value, name)
    in_keys = [_OF_IDS.match(key) for key in value]
    if all(in_keys):  # minbpe's pairs as texts, such as "(116, 104)"
        ordered = sorted(value, key=value.__getitem__)
        return _of_lines("\n".join(ordered), name)
    return _of_vocabulary(value, name)


def _pair(value: Any, place: int, name: str) -> tuple[Any, Any]:
    if isinstance(value, str):
        value = value.split(" ")
    if not isinstance(value, tuple | list) or len(value) != 2:
        raise FormatError(f"{name}: merge {place:,} is not a pair.")
    return value[0], value[1]


def _resolved(pairs: Sequence[tuple[Any, Any]], name: str) -> Submission:
    """Return the two parts of each pair as bytes.

    A part may be given as an id, as bytes, as a list of byte values, as a text of byte characters, or as the text of a
    Python literal such as `b'a'`.
    """
    texts = [bytes([byte]) for byte in range(256)]
    merges = list[Merge]()
    for place, pair in enumerate(pairs, 1):
        left, right = (_bytes_of(part, texts, place, name) for part in pair)
        merges.append((left, right))
        texts.append(left + right)
    return Submission(merges)


def _bytes_of(part: Any, texts: Sequence[bytes], place: int, name: str) -> bytes:
    if isinstance(part, bool):
        raise FormatError(f"{name}: merge {place:,} holds true or false instead of a token.")
    if isinstance(part, bytes):
        return part
    if isinstance(part, int):
        if not 0 <= part < len(texts):
            raise FormatError(
                f"{name}: merge {place:,} joins the id {part:,}, but before this merge there are only "
                f"{count_text(len(texts), 'token')}."
            )
        return texts[part]
    if isinstance(part, list) and all(map(_is_byte, part)):
        return bytes(part)
    if isinstance(part, str):
        return ast.literal_eval(part) if _OF_ONE.fullmatch(part) else _from_letters(part)
    raise FormatError(f"{name}: merge {place:,} holds {type(part).__name__} instead of a token.")


def _from_letters(text: str) -> bytes:
    """Return the bytes of a token that is written in GPT-2's characters for bytes.

    >>> _from_letters("Ġthe"), _from_letters(" the")
    (b' the', b' the')
    """
    byte_of = byte_of_stand_in()
    if all(letter in byte_of for letter in text):
        return bytes(byte_of[letter] for letter in text)
    return text.encode(errors="replace")


def _of_lines(text: str, name: str) -> Submission:
    pairs = list[tuple[Any, Any]]()
    lines = [line.rstrip("\r") for line in text.split("\n")]
    of_ids = _holds_ids(lines)
    for number, line in enumerate(lines, 1):
        if not line.strip() or (number == 1 and line.startswith("#")):
            continue
        if of_ids and (ids := _OF_IDS.match(line.strip())):
            pairs.append((int(ids[2]), int(ids[3])))
            continue
        literals = _OF_BYTES.match(line.strip())
        if literals is not None:
            pairs.append((ast.literal_eval(literals[2]), ast.literal_eval(literals[3])))
            continue
        parts = line.split(" ")
        if len(parts) != 2:
            raise FormatError(f"{name}, line {number:,} is not a pair of tokens. A result must be {KINDS}.")
        pairs.append((parts[0], parts[1]))
    return _resolved(pairs, name)


def _holds_ids(lines: Sequence[str]) -> bool:
    """Return whether all lines are pairs of ids.

    Merges of digits also look like pairs of ids. But in a list of such merges, the first merge joins two single
    digits.

    >>> _holds_ids(["116 104", "32 256"]), _holds_ids(["1 0", "10 0"]), _holds_ids(["t h"])
    (True, False, False)
    """
    ids = [_OF_IDS.match(line.strip()) for line in lines if line.strip()]
    return bool(ids) and ids[0] is not None and all(ids) and max(len(ids[0][2]), len(ids[0][3])) > 1


def _of_minbpe(data: bytes, name: str) -> Submission:
    """Return the merges of a minbpe file.

    The file holds a pattern, special tokens, and then a pair of ids in each line.
    """
    lines = data.decode(errors="replace").split("\n")
    try:
        first = 3 + int(lines[2])
        pairs = [tuple(map(int, line.split())) for line in lines[first:] if line.strip()]
    except (ValueError, IndexError) as error:
        raise FormatError(f"{name} is not a complete minbpe file: {error}") from error
    return _resolved([_pair(pair, place, name) for place, pair in enumerate(pairs, 1)], name)


def _of_vocabulary(vocabulary: Mapping[Any, Any], name: str) -> Submission:
    """Return the merges that make the tokens of a vocabulary, whose tokens are texts or bytes."""
    if not all(_is_id(id) for id in vocabulary.values()):
        raise FormatError(f"{name} holds no merges, and is not a vocabulary: its values are not ids.")
    ranks: dict[bytes, int] = {}
    for token, id in vocabulary.items():
        if not isinstance(token, str | bytes):
            raise FormatError(f"{name}: the token with the id {id:,} is neither a text nor bytes.")
        ranks[_from_letters(token) if isinstance(token, str) else token] = id
    return _of_ranks(ranks, name)


def _of_ranks(ranks: Mapping[bytes, int], name: str) -> Submission:
    """Return the merges that make the tokens in `ranks`. The token with the lowest rank is made first.

    Special tokens are left out.
    """
    base = {bytes([byte]): byte for byte in range(256)}
    tokens = sorted((token for token in ranks if len(token) > 1 and not _is_special(token)), key=ranks.__getitem__)
    recovered = recover(tokens, base, len(base))
    if recovered.lost:
        raise FormatError(
            f"{name}: no two earlier tokens make {recovered.lost[0]!r}, so the merges of this vocabulary are not known."
        )
    texts = [*base, *recovered.tokens]
    halves = [(texts[left], texts[right]) for left, right in recovered.pairs.tolist()]
    halves_of = dict(zip(recovered.tokens, halves, strict=True))
    return Submission([halves_of[token] for token in tokens], is_vocabulary=True)


def _is_special(token: bytes) -> bool:
    return len(token) > 4 and token.startswith(b"<|") and token.endswith(b"|>")
