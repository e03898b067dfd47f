"""The lists of all messages that people read: errors, commands, questions, engine, window, lessons and manual.

    python -m tests.messages errors

This command prints all messages of one list, each with its file and line.

A message is a text of two or more words in the code. Docstrings are left out, except for the docstrings of
questions, which commands and pages show. Values that the program inserts into a message are written in
braces. Counts are written in braces together with their nouns. Lines of programs, commands, style sheets and
markup are left out. Texts that the code uses as names of values are listed only where a `Literal` type
declares them.
"""

from __future__ import annotations

import ast
import inspect
import re
import sys
import tomllib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain

from tests.shared import ROOT

RESOURCES = {"lessons": ("resources/lessons/*.*", "bpe_core/methods/*/*.toml"), "manual": ("resources/manual/*.*",)}
SURFACES = ("errors", "commands", "questions", "engine", "window", *RESOURCES)
IS_CODE = re.compile(
    r"(re\.\w+|\w*regex\.\w+|\w+\.(execute|executemany|executescript)|cast|TypeVar|NewType|Setting|count_text)"
)
FOR_PEOPLE = {"title", "about", "say", "choices", "wrong", "hint", "after"}
EXAMPLE = re.compile(r"""\s*(>>> |bpe-explorer |python |pip |ffmpeg |# |#!|\[\w+\]\s*$|\w+ = ["\[{])""")
FENCE = re.compile(r"\s*(```|<!--)")
NEW_PARAGRAPH = re.compile(r"\s*([-*|#>]|\d+\. )")
SENTENCE_END = re.compile(r"[.:!?…][)*_`”]*$")
PROGRAM = re.compile(
    r"""^\s*(SELECT|CREATE|INSERT|UPDATE|DELETE|PRAGMA|ALTER|DROP|BEGIN\ IMMEDIATE)\b|typeof\(  # SQL
    | \bORDER\ BY\b|\bWHERE\ \w+\ =|\bhex\(\w+\)  # parts of SQL
    | ^\s*import\ \w+(;|$)|default-src  # Python, rules of pages
    | [\w)]\s*\{\s*[\w-]+:|[\w%)];\s*(\}|\w+\(|$)|^[\w-]+:[^.;]*;[^.]*;  # style sheets
    | </?(html|head|body|div|span|style|script|svg|section|table|mime|key|dict)\b|<[?!]\w|xmlns|="http  # markup
    | \$\{|\$\(|\bcase\b.*\bin$|\bCOMP_|\bcompadd\b|^\s*(local|esac|fi|done|complete)\b  # shells
    | <\|?\w*[|▁>-]""",  # names of special tokens
    re.VERBOSE | re.MULTILINE,
)
VALUE = re.compile(r"\{[^{}]*\}")
HEXADECIMAL = re.compile(r"(\b[0-9a-f]{2,5}(-[0-9a-f]{2,5})?\s*){4,}")
TWO_WORDS = re.compile(r"[^\W\d_]{2,}\S* +\S*[^\W\d_]{2,}")
WITHOUT_TEXT = (ast.Name, ast.alias, ast.expr_context, ast.operator, ast.cmpop, ast.boolop, ast.unaryop)
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True)
class Message:
    path: str
    line: int
    text: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.text}"


def messages(surface: str) -> list[Message]:
    """Return the messages that people see in one place, such as the window.

    `surface` is the name of the place. The messages are sorted by file and line.
    """
    if surface not in RESOURCES:
        return [message for its_surface, message in _messages_of_code() if its_surface == surface]
    return [
        Message(path.relative_to(ROOT).as_posix(), number, text)
        for path in sorted(chain.from_iterable(map(ROOT.glob, RESOURCES[surface])))
        for number, text in (_texts_of_lesson if path.suffix == ".toml" else _paragraphs)(path.read_text("utf-8"))
        if TWO_WORDS.search(text)
    ]


def _texts_of_lesson(source: str) -> Iterator[tuple[int, str]]:
    """Yield the texts that a lesson shows, each with its line."""
    for text in _strings(tomllib.loads(source)):
        for _, paragraph in _paragraphs(text):
            yield source.count("\n", 0, max(0, source.find(paragraph[:20]))) + 1, paragraph


def _strings(entry: object, is_shown: bool = False) -> Iterator[str]:
    """Yield each text in a lesson's entry that is shown to readers."""
    if isinstance(entry, str) and is_shown:
        yield entry
    elif isinstance(entry, list):
        for item in entry:
            yield from _strings(item, is_shown)
    elif isinstance(entry, dict):
        is_call = "what" in entry  # asks the engine for a value
        for key, value in entry.items():
            yield from _strings(value, (is_shown or key in FOR_PEOPLE) and not is_call)


def _paragraphs(text: str) -> Iterator[tuple[int, str]]:
    """Yield the sentences and labels of a page, each with the number of its first line.

    Examples and blocks of code are left out.
    """
    paragraph: list[str] = []
    is_fenced = is_example = False
    for number, line in enumerate([*text.splitlines(), ""], 1):
        is_fence = FENCE.match(line) is not None
        is_fenced ^= is_fence and "```" in line
        is_example = bool(line.strip()) and (is_example or EXAMPLE.match(line) is not None)
        is_code = is_fence or is_fenced or is_example or line.startswith("    ") or not line.strip()
        if paragraph and (is_code or NEW_PARAGRAPH.match(line) or SENTENCE_END.search(paragraph[-1])):
            yield number - len(paragraph), " ".join(paragraph)
            paragraph = []
        if not is_code:
            paragraph.append(line.strip())


