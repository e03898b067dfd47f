"""The methods that learn a vocabulary, by the name a recipe calls them."""

from __future__ import annotations

METHODS = ("bpe",)
