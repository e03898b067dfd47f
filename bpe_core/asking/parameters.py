"""The parameters of questions: their types, and how a user writes their values in a form or a command."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, field
from typing import Any, Literal, get_args, get_type_hints

from bpe_core.errors import BpeError
from bpe_core.studies.texts import Texts, files, texts_of

Kind = Literal["truth", "number", "fraction", "text", "numbers", "texts", "ids", "pairs", "files"]
Pair = tuple[str, str]
AUTOMATIC = "automatic"  # how a form shows that a value is left to the question
MOST_SHOWN_OF_CHOICES = 24  # characters of choices that the help of a command shows in place of a value
PLUS, NEXT = " + ", "; "  # the signs between the tokens of a pair, and between pairs, as a user types them

_KINDS: Mapping[Any, Kind] = {
    bool: "truth",
    int: "number",
    int | None: "number",
    float: "fraction",
    str: "text",
    str | None: "text",
    tuple[int, ...]: "numbers",
    tuple[str, ...]: "texts",
    tuple[int | str, ...]: "ids",
    tuple[Pair, ...]: "pairs",
    Texts | None: "files",
}


@dataclass(frozen=True)
class Parameter:
    help: str
    name: str = ""  # the name of the field
    kind: Kind = "text"
    default: Any = None
    metavar: str = ""
    choices: tuple[str, ...] = ()
    older: tuple[str, ...] = ()  # former choices, which a form does not offer
    positional: bool = False  # whether a command takes the value without an option
    from_input: bool = False  # whether a command reads a missing value from standard input
    instead: tuple[str, ...] = ()  # parameters that a command takes instead, and then reads no standard input
    const: str = ""  # its value if a command's flag stands alone
    repeated: bool = False  # whether a command repeats the flag for each value
    title: str = ""  # the label in a form; by default made from the name
    path: Literal["", "file", "folder"] = ""  # whether the value can be a path, which a form lets a user choose
    offered: tuple[str, ...] = ()  # other values that a form offers besides a path
    only_with: str = ""  # the name of a parameter without which this parameter has no meaning
    of_column: str = ""  # the column of the answer whose values a form offers
    example: str = ""  # a value as a user types it, which an empty field offers
    in_words: Mapping[str, str] = field(default_factory=dict)  # the texts of values in a form; "" is no value
    is_extra: bool = False  # whether a form shows the parameter only behind More
    several: bool = False  # whether a value may hold several choices, separated by commas
    is_required: bool = False  # whether the parameter has no default
    in_json_only: bool = False  # whether a form leaves the parameter out

    @property
    def flag(self) -> str:
        """Return the option for this parameter in a command.

        >>> Parameter("", name="never_won").flag, Parameter("", name="pairs", repeated=True).flag
        ('--never-won', '--pair')
        """
        name = self.name.removesuffix("s") if self.repeated else self.name
        return "--" + name.rstrip("_").replace("_", "-")  # the name `as_` ends in _ because `as` is a keyword of Python

    @property
    def label(self) -> str:
        return self.title or self.name.replace("_", " ").capitalize()

    @property
    def placeholder(self) -> str:
        """Return what the help of a command shows in place of the value.

        >>> Parameter("", name="way", choices=("library", "exact")).placeholder, Parameter("", name="seed").placeholder
        ('library|exact', 'SEED')
        """
        choices = "" if self.several else "|".join(self.choices)
        return self.metavar or (choices if len(choices) <= MOST_SHOWN_OF_CHOICES else "") or self.name.upper()

    def shown(self, choice: str | None) -> str:
        """Return a choice as a form shows it.

        >>> Parameter("").shown("share_in_use"), Parameter("", in_words={"": "none"}).shown(None)
        ('share in use', 'none')
        """
        return self.in_words.get(choice or "") or (choice or AUTOMATIC).replace("_", " ")

    def written(self, value: Any) -> str:
        """Return a value as a user types it into a form. This is the reverse of `read`."""
        if value is None:
            return ""
        if self.kind == "pairs":
            return NEXT.join(PLUS.join(pair) for pair in value)
        if self.kind == "files":
            return " ".join(value.paths)
        if self.kind in ("numbers", "texts", "ids"):
            return " ".join(str(entry) for entry in value)
        return str(value)

    def read(self, text: str) -> Any:
        """Convert a text that a user typed into a form to a value of the parameter.

        >>> Parameter("", name="pairs", kind="pairs").read("t + h; ␣ + a")
        (('t', 'h'), ('␣', 'a'))
        """
        if self.kind == "pairs":
            return tuple(self._pair(part) for part in text.split(NEXT.strip()) if part.strip())
        if self.kind in ("texts", "ids"):
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

    def as_stored(self, value: Any) -> Any:
        """Return a value in the form in which a question stores it. For example, a list becomes a tuple."""
        if self.kind == "files":
            return None if value is None else texts_of(value)
        if self.kind in ("texts", "ids") and isinstance(value, str):
            return (value,)
        if self.kind in ("numbers", "texts", "ids", "pairs") and isinstance(value, Iterable):
            return tuple(tuple(entry) if isinstance(entry, list) else entry for entry in value)
        return value

    def checked(self, value: Any) -> Any:
        """Return a value unchanged. Raise BpeError if the value is not one of the choices."""
        allowed = (*self.choices, *self.older)
        chosen = value.split(",") if self.several and isinstance(value, str) else [value]
        wrong = next((choice for choice in chosen if choice not in allowed and choice != self.default), None)
        if self.choices and self.kind == "text" and wrong is not None:
            raise BpeError(f"{self.name} cannot be {wrong!r}; choose one of {', '.join(map(repr, allowed))}.")
        return value

    def words(self, value: Any) -> Iterator[str]:
        """Yield the arguments that give this parameter a value on a command line."""
        if self.positional:
            yield from map(str, value if self.kind == "ids" else (value,))
        elif value is True:
            yield self.flag
        elif self.kind in ("numbers", "texts", "pairs", "files"):
            values: Sequence[Any] = value.paths if self.kind == "files" else value
            for place, entry in enumerate(values):
                if self.repeated or not place:
                    yield self.flag
                yield from map(str, entry if self.kind == "pairs" else (entry,))
        else:
            yield self.flag
            yield str(value)

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


def parameters_of(question: type) -> tuple[Parameter, ...]:
    """Return the parameters of a question, which are the fields of its dataclass."""
    hints = get_type_hints(question)
    return tuple(
        dataclasses.replace(
            field.metadata["parameter"],
            name=field.name,
            kind=_KINDS.get(hints[field.name], "text"),
            choices=field.metadata["parameter"].choices or _choices(hints[field.name]),
        )
        for field in dataclasses.fields(question)
    )


def _choices(hint: Any) -> tuple[str, ...]:
    return tuple(literal for literal in get_args(hint) if isinstance(literal, str))
