"""The names of all patterns, including patterns that a recipe stores as a custom expression."""

from __future__ import annotations

from collections import ChainMap

from bpe_core.text import patterns

NAMED_PATTERNS = ChainMap(patterns.NAMED_PATTERNS, patterns.SPELLED_OUT)
