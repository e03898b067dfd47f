"""The program that writes `bpe_core/asking/functions.pyi` from the questions.

    python -m tests.question_stub

Editors and type checkers read the functions of questions from this file. A test fails if the file differs from the
questions.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from textwrap import indent

import bpe_core
from bpe_core.asking import Question
from bpe_core.asking.functions import docstring_of, names_of_studies, type_of, written_type
from bpe_core.questions import QUESTIONS, question_named

STUB = Path(bpe_core.__path__[0], "asking", "functions.pyi")
HEAD = """\
# Made of the questions by `python -m tests.question_stub`.

from collections.abc import Callable, Mapping, Sequence
from inspect import Signature
from typing import Any, Literal

from bpe_core.asking.answer import Answer
from bpe_core.asking.parameters import Parameter
from bpe_core.asking.question import Question
from bpe_core.history.arguments import Learned
from bpe_core.studies.texts import GivenTexts
from bpe_core.support.progress import Work

__all__ = [
{names}]

def function_of(question: type[Question]) -> Callable[..., Answer]: ...
def signature_of(question: type[Question]) -> Signature: ...
def docstring_of(question: type[Question]) -> str: ...
def names_of_studies(question: type[Question]) -> tuple[str, ...]: ...
def type_of(question: type[Question], parameter: Parameter) -> Any: ...
def written_type(annotation: Any) -> str: ...
"""


def stub() -> str:
    """Return the content of the stub file, made from the current questions."""
    names = sorted(QUESTIONS.own)
    head = HEAD.format(names="".join(f'    "{name}",\n' for name in names))
    made = head + "".join(map(_function, map(question_named, names)))
    command = [sys.executable, "-m", "ruff", "format", "--stdin-filename", str(STUB), "-"]
    return subprocess.run(command, input=made, capture_output=True, check=True, encoding="utf-8").stdout


def _function(question: type[Question]) -> str:
    is_single = question.studies is None or bool(question.roles)
    kind = "Learned" if is_single else "Mapping[str, Learned]"
    rows = [f"{name}: {kind}" for name in names_of_studies(question)]
    for parameter in question.parameters():
        kind = "GivenTexts | None" if parameter.kind == "files" else written_type(type_of(question, parameter))
        rows.append(f"{parameter.name}: {kind}{'' if parameter.is_required else f' = {parameter.default!r}'}")
    rows += ["*", "work: Work | None = None"]
    doc = indent(docstring_of(question), "    ").strip()
    quotes = 'r"""' if "\\" in doc else '"""'
    arguments = "".join(f"    {row},\n" for row in rows)
    return f'def {question.name}(\n{arguments}) -> Answer:\n    {quotes}{doc}\n    """\n\n'


def main() -> None:
    STUB.write_text(stub(), encoding="utf-8")


if __name__ == "__main__":
    main()
