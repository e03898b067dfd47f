"""The command `bpe-explorer presets`. It lists all presets with an explanation, or prints one preset in full."""

from __future__ import annotations

import argparse
import json

from bpe_core.recipes.presets import PRESETS
from bpe_core.recipes.recipe import Recipe

examples = """\
examples:
  bpe-explorer presets
      List all presets, each with a line that says what it is for.

  bpe-explorer presets clean-words > mine.json
      Print every choice of one preset. Edit the file, then `train book.txt --recipe mine.json`.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", nargs="?", choices=PRESETS, metavar="NAME", help="print this recipe as JSON")
    parser.add_argument("--json", action="store_true", help="print all recipes as one JSON object")


def run(options: argparse.Namespace) -> int:
    if options.name:
        print(Recipe.preset(options.name).to_json())
    elif options.json:
        print(json.dumps({name: _in_full(name) for name in PRESETS}, ensure_ascii=False, indent=1))
    else:
        width = max(map(len, PRESETS))
        for name, preset in PRESETS.items():
            print(f"{name:<{width}}  {preset.explanation}")
    return 0


def _in_full(name: str) -> dict[str, object]:
    return {"explanation": PRESETS[name].explanation, "recipe": Recipe.preset(name).to_dict()}
