"""How text becomes words where a file says it in an order of its own: a list of small steps, each a frozen value.

pieces          a stretch of text that knows where each of its characters came from, and the ways to cut it
expressions     expressions as the engine of those files understands them
added_tokens    tokens that are found in a text before anything else is done to it
normalizers     what changes a text as a whole
precompiled     a file's own table of what characters become
pre_tokenizers  what cuts it into words
steps           all of them by their names, to JSON and back

What the choices of a recipe can say is said by them; only what they cannot say is a list of steps.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any


def __getattr__(name: str) -> Any:
    """What `steps` offers to recipes; it is loaded, with all there are, for the first that has any."""
    return getattr(import_module("bpe_core.text.preparation.steps"), name)
