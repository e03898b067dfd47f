"""All questions, a file for each; the window, the commands, reports and Python ask them.

A new question is a new file here, with one subclass of `Question` (`bpe_core/asking.py`). It is found by its name.
"""

from __future__ import annotations

import ast
import pkgutil
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bpe_core.errors import BpeError

if TYPE_CHECKING:  # the names alone need no NumPy
    from bpe_core.asking import Answer, Question


@cache
def question_names() -> tuple[str, ...]:
    return tuple(sorted(found.name for found in pkgutil.iter_modules(__path__)))


@cache
def question_named(name: str) -> type[Question]:
    if name not in question_names():
        raise BpeError(f"There is no question {name!r}; there are {', '.join(question_names())}.")
    from bpe_core.asking import Question

    module = import_module(f"{__name__}.{name}")
    kinds = (kind for kind in vars(module).values() if isinstance(kind, type) and issubclass(kind, Question))
    return next(kind for kind in kinds if kind.__module__ == module.__name__)


def question_summary(name: str) -> str:
    """Read a question's summary from its source, so that a list of all questions loads none."""
    source = Path(__path__[0], f"{name}.py").read_text(encoding="utf-8")
    classes = (node for node in ast.parse(source).body if isinstance(node, ast.ClassDef))
    question = next(node for node in classes if "Question" in map(ast.unparse, node.bases))
    return (ast.get_docstring(question) or "").partition("\n")[0].rstrip(".")


def ask(study: Any, question: str, **parameters: Any) -> Answer:
    """Ask one study, or several by name, the question of that name.

    >>> from bpe_core.studies.making import train
    >>> ask(train(["low low lower"], "words", merges=2), "lengths", at=1).columns["tokens"].tolist()
    [5, 1, 1]
    """
    from bpe_core.asking import ask_about

    return ask_about(question_named(question), study, **parameters)
