"""The face of a method: what it offers to whoever learns, splits, explains, compares or writes files.

The rest of the program asks this object and never which method it is. What it needs for the work is loaded when the
work begins, so that a recipe can name a method at no cost.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from bpe_core.methods.facts import MethodFacts

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

    A house in `bpe_core/methods` has one in its `__init__.py`; a plug-in brings one as well. `check_method` says what
    is wrong with it.
    """

    reason: str = "count"  # what the best step is chosen by
    nothing_to_learn: str = "There is nothing to learn from this text; choose another text."
    has_ranks: bool = False  # each boundary of a text is dissolved once and for all
    learns_by_ranks: bool = False  # the same for the words it learns from, which insight is drawn from
    shared_as: str = ""  # how the script of a shared page splits texts by it; nothing: it cannot
    counts_fall: bool = False  # no step counts more than the one before
    cost_of_token: float = 0.0  # taken off each log-probability, so that the fewest tokens are the best path

    @staticmethod
    def of(recipe: Recipe) -> Method:
        """Return the method that a recipe names."""
        return Method.named(recipe.method)

    @staticmethod
    def named(name: str) -> Method:
        from bpe_core.methods.registry import METHODS  # whose methods derive from this class

        method = METHODS[name]
        assert isinstance(method, Method)  # the registry takes no other
        return method

    def _part(self, file: str, name: str) -> Any:
        """Return what a file of the method's folder holds, or else a file of the method that it derives from."""
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
        """Return the short, slow way to learn that all others are held equal to, where there is one."""
        found: Callable[[WordTable, Recipe], History] | None = self._part("reference", "train")
        return found

    @property
    def warm_up(self) -> Mapping[str, Callable[[], None]]:
        """Return tiny jobs that run the kernels of its own once, by the part of the machine code they belong to."""
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
            Whether to learn by machine code, which is there then.
        """
        from bpe_core.methods.kit.learner import LearnerStart

        alphabet = self.tokens_at_first(words, recipe) if known is None else known.alphabet
        self.steps_planned(recipe, alphabet)
        way = self.compiled if fast else self.plain
        assert way is not None  # who asks for one has seen that it is there
        return LearnerStart(alphabet, way.learner(words, alphabet, recipe, known))

    @property
    def plain(self) -> Way | None:
        """Return the way to learn in plain Python: one of its own, else to play what its specification learns."""
        found: Way | None = self._part("learn", "PLAIN")
        if found is not None or self.specification is None:
            return found
        from bpe_core.methods.kit.by_specification import specified_way

        return specified_way(self)

    @property
    def compiled(self) -> CompiledWay | None:
        """Return the way to learn by machine code, where there is one."""
        found: CompiledWay | None = self._part("learn", "COMPILED")
        return found

    def tokens_at_first(self, words: WordTable, recipe: Recipe) -> Alphabet:
        """Return the tokens that there are before the first step."""
        from bpe_core.history.alphabet import Alphabet

        return Alphabet.for_words(words, recipe)

    def pieces_at_first(self, words: WordTable, recipe: Recipe) -> Alphabet | None:
        """Return the same tokens for words that may be marked in any way, where it chooses among pieces of words."""
        return None

    def steps_planned(self, recipe: Recipe, alphabet: Alphabet) -> int:
        """Return how many steps the recipe asks for; refuse a size that does not fit the alphabet."""
        return recipe.merge_limit(len(alphabet))

    def words_at_first(self, words: WordTable, recipe: Recipe) -> Inside | None:
        """Return the words inside the runs, where it learns from these up to its first turn."""
        return None

    def turns(self, history: History) -> Mapping[int, str]:
        """Return after which steps it learns in another way, and in which, in words."""
        return {}

    def second_stage(self, history: History) -> dict[str, Any]:
        """Return the choices by which it goes on across words behind the steps of a table."""
        raise NotImplementedError

    def blocks(self, words: WordTable, recipe: Recipe, work: Work) -> RunBlocks | None:
        """Return the blocks of texts that it starts anew with, where it does."""
        return None

    @property
    def container(self) -> Container | None:
        """Return how it compresses files, where it does."""
        return None

    def readings(self, history: History) -> Iterable[History]:
        """Return a table that a file calls one of another method as what it may be by this one."""
        return ()

    def settled(self, history: History) -> Mapping[str, Any]:
        """Return the choices that are open in its recipe and can be seen from its steps."""
        return {}

    def told_of(self, history: History) -> str:
        """Say in a sentence by which of its own choices a history was learned, where that helps to judge it."""
        return ""

    def forbids(self, text: bytes, recipe: Recipe) -> str:
        """Say what a token with this text would do that the recipe does not allow; nothing if it may be one."""
        return ""

    def what_is_wrong(self, history: History) -> str:
        """Say why a history from a file cannot be of this method; nothing if it can."""
        return ""

    def reasons(self, recipe: Recipe) -> tuple[Reason, ...]:
        """Return what steps are chosen by besides the count."""
        return ()

    # -- splitting texts -------------------------------------------------------------------

    def cutter(self, history: History, cutting: Cutting) -> Segmenter:
        """Return what splits texts into tokens after any number of steps."""
        raise NotImplementedError

    def explain(self, text: str, history: History, allowed: Allowed, corpus: Corpus | None = None) -> ExplainedText:
        """Return the answers to "why is the text split here?" for every place of a text.

        `corpus` is what it was learned from, where that is known and each boundary of a text has a rank.
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

        `usual` follows it by the steps, and in the words where these are known.
        """
        return usual()

    def ways(self, history: History, scores: Sequence[float] | None, dropout: float, usual: Callable[[], Ways]) -> Ways:
        """Return the ways to split a word by all tokens of a history, whose scores are known or not.

        `usual` offers what the tokens, and merges that are left out by chance, make of a word.
        """
        return usual()
