"""A recipe: every choice of a training run in one frozen, validated value.

>>> Recipe.preset("gpt2", vocab_size=1000).pattern
'gpt2'
>>> Recipe.from_json(Recipe.preset("words").to_json()) == Recipe.preset("words")
True
"""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass
from typing import Any, Literal, get_args

from bpe_core.errors import RecipeError
from bpe_core.learning.methods import METHODS
from bpe_core.learning.ties import TIE_RULES
from bpe_core.presets import PRESETS
from bpe_core.text.patterns import check_pattern

Base = Literal["bytes", "characters"]
Unit = Literal["file", "line"]
UnicodeForm = Literal["", "NFC", "NFKC"]
Marker = Literal["none", "symbol", "glued", "prefix", "continuation"]
Unknown = Literal["unk", "bytes"]

CUSTOM_PATTERN = "custom"
UNKNOWN_TOKEN = "<unk>"
LARGEST_VOCABULARY = 4_000_000

_DEFAULT_MARKER_TEXT = {"none": "", "symbol": "</w>", "glued": "</w>", "prefix": "▁", "continuation": "##"}


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """How text becomes words, words become symbols, and symbols become merges."""

    name: str = "my recipe"

    # From text to words.
    lowercase: bool = False
    strip_ascii_punctuation: bool = False
    strip_marks: str = ""  # further characters to remove, such as “ and ’
    unicode_form: UnicodeForm = ""
    unit: Unit = "file"  # "line": each line, with its newline, is a text of its own
    pattern: str = "gpt2"  # a key of NAMED_PATTERNS, or "custom"
    custom_pattern: str = ""
    special_tokens: tuple[str, ...] = ()  # never split, never merged across

    # From words to symbols.
    base: Base = "bytes"
    marker: Marker = "none"
    marker_text: str = ""
    alphabet_limit: int | None = None  # characters only: keep this many, most frequent first
    unknown: Unknown = "unk"  # what a character outside the alphabet becomes

    # From symbols to tokens.
    method: str = "bpe"  # one of METHODS
    vocab_size: int | None = 32_000  # base symbols + merges + special tokens
    merges: int | None = None  # instead of vocab_size
    min_frequency: int = 2
    max_token_length: int | None = None  # in base symbols
    ties: str = "first-seen"  # a key of TIE_RULES

    def __post_init__(self) -> None:
        if self.marker_text == "":
            object.__setattr__(self, "marker_text", _DEFAULT_MARKER_TEXT.get(self.marker, ""))
        object.__setattr__(self, "special_tokens", tuple(self.special_tokens))
        _check_choices(self)
        _check_numbers(self)
        _check_agreement(self)
        check_pattern(self.pattern, self.custom_pattern)

    @classmethod
    def preset(cls, name: str, **changes: Any) -> Recipe:
        """The preset of that name, with any of its choices changed."""
        if name not in PRESETS:
            raise RecipeError(f"There is no preset {name!r}; there are {', '.join(PRESETS)}.")
        return cls(name=name, **PRESETS[name].choices).with_changes(**changes)

    def with_changes(self, **changes: Any) -> Recipe:
        """A copy with some choices changed, validated as a whole."""
        known = {field.name for field in dataclasses.fields(self)}
        for key in changes:
            if key not in known:
                raise RecipeError(f"A recipe has no choice named {key!r}.")
        if changes.get("merges") is not None and "vocab_size" not in changes:
            changes["vocab_size"] = None
        if changes.get("vocab_size") is not None and "merges" not in changes:
            changes["merges"] = None
        if "marker" in changes and changes["marker"] != self.marker and "marker_text" not in changes:
            changes["marker_text"] = ""
        return dataclasses.replace(self, **changes)

    @property
    def normalizes(self) -> bool:
        """Whether the text is changed before it is split."""
        return bool(self.lowercase or self.strip_ascii_punctuation or self.strip_marks or self.unicode_form)

    def merge_limit(self, alphabet_size: int) -> int:
        """How many merges may be learned on an alphabet of that size."""
        if self.merges is not None:
            return self.merges
        assert self.vocab_size is not None  # _check_numbers saw to it
        room = self.vocab_size - alphabet_size - len(self.special_tokens)
        if room < 0:
            raise RecipeError(
                f"A vocabulary of {self.vocab_size:,} has no room for the {alphabet_size:,} base symbols"
                + (f" and {len(self.special_tokens)} special tokens" if self.special_tokens else "")
                + f"; choose at least {alphabet_size + len(self.special_tokens):,}."
            )
        return room

    def to_dict(self) -> dict[str, Any]:
        """As JSON holds it. The method goes without saying where it is the one that programs of before know, too."""
        values = {**dataclasses.asdict(self), "special_tokens": list(self.special_tokens)}
        return {name: value for name, value in values.items() if (name, value) != ("method", "bpe")}

    def to_json(self) -> str:
        return json.dumps(self.to_dict(), ensure_ascii=False, indent=2)

    @classmethod
    def from_dict(cls, values: object) -> Recipe:
        if not isinstance(values, dict):
            raise RecipeError("A recipe must be a JSON object with one entry a choice.")
        known = {field.name for field in dataclasses.fields(cls)}
        unknown = sorted(str(key) for key in values if key not in known)
        if unknown:
            raise RecipeError(f"A recipe has no choice named {unknown[0]!r}.")
        if isinstance(values.get("special_tokens"), str):
            raise RecipeError("The special tokens must be a list of texts.")
        try:
            return cls(**values)
        except TypeError as error:
            raise RecipeError(f"The recipe has a value of the wrong kind: {error}.") from error

    @classmethod
    def from_json(cls, text: str) -> Recipe:
        try:
            values = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise RecipeError(f"The recipe is not valid JSON: {error}.") from error
        return cls.from_dict(values)


