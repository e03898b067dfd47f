"""tiktoken's JSON for JavaScript, as in Claude's first tokenizer. It has the pattern, the special tokens, and a text
that lists the ranks of tokens.

Each line of that text has a character without meaning, the rank of the first token in the line, and tokens in base64.
The ranks of the other tokens follow the first rank without gaps.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from bpe_core.errors import FormatError
from bpe_core.formats.base import Beside, Opened, Peer, ReadOnly
from bpe_core.formats.json_reading import Object, number_of, object_in, parsed_object, text_in
from bpe_core.formats.patterns import pattern_choices
from bpe_core.formats.tiktoken_ranks import RankedTokens, checked_ranks, ranked, read_token
from bpe_core.history.history import History, Int64s
from bpe_core.support.result_cache import cached

RANKS = "bpe_ranks"
PATTERN = "pat_str"


class TiktokenJson(ReadOnly):
    name = "tiktoken.json"
    peer_name = "tiktoken"
    peer_call = "encode_ordinary(text)"
    holds_specials = False
    why_only_read = "tiktoken's JSON for JavaScript can only be read. Choose tiktoken, or another format."

    def recognizes(self, data: bytes) -> bool:
        return data.lstrip()[:1] == b"{" and all(b'"%b"' % key.encode() in data for key in (RANKS, PATTERN))

    def read_all(self, data: bytes, name: str, beside: Beside) -> Opened:
        whole, ranks = _read(data, name)
        specials = _specials(whole, name)
        if len({*specials.values(), *ranks.values()}) < len(specials) + len(ranks):
            raise FormatError(f"{name}: a special token has the id of another token.")
        choices, about_pattern = pattern_choices(text_in(whole, PATTERN, name))
        choices["older_unicode"] = True
        opened = ranked(RankedTokens.of(ranks), choices, tuple(specials), self.name, name, specials.values())
        numbers: Int64s = np.append(opened.numbers, np.array([*specials.values()], np.int64))
        return opened.history.numbered(numbers), (*about_pattern, *opened.notes)

    def loaded_by(self, library: Any, data: bytes, history: History, name: str, beside: Beside) -> Peer:
        whole, ranks = _read(data, name)
        pattern = text_in(whole, PATTERN, name)
        encoding = library.Encoding("checked", pat_str=pattern, mergeable_ranks=ranks, special_tokens={})
        return lambda text: list(encoding.encode_ordinary(text))


def _read(data: bytes, name: str) -> tuple[Object, dict[bytes, int]]:
    def found() -> tuple[Object, dict[bytes, int]]:
        whole = parsed_object(data, name)
        return whole, checked_ranks(dict(_rows(text_in(whole, RANKS, name), name)), name)

    return cached("tiktoken.json", data, found)


def _rows(text: str, name: str) -> Iterator[tuple[bytes, int]]:
    for number, line in enumerate(filter(None, text.split("\n")), 1):
        where = f"{name}, {RANKS}, line {number:,}"
        _, first, *tokens = line.split(" ") if line.count(" ") > 1 else ("", "")
        if not (first.isascii() and first.isdigit() and len(first) < 10):
            raise FormatError(f"{where}: there must be one character, a rank and tokens, separated by spaces.")
        yield from ((read_token(token.encode(), where), rank) for rank, token in enumerate(tokens, int(first)))


def _specials(whole: Object, name: str) -> dict[str, int]:
    items = object_in(whole, "special_tokens", name)
    return {
        text: number_of(number, f"{name}: the number of the special token {text!r}") for text, number in items.items()
    }
