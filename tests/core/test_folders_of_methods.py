"""The code of a method must be in one folder: no other module names the method or imports from its folder.

Other modules use the method object that a recipe names. So a new method is added as one folder.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from bpe_core import methods
from bpe_core.methods.registry import METHODS
from bpe_core.recipes.recipe import COMMON, Recipe
from tests.core.test_arrows import imports_of, is_in, modules

HOUSES = {path.parent.name for path in Path(methods.__path__[0]).glob("*/__init__.py")} - {"kit"}
SPELLED = {name for name in METHODS.own if name in HOUSES}
AS_A_WORD = re.compile(rf"\b({'|'.join(sorted(HOUSES))})\b")
# Modules that use the name of a method as another word.
FOREIGN = {
    "bpe_core.formats.gguf_known_ids": {"superbpe"},  # llama.cpp calls a pattern by this name
    "bpe_core.formats.gguf_patterns": {"superbpe"},  # llama.cpp calls a pattern by this name
    "bpe_core.support.former_names": {"bpe"},  # older plug-ins import this name
    "app.window.console.wiring": {"bpe"},  # what the engine is called in every console
    "bpe_core.questions.floor": {"best"},  # a column: the best vocabulary that was found
    "bpe_core.command_line.commands.verify": {"best"},  # the same column of a certificate
    "bpe_core.questions.benchmark": {"parity"},  # the usual word for equal costs of languages
}
# The first word of each title, if it is a name.
TITLES = {re.split(r"\W", METHODS[name].title)[0] for name in SPELLED} - {"Byte", "Best"}
# Choices of a recipe that only one method has. Choices of several methods are in the kit.
OWN_CHOICES = {choice for name in SPELLED for choice in METHODS[name].own_choices}
RECIPES = ("recipe", "own", "Recipe", "preset", "with_changes", "recipe_from", "recipe_of")
# Modules that use the name of a choice as another word.
FOREIGN_CHOICES = {
    "bpe_core.kernels.learn_state": {"most_words"},  # how many words a learner has room for
}
# Where names and houses are still known; these must become fewer.
STILL_ALLOWED: tuple[str, ...] = ()


def method_folders_used(source: str) -> Iterator[str]:
    """Yield each method folder that a source file imports from, or names in a string."""
    named = {text for text in texts_in(source) if text.startswith("bpe_core.")}
    for module in sorted(imports_of(source) | named):
        yield from (house for house in HOUSES if is_in(module, f"bpe_core.methods.{house}"))


def texts_in(source: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def known_methods(module: str, source: str) -> set[str]:
    """Return the methods that a module names, or whose folder it imports."""
    if not AS_A_WORD.search(source):  # as in most modules, which need not be parsed
        return set()
    known = SPELLED.intersection(texts_in(source)) | {*method_folders_used(source)}
    return known - FOREIGN.get(module, set())


def sources() -> Iterator[tuple[str, str]]:
    for module, path in modules():
        if not any(is_in(module, f"bpe_core.methods.{house}") for house in HOUSES):
            yield module, path.read_text(encoding="utf-8")


def known_choices(module: str, source: str) -> set[str]:
    """Return the method-specific choices that a module reads from a recipe, sets in a recipe, or names."""
    known: set[str] = set()
    if not any(choice in source for choice in OWN_CHOICES):  # a source without a match is not parsed
        return known
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            known.add(node.value)
        elif isinstance(node, ast.Attribute) and last_name(node.value).lstrip("_") in RECIPES:
            known.add(node.attr)
        elif isinstance(node, ast.Call) and last_name(node.func) in RECIPES:
            known |= {keyword.arg for keyword in node.keywords if keyword.arg}
    return known & OWN_CHOICES - FOREIGN_CHOICES.get(module, set())


def last_name(node: ast.expr) -> str:
    """Return the last part of a dotted name."""
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def test_the_recipe_choices_of_a_method_are_used_only_in_the_folder_of_the_method() -> None:
    assert {"wordpiece_rule", "tau", "words_by"} <= OWN_CHOICES
    outside = [(module, source) for module, source in sources() if not is_in(module, "bpe_core.methods.kit")]
    known = {module: known_choices(module, source) for module, source in outside}
    assert {module: choices for module, choices in known.items() if choices} == {}


def test_each_common_recipe_choice_is_used_by_several_methods() -> None:
    methods = [METHODS[name] for name in METHODS.own]
    only_some = {
        "whole_characters": {method.name for method in methods if method.keeps_characters},
        "interventions": {method.name for method in methods if method.can_be_steered},
        "grown_from": {method.name for method in methods if method.can_be_steered},
    }
    for choice in COMMON:
        obey = {method.name for method in methods if choice not in method.ignores and choice not in method.needs}
        assert len(obey & only_some.get(choice, obey)) >= (1 if choice in ("base", "marker") else 3), choice


def test_a_default_recipe_file_contains_at_most_twenty_common_options() -> None:
    usual = {name for name, declared in COMMON.items() if not declared.goes_without_saying}
    assert set(Recipe().to_dict()) == usual
    assert len(usual) <= 20


@pytest.mark.parametrize(
    "source",
    [
        "if history.recipe.tau is None: pass",
        "Recipe(words_by='gpt2')",
        "choices = {'longest_word': 3}",
        "lasts = self._recipe.seed_size",
        "recipe = recipe.with_changes(wordpiece_rule=rule)",
    ],
)
def test_the_check_of_method_folders_reports_a_method_option_used_outside_its_folder(source: str) -> None:
    assert known_choices("bpe_core.formats.base", source) != set()


def test_no_method_is_named_in_code_outside_the_method_folders() -> None:
    known = {module: known_methods(module, source) for module, source in sources()}
    ours = {module: names for module, names in known.items() if names}
    assert {module: names for module, names in ours.items() if not is_allowed(module)} == {}
    assert [place for place in STILL_ALLOWED if not any(is_in(module, place) for module in ours)] == []


def is_allowed(module: str) -> bool:
    return any(is_in(module, place) for place in STILL_ALLOWED)


def titles_shown(source: str) -> set[str]:
    """Return the titles of methods that occur in the texts of a source. Docstrings do not count."""
    if not any(title in source for title in TITLES):  # a source without a match is not parsed
        return set()
    tree = ast.parse(source)
    bodies = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    docstrings = {ast.get_docstring(node, clean=False) for node in ast.walk(tree) if isinstance(node, bodies)}
    texts = [text for text in texts_in(source) if text not in docstrings]
    return {title for title in TITLES for text in texts if re.search(rf"\b{title}\b", text)}


def test_the_window_shows_the_titles_that_the_methods_define() -> None:
    window = {module: source for module, source in sources() if is_in(module, "app")}
    assert {module: titles for module in window if (titles := titles_shown(window[module]))} == {}
    assert titles_shown('"""A page for Unigram."""\nTITLE = "The blocks of Gage\'s compressor"') == {"Gage"}


@pytest.mark.parametrize(
    "source",
    [
        "if recipe.method == 'unigram': pass",
        "TITLES = {'gage': 'a compressor'}",
        "def open():\n    from bpe_core.methods.wordpiece.learn import REASONS",
        "import bpe_core.methods.boundless",
        "import_module('bpe_core.methods.best.learn')",
    ],
)
def test_the_check_of_method_names_reports_a_method_name_outside_the_folder_of_the_method(source: str) -> None:
    assert known_methods("bpe_core.formats.base", source) != set()


def test_the_check_of_method_names_ignores_words_that_only_contain_a_method_name() -> None:
    source = '"""BPE beside bpe."""\nfrom bpe_core.methods.kit.method import Method\nENDING = ".bpe"'
    assert known_methods("bpe_core.formats.base", source) == set()
