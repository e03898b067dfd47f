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
from bpe_core.studies.study import Study
from bpe_core.support.progress import ALONE, Work
from bpe_core.support.subjects import Subject

Needs = Literal["no texts", "texts if known", "texts"]
NONE = (0, 0)  # the number of studies for a question that reads its own file


class Question:
    """The base class of all questions.

    A subclass is a frozen dataclass whose fields are the parameters of the question.

    The method `answer(study, work)` returns the answer. A question about several tokenizers gets a mapping of studies
    by their names.

    Attributes
    ----------
    name
        The name in commands, files and code. It is the name of the question's file.
    about
        The subject of the question. The window and the help list all questions by their subjects.
    asks
        The question as a person asks it. If a plug-in leaves it out, it is the first sentence of the docstring.
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
        The names of the studies as arguments of the function, if each study has a different part in the question.
    own_endings
        The endings of further files that an answer can be written to.
    follows_time
        Whether the parameter `at` follows the step that the window shows.
    in_report
        The part of the answer that a report shows. If this is empty, a report shows nothing of the answer.
    takes_moments
        Whether the shown run of a session is also asked about at the step that the window shows.
    about_texts
        Whether a command names texts first, and a tokenizer only by `--merges`.
    table_first
        Whether a command names the tokenizer first, and then a text.
    rests
        Whether an answer takes long. Then a window asks only about runs that are not learning.
    by_parts
        Whether the answer depends on the files or groups of the texts.
    moment
        The column that holds the step of a row, and a number that is added to it.
    of_page
        The name of a parameter that is set when a page of the answer is written.
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
        """Return the path of a table that is named in a file among the parameters, or an empty text.

        A command without the argument TABLE opens this table.
        """
        return ""

    def asks_corpus(self, *, has_texts: bool) -> bool:
        """Return whether a window must pass its corpus to the question besides the run.

        `has_texts` says whether the run has texts.
        """
        return self.needs == "texts" and not has_texts

    def texts_of(self, studies: Any) -> Mapping[str, Sequence[str]]:
        """Return the documents of each text that the answer has rows about, so that people can read them."""
        return {}

    @classmethod
    def title(cls) -> str:
        return cls.name.replace("_", " ").capitalize()

    @classmethod
    def explanation(cls) -> str:
        return inspect.cleandoc(cls.__doc__ or "")

    @classmethod
    def summary(cls) -> str:
        """Return the first line of the explanation, without its full stop."""
        return cls.explanation().partition("\n")[0].rstrip(".")

    @classmethod
    @cache
    def parameters(cls) -> tuple[Parameter, ...]:
        return parameters_of(cls)

    def arguments(self) -> Iterator[str]:
        """Yield the words with which a command line asks this question with its parameters."""
        for parameter in self.parameters():
            value = getattr(self, parameter.name)
            if parameter.positional or value != parameter.default:
                yield from parameter.words(value)


def answered(asked: Question, study: Any, work: Work = ALONE) -> Answer:
    """Return the answer to a question. If the tokenizer's symbols have names, the answer shows their names."""
    answer = asked.answer(study, work)
    recipe = study.history.recipe if isinstance(study, Study) else None
    return answer.with_names(recipe.names) if recipe is not None and recipe.base_symbols else answer


def ask_about(question: type[Question], study: Any = None, work: Work = ALONE, **parameters: Any) -> Answer:
    """Ask a question about a study or several studies, and return the answer.

    `parameters` are the parameters of the question. A list may stand for a tuple. Raise BpeError if a parameter is
    unknown or missing.
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
    plain = {name: known[name].checked(known[name].as_meant(value)) for name, value in parameters.items()}
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
