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
    """A named recipe: the choices that differ from the defaults, and an explanation in one line."""

    choices: dict[str, Any]
    explanation: str


@dataclass(frozen=True, kw_only=True)
class OwnChoices:
    """The base class for the choices of a recipe that only one method has.

    A method with such choices declares a subclass.
    """


class Kind(Protocol):
    """The part of a file format's interface that methods use.

    `bpe_core.formats.base.Format` explains each attribute.
    """

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
        A number that sorts lists of methods, in ascending order.
    choices
        The dataclass of the choices that only this method has.
    presets
        The named recipes of this method, each with its explanation.
    needs
        A dictionary from the name of a common choice to the value that it must have for this method.
    learns_symbols
        Whether a method that needs bytes for texts can also learn from sequences of other symbols, such as
        integers.
    ignores
        The common choices that have no effect on this method.
    wording
        The words that messages use for a step of this method, such as "merge".
    usual_sizes
        The usual sizes of vocabularies, each with its purpose.
    single
        The steps that this method makes besides joining pairs: "drop" for steps that drop a token, "add" for
        steps that add one. The tokens to add are the seeds at the end of the alphabet.
    first_size
        The size of the vocabulary that the window suggests for a small sample. It should be a size at which many
        steps change how the sample is split.
    listed_as
        The name of another method. A file that lists the tokens of this method without steps is opened with that
        method. Empty if no other method is needed.
    learns_at_once
        Whether the method learns a short sample without delay. Such methods come first in the room Watch.
    is_contrast
        Whether the window offers this method for a comparison on the same sample.
    tables
        The kinds of tables that hold the result of the method. `Format.tables` names the kinds of a format.
    instead
        The advice that is shown if the chosen format cannot hold the result. It names formats that can.
    formats
        A dictionary from name to format, for the formats that the method adds.
    asks_for_line_ends
        Whether the ends of lines affect what the method learns, besides the words and their counts.
    may_split_twice
        Whether the method can learn in two stages, with a different split of the texts in the first stage.
    serves_languages
        Whether the groups of the corpus, such as languages, affect what the method learns.
    size_decides
        Whether the early steps depend on the final size of the vocabulary.
    choice_to_grow_by
        The name of the choice that a user must make before the method can continue a list of tokens from a file.
        Empty if there is none.
    cannot_grow
        The reason why the method cannot continue a table. Empty if it can.
    goes_across_words
        Whether the method can continue any table of bytes with merges across words.
    superword_limits
        The choices that matter only for merges across words.
    can_be_steered
        Whether a user may forbid or force a pair at a step, and continue a table.
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
        Whether pairs are counted without overlaps, so that a count equals the number of tokens that the merge
        makes. For example, `aaa` then contains the pair a+a once and not twice.
    starts_anew
        Whether each block of a text has a separate table, so that several steps may join the same pair.
    """

    name: str = ""
    title: str = ""
    explanation: str = ""
    place: int = 1_000
    choices: type[OwnChoices] = OwnChoices
    presets: Mapping[str, Preset] = {}
    needs: Mapping[str, Any] = {}
    learns_symbols: bool = False
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
    may_split_twice: bool = False
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
        """Return a dictionary from name to declaration, for the choices that only this method has."""
        return choices_of(self.choices)

    def needs_for(self, base_symbols: str) -> Mapping[str, Any]:
        """Return a dictionary of the recipe choices for which this method needs certain values.

        The keys are the names of the choices, and the values are the required values. `base_symbols` is the kind
        of the base symbols. It is empty if the base symbols are text.

        >>> MethodFacts().needs_for("integers")
        {}
        """
        if base_symbols and self.learns_symbols:
            return {name: value for name, value in self.needs.items() if name != "base"}
        return self.needs

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
        """Return a recipe's choices that make a word unknown if it has more than `characters` characters."""
        return {}

    def pattern_inside(self, recipe: Any) -> str:
        """Return the pattern that splits a run of words into words. Only methods that join across words use it."""
        return "o200k"

    def recipe_at_first(self, recipe: Any) -> Any:
        """Return the recipe that splits the texts into words for the first stage of learning.

        Return None if no separate recipe is needed, because there is only one stage, or because the first stage
        splits the words of `recipe` further.
        """
        return None

    def falls_into_bytes(self, recipe: Any) -> bool:
        """Return whether a dropped token is split into its bytes.

        If not, it is split into the two tokens it was made from.
        """
        return True

    def joins_in_order(self, recipe: Any) -> bool:
        """Return whether the tokens of a text are only ever joined, and never split again by a later step."""
        return True

    def cutter(self, history: Any, cutting: Any) -> Any:
        """Return the segmenter. It gives the tokens of a text after any number of steps."""
        raise NotImplementedError

    def word_ranks(self, history: Any) -> WordRanks:
        """Return a function in plain Python that computes the rank of each boundary in a word.

        The function is slower than machine code. Only methods whose boundaries have ranks have such a function.
        """
        raise NotImplementedError

    def word_cutter(self, history: Any) -> Any:
        """Return the slow function that splits a word after any number of steps.

        Only methods whose boundaries have no ranks have such a function.
        """
        raise NotImplementedError

    def single_of(self, recipe: Any) -> Single | None:
        """Return the kind of step in this recipe that changes a single token: "drop" or "add".

        Return None if all steps are joins.
        """
        return self.single
