"""The recipe: all choices of a training run as one value. The value is checked, and never changes.

>>> Recipe.preset("gpt2", vocab_size=1000).pattern
'gpt2'
>>> Recipe.from_json(Recipe.preset("words").to_json()) == Recipe.preset("words")
True
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from types import ModuleType
from typing import Any

from bpe_core.errors import RecipeError, SizeDoesNotFit
from bpe_core.methods.facts import OwnChoices, Single, Wording
from bpe_core.methods.registry import METHODS, USUAL
from bpe_core.recipes.choice import Choice, choice, refuse_half_characters, refuse_long_text
from bpe_core.recipes.interventions import checked_interventions
from bpe_core.recipes.parts import (
    OF_SYMBOLS,
    BaseSymbols,
    DecodingChoices,
    LearningChoices,
    MixtureChoices,
    Normalization,
    Part,
    Size,
    SplittingChoices,
    SteeringChoices,
    Symbols,
)
from bpe_core.recipes.presets import PRESETS
from bpe_core.recipes.ties import TIE_RULES
from bpe_core.support.foreign import json_of, report_faults
from bpe_core.support.numbered_symbols import LARGEST, WIDTH, SymbolNames
from bpe_core.support.wording import as_call, count_text
from bpe_core.text.mixture import mixture_of
from bpe_core.text.patterns import NAMED_PATTERNS, stored_pattern

LONGEST_NAME = 4_096  # characters of the name of a symbol
LONGEST_SPECIAL = 4_096  # characters of a special token
MOST_SPECIAL = 1_000_000  # characters of all special tokens together

_DEFAULT_MARKER_TEXT = {"none": "", "symbol": "</w>", "glued": "</w>", "prefix": "▁", "continuation": "##"}


@dataclass(frozen=True, kw_only=True, init=False, repr=False)
class Recipe(DecodingChoices, MixtureChoices, SteeringChoices, LearningChoices, Size, Symbols, SplittingChoices):
    """A recipe, which says how text becomes words, words become symbols, and symbols become tokens.

    `own` holds the choices of a single method. They are set, read and written by name like all other choices.

    Parameters
    ----------
    own
        The choices that only one method has; `dataclasses.replace` passes them.
    **choices
        Any choices by name, such as `vocab_size` or `pattern`. `bpe-explorer presets gpt2` prints all of them.

    Examples
    --------
    >>> recipe = Recipe.preset("gpt2").with_changes(vocab_size=300)
    >>> recipe.method, recipe.vocab_size
    ('bpe', 300)
    """

    name: str = choice("my recipe")
    own: OwnChoices = dataclasses.field(default=OwnChoices())

    def __init__(self, *, own: OwnChoices | None = None, **choices: Any) -> None:
        if own is not None:  # as `dataclasses.replace` passes them
            choices = vars(own) | choices
        given = {name: choices.pop(name) for name in COMMON if name in choices}
        for name, declared in COMMON.items():
            object.__setattr__(self, name, given.get(name, declared.default))
        COMMON["method"].check("method", self.method)
        method = METHODS[self.method]
        given = {name: choices.pop(name) for name in method.own_choices if name in choices}
        object.__setattr__(self, "own", method.choices(**given))
        vars(self).update(vars(self.own))
        for name, value in choices.items():  # choices of other methods have no effect
            if name not in CHOICES:
                raise RecipeError(f"A recipe has no choice named {name!r}.")
            CHOICES[name].check(name, value)
        self._standardize(COMMON)
        self._check(self.choices)

    def __getattr__(self, name: str) -> Any:
        """Return the default of a choice that this recipe's method does not have."""
        if "own" in self.__dict__ and not name.startswith("_") and name in CHOICES:
            return CHOICES[name].default
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __repr__(self) -> str:
        """Return the Python call that makes the recipe. Choices with their default values are left out."""
        declared = self.choices
        changed = {name: value for name, value in self.values.items() if value != declared[name].default}
        return as_call("Recipe", **changed)

    def __reduce__(self) -> tuple[Any, ...]:
        """Return what pickle stores: the choices of the recipe as JSON."""
        return Recipe.from_json, (self.to_json(),)

    def _standardize(self, names: Collection[str]) -> None:
        """Convert the choices with these names to their standard form. For example, a list becomes a tuple.

        This ensures that equal recipes have equal values. An empty `marker_text` becomes the usual marker text.
        """
        if self.marker_text == "":
            object.__setattr__(self, "marker_text", _DEFAULT_MARKER_TEXT.get(self.marker, ""))
        if "special_tokens" in names:
            tokens: object = self.special_tokens
            if isinstance(tokens, str):  # otherwise each letter would be a token
                raise RecipeError("The special tokens must be a list of texts.")
            object.__setattr__(self, "special_tokens", tuple(self.special_tokens))
        if "symbol_names" in names:
            _check_names(self.symbol_names)
            object.__setattr__(self, "symbol_names", tuple(self.symbol_names))
        if "interventions" in names and self.interventions != ():
            object.__setattr__(self, "interventions", checked_interventions(self.interventions))
        if "preparation" in names:
            object.__setattr__(self, "preparation", self.preparation and _prepare().steps_of(self.preparation))
        if "decoding" in names:
            object.__setattr__(self, "decoding", self.decoding and _decode().decoders_of(self.decoding))
        if "mixture" in names and self.mixture is not None:
            object.__setattr__(self, "mixture", mixture_of(self.mixture))

    def _check(self, choices: Mapping[str, Choice]) -> None:
        """Check the values of the choices that differ from their defaults, and check that all choices of the recipe fit
        together.
        """
        for name, declared in choices.items():
            value = getattr(self, name)
            if value is not declared.default:
                declared.check(name, value)
        _check_agreement(self)
        if "special_tokens" in choices:
            _check_specials(self.special_tokens)
        if "custom_pattern" in choices and (self.custom_pattern or self.pattern not in NAMED_PATTERNS.own):
            pattern, expression = stored_pattern(self.pattern, self.custom_pattern)
            object.__setattr__(self, "pattern", pattern)
            object.__setattr__(self, "custom_pattern", expression)
        # Kept for the texts that will be encoded.
        _ = self.normalizes, self.normalizes_ascii, self.normalizes_by_steps
        _ = self.splits_by_steps, self.tokens_looked_for

    @property
    def choices(self) -> Mapping[str, Choice]:
        """Return a dictionary from name to choice, for the common choices and the choices of this recipe's method."""
        return {**COMMON, **METHODS[self.method].own_choices}

    @property
    def values(self) -> dict[str, Any]:
        """Return a dictionary from the name of each choice to its value."""
        return {name: getattr(self, name) for name in self.choices}

    @classmethod
    def preset(cls, name: str, **changes: Any) -> Recipe:
        if name not in PRESETS:
            raise RecipeError(f"There is no preset {name!r}; the presets are {', '.join(PRESETS)}.")
        return _recipe_of_preset(name).with_changes(**changes) if changes else _recipe_of_preset(name)

    def with_changes(self, **changes: Any) -> Recipe:
        for key in changes:
            if key not in CHOICES:
                raise RecipeError(f"A recipe has no choice named {key!r}.")
        for size, other in (("merges", "vocab_size"), ("vocab_size", "merges")):
            if changes.get(size) is not None and other not in changes:
                changes[other] = None
        if "marker" in changes and changes["marker"] != self.marker and "marker_text" not in changes:
            changes["marker_text"] = ""
        if self.preparation and "special_tokens" in changes and "preparation" not in changes:
            changes["preparation"] = _prepare().without_other_tokens(
                self.preparation, (*changes["special_tokens"], changes.get("unknown_text", self.unknown_text))
            )
        if self.decoding and any(changes.get(name, was) != was for name, was in self._symbols.items()):
            changes.setdefault("decoding", ())  # these read other symbols
        if "method" in changes and changes["method"] in METHODS:
            base_symbols = changes.get("base_symbols", self.base_symbols)
            changes = {**METHODS[changes["method"]].needs_for(base_symbols), **changes}
        if not changes.keys() <= COMMON.keys() or changes.get("method", self.method) != self.method:
            return Recipe(**{**self.values, **changes})
        return self._with_common(changes)

    def of_symbols(self, kind: BaseSymbols, names: tuple[str, ...] = ()) -> Recipe:
        """Return the recipe for base symbols that are not text. Choices that only texts need are reset.

        >>> Recipe.preset("gpt2").of_symbols("integers").base_symbols
        'integers'
        """
        changes = {**OF_SYMBOLS, "name": kind, "base_symbols": kind, "symbol_names": names}
        return self.with_changes(**changes)

    def _with_common(self, changes: Mapping[str, Any]) -> Recipe:
        """Return the recipe with some of the common choices changed. The method stays the same.

        Only the changed choices are checked.
        """
        changed = object.__new__(Recipe)
        for name in COMMON:
            object.__setattr__(changed, name, changes[name] if name in changes else getattr(self, name))
        object.__setattr__(changed, "own", self.own)
        vars(changed).update(vars(self.own))
        changed._standardize(changes.keys())
        checked = changes.keys() | ({"custom_pattern"} if "pattern" in changes else set())
        changed._check({name: COMMON[name] for name in checked})
        return changed

    @property
    def _symbols(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in ("base", "marker", "marker_text", "unknown", "method")}

    def part(self, kind: type[Part]) -> Part:
        return kind(**{field.name: getattr(self, field.name) for field in dataclasses.fields(kind)})

    def differing(self, other: Recipe, *parts: type[Part]) -> list[str]:
        """Return the names of the choices that are different in two recipes.

        Only the choices of the given `parts` are compared.
        """
        names = _choices_of(parts)
        if LearningChoices in parts:
            names = list(dict.fromkeys((*names, *METHODS[self.method].own_choices, *METHODS[other.method].own_choices)))
        return [name for name in names if getattr(self, name) != getattr(other, name)]

    def is_same_but_for_size(self, other: Recipe) -> bool:
        """Return whether two recipes are equal except for their sizes.

        If so, the shorter run is the beginning of the longer run.
        """
        if METHODS[self.method].size_decides and self.differing(other, Size):
            return False
        return not self.differing(other, SplittingChoices, Symbols, LearningChoices, SteeringChoices, MixtureChoices)

    @property
    def wording(self) -> Wording:
        return METHODS[self.method].wording

    @property
    def listed(self) -> Recipe:
        """Return the recipe for a vocabulary that is stored as a list of tokens, without steps.

        If the method has no such recipe, return this recipe unchanged.
        """
        other = METHODS[self.method].listed_as
        return self.with_changes(method=other) if other else self

    @property
    def single(self) -> Single | None:
        return METHODS[self.method].single_of(self)

    @property
    def asks_for_line_ends(self) -> bool:
        """Return whether counting must also record how often each word ends a line."""
        return METHODS[self.method].asks_for_line_ends

    @property
    def recipe_at_first(self) -> Recipe | None:
        """Return the recipe that splits texts into words for the first stage of learning.

        Return None if no separate recipe is needed, because the method has one stage, or because its first stage
        splits the words of this recipe further.
        """
        method = METHODS[self.method]
        at_first: Recipe | None = method.recipe_at_first(self) if method.may_split_twice else None
        return at_first

    def applies(self, choice: str) -> bool:
        """Return whether a choice has an effect, given the other choices of the recipe.

        If the method prescribes the value of a choice, the choice has no effect.
        """
        declared = self.choices.get(choice)
        return declared is not None and choice not in METHODS[self.method].needs and declared.applies(self)

    @cached_property
    def normalizes(self) -> bool:
        """Return whether the recipe changes a text before it splits the text."""
        return self.unicode_form != "" or self.normalizes_ascii

    @cached_property
    def normalizes_ascii(self) -> bool:
        """Return whether the recipe can change a text that has only ASCII characters.

        The normalization forms of Unicode never change such a text.
        """
        changes = self.part(Normalization) != Normalization(unicode_form=self.unicode_form)
        return changes or self.normalizes_by_steps

    @cached_property
    def normalizes_by_steps(self) -> bool:
        """Return whether texts are normalized by the operations of a tokenizer file.

        If so, no other choice of the recipe normalizes them.
        """
        return bool(self.preparation) and any(map(_prepare().is_normalizer, self.preparation))

    @cached_property
    def splits_by_steps(self) -> bool:
        return bool(self.preparation) and any(map(_prepare().is_pre_tokenizer, self.preparation))

    @cached_property
    def tokens_looked_for(self) -> tuple[str, ...]:
        """Return the special tokens that are searched for in a text.

        The unknown token is included if the tokenizer's file lists it as an added token.
        """
        unknown = self.unknown_text
        is_one = self.base == "characters" and self.unknown == "unk" and unknown not in self.special_tokens
        if not is_one or not any(_prepare().is_added(step, unknown) for step in self.preparation):
            return self.special_tokens
        return (*self.special_tokens, unknown)

    @cached_property
    def names(self) -> SymbolNames:
        """Return the names of the symbols. They are used only if the symbols are not text."""
        return SymbolNames(self.symbol_names, has_numbers=self.base_symbols != "lines")

    def size_of(self, size: int) -> int:
        """Return the size of a text in bytes, or in symbols if the base symbols are not text.

        `size` is the size of the text in bytes. A symbol that is not text takes four bytes.

        >>> Recipe.preset("gpt2").size_of(8), Recipe.preset("gpt2").of_symbols("integers").size_of(8)
        (8, 2)
        """
        return size // WIDTH if self.base_symbols else size

    def text_of_symbols(self, text: str) -> str:
        """Return the text that a tokenizer with this recipe reads if a user types `text`.

        If the base symbols are not text, the user types their names, separated by spaces. Then each name becomes one
        character. Otherwise the text is returned unchanged.
        """
        return self.names.text_of_typed(text) if self.base_symbols else text

    @property
    def takes_any_bytes(self) -> bool:
        """Return whether the recipe learns from each file as one sequence of bytes. Such a file need not be text."""
        is_whole = self.base == "bytes" and self.pattern == "none" and self.unit == "file" and not self.splits_by_steps
        return is_whole and not self.normalizes and not self.special_tokens and not self.lists_bytes

    @property
    def usual_decoding(self) -> tuple[Any, ...]:
        """Return the decoding operations for a recipe whose file lists none.

        The operations restore the original text as exactly as possible.
        """
        decode = _decode()
        if self.base == "bytes":
            return (decode.ByteLevel(),)
        if self.marker == "glued":
            return (decode.BPEDecoder(self.marker_text),)
        if METHODS[self.method].has_continuations:
            return (decode.WordPiece(self.marker_text, cleanup=False),)
        has_marker = self.marker in ("prefix", "symbol")
        sign = self.marker_text if has_marker else decode.blank_sign(self.preparation)
        steps = [decode.Replace(sign, False, " ")] if sign else []
        steps += [decode.ByteFallback()] * (self.unknown == "bytes") + [decode.Fuse()]
        if sign and (self.marker == "prefix" or decode.puts_blank_before(self.preparation)):
            steps.append(decode.Strip(" ", 1, 0))
        return tuple(steps)

    @property
    def shows_bytes(self) -> bool:
        """Return whether words keep their byte characters, instead of the bytes that these characters represent."""
        return self.base == "characters"

    @property
    def lists_bytes(self) -> bool:
        """Return whether the vocabulary is a list of byte strings, such as RWKV's, and not the result of a training
        run.

        With such a vocabulary, a text is split by the longest match.
        """
        return self.lists_pieces and (self.pattern, self.base, self.marker) == ("none", "bytes", "none")

    @property
    def lists_pieces(self) -> bool:
        """Return whether the vocabulary is a plain list of tokens, some of which continue a word.

        In such a list, a token without a marker may occur both at the beginning of a word and inside it.
        """
        return METHODS[self.method].has_continuations and self.merges == 0

    @property
    def keeps_characters(self) -> bool:
        return self.whole_characters and self.applies("whole_characters")

    @property
    def serves_languages(self) -> bool:
        """Return whether the method needs word counts for each language.

        If so, each group of the texts is a language.
        """
        return METHODS[self.method].serves_languages

    @property
    def of_one_text(self) -> Recipe:
        """Return the recipe for counting the words of a single language.

        Choices that compare languages are left out.
        """
        return self.with_changes(method=USUAL, mixture=None) if self.serves_languages else self

    def merge_limit(self, alphabet_size: int) -> int:
        if self.merges is not None:
            return self.merges
        assert self.vocab_size is not None  # `_check_numbers` has ensured it
        least = alphabet_size + len(self.special_tokens)
        if self.vocab_size < least:
            beside = f" and {len(self.special_tokens)} special tokens" if self.special_tokens else ""
            problem = (
                f"A vocabulary of {self.vocab_size:,} has no room for the "
                f"{count_text(alphabet_size, 'base symbol')}{beside}."
            )
            raise SizeDoesNotFit(problem, f"Choose at least {least:,}.", 2 * least)
        return self.vocab_size - least

    def to_dict(self) -> dict[str, Any]:
        values = {"name": self.name} | self.values
        values |= {"special_tokens": [*self.special_tokens], "interventions": [*map(str, self.interventions)]}
        values["mixture"] = None if self.mixture is None else self.mixture.to_json_value()
        values |= {"preparation": list(map(_prepare().as_json, self.preparation))} if self.preparation else {}
        values |= {"decoding": list(map(_decode().as_json, self.decoding))} if self.decoding else {}
        own = METHODS[self.method].own_choices
        for name, declared in self.choices.items():
            if (declared.goes_without_saying or name in own) and getattr(self, name) == declared.default:
                del values[name]
        return values

    def to_json(self) -> str:
        return json.dumps(self.to_dict(), ensure_ascii=False, indent=2)

    @classmethod
    def from_dict(cls, values: object) -> Recipe:
        if not isinstance(values, dict):
            raise RecipeError("A recipe must be a JSON object with one entry for each choice.")
        unknown = sorted(str(key) for key in values if key not in CHOICES)
        if unknown:
            raise RecipeError(f"A recipe has no choice named {unknown[0]!r}.")
        with report_faults("The recipe cannot be read", RecipeError):
            return cls(**values)

    @classmethod
    def from_json(cls, text: str) -> Recipe:
        return cls.from_dict(json_of(text, "The recipe is not valid JSON", RecipeError))


