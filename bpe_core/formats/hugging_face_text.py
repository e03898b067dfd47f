"""How a Hugging Face tokenizer changes and splits a text, written from the choices of a recipe and its steps."""

from __future__ import annotations

import re

from bpe_core.formats.checked_json import Object
from bpe_core.formats.named_expressions import oniguruma_expression_of
from bpe_core.recipe import Recipe
from bpe_core.text.preparation.normalizers import BytesShown, Prepend, Replace
from bpe_core.text.preparation.pre_tokenizers import ByteLevel, Metaspace
from bpe_core.text.preparation.steps import Step, as_json, is_normalizer, is_pre_tokenizer

PUNCTUATION = r"[!-/:-@\[-`{-~]"
LINES = r"[^\n]*\n|[^\n]+"
BLANKS = r"\s+"
MOST_STEPS = 100


def normalizer_of(recipe: Recipe) -> Object | None:
    steps = [_written(step) for step in recipe.preparation if is_normalizer(step)]
    if recipe.clean_text and recipe.unicode_form:  # cleaned first
        steps.append(_bert_normalizer(clean_text=True))
    if recipe.unicode_form:
        steps.append({"type": recipe.unicode_form})
    if recipe.clean_text or recipe.strip_accents or recipe.pattern == "bert":
        steps.append(
            _bert_normalizer(
                clean_text=recipe.clean_text and not recipe.unicode_form,
                handle_chinese_chars=recipe.pattern == "bert",
                strip_accents=recipe.strip_accents,
                lowercase=recipe.lowercase,
            )
        )
    elif recipe.lowercase:
        steps.append({"type": "Lowercase"})
    if recipe.strip_ascii_punctuation:
        steps.append(_removal(PUNCTUATION))
    if recipe.strip_marks:
        steps.append(_removal(_any_of(recipe.strip_marks)))
    return _sequence(steps, "normalizers")


def _written(step: Step) -> Object:
    if isinstance(step, BytesShown):
        return {"type": "ByteLevel"}
    return as_json(step) | ({"trim_offsets": True} if isinstance(step, ByteLevel) else {})


def _bert_normalizer(**chosen: bool) -> Object:
    names = ("clean_text", "handle_chinese_chars", "strip_accents", "lowercase")
    return {"type": "BertNormalizer", **{name: chosen.get(name, False) for name in names}}


def _removal(expression: str) -> Object:
    return {"type": "Replace", "pattern": {"Regex": expression}, "content": ""}


def _any_of(marks: str) -> str:
    return "(?:" + "|".join(map(re.escape, marks)) + ")"


def pre_tokenizer_of(recipe: Recipe) -> Object | None:
    steps = [_written(step) for step in recipe.preparation if is_pre_tokenizer(step)]
    if recipe.unit == "line":
        steps.append(_split(LINES, "Isolated"))
    if recipe.pattern == "whitespace":
        steps.append(_split(BLANKS, "Removed"))
    elif recipe.pattern == "bert":
        steps.append({"type": "BertPreTokenizer"})
    elif recipe.pattern != "none":
        steps.append(_split(oniguruma_expression_of(recipe), "Isolated"))
    if recipe.base == "bytes" and not any(isinstance(step, BytesShown | ByteLevel) for step in recipe.preparation):
        steps.append({"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False})
    if recipe.marker == "prefix":
        replacement = recipe.marker_text
        steps.append({"type": "Metaspace", "replacement": replacement, "prepend_scheme": "always", "split": False})
    return _sequence(steps, "pretokenizers")


def _split(expression: str, behavior: str) -> Object:
    return {"type": "Split", "pattern": {"Regex": expression}, "behavior": behavior, "invert": False}


def marks_in(expression: str) -> str:
    """The marks of an expression that `_any_of` wrote; empty for any other."""
    if not (expression.startswith("(?:") and expression.endswith(")")):
        return ""
    marks = re.sub(r"\\(.)", r"\1", expression[3:-1], flags=re.DOTALL)[::2]
    return marks if _any_of(marks) == expression else ""


def _sequence(steps: list[Object], key: str) -> Object | None:
    if len(steps) > 1:
        return {"type": "Sequence", key: steps}
    return steps[0] if steps else None


def decoder_of(recipe: Recipe) -> Object:
    if recipe.base == "bytes":
        return {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True}
    if recipe.marker == "glued":
        return {"type": "BPEDecoder", "suffix": recipe.marker_text}
    if recipe.method == "wordpiece":
        return {"type": "WordPiece", "prefix": recipe.marker_text, "cleanup": False}
    steps: list[Object] = []
    sign = recipe.marker_text if recipe.marker == "prefix" else blank_sign(recipe.preparation)
    if sign:
        steps.append({"type": "Replace", "pattern": {"String": sign}, "content": " "})
    if recipe.unknown == "bytes":
        steps.append({"type": "ByteFallback"})
    steps.append({"type": "Fuse"})
    if sign and begins_with_blank(recipe):
        steps.append({"type": "Strip", "content": " ", "start": 1, "stop": 0})
    return _sequence(steps, "decoders") or {"type": "Fuse"}


def blank_sign(steps: tuple[Step, ...]) -> str:
    """What blanks become by some steps."""
    for step in steps:
        if isinstance(step, Metaspace):
            return step.replacement
        if isinstance(step, Replace) and step.pattern == " " and len(step.content) == 1:
            return step.content
    return ""


def begins_with_blank(recipe: Recipe) -> bool:
    """Whether a text gets a blank before it that is none of its own."""
    return recipe.marker == "prefix" or any(
        isinstance(step, Prepend) or (isinstance(step, Metaspace) and step.prepend_scheme != "never")
        for step in recipe.preparation
    )