@cache
def _messages_of_code() -> tuple[tuple[str, Message], ...]:
    paths = [path for folder in ("app", "bpe_core") for path in sorted((ROOT / folder).rglob("*.py"))]
    sources = {path.relative_to(ROOT).as_posix(): path.read_text("utf-8") for path in paths}
    trees = {path: ast.parse(source) for path, source in sources.items()}
    errors = children_of("BpeError", trees)
    declaring = [path for path, source in sources.items() if "Literal[" in source]
    names = {name for path in declaring for name in _names_of_values(trees[path])}
    return tuple(message for path, tree in trees.items() for message in messages_in(path, tree, errors, names))


def messages_in(
    path: str, tree: ast.Module, errors: Collection[str], names: Collection[str] = ()
) -> Iterator[tuple[str, Message]]:
    """Yield the messages in a module. Each is paired with the place where it is shown, such as the window.

    `errors` are the names of the error classes, whose texts are error messages. A text in `names` is the name of
    a value. It is yielded only where a `Literal` type lists it.
    """
    return _Collector(path, errors, names).messages(tree)


def _names_of_values(tree: ast.Module) -> Iterator[str]:
    """Yield the texts in `Literal` types. They are the names of values, such as the reasons why a run ends."""
    parts = (part for node in ast.walk(tree) if _is_literal_type(node) for part in ast.walk(node))
    yield from (part.value for part in parts if isinstance(part, ast.Constant) and isinstance(part.value, str))


def _is_literal_type(node: ast.AST) -> bool:
    return isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and node.value.id == "Literal"


def children_of(name: str, trees: Mapping[str, ast.Module]) -> set[str]:
    """Return the names of a class and of all classes derived from it."""
    bases_by_class = [
        (node.name, {ast.unparse(base) for base in node.bases})
        for tree in trees.values()
        for node in _statements(tree)
        if isinstance(node, ast.ClassDef)
    ]
    family = {name}
    while True:
        children = {child for child, bases in bases_by_class if family & bases}
        if children <= family:
            return family
        family |= children


def _statements(tree: ast.Module) -> Iterator[ast.AST]:
    """Yield the statements of a module. Their expressions are not searched, which saves most of the time."""
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        yield node
        waiting += [child for child in ast.iter_child_nodes(node) if not isinstance(child, ast.expr)]


class _Collector:
    """A collector of the messages in the syntax tree of one file."""

    def __init__(self, path: str, errors: Collection[str], names: Collection[str]) -> None:
        self.path = path
        self.errors = errors
        self.names = names
        self.surface = _surface_of(path)

    def messages(self, node: ast.AST, surface: str = "") -> Iterator[tuple[str, Message]]:
        """Yield each message in the code below a node of the syntax tree, and where people see it."""
        surface = surface or self.surface
        if _is_name_of_value(node, self.names):
            return
        if self.names and _is_literal_type(node):
            yield from _Collector(self.path, self.errors, ()).messages(node)
            return
        parts = _parts(node)
        if parts is not None:
            text = "".join(part if isinstance(part, str) else _value(part) for part in parts)
            for paragraph in _sentences(text):
                assert isinstance(node, ast.expr)
                yield surface, Message(self.path, node.lineno, paragraph)
            inside: Iterable[ast.AST] = [part for part in parts if not isinstance(part, str)]
        else:
            docstring = _hidden_docstring(node)
            inside = [child for child in ast.iter_child_nodes(node) if child is not docstring]
        if isinstance(node, ast.Raise) or (
            isinstance(node, ast.Call) and _name(node).rpartition(".")[2] in self.errors
        ):
            surface = "errors"
        for child in inside:
            if isinstance(child, WITHOUT_TEXT):
                continue
            if not (isinstance(child, ast.Call) and (IS_CODE.fullmatch(_name(child)) or _is_list_of_names(child))):
                yield from self.messages(child, surface)


def _is_name_of_value(node: ast.AST, names: Collection[str]) -> bool:
    """Return whether the texts in a node are names of values, and not messages.

    Names of values are texts in `names`, texts that a value is compared with, and texts in a `match` statement.
    """
    if isinstance(node, ast.Constant):
        return node.value in names
    compared: Sequence[ast.AST] = [node.left, *node.comparators] if isinstance(node, ast.Compare) else ()
    return isinstance(node, ast.MatchValue) or any(isinstance(each, ast.Constant) for each in compared)


def _is_list_of_names(call: ast.Call) -> bool:
    """Return whether a call splits a text at its spaces, as in `"gpt2 llama".split()`."""
    return isinstance(call.func, ast.Attribute) and call.func.attr == "split" and not call.args


def _value(node: ast.expr) -> str:
    """Return the name of an inserted value in braces. If the value has no name, return an ellipsis in braces."""
    return "{" + (ast.unparse(node) if isinstance(node, ast.Name | ast.Attribute) else "…") + "}"


def _sentences(text: str) -> list[str]:
    """Return the paragraphs of a text that contain sentences. Programs, markup and examples are left out."""
    if PROGRAM.search(text) or HEXADECIMAL.match(text):
        return []
    if "\n" in text.strip():
        texts = [paragraph for _, paragraph in _paragraphs(inspect.cleandoc(text))]
    else:
        texts = [text]
    return [each for each in texts if TWO_WORDS.search(VALUE.sub("{}", each)) and not EXAMPLE.match(each)]


def _parts(node: ast.AST) -> list[str | ast.expr] | None:
    """Return the literals and expressions that make up a string. Return None if the node is not a string."""
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
    """Return the docstring of a function, class or module if it is not shown to people. Otherwise return None.

    The docstring of a question is shown by commands and pages, so it is not returned.
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
