"""The functions that ask questions, such as `bpe.why(study, "lowest")`. Each function has a signature and a docstring.

Type checkers and editors read the signatures from `functions.pyi` beside this file. The command
`python -m tests.question_stub` makes that file from the questions.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib import import_module
from inspect import Parameter as Argument
from inspect import Signature, cleandoc
from textwrap import fill
from typing import Any, Literal, get_type_hints

from bpe_core.asking.answer import Answer
from bpe_core.asking.parameters import Kind, Parameter
from bpe_core.asking.question import NONE, Question, ask_about
from bpe_core.errors import BpeError
from bpe_core.studies.study import Study
from bpe_core.support.progress import ALONE, Work

MOST_CHOICES = 8  # that a signature lists
LONGEST_TYPE = 60  # characters in the help
WIDTH, INDENT = 100, "    "  # of the help
SEVERAL: Mapping[Kind, Any] = {
    "numbers": Sequence[int],
    "texts": Sequence[str],
    "ids": Sequence[int | str],
    "pairs": Sequence[tuple[str, str]],
}
OF_ONE = "The study that `train` or `open` returned, or a history."
OF_SEVERAL = "The studies by names that you choose: {'ours': study}."
WORK = "The callbacks that receive the progress and may cancel the work."
ANSWER = "The answer: its `table`, its `sentences`, and usually a `figure`. A notebook shows all of them."


def __getattr__(name: str) -> Callable[..., Answer]:
    questions = import_module("bpe_core.questions")  # this module loads the present package, so it is imported late
    if name.startswith("_") or name not in questions.QUESTIONS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return function_of(questions.question_named(name))


@cache
def function_of(question: type[Question]) -> Callable[..., Answer]:
    """Make the function that asks a question.

    Parameters
    ----------
    question
        The question, a subclass of `Question`.

    Examples
    --------
    >>> from bpe_core.questions import question_named
    >>> why = function_of(question_named("why"))
    >>> why.__name__, [*why.__signature__.parameters][:3]
    ('why', ['study', 'text', 'at'])
    """
    signature = signature_of(question)
    names = [name for name in signature.parameters if name != "work"]

    def asked(*given: Any, work: Work | None = None, **parameters: Any) -> Answer:
        parameters |= _by_name(question, names, given, parameters)
        return ask_about(question, _about(question, names, parameters), work or ALONE, **parameters)

    asked.__name__ = asked.__qualname__ = question.name
    asked.__module__ = "bpe_core"
    asked.__doc__ = docstring_of(question)
    asked.__signature__ = signature  # type: ignore[attr-defined]  # `help` and editors read the signature
    return asked


def _about(question: type[Question], names: list[str], parameters: dict[str, Any]) -> Any:
    """Remove the study or the studies from `parameters`, and return them.

    If the question gives each study a role, return a mapping from roles to studies. If the question needs no study,
    return None.
    """
    if question.studies == NONE:
        return None
    if question.roles:
        return {role: parameters.pop(role) for role in question.roles if role in parameters}
    return parameters.pop(names[0], None)


def _by_name(
    question: type[Question], names: list[str], given: tuple[Any, ...], parameters: dict[str, Any]
) -> dict[str, Any]:
    """Return a dictionary from the names of parameters to the values that were given by position."""
    if question.studies == NONE:
        if given[:1] == (None,):  # in the place of a study, as former versions took it
            given = given[1:]
        parameters.pop("study", None)
    elif "study" in parameters:  # as all were called
        parameters[names[0]] = parameters.pop("study")
    if len(given) > len(names):
        raise BpeError(f"{question.name} takes at most {len(names)} values ({', '.join(names)}), not {len(given)}.")
    values = dict(zip(names, given, strict=False))
    twice = next((name for name in values if name in parameters), None)
    if twice is not None:
        raise BpeError(
            f"{question.name} got two values for {twice!r}: one by position and one by name. Give only one value."
        )
    return values


def signature_of(question: type[Question]) -> Signature:
    """Return the signature of a question's function.

    The arguments are the study or studies, the parameters in their order, and the keyword `work`.
    """
    either = Argument.POSITIONAL_OR_KEYWORD
    only = Argument.KEYWORD_ONLY
    arguments = [Argument(name, either, annotation=_type_of_study(question)) for name in names_of_studies(question)]
    for parameter in question.parameters():
        default = Argument.empty if parameter.is_required else parameter.default
        annotation = type_of(question, parameter)
        arguments.append(Argument(parameter.name, either, default=default, annotation=annotation))
    arguments.append(Argument("work", only, default=None, annotation=Work | None))
    return Signature(arguments, return_annotation=Answer)


def names_of_studies(question: type[Question]) -> tuple[str, ...]:
    """Return the names of the arguments that hold the study or studies."""
    if question.studies == NONE:
        return ()
    return question.roles or ("study" if question.studies is None else "studies",)


def _type_of_study(question: type[Question]) -> Any:
    return Study if question.studies is None or question.roles else Mapping[str, Study]


def type_of(question: type[Question], parameter: Parameter) -> Any:
    """Return the type that a parameter has in the signature of the question's Python function."""
    if parameter.kind == "files":
        return Any  # `bpe.train` takes values of many types
    if parameter.kind in SEVERAL:
        return SEVERAL[parameter.kind]
    if parameter.choices and not parameter.several and len(parameter.choices) <= MOST_CHOICES:
        default = () if parameter.default is None or parameter.is_required else (parameter.default,)
        either = Literal[tuple(dict.fromkeys((*default, *parameter.choices, *parameter.older)))]
        return either if default or parameter.is_required else either | None
    return get_type_hints(question)[parameter.name]


def written_type(annotation: Any) -> str:
    """Return a type as Python source code.

    >>> written_type(int | None), written_type(Sequence[int]), written_type(Literal["all", ""])
    ('int | None', 'Sequence[int]', "Literal['all', '']")
    """
    name = annotation.__name__ if isinstance(annotation, type) and "[" not in str(annotation) else str(annotation)
    for place in ("typing.", "collections.abc.", "bpe_core.studies.study."):
        name = name.replace(place, "")
    return re.sub(r"^Optional\[(.*)\]$", r"\1 | None", name)


def docstring_of(question: type[Question]) -> str:
    """Return the docstring of a question's function in NumPy style."""
    rows = [_row_of_study(question, name) for name in names_of_studies(question)]
    for parameter in question.parameters():
        optional = "" if parameter.is_required else ", optional"
        about = parameter.help.removesuffix(" (default: standard input)").replace("--specials all", 'specials="all"')
        about += ": everything that `bpe.train` takes" if parameter.kind == "files" else ""
        kind = written_type(type_of(question, parameter))
        kind = kind if len(kind) < LONGEST_TYPE else written_type(get_type_hints(question)[parameter.name])
        rows.append((f"{parameter.name} : {kind}{optional}", _sentence(about)))
    rows.append(("work : Work | None, optional", WORK))
    parameters = "\n".join(
        f"{name}\n{fill(about, WIDTH, initial_indent=INDENT, subsequent_indent=INDENT)}" for name, about in rows
    )
    sections = [
        question.explanation(),
        f"Parameters\n----------\n{parameters}",
        f"Returns\n-------\nAnswer\n    {ANSWER}",
    ]
    if question.in_python:
        sections.append(f"Examples\n--------\n{cleandoc(question.in_python)}")
    return "\n\n".join(sections)


def _row_of_study(question: type[Question], name: str) -> tuple[str, str]:
    kind = _type_of_study(question)
    return f"{name} : {written_type(kind)}", OF_ONE if kind is Study else OF_SEVERAL


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}{'' if text.endswith('.') else '.'}"
