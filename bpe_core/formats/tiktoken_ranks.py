"""tiktoken's ranks: one line a token, its bytes in base64 and its rank.

Merges are not stored. What each token was made of is recovered by merging it with the tokens
of lower rank (see recovering.py). A token that does not fall into two pieces that way is still
made where its pieces come together later, out of turn; else it is only met as a whole word.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping
from typing import BinaryIO

import numpy as np

from bpe_core.errors import FormatError, TooLarge
from bpe_core.formats import missing_places
from bpe_core.formats.base import Beside, Format, OpenedTable, Peer, nothing_beside
from bpe_core.formats.byte_level import alphabet_of
from bpe_core.formats.guessing import likely_pattern
from bpe_core.formats.recovering import Recovered, recover
from bpe_core.formats.unfit_tokens import listed, same_text, unrecoverable
from bpe_core.history.history import History, Int64s
from bpe_core.progress import Progress, ProgressReport
from bpe_core.recipe import LARGEST_VOCABULARY, Recipe
from bpe_core.token_texts import written

LARGEST_FILE = 2**26  # bytes; recovering the merges takes up to some seconds a megabyte
LARGEST_RANK = 2**31 - 1
ROWS_BETWEEN_REPORTS = 4_096
EVERY_WORD = "(?s:.+)"  # for a peer that is given words

_LINE = re.compile(rb"[A-Za-z0-9+/]+={0,2} -?\d+\r?(\n|\Z)")


class TiktokenRanks(Format):
    """.tiktoken"""

    name = "tiktoken"
    extension = ".tiktoken"
    endings = (".tiktoken",)
    explanation = "Ranks for tiktoken: each token's bytes in base64, and its number."
    peer_name = "tiktoken"
    holds_splitting = False
    holds_specials = False

    def impossible(self, history: History) -> list[str]:
        return missing_places.needs_bytes(history, ".tiktoken")

    def can_hold(self, history: History) -> list[str]:
        impossible = self.impossible(history)
        if impossible:
            return impossible
        texts = written(history)
        return same_text(history) + unrecoverable(history, texts) + missing_places.about_splitting(history.recipe)

    def write_all(self, history: History, file: BinaryIO, progress: ProgressReport, numbers: Int64s) -> None:
        seen: set[bytes] = set()
        for rank, text in enumerate(written(history)):
            if text not in seen:  # of two tokens with the same text, the older one
                file.write(base64.b64encode(text) + b" %d\n" % rank)
                seen.add(text)
            if rank % ROWS_BETWEEN_REPORTS == 0:
                progress(Progress("writing", max(0, rank - len(history.alphabet)), len(history), "steps"))
        progress(Progress("writing", len(history), len(history), "steps"))

    def recognizes(self, data: bytes) -> bool:
        return _LINE.match(data) is not None

    def open(self, data: bytes, name: str, beside: Beside = nothing_beside) -> OpenedTable:
        ranks = read_ranks(data, name)
        base = {token: id for id, token in enumerate(token for token in ranks if len(token) == 1)}
        recovered = recover(ranks, base, len(base))
        numbers = np.array([ranks[token] for token in (*base, *recovered.tokens)], np.int64)
        pattern = likely_pattern(list(ranks))
        notes = [
            f"A .tiktoken file does not say how text is split into words; its tokens fit the pattern {pattern}.",
            *_notes(recovered, ranks),
        ]
        recipe = Recipe(name="tiktoken", pattern=pattern, merges=len(recovered.pairs), vocab_size=None)
        alphabet = alphabet_of([token[0] for token in base])
        history = History.from_pairs(recipe, alphabet, recovered.pairs)
        in_order = np.array_equal(numbers, np.arange(len(numbers)))
        return OpenedTable(history, self.name, tuple(notes), None if in_order else numbers)

    def peer(self, data: bytes, history: History, name: str, beside: Beside = nothing_beside) -> Peer | None:
        try:
            import tiktoken  # not needed to run: only asked whether it agrees
        except ImportError:
            return None
        ranks = read_ranks(data, "the file")
        encoding = tiktoken.Encoding("checked", pat_str=EVERY_WORD, mergeable_ranks=ranks, special_tokens={})
        return lambda word: list(encoding.encode_ordinary(word))


# --- Reading ----------------------------------------------------------------------------


def read_ranks(data: bytes, name: str) -> dict[bytes, int]:
    """Each token with its rank, lowest first."""
    if len(data) > LARGEST_FILE:
        raise TooLarge(f"{name} has {len(data):,} bytes; a .tiktoken file of more than {LARGEST_FILE:,} is not read.")
    ranks: dict[bytes, int] = {}
    for number, line in enumerate(data.split(b"\n"), start=1):
        if line.strip():
            token, rank = _token_and_rank(line.removesuffix(b"\r"), f"{name}, line {number:,}")
            if ranks.setdefault(token, rank) != rank:
                raise FormatError(f"{name}, line {number:,}: the token {token[:40]!r} was given another rank before.")
    if len(ranks) > LARGEST_VOCABULARY:
        raise FormatError(f"{name}: there are more than {LARGEST_VOCABULARY:,} tokens.")
    _check_ranks(ranks, name)
    return dict(sorted(ranks.items(), key=lambda item: item[1]))


def _token_and_rank(line: bytes, where: str) -> tuple[bytes, int]:
    parts = line.split(b" ")
    if len(parts) != 2:
        raise FormatError(f"{where}: there must be a token in base64, a blank and its rank.")
    encoded, digits = parts
    try:
        token = binascii.a2b_base64(encoded, strict_mode=True)
    except (binascii.Error, ValueError) as error:
        raise FormatError(f"{where}: {encoded[:40].decode('ascii', 'replace')!r} is not base64.") from error
    if not token:
        raise FormatError(f"{where}: a token must have at least one byte.")
    if not (digits.isdigit() and len(digits) < 11 and int(digits) <= LARGEST_RANK):
        shown = digits[:40].decode("ascii", "replace")
        raise FormatError(f"{where}: {shown!r} is not a rank; ranks are whole numbers from 0 to {LARGEST_RANK:,}.")
    return token, int(digits)


def _check_ranks(ranks: Mapping[bytes, int], name: str) -> None:
    if len(set(ranks.values())) < len(ranks):
        seen: dict[int, bytes] = {}
        for token, rank in ranks.items():
            if rank in seen:
                raise FormatError(f"{name}: the rank {rank:,} is given to {seen[rank][:40]!r} and to {token[:40]!r}.")
            seen[rank] = token
    missing = [byte for byte in range(256) if bytes([byte]) not in ranks]
    if missing:
        raise FormatError(f"{name}: {len(missing)} of the 256 bytes have no rank, the first is 0x{missing[0]:02X}.")


def _notes(recovered: Recovered[bytes], ranks: Mapping[bytes, int]) -> list[str]:
    notes = []
    if recovered.out_of_turn:
        notes.append(
            f"{len(recovered.out_of_turn):,} tokens are made of a token with a higher rank than their own: "
            f"{listed(recovered.out_of_turn)}. So ranks do not rise inside a word. Here their merges follow those of "
            "their parts, and words in which such tokens meet may be cut otherwise than by tiktoken."
        )
    if recovered.lost:
        notes.append(
            f"The merges of {len(recovered.lost):,} tokens cannot be recovered: {listed(recovered.lost)}. "
            "tiktoken makes them only where they are a whole word; here they are left out."
        )
    highest = max(ranks.values())
    if highest + 1 > len(ranks):
        notes.append(f"{highest + 1 - len(ranks):,} of the ranks from 0 to {highest:,} belong to no token.")
    return notes
