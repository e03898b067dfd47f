"""Helpers that write GGUF files with only a tokenizer, field by field as the package of llama.cpp writes them."""

from __future__ import annotations

import struct
from typing import Any

_KINDS = {bool: (7, "<?"), int: (4, "<I"), float: (6, "<f")}


def text(value: str) -> bytes:
    raw = value.encode()
    return struct.pack("<Q", len(raw)) + raw


def value(content: Any) -> bytes:
    if isinstance(content, str):
        return struct.pack("<I", 8) + text(content)
    if isinstance(content, bytes):
        return struct.pack("<IIQ", 9, 1, len(content)) + content
    if isinstance(content, list):
        kind, form = (8, "") if isinstance(content[0], str) else (5, "<i") if isinstance(content[0], int) else (6, "<f")
        items = map(text, content) if not form else (struct.pack(form, item) for item in content)
        return struct.pack("<IIQ", 9, kind, len(content)) + b"".join(items)
    kind, form = _KINDS[type(content)]
    return struct.pack("<I", kind) + struct.pack(form, content)


def gguf(section: dict[str, Any], *, version: int = 3) -> bytes:
    plain = {
        key if key.startswith(("general.", "tokenizer.")) else f"tokenizer.ggml.{key}": content
        for key, content in section.items()
    }
    whole = {"general.architecture": "llama", **plain}
    head = b"GGUF" + struct.pack("<IQQ", version, 0, len(whole))
    return head + b"".join(text(key) + value(content) for key, content in whole.items())
