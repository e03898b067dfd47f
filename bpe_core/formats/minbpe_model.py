"""The .model file of minbpe. It lists the pattern, the special tokens and the merges.

Each merge is a pair of ids on its own line. The 256 bytes have the ids 0 to 255.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import numpy as np

from bpe_core.errors import FormatError, damage_error
from bpe_core.formats import limitations
from bpe_core.formats.base import Beside, Format, Opened, Writer, decoded, recipe_from, reported, unless_ids
from bpe_core.formats.patterns import expression_of, pattern_choices
from bpe_core.formats.rebuilding import rebuild
from bpe_core.history.alphabet import Alphabet
from bpe_core.history.history import NOTHING, Columns, History, Int64s
from bpe_core.history.token_texts import written
from bpe_core.support.escaped_bytes import escape
from bpe_core.support.progress import ProgressReport

SIGNATURE = b"minbpe v1"
MOST_SPECIALS = 100_000
LARGEST_NUMBER = 2**31 - 1

_PAIR = re.compile(rb"(\d{1,10}) (\d{1,10})\s*\Z")


class MinbpeModel(Format):
    name = "minbpe"

    def impossible(self, history: History) -> list[str]:
        reasons = limitations.needs_bytes(history, "minbpe")
        if not reasons and not history.alphabet.is_plain_bytes:
            reasons = ["In a minbpe file the bytes have the ids 0 to 255 in order, but this table has other ids."]
        return reasons

    def does_otherwise(self, history: History) -> list[str]:
        recipe = history.recipe
        unfit = [token for token in recipe.special_tokens if token.split() != [token]]
        sentences: list[str] = []
        if unfit:
            sentences.append(
                f"The special token {unfit[0]!r} holds a space or a line break, which would end the token in this "
                "format."
            )
        expression = expression_of(recipe)
        if expression.strip() != expression or "\n" in expression:
            sentences.append(
                "The pattern begins or ends with a space or holds a line break. Minbpe would read a different pattern."
            )
        return sentences + limitations.about_lines(recipe) + limitations.about_normalization(recipe)

    def numbers(self, history: History) -> Int64s:
        """Return the id of each token. The id of a byte or a merge is its index.

        If all special tokens have ids after the last merge, they keep their ids. Otherwise their indices become their
        ids.
        """
        ids = np.arange(history.index_count)
        first = history.first_special
        known = history.numbers_of(ids)
        return known if np.array_equal(known[:first], ids[:first]) and (known[first:] >= first).all() else ids

    def write_all(self, history: History, file: BinaryIO, progress: ProgressReport) -> None:
        recipe = history.recipe
        head = [SIGNATURE.decode(), expression_of(recipe), str(len(recipe.special_tokens))]
        specials = zip(recipe.special_tokens, self.numbers(history)[history.first_special :].tolist(), strict=True)
        head += [f"{token} {number}" for token, number in specials]
        file.write("".join(f"{line}\n" for line in head).encode())
        file.writelines(b"%d %d\n" % pair for pair in reported(enumerate(history.pairs(), 1), history, progress))

    def companions(self, path: Path) -> dict[Path, Writer]:
        return {path.with_suffix(".vocab"): write_vocabulary}

    def recognizes(self, data: bytes) -> bool:
        return data.startswith(SIGNATURE)

    def read_all(self, data: bytes, name: str, beside: Beside) -> Opened:
        lines = iter(io.BytesIO(data))
        version = next(lines, b"").strip()
        if version != SIGNATURE:
            raise FormatError(
                f"{name}, line 1: the line must be {SIGNATURE.decode()!r}. This program reads no other version."
            )
        expression = _text(next(lines, None), f"{name}, line 2").strip()
        specials = _specials(lines, name)
        choices, notes = pattern_choices(expression)
        first = 4 + len(specials)
        pairs = [_pair(line, f"{name}, line {number:,}") for number, line in enumerate(lines, first)]
        columns = np.full((len(Columns._fields), len(pairs)), NOTHING)
        columns[:2] = np.array(pairs, np.int64).reshape(-1, 2).T
        recipe = recipe_from(name, name="minbpe", merges=len(pairs), special_tokens=tuple(specials), **choices)
        history = rebuild(recipe, Alphabet.of_bytes(), [*columns], lambda row: f"{name}, line {first + row:,}", name)
        numbers = np.append(np.arange(history.first_special), np.array([*specials.values()], np.int64))
        return history.numbered(unless_ids(numbers)), notes


def write_vocabulary(history: History, file: BinaryIO) -> None:
    """Write the readable sidecar file. It lists each token with the two tokens that made it."""
    texts = [escape(text) for text in written(history)]
    for id, text in enumerate(texts[: len(history.alphabet)]):
        file.write(f"[{text}] {id}\n".encode())
    file.writelines(
        f"[{texts[merge.left]}][{texts[merge.right]}] -> [{texts[merge.index]}] {merge.index}\n".encode()
        for merge in history
    )
    for id, special in enumerate(history.recipe.special_tokens, start=len(texts)):
        file.write(f"[{escape(special.encode())}] {id}\n".encode())


def _specials(lines: Iterator[bytes], name: str) -> dict[str, int]:
    count = _text(next(lines, None), f"{name}, line 3").strip()
    if not (count.isascii() and count.isdigit() and len(count) < 8 and int(count) <= MOST_SPECIALS):
        raise FormatError(
            f"{name}, line 3: {count[:40]!r} is not a whole number. This line must say how many special tokens follow."
        )
    specials: dict[str, int] = {}
    for number in range(4, 4 + int(count)):
        where = f"{name}, line {number:,}"
        parts = _text(next(lines, None), where).split()
        if len(parts) != 2 or not (parts[1].isascii() and parts[1].isdigit() and len(parts[1]) < 11):
            raise FormatError(f"{where}: this line must hold a special token, a space and the id of the token.")
        if parts[0] in specials or int(parts[1]) > LARGEST_NUMBER:
            raise FormatError(f"{where}: the special token {parts[0]!r} is listed twice, or its id is too large.")
        specials[parts[0]] = int(parts[1])
    return specials


def _text(line: bytes | None, where: str) -> str:
    if line is None:
        raise damage_error(f"{where}: the file was truncated.")
    return decoded(line, where)


def _pair(line: bytes, where: str) -> tuple[int, int]:
    match = _PAIR.match(line)
    if match is None:
        raise FormatError(f"{where}: {line[:40].decode('utf-8', 'replace').strip()!r} is not a pair of ids.")
    return int(match[1]), int(match[2])
