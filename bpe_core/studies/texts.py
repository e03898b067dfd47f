"""The texts of a study, and their words, parts and documents.

The texts are read when they are first needed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from bpe_core.counting.words import WordTable
from bpe_core.errors import BpeError, NoDocuments
from bpe_core.history.arguments import documents_of, refuse_names_of_files
from bpe_core.recipes.recipe import Recipe
from bpe_core.support.progress import ALONE, Work

if TYPE_CHECKING:  # imported late, as only texts need the modules that read files
    from bpe_core.counting.grouped import GroupedWords
    from bpe_core.text.corpus import Corpus

# Whatever Python code may give as texts: `texts_of` reads it.
GivenTexts: TypeAlias = "str | PathLike[str] | Iterable[Any] | Corpus | WordTable | Texts"
NO_DOCUMENTS = "Only the words of these texts are known, not the texts. Name the files of the texts."


class Texts(Protocol):
    """The source of a study's words."""

    def words(self, recipe: Recipe, work: Work = ALONE) -> WordTable:
        """Return the counted words of all texts.

        The recipe says how texts are split into words, and how groups are mixed.
        """

    def parts(self, recipe: Recipe, work: Work = ALONE) -> Mapping[str, WordTable]:
        """Return the counted words of each group, or of each file if there are no groups."""

    def reading(self) -> AbstractContextManager[Corpus]:
        """Return a context manager that opens the texts as a corpus, which can be read only once."""


class KnownWords:
    def __init__(self, words: WordTable) -> None:
        self._words = words

    def words(self, recipe: Recipe, work: Work = ALONE) -> WordTable:
        return self._words

    def parts(self, recipe: Recipe, work: Work = ALONE) -> Mapping[str, WordTable]:
        return {"the corpus": self._words}

    def reading(self) -> AbstractContextManager[Corpus]:
        raise NoDocuments(NO_DOCUMENTS)


class CorpusTexts:
    """The texts of a corpus. Each reading opens the corpus again. Words are counted again only for a new recipe."""

    def __init__(
        self,
        open_corpus: Callable[[], AbstractContextManager[Corpus]],
        paths: Sequence[str] = (),
        *,
        reports: bool = False,
    ) -> None:
        self._open, self._reports = open_corpus, reports  # whether warnings about the texts are reported here
        self.paths = tuple(paths)  # names of its files, if it has any
        self._words: tuple[Recipe, WordTable] | None = None

    def words(self, recipe: Recipe, work: Work = ALONE) -> WordTable:
        if self._words is None or self._words[0] != recipe:
            from bpe_core.counting.count_words import count_unmixed, count_words

            with self._open() as corpus:
                count = count_unmixed if corpus.groups == ("",) else count_words
                self._words = recipe, count(corpus, recipe, work)
                for skipped in corpus.skipped if self._reports else ():
                    work.remark(str(skipped))
        return self._words[1]

    def parts(self, recipe: Recipe, work: Work = ALONE) -> Mapping[str, WordTable]:
        from bpe_core.counting.count_words import count_groups, count_unmixed

        with self._open() as corpus:
            if corpus.groups != ("",):
                groups = count_groups(corpus, recipe, work)
                return groups.weighted_parts(recipe.mixture)
            return {name: count_unmixed(part, recipe, work) for name, part in corpus.by_source().items()}

    def reading(self) -> AbstractContextManager[Corpus]:
        return self._open()

    def groups(self) -> tuple[str, ...]:
        with self._open() as corpus:
            return corpus.groups


