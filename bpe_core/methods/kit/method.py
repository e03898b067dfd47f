"""The interface of a method, by which the rest of the program learns, splits, explains, compares and writes files.

The rest of the program uses only this interface, and never checks which method it has. The modules of a method are
loaded when its work begins, so a recipe can name a method at no cost.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from bpe_core.methods.facts import MethodFacts, WordRanks
from bpe_core.support.former_names import former_attributes, former_methods
from resources import lesson_files

if TYPE_CHECKING:  # recipes load this module first
    from bpe_core.counting.words import WordTable
    from bpe_core.history.alphabet import Alphabet, Symbol
    from bpe_core.history.history import History
    from bpe_core.methods.kit.apart import Apart
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

_FORMER_NAMES = {"told_of": "choices_in_words", "settled": "implied_choices", "readings": "possible_histories"}


class Method(MethodFacts):
    """A way to learn a vocabulary, and to split texts by this vocabulary.

    Each folder in `bpe_core/methods` has a method in its `__init__.py`, and a plug-in can add methods. `check_method`
    reports what is wrong with a method. `MethodFacts` explains the facts that are known before any module of the method
    is loaded.

    Attributes
    ----------
    reason
        The name of the value by which the best step is chosen.
    nothing_to_learn
        The message for a text from which the method cannot learn anything.
    has_ranks
        Whether each boundary of a text has a rank: at most one step removes the boundary, and no step restores it.
    learns_by_ranks
        Whether each boundary in the words of the corpus has a rank.
    shared_as
        The way in which the script of a shared page splits texts by this method. It is empty if the script cannot split
        texts by this method.
    counts_fall
        Whether counts never rise from step to step.
    cost_of_token
        The number that is subtracted from each log-probability, so that the path with the fewest tokens is the
        best.
    """

    reason: str = "count"
    nothing_to_learn: str = "There is nothing to learn from this text; choose another text."
    has_ranks: bool = False
    learns_by_ranks: bool = False
    shared_as: str = ""
    counts_fall: bool = False
    cost_of_token: float = 0.0

    if not TYPE_CHECKING:
        __getattr__ = former_attributes(**_FORMER_NAMES)

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        former_methods(cls, **_FORMER_NAMES)

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
        """Return an object, such as a function, from a file in the method's folder.

        If the folder does not have the object, search the folders of the base classes. Return None if no folder has it.
        """
        for kind in type(self).__mro__:
            package = sys.modules[kind.__module__]
            if hasattr(package, "__path__") and find_spec(f"{kind.__module__}.{file}") is not None:
                module = import_module(f"{kind.__module__}.{file}")
                if hasattr(module, name):
                    return getattr(module, name)
        return None

    @property
    def lessons(self) -> Mapping[str, str]:
        """Return a dictionary from the name of each lesson about this method to its text.

        A lesson is a TOML file in the folder of the method.

        The number at the beginning of a name is the position of the lesson in the course.
        """
        from importlib.resources import files  # imported late, as it loads slowly

        module = type(self).__module__
        return lesson_files(files(module)) if hasattr(sys.modules[module], "__path__") else {}

    # -- learning --------------------------------------------------------------------------

    @property
    def specification(self) -> Callable[[WordTable, Recipe], History] | None:
        """Return the short and slow function that learns by the method.

        All other ways to learn must make the same steps.

        Return None if the method has no specification.
        """
        train: Callable[[WordTable, Recipe], History] | None = self._part("reference", "train")
        return train

    @property
    def warm_up(self) -> Mapping[str, Callable[[], None]]:
        """Return small jobs that run each of the method's kernels once.

        The keys are the names of parts of the machine code.
        """
        return self._part("warm_up", "WORK") or {}

    def begin(self, words: WordTable, recipe: Recipe, known: History | None = None, *, fast: bool) -> LearnerStart:
        """Create a learner. Return it with the tokens that it begins with.

        If `known` is given, the first steps that the learner makes are the steps of this history.

        Parameters
        ----------
        words
            The distinct words with their counts.
        recipe
            The recipe of the training. An error is raised if its vocabulary size does not fit the alphabet.
        known
            A history to continue.
        fast
            Whether to learn with machine code. The code must be ready.
        """
        from bpe_core.methods.kit.learner import LearnerStart

        alphabet = self.tokens_at_first(words, recipe) if known is None else known.alphabet
        self.steps_planned(recipe, alphabet)
        way = self.compiled if fast else self.plain
        assert way is not None  # callers check first that there is a way
        return LearnerStart(alphabet, way.learner(words, alphabet, recipe, known))

    @property
    def plain(self) -> Way | None:
        """Return the implementation of learning in plain Python.

        If the method has none, use its specification, which is simple but slow code: return an implementation that runs
        the specification, and then repeats the resulting steps. Return None if the method has no specification either.
        """
        way: Way | None = self._part("learn", "PLAIN")
        if way is not None or self.specification is None:
            return way
        from bpe_core.methods.kit.by_specification import specified_way

        return specified_way(self)

    @property
    def compiled(self) -> CompiledWay | None:
        """Return the implementation of learning in machine code. Return None if the method has none."""
        way: CompiledWay | None = self._part("learn", "COMPILED")
        return way

    def tokens_at_first(self, words: WordTable, recipe: Recipe) -> Alphabet:
        """Return the tokens of the vocabulary before the first step."""
        from bpe_core.history.alphabet import Alphabet

        return Alphabet.for_words(words, recipe)

    def pieces_at_first(self, words: WordTable, recipe: Recipe) -> Alphabet | None:
        """Return the alphabet of a method that begins with pieces of words. Return None for any other method.

        The alphabet contains these pieces. Unlike `tokens_at_first`, this function accepts every kind of word marker.
        """
        return None

    def steps_planned(self, recipe: Recipe, alphabet: Alphabet) -> int:
        """Return the number of steps that the recipe requests. Raise an error if the size does not fit the alphabet."""
        return recipe.merge_limit(len(alphabet))

    def words_at_first(self, words: WordTable, recipe: Recipe) -> Inside | None:
        """Return the words that the first of two stages learns from, or None if the method has one stage.

        In a method with two stages, each entry of `words` is a run of several words.
        """
        return None

    def turns(self, history: History) -> Mapping[int, str]:
        """Return the stages of learning that follow the first stage.

        Each key is the number of steps after which a stage begins. Its value is a sentence that explains the change.
        """
        return {}

    def second_stage(self, history: History) -> dict[str, Any]:
        """Return the settings for a second stage, in which the method adds merges across words to a table."""
        raise NotImplementedError

    def blocks(self, words: WordTable, recipe: Recipe, work: Work) -> RunBlocks | None:
        """Return the blocks of the texts, if the method compresses each block with a separate table.

        Otherwise return None.
        """
        return None

    @property
    def container(self) -> Container | None:
        """Return the interface for compressing files. Return None if the method cannot compress files."""
        return None

    def possible_histories(self, history: History) -> Iterable[History]:
        """Return different histories of this method that lead to the same table of tokens as `history`.

        A file with a table does not always say which method made the table.
        """
        return ()

    def implied_choices(self, history: History) -> Mapping[str, Any]:
        """Return the choices that follow from the steps of a history but are missing in its recipe."""
        return {}

    def choices_in_words(self, history: History) -> str:
        """Return a sentence that describes this method's choices in a history.

        Return an empty string if no sentence is useful.
        """
        return ""

    def forbids(self, text: bytes, recipe: Recipe) -> str:
        """Return a message if the recipe forbids a token with this text.

        Return an empty string if the token is allowed.
        """
        return ""

    def what_is_wrong(self, history: History) -> str:
        """Return a message if a history from a file cannot be a history of this method.

        Otherwise return an empty string.
        """
        return ""

    def reasons(self, recipe: Recipe) -> tuple[Reason, ...]:
        """Return the values, besides the count, by which the method chooses steps."""
        return ()

    # -- splitting texts -------------------------------------------------------------------

    def word_ranks(self, history: History) -> WordRanks:
        """Return the slow function that computes the rank of each boundary in a word."""
        from bpe_core.methods.registry import USUAL  # imported late, as its methods derive from this class

        return Method.named(USUAL).word_ranks(history)

    def cutter(self, history: History, cutting: Cutting) -> Segmenter:
        """Return the segmenter. It gives the tokens of a text after any number of steps."""
        raise NotImplementedError

    def lone_characters(self, history: History) -> list[Symbol]:
        """Return a base symbol for each character that a table contains only as a part of longer tokens.

        The table has no token for such a character alone. But the token is needed if other tokens are removed or added.
        Only a method that splits words by the longest tokens has such characters.
        """
        return []

    def apart_in_words(self, history: History) -> Apart | None:
        """Return a function that says why two tokens cannot be neighbours inside a word.

        Return None if this depends on more than the two tokens, for example on the text around them.
        """
        return None

    def explain(self, text: str, history: History, allowed: Allowed, corpus: Corpus | None = None) -> ExplainedText:
        """Return the explanations of every boundary of a text.

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
        """Return the facts about a token after `at` steps.

        `usual` computes the facts from the steps, and from the words if they are known. A method can change the result.
        """
        return usual()

    def ways(self, history: History, scores: Sequence[float] | None, dropout: float, usual: Callable[[], Ways]) -> Ways:
        """Return an object that splits words by a history's tokens in several ways, such as into the fewest tokens.

        `scores` holds the log-probabilities of the tokens. It is None if they are unknown. `dropout` is the
        probability with which BPE-dropout leaves out a merge. `usual` makes the object that most methods return.
        """
        return usual()
