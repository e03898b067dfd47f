"""The readers of files in which students keep their merges: JSON, text, pickles of plain values, and minbpe's files."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from bpe_core.errors import FormatError
from bpe_core.support.plain_pickle import values_of
from bpe_core.text.stand_ins import byte_of_stand_in

Merge = tuple[bytes, bytes]
KINDS = (
    "a list of pairs in JSON, a merges.txt in GPT-2's letters or with b'...' as Python writes bytes, a vocab.json, a "
    "pickle of lists, tuples and dictionaries, or minbpe's .model"
)
_MINBPE = b"minbpe v1"
_PICKLE = re.compile(rb"\x80[\x02-\x05]")
_OF_BYTES = re.compile(
    r"""^\(?\s*(b(?:'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"))\s*,?\s*(b(?:'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"))\s*\)?,?$"""
)
MOST_MERGES = 2_000_000


def merges_in(data: bytes, name: str) -> list[Merge]:
    """Return the merges in a student's file, in the order in which they were learned."""
    if not data.strip():
        raise FormatError(f"{name} is empty. A result is {KINDS}.")
    if data.startswith(_MINBPE):
        merges = _of_minbpe(data, name)
    elif _PICKLE.match(data):
        merges = _of_value(values_of(data, name), name)
    else:
        try:
            text = data.decode()
        except UnicodeDecodeError as error:
            raise FormatError(
                f"{name} is not a text: its bytes are not UTF-8 from byte {error.start:,} on. A result is {KINDS}."
            ) from error
        merges = _of_json(text, name) if text.lstrip()[:1] in ("[", "{") else _of_lines(text, name)
    if not merges:
        raise FormatError(f"{name} holds no merges. A result is {KINDS}.")
    if len(merges) > MOST_MERGES:
        raise FormatError(f"{name} holds {len(merges):,} merges; at most {MOST_MERGES:,} are graded.")
    return merges


def _of_json(text: str, name: str) -> list[Merge]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise FormatError(f"{name} is not valid JSON: {error}") from error
    if isinstance(value, dict) and "merges" not in value and not isinstance(value.get("model"), dict):
        return _of_vocabulary(value, name)
    return _of_value(value, name)


def _of_value(value: Any, name: str) -> list[Merge]:
    """Return the merges in a value.

    The value is the list of merges, an object with `merges`, or a pair of a vocabulary and a list of merges.
    """
    if isinstance(value, dict) and isinstance(value.get("model"), dict):
        value = value["model"]
    if isinstance(value, dict) and "merges" in value:
        value = value["merges"]
    elif isinstance(value, tuple | list) and len(value) == 2 and isinstance(value[0], dict):
        value = value[1]
    if isinstance(value, dict) and all(isinstance(pair, tuple) for pair in value):  # minbpe keeps pairs with their ids
        value = [pair for pair, _ in sorted(value.items(), key=lambda item: item[1])]
    if not isinstance(value, tuple | list):
        raise FormatError(f"{name} does not hold a list of merges. A result is {KINDS}.")
    pairs = [_pair(pair_value, place, name) for place, pair_value in enumerate(value, 1)]
    return _resolved(pairs, name)


def _pair(value: Any, place: int, name: str) -> tuple[Any, Any]:
    if isinstance(value, str):
        value = value.split(" ")
    if not isinstance(value, tuple | list) or len(value) != 2:
        raise FormatError(f"{name}: merge {place:,} is not a pair.")
    return value[0], value[1]


def _resolved(pairs: Sequence[tuple[Any, Any]], name: str) -> list[Merge]:
    """Return all pairs as bytes.

    A part of a pair may be an id, bytes, a list of bytes, or a text in the characters that represent bytes in
    GPT-2's files.
    """
    texts = [bytes([byte]) for byte in range(256)]
    merges = list[Merge]()
    for place, pair in enumerate(pairs, 1):
        left, right = (_bytes_of(part, texts, place, name) for part in pair)
        merges.append((left, right))
        texts.append(left + right)
    return merges


def _bytes_of(part: Any, texts: Sequence[bytes], place: int, name: str) -> bytes:
    if isinstance(part, bool):
        raise FormatError(f"{name}: merge {place:,} holds true or false instead of a token.")
    if isinstance(part, bytes):
        return part
    if isinstance(part, int):
        if not 0 <= part < len(texts):
            raise FormatError(
                f"{name}: merge {place:,} joins the id {part:,}, but before this merge there are only "
                f"{len(texts):,} tokens."
            )
        return texts[part]
    if isinstance(part, list) and all(isinstance(byte, int) and 0 <= byte < 256 for byte in part):
        return bytes(part)
    if isinstance(part, str):
        return _from_letters(part)
    raise FormatError(f"{name}: merge {place:,} holds {type(part).__name__} instead of a token.")


def _from_letters(text: str) -> bytes:
    """Return the bytes of a token in the characters that represent bytes in GPT-2's files.

    >>> _from_letters("Ġthe"), _from_letters(" the")
    (b' the', b' the')
    """
    byte_of = byte_of_stand_in()
    if all(letter in byte_of for letter in text):
        return bytes(byte_of[letter] for letter in text)
    return text.encode(errors="replace")


def _of_lines(text: str, name: str) -> list[Merge]:
    pairs = list[tuple[Any, Any]]()
    for number, line in enumerate(text.split("\n"), 1):
        line = line.rstrip("\r")
        if not line.strip() or (number == 1 and line.startswith("#")):
            continue
        written = _OF_BYTES.match(line.strip())
        if written is not None:
            pairs.append((ast.literal_eval(written[1]), ast.literal_eval(written[2])))
            continue
        parts = line.split(" ")
        if len(parts) != 2:
            raise FormatError(f"{name}, line {number:,} is not a pair of tokens. A result is {KINDS}.")
        pairs.append((parts[0], parts[1]))
    return _resolved(pairs, name)


def _of_minbpe(data: bytes, name: str) -> list[Merge]:
    """Return the merges of minbpe's file, which has a pattern, special tokens, and one pair of ids in each line."""
    lines = data.decode(errors="replace").split("\n")
    try:
        first = 3 + int(lines[2])
        pairs = [tuple(map(int, line.split())) for line in lines[first:] if line.strip()]
    except (ValueError, IndexError) as error:
        raise FormatError(f"{name} is not a complete minbpe file: {error}") from error
    return _resolved([_pair(pair, place, name) for place, pair in enumerate(pairs, 1)], name)


def _of_vocabulary(vocabulary: Mapping[str, Any], name: str) -> list[Merge]:
    """Return the merges that make the tokens of a vocabulary. Each token is made of two older tokens."""
    if not all(isinstance(id, int) for id in vocabulary.values()):
        raise FormatError(f"{name} holds no merges, and is not a vocabulary: its values are not ids.")
    ordered = sorted(vocabulary, key=vocabulary.__getitem__)
    tokens = [_from_letters(text) for text in ordered if not text.startswith("<|")]
    known = {token for token in tokens if len(token) == 1}
    merges = list[Merge]()
    for token in tokens:
        if len(token) > 1:
            halves = _halves(token, known)
            if halves is None:
                raise FormatError(
                    f"{name}: no two earlier tokens make {token!r}, so the merges of this vocabulary are not known."
                )
            merges.append(halves)
            known.add(token)
    return merges


def _halves(token: bytes, known: Iterable[bytes]) -> Merge | None:
    cuts = range(len(token) - 1, 0, -1)
    return next(((token[:cut], token[cut:]) for cut in cuts if token[:cut] in known and token[cut:] in known), None)
