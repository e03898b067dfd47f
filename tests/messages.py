"""The lists of all messages that people read: errors, commands, questions, engine, window, lessons and manual.

    python -m tests.messages errors

prints all messages of one list, each with its file and line. A message is a text of two words or more in the code, but
no docstring. Values that the program inserts into a message are written in braces. The docstring of a question is a
message, because commands and pages show it.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache

from tests.shared import ROOT

RESOURCES = {"lessons": ROOT / "resources/lessons", "manual": ROOT / "resources/manual"}
SURFACES = ("errors", "commands", "questions", "engine", "window", *RESOURCES)
IS_CODE = re.compile(r"(re\.\w+|\w*regex\.\w+|\w+\.(execute|executemany|executescript)|cast|TypeVar|NewType)")
TWO_WORDS = re.compile(r"[^\W\d_]{2,}\S* +\S*[^\W\d_]{2,}")
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True)
class Message:
    path: str
    line: int
    text: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.text}"


def messages(surface: str) -> list[Message]:
    """Return the messages of a surface, such as the window, sorted by file and line."""
    if surface not in RESOURCES:
        return [message for its_surface, message in _messages_of_code() if its_surface == surface]
    return [
        Message(path.relative_to(ROOT).as_posix(), number, line)
        for path in sorted(RESOURCES[surface].glob("*.*"))
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        if TWO_WORDS.search(line)
    ]


@cache
def _messages_of_code() -> tuple[tuple[str, Message], ...]:
    paths = [path for folder in ("app", "bpe_core") for path in sorted((ROOT / folder).rglob("*.py"))]
    trees = {path.relative_to(ROOT).as_posix(): ast.parse(path.read_text("utf-8")) for path in paths}
    errors = children_of("BpeError", trees)
    return tuple(message for path, tree in trees.items() for message in messages_in(path, tree, errors))


def messages_in(path: str, tree: ast.Module, errors: set[str]) -> Iterator[tuple[str, Message]]:
    """Yield the messages in a module. Each comes with its surface, such as the window.

    `errors` are the names of the error classes, whose texts are error messages.
    """
    return _Collector(path, errors).messages(tree)


def children_of(name: str, trees: Mapping[str, ast.Module]) -> set[str]:
    """Return the names of a class and of all classes derived from it."""
    classes = [node for tree in trees.values() for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    family = {name}
    while True:
        children = {each.name for each in classes if family & {ast.unparse(base) for base in each.bases}}
        if children <= family:
            return family
        family |= children


class _Collector:
    """A collector of the messages in the syntax tree of one file."""

    def __init__(self, path: str, errors: set[str]) -> None:
        self.path = path
        self.errors = errors
        self.surface = _surface_of(path)

    def messages(self, node: ast.AST, surface: str = "") -> Iterator[tuple[str, Message]]:
        """Yield each message below a node with its surface."""
        surface = surface or self.surface
        parts = _parts(node)
        if parts is not None:
            text = "".join(part if isinstance(part, str) else "{" + ast.unparse(part) + "}" for part in parts)
            if TWO_WORDS.search("".join(part if isinstance(part, str) else "{}" for part in parts)):
                assert isinstance(node, ast.expr)
                yield surface, Message(self.path, node.lineno, text)
            inside: Iterable[ast.AST] = [part for part in parts if not isinstance(part, str)]
        else:
            inside = [child for child in ast.iter_child_nodes(node) if child is not _hidden_docstring(node)]
        if isinstance(node, ast.Raise) or (
            isinstance(node, ast.Call) and _name(node).rpartition(".")[2] in self.errors
        ):
            surface = "errors"
        for child in inside:
            if not (isinstance(child, ast.Call) and IS_CODE.fullmatch(_name(child))):
                yield from self.messages(child, surface)


def _parts(node: ast.AST) -> list[str | ast.expr] | None:
    """Return the literals and expressions that a text is joined of. Return None if the node is not a text."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return [node.value]
    if isinstance(node, ast.JoinedStr):
        values = [part.value for part in node.values if isinstance(part, ast.FormattedValue | ast.Constant)]
        return [value if isinstance(value, ast.expr) else str(value) for value in values]
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left, right = _parts(node.left), _parts(node.right)
        if left is not None or right is not None:
            return [*(left or [node.left]), *(right or [node.right])]
    return None


def _hidden_docstring(node: ast.AST) -> ast.stmt | None:
    """Return the docstring of a function, class or module, which no person sees. Return None if there is no docstring.

    The docstring of a question is visible in commands and pages, so it is not returned.
    """
    if not isinstance(node, DOCUMENTED) or not node.body or not isinstance(node.body[0], ast.Expr):
        return None
    if not isinstance(node.body[0].value, ast.Constant):
        return None
    is_question = isinstance(node, ast.ClassDef) and "Question" in map(ast.unparse, node.bases)
    return None if is_question else node.body[0]


def _name(call: ast.Call) -> str:
    """Return the name of the called function, with at most one name before it, such as `re.compile`."""
    if isinstance(call.func, ast.Attribute):
        before = f"{call.func.value.id}." if isinstance(call.func.value, ast.Name) else ""
        return before + call.func.attr
    return call.func.id if isinstance(call.func, ast.Name) else ""


def _surface_of(path: str) -> str:
    if path.startswith("app/"):
        return "window"
    if path.startswith("bpe_core/command_line/"):
        return "commands"
    return "questions" if path.startswith(("bpe_core/questions/", "bpe_core/asking/")) else "engine"


if __name__ == "__main__":
    for surface_asked in sys.argv[1:] or SURFACES:
        for message in messages(surface_asked):
            sys.stdout.write(f"{surface_asked}: {message}\n")
