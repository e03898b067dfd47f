"""The facts about a method that are known before the modules of the method are loaded."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, Protocol

from bpe_core.recipes.choice import Choice, choices_of
from bpe_core.support.format_row import Row
from bpe_core.support.wording import count_text

FIRST_SIZE = 512  # tokens
# A function from the base symbols of a word to the step that removes each boundary between two symbols. The step is
# None if no step removes the boundary.
WordRanks = Callable[[list[int]], list[int | None]]
Single = Literal["drop", "add"]


@dataclass(frozen=True)
class Wording:
    """The noun for the steps of a method, such as "merge" or "drop", and texts that count steps.

    >>> Wording().counted(1), Wording("drop").counted(1_200)
    ('1 merge', '1,200 drops')
    """

    step: str = "merge"
    done: str = "merged"  # what the step did to the chosen pair or piece
    choice: str = "pair"  # what the step chooses among
    best: str = ""  # why it was chosen, such as "with the highest score"; empty if it occurs most often

    @property
    def steps(self) -> str:
        return f"{self.step}s"

    def counted(self, number: int) -> str:
        """Return a number of steps as a text, such as `3 merges`."""
        return count_text(number, self.step)


@dataclass(frozen=True)
class Preset:
    """A named recipe: the choices that differ from the defaults, and a line that explains the recipe."""

    choices: dict[str, Any]
    explanation: str


@dataclass(frozen=True, kw_only=True)
class OwnChoices:
    """The base class for the choices of a recipe that only one method has.

    A method with such choices declares a subclass.
    """


class Kind(Protocol):
    """The interface of a file format, as far as methods use it. `bpe_core.formats.base.Format` explains each
    attribute."""

    @property
    def name(self) -> str: ...

    @property
    def tables(self) -> frozenset[str]: ...

    @property
    def methods(self) -> tuple[str, ...] | None: ...

    @property
    def holds(self) -> str: ...


class MethodFacts:
    """The base class of every method. It holds the facts about the method, such as its titles, choices and presets.

    Attributes
    ----------
    name
        The name that recipes and files use.
    title, explanation
        The name and the sentence that people read.
    place
        The order in lists. Methods with a small number come first.
    choices
        The dataclass of the choices that only this method has.
    presets
        The named recipes of this method, each with its explanation.
    needs
        The values that some common choices must have for this method, by the name of the choice.
    ignores
        The common choices that have no effect on this method.
    wording
        The noun for the steps.
    usual_sizes
        The usual sizes of vocabularies, each with its purpose.
    single
        What the steps may do besides joining a pair: drop a token, or add a token. The tokens to add are the seeds,
        which are at the end of the alphabet.
    first_size
        The size of the vocabulary for a small sample. Many steps should change how the sample is split.
    listed_as
        The method that a table belongs to if the table lists this method's tokens without steps. It is empty if the
        table belongs to this method.
    learns_at_once
        Whether the method learns a short sample without delay. Then the first room of the window offers the method.
    is_contrast
        Whether the window offers to learn the same sample by this method, for a comparison.
    tables
        The kinds of tables that hold the result of the method. `Format.tables` names the kinds of a format.
    instead
        The advice for a person whose chosen format cannot hold the result: which formats can hold it.
    formats
        The formats that the method adds, by name.
    asks_for_line_ends
        Whether the ends of lines affect what the method learns, besides the words and their counts.
    serves_languages
        Whether the groups of the corpus, such as languages, affect what the method learns.
    size_decides
        Whether the early steps depend on the final size of the vocabulary.
    choice_to_grow_by
        The choice that a person must make to continue a list of tokens. The name is empty if no choice is needed.
    cannot_grow
        The reason why the method cannot continue a table. The reason is empty if the method can.
    goes_across_words
        Whether the method can continue any table of bytes with merges across words.
    superword_limits
        The choices that only matter across words.
    can_be_steered
        Whether a person may forbid or force a pair at a step, and continue a table.
    keeps_characters
        Whether a choice of the recipe limits the merges to bytes of one character.
    has_continuations
        Whether a character is one base symbol at the beginning of a word and another base symbol inside a word.
    has_seeds
        Whether the alphabet may hold whole pieces of words, after the base symbols.
    looks_tokens_up
        Whether a split depends only on the set of tokens, and not on the steps that made the tokens.
    joins_runs
        Whether the method joins tokens within words first, and then joins words that consist of one token.
    counts_apart
        Whether a count says how many tokens its merge makes. `aaa`, for example, holds a+a once.
    starts_anew
        Whether each block of a text has a separate table. Then several steps may join the same pair.
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
    first_size: int = FIRST_SIZE
    listed_as: str = ""
    learns_at_once: bool = True
    is_contrast: bool = False
    tables: frozenset[str] = frozenset()
    instead: str = ""
    formats: Mapping[str, Row] = {}

    # Facts besides the words and their counts that decide what the method learns.
    asks_for_line_ends: bool = False
    serves_languages: bool = False
    size_decides: bool = False

    # Facts about learning and splitting.
    choice_to_grow_by: str = ""
    cannot_grow: str = "this method cannot continue from a table. Train a new table with a larger vocabulary."
    goes_across_words: bool = False
    superword_limits: frozenset[str] = frozenset()
    can_be_steered: bool = False
    keeps_characters: bool = False
    has_continuations: bool = False
    has_seeds: bool = False
    looks_tokens_up: bool = False
    joins_runs: bool = False
    counts_apart: bool = False
    starts_anew: bool = False

    @cached_property
    def own_choices(self) -> Mapping[str, Choice]:
        """Return the declarations of the choices that only this method has, by name."""
        return choices_of(self.choices)

    def fits(self, format: Kind) -> bool:
        """Return whether files of a format can hold what this method learned."""
        if format.methods is not None:
            return not format.methods or self.name in format.methods
        return not format.tables or not format.tables.isdisjoint(self.tables)

    def refusal(self, format: Kind) -> str:
        """Return why a format cannot hold what this method learned, and what to choose instead. Return "" if it can."""
        if self.fits(format):
            return ""
        advice = f"{self.instead}, or " if self.instead else ""
        return (
            f"{format.name} holds {format.holds}, but this table was learned by {self.title}: {advice}save it as "
            "a session."
        )

    def knows(self, scores: Sequence[float]) -> bool:
        """Return whether scores from a file show that this method learned the file's vocabulary.

        Only the values of the scores are examined.
        """
        return False

    # The meaning of the method's own choices, for code that does not know these choices by name.

    def longest_word_of(self, recipe: Any) -> int | None:
        """Return the number of characters above which a word counts as unknown. Return None if there is no limit."""
        return None

    def choices_for_longest_word(self, characters: int) -> Mapping[str, Any]:
        """Return the choices that make words of more than `characters` unknown."""
        return {}

    def pattern_inside(self, recipe: Any) -> str:
        """Return the pattern that splits runs of words into words, for a method that joins across words."""
        return "o200k"

    def falls_into_bytes(self, recipe: Any) -> bool:
        """Return whether a dropped token is split into its bytes. Otherwise it is split into the two tokens that made
        it."""
        return True

    def joins_in_order(self, recipe: Any) -> bool:
        """Return whether the tokens of a text are only ever joined, and never split again by a later step."""
        return True

    def cutter(self, history: Any, cutting: Any) -> Any:
        """Return the segmenter, which splits texts into tokens after any number of steps."""
        raise NotImplementedError

    def word_ranks(self, history: Any) -> WordRanks:
        """Return the slow function that computes the rank of each boundary in a word, if boundaries have ranks."""
        raise NotImplementedError

    def word_cutter(self, history: Any) -> Any:
        """Return the slow function that splits a word after any number of steps, if boundaries have no ranks."""
        raise NotImplementedError

    def single_of(self, recipe: Any) -> Single | None:
        """Return the kind of step in this recipe that is not a join: "drop" or "add".

        Return None if all steps are joins.
        """
        return self.single
