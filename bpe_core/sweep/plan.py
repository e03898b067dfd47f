"""The plan of a sweep, which is read from a TOML file. Every mistake is found before the sweep begins."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from fractions import Fraction
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, Literal, get_args

from bpe_core.errors import BpeError, FormatError, RecipeError
from bpe_core.measures.morphemes import read_morphemes
from bpe_core.recipes.recipe import Recipe
from bpe_core.recipes.ties import TIE_RULES
from bpe_core.support.foreign import report_faults, toml_of
from bpe_core.support.small_files import read_small_file
from bpe_core.text.corpus import Corpus
from bpe_core.text.mixture import Of, Sample, weight_of

EXAMPLE = """\
# What is learned: every recipe on every corpus with every tie rule, from a sample for every seed.
sizes = [300, 400]                      # tokens in the vocabulary: one run serves them all
ties = ["first-seen", "lowest-ids"]     # without this line each recipe has its own tie rule
seeds = [1, 2, 3]                       # each takes another sample
sample = "50%"                          # of the documents; or sample_of = "lines"
sample_of = "lines"

# The texts to measure on: those of the corpus, or other texts. Paths are relative to the folder of this file.
# held_out = ["other.txt"]
interval_over = "lines"                 # intervals by drawing lines (each is measured by itself), or documents
bits = true                             # held-out bits per byte of a small model, too
# morphemes = "words.tsv"               # and agreement with morphemes
# field = "body"                        # where the text is in .jsonl, .csv and .parquet files

[corpora]
book = ["book.txt"]

[recipes.bytes]
preset = "gpt2"