class NamedTexts:
    """Several named texts. Each text is a group with the name of the text, so that a mixture can weight it."""

    def __init__(self, texts: Mapping[str, Texts]) -> None:
        self._texts = texts

    def groups(self) -> tuple[str, ...]:
        return tuple(self._texts)

    def words(self, recipe: Recipe, work: Work = ALONE) -> WordTable:
        if recipe.serves_languages or self._is_mixed_by(recipe):
            return self._grouped(recipe, work).learned_by(recipe)
        return WordTable.merged(list(self._each(recipe, work).values()))

    def parts(self, recipe: Recipe, work: Work = ALONE) -> Mapping[str, WordTable]:
        if self._is_mixed_by(recipe):
            return self._grouped(recipe, work).weighted_parts(recipe.mixture)
        return self._each(recipe, work)

    @contextmanager
    def reading(self) -> Iterator[Corpus]:
        from bpe_core.text.corpus import Corpus

        with ExitStack() as opened:
            corpora = {name: opened.enter_context(text.reading()) for name, text in self._texts.items()}
            yield Corpus.grouped(corpora, twice=True)

    def _is_mixed_by(self, recipe: Recipe) -> bool:
        """Return whether the mixture of `recipe` gives a weight to at least one group of these texts.

        Held-out texts, for example, have no such group, and so they are not mixed.
        """
        return recipe.mixture is not None and any(group.name in self._texts for group in recipe.mixture.groups)

    def _grouped(self, recipe: Recipe, work: Work) -> GroupedWords:
        from bpe_core.counting.count_words import count_groups
        from bpe_core.counting.grouped import GroupedWords

        if recipe.mixture is None or all(group.takes_all for group in recipe.mixture.groups):
            return GroupedWords.of(self._each(recipe, work))
        with self.reading() as corpus:
            return count_groups(corpus, recipe, work)

    def _each(self, recipe: Recipe, work: Work) -> dict[str, WordTable]:
        alone = recipe.of_one_text.with_changes(mixture=None)
        return {name: text.words(alone, work) for name, text in self._texts.items()}


def names_of_groups(texts: Texts) -> tuple[str, ...]:
    """Return the names of the groups of texts. Return an empty tuple if the texts are not in named groups.

    >>> names_of_groups(texts_of({"en": "low", "de": "tief"})), names_of_groups(texts_of("low"))
    (('en', 'de'), ())
    """
    groups = texts.groups() if isinstance(texts, CorpusTexts | NamedTexts) else ()
    return () if groups == ("",) else groups


def texts_of(given: Any) -> Texts:
    """Convert an argument that a user passes in Python to texts.

    Parameters
    ----------
    given
        A text, a `Path` to a file or folder, or a list of texts or paths; rows with a `text` column, such as a data set
        or data frame; a dictionary from the names of groups to any of these; a `Corpus`; or counted words.

    Examples
    --------
    >>> texts_of(["low low", "lower"]).words(Recipe.preset("words")).total
    3
    >>> sorted(texts_of({"en": "low", "de": [{"text": "tief"}]}).parts(Recipe.preset("words")))
    ['de', 'en']
    """
    from bpe_core.text.corpus import Corpus

    if isinstance(given, WordTable):
        return KnownWords(given)
    if isinstance(given, Mapping):
        return NamedTexts({name: texts_of(text) for name, text in given.items()})
    if isinstance(given, Corpus):
        return CorpusTexts(lambda: nullcontext(given))
    if isinstance(given, PathLike):
        return files(fspath(given))
    if hasattr(given, "reading"):
        texts: Texts = given
        return texts
    if isinstance(given, Iterator):  # an iterator is read once
        given = list(given)
    if isinstance(given, list | tuple) and any(isinstance(item, PathLike) for item in given):
        other = next((item for item in given if not isinstance(item, PathLike)), None)
        if other is not None:
            raise BpeError(f"Give texts or paths, not both in one list: {str(other)[:40]!r} is not a Path.")
        return files(*map(fspath, given))
    refuse_names_of_files(given)
    documents = documents_of(given)
    return CorpusTexts(lambda: nullcontext(Corpus.from_texts(documents)))


def files(*paths: str) -> CorpusTexts:
    from bpe_core.text.corpus import Corpus

    return CorpusTexts(lambda: nullcontext(Corpus.from_files(list(paths))), paths, reports=True)
