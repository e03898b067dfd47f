"""A question: typed parameters, and an answer made of a study.

Each question is a frozen dataclass in a file of its own (`bpe_core/questions`). Its fields are the parameters, its
docstring is its help. From these follow the command, the page in the window, the Python function, the section of a
report, the exports, and the manifest: nobody writes them again.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, field
from functools import cache
from typing import Any, ClassVar, Literal, get_args, get_type_hints

import numpy as np

from bpe_core.errors import BpeError
from bpe_core.figures.figure import Figure
from bpe_core.history.arguments import by_name
from bpe_core.measures.measures import MEASURES
from bpe_core.studies.study import Study
from bpe_core.studies.texts import Texts, files, texts_of
from bpe_core.support.data_table import DataTable, Values
from bpe_core.support.progress import ALONE, Work

Kind = Literal["truth", "number", "fraction", "text", "numbers", "texts", "pairs", "files"]
Needs = Literal["no texts", "texts if known", "texts"]
Pair = tuple[str, str]
NONE = (0, 0)  # how many studies a question is about that reads a file of its own
PLUS, NEXT = " + ", "; "  # between the tokens of a pair, and between pairs, as a person types them

_KINDS: Mapping[Any, Kind] = {
    bool: "truth",
    int: "number",
    int | None: "number",
    float: "fraction",
    str: "text",
    str | None: "text",
    tuple[int, ...]: "numbers",
    tuple[str, ...]: "texts",
    tuple[Pair, ...]: "pairs",
    Texts | None: "files",
}


@dataclass(frozen=True)
class Answer:
    """What a question was answered: a table, sentences, and for most questions a figure."""

    table: DataTable
    sentences: tuple[str, ...] = ()
    figure: Figure | None = None
    listed: tuple[str, ...] = ()  # the columns that people are shown; none named: all but the hex ones
    rows: Sequence[int] | None = None  # which rows a terminal shows; else the first
    facts: Mapping[str, Any] = field(default_factory=dict)  # values that are no rows, for scripts
    tokens: tuple[str, ...] = ()  # of a text, in their order: a terminal puts each on a coloured ground
    on_axis: bool = True  # whether its figure has the axis that the question names
    differs: bool = False  # a comparison found a difference, which a command's exit code says

    @classmethod
    def drawn(cls, table: DataTable, figure: Figure, listed: tuple[str, ...] = ()) -> Answer:
        """Answer with a table and its figure, whose sentence says the rest."""
        return cls(table, (figure.sentence,), figure, listed)

    @property
    def columns(self) -> Mapping[str, Values]:
        return self.table.columns

    @property
    def shown_columns(self) -> tuple[str, ...]:
        return self.listed or tuple(name for name in self.table.columns if not name.endswith("hex"))


@dataclass(frozen=True)
class Parameter:
    help: str
    name: str = ""  # of the field
    kind: Kind = "text"
    default: Any = None
    metavar: str = ""
    choices: tuple[str, ...] = ()
    older: tuple[str, ...] = ()  # choices of older versions, which a form does not offer
    positional: bool = False  # a command takes it without a flag
    from_input: bool = False  # a command reads it from standard input where it is left out
    const: str = ""  # its value where a command's flag has none behind it
    repeated: bool = False  # a command takes its flag again for each value
    title: str = ""  # beside the field in a form; else made of the name
    path: Literal["", "file", "folder"] = ""  # its value can be one, which a form lets a person choose
    offered: tuple[str, ...] = ()  # other values that a form offers beside a path
    only_with: str = ""  # it means something only where the parameter of that name is given
    of_column: str = ""  # a form offers the values that this column of the answer has
    several: bool = False  # several of the choices can be named, a comma between; a form offers one or all
    is_required: bool = False  # it has no default
    in_json_only: bool = False  # a form has no use for it

    @property
    def flag(self) -> str:
        """
        >>> Parameter("", name="never_won").flag, Parameter("", name="pairs", repeated=True).flag
        ('--never-won', '--pair')
        """
        name = self.name.removesuffix("s") if self.repeated else self.name
        return "--" + name.replace("_", "-")

    @property
    def label(self) -> str:
        return self.title or self.name.replace("_", " ").capitalize()

    def written(self, value: Any) -> str:
        """Write a value as a person would type it into a form."""
        if value is None:
            return ""
        if self.kind == "pairs":
            return NEXT.join(PLUS.join(pair) for pair in value)
        if self.kind == "files":
            return " ".join(value.paths)
        if self.kind in ("numbers", "texts"):
            return " ".join(str(one) for one in value)
        return str(value)

    def read(self, text: str) -> Any:
        """Read what a person typed into a form.

        >>> Parameter("", name="pairs", kind="pairs").read("t + h; ␣ + a")
        (('t', 'h'), ('␣', 'a'))
        """
        if self.kind == "pairs":
            return tuple(self._pair(part) for part in text.split(NEXT.strip()) if part.strip())
        if self.kind == "texts":
            return tuple(text.split())
        if self.kind == "files":
            return files(text) if text else None
        try:
            if self.kind == "numbers":
                return tuple(int(part) for part in text.replace(",", " ").split())
            if self.kind == "number":
                return int(text) if text.strip() else self.default
            if self.kind == "fraction":
                return float(text) if text.strip() else self.default
        except ValueError as error:
            raise BpeError(f"{self.label}: {text.strip()[:40]!r} is not a number.") from error
        return text

    def _pair(self, part: str) -> Pair:
        left, plus, right = part.partition(PLUS)
        if not plus:
            raise BpeError(
                f"Write a pair as two tokens with a plus between them, such as “␣t + he”, not {part[:40]!r}."
            )
        return left if left.isspace() else left.strip(), right if right.isspace() else right.strip()


def parameter(default: Any = MISSING, *, help: str, **more: Any) -> Any:
    if default is MISSING:
        return field(metadata={"parameter": Parameter(help, is_required=True, **more)})
    return field(default=default, metadata={"parameter": Parameter(help, default=default, **more)})


class Question:
    """A subclass is a frozen dataclass with `answer(study, work)`; if about several tokenizers, of studies by name."""

    name: ClassVar[str]  # in commands, files and code: that of its file
    examples: ClassVar[str] = ""  # for the end of the command's help
    needs: ClassVar[Needs] = "no texts"
    studies: ClassVar[tuple[int, int] | None] = None  # at least and at most how many; None: it is about one
    follows_time: ClassVar[bool] = False  # whether its parameter `at` is the moment shown
    in_report: ClassVar[Literal["", "figure", "rows"]] = ""  # what of its answer without parameters a report holds
    takes_moments: ClassVar[bool] = True  # whether the run shown in a session is asked about at its moment, too
    about_texts: ClassVar[bool] = False  # a command names texts first, and a tokenizer only behind --merges, if any
    table_first: ClassVar[bool] = False  # a command names the tokenizer first, and then a text
    rests: ClassVar[bool] = False  # it takes long, so that a window asks it only about runs that are at rest
    by_parts: ClassVar[bool] = False  # its answer depends on the files or groups that the texts are parted into
    moment: ClassVar[tuple[str, int]] = ("step", 0)  # the column that names a row's moment, and what to add to it
    axis: ClassVar[Literal["", "step", "size"]] = ""  # what is along the figure, if that is a moment

    def __init_subclass__(cls) -> None:
        cls.name = cls.__module__.rpartition(".")[2]

    def answer(self, study: Any, work: Work = ALONE) -> Answer:
        raise NotImplementedError

    def table_named(self) -> str:
        """Return the path of the table that a file among the parameters names, for a command without TABLE."""
        return ""

    def asks_corpus(self, *, has_texts: bool) -> bool:
        """Return whether a window asks about the texts of its corpus: of a run that has texts, or has none."""
        return self.needs == "texts" and not has_texts

    def texts_of(self, studies: Any) -> Mapping[str, Sequence[str]]:
        """Return the documents of each text that rows of the answer are about, where people can read them."""
        return {}

    @classmethod
    def title(cls) -> str:
        return cls.name.replace("_", " ").capitalize()

    @classmethod
    def explanation(cls) -> str:
        return inspect.cleandoc(cls.__doc__ or "")

    @classmethod
    @cache
    def parameters(cls) -> tuple[Parameter, ...]:
        hints = get_type_hints(cls)
        return tuple(
            dataclasses.replace(
                field.metadata["parameter"],
                name=field.name,
                kind=_KINDS.get(hints[field.name], "text"),
                choices=field.metadata["parameter"].choices or _choices(hints[field.name]),
            )
            for field in dataclasses.fields(cls)  # type: ignore[arg-type]  # subclasses are dataclasses
        )

    def arguments(self) -> Iterator[str]:
        """Yield the words by which a command asks the same."""
        for one in self.parameters():
            value = getattr(self, one.name)
            if one.positional:
                yield str(value)
            elif value is True:
                yield one.flag
            elif value != one.default:
                yield from _words(one, value)


def ask_about(question: type[Question], study: Any = None, work: Work = ALONE, **parameters: Any) -> Answer:
    """Ask a question by its parameters; lists are taken where a tuple is wanted."""
    known = {one.name: one for one in question.parameters()}
    unknown = next((name for name in parameters if name not in known), None)
    if unknown is not None:
        raise BpeError(
            f"The question {question.name} has no parameter {unknown!r}; it has {', '.join(known) or 'none'}."
        )
    missing = next((one.name for one in known.values() if one.is_required), None)
    if missing is not None and missing not in parameters:
        raise BpeError(f"The question {question.name} needs {missing!r}: {known[missing].help}.")
    plain = {name: _as_meant(known[name], value) for name, value in parameters.items()}
    return question(**plain).answer(_studies(question, study), work)


def _studies(question: type[Question], given: Any) -> Any:
    if question.studies == NONE:
        return None
    if question.studies is None:
        return Study.of(given)
    check_how_many(question, len(by_name(given)))
    return {name: Study.of(one, name) for name, one in given.items()}


def check_how_many(question: type[Question], tokenizers: int) -> None:
    """Raise an error if the question is about more tokenizers, or fewer."""
    assert question.studies is not None
    least, most = question.studies
    if not least <= tokenizers <= most:
        several = f"{least:,} to {most:,}" if least < most else f"{least:,}"
        raise BpeError(f"{question.title()} is about {several} tokenizers, not {tokenizers:,}.")


def heading_of(column: str) -> str:
    return MEASURES[column].heading if column in MEASURES else column.replace("_", " ")


def cell_text(column: str, value: Any) -> str:
    """Write a value of a table for people.

    >>> cell_text("count", 1234), cell_text("share_in_use", 0.5), cell_text("tied", False), cell_text("x", None)
    ('1,234', '50.0%', '', '')
    """
    if value is None or value != value:
        return ""
    if column in MEASURES:
        return MEASURES[column].shown(value)
    if isinstance(value, str | tuple):
        return value if isinstance(value, str) else ", ".join(value)
    if isinstance(value, bool | np.bool_):
        return "yes" if value else ""
    return f"{value:,}" if isinstance(value, int | np.integer) else f"{value:.4g}"


def _as_meant(parameter: Parameter, value: Any) -> Any:
    if parameter.kind == "files":
        return None if value is None else texts_of(value)
    return tuple(_as_meant(parameter, one) for one in value) if isinstance(value, list) else value


def _words(parameter: Parameter, value: Any) -> Iterator[str]:
    if parameter.kind in ("numbers", "texts", "pairs", "files"):
        values: Sequence[Any] = value.paths if parameter.kind == "files" else value
        for place, one in enumerate(values):
            if parameter.repeated or not place:
                yield parameter.flag
            yield from map(str, one if parameter.kind == "pairs" else (one,))
    else:
        yield parameter.flag
        yield str(value)


def _choices(hint: Any) -> tuple[str, ...]:
    return tuple(one for one in get_args(hint) if isinstance(one, str))
