"""A recipe: every choice of a training run in one frozen, validated value.

>>> Recipe.preset("gpt2", vocab_size=1000).pattern
'gpt2'
>>> Recipe.from_json(Recipe.preset("words").to_json()) == Recipe.preset("words")
True
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import cache, cached_property
from types import ModuleType
from typing import Any, Literal, TypeVar, get_args

from bpe_core.errors import RecipeError, SizeDoesNotFit, refuse_half_characters, refuse_long_text
from bpe_core.recipes.interventions import Intervention, checked_interventions
from bpe_core.recipes.methods import METHODS, Single, Wording
from bpe_core.recipes.mixture import Mixture, mixture_of
from bpe_core.recipes.presets import PRESETS
from bpe_core.recipes.ties import TIE_RULES
from bpe_core.support.foreign import gate, json_of
from bpe_core.text.patterns import brought_expression, check_pattern
from bpe_core.text.specials import check_specials

Base = Literal["bytes", "characters"]
Unit = Literal["file", "line"]
UnicodeForm = Literal["", "NFC", "NFKC"]
Marker = Literal["none", "symbol", "glued", "prefix", "continuation"]
Unknown = Literal["unk", "bytes"]
WordPieceRule = Literal["count", "score"]
Sums = Literal["", "32 bits", "64 bits"]
FallsInto = Literal["bytes", "parts"]

CUSTOM_PATTERN = "custom"
UNKNOWN_TOKEN = "<unk>"
LARGEST_VOCABULARY = 4_000_000

LARGEST_NUMBER = 2**63 - 1  # counts are 64-bit
LONGEST_TEXT = 100_000  # characters of a choice; longer ones would take memory that nobody has asked for
_DEFAULT_MARKER_TEXT = {"none": "", "symbol": "</w>", "glued": "</w>", "prefix": "▁", "continuation": "##"}


@dataclass(frozen=True, kw_only=True)
class Choice:
    """What is declared of a choice besides its name, its type and its default."""

    title: str = ""  # what it is called in forms and reports
    tip: str = ""  # what it means
    among: Collection[str] = ()  # of these texts, or any if there are none
    least: int | None = None  # of a number
    most: int = LARGEST_NUMBER
    optional: bool = False  # None is allowed in place of a number
    is_share: bool = False  # a number above 0 and up to 1
    applies: Callable[[Any], bool] = lambda recipe: True  # whether it means anything beside the other choices
    goes_without_saying: bool = False  # left out of files at its default: older programs do not know this choice

    def check(self, name: str, value: object, kind: type) -> None:
        """Refuse a value that is wrong whatever the other choices are."""
        if self.among:
            if not isinstance(value, str) or value not in self.among:
                raise RecipeError(f"{name} cannot be {value!r}; it is one of {', '.join(map(repr, self.among))}.")
        elif self.is_share:
            if value is not None or not self.optional:
                _check_share(name, value)
        elif self.least is not None:
            if value is not None or not self.optional:
                _check_number(name, value, self.least, self.most)
        elif kind is bool and not isinstance(value, bool):
            raise RecipeError(f"{name} must be true or false.")
        elif kind is str:
            if not isinstance(value, str):
                raise RecipeError(f"{name} must be text.")
            refuse_long_text(name, value, LONGEST_TEXT)
            refuse_half_characters(name, value)


def _check_number(name: str, value: object, least: int, most: int) -> None:
    if not isinstance(value, int) or isinstance(value, bool):
        raise RecipeError(f"{name} must be a whole number, not {value!r}.")
    if value < least:
        raise RecipeError(f"{name} must be at least {least}, not {value:,}.")
    if value > most:
        raise RecipeError(f"{name} can be at most {most:,}, not {value:,}.")


def _check_share(name: str, value: object) -> None:
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 < value <= 1:
        raise RecipeError(f"{name} must be a share above 0 and at most 1, such as 0.9, not {value!r}.")


def title_of(choice: str) -> str:
    """Return what a choice is called where a person reads of it.

    >>> title_of("keep_share"), title_of("a_new_choice")
    ('Kept a round', 'A new choice')
    """
    declared = CHOICES.get(choice)
    return (declared and declared.title) or choice.replace("_", " ").capitalize()


def _choice(default: Any, title: str = "", tip: str = "", **declared: Any) -> Any:
    return dataclasses.field(default=default, metadata={"choice": Choice(title=title, tip=tip, **declared)})


_OF_UNIGRAM: dict[str, Any] = dict(applies=lambda recipe: recipe.method == "unigram", goes_without_saying=True)
_OF_GAGE: dict[str, Any] = dict(applies=lambda recipe: recipe.method == "gage", goes_without_saying=True)
_OF_WORDPIECE: dict[str, Any] = dict(applies=lambda recipe: recipe.method == "wordpiece", goes_without_saying=True)
_OF_SUPERBPE: dict[str, Any] = dict(applies=lambda recipe: recipe.method == "superbpe", goes_without_saying=True)
_OF_PARITY: dict[str, Any] = dict(applies=lambda recipe: recipe.method == "parity", goes_without_saying=True)
_OF_BOUNDLESS: dict[str, Any] = dict(applies=lambda recipe: recipe.method == "boundless", goes_without_saying=True)
_OF_BEST: dict[str, Any] = dict(applies=lambda recipe: recipe.method == "best", goes_without_saying=True)
_DROPPING: dict[str, Any] = _OF_UNIGRAM | dict(applies=lambda recipe: recipe.method in ("unigram", "mingram", "best"))
_OF_CHARACTERS: dict[str, Any] = dict(applies=lambda recipe: recipe.base == "characters")


@dataclass(frozen=True, kw_only=True)
class Normalization:
    clean_text: bool = _choice(
        False,
        "Clean text",
        "Leave out control characters, and turn all white space, ends of lines too, into spaces",
        goes_without_saying=True,
    )
    lowercase: bool = _choice(False, "Lower case", "Turn all letters into small ones before splitting")
    final_sigma: bool = _choice(
        True,
        "Final sigma",
        "A capital sigma that ends a word becomes ς, not σ",
        applies=lambda recipe: recipe.lowercase,
        goes_without_saying=True,
    )
    strip_accents: bool = _choice(
        False,
        "No accents",
        "Take characters apart and leave out the marks that are put on letters",
        goes_without_saying=True,
    )
    strip_ascii_punctuation: bool = _choice(
        False, "No ASCII punctuation", "Leave out !\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~ before splitting"
    )
    strip_marks: str = _choice("", "Remove also", "Further characters to leave out before splitting")  # such as “ and ’
    unicode_form: UnicodeForm = _choice("", "Unicode", among=get_args(UnicodeForm))


@dataclass(frozen=True, kw_only=True)
class Splitting(Normalization):
    """From text to words: everything that decides which words a text has."""

    unit: Unit = _choice("file", "Unit", among=get_args(Unit))  # "line": each line, with its newline, is its own text
    pattern: str = _choice("gpt2", "Split by")  # a key of NAMED_PATTERNS, or "custom"
    custom_pattern: str = _choice(
        "",
        "Pattern",
        "A regular expression: each match is a word, and so is what is between two matches",
        applies=lambda recipe: recipe.pattern == CUSTOM_PATTERN,
    )
    older_unicode: bool = _choice(
        False,
        "Unicode 16",
        "The pattern does not know characters newer than Unicode 16, like the libraries that files come from",
        applies=lambda recipe: recipe.older_unicode,
        goes_without_saying=True,
    )
    border: str = _choice(
        "",
        "Border",
        "A sign in the texts to learn from that no merge crosses, as in mor|phe|mes; there it is left out",
        applies=lambda recipe: recipe.marker == "none",
        goes_without_saying=True,
    )
    special_tokens: tuple[str, ...] = _choice(
        (), "Special tokens", "Texts such as <|endoftext|> that are never split or merged"
    )
    preparation: tuple[Any, ...] = _choice(  # steps of bpe_core.text.preparation
        (),
        "Preparation",
        "What a file does to a text that the other choices cannot say, step by step",
        applies=lambda recipe: bool(recipe.preparation),
        goes_without_saying=True,
    )


@dataclass(frozen=True, kw_only=True)
class Symbols:
    """From words to base symbols."""

    base: Base = _choice("bytes", "Starts from", among=get_args(Base))
    marker: Marker = _choice("none", "Marker", among=get_args(Marker))
    marker_text: str = _choice(
        "", "Marker text", "How the marker is written", applies=lambda recipe: recipe.marker != "none"
    )
    alphabet_limit: int | None = _choice(
        None, "Alphabet", "Keep only this many characters, the most frequent ones", least=1, optional=True,
        **_OF_CHARACTERS,
    )  # fmt: skip
    unknown: Unknown = _choice(  # what a character outside the alphabet becomes
        "unk", "Unknown as", among=get_args(Unknown), **_OF_CHARACTERS
    )
    unknown_text: str = _choice(
        UNKNOWN_TOKEN,
        "Written as",
        "How what is unknown is written",
        applies=lambda recipe: recipe.base == "characters" and recipe.unknown == "unk",
        goes_without_saying=True,
    )


@dataclass(frozen=True, kw_only=True)
class Size:
    """How much is learned: one of the two."""

    vocab_size: int | None = _choice(  # special tokens included
        32_000, "Vocabulary", least=1, most=LARGEST_VOCABULARY, optional=True
    )
    merges: int | None = _choice(None, "Steps", least=0, most=LARGEST_VOCABULARY, optional=True)


@dataclass(frozen=True, kw_only=True)
class Learning:
    """From base symbols to tokens: what is learned first."""

    method: str = _choice("bpe", "Method", "How tokens are learned", among=METHODS, goes_without_saying=True)
    min_frequency: int = _choice(
        2,
        "Minimum count",
        "A pair that occurs less often is not merged",
        least=1,
        applies=lambda recipe: recipe.method != "unigram",
    )
    max_token_length: int | None = _choice(
        None,
        "Longest token",
        "Pairs that would become longer are not merged; counted in base symbols",
        least=2,
        optional=True,
    )
    whole_characters: bool = _choice(
        False,
        "Whole characters",
        "Bytes join within one character only, until it is whole: no token holds half of one beside something else",
        applies=lambda recipe: (
            recipe.base == "bytes" and recipe.marker == "none" and recipe.method in ("bpe", "superbpe", "parity")
        ),
        goes_without_saying=True,
    )
    ties: str = _choice("first-seen", "Ties", among=TIE_RULES, applies=lambda recipe: not _DROPPING["applies"](recipe))
    seed_size: int = _choice(
        1_000_000,
        "Seeds",
        "Begin with this many pieces of words, those that cover most of the text",
        least=1,
        **_OF_UNIGRAM,
    )
    em_passes: int = _choice(
        2,
        "Passes a round",
        "Estimate the probabilities this often before each time pieces are dropped",
        least=1,
        most=10,
        **_DROPPING,
    )
    keep_share: int = _choice(
        75,
        "Kept a round",
        "The percentage of tokens that stay each time pieces are dropped",
        least=50,
        most=95,
        **_OF_UNIGRAM,
    )
    block_size: int = _choice(
        5_000,
        "Block",
        "A text is compressed in blocks of this many bytes, each with a table of its own",
        least=2,
        most=65_535,
        **_OF_GAGE,
    )
    block_bytes: int = _choice(
        200,
        "Bytes in it",
        "A block ends before it holds more different bytes; those it does not hold can stand for pairs",
        least=1,
        most=256,
        **_OF_GAGE,
    )
    wordpiece_rule: WordPieceRule = _choice(  # "score": count of the pair / (count of the left * count of the right)
        "count",
        "Chosen by",
        "What the next pair is chosen by: its count alone, or its count against those of its two halves",
        among=get_args(WordPieceRule),
        **_OF_WORDPIECE,
    )
    sums: Sums = _choice(  # "32 bits" and "64 bits" add on over a whole text, what is unknown included
        "",
        "Sums",
        "How log-probabilities are added: for each stretch alone, or on and on as SentencePiece or tokenizers do",
        among=get_args(Sums),
        applies=lambda recipe: recipe.sums != "",
        goes_without_saying=True,
    )
    transition: int | None = _choice(  # None: half of the steps
        None,
        "Transition",
        "The first merges, this many, join within words; later ones also join words to superwords",
        least=1,
        most=LARGEST_VOCABULARY,
        optional=True,
        **_OF_SUPERBPE,
    )
    words_by: str = _choice(
        "o200k",
        "Words by",
        "The pattern of the words within which the first merges join",
        among=("o200k", "o200k-apart", "cl100k", "gpt2", "english"),
        **_OF_SUPERBPE,
    )
    most_words: int | None = _choice(
        4, "Most words", "Pairs that would hold more words are not merged", least=1, optional=True, **_OF_SUPERBPE
    )
    past_colons: bool = _choice(False, "Past colons", "Merges may join a colon and the space behind it", **_OF_SUPERBPE)
    global_merges: int | None = _choice(
        None,
        "Serve all first",
        "The first merges, this many, are of the pairs that occur most in all languages together",
        least=1,
        most=LARGEST_VOCABULARY,
        optional=True,
        **_OF_PARITY,
    )
    window_size: int | None = _choice(
        None,
        "Window",
        "Of so many merges one after the other, none serves a language more often than its most",
        least=1,
        most=LARGEST_VOCABULARY,
        optional=True,
        **_OF_PARITY,
    )
    alpha: int = _choice(
        200,
        "Most of a window",
        "How much of the window may serve one language, as a percentage of a share that is equal for all",
        least=100,
        most=10_000,
        applies=lambda recipe: recipe.method == "parity" and recipe.window_size is not None,
        goes_without_saying=True,
    )
    tau: float | None = _choice(  # None: nothing is dropped
        None,
        "Drop from",
        "A merge within words that takes at least this share of one of its halves drops that half (tau of PickyBPE)",
        is_share=True,
        optional=True,
        **_OF_BOUNDLESS,
    )
    falls_into: FallsInto = _choice(
        "bytes",
        "Falls into",
        "What is left of a dropped token: its bytes, or the two tokens it was made of",
        among=get_args(FallsInto),
        **_OF_BOUNDLESS,
    )
    gap_to_floor: int = _choice(
        0,
        "Gap to floor",
        "The search ends so many thousandths above its floor; 0: as near as can be",
        least=0,
        **_OF_BEST,
    )
    longest_word: int = _choice(
        100, "Longest word", "A longer word is not split: it is unknown as a whole", least=1, **_OF_WORDPIECE
    )


@dataclass(frozen=True, kw_only=True)
class Steering:
    """What this one run does not leave to its method."""

    interventions: tuple[Intervention, ...] = _choice(
        (),
        "By hand",
        "Pairs that are never joined from a step on, or joined at one whatever their count, by ids: forbid:116+104@12",
        applies=lambda recipe: recipe.interventions != (),
        goes_without_saying=True,
    )
    grown_from: int = _choice(
        0,
        "Grown from",
        "The first steps, this many, are those of a table that the run continues on a new corpus",
        least=0,
        applies=lambda recipe: recipe.grown_from != 0,
        goes_without_saying=True,
    )


@dataclass(frozen=True, kw_only=True)
class Mixing:
    mixture: Mixture | None = _choice(  # None: all texts as they are
        None, "Mixture", "How much each group of texts counts, and what is taken of it", goes_without_saying=True
    )


@dataclass(frozen=True, kw_only=True)
class Reading:
    """From tokens back to a text."""

    decoding: tuple[Any, ...] = _choice(  # steps of bpe_core.text.decoding
        (),
        "Decoding",
        "How the library that a file belongs to turns tokens back into a text, step by step",
        applies=lambda recipe: bool(recipe.decoding),
        goes_without_saying=True,
    )


Part = TypeVar("Part", bound=Normalization | Symbols | Size | Learning | Steering | Mixing | Reading)


@dataclass(frozen=True, kw_only=True)
class Recipe(Reading, Mixing, Steering, Learning, Size, Symbols, Splitting):
    """How text becomes words, words become symbols, and symbols become tokens."""

    name: str = _choice("my recipe")

    def __post_init__(self) -> None:
        if self.marker_text == "":
            object.__setattr__(self, "marker_text", _DEFAULT_MARKER_TEXT.get(self.marker, ""))
        tokens: object = self.special_tokens
        if isinstance(tokens, str):  # else each letter would be one
            raise RecipeError("The special tokens must be a list of texts.")
        object.__setattr__(self, "special_tokens", tuple(self.special_tokens))
        if expression := brought_expression(self.pattern):  # so that files can be read without the plug-in
            object.__setattr__(self, "custom_pattern", self.custom_pattern or expression)
            object.__setattr__(self, "pattern", CUSTOM_PATTERN)
        object.__setattr__(self, "interventions", checked_interventions(self.interventions))
        object.__setattr__(self, "preparation", self.preparation and _prepare().steps_of(self.preparation))
        object.__setattr__(self, "decoding", self.decoding and _decode().decoders_of(self.decoding))
        object.__setattr__(self, "mixture", mixture_of(self.mixture))
        for field in dataclasses.fields(self):
            CHOICES[field.name].check(field.name, getattr(self, field.name), type(field.default))
        _check_agreement(self)
        check_pattern(self.pattern, self.custom_pattern)

    @classmethod
    def preset(cls, name: str, **changes: Any) -> Recipe:
        if name not in PRESETS:
            raise RecipeError(f"There is no preset {name!r}; there are {', '.join(PRESETS)}.")
        return _unchanged(name).with_changes(**changes) if changes else _unchanged(name)

    def with_changes(self, **changes: Any) -> Recipe:
        for key in changes:
            if key not in CHOICES:
                raise RecipeError(f"A recipe has no choice named {key!r}.")
        for one, other in (("merges", "vocab_size"), ("vocab_size", "merges")):
            if changes.get(one) is not None and other not in changes:
                changes[other] = None
        if "marker" in changes and changes["marker"] != self.marker and "marker_text" not in changes:
            changes["marker_text"] = ""
        if self.preparation and "special_tokens" in changes and "preparation" not in changes:
            changes["preparation"] = _prepare().those_of(
                self.preparation, (*changes["special_tokens"], changes.get("unknown_text", self.unknown_text))
            )
        if self.decoding and any(changes.get(name, was) != was for name, was in self._symbols.items()):
            changes.setdefault("decoding", ())  # which read other symbols
        if "method" in changes and changes["method"] in METHODS:
            changes = {**METHODS[changes["method"]].needs, **changes}
        return dataclasses.replace(self, **changes)

    @property
    def _symbols(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in ("base", "marker", "marker_text", "unknown", "method")}

    def part(self, kind: type[Part]) -> Part:
        return kind(**{field.name: getattr(self, field.name) for field in dataclasses.fields(kind)})

    def differing(self, other: Recipe, *parts: type[Part]) -> list[str]:
        """The names of the choices of these parts in which the two differ."""
        return [name for name in _choices_of(parts) if getattr(self, name) != getattr(other, name)]

    def is_same_but_for_size(self, other: Recipe) -> bool:
        """Whether what one learns is the beginning of what the other learns."""
        if METHODS[self.method].size_decides and self.differing(other, Size):
            return False
        return not self.differing(other, Splitting, Symbols, Learning, Steering, Mixing)

    @property
    def wording(self) -> Wording:
        return METHODS[self.method].wording

    @property
    def listed(self) -> Recipe:
        """The recipe of a table that holds such tokens, but no steps."""
        other = METHODS[self.method].listed_as
        return self.with_changes(method=other) if other else self

    @property
    def single(self) -> Single | None:
        listed = METHODS[self.method]
        return listed.single if not listed.single_by or getattr(self, listed.single_by) is not None else None

    @property
    def asks_for_line_ends(self) -> bool:
        """Whether its words must be counted together with how often each ends a line."""
        return METHODS[self.method].asks_for_line_ends

    def applies(self, choice: str) -> bool:
        """Whether this choice has a meaning beside the others, and is not made by the method."""
        return choice not in METHODS[self.method].needs and CHOICES[choice].applies(self)

    @property
    def _changes_text(self) -> bool:
        return self.part(Normalization) != Normalization()

    @cached_property
    def normalizes(self) -> bool:
        return self._changes_text or any(_prepare().is_normalizer(step) for step in self.preparation)

    @cached_property
    def splits_by_steps(self) -> bool:
        return any(_prepare().is_pre_tokenizer(step) for step in self.preparation)

    @property
    def shows_bytes(self) -> bool:
        """Whether words that a step turns into bytes are made of the characters that represent these."""
        return self.base == "characters"

    @property
    def lists_bytes(self) -> bool:
        """Whether it is of a table of byte strings that nobody learned, of which the longest that fits is taken."""
        return self.lists_pieces and (self.pattern, self.base, self.marker) == ("none", "bytes", "none")

    @property
    def lists_pieces(self) -> bool:
        """Whether it is of WordPiece that nobody learned, whose tokens may begin and continue words unmarked."""
        return self.method == "wordpiece" and self.merges == 0

    @property
    def keeps_characters(self) -> bool:
        return self.whole_characters and self.applies("whole_characters")

    @property
    def serves_languages(self) -> bool:
        """Whether its words must be counted by groups, which are the languages."""
        return METHODS[self.method].serves_languages

    @property
    def of_one_text(self) -> Recipe:
        """The recipe by which the words of each language are counted before all are together."""
        return self.with_changes(method="bpe", mixture=None) if self.serves_languages else self

    def merge_limit(self, alphabet_size: int) -> int:
        if self.merges is not None:
            return self.merges
        assert self.vocab_size is not None  # _check_numbers saw to it
        least = alphabet_size + len(self.special_tokens)
        if self.vocab_size < least:
            beside = f" and {len(self.special_tokens)} special tokens" if self.special_tokens else ""
            problem = f"A vocabulary of {self.vocab_size:,} has no room for the {alphabet_size:,} base symbols{beside}."
            raise SizeDoesNotFit(problem, f"Choose at least {least:,}.", 2 * least)
        return self.vocab_size - least

    def to_dict(self) -> dict[str, Any]:
        values = {"name": self.name} | {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        values |= {"special_tokens": [*self.special_tokens], "interventions": [*map(str, self.interventions)]}
        values["mixture"] = None if self.mixture is None else self.mixture.to_json_value()
        values |= {"preparation": list(map(_prepare().as_json, self.preparation))} if self.preparation else {}
        values |= {"decoding": list(map(_decode().as_json, self.decoding))} if self.decoding else {}
        for field in dataclasses.fields(self):
            if CHOICES[field.name].goes_without_saying and getattr(self, field.name) == field.default:
                del values[field.name]
        return values

    def to_json(self) -> str:
        return json.dumps(self.to_dict(), ensure_ascii=False, indent=2)

    @classmethod
    def from_dict(cls, values: object) -> Recipe:
        if not isinstance(values, dict):
            raise RecipeError("A recipe must be a JSON object with one entry a choice.")
        unknown = sorted(str(key) for key in values if key not in CHOICES)
        if unknown:
            raise RecipeError(f"A recipe has no choice named {unknown[0]!r}.")
        with gate("The recipe cannot be read", RecipeError):
            return cls(**values)

    @classmethod
    def from_json(cls, text: str) -> Recipe:
        return cls.from_dict(json_of(text, "The recipe is not valid JSON", RecipeError))


CHOICES: dict[str, Choice] = {field.name: field.metadata["choice"] for field in dataclasses.fields(Recipe)}


def _prepare() -> ModuleType:
    from bpe_core.text.preparation import steps  # which few recipes have

    return steps


def _decode() -> ModuleType:
    import bpe_core.text.decoding as decoding  # which few recipes have, too

    return decoding


@cache
def _choices_of(parts: tuple[type[Part], ...]) -> list[str]:
    return [field.name for kind in parts for field in dataclasses.fields(kind)]


@cache
def _unchanged(preset: str) -> Recipe:
    """A window asks for each of them again and again."""
    return Recipe(name=preset, **PRESETS[preset].choices)


def _check_agreement(recipe: Recipe) -> None:
    if (recipe.vocab_size is None) == (recipe.merges is None):
        raise RecipeError("Say either the vocabulary size or the number of merges, not both and not neither.")
    method = METHODS[recipe.method]
    for name, needed in method.needs.items():
        by_file = bool(recipe.preparation or recipe.sums) or recipe.lists_pieces
        is_unmarked = name == "marker" and recipe.marker == "none" and by_file
        if getattr(recipe, name) != needed and not is_unmarked and not recipe.lists_bytes:
            raise RecipeError(f"{method.title} needs {name} to be {needed!r}, not {getattr(recipe, name)!r}.")
    if not method.can_be_steered and recipe.interventions:
        raise RecipeError(f"By {method.title} no pair can be forbidden or forced.")
    if not method.can_be_steered and recipe.grown_from:
        raise RecipeError(f"By {method.title} no run goes on with the steps of another table.")
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
    if recipe.preparation:
        changed = recipe.part(Normalization) != Normalization()
        split = recipe.pattern != "none" or recipe.unit != "file"
        tokens = (*recipe.special_tokens, recipe.unknown_text)  # which a file may look for in texts, too
        _prepare().check_steps(recipe.preparation, tokens, changed=changed, split=split)
    if recipe.marker in ("symbol", "glued", "prefix") and recipe.pattern == "none" and not recipe.splits_by_steps:
        raise RecipeError("A word marker needs words: choose a pattern that splits the text, or no marker.")
    if recipe.border and (recipe.marker != "none" or recipe.border.strip() != recipe.border):
        raise RecipeError("A border is a sign without white space, in words without a marker; choose another, or none.")
    if not recipe.unknown_text:
        raise RecipeError("What is unknown needs a text, such as <unk>.")
    if recipe.marker != "none" and not recipe.marker_text:
        raise RecipeError("The word marker needs a text, such as </w>.")
    if not TIE_RULES[recipe.ties].fits(recipe.base):
        raise RecipeError(f"The tie rule {recipe.ties} orders bytes; on characters choose another, such as lowest-ids.")
    check_specials(recipe.special_tokens)
