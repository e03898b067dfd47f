"""The sentences that say why two tokens cannot be neighbours inside a word."""

from __future__ import annotations

from collections.abc import Callable

# Takes two tokens. Returns the beginning of a sentence that says why they cannot be neighbours in one word.
# The sentence is empty if they can be neighbours, or if it is not known.
Apart = Callable[[int, int], str]

TAKEN_APART = "Inside a word one of the two is split into other tokens"
