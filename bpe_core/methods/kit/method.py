"""The interface of a method, by which the rest of the program learns, splits, explains, compares and writes files.

The rest of the program asks this object and never checks which method it is. Its modules are loaded when the work
begins, so a recipe can name a method at no cost.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from bpe_core.methods.facts import MethodFacts, WordRanks

if TYPE_CHECKING:  # recipes load this module first
    from bpe_core.counting.words import WordTable
    from bpe_core.history.alphabet import Alphabet
    from bpe_core.history.history import History
    from bpe_core.methods.kit.blocks import RunBlocks
    from bpe_core.methods.kit.container import Container
    from bpe_core.methods.kit.explanation import Corpus, ExplainedText
    from bpe_core.methods.kit.learner import CompiledWay, LearnerStart, Way
    from bpe_core.methods.kit.life import TokenLife
    from bpe_core.methods.kit.reasons import Reason
    from bpe_core.methods.kit.runs import Inside
    from bpe_core.methods.kit.ways import Ways
    from bpe_core.recipes.recipe import Recipe
    from bpe_core.segmenting.cutting import Allowed, Cutting
    from bpe_core.segmenting.segmentation import Segmenter
    from bpe_core.support.progress import Work


class Method(MethodFacts):
    """A way to learn a vocabulary, and to split texts by what was learned.

    Each folder in `bpe_core/methods` has a method in its `__init__.py`, and a plug-in can bring methods.
    `check_method` says what is wrong with a method. `MethodFacts` explains the facts that are known before any of its
    modules is loaded.

    Attributes
    ----------
    reason
        The name of the value by which the best step is chosen.
    nothing_to_learn
        The message for a text from which it cannot learn anything.
    has_ranks
        Whether one step removes each boundary of a text, for good.
    learns_by_ranks
        Whether one step removes each boundary of the words that it learns from, for good.
    shared_as
        How the script of a shared page splits texts by this method; empty if it cannot.
    counts_fall
        Whether counts never rise from step to step.
    cost_of_token
        The number that is subtracted from each log-probability, so that the path with the fewest tokens is the best.
    """

    reason: str = "count"
    nothing_to_learn: str = "There is nothing to learn from this text; choose another text."
    has_ranks: bool = False
    learns_by_ranks: bool = False
    shared_as: str = ""
    counts_fall: bool = False
    cost_of_token: float = 0.0

    @staticmethod
    def of(recipe: Recipe) -> Method:
        """Return the method that a recipe names."""
        return Method.named(recipe.method)

    @staticmethod
    def named(name: str) -> Method:
        from bpe_core.methods.registry import METHODS  # imported late, as its methods derive from this class

        method = METHODS[name]
        assert isinstance(method, Method)  # the registry accepts no other class
        return method

    def _part(self, file: str, name: str) -> Any:
        """Return an object from a file of the method's folder, or from the folder of a method that it derives from."""
        for kind in type(self).__mro__:
            package = sys.modules[kind.__module__]
            if hasattr(package, "__path__") and find_spec(f"{kind.__module__}.{file}") is not None:
                module = import_module(f"{kind.__module__}.{file}")
                if hasattr(module, name):
                    return getattr(module, name)
        return None

    # -- learning --------------------------------------------------------------------------

    @property
    def specification(self) -> Callable[[WordTable, Recipe], History] | None:
        """Return the short, slow function that all other ways to learn must equal, if there is one."""
        found: Callable[[WordTable, Recipe], History] | None = self._part("reference", "train")
        return found

    @property
    def warm_up(self) -> Mapping[str, Callable[[], None]]:
        """Return tiny jobs that each run the method's own kernels once, by their part of the machine code."""
        return self._part("warm_up", "WORK") or {}

    def begin(self, words: WordTable, recipe: Recipe, known: History | None = None, *, fast: bool) -> LearnerStart:
        """Return a learner that stands before its first step; it makes the steps of a known history first.

        Parameters
        ----------
        words
            The distinct words with their counts.
        recipe
            The choices; a size that does not fit is refused.
        known
            A history to go on from.
        fast
            Whether to learn by machine code, which must be ready.
        """
        from bpe_core.methods.kit.learner import LearnerStart

        alphabet = self.tokens_at_first(words, recipe) if known is None else known.alphabet
        self.steps_planned(recipe, alphabet)
        way = self.compiled if fast else self.plain
        assert way is not None  # callers check first that there is a way
        return LearnerStart(alphabet, way.learner(words, alphabet, recipe, known))

    @property
    def plain(self) -> Way | None:
        """Return the way to learn in plain Python: the method's own, or a replay of its specification."""
        found: Way | None = self._part("learn", "PLAIN")
        if found is not None or self.specification is None:
            return found
        from bpe_core.methods.kit.by_specification import specified_way

        return specified_way(self)

    @property
    def compiled(self) -> CompiledWay | None:
        """Return the way to learn by machine code, if there is one."""
        found: CompiledWay | None = self._part("learn", "COMPILED")
        return found

    def tokens_at_first(self, words: WordTable, recipe: Recipe) -> Alphabet:
        """Return the tokens that there are before the first step."""
        from bpe_core.history.alphabet import Alphabet

        return Alphabet.for_words(words, recipe)

    def pieces_at_first(self, words: WordTable, recipe: Recipe) -> Alphabet | None:
        """Return the first tokens for words with any marker, for a method that chooses among pieces of words."""
        return None

    def steps_planned(self, recipe: Recipe, alphabet: Alphabet) -> int:
        """Return how many steps the recipe asks for; refuse a size that does not fit the alphabet."""
        return recipe.merge_limit(len(alphabet))

    def words_at_first(self, words: WordTable, recipe: Recipe) -> Inside | None:
        """Return the words of the first stage, for a method that learns within runs of words first."""
        return None

    def turns(self, history: History) -> Mapping[int, str]:
        """Return the steps after which the method learns in another way, each with a sentence."""
        return {}

    def second_stage(self, history: History) -> dict[str, Any]:
        """Return the choices with which the method continues a table across words."""
        raise NotImplementedError

    def blocks(self, words: WordTable, recipe: Recipe, work: Work) -> RunBlocks | None:
        """Return the blocks of the texts, for a method that gives each block its own table."""
        return None

    @property
    def container(self) -> Container | None:
        """Return the way to compress files, for a method that can."""
        return None

    def readings(self, history: History) -> Iterable[History]:
        """Return other readings of a file's table: histories of this method with the same tokens."""
        return ()

    def settled(self, history: History) -> Mapping[str, Any]:
        """Return choices that a history's recipe leaves open but its steps show."""
        return {}

    def told_of(self, history: History) -> str:
        """Say in a sentence which of the method's own choices made a history, if that helps to judge it."""
        return ""

    def forbids(self, text: bytes, recipe: Recipe) -> str:
        """Say what the recipe forbids about a token with this text; empty if the token is allowed."""
        return ""

    def what_is_wrong(self, history: History) -> str:
        """Say why a history from a file cannot be one of this method; empty if it can."""
        return ""

    def reasons(self, recipe: Recipe) -> tuple[Reason, ...]:
        """Return the reasons of steps besides the count."""
        return ()

    # -- splitting texts -------------------------------------------------------------------

    def word_ranks(self, history: History) -> WordRanks:
        """Return the slow function that says which step removes each boundary of a word, if one step does for good."""
        from bpe_core.methods.registry import USUAL  # imported late, as its methods derive from this class

        return Method.named(USUAL).word_ranks(history)

    def cutter(self, history: History, cutting: Cutting) -> Segmenter:
        """Return the segmenter, which splits texts into tokens after any number of steps."""
        raise NotImplementedError

    def explain(self, text: str, history: History, allowed: Allowed, corpus: Corpus | None = None) -> ExplainedText:
        """Return the answers to "why is the text split here?" for every boundary of a text.

        `corpus` holds the words that the history was learned from, if they are known and boundaries have ranks.
        """
        from bpe_core.methods.kit.explanation import ByTokens
        from bpe_core.segmenting.cutting import Cutting

        cutting = Cutting(history.recipe)
        segmentation = self.cutter(history, cutting).segmentation(text, cutting.allowed(allowed))
        return ByTokens(segmentation, history)

    def life(
        self, token: int, at: int, history: History, words: WordTable | None, usual: Callable[[], TokenLife]
    ) -> TokenLife:
        """Return the life of a token after `at` steps.

        `usual` computes the usual answer from the steps, and from the words if they are known.
        """
        return usual()

    def ways(self, history: History, scores: Sequence[float] | None, dropout: float, usual: Callable[[], Ways]) -> Ways:
        """Return the ways to split a word by all tokens of a history; `scores` may be unknown.

        `usual` returns the usual ways: by the tokens, and with merges that are left out at random.
        """
        return usual()
