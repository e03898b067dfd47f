"""The .model file of BoundlessBPE, version 2, in the form that the published program loads.

The file holds the vocabulary and the steps of both passes of learning. Bytes are written as characters of the
byte alphabet. The merges and drops within words are numbered together. The supermerges are numbered
separately. The file does not say in which order the steps of the two passes were learned, but the counts of
the steps show this order.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from typing import Any, BinaryIO

import numpy as np

from bpe_core.errors import FormatError
from bpe_core.formats import byte_level, limitations
from bpe_core.formats.base import NO_NUMBER, Beside, Format, Opened, decoded, recipe_from
from bpe_core.formats.rebuilding import rebuild
from bpe_core.history.alphabet import Alphabet
from bpe_core.history.history import NOTHING, TOKEN, Columns, History, Int64s
from bpe_core.history.token_texts import written
from bpe_core.methods.boundless.files import TABLES
from bpe_core.support.progress import Progress, ProgressReport
from bpe_core.text.patterns import NAMED_PATTERNS

SIGNATURE = b"BoundlessBPE v2 "
NO_TAU = 1.1  # a share above 1, so that no token is dropped
LETTER = r"\p{L}"
WITHIN = 1
ACROSS = 2
MOST_LINES = 8_000_000

Operation = tuple[bytes, ...]  # a pair that is joined, or a token that is dropped
Done = list[tuple[Operation, int]]  # each operation with its count, or with its stage


class BoundlessModel(Format):
    name = "boundless"
    tables = TABLES
    holds = "only tables of BoundlessBPE"

    def does_otherwise(self, history: History) -> list[str]:
        recipe = history.recipe
        limits = list[str]()
        if any(token.split() != [token] for token in recipe.special_tokens):
            limits.append("A special token holds a space or a line break, which would end the token in this format.")
        if recipe.tau is not None and recipe.falls_into == "parts" and _falls_further(history):
            limits.append(
                "Some dropped tokens are split into parts that were dropped earlier. The published program uses "
                "these parts again, without ids."
            )
        return limits + limitations.about_lines(recipe) + limitations.about_normalization(recipe)

    def numbers(self, history: History) -> Int64s:
        used = np.append(history.vocabulary, np.arange(history.first_special, history.index_count))
        known = history.numbers_of(np.arange(history.index_count))
        if np.array_equal(np.sort(known[used]), np.arange(len(used))):
            return known
        numbers = np.full(history.index_count, NO_NUMBER)
        numbers[used] = np.arange(len(used))
        return numbers

    def write_all(self, history: History, file: BinaryIO, progress: ProgressReport) -> None:
        recipe = history.recipe
        numbers = self.numbers(history)
        texts = [byte_level.written(text) for text in written(history)]
        steps = list(history)
        across = {step.index for step in steps if step.reasons["stage"] == ACROSS}
        used = sorted(history.vocabulary.tolist(), key=numbers.__getitem__)
        lines = [(SIGNATURE + b"boundless").decode(), "vocabulary", str(len(used))]
        lines += [f"{numbers[id]} {texts[id]} 0 {int(id in across)}" for id in used]
        lines += ["special_tokens", str(len(recipe.special_tokens))]
        named = zip(numbers[history.first_special :].tolist(), recipe.special_tokens, strict=True)
        lines += [f"{number} {token}" for number, token in sorted(named)]
        for stage, title in ((WITHIN, "words"), (ACROSS, "superwords")):
            own = list(enumerate(step for step in steps if step.reasons["stage"] == stage))
            joins = [
                f"{place} {texts[step.left]} {texts[step.right]} {max(step.count, 0)} 0"
                for place, step in own
                if step.right != NOTHING
            ]
            drops = [f"{place} {texts[step.left]}" for place, step in own if step.right == NOTHING]
            lines += [title, json.dumps(_config(history, stage)), "merges", str(len(joins)), *joins]
            lines += ["deletions", str(len(drops)), *drops]
            progress(Progress("writing", len(lines), 2 * len(steps) + len(used), "rows"))
        file.write("".join(f"{line}\n" for line in lines).encode())

    def recognizes(self, data: bytes) -> bool:
        return data.startswith(SIGNATURE)

    def read_all(self, data: bytes, name: str, beside: Beside) -> Opened:
        lines = _Lines(data, name)
        kind = lines.next().removeprefix(SIGNATURE.decode())
        if kind not in ("boundless", "word"):
            raise lines.wrong(f"models of the kind {kind[:20]!r} are not read, only 'boundless' and 'word'")
        tokens = {}
        for row in lines.rows("vocabulary", 4):
            tokens[lines.token(row[1])] = lines.number(row[0])
        specials = {row[1]: lines.number(row[0]) for row in lines.rows("special_tokens", 2)}
        config, words = lines.learned("words")
        _, supermerges = lines.learned("superwords") if kind == "boundless" else ({}, [])
        tau = config.get("tau")
        if config.get("main_regex") != NAMED_PATTERNS["o200k"].expression or config.get("script_specific_regex"):
            raise FormatError(
                f"{name}: its words were split by another pattern; this program reads only models with the pattern "
                "o200k."
            )
        if config.get("merge_pattern") != LETTER:
            raise FormatError(
                f"{name}: its merge_pattern is not {LETTER}; this program reads only models whose supermerges join "
                "words with letters."
            )
        drops = isinstance(tau, int | float) and not isinstance(tau, bool) and 0 < tau <= 1
        recipe = recipe_from(
            name,
            name="boundless",
            method="boundless",
            pattern="word-runs",
            ties="smallest-text",
            merges=max(0, len(tokens) - 256),
            tau=tau if drops else None,
            falls_into="bytes" if config.get("blowup", True) else "parts",
            special_tokens=tuple(sorted(specials, key=specials.__getitem__)),
        )
        taken = _in_order_of_counts(words, supermerges)
        ids = {text: id for id, text in enumerate(Alphabet.of_bytes().texts)}
        columns = np.full((len(Columns._fields), len(taken)), NOTHING)
        made = np.zeros(len(taken), np.int64)
        for step, (operation, _) in enumerate(taken):
            unknown = next((half for half in operation if half not in ids), None)
            if unknown is not None:
                said = byte_level.written(unknown)
                raise FormatError(f"{name}: step {step + 1:,} uses the token {said}, which no earlier step makes.")
            columns[: len(operation), step] = [ids[half] for half in operation]
            made[step] = ids.setdefault(b"".join(operation), len(ids))
        stages = np.array([stage for _, stage in taken], np.int64)
        reasons = {"stage": stages} | ({TOKEN: made} if drops else {})
        history = rebuild(
            recipe, Alphabet.of_bytes(), [*columns], lambda row: f"{name}, step {row + 1:,}", name, reasons=reasons
        )
        numbers = np.array([tokens.get(text, NO_NUMBER) for text in ids][: history.first_special], np.int64)
        numbers = np.append(numbers, np.array(sorted(specials.values()), np.int64))
        return history.numbered(numbers), ()


def _config(history: History, stage: int) -> dict[str, Any]:
    recipe = history.recipe
    is_super = stage == ACROSS
    return {
        "tau": NO_TAU if is_super or recipe.tau is None else recipe.tau,
        "is_super": is_super,
        "superbpe_mode": False,
        "blowup": not is_super and recipe.falls_into == "bytes",
        "main_regex": NAMED_PATTERNS["o200k"].expression,
        "script_specific_regex": None,
        "script_specific_scripts": None,
        "merge_pattern": LETTER,
    }


def _falls_further(history: History) -> bool:
    in_use = set(range(len(history.alphabet)))
    for step in history:
        if step.right != NOTHING:
            in_use.add(step.index)
            continue
        in_use.discard(step.left)
        if not in_use.issuperset(history.parts(step.left) or ()):
            return True
    return False


def _in_order_of_counts(
    words: list[tuple[Operation, int]], supermerges: list[tuple[Operation, int]]
) -> list[tuple[Operation, int]]:
    """Put the steps within words and the supermerges into one list, ordered by count.

    A supermerge comes only after both tokens that it joins.
    """
    taken = list[tuple[Operation, int]]()
    there = {bytes([byte]) for byte in range(256)}
    waiting = iter(supermerges)
    supermerge = next(waiting, None)
    for operation, count in [*words, ((), -1)]:
        while supermerge and len(operation) != 1 and supermerge[1] > count and there.issuperset(supermerge[0]):
            taken.append((supermerge[0], ACROSS))
            there.add(b"".join(supermerge[0]))
            supermerge = next(waiting, None)
        if operation:
            taken.append((operation, WITHIN))
            (there.discard if len(operation) == 1 else there.add)(b"".join(operation))
    return taken + [(late_supermerge[0], ACROSS) for late_supermerge in ([supermerge, *waiting] if supermerge else ())]


class _Lines:
    def __init__(self, data: bytes, name: str) -> None:
        self._lines = iter(io.BytesIO(data))
        self._name = name
        self._at = 0

    def next(self) -> str:
        self._at += 1
        line = next(self._lines, None)
        if line is None:
            raise self.wrong("the file was truncated")
        return decoded(line, f"{self._name}, line {self._at:,}").rstrip("\r\n")

    def wrong(self, sentence: str) -> FormatError:
        return FormatError(f"{self._name}, line {self._at:,}: {sentence}.")

    def number(self, text: str) -> int:
        if not (text.isascii() and text.isdigit() and len(text) < 19):
            raise self.wrong(f"{text[:40]!r} is not a number")
        return int(text)

    def token(self, text: str) -> bytes:
        token = byte_level.read(text)
        if not token:
            raise self.wrong(f"{text[:40]!r} is not written in the byte alphabet")
        return token

    def title(self, wanted: str) -> None:
        if self.next() != wanted:
            raise self.wrong(f"{wanted!r} is missing here")

    def rows(self, title: str, width: int) -> Iterator[list[str]]:
        self.title(title)
        count = self.number(self.next())
        if count > MOST_LINES:
            raise self.wrong(f"there are more than {MOST_LINES:,} rows")
        for _ in range(count):
            row = self.next().split(" ")
            if len(row) != width:
                raise self.wrong(f"this row must have {width} parts")
            yield row

    def learned(self, title: str) -> tuple[dict[str, Any], Done]:
        """Read the part of the file that begins with the line `title`. It contains one pass of learning.

        Return the choices of the pass, and its merges and deletions in the order in which they were learned. Each merge
        has its count.
        """
        self.title(title)
        try:
            config = json.loads(self.next())
        except (ValueError, RecursionError) as error:
            raise self.wrong("the choices are not valid JSON") from error
        if not isinstance(config, dict):
            raise self.wrong("the choices must be a JSON object")
        operations: dict[int, tuple[Operation, int]] = {}
        for row in self.rows("merges", 5):
            operations[self.number(row[0])] = ((self.token(row[1]), self.token(row[2])), self.number(row[3]))
        for row in self.rows("deletions", 2):
            operations[self.number(row[0])] = ((self.token(row[1]),), NOTHING)
        return config, [operations[place] for place in sorted(operations)]
