"""All that a recipe's pattern can be called, also what a recipe keeps as an expression of its own."""

from __future__ import annotations

from collections import ChainMap

from bpe_core.text import patterns

NAMED_PATTERNS = ChainMap(patterns.NAMED_PATTERNS, patterns.SPELLED_OUT)
