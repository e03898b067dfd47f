"""The base class of all questions, and the function that asks a question about one or several studies."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any, ClassVar, Literal

from bpe_core.asking.answer import Answer
from bpe_core.asking.parameters import Parameter, parameters_of
from bpe_core.errors import BpeError
from bpe_core.history.arguments import by_name
from bpe_core.recipes.recipe import Recipe
from bpe_core.studies.study import Study
from bpe_core.support.progress import ALONE, Work
from bpe_core.support.subjects import Subject

Needs = Literal["no texts", "texts if known", "texts"]
TEXT = "text"  # the name of the parameter that holds a text to split
NONE = (0, 0)  # the number of studies for a question that reads its own file


class Question:
    """The base class of all questions.

    A subclass is a frozen dataclass whose fields are the parameters of the question.

    The method `answer(study, work)` returns the answer. A question about several tokenizers gets a mapping from
    names to studies.

    Attributes
    ----------
    name
        The name in commands, files and code. It is the name of the question's file.
    about
        The subject of the question. The window and the help list all questions by their subjects.
    asks
        The question as a user asks it. A plug-in can leave it out. Then the first sentence of the docstring is used.
    turn
        The place among the questions about the same subject.
    examples
        The examples at the end of the command's help.
    in_python
        An example with its output, which the help of the function shows.
    needs
        How the question uses texts: it needs no texts, uses texts if there are some, or always needs texts.
    studies
        The least and the largest number of studies that the question compares. None means that it is about one
        study.
    roles
        The names of the function's arguments for the studies, if each study has a role of its own.
    own_endings
        The endings of the additional file types that an answer can be written to, besides tables and pictures.
    follows_time
        Whether the parameter `at` follows the step that the window shows.
    in_report
        The part of the answer that a report shows. If this is empty, a report shows nothing of the answer.
    takes_moments
        Whether a comparison contains the run shown twice: as it is after its last step, and as it was at the step
        that the window shows.
    about_texts
        Whether the first arguments of the command are texts. The option `--merges` then names the tokenizer.
    table_first
        Whether the first argument of the command is the tokenizer. A text can follow it.
    rests
        Whether it takes long to find the answer. If so, the window asks the question only about runs that are not
        being trained.
    steady_with
        The name of a parameter that limits the work. If the parameter has no value, a time limit is used. Then
        the answer depends on the speed of the computer.
    by_parts
        Whether the answer depends on the files or groups of the texts.
    moment
        The name of a column, and a number. If the user chooses a row of the answer, the window goes to a step.
        The step is the row's value in this column plus the number.
    of_page
        The name of a parameter that is set to true if the answer is also written as a web page.
    axis
        The quantity on the horizontal axis of the figure, if it is a step or a size.
    """

    name: ClassVar[str]
    about: ClassVar[Subject]
    asks: ClassVar[str]
    turn: ClassVar[int] = 100
    examples: ClassVar[str] = ""
    in_python: ClassVar[str] = ""
    needs: ClassVar[Needs] = "no texts"
    studies: ClassVar[tuple[int, int] | None] = None
    roles: ClassVar[tuple[str, ...]] = ()
    own_endings: ClassVar[tuple[str, ...]] = ()
    follows_time: ClassVar[bool] = False
    in_report: ClassVar[Literal["", "figure", "rows"]] = ""
    takes_moments: ClassVar[bool] = True
    about_texts: ClassVar[bool] = False
    table_first: ClassVar[bool] = False
    rests: ClassVar[bool] = False
    steady_with: ClassVar[str] = ""
    by_parts: ClassVar[bool] = False
    moment: ClassVar[tuple[str, int]] = ("step", 0)
    of_page: ClassVar[str] = ""
    axis: ClassVar[Literal["", "step", "size"]] = ""

    def __init_subclass__(cls) -> None:
        cls.name = cls.__module__.rpartition(".")[2]
        if "about" not in vars(cls):
            cls.about = "the vocabulary" if cls.studies is None else "other tokenizers"
        if "asks" not in vars(cls):
            cls.asks = cls.summary()

    def answer(self, study: Any, work: Work = ALONE) -> Answer:
        raise NotImplementedError

    def table_named(self) -> str:
        """Return the path of the table that a file in the parameters names.

        For example, a file of pinned ids contains the path of the table that the ids come from. A command without the
        argument TABLE opens this table. Return an empty string if no parameter is such a file.
        """
        return ""

    def asks_corpus(self, *, has_texts: bool) -> bool:
        """Return whether a window must give its corpus to the question.

        This is so if the question needs texts and the run has none. `has_texts` says whether the run has texts.
        """
        return self.needs == "texts" and not has_texts

    def reads_documents(self) -> bool:
        """Return whether the answer depends on whole texts, and not only on the counts of their words."""
        return False

    def texts_of(self, studies: Any) -> Mapping[str, Sequence[str]]:
        """Return the texts that the answer is about, so that people can read them. Each text is a list of documents."""
        return {}

    def cited(self) -> Sequence[str]:
        """Return phrases for the caption of the answer. They name the rules and files on which the answer depends.

        The caption also names the studies and the texts, so these phrases do not name them.
        """
        return ()

    @classmethod
    def title(cls) -> str:
        return cls.name.replace("_", " ").capitalize()

    @classmethod
    def explanation(cls) -> str:
        return inspect.cleandoc(cls.__doc__ or "")

    @classmethod
    def summary(cls) -> str:
        """Return the first line of the docstring, without its full stop."""
        return cls.explanation().partition("\n")[0].rstrip(".")

    @classmethod
    @cache
    def parameters(cls) -> tuple[Parameter, ...]:
        return parameters_of(cls)

    def arguments(self) -> Iterator[str]:
        """Yield the arguments that ask this question with its parameters on a command line."""
        for parameter in self.parameters():
            value = getattr(self, parameter.name)
            if parameter.positional or value != parameter.default:
                yield from parameter.words(value)


def answered(asked: Question, study: Any, work: Work = ALONE) -> Answer:
    """Ask the question `asked` about a study, and return its answer.

    If the base symbols of the tokenizers are names instead of characters, the answer shows these names. If the
    question has the parameter `text`, the text must then consist of such names.
    """
    recipe = _recipe_of_symbols(study)
    if recipe is None:
        return asked.answer(study, work)
    text = getattr(asked, TEXT, None)
    if isinstance(text, str):
        given = {parameter.name: getattr(asked, parameter.name) for parameter in asked.parameters()}
        asked = type(asked)(**{**given, TEXT: recipe.text_of_symbols(text)})
    return asked.answer(study, work).with_names(recipe.names)


def _recipe_of_symbols(about: Any) -> Recipe | None:
    """Return the recipe of the first study, if all studies are about the same symbols instead of text.

    `about` is a study, or a dictionary of studies. Return None if a study is about text, or if the names of the symbols
    differ.
    """
    studies = about.values() if isinstance(about, Mapping) else [about]
    recipes = [study.history.recipe for study in studies if isinstance(study, Study)]
    if not recipes or any(not recipe.base_symbols or recipe.names != recipes[0].names for recipe in recipes):
        return None
    return recipes[0]


def ask_about(question: type[Question], study: Any = None, work: Work = ALONE, **parameters: Any) -> Answer:
    """Ask a question about one or several studies, and return the answer.

    `parameters` are the parameters of the question. A list may be given in place of a tuple. Raise BpeError if a
    parameter is unknown or missing.
    """
    known = {parameter.name: parameter for parameter in question.parameters()}
    unknown = next((name for name in parameters if name not in known), None)
    if unknown is not None:
        raise BpeError(
            f"The question {question.name} has no parameter {unknown!r}; its parameters are: "
            f"{', '.join(known) or 'none'}."
        )
    missing = next((parameter.name for parameter in known.values() if parameter.is_required), None)
    if missing is not None and missing not in parameters:
        raise BpeError(f"The question {question.name} needs {missing!r}: {known[missing].help}.")
    plain = {name: known[name].checked(known[name].as_stored(value)) for name, value in parameters.items()}
    return answered(question(**plain), _studies(question, study), work)


def _studies(question: type[Question], given: Any) -> Any:
    if question.studies == NONE:
        return None if isinstance(given, Mapping) else given
    if question.studies is None:
        return Study.of(given)
    check_how_many(question, len(by_name(given)))
    return {name: Study.of(learned, name) for name, learned in given.items()}


def check_how_many(question: type[Question], tokenizers: int) -> None:
    """Raise BpeError if the question cannot compare this number of tokenizers."""
    assert question.studies is not None
    least, most = question.studies
    if not least <= tokenizers <= most:
        several = f"{least:,} to {most:,}" if least < most else f"{least:,}"
        raise BpeError(f"{question.title()} needs {several} tokenizers, not {tokenizers:,}.")