COMMON: Mapping[str, Choice] = {
    field.name: field.metadata["choice"] for field in dataclasses.fields(Recipe) if field.name != "own"
}


class Choices(Mapping[str, Choice]):
    """A mapping from name to choice: the choices that all recipes have, and the choices of every method."""

    def __getitem__(self, name: str) -> Choice:
        if name in COMMON:
            return COMMON[name]
        for method in METHODS.values():
            if name in (own := method.own_choices):
                return own[name]
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        own = (name for method in METHODS.values() for name in method.own_choices)
        yield from dict.fromkeys((*COMMON, *own))

    def __len__(self) -> int:
        return sum(1 for _ in self)


CHOICES = Choices()


def title_of(choice: str) -> str:
    """Return the title of a choice, or a readable form of its name if it has no title.

    >>> title_of("keep_share"), title_of("a_new_choice")
    ('Kept a round', 'A new choice')
    """
    declared = CHOICES.get(choice)
    return (declared and declared.title) or choice.replace("_", " ").capitalize()


def _prepare() -> ModuleType:
    from bpe_core.text.preparation import steps  # imported late, as few recipes have these

    return steps


def _decode() -> ModuleType:
    import bpe_core.text.decoding as decoding  # imported late, as few recipes have these

    return decoding


@cache
def _choices_of(parts: tuple[type[Part], ...]) -> list[str]:
    return [field.name for kind in parts for field in dataclasses.fields(kind)]