[recipes.words]
preset = "gpt2"
pattern = "english"
"""
Over = Literal["documents", "lines"]

# the choices that the plan makes for all recipes
DECIDED = {"vocab_size": "sizes", "merges": "sizes", "mixture": "sample"}
WHOLE = "whole numbers"
NOT_FILES = "A sweep reads only files and folders, because it must notice changes. {} is neither a file nor a folder."


@dataclass(frozen=True)
class Plan:
    recipes: Mapping[str, Recipe]  # with the largest size; without ties in the plan, each recipe has its tie rule
    corpora: Mapping[str, Sequence[str]]
    sizes: Sequence[int]  # ascending
    ties: Sequence[str] = ()
    seeds: Sequence[int] = ()
    sample: Fraction = field(default=Fraction(1))
    sample_of: Of = "documents"
    held_out: Sequence[str] = ()
    interval_over: Over = "documents"
    bits: bool = False
    morphemes: str = ""  # a list of words with their morphemes
    reading: Mapping[str, Any] = field(default_factory=dict)  # how files are read: field, encoding

    def corpus(self, name: str) -> Corpus:
        return Corpus.from_files(list(self.corpora[name]), **self.reading)

    def measured(self, name: str) -> Corpus:
        return Corpus.from_files(list(self.held_out), **self.reading) if self.held_out else self.corpus(name)

    @property
    def variants(self) -> Iterator[tuple[str, Recipe]]:
        """Yield each recipe with each tie rule of the plan, and the name of the recipe.

        A recipe whose method has no tie rule is yielded once, unchanged.
        """
        for name, recipe in self.recipes.items():
            for ties in (recipe.applies("ties") and self.ties) or [recipe.ties]:
                yield name, _naming_recipe(name, partial(recipe.with_changes, ties=ties))


READING = ("field", "encoding")
KNOWN = {field.name for field in fields(Plan)} - {"reading"} | {*READING}


def read_plan(path: Path | str) -> Plan:
    """Read a plan from a file, and return the checked plan.

    The paths in the plan are relative to the folder of the file.
    """
    document = toml_of(read_small_file(path, "the plan", FormatError), f"The plan {path} is not TOML")
    try:
        with report_faults("The plan cannot be read", RecipeError):
            return checked(plan_of(document, Path(path).parent))
    except BpeError as error:
        error.name_subject(str(path))
        raise


def plan_of(document: Mapping[str, Any], folder: Path) -> Plan:
    unknown = sorted(set(document) - KNOWN)
    if unknown:
        raise RecipeError(f"A plan has no entry named {unknown[0]!r}; its entries are {', '.join(sorted(KNOWN))}.")
    reading = {name: document[name] for name in READING if name in document}
    for name, value in reading.items():
        if not isinstance(value, str):
            raise RecipeError(f"{name} must be text in quotes, not {value!r}.")
    sizes = sorted(set(_list(document, "sizes", int, WHOLE)))
    if not sizes:
        raise RecipeError("The plan lacks vocabulary sizes: write sizes = [1000, 2000].")
    recipes = {name: _recipe(name, choices, sizes) for name, choices in _table(document, "recipes").items()}
    corpora = {name: _files(named_files, name, folder) for name, named_files in _table(document, "corpora").items()}
    return Plan(
        recipes,
        corpora,
        sizes,
        _list(document, "ties", str, "texts"),
        _list(document, "seeds", int, WHOLE),
        _share(document.get("sample", "100%")),
        document.get("sample_of", "documents"),
        _files(document["held_out"], "held_out", folder) if "held_out" in document else (),
        document.get("interval_over", "documents"),
        document.get("bits", False),
        _files(document["morphemes"], "morphemes", folder)[0] if "morphemes" in document else "",
        reading,
    )


def checked(plan: Plan) -> Plan:
    """Check that all runs of a plan can begin. Return the plan.

    If the texts consist of named symbols, the returned plan also has the names of all symbols in the texts. Every
    recipe is checked at every size and with every tie rule, and every file is checked.
    """
    if len(plan.seeds) > 1 and plan.sample == 1:
        raise RecipeError('Several seeds need a sample: write its size, such as sample = "50%", or give one seed.')
    if plan.interval_over not in get_args(Over):
        raise RecipeError(f"interval_over must be documents or lines, not {plan.interval_over!r}.")
    if not isinstance(plan.bits, bool):
        raise RecipeError("bits must be true or false.")
    for ties in plan.ties:
        if ties not in TIE_RULES:
            raise RecipeError(f"There is no tie rule {ties!r}; the tie rules are {', '.join(TIE_RULES)}.")
    plan = _with_names(plan)
    for seed in plan.seeds or [0]:
        Sample(None, plan.sample, plan.sample_of, seed)
    list(plan.variants)  # raises an error if a variant is impossible
    for corpus in plan.corpora:
        plan.corpus(corpus)
    if plan.held_out:
        plan.measured("")
    if plan.morphemes:
        read_morphemes(plan.morphemes)
    return plan


def _with_names(plan: Plan) -> Plan:
    """Add the names of all symbols in the texts to a plan, if its recipes use named symbols. Return the plan."""
    kinds = {recipe.base_symbols == "lines" for recipe in plan.recipes.values()}
    if len(kinds) > 1:
        raise RecipeError("Some recipes of the plan are for named symbols, and some are not. Write two plans.")
    if kinds == {False}:
        return plan
    reading = {**plan.reading, "symbol_names": ()}
    files = list(dict.fromkeys(chain(*plan.corpora.values(), plan.held_out)))
    names = Corpus.from_files(files, **reading).names_of_symbols()
    recipes = {name: recipe.with_changes(symbol_names=names) for name, recipe in plan.recipes.items()}
    return replace(plan, recipes=recipes, reading=reading | {"symbol_names": names})


def _recipe(name: str, written: Any, sizes: Sequence[int]) -> Recipe:
    if not isinstance(written, dict):
        raise RecipeError(f"The recipe {name!r} must be a table of choices, such as [recipes.{name}].")
    for choice, instead in DECIDED.items():
        if choice in written:
            raise RecipeError(f"The recipe {name!r} cannot set {choice}: the plan's {instead} sets it for all recipes.")
    changes = {choice: tuple(value) if isinstance(value, list) else value for choice, value in written.items()}
    preset = changes.pop("preset", "gpt2")

    def made(size: int) -> Recipe:
        if not isinstance(preset, str):
            raise RecipeError("preset must be the name of a preset, as text.")
        return Recipe.preset(preset, **changes, vocab_size=size).with_changes(name=name)

    _naming_recipe(name, lambda: made(sizes[0]))
    return _naming_recipe(name, lambda: made(sizes[-1]))


def _naming_recipe(name: str, made: Callable[[], Recipe]) -> Recipe:
    try:
        return made()
    except BpeError as error:
        raise RecipeError(f"The recipe {name!r}: {error}") from error
    except TypeError as error:
        raise RecipeError(f"The recipe {name!r} has a value of the wrong kind.") from error


def _table(document: Mapping[str, Any], name: str) -> dict[str, Any]:
    table = document.get(name)
    if not isinstance(table, dict) or not table:
        example = 'book = ["book.txt"]' if name == "corpora" else 'bytes = {preset = "gpt2"}'
        raise RecipeError(f"A plan needs at least one entry in [{name}], such as {example}.")
    return table


def _files(written: Any, name: str, folder: Path) -> list[str]:
    paths = [written] if isinstance(written, str) else written
    if not isinstance(paths, list) or not paths or not all(isinstance(path, str) for path in paths):
        raise RecipeError(f"{name} must be a list of files and folders.")
    for path in paths:
        if "://" in path or path == "-":
            raise RecipeError(NOT_FILES.format(path))
    return [str(folder / path) for path in paths]


def _list(document: Mapping[str, Any], name: str, kind: type, what: str) -> list[Any]:
    values = document.get(name, [])
    if not isinstance(values, list) or not all(type(value) is kind for value in values):
        raise RecipeError(f"{name} must be a list of {what}.")
    return values


def _share(written: Any) -> Fraction:
    if not isinstance(written, str):
        raise RecipeError(f'sample must be a text such as "50%", not {written!r}.')
    return weight_of(written)


OF_ONE_RUN = ("vocab_size", "merges", "mixture", "interventions", "grown_from", "name")
PLAIN_KEY = re.compile(r"[A-Za-z0-9_-]+")


def recipe_choices(recipe: Recipe) -> dict[str, Any]:
    """Return the choices of a recipe that may be written in a plan. Choices for a single run are left out."""
    choices = recipe.to_dict()
    return {name: value for name, value in choices.items() if name not in OF_ONE_RUN and value is not None}


def plan_text(document: Mapping[str, Any]) -> str:
    tables = ("corpora", "recipes")
    lines = [f"{name} = {_value(value)}" for name, value in document.items() if name not in tables]
    lines += ["", "[corpora]", *(f"{_key(name)} = {_value(files)}" for name, files in document["corpora"].items())]
    for name, choices in document["recipes"].items():
        lines += ["", f"[recipes.{_text(name)}]", *(f"{choice} = {_value(of)}" for choice, of in choices.items())]
    return "\n".join(lines) + "\n"


def _value(value: Any) -> str:
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{_key(name)} = {_value(of)}' for name, of in value.items())}}}"
    return _text(value)


def _key(name: str) -> str:
    return name if PLAIN_KEY.fullmatch(name) else _text(name)


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
