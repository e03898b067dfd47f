"""Helpers that write GGUF files with only a tokenizer, field by field as the package of llama.cpp writes them."""

from __future__ import annotations

import struct
from typing import Any

_KINDS = {bool: (7, "<?"), int: (4, "<I"), float: (6, "<f")}


def text(value: str) -> bytes:
    raw = value.encode()
    return struct.pack("<Q", len(raw)) + raw


def value(one: Any) -> bytes:
    if isinstance(one, str):
        return struct.pack("<I", 8) + text(one)
    if isinstance(one, bytes):
        return struct.pack("<IIQ", 9, 1, len(one)) + one
    if isinstance(one, list):
        kind, form = (8, "") if isinstance(one[0], str) else (5, "<i") if isinstance(one[0], int) else (6, "<f")
        items = map(text, one) if not form else (struct.pack(form, item) for item in one)
        return struct.pack("<IIQ", 9, kind, len(one)) + b"".join(items)
    kind, form = _KINDS[type(one)]
    return struct.pack("<I", kind) + struct.pack(form, one)


def gguf(section: dict[str, Any], *, version: int = 3) -> bytes:
    plain = {key if key.startswith("general.") else f"tokenizer.ggml.{key}": one for key, one in section.items()}
    whole = {"general.architecture": "llama", **plain}
    head = b"GGUF" + struct.pack("<IQQ", version, 0, len(whole))
    return head + b"".join(text(key) + value(one) for key, one in whole.items())
