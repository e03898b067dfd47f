"""The translation of the operations in a tokenizer file for a shared page.

A shared page has a script, which splits the texts that its readers type. The operations of a file are its added tokens,
its normalizers and its pre-tokenizers, in this order. If the script cannot do one of them, the page does not split
texts.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from bpe_core.recipes.recipe import Recipe
from bpe_core.sharing.changes import changes_of, form_of, scan_of
from bpe_core.splitting.normalization import normalize
from bpe_core.text.older_unicode import NUMBERS
from bpe_core.text.preparation.expressions import translated
from bpe_core.text.preparation.normalizers import Lowercase, Nmt, Prepend, Replace, StripAccents, UnicodeForm
from bpe_core.text.preparation.pieces import AddedToken, TracedPiece
from bpe_core.text.preparation.pre_tokenizers import GPT2, ByteLevel, Digits, Metaspace, Split, WhitespaceSplit
from bpe_core.text.preparation.steps import Step, is_normalizer, is_pre_tokenizer
from bpe_core.text.scanner import ScanTable, table_of

Operation = dict[str, Any]
BY_CHARACTER = (Lowercase, Nmt, StripAccents)


class UnsupportedOperation(Exception):
    """An error that is raised if the script of a shared web page cannot do an operation of a tokenizer file."""


@lru_cache(maxsize=4)
def operations_of(recipe: Recipe) -> Operation | None:
    """Return the operations that change and split a text, in the form that the script of a shared page reads.

    Return None if the script cannot do one of them.
    """
    steps = recipe.preparation
    try:
        return {
            "tokens": [_token(step, recipe) for step in steps if isinstance(step, AddedToken) and not step.special],
            "changes": [_change(step) for step in steps if is_normalizer(step)],
            "cuts": [cut for step in steps if is_pre_tokenizer(step) for cut in _cuts(step, recipe)],
        }
    except UnsupportedOperation:
        return None


def _token(step: AddedToken, recipe: Recipe) -> Operation:
    if step.single_word or step.lstrip or step.rstrip:
        raise UnsupportedOperation
    text = normalize(step.content, recipe.with_changes(special_tokens=())) if step.normalized else step.content
    return {"text": text, "special": recipe.special_tokens.index(step.content), "later": step.normalized}


def _change(step: Step) -> Operation:
    if isinstance(step, UnicodeForm):
        return {"do": "map", "changes": form_of(step.form)}
    if isinstance(step, BY_CHARACTER):
        return {"do": "map", "changes": changes_of(_alone(step))}
    if isinstance(step, Prepend):
        return {"do": "begin", "text": step.prepend}
    if isinstance(step, Replace) and step.pattern and not step.is_regex:
        return {"do": "replace", "text": step.pattern, "by": step.content}
    raise UnsupportedOperation


def _alone(step: Lowercase | Nmt | StripAccents) -> Callable[[str], str]:
    return lambda text: step.changed(TracedPiece.bare(text)).text if text else ""


def _cuts(step: Step, recipe: Recipe) -> list[Operation]:
    if isinstance(step, Split) and not step.is_regex and step.pattern:
        return [{"do": "at", "text": step.pattern, "behavior": step.behavior, "invert": step.invert}]
    if isinstance(step, Split) and step.behavior == "Isolated":
        return [_scan(table_of(translated(step.pattern), older=True))]
    if isinstance(step, Digits):
        return [_scan(table_of(NUMBERS if step.individual_digits else f"{NUMBERS}+"))]
    if isinstance(step, WhitespaceSplit):
        return [_scan(table_of(r"\S+", drops_blanks=True))]
    if isinstance(step, Metaspace):
        at = {"do": "at", "text": step.replacement, "behavior": "MergedWithNext", "invert": False}
        sign = {"do": "sign", "text": step.replacement, "where": step.prepend_scheme}
        return [sign, at] if step.split else [sign]
    is_last = step is recipe.preparation[-1]  # a later split works on bytes
    if isinstance(step, ByteLevel) and is_last and recipe.base == "bytes":
        begin = [{"do": "begin", "text": " ", "once": True}] if step.add_prefix_space else []
        return begin + ([_scan(table_of(GPT2, older=True))] if step.use_regex else [])
    raise UnsupportedOperation


def _scan(table: ScanTable | None) -> Operation:
    if table is None:
        raise UnsupportedOperation
    return {"do": "scan", "table": scan_of(table)}
