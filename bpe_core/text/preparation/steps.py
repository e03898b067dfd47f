"""All steps by the names that Hugging Face's tokenizers give them, from JSON and to JSON.

>>> step = read_step({"type": "Split", "pattern": {"String": "-"}, "behavior": "Isolated", "invert": False})
>>> step.words, as_json(step)["behavior"]
('Cut at “-”, which stand alone.', 'Isolated')
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping
from typing import Any

from bpe_core.errors import BpeError, RecipeError
from bpe_core.text.preparation.added_tokens import AddedToken
from bpe_core.text.preparation.expressions import Expression
from bpe_core.text.preparation.normalizers import (
    BertNormalizer,
    BytesShown,
    Lowercase,
    Nmt,
    Prepend,
    Replace,
    Strip,
    StripAccents,
    UnicodeForm,
)
from bpe_core.text.preparation.pieces import BEHAVIORS
from bpe_core.text.preparation.pre_tokenizers import (
    BertPreTokenizer,
    ByteLevel,
    CharDelimiterSplit,
    Digits,
    FixedLength,
    Metaspace,
    Punctuation,
    Split,
    Whitespace,
    WhitespaceSplit,
)
from bpe_core.text.preparation.precompiled import LARGEST, Precompiled
from bpe_core.text.unicode_forms import FORMS

Normalizer = (
    UnicodeForm | Lowercase | StripAccents | Strip | Prepend | Replace | Nmt | Precompiled | BytesShown | BertNormalizer
)
PreTokenizer = (
    Split | Digits | Punctuation | Whitespace | WhitespaceSplit | CharDelimiterSplit | BertPreTokenizer | FixedLength
    | Metaspace | ByteLevel
)  # fmt: skip
Step = AddedToken | Normalizer | PreTokenizer

_PLAIN: dict[str, type[Step]] = {
    kind.__name__: kind
    for kind in (AddedToken, Lowercase, StripAccents, Strip, Prepend, Replace, Nmt, Precompiled, BertNormalizer, Split,
                 Digits, Punctuation, Whitespace, WhitespaceSplit, CharDelimiterSplit, BertPreTokenizer, FixedLength,
                 Metaspace, ByteLevel)
}  # fmt: skip
_AMONG = {"behavior": BEHAVIORS, "prepend_scheme": ("always", "first", "never")}
_BEHAVIORS = {name.lower(): name for name in BEHAVIORS}
MOST_STEPS = 100_000  # added tokens are steps, too
LONGEST_TEXT = 100_000  # characters of a pattern
LONGEST_LENGTH = 1_000_000


def is_known(values: Mapping[str, Any]) -> bool:
    """Whether there is a step of the type that a JSON object says."""
    return values.get("type") in (*FORMS, BytesShown.__name__, *_PLAIN)


def read_step(values: object) -> Step:
    """The step that a JSON object says; a RecipeError for what is none, or says nothing that can be done."""
    kind = values.get("type") if isinstance(values, dict) else None
    if not isinstance(values, dict) or not isinstance(kind, str):
        raise RecipeError('A step must be an object that says its "type".')
    form = next((form for form in FORMS if form == kind), None)
    if form is not None:
        return UnicodeForm(form)
    if kind == BytesShown.__name__:
        return BytesShown()
    if not is_known(values):
        raise RecipeError(f"There is no step named {kind[:40]!r} here.")
    given = _defaults(kind, values)
    step = _PLAIN[kind](**{field.name: _value(kind, field, given) for field in dataclasses.fields(_PLAIN[kind])})
    try:
        _check(step)
    except BpeError as error:
        raise RecipeError(f"The step {kind}: {error}") from error
    return step


def _defaults(kind: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """What older files say in other words."""
    given = dict(values)
    pattern = given.get("pattern")
    if kind in ("Split", "Replace"):
        if not isinstance(pattern, dict) or len(pattern) != 1 or next(iter(pattern)) not in ("String", "Regex"):
            raise RecipeError(f'The step {kind}: its "pattern" must be an object with a "String" or a "Regex".')
        given["is_regex"], given["pattern"] = next((name == "Regex", text) for name, text in pattern.items())
    if kind == "Metaspace" and "prepend_scheme" not in given and given.get("add_prefix_space") is False:
        given["prepend_scheme"] = "never"
    if isinstance(given.get("behavior"), str):
        given["behavior"] = _BEHAVIORS.get(given["behavior"].replace("_", "").lower(), given["behavior"])
    return given


def _value(kind: str, field: dataclasses.Field[Any], given: Mapping[str, Any]) -> Any:
    value = given.get(field.name, field.default)
    wanted = str(field.type)
    if value is None and wanted.endswith("None"):
        return None
    is_right = (
        isinstance(value, bool) if wanted.startswith("bool")
        else isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= LONGEST_LENGTH if wanted == "int"
        else isinstance(value, str)
    )  # fmt: skip
    if not is_right:
        raise RecipeError(f'The step {kind}: its "{field.name}" is missing, or not what it must be.')
    if isinstance(value, str):
        if field.name in _AMONG and value not in _AMONG[field.name]:
            raise RecipeError(f'The step {kind}: "{field.name}" is one of {", ".join(_AMONG[field.name])}.')
        longest = LARGEST if field.name == "precompiled_charsmap" else LONGEST_TEXT
        if len(value) > longest or (not value.isascii() and any("\ud800" <= one <= "\udfff" for one in value)):
            raise RecipeError(f'The step {kind}: its "{field.name}" is too long, or holds half a character.')
    return value


def _check(step: Step) -> None:
    if isinstance(step, Split | Replace):
        Expression.of(step.pattern, step.is_regex)
    elif isinstance(step, Precompiled):
        _ = step.table
    elif isinstance(step, Metaspace | CharDelimiterSplit):
        sign = step.replacement if isinstance(step, Metaspace) else step.delimiter
        if len(sign) != 1:
            raise RecipeError("what blanks become, or where it cuts, must be one character.")


def as_json(step: Step) -> dict[str, Any]:
    """The object that `read_step` reads."""
    if isinstance(step, UnicodeForm):
        return {"type": step.form}
    values: dict[str, Any] = {"type": type(step).__name__, **dataclasses.asdict(step)}
    if "is_regex" in values:
        values["pattern"] = {"Regex" if values.pop("is_regex") else "String": values["pattern"]}
    return values


def is_normalizer(step: Step) -> bool:
    return isinstance(step, Normalizer)


def is_pre_tokenizer(step: Step) -> bool:
    return isinstance(step, PreTokenizer)


def is_only_named(step: Step) -> bool:
    """Whether it does nothing to a text but where somebody asks for its token."""
    return isinstance(step, AddedToken) and step == AddedToken(step.content)


def steps_of(values: object) -> tuple[Step, ...]:
    """Steps as they are, or as JSON holds them."""
    if not isinstance(values, list | tuple) or len(values) > MOST_STEPS:
        raise RecipeError(f"The preparation must be a list of at most {MOST_STEPS:,} steps.")
    return tuple(one if isinstance(one, Step) else read_step(one) for one in values)


def those_of(steps: tuple[Step, ...], tokens: Collection[str]) -> tuple[Step, ...]:
    """The steps for a recipe with these special tokens."""
    return tuple(step for step in steps if not isinstance(step, AddedToken) or step.content in tokens)


def check_steps(steps: tuple[Step, ...], tokens: Collection[str], *, changed: bool, split: bool) -> None:
    """Refuse an order that the steps cannot have: tokens, then what changes the text, then what cuts it.

    And nothing is said twice: where other choices change the text, or split it, no step does so.
    """
    if changed and any(map(is_normalizer, steps)):
        raise RecipeError("The preparation changes the text, and so do other choices; choose one of them.")
    if split and any(map(is_pre_tokenizer, steps)):
        raise RecipeError("The preparation splits the text, and so does a pattern; choose the pattern none.")
    if len(those_of(steps, tokens)) < len(steps):
        raise RecipeError("The preparation tells of a token that is none of the recipe.")
    places = [0 if isinstance(step, AddedToken) else 1 if is_normalizer(step) else 2 for step in steps]
    if places != sorted(places):
        raise RecipeError("The steps of a preparation are added tokens, then what changes text, then what cuts it.")
    shown = [i for i, step in enumerate(steps) if isinstance(step, BytesShown | ByteLevel)]
    later = steps[shown[0] + 1 :] if shown else ()
    if len(shown) > 1 or any(is_normalizer(step) or isinstance(step, Metaspace) for step in later):
        raise RecipeError("Text is turned into bytes twice, or changed when it is bytes, which is not done here.")
