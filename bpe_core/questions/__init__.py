"""The questions, each in its own file. The window, the commands, the reports and Python functions ask them.

A new question is a new file here, with one subclass of `Question` (`bpe_core/asking`). The name of the file is the name
of the question. A plug-in names the module of its question.
"""

from __future__ import annotations

import pkgutil
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bpe_core.errors import BpeError
from bpe_core.support.plugins import Registry
from bpe_core.support.subjects import SUBJECTS
from bpe_core.support.wording import did_you_mean

if TYPE_CHECKING:  # the names alone are listed without NumPy
    from bpe_core.asking import Answer, Question


SUMMARY = re.compile(r'^class \w+\(Question\):\n    """(.*?)(?:""")?$', re.MULTILINE)
DECLARED = re.compile(r'^    (about|asks|turn) = (?:"(.*)"|(\d+))$', re.MULTILINE)


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


@dataclass(frozen=True)
class Description:
    """The texts by which people find a question: its subject, the question itself, and its summary."""

    about: str  # the subject, such as "this step"
    asks: str  # the question as a user asks it
    summary: str  # the first sentence of its help
    turn: int  # the place among the questions about the same subject


@cache
def description_of(name: str) -> Description:
    """Read the description of a question from its source code.

    The questions are not loaded, so listing all questions takes little time.
    """
    texts = {} if name in QUESTIONS.sources else _texts_in(Path(__path__[0], f"{name}.py"))
    if not {"about", "asks", "turn"} <= {
        *texts
    }:  # the question of a plug-in, which was loaded for a check, or a new question
        question = question_named(name)
        return Description(question.about, question.asks, question.summary(), question.turn)
    return Description(texts["about"], texts["asks"], texts["summary"], int(texts["turn"]))


def _texts_in(source: Path) -> dict[str, str]:
    """Return a dictionary from name to text: the summary of a question, and the texts that its class declares.

    The window needs these texts when it opens. To save time, the file is searched as text and not parsed.
    """
    code = source.read_text(encoding="utf-8")
    texts = {name: first or second for name, first, second in DECLARED.findall(code)}
    if summary := SUMMARY.search(code):
        texts["summary"] = summary[1].rstrip(".")
    return texts


def questions_by_subject(names: Iterable[str]) -> dict[str, list[str]]:
    """Return a dictionary from each subject to the names of its questions.

    Both are in the order in which they are shown.

    Parameters
    ----------
    names
        The names of the questions.

    Examples
    --------
    >>> questions_by_subject(["race", "why", "ties"])
    {'this place': ['why'], 'this step': ['race', 'ties']}
    """
    subjects: dict[str, list[str]] = {subject: [] for subject in SUBJECTS}
    for name in sorted(names, key=lambda name: (description_of(name).turn, name)):
        subjects[description_of(name).about].append(name)
    return {subject: found for subject, found in subjects.items() if found}


def ask(study: Any, question: str, **parameters: Any) -> Answer:
    """Ask a question about one study, or about several studies that have names.

    Parameters
    ----------
    study
        The study that the question is about. If the question compares studies, this is a dictionary from names to
        studies.
    question
        The name of the question, such as "lengths".
    **parameters
        The parameters of the question as keyword arguments.

    Examples
    --------
    >>> from bpe_core.studies.making import train
    >>> ask(train(["low low lower"], "words", merges=2), "lengths", at=1).columns["tokens"].tolist()
    [5, 1, 1]
    """
    from bpe_core.asking import ask_about

    return ask_about(question_named(question), study, **parameters)
