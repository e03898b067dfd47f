"""How a Hugging Face tokenizer changes and splits a text, as the choices of a recipe, and back."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from bpe_core.errors import FormatError
from bpe_core.formats.checked_json import Object, list_in, object_in, text_in, whole_text
from bpe_core.formats.named_expressions import oniguruma_expression_of, pattern_choices
from bpe_core.recipe import Recipe
from bpe_core.text.patterns import NAMED_PATTERNS

PUNCTUATION = r"[!-/:-@\[-`{-~]"
LINES = r"[^\n]*\n|[^\n]+"
BLANKS = r"\s+"
SEVERAL_BLANKS = (" {2,}", r"\s+", r"\s{2,}")
MOST_STEPS = 100


# --- Writing ----------------------------------------------------------------------------


def normalizer_of(recipe: Recipe) -> Object | None:
    steps: list[Object] = []
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


def _bert_normalizer(**chosen: bool) -> Object:
    names = ("clean_text", "handle_chinese_chars", "strip_accents", "lowercase")
    return {"type": "BertNormalizer", **{name: chosen.get(name, False) for name in names}}


def _removal(expression: str) -> Object:
    return {"type": "Replace", "pattern": {"Regex": expression}, "content": ""}


def _any_of(marks: str) -> str:
    return "(?:" + "|".join(map(re.escape, marks)) + ")"


def pre_tokenizer_of(recipe: Recipe) -> Object | None:
    steps: list[Object] = []
    if recipe.unit == "line":
        steps.append(_split(LINES, "Isolated"))
    if recipe.pattern == "whitespace":
        steps.append(_split(BLANKS, "Removed"))
    elif recipe.pattern == "bert":
        steps.append({"type": "BertPreTokenizer"})
    elif recipe.pattern != "none":
        steps.append(_split(oniguruma_expression_of(recipe), "Isolated"))
    if recipe.base == "bytes":
        steps.append({"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False})
    if recipe.marker == "prefix":
        replacement = recipe.marker_text
        steps.append({"type": "Metaspace", "replacement": replacement, "prepend_scheme": "always", "split": False})
    return _sequence(steps, "pretokenizers")


def _split(expression: str, behavior: str) -> Object:
    return {"type": "Split", "pattern": {"Regex": expression}, "behavior": behavior, "invert": False}


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
    if recipe.marker == "prefix":
        steps.append({"type": "Replace", "pattern": {"String": recipe.marker_text}, "content": " "})
    if recipe.unknown == "bytes":
        steps.append({"type": "ByteFallback"})
    steps.append({"type": "Fuse"})
    if recipe.marker == "prefix":
        steps.append({"type": "Strip", "content": " ", "start": 1, "stop": 0})
    return _sequence(steps, "decoders") or {"type": "Fuse"}


# --- Reading ----------------------------------------------------------------------------


@dataclass
class TextPreparation:
    """What was understood of a file's normalizer and pre-tokenizer."""

    choices: dict[str, Any] = field(default_factory=lambda: {"pattern": "none"})  # of the recipe
    byte_level: bool = False
    prefix: str = ""  # the marker before each word
    chinese_apart: bool = False  # blanks around Chinese characters
    changes_blanks: str = ""  # a step that matters only where blanks belong to words
    notes: list[str] = field(default_factory=list)


def read_steps(whole: Object, name: str) -> TextPreparation:
    """The recipe's choices for how the file changes and splits a text."""
    found = TextPreparation()
    normalizers = list(_flat(object_in(whole, "normalizer", name), "normalizers", name))
    if any(step.get("type") == "NFD" for step in normalizers):
        normalizers = _without_accents(normalizers, found)
    for step in normalizers:
        _read_normalizer(step, found, name)
    for step in _flat(object_in(whole, "pre_tokenizer", name), "pretokenizers", name):
        _read_pre_tokenizer(step, found, name)
    _check_chinese(found)
    if (
        found.changes_blanks
        and not NAMED_PATTERNS.get(found.choices["pattern"], NAMED_PATTERNS["none"]).drops_whitespace
    ):
        found.notes.append(f"The file changes text by a step this program does not have: {found.changes_blanks}.")
    return found


def _without_accents(steps: list[Object], found: TextPreparation) -> list[Object]:
    """NFD and StripAccents behind it, which together leave out accents; the steps that are left."""
    kinds = [step.get("type") for step in steps]
    if "StripAccents" not in kinds[kinds.index("NFD") :]:
        return steps
    found.choices["strip_accents"] = True
    found.notes.append("The file also leaves out marks with a place of their own, such as vowel signs of India.")
    return [step for step in steps if step.get("type") not in ("NFD", "StripAccents")]


def _check_chinese(found: TextPreparation) -> None:
    by_pattern = found.choices["pattern"] == "bert"
    if by_pattern and not found.chinese_apart:
        found.notes.append("The file leaves Chinese characters side by side in one word; here each is a word.")
    if found.chinese_apart and not by_pattern:
        found.notes.append("The file puts blanks around Chinese characters; here they stay beside their neighbours.")


def _flat(step: Object, key: str, name: str) -> Iterator[Object]:
    """The steps one by one, however their sequences are nested."""
    waiting = [step] if step else []
    taken = 0
    while waiting:
        one = waiting.pop(0)
        taken += 1
        if not isinstance(one, dict) or taken > MOST_STEPS:
            raise FormatError(f'{name}: "{key}" must be a list of at most {MOST_STEPS} objects.')
        if one.get("type") == "Sequence":
            waiting = list_in(one, key, name) + waiting
        else:
            yield one