@cache
def _recipe_of_preset(preset: str) -> Recipe:
    """Return the recipe of a preset without changes. It is cached, because a window needs each preset many times."""
    return Recipe(name=preset, **PRESETS[preset].choices)


def _check_agreement(recipe: Recipe) -> None:
    if (recipe.vocab_size is None) == (recipe.merges is None):
        raise RecipeError("Give either the vocabulary size or the number of merges.")
    _check_method(recipe)
    if recipe.base == "bytes":
        _check_bytes(recipe)
    if recipe.base_symbols:
        _check_base_symbols(recipe)
    if recipe.preparation:
        changed = recipe.part(Normalization) != Normalization()
        split = recipe.pattern != "none" or recipe.unit != "file"
        tokens = (*recipe.special_tokens, recipe.unknown_text)  # files may search texts for it
        _prepare().check_steps(recipe.preparation, tokens, changed=changed, split=split)
    _check_signs(recipe)
    if recipe.base != "bytes" and TIE_RULES[recipe.ties].byte_places:
        raise RecipeError(
            f"The tie rule {recipe.ties} compares bytes, and this recipe's symbols are characters; choose another "
            "rule, such as lowest-ids."
        )


def _check_method(recipe: Recipe) -> None:
    method = METHODS[recipe.method]
    needs = method.needs_for(recipe.base_symbols) if recipe.base_symbols else method.needs
    for name, needed in needs.items():
        by_file = bool(recipe.preparation or recipe.sums) or recipe.lists_pieces
        is_unmarked = name == "marker" and recipe.marker == "none" and by_file
        if name == "base" and needed == "bytes" and recipe.base_symbols:
            raise RecipeError(
                f"{method.title} learns only from bytes, but the base symbols of this recipe are "
                f"{recipe.base_symbols}. Choose another method. Or write each symbol as one byte, and choose the "
                "preset raw-bytes."
            )
        if getattr(recipe, name) != needed and not is_unmarked and not recipe.lists_bytes:
            raise RecipeError(f"{method.title} needs {name} to be {needed!r}, not {getattr(recipe, name)!r}.")
    if not method.can_be_steered and recipe.interventions:
        raise RecipeError(f"{method.title} does not merge pairs, so no pair can be forbidden or forced.")
    if not method.can_be_steered and recipe.grown_from:
        raise RecipeError(f"{method.title} cannot continue the steps of another table.")


