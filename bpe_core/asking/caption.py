"""The caption of an answer in a paper. It names everything that a reader needs to repeat the answer."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain

from bpe_core.asking.question import Question
from bpe_core.errors import CorpusError
from bpe_core.history.history import History
from bpe_core.methods.registry import METHODS
from bpe_core.recipes.recipe import Recipe
from bpe_core.studies.checksums import checksum_of_documents, checksum_of_texts
from bpe_core.studies.study import Study
from bpe_core.support.progress import ALONE, Work
from bpe_core.support.version import program_version
from bpe_core.support.wording import count_text

SEED = "seed"  # the name of the parameter, in all questions that draw by chance


def caption_of(asked: Question, about: Study | Mapping[str, Study] | None, work: Work = ALONE) -> str:
    """Return the caption of an answer.

    It contains the question, the recipe of each tokenizer with its tie rule, the checksum of the texts, the seed of
    random draws, and the version of the program.

    Parameters
    ----------
    asked
        The question with its parameters.
    about
        The study that the question is about, or a mapping from names to studies.
    work
        The callbacks that may cancel the reading of the texts.
    """
    studies: Mapping[str, Study] = {}
    if isinstance(about, Mapping):
        studies = about
    elif about is not None:
        studies = {"": about}
    recipes = [
        f"{name}: {recipe_in_words(study.history)}" if name else recipe_in_words(study.history)
        for name, study in studies.items()
    ]
    seed = getattr(asked, SEED, None)
    seeds = [] if seed is None else [f"Seed {seed}"]
    return caption_from(asked.title(), *recipes, *asked.cited(), *_texts_in_words(asked, about, studies, work), *seeds)


def caption_from(*parts: str) -> str:
    """Return a caption that consists of these parts and the version of the program.

    >>> caption_from("Words", "Pattern gpt2").startswith("Words. Pattern gpt2. BPE Explorer ")
    True
    """
    return " ".join(f"{part}." for part in (*parts, f"BPE Explorer {program_version()}"))


def _texts_in_words(
    asked: Question, about: Study | Mapping[str, Study] | None, studies: Mapping[str, Study], work: Work
) -> list[str]:
    try:
        measured = asked.texts_of(about)
    except CorpusError:  # standard input is empty after its first reading
        return ["Texts without a checksum, because they could be read only once"]
    if measured:
        return [f"Texts: {checksum_of_documents(chain.from_iterable(measured.values()))}"]
    checksums: dict[object, str] = {}  # texts with the same paths are read once
    for study in studies.values():
        if study.texts is not None:
            key = getattr(study.texts, "paths", ()) or id(study.texts)
            if key not in checksums:
                checksums[key] = str(checksum_of_texts(study.texts, study.history.recipe, work))
    return [f"Texts: {checksum}" for checksum in dict.fromkeys(checksums.values())]


def recipe_in_words(history: History) -> str:
    """Describe a tokenizer: its method, size, pattern and other choices, and the random seeds of its samples."""
    return choices_in_words(history.recipe, count_text(history.vocabulary_size_at(len(history)), "token"))


def choices_in_words(recipe: Recipe, *size: str) -> str:
    """Describe the choices of a recipe, and the size of its vocabulary if it is given."""
    parts = [METHODS[recipe.method].title, *size]
    parts += [f"pattern {recipe.pattern}", f"minimum count {recipe.min_frequency:,}"]
    parts += [f"ties {recipe.ties}"] if recipe.applies("ties") else []
    groups = () if recipe.mixture is None else recipe.mixture.groups
    samples = [group for group in groups if not group.sample.takes_all]
    parts += [f"sample of {group.name or 'the texts'} with seed {group.sample.seed}" for group in samples]
    return ", ".join(parts)