def _read_normalizer(step: Object, found: TextPreparation, name: str) -> None:
    kind = text_in(step, "type", name)
    expression = _expression(step, name)
    if kind in ("NFC", "NFKC") and "unicode_form" not in found.choices:
        found.choices["unicode_form"] = kind
    elif kind == "Lowercase":
        found.choices |= {"lowercase": True, "final_sigma": False}
    elif kind == "BertNormalizer":
        _read_bert_normalizer(step, found, name)
    elif kind == "Replace" and step.get("content") == "" and expression == PUNCTUATION:
        found.choices["strip_ascii_punctuation"] = True
    elif kind == "Replace" and step.get("content") == "" and (marks := _marks_in(expression)):
        found.choices["strip_marks"] = marks
    elif (kind == "Replace" and step.get("content") == " " and expression in SEVERAL_BLANKS) or kind == "Strip":
        found.changes_blanks = kind
    elif kind == "Prepend" or (kind == "Replace" and step.get("content") == "▁"):
        _use_prefix(found, "▁")
    else:
        found.notes.append(f"The file changes text by a step this program does not have: {kind or 'unnamed'}.")


def _read_bert_normalizer(step: Object, found: TextPreparation, name: str) -> None:
    """Accents go with capitals where nothing is said of them."""
    said = {key: step.get(key) for key in ("clean_text", "handle_chinese_chars", "strip_accents", "lowercase")}
    for key, value in said.items():
        if value is not None and not isinstance(value, bool):
            raise FormatError(f'{name}: "{key}" must be true, false or null.')
    accents = said["lowercase"] if said["strip_accents"] is None else said["strip_accents"]
    found.chinese_apart |= said["handle_chinese_chars"] is True
    found.choices |= {"clean_text": True} if said["clean_text"] else {}
    found.choices |= {"strip_accents": True} if accents else {}
    found.choices |= {"lowercase": True, "final_sigma": False} if said["lowercase"] else {}


def _marks_in(expression: str) -> str:
    """The marks of an expression that `_any_of` wrote; empty for any other."""
    if not (expression.startswith("(?:") and expression.endswith(")")):
        return ""
    marks = re.sub(r"\\(.)", r"\1", expression[3:-1], flags=re.DOTALL)[::2]
    return marks if _any_of(marks) == expression else ""


def _read_pre_tokenizer(step: Object, found: TextPreparation, name: str) -> None:
    kind = text_in(step, "type", name)
    if kind == "ByteLevel":
        found.byte_level = True
        if step.get("add_prefix_space"):
            found.notes.append("The file puts a blank before a text that begins with none; here that is left to you.")
        if step.get("use_regex", True):
            _use_pattern(found, {"pattern": "gpt2"}, "ByteLevel")
    elif kind == "Split":
        _read_split(step, found, name)
    elif kind == "BertPreTokenizer":
        _use_pattern(found, {"pattern": "bert"}, kind)
    elif kind in ("WhitespaceSplit", "Whitespace"):
        _use_pattern(found, {"pattern": "whitespace"}, kind)
        if kind == "Whitespace":
            found.notes.append("The file splits by Whitespace, which also cuts at punctuation; here only blanks cut.")
    elif kind == "Metaspace":
        _use_prefix(found, text_in(step, "replacement", name) or "▁")
        _note_prefix(step, found, name)
    else:
        found.notes.append(f"The file splits text by a step this program does not have: {kind or 'unnamed'}.")


def _use_prefix(found: TextPreparation, marker: str) -> None:
    if found.choices["pattern"] == "none":
        found.choices["pattern"] = "whitespace"
        if not found.prefix:
            found.notes.append(
                "The file keeps each of several blanks and all line breaks; here blanks only part words."
            )
    found.prefix = marker


def _note_prefix(step: Object, found: TextPreparation, name: str) -> None:
    """Where the file puts no marker, though here every word has one."""
    scheme = text_in(step, "prepend_scheme", name)
    if scheme == "never" or (not scheme and step.get("add_prefix_space") is False):
        found.notes.append(f"The file puts no {found.prefix} before the first word of a text; here each word has one.")
    elif scheme == "first":
        found.notes.append(
            f"The file puts no {found.prefix} before a word that follows a special token without a blank; here it does."
        )


def _read_split(step: Object, found: TextPreparation, name: str) -> None:
    expression, behavior = _expression(step, name), text_in(step, "behavior", name)
    inverted = step.get("invert") is True
    if expression == LINES and behavior == "Isolated":
        found.choices["unit"] = "line"
    elif expression == BLANKS and behavior == "Removed":
        _use_pattern(found, {"pattern": "whitespace"}, "Split")
    elif behavior in ("Isolated", "Removed") and (behavior == "Isolated" or inverted):
        choices, notes = pattern_choices(expression)
        found.notes += notes
        if behavior == "Removed" and choices["pattern"] == "custom":
            found.notes.append("The file drops what its pattern does not match; here it is kept as words of its own.")
        _use_pattern(found, choices, "Split")
    else:
        found.notes.append(f"The file splits text in a way this program does not have: Split, {behavior or 'unnamed'}.")


def _use_pattern(found: TextPreparation, choices: dict[str, Any], step: str) -> None:
    if found.choices["pattern"] == "none":
        found.choices |= choices
    elif found.choices["pattern"] != choices["pattern"] or found.choices.get("custom_pattern") != choices.get(
        "custom_pattern"
    ):
        found.notes.append(f"The file splits each word again ({step}); here only its first pattern splits.")


def _expression(step: Object, name: str) -> str:
    pattern = step.get("pattern")
    if not isinstance(pattern, dict):
        return ""
    if "Regex" in pattern:
        return whole_text(pattern["Regex"], f"{name}: a regular expression")
    return re.escape(whole_text(pattern.get("String", ""), f"{name}: a pattern"))