def _check_choices(recipe: Recipe) -> None:
    for field, allowed in (
        ("base", get_args(Base)),
        ("unit", get_args(Unit)),
        ("unicode_form", get_args(UnicodeForm)),
        ("marker", get_args(Marker)),
        ("unknown", get_args(Unknown)),
        ("method", METHODS),
        ("ties", tuple(TIE_RULES)),
    ):
        value = getattr(recipe, field)
        if value not in allowed:
            choices = ", ".join(repr(choice) for choice in allowed)
            raise RecipeError(f"{field} cannot be {value!r}; it is one of {choices}.")
    for field in ("name", "strip_marks", "pattern", "custom_pattern", "marker_text"):
        if not isinstance(getattr(recipe, field), str):
            raise RecipeError(f"{field} must be text.")
        _refuse_half_characters(field, getattr(recipe, field))
    for field in ("lowercase", "strip_ascii_punctuation"):
        if not isinstance(getattr(recipe, field), bool):
            raise RecipeError(f"{field} must be true or false.")


def _check_numbers(recipe: Recipe) -> None:
    for field, least in (
        ("vocab_size", 1),
        ("merges", 0),
        ("min_frequency", 1),
        ("max_token_length", 2),
        ("alphabet_limit", 1),
    ):
        value = getattr(recipe, field)
        if value is None and field != "min_frequency":
            continue
        if not isinstance(value, int) or isinstance(value, bool):
            raise RecipeError(f"{field} must be a whole number, not {value!r}.")
        if value < least:
            raise RecipeError(f"{field} must be at least {least}, not {value:,}.")
        if field in ("vocab_size", "merges") and value > LARGEST_VOCABULARY:
            raise RecipeError(f"{field} can be at most {LARGEST_VOCABULARY:,}, not {value:,}.")
    if (recipe.vocab_size is None) == (recipe.merges is None):
        raise RecipeError("Say either the vocabulary size or the number of merges, not both and not neither.")


def _check_agreement(recipe: Recipe) -> None:
    if recipe.base == "bytes":
        if recipe.alphabet_limit is not None:
            raise RecipeError("An alphabet limit applies to characters; the byte alphabet always has 256 symbols.")
        if recipe.vocab_size is not None and recipe.vocab_size < 256 + len(recipe.special_tokens):
            least = 256 + len(recipe.special_tokens)
            raise RecipeError(
                f"A vocabulary of {recipe.vocab_size:,} is smaller than the 256 bytes it starts from"
                + (" and its special tokens" if recipe.special_tokens else "")
                + f"; choose at least {least:,}."
            )
    if recipe.marker in ("symbol", "glued", "prefix") and recipe.pattern == "none":
        raise RecipeError("A word marker needs words: choose a pattern that splits the text, or no marker.")
    if recipe.marker != "none" and not recipe.marker_text:
        raise RecipeError("The word marker needs a text, such as </w>.")
    if not TIE_RULES[recipe.ties].fits(recipe.base):
        raise RecipeError(f"The tie rule {recipe.ties} orders bytes; on characters choose another, such as lowest-ids.")
    for token in recipe.special_tokens:
        if not isinstance(token, str) or not token:
            raise RecipeError("A special token must be a text of at least one character.")
        _refuse_half_characters("A special token", token)
    if len(set(recipe.special_tokens)) != len(recipe.special_tokens):
        raise RecipeError("A special token is listed twice.")


def _refuse_half_characters(what: str, text: str) -> None:
    """JSON can spell one half of a surrogate pair, which is no character and has no UTF-8."""
    if not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text):
        raise RecipeError(f"{what} holds half of a surrogate pair, which is not a character: {text!r}.")
