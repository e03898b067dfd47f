"""The choices that every recipe has, in groups. Each choice has a title, a meaning and a default."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal, TypeVar, get_args

from bpe_core.methods.registry import METHODS, USUAL
from bpe_core.recipes.choice import LARGEST_VOCABULARY, choice
from bpe_core.recipes.interventions import Intervention
from bpe_core.recipes.ties import TIE_RULES
from bpe_core.support.former_names import former_classes
from bpe_core.text.mixture import Mixture

Base = Literal["bytes", "characters"]
BaseSymbols = Literal["", "integers", "lines"]
Unit = Literal["file", "line"]
UnicodeForm = Literal["", "NFC", "NFKC"]
Marker = Literal["none", "symbol", "glued", "prefix", "continuation"]
Unknown = Literal["unk", "bytes"]
Sums = Literal["", "32 bits", "64 bits"]
SpelledSpecials = Literal["", "matched", "text"]

CUSTOM_PATTERN = "custom"
UNKNOWN_TOKEN = "<unk>"

_OF_CHARACTERS: dict[str, Any] = dict(applies=lambda recipe: recipe.base == "characters")


@dataclass(frozen=True, kw_only=True)
class Normalization:
    clean_text: bool = choice(
        False,
        "Clean text",
        "Leave out control characters, and turn all white space and line breaks into spaces",
        goes_without_saying=True,
    )
    lowercase: bool = choice(False, "Lower case", "Turn all letters into lower case before splitting")
    final_sigma: bool = choice(
        True,
        "Final sigma",
        "A capital sigma that ends a word becomes ς, not σ",
        applies=lambda recipe: recipe.lowercase,
        goes_without_saying=True,
    )
    strip_accents: bool = choice(
        False,
        "No accents",
        "Decompose characters and leave out accents and other marks on letters",
        goes_without_saying=True,
    )
    strip_ascii_punctuation: bool = choice(
        False, "No ASCII punctuation", "Leave out !\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~ before splitting"
    )
    strip_marks: str = choice("", "Also remove", "Further characters to leave out before splitting")  # such as “ and ’
    unicode_form: UnicodeForm = choice("", "Unicode", among=get_args(UnicodeForm))


@dataclass(frozen=True, kw_only=True)
class SplittingChoices(Normalization):
    """The choices that decide how a text is split into words."""

    unit: Unit = choice("file", "Unit", among=get_args(Unit))  # "line" makes each line a separate text
    pattern: str = choice("gpt2", "Split by")  # a key of NAMED_PATTERNS, or "custom"
    custom_pattern: str = choice(
        "",
        "Pattern",
        "A regular expression. Each match is a word, and the text between two matches is also a word",
        applies=lambda recipe: recipe.pattern == CUSTOM_PATTERN,
    )
    older_unicode: bool = choice(
        False,
        "Unicode 16",
        "The pattern treats characters newer than Unicode 16 as unassigned, as the libraries of imported files do",
        applies=lambda recipe: recipe.older_unicode,
        goes_without_saying=True,
    )
    border: str = choice(
        "",
        "Border",
        "A character that marks borders in the texts, as in mor|phe|mes. No merge crosses a border, and tokens "
        "leave this character out",
        applies=lambda recipe: recipe.marker == "none",
        goes_without_saying=True,
    )
    special_tokens: tuple[str, ...] = choice(
        (), "Special tokens", "Texts such as <|endoftext|> that are never split or merged"
    )
    preparation: tuple[Any, ...] = choice(  # operations of bpe_core.text.preparation
        (),
        "Preparation",
        "The normalizers and pre-tokenizers of a file that no other choice describes, one after another",
        applies=lambda recipe: bool(recipe.preparation),
        goes_without_saying=True,
    )


# The choices that go with base symbols that are no text.
OF_SYMBOLS: Mapping[str, Any] = MappingProxyType(
    vars(Normalization()) | dict(base="characters", pattern="none", custom_pattern="", unit="file")
)


@dataclass(frozen=True, kw_only=True)
class Symbols:
    """The choices that decide how a word is split into base symbols."""

    base: Base = choice("bytes", "Starts from", among=get_args(Base))
    base_symbols: BaseSymbols = choice(  # "" means characters of a text
        "",
        "Symbols",
        "What a base symbol is: a character of a text, an integer of a NumPy file, or a line",
        among=get_args(BaseSymbols),
        applies=lambda recipe: recipe.base_symbols != "",
        goes_without_saying=True,
    )
    symbol_names: tuple[str, ...] = choice(
        (),
        "Names of symbols",
        "The name of each symbol, in the order of the symbols' numbers",
        applies=lambda recipe: False,  # no form shows a list of thousands of names
        goes_without_saying=True,
    )
    marker: Marker = choice("none", "Marker", among=get_args(Marker))
    marker_text: str = choice(
        "", "Marker text", "How the marker is written", applies=lambda recipe: recipe.marker != "none"
    )
    alphabet_limit: int | None = choice(
        None, "Alphabet", "Keep only this many characters, the most frequent ones", least=1, optional=True,
        unset="all characters", **_OF_CHARACTERS,
    )  # fmt: skip
    unknown: Unknown = choice(  # the token of a character outside the alphabet
        "unk", "Unknown characters", among=get_args(Unknown), **_OF_CHARACTERS
    )
    unknown_text: str = choice(
        UNKNOWN_TOKEN,
        "Unknown token",
        "The text of the token for unknown characters",
        applies=lambda recipe: recipe.base == "characters" and recipe.unknown == "unk",
        goes_without_saying=True,
    )


@dataclass(frozen=True, kw_only=True)
class Size:
    """The two choices that limit how much is learned. A recipe must set exactly one of the two."""

    vocab_size: int | None = choice(  # special tokens included
        32_000, "Vocabulary", least=1, most=LARGEST_VOCABULARY, optional=True
    )
    merges: int | None = choice(None, "Steps", least=0, most=LARGEST_VOCABULARY, optional=True)


@dataclass(frozen=True, kw_only=True)
class LearningChoices:
    """The choices that decide how a method learns tokens from base symbols."""

    method: str = choice(
        USUAL, "Method", ("The way in which tokens are learned"), among=METHODS, goes_without_saying=True
    )
    min_frequency: int = choice(
        2,
        "Minimum count",
        "A pair that occurs fewer times is not merged",
        least=1,
        unit="×",
        applies=lambda recipe: "min_frequency" not in METHODS[recipe.method].ignores,
    )
    max_token_length: int | None = choice(
        None,
        "Longest token",
        "Pairs that would become longer are not merged. The length is in base symbols",
        least=2,
        optional=True,
        unset="no limit",
    )
    whole_characters: bool = choice(
        False,
        "Whole characters",
        (
            "The bytes of a character are merged before anything else. So no token holds half a character "
            "together with other bytes"
        ),
        applies=lambda recipe: (
            recipe.base == "bytes" and recipe.marker == "none" and METHODS[recipe.method].keeps_characters
        ),
        goes_without_saying=True,
    )
    ties: str = choice(
        "first-seen", "Ties", among=TIE_RULES, applies=lambda recipe: "ties" not in METHODS[recipe.method].ignores
    )
    sums: Sums = choice(  # "32 bits" and "64 bits" add up over a whole text, with unknown characters
        "",
        "Sums",
        (
            "How log-probabilities are added up: for each part of the text separately, or over the whole text as "
            "SentencePiece or tokenizers do"
        ),
        among=get_args(Sums),
        applies=lambda recipe: recipe.sums != "",
        goes_without_saying=True,
    )


@dataclass(frozen=True, kw_only=True)
class SteeringChoices:
    """The choices by which a user overrides the steps that the method would choose."""

    interventions: tuple[Intervention, ...] = choice(
        (),
        "Interventions",
        (
            "Pairs that are never merged from a step on, or merged at a step whatever their count. Each is "
            "written with ids, such as forbid:116+104@12"
        ),
        applies=lambda recipe: recipe.interventions != (),
        goes_without_saying=True,
    )
    grown_from: int = choice(
        0,
        "Continued steps",
        "The number of steps at the start that come from an older table, which this run extends with a new corpus",
        least=0,
        applies=lambda recipe: recipe.grown_from != 0,
        goes_without_saying=True,
    )


@dataclass(frozen=True, kw_only=True)
class MixtureChoices:
    mixture: Mixture | None = choice(  # None means all texts as they are
        None, "Mixture", "The weight of each group of texts, and its sample", goes_without_saying=True
    )


@dataclass(frozen=True, kw_only=True)
class DecodingChoices:
    """The choices that decide which special tokens are found in a text, and how ids are decoded."""

    spelled_specials: SpelledSpecials = choice(  # default: code and commands read them as text, the window matches them
        "",
        "Special tokens written in the text",
        "What happens to special tokens that are written in a text, unless a command says otherwise",
        among=get_args(SpelledSpecials),
        applies=lambda recipe: bool(recipe.special_tokens),
        goes_without_saying=True,
    )
    decoding: tuple[Any, ...] = choice(  # operations of bpe_core.text.decoding
        (),
        "Decoding",
        "How the library of a file decodes tokens into a text, one operation after another",
        applies=lambda recipe: bool(recipe.decoding),
        goes_without_saying=True,
    )


Part = TypeVar(
    "Part",
    bound=Normalization | Symbols | Size | LearningChoices | SteeringChoices | MixtureChoices | DecodingChoices,
)

__getattr__ = former_classes(
    __name__,
    Learning="LearningChoices",
    Splitting="SplittingChoices",
    Steering="SteeringChoices",
    Mixing="MixtureChoices",
    Reading="DecodingChoices",
)
