"""The renderer of chat templates: Jinja's sandbox, with limits on loops, on calls, and on the sizes of results.

A template comes with a model, so anyone may have written it. It can use the tags, filters and functions that
transformers offers. This module needs Jinja2, so other modules import it only if Jinja2 is installed.
"""

from __future__ import annotations

import json
import re
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from functools import wraps
from typing import Any, NoReturn

from jinja2 import Template, nodes, pass_context
from jinja2.exceptions import SecurityError, TemplateError, TemplateSyntaxError
from jinja2.ext import Extension, loopcontrols
from jinja2.parser import Parser
from jinja2.runtime import Context
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.utils import Namespace
from jinja2.visitor import NodeTransformer

from bpe_core.errors import FormatError, TooLarge

MOST_STEPS = 1_000_000  # rounds of loops, and calls
MOST_CHARACTERS = 50_000_000  # characters and items made in all, with intermediate results
LARGEST_POWER = 4_096  # binary digits of a number
WIDE = re.compile(r"\d{5,}|\*|\{[^{}]*:[^{}]*\{")  # a large width in a format, or a width that comes from a value
COUNTED, MADE, JOINED = "within_limits", "counted_text", "joined_text"
WITHOUT = ("lipsum",)  # functions of Jinja that give other texts each time
FROM_FILES = (nodes.Include, nodes.Import, nodes.FromImport, nodes.Extends)
WRONG = (TemplateError, ArithmeticError, LookupError, TypeError, ValueError, AttributeError, RecursionError)
TEMPLATE = "<template>"  # what Jinja calls the file of a template made from a text


class Limits:
    """A counter of the loops, calls and characters in one rendering. It raises an error at a limit."""

    def __init__(self) -> None:
        self.steps = 0
        self.characters = 0

    def step(self) -> None:
        self.steps += 1
        if self.steps > MOST_STEPS:
            raise TooLarge(f"the template runs more than {MOST_STEPS:,} loops and calls, so it may never end.")

    def make(self, size: int) -> None:
        self.characters += size
        if self.characters > MOST_CHARACTERS:
            raise TooLarge(f"the template makes more than {MOST_CHARACTERS:,} characters.")


class GenerationBlock(Extension):
    """The template tag `generation`. It does not change the rendered text.

    Templates put it around the answers of a model, so that other programs can train on these answers.
    """

    tags = {"generation"}  # noqa: RUF012  # so Jinja declares it

    def parse(self, parser: Parser) -> list[nodes.Node]:
        line = next(parser.stream).lineno
        inside = parser.parse_statements(("name:endgeneration",), drop_needle=True)
        # Names set inside do not leave the block, as in transformers.
        return [nodes.CallBlock(self.call_method("inner_text"), [], [], inside).set_lineno(line)]

    def inner_text(self, caller: Callable[[], str]) -> str:
        return caller()


class PlainNamespace(Namespace):
    """A namespace for the variables of a template. It refuses the names of Python's attributes."""

    def __init__(*given: Any, **named: Any) -> None:  # a template may name an attribute `self`
        for name in dict(*given[1:], **named):
            _check_name(name)
        Namespace.__init__(*given, **named)

    def __setitem__(self, name: str, value: Any) -> None:
        _check_name(name)
        super().__setitem__(name, value)


def _check_name(name: object) -> None:
    if str(name).startswith("_"):
        raise SecurityError(f"a namespace of the template cannot hold {name!r}")


class LimitedNodes(NodeTransformer):
    """A transformer of Jinja's syntax trees. It adds a counter to each loop, each concatenation, and each output."""

    def visit_For(self, node: nodes.For) -> nodes.Node:  # Jinja calls it by this name
        self.generic_visit(node)
        node.iter = _filtered(node.iter, COUNTED)
        return node

    def visit_Concat(self, node: nodes.Concat) -> nodes.Expr:
        self.generic_visit(node)
        return _filtered(nodes.List(node.nodes, lineno=node.lineno), JOINED)

    def visit_Output(self, node: nodes.Output) -> nodes.Node:
        self.generic_visit(node)
        node.nodes = [_filtered(_value(part), MADE) for part in node.nodes]
        return node


def _value(node: nodes.Expr) -> nodes.Expr:
    return nodes.Const(node.data, lineno=node.lineno) if isinstance(node, nodes.TemplateData) else node


