"""The questions, with a file for each. The window, the commands, the reports and Python functions ask them.

A new question is a new file here, with one subclass of `Question` (`bpe_core/asking`). The name of the file is the name
of the question. A plug-in names the module of its question.
"""

from __future__ import annotations

import ast
import pkgutil
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bpe_core.errors import BpeError
from bpe_core.support.plugins import Registry
from bpe_core.support.wording import did_you_mean

if TYPE_CHECKING:  # the names alone are listed without NumPy
    from bpe_core.asking import Answer, Question


def question_names() -> tuple[str, ...]:
    return tuple(sorted(QUESTIONS))


def question_named(name: str) -> type[Question]:
    if name not in QUESTIONS:
        meant = did_you_mean(name, question_names()) or "."
        raise BpeError(f"There is no question {name!r}{meant} The questions are {', '.join(question_names())}.")
    return _loaded(name, QUESTIONS[name])


@cache
def _loaded(name: str, place: str) -> type[Question]:
    from bpe_core.asking import Question

    kinds = [kind for kind in vars(import_module(place)).values() if isinstance(kind, type)]
    question = next((kind for kind in kinds if issubclass(kind, Question) and kind.__module__ == place), None)
    if question is None or question.name != name:
        raise BpeError(f"the module {place} defines no subclass of Question for the name {name!r}")
    question.parameters()
    return question


# The module of each question by the name of the question.
QUESTIONS = Registry(
    "questions", {module.name: f"{__name__}.{module.name}" for module in pkgutil.iter_modules(__path__)}, _loaded
)


def question_summary(name: str) -> str:
    """Return the first line of a question's docstring without loading the question's file.

    So a list of all questions appears quickly.
    """
    if name in QUESTIONS.sources:  # the question of a plug-in, which was loaded for a check
        return question_named(name).explanation().partition("\n")[0].rstrip(".")
    source = Path(__path__[0], f"{name}.py").read_text(encoding="utf-8")
    classes = (node for node in ast.parse(source).body if isinstance(node, ast.ClassDef))
    question = next(node for node in classes if "Question" in map(ast.unparse, node.bases))
    return (ast.get_docstring(question) or "").partition("\n")[0].rstrip(".")


def ask(study: Any, question: str, **parameters: Any) -> Answer:
    """Ask a question by its name about one study, or about a mapping of names to studies.

    Parameters
    ----------
    study
        The study that the question is about. If the question compares studies, a mapping of studies by their names.
    question
        The name of the question, such as "lengths".
    **parameters
        The parameters of the question by their names.

    Examples
    --------
    >>> from bpe_core.studies.making import train
    >>> ask(train(["low low lower"], "words", merges=2), "lengths", at=1).columns["tokens"].tolist()
    [5, 1, 1]
    """
    from bpe_core.asking import ask_about

    return ask_about(question_named(question), study, **parameters)
