"""Files that lie beside tokenizers and are none that this program reads: a sentence says what they are.

>>> print(named(b"1 '\\\\x00' 1\\n2 '\\\\x01' 1\\n", "rwkv_vocab.txt"))
rwkv_vocab.txt is RWKV's vocabulary: it has no merges, the longest token that fits is always taken, so it is not read.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

LOOK = 20_000  # bytes

_RWKV = re.compile(rb"""\d+ (b?'[^\n]*'|b?"[^\n]*") \d+\r?\n""")
_PIECES = re.compile(rb"<unk>\t-?\d[^\n]*\n|[^\t\n]+\t-?\d+(\.\d+)?\r?\n[^\t\n]+\t-?\d+(\.\d+)?\r?\n")
_KEYS = re.compile(rb'"(tokenizer_class|chat_template|model_max_length|add_prefix_space|added_tokens_decoder)"\s*:')
_ROLES = re.compile(rb'"(bos_token|eos_token|unk_token|pad_token|additional_special_tokens)"\s*:')
_CONFIG = re.compile(rb'"(model_type|architectures|hidden_size|num_hidden_layers)"\s*:')


class Other(NamedTuple):
    """A kind of file, how it is known by its beginning, and what is said of it."""

    is_it: Callable[[bytes], bool]
    sentence: str


def _object_with(keys: re.Pattern[bytes]) -> Callable[[bytes], bool]:
    return lambda head: head.lstrip()[:1] == b"{" and keys.search(head) is not None


OTHERS = (
    Other(
        lambda head: _RWKV.match(head) is not None,
        "is RWKV's vocabulary: it has no merges, the longest token that fits is always taken, so it is not read.",
    ),
    Other(
        lambda head: _PIECES.match(head) is not None,
        "looks like the list of pieces that SentencePiece writes for people; open the .model beside it.",
    ),
    Other(
        _object_with(_CONFIG),
        "tells how a model is built and holds no tokens; open tokenizer.json or another table beside it.",
    ),
    Other(
        _object_with(_KEYS),
        "tells how a tokenizer is used and holds no tokens of its own; open tokenizer.json or vocab.json beside it.",
    ),
    Other(
        _object_with(_ROLES),
        "only says which special tokens play which part; open tokenizer.json or vocab.json beside it.",
    ),
)


def named(data: bytes, name: str) -> str:
    """What a file is that is none of ours; empty where nobody knows."""
    head = data[:LOOK]
    return next((f"{name} {one.sentence}" for one in OTHERS if one.is_it(head)), "")
