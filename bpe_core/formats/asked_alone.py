"""Another library, given the content of a file, where it needs nothing of the engine: a process begins sooner so."""

from __future__ import annotations

from collections.abc import Callable


def tokenizers_peer(data: bytes) -> Callable[[str], list[int]] | None:
    """tokenizers with a tokenizer.json; None where it is not installed."""
    try:
        import tokenizers  # not needed to run: only asked whether it agrees
    except ImportError:
        return None
    loaded = tokenizers.Tokenizer.from_buffer(data)
    return lambda text: list(loaded.encode(text, add_special_tokens=False).ids)
