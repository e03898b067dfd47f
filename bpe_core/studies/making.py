"""The functions that make a study: they train on texts, or open a file or a session."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bpe_core.counting.words import WordTable
from bpe_core.errors import BpeError
from bpe_core.formats import open_table
from bpe_core.methods.registry import USUAL
from bpe_core.recipes.recipe import Recipe
from bpe_core.session_file import is_session_file, run_of
from bpe_core.studies.study import Study
from bpe_core.support.progress import ALONE, Work


def train(texts: Any, recipe: Recipe | str = "gpt2", *, work: Work = ALONE, **choices: Any) -> Study:
    """Learn a tokenizer from texts with a recipe, or with a named preset and further choices.

    If the work is cancelled, the steps made so far are kept.

    Parameters
    ----------
    texts
        A text, a `Path` to a file or folder, or a list of either; rows with a `text` field, such as a data set or
        data frame; a dictionary from the names of groups to such texts; a `Corpus`, or counted words.
    recipe
        A recipe, or the name of a preset in `bpe.PRESETS`.
    work
        The callbacks that receive the progress and may cancel the work.
    **choices
        Choices of the recipe as keyword arguments, such as `vocab_size`.

    Examples
    --------
    >>> len(train(["low low lower"], "gpt2", vocab_size=258))
    258
    >>> train([{"text": "low low lower"}], "words", merges=1).encode("low low")
    [6, 5, 6, 5]
    """
    from bpe_core.methods.kit.trainer import learn  # not needed to open a file
    from bpe_core.studies.texts import CorpusTexts, NamedTexts, texts_of

    chosen = Recipe.preset(recipe) if isinstance(recipe, str) else recipe
    if not isinstance(chosen, Recipe):
        raise BpeError(f"The recipe must be the name of a preset, or a Recipe, not a {type(recipe).__name__}.")
    chosen = chosen.with_changes(**choices) if choices else chosen
    source = texts_of(texts)
    if chosen.mixture is not None and isinstance(source, CorpusTexts | NamedTexts):  # counted words are mixed already
        chosen.mixture.matched(source.groups())
    words = source.words(chosen, work)
    return Study(learn(words, chosen, progress=work.progress, cancelled=work.cancelled), source, texts_are_own=True)


def open_study(path: Path | str) -> Study:
    """Open a merge table, another library's tokenizer, or a session. `book.bpex#2` is run 2 of a session.

    Parameters
    ----------
    path
        The file, or a folder that the library transformers saved. `hf:owner/name` is a folder in the cache of Hugging
        Face.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "tokenizer.json")
    ...     prepared = train(["low low lower"], "gpt2", vocab_size=258).save(path)
    ...     open_study(path).encode("low")
    [257]
    """
    place, number = run_of(str(path))
    if is_session_file(place):
        from bpe_core.studies.sessions import study_of_run  # loads SQLite

        return study_of_run(place, number)
    opened = open_table(path)
    return Study(opened.history, name=str(path), format=opened.format, notes=opened.notes)


def study_without_steps(preset: str) -> Study:
    """Return a study without learned steps, with the recipe of a preset.

    It is for questions that need only a recipe and texts.
    """
    from bpe_core.history.alphabet import Alphabet
    from bpe_core.history.history import History

    recipe = Recipe.preset(preset)
    nothing = WordTable.from_counts({})
    return Study(History.from_pairs(recipe.with_changes(method=USUAL), Alphabet.for_words(nothing, recipe), []))


open = open_study  # as `bpe_core.open`
