"""Mistral's tekken.json: ranks as tiktoken has them, with the pattern.

The first numbers, often 1,000, are kept for special tokens, and the rank of a token is added to them. Only as many
tokens are taken as the vocabulary's size leaves room for.
"""

from __future__ import annotations

import binascii
from collections.abc import Sequence
from typing import Any, BinaryIO

import numpy as np

from bpe_core.errors import FormatError
from bpe_core.formats.base import NO_NUMBER, Beside, Format, OpenedTable, Peer, nothing_beside
from bpe_core.formats.json_reading import Object, list_in, number_of, object_in, parsed_object, text_in
from bpe_core.formats.json_writing import laid_out
from bpe_core.formats.limitations import same_text, unrecoverable
from bpe_core.formats.patterns import expression_of, pattern_choices
from bpe_core.formats.tiktoken_ranks import EVERYTHING, TiktokenRanks, checked_ranks, ranked, read_token
from bpe_core.history.history import History, Int64s
from bpe_core.history.token_texts import written
from bpe_core.support.found_once import once
from bpe_core.support.progress import ProgressReport

RANKS = TiktokenRanks()
NUMBERS_FOR_SPECIALS = 1_000  # at least, in a file of ours: as in theirs
VERSION = "v7"  # the first that lists its special tokens
# What the first numbers are in files that do not say so.
OLDER_SPECIALS = (
    "<unk>", "<s>", "</s>", "[INST]", "[/INST]", "[AVAILABLE_TOOLS]", "[/AVAILABLE_TOOLS]", "[TOOL_RESULTS]",
    "[/TOOL_RESULTS]", "[TOOL_CALLS]", "[IMG]", "<pad>", "[IMG_BREAK]", "[IMG_END]", "[PREFIX]", "[MIDDLE]", "[SUFFIX]",
    "[SYSTEM_PROMPT]", "[/SYSTEM_PROMPT]", "[TOOL_CONTENT]",
)  # fmt: skip


class Tekken(Format):
    name = "tekken"
    extension = ".json"
    peer_name = "tiktoken"
    holds_specials = False

    def holds_joining(self, history: History) -> bool:
        return RANKS.holds_joining(history)

    def impossible(self, history: History) -> list[str]:
        recipe = history.recipe
        if recipe.base == "bytes" and (recipe.normalizes or recipe.preparation or recipe.unit == "line"):
            return ["A tekken.json changes no text and cuts it by one pattern only; this table wants more."]
        return [sentence.replace(".tiktoken", "tekken.json") for sentence in RANKS.impossible(history)]

    def does_otherwise(self, history: History) -> list[str]:
        lost = unrecoverable(history, written(history)) if history.joining is None else []
        return same_text(history) + lost

    def numbers(self, history: History) -> Int64s:
        """Those of the file it came from, where they are ranks behind special tokens; else those come first."""
        specials, first = len(history.recipe.special_tokens), history.first_special
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
        file.write(laid_out(whole, 1).encode())

    def recognizes(self, data: bytes) -> bool:
        return data.lstrip()[:1] == b"{" and b'"token_bytes"' in data and b'"rank"' in data

    def open(self, data: bytes, name: str, beside: Beside = nothing_beside) -> OpenedTable:
        whole, ranks, shift = _read(data, name)
        specials, notes = _specials(whole, shift, name)
        choices, about_pattern = pattern_choices(_pattern(whole, name))
        choices["older_unicode"] = True
        if choices["pattern"] == "custom":
            choices["custom_pattern"] = _pattern(whole, name)
        opened = ranked(ranks, choices, tuple(specials), "tekken.json", name)
        numbers = np.append(opened.numbers + shift, np.array(list(specials.values()), np.int64))
        return OpenedTable(opened.history.numbered(numbers), self.name, (*notes, *about_pattern, *opened.notes))

    def loaded_by(self, library: Any, data: bytes, history: History, name: str, beside: Beside) -> Peer | None:
        whole, ranks, shift = _read(data, name)
        pattern = _pattern(whole, name)
        encoding = library.Encoding("checked", pat_str=pattern, mergeable_ranks=ranks, special_tokens={})
        return lambda text: [rank + shift for rank in encoding.encode_ordinary(text)]


def _bytes_first(history: History, ranks: Int64s) -> Int64s:
    """The same order, but that the 256 bytes come first, in their own, as Mistral's library wants them."""
    places = ranks + 256
    for id, symbol in enumerate(history.alphabet.symbols):
        if symbol.kind == "byte":
            places[id] = symbol.text[0]
    found = np.empty(len(ranks), np.int64)
    found[np.argsort(places, kind="stable")] = np.arange(len(ranks))
    return found


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
    """The whole file; of it the tokens by rank, as many as there is room for; how many numbers stand before them."""

    def found() -> tuple[Object, dict[bytes, int], int]:
        whole = parsed_object(data, name)
        return whole, *_ranks(whole, name)

    return once("tekken", data, found)


def _pattern(whole: Object, name: str) -> str:
    return text_in(object_in(whole, "config", name), "pattern", f"{name}, config")


def _ranks(whole: Object, name: str) -> tuple[dict[bytes, int], int]:
    config = object_in(whole, "config", name)
    shift = number_of(config.get("default_num_special_tokens"), f"{name}: default_num_special_tokens")
    size = number_of(config.get("default_vocab_size"), f"{name}: default_vocab_size")
    ranks = _ranks_of(list_in(whole, "vocab", name), size - shift, name)
    if size <= shift or len(ranks) != size - shift:
        raise FormatError(
            f"{name}: its size is said to be {size:,}, {shift:,} of them for special tokens, but {len(ranks):,} tokens "
            "have a rank below that."
        )
    return checked_ranks(ranks, name), shift


def _ranks_of(items: Sequence[Any], room: int, name: str) -> dict[bytes, int]:
    """Those below so many, with the place of what is wrong."""
    ranks: dict[bytes, int] = {}
    for place, item in enumerate(items, start=1):
        where = f"{name}, token {place:,}"
        if not isinstance(item, dict):
            raise FormatError(f"{where}: there must be an object.")
        rank = number_of(item.get("rank"), f"{where}: its rank")
        token = read_token(text_in(item, "token_bytes", where).encode(), where)
        if rank < room and ranks.setdefault(token, rank) != rank:
            raise FormatError(f"{where}: the token {token[:40]!r} was given another rank before.")
    return ranks


def _specials(whole: Object, shift: int, name: str) -> tuple[dict[str, int], Sequence[str]]:
    notes = []
    items = list_in(whole, "special_tokens", name)
    if not items:
        items = [{"rank": rank, "token_str": text} for rank, text in enumerate(OLDER_SPECIALS[:shift])]
        if items:
            notes.append("The file does not list its special tokens; here they are those of Mistral's older files.")
    found: dict[str, int] = {}
    for place, item in enumerate(items, start=1):
        where = f"{name}, special token {place:,}"
        if not isinstance(item, dict):
            raise FormatError(f"{where}: there must be an object.")
        text, rank = text_in(item, "token_str", where), number_of(item.get("rank"), f"{where}: its rank")
        if not text or text in found or rank in found.values() or rank >= shift:
            raise FormatError(f"{where}: its text or its number stands there before, or is none below {shift:,}.")
        found[text] = rank
    if shift > len(found):
        notes.append(f"{shift - len(found):,} of the first {shift:,} numbers belong to no token yet.")
    return found, notes