def _check_bytes(recipe: Recipe) -> None:
    if recipe.alphabet_limit is not None:
        raise RecipeError(
            "An alphabet limit works only for characters, because the byte alphabet always has 256 symbols. Leave the "
            "limit out."
        )
    least = 256 + len(recipe.special_tokens)
    if recipe.vocab_size is not None and recipe.vocab_size < least:
        specials = " and its special tokens" if recipe.special_tokens else ""
        raise RecipeError(
            f"A vocabulary of {recipe.vocab_size:,} is smaller than the 256 bytes it starts from{specials}; choose at "
            f"least {least:,}."
        )


def _check_names(names: object) -> None:
    if not isinstance(names, list | tuple) or not all(isinstance(name, str) for name in names):
        raise RecipeError(
            "The names of symbols must be a list of texts: the name of symbol 0, then of symbol 1, and so on."
        )
    named = [name for name in names if name]
    if len(names) > LARGEST + 1 or len(set(named)) < len(named):
        raise RecipeError(
            f"There can be at most {count_text(LARGEST + 1, 'symbol')}, and each symbol must have a different name."
        )
    for name in named:
        if len(name) > LONGEST_NAME or not name.isascii():
            refuse_long_text("The name of a symbol", name, LONGEST_NAME)
            refuse_half_characters("The name of a symbol", name)


