"""A plan as the text of a TOML file, for whoever puts it together by hand or in a dialog.

>>> print(plan_text({"sizes": [300], "corpora": {"a b": ["x.txt"]}, "recipes": {"one": {"preset": "gpt2"}}}), end="")
sizes = [300]
<BLANKLINE>
[corpora]
"a b" = ["x.txt"]
<BLANKLINE>
[recipes."one"]
preset = "gpt2"
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from bpe_core.recipe import Recipe

OF_ONE_RUN = ("vocab_size", "merges", "mixture", "interventions", "grown_from", "name")
PLAIN_KEY = re.compile(r"[A-Za-z0-9_-]+")


def recipe_choices(recipe: Recipe) -> dict[str, Any]:
    """What a plan says of a recipe: all its choices, but for those that belong to one run."""
    told = recipe.to_dict()
    return {name: value for name, value in told.items() if name not in OF_ONE_RUN and value is not None}


def plan_text(told: Mapping[str, Any]) -> str:
    """`told` is what reading the text gives back."""
    tables = ("corpora", "recipes")
    lines = [f"{name} = {_value(value)}" for name, value in told.items() if name not in tables]
    lines += ["", "[corpora]", *(f"{_key(name)} = {_value(files)}" for name, files in told["corpora"].items())]
    for name, choices in told["recipes"].items():
        lines += ["", f"[recipes.{_text(name)}]", *(f"{choice} = {_value(of)}" for choice, of in choices.items())]
    return "\n".join(lines) + "\n"


def _value(value: Any) -> str:
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{_key(name)} = {_value(of)}' for name, of in value.items())}}}"
    return repr(value)


def _key(name: str) -> str:
    return name if PLAIN_KEY.fullmatch(name) else _text(name)


def _text(text: str) -> str:
    """As JSON writes it, which TOML reads, but for one sign."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
