"""The facts about a method that recipes, histories and forms need before anything of it is loaded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, Protocol

from bpe_core.recipes.choice import Choice, choices_of
from bpe_core.support.format_row import Row
from bpe_core.support.wording import count_text

FIRST_SIZE = 512  # tokens
Single = Literal["drop", "add"]


@dataclass(frozen=True)
class Wording:
    """The words for what a step of a method does.

    >>> Wording().counted(1), Wording("drop").counted(1_200)
    ('1 merge', '1,200 drops')
    """

    step: str = "merge"
    done: str = "merged"  # what was done to the pair or piece that was chosen
    choice: str = "pair"  # what the step chose among
    best: str = ""  # why it was chosen, such as "with the highest score"; empty for the one that occurs most

    @property
    def steps(self) -> str:
        return f"{self.step}s"

    def counted(self, number: int) -> str:
        """Return a number of steps in words."""
        return count_text(number, self.step)


@dataclass(frozen=True)
class Preset:
    """A named recipe: the choices that differ from the defaults, and a line that explains it."""

    choices: dict[str, Any]
    explanation: str


@dataclass(frozen=True, kw_only=True)
class OwnChoices:
    """The choices of a recipe that only one method has. A method with some declares a subclass."""


class Kind(Protocol):
    """A kind of file, as far as a method looks at it; `bpe_core.formats.base.Format` says what each means."""

    @property
    def name(self) -> str: ...

    @property
    def tables(self) -> frozenset[str]: ...

    @property
    def methods(self) -> tuple[str, ...] | None: ...

    @property
    def holds(self) -> str: ...


class MethodFacts:
    """The base of every method: its titles, its choices, and what they mean for a recipe.

    Attributes
    ----------
    name
        The name that recipes and files use.
    title, explanation
        The name and the sentence that people read.
    place
        The order in lists; methods with a small number come first.
    choices
        The dataclass of the choices that only this method has.
    presets
        Named recipes of this method, each with its explanation.
    needs
        The only values that some common choices can have.
    ignores
        The common choices that mean nothing to this method.
    wording
        The words for one of its steps.
    usual_sizes
        Sizes of vocabularies that serve well, in words.
    single
        What its steps may do besides joining a pair: drop a token, or add one that waits among the seeds.
    """

    name: str = ""
    title: str = ""
    explanation: str = ""
    place: int = 1_000
    choices: type[OwnChoices] = OwnChoices
    presets: Mapping[str, Preset] = {}
    needs: Mapping[str, Any] = {}
    ignores: frozenset[str] = frozenset()
    wording: Wording = Wording()
    usual_sizes: tuple[str, ...] = ()
    single: Single | None = None
    first_size: int = FIRST_SIZE  # of the vocabulary of a small sample, so that many steps change how it is split
    listed_as: str = ""  # the method of a table that holds its tokens without steps, where that is another
    learns_at_once: bool = True  # a short sample within a blink, so that the first room offers it
    is_contrast: bool = False  # a result of another method is compared with it first
    tables: frozenset[str] = frozenset()  # the kinds of tables that hold what it learned; see `Format.tables`
    instead: str = ""  # the formats to choose where one cannot hold it, as an advice in words
    formats: Mapping[str, Row] = {}  # by name, those that it brings: of tables that no other method has

    # What it learns depends on, besides the words and their counts.
    asks_for_line_ends: bool = False
    serves_languages: bool = False  # on the group of texts that each word is of
    size_decides: bool = False  # on the final size of the vocabulary, from early on

    # How it learns and splits.
    choice_to_grow_by: str = ""  # its own choice that a table leaves open which lists tokens and goes on
    cannot_grow: str = "it knows no way to go on from a table. Learn it again with a larger vocabulary."  # why, if so
    goes_across_words: bool = False  # behind the steps of any table of bytes, where a person asks for it
    superword_limits: frozenset[str] = frozenset()  # its choices that mean nothing as long as it does not
    can_be_steered: bool = False  # a person may forbid or force a pair at a step, and go on from a table
    keeps_characters: bool = False  # a choice makes it join bytes within one character only
    has_continuations: bool = False  # a character inside a word is another base symbol than at its beginning
    has_seeds: bool = False  # its alphabet may hold whole pieces of words, behind the base symbols
    looks_tokens_up: bool = False  # a text is split by which tokens there are, whatever they were made of
    joins_runs: bool = False  # it joins within words first, then words that are one token
    counts_apart: bool = False  # a count says how many tokens its merge makes: `aaa` holds a+a once
    starts_anew: bool = False  # with each block of a text: several steps may join the same pair, each for its block

    @cached_property
    def own_choices(self) -> Mapping[str, Choice]:
        """Return the declarations of the choices that only this method has, by name."""
        return choices_of(self.choices)

    def fits(self, format: Kind) -> bool:
        """Return whether files of a format hold what it learned."""
        if format.methods is not None:
            return not format.methods or self.name in format.methods
        return not format.tables or not format.tables.isdisjoint(self.tables)

    def refusal(self, format: Kind) -> str:
        """Say why a format does not hold what it learned, and what to choose instead; nothing if it does."""
        if self.fits(format):
            return ""
        advice = f"{self.instead}, or " if self.instead else ""
        return (
            f"{format.name} holds {format.holds}, and this was learned by another method, {self.title}: "
            f"{advice}keep it as a session."
        )

    def knows(self, scores: Sequence[float]) -> bool:
        """Return whether only this method gives tokens such scores."""
        return False

    # What its own choices mean to others, who know none of them by name.

    def longest_word_of(self, recipe: Any) -> int | None:
        """Return how many characters a word may have that is not unknown as a whole; None where any may be split."""
        return None

    def choices_for_longest_word(self, characters: int) -> Mapping[str, Any]:
        """Return the choices by which longer words are unknown."""
        return {}

    def pattern_inside(self, recipe: Any) -> str:
        """Return the pattern of the words inside the runs that it joins across."""
        return "o200k"

    def falls_into_bytes(self, recipe: Any) -> bool:
        """Return whether a token that is dropped leaves its bytes; otherwise it leaves the two it was made of."""
        return True

    def joins_in_order(self, recipe: Any) -> bool:
        """Return whether what a step joins stays joined."""
        return True

    def single_of(self, recipe: Any) -> Single | None:
        """Return what steps by this recipe may do besides joining."""
        return self.single