def _check_base_symbols(recipe: Recipe) -> None:
    """Raise RecipeError if the base symbols are not text, but another choice of the recipe works only with text."""
    is_text = recipe.part(Normalization) != Normalization() or recipe.pattern != "none" or recipe.preparation
    if recipe.base != "characters" or recipe.unit != "file" or is_text:
        raise RecipeError(
            f"Base symbols of the kind {recipe.base_symbols} are not text. Set the base to characters and the pattern "
            "to none, and leave out all operations that change a text."
        )


def _check_signs(recipe: Recipe) -> None:
    """Check the texts with a special meaning: the marker, the border and the unknown token.

    Raise RecipeError if one of these texts is not allowed.
    """
    has_words = recipe.pattern != "none" or recipe.splits_by_steps or recipe.base_symbols
    if recipe.marker in ("symbol", "glued", "prefix") and not has_words:
        raise RecipeError("A word marker needs words: choose a pattern that splits the text, or leave out the marker.")
    if recipe.border and (recipe.marker != "none" or recipe.border.strip() != recipe.border):
        raise RecipeError(
            "A border must not begin or end with white space, and a recipe cannot have both a border and a word "
            "marker. Choose another border, or leave out the border or the marker."
        )
    if not recipe.unknown_text:
        raise RecipeError("The unknown token needs a text, such as <unk>.")
    if recipe.marker != "none" and not recipe.marker_text:
        raise RecipeError("The word marker needs a text, such as </w>.")


def _check_specials(tokens: tuple[str, ...]) -> None:
    for token in tokens:
        if not isinstance(token, str) or not token:
            raise RecipeError("A special token must be a text of at least one character.")
        if len(token) > LONGEST_SPECIAL or not token.isascii():
            refuse_long_text("A special token", token, LONGEST_SPECIAL)
            refuse_half_characters("A special token", token)
    if sum(map(len, tokens)) > MOST_SPECIAL:
        raise RecipeError(f"All special tokens together can have at most {MOST_SPECIAL:,} characters.")
    if len(set(tokens)) != len(tokens):
        twice = next(token for place, token in enumerate(tokens) if token in tokens[:place])
        raise RecipeError(f"The special token {twice!r} is listed twice. List it once.")