def _filtered(node: Any, name: str) -> nodes.Filter:
    return nodes.Filter(node, name, [], [], None, None, lineno=node.lineno)


class ChatSandbox(ImmutableSandboxedEnvironment):
    """The sandbox for one template. Its limits apply to each rendering separately."""

    intercepted_binops = frozenset({"+", "*", "**", "%"})

    def __init__(self) -> None:
        super().__init__(trim_blocks=True, lstrip_blocks=True, extensions=[GenerationBlock, loopcontrols])
        self.limits = Limits()
        self.filters = {name: self._with_limits(each) for name, each in self.filters.items()}
        self.filters["tojson"] = self._with_limits(_as_json)
        self.filters |= {COUNTED: self._counted, MADE: self._made, JOINED: self._joined}
        self.globals |= {
            "raise_exception": _refuse,
            "strftime_now": lambda form: datetime.now().strftime(form),  # local time, as transformers gives it
            "namespace": PlainNamespace,
            "dict": lambda *given, **named: dict(*given, **named),
        }
        for name in WITHOUT:
            del self.globals[name]

    def prepared(self, template: str) -> Template:
        whole = self.parse(template)
        for node in whole.find_all(FROM_FILES):
            raise TemplateSyntaxError(
                "the template includes another template, and a chat template cannot do that", node.lineno
            )
        whole = LimitedNodes().visit(whole)
        whole.set_environment(self)
        return self.template_class.from_code(self, self.compile(whole), self.make_globals(None))

    def unsafe_undefined(self, obj: Any, attribute: str) -> NoReturn:  # never empty text
        raise SecurityError(f"the template may not use {attribute!r} of {type(obj).__name__!r}")

    def call(self, context: Context, called: Any, /, *given: Any, **named: Any) -> Any:
        self.limits.step()
        method = getattr(called, "__wrapped__", called)
        owner = getattr(method, "__self__", None)
        if isinstance(owner, str):
            given = tuple(map(_as_list, given))
            self._check_text(method.__name__, owner, (*given, *named.values()))
        return self._measured(super().call(context, called, *given, **named))

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        self.limits.step()
        if operator == "+" and _size(left) and _size(right):
            self.limits.make(_size(left) + _size(right))
        elif operator == "*":
            self._check_product(left, right)
        elif operator == "**":
            if isinstance(left, int) and isinstance(right, int) and left.bit_length() * right > LARGEST_POWER:
                raise TooLarge("the template computes a number that is too large.")
        elif operator == "%" and isinstance(left, str):
            self._check_format(left)
        return super().call_binop(context, operator, left, right)

    def _check_product(self, left: Any, right: Any) -> None:
        if isinstance(left, int) and isinstance(right, int):
            if left.bit_length() + right.bit_length() > LARGEST_POWER:
                raise TooLarge("the template computes a number that is too large.")
            return
        for several, times in ((left, right), (right, left)):
            if isinstance(times, int):
                self.limits.make(_size(several) * max(0, times))

    def _check_format(self, form: str) -> None:
        if WIDE.search(form.replace("{{", "")):
            raise TooLarge("the template writes a value with a width that is too large.")

    def _check_text(self, name: str, text: str, given: tuple[Any, ...]) -> None:
        """Raise an error if a string method or a filter would return a text that is too large.

        The check is made before the call.
        """
        largest = max((value for value in given if isinstance(value, int)), default=0)
        texts = [value for value in given if isinstance(value, str)]
        if name in ("expandtabs", "indent"):
            self.limits.make((len(text) + 1) * max(largest, *map(len, texts), 8))
        elif name == "replace" and len(texts) > 1:
            self.limits.make(text.count(texts[0]) * len(texts[1]))
        elif name in ("join", "translate"):
            for several in given:
                values = several.values() if isinstance(several, Mapping) else several
                times = len(text) + 1 if name == "translate" else 1
                self.limits.make(sum((_size(value) + len(text)) * times for value in values))
        elif name in ("format", "format_map"):
            self._check_format(text)
        elif name not in ("split", "rsplit", "splitlines", "find", "rfind", "index", "count", "startswith", "endswith"):
            self.limits.make(largest)

    def _measured(self, made: Any) -> Any:
        self.limits.make(_size(made))
        return made

    def _with_limits(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return a filter with limits: each use counts as a call, and the size of its result is limited."""
        name = function.__name__.removeprefix("do_").removeprefix("sync_do_")
        skipped = 1 if hasattr(function, "jinja_pass_arg") else 0

        @wraps(function)
        def limited(*given: Any, **named: Any) -> Any:
            self.limits.step()
            if function is not _as_json:  # a generator is not JSON in transformers
                given = (*given[:skipped], *map(_as_list, given[skipped:]))
            value = given[skipped] if len(given) > skipped else None
            others = (*given[skipped + 1 :], *named.values())
            if name == "sum" and any(isinstance(item, list | tuple) for item in others):
                raise SecurityError("the filter sum adds only numbers")
            if name in ("join", "batch", "slice", "sum"):
                between = next((item for item in others if isinstance(item, str)), "")
                numbers = [item for item in others if isinstance(item, int)]
                parts = value if isinstance(value, list | tuple) else ()
                self.limits.make(sum(_size(item) + len(between) for item in parts) + max(numbers, default=0))
            elif name in ("as_json", "_as_json"):
                self.limits.make(max((item for item in others if isinstance(item, int)), default=0))
            elif isinstance(value, str):
                self._check_text(name, value, others)
            return self._measured(function(*given, **named))

        return limited

    @property
    def _counted(self) -> Callable[..., Any]:
        @pass_context
        def counted(context: Context, values: Iterable[Any]) -> Iterator[Any]:
            for value in values:
                self.limits.step()
                yield value

        return counted

    @property
    def _made(self) -> Callable[..., Any]:
        @pass_context
        def made(context: Context, value: Any) -> str:
            return str(self._measured(str(value)))

        return made

    @property
    def _joined(self) -> Callable[..., Any]:
        @pass_context
        def joined(context: Context, values: list[Any]) -> str:
            texts = [str(value) for value in values]
            self.limits.make(sum(map(len, texts)))
            return "".join(texts)

        return joined


def _as_list(value: Any) -> Any:
    """Return a list of a generator's values. Return any other value unchanged."""
    return list(value) if isinstance(value, Iterator) else value


def _size(value: Any) -> int:
    return len(value) if isinstance(value, str | bytes | list | tuple) else 0


def _as_json(
    value: Any,
    ensure_ascii: bool = False,
    indent: int | None = None,
    separators: tuple[str, str] | None = None,
    sort_keys: bool = False,
) -> str:
    return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


class RefusedByTemplateError(TemplateError):
    """An error that a template raises itself, for example because a role is unknown."""


def _refuse(message: str) -> NoReturn:
    raise RefusedByTemplateError(message)


class PreparedTemplate:
    """A template that is parsed once and rendered many times. Its errors contain the name of the template."""

    def __init__(self, text: str, name: str) -> None:
        self._name = name
        self._sandbox = ChatSandbox()
        with self._sentences():
            self._template = self._sandbox.prepared(text)

    def rendered(self, values: Mapping[str, Any]) -> str:
        self._sandbox.limits = Limits()
        with self._sentences():
            return self._template.render(values)

    @contextmanager
    def _sentences(self) -> Iterator[None]:
        """Turn the errors of Jinja into errors that a user can understand."""
        try:
            yield
        except RefusedByTemplateError as error:
            raise FormatError(f"The chat template in {self._name} refuses this chat: {error}") from error
        except TooLarge as error:
            raise TooLarge(f"The chat template in {self._name} was stopped: {error}") from error
        except WRONG as error:
            line = _line_of(error)
            where = f", line {line:,}" if line else ""
            raise FormatError(f"The chat template in {self._name}{where} cannot be rendered: {_why(error)}.") from error


def _line_of(error: BaseException) -> int | None:
    if isinstance(error, TemplateSyntaxError):
        return error.lineno
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == TEMPLATE]
    return lines[-1] if lines else None


def _why(error: BaseException) -> str:
    if isinstance(error, RecursionError):
        return "a macro of the template calls itself endlessly"
    if isinstance(error, TemplateSyntaxError):
        return (error.message or type(error).__name__).rstrip(".")  # its text also names the line
    return (str(error) or type(error).__name__).rstrip(".")
