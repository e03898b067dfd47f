"""The caption of an answer in a paper. It names the question, the recipes and the version of the program."""

from __future__ import annotations

from collections.abc import Mapping

from bpe_core.history.history import History
from bpe_core.methods.registry import METHODS
from bpe_core.studies.study import Study
from bpe_core.support.version import program_version


def caption_of(question: str, about: Study | Mapping[str, Study] | None) -> str:
    """Return the caption of an answer: the question, the recipe of each tokenizer with its tie rule, and the version.

    `about` is the study, or the studies by their names, that the question is about.
    """
    studies: Mapping[str, Study] = {}
    if isinstance(about, Mapping):
        studies = about
    elif about is not None:
        studies = {"": about}
    recipes = [
        f"{name}: {_recipe(study.history)}" if name else _recipe(study.history) for name, study in studies.items()
    ]
    return " ".join(f"{part}." for part in (question, *recipes, f"BPE Explorer {program_version()}"))


def _recipe(history: History) -> str:
    recipe = history.recipe
    parts = [METHODS[recipe.method].title, f"{history.vocabulary_size_at(len(history)):,} tokens"]
    parts += [f"pattern {recipe.pattern}", f"minimum frequency {recipe.min_frequency:,}"]
    parts += [f"ties {recipe.ties}"] if recipe.applies("ties") else []
    return ", ".join(parts)
