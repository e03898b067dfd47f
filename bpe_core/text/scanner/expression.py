"""The parser of the common part of `regex`'s syntax, as far as a table can express it.

Sets of characters are only delimited: `regex` itself is asked for the characters of a set.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Literal

import regex


class NoTable(Exception):
    """An error that says why there is no table, in a few words: "a lookbehind"."""


@dataclass(frozen=True)
class CharacterSet:
    """A character that matches one of these expressions."""

    sources: tuple[str, ...]


@dataclass(frozen=True)
class Sequence:
    parts: tuple[Part, ...]


@dataclass(frozen=True)
class Either:
    """Alternatives; the first one that leads to a match counts."""

    options: tuple[Part, ...]


@dataclass(frozen=True)
class Repeat:
    body: Part
    least: int
    most: int | None
    mode: Literal["greedy", "lazy", "possessive"]


@dataclass(frozen=True)
class Look:
    """A look at the next or the last character: whether a set holds it. `edge` also allows the edge of the text."""

    sources: tuple[str, ...]
    edge: bool
    negated: bool = False
    behind: bool = False
    unclear: tuple[str, ...] = ()  # signs before which it depends on more


Part = CharacterSet | Sequence | Either | Repeat | Look


@dataclass(frozen=True)
class Expression:
    body: Part
    characters: frozenset[int]  # all characters named in it
    classes: frozenset[str]  # all classes in it, such as \p{L}


MOST_COPIES = 250  # as many states as one repetition may need
NOTHING = Sequence(())
_WORD = r"(?:\w)"
_NEWLINE = r"(?:\n)"

_CLASS = r"\\[pP]\{\^?[A-Za-z][\w:=\ ./-]*\}|\\[pP][A-Z]|\\[dswDSW]"
_CODE = r"\\x[0-9A-Fa-f]{2}|\\u[0-9A-Fa-f]{4}|\\U[0-9A-Fa-f]{8}"
_PLAIN_ESCAPE = r"\\(?:[nrtfva]|[^0-9A-Za-z])"
_MEMBER = re.compile(
    rf"(?P<cls>{_CLASS}|\[:\^?[a-z]+:\])|(?P<code>{_CODE})|(?P<escape>{_PLAIN_ESCAPE})|(?P<plain>[^\\\[])", re.DOTALL
)
_ATOM = re.compile(
    rf"(?P<cls>{_CLASS})|(?P<code>{_CODE})|(?P<escape>{_PLAIN_ESCAPE})|(?P<plain>[^\\\[()|.^$*+?{{])", re.DOTALL
)
_COUNT = re.compile(r"([*+?])|\{([0-9]+)\}|\{(?!,\})([0-9]*),([0-9]*)\}")
_OPENING = re.compile(r"\(\?(?P<on>[ims]*)(?:-(?P<off>[ims]+))?:|\(\?P?<[A-Za-z_]\w*>|\((?!\?|\*)")
_LOOKING = re.compile(r"\(\?(?P<behind><?)(?P<sign>[=!])")
_ESCAPED = {"n": "\n", "r": "\r", "t": "\t", "f": "\f", "v": "\v", "a": "\a"}
_OF_ANY_CASE = (r"\p{Lu}", r"\p{Ll}", r"\p{Lt}", r"\p{Cased}")  # if case is ignored, each means all of them
_OF_ONE_CASE = "Aĸℂ"  # a letter, and one each of a lower and an upper case without a counterpart
_OPERATIONS = re.compile(r"--|\|\||&&|~~")  # operators between sets, in some versions of the syntax


def read_expression(expression: str) -> Expression:
    """Parse a valid expression; raise NoTable if it uses more than a table can express."""
    return _Reader(expression).read()


class _Reader:
    def __init__(self, expression: str) -> None:
        self._text = expression
        self._at = 0
        self._characters: set[int] = {ord("\n")}
        self._classes: set[str] = set()

    def read(self) -> Expression:
        flags: frozenset[str] = frozenset()
        while found := self._take(re.compile(r"\(\?([a-zA-Z0-9]+)\)")):
            if not set(found[1]) <= set("ims"):
                raise NoTable(f"the flags {found[0]}")
            flags |= set(found[1])
        body = self._options(flags)
        if self._at < len(self._text):
            raise NoTable(f"what begins with {self._text[self._at : self._at + 4]}")
        return Expression(body, frozenset(self._characters), frozenset(self._classes))

    def _take(self, wanted: re.Pattern[str]) -> re.Match[str] | None:
        found = wanted.match(self._text, self._at)
        if found:
            self._at = found.end()
        return found

    def _takes(self, wanted: str) -> bool:
        if found := self._text.startswith(wanted, self._at):
            self._at += len(wanted)
        return found

    def _options(self, flags: frozenset[str]) -> Part:
        options = [self._sequence(flags)]
        while self._takes("|"):
            options.append(self._sequence(flags))
        if len(options) == 1:
            return options[0]
        sets = [option for option in options if isinstance(option, CharacterSet)]
        if len(sets) == len(options):  # each alternative reads one character
            return CharacterSet(tuple(source for one in sets for source in one.sources))
        return Either(tuple(options))

    def _sequence(self, flags: frozenset[str]) -> Part:
        parts = []
        while self._at < len(self._text) and self._text[self._at] not in "|)":
            parts.append(self._repeated(self._atom(flags)))
        return parts[0] if len(parts) == 1 else Sequence(tuple(parts))

    def _repeated(self, body: Part) -> Part:
        found = self._take(_COUNT)
        if not found:
            return body
        if found[1]:
            least, most = {"*": (0, None), "+": (1, None), "?": (0, 1)}[found[1]]
        elif found[2]:
            least = most = int(found[2][:9])
        else:
            least = int(found[3][:9] or 0)
            most = int(found[4][:9]) if found[4] else None
        if max(least, most or 0) > MOST_COPIES:
            raise NoTable("a long repetition")
        if self._takes("+"):
            return possessive(Repeat(body, least, most, "possessive"))
        mode: Literal["greedy", "lazy"] = "lazy" if self._takes("?") else "greedy"
        if _COUNT.match(self._text, self._at):
            raise NoTable("a repeated repetition")
        if can_be_empty(body) and most != 1:
            raise NoTable("the repetition of a group that may be empty")
        return Repeat(body, least, most, mode)

    def _atom(self, flags: frozenset[str]) -> Part:
        if found := self._take(_ATOM):
            _check_alone(found, flags)
            return CharacterSet((_source(self._noted(found, flags), flags),))
        start = self._text[self._at]
        if start == "[":
            return CharacterSet((_source(self._set(flags), flags),))
        if start == "(":
            return self._group(flags)
        if self._takes("."):
            return CharacterSet((_source(".", flags),))
        if self._takes("$"):
            return Look((_NEWLINE,), True) if "m" in flags else Look((), True, unclear=(_NEWLINE,))
        if self._takes("^"):
            return Look((_NEWLINE,) if "m" in flags else (), True, behind=True)
        for escape, meaning in _PLACES.items():
            if self._takes(escape):
                self._classes.add(r"\w")
                return meaning
        raise NoTable(_name_of(self._text[self._at : self._at + 3]))

    def _noted(self, found: re.Match[str], flags: frozenset[str]) -> str:
        if found["cls"]:
            self._classes |= {found["cls"], *(_OF_ANY_CASE if "i" in flags else ())}
        elif found["code"]:
            self._characters.add(_code(found["code"]))
        elif found["escape"]:
            self._characters.add(ord(_ESCAPED.get(found["escape"][1], found["escape"][1])))
        else:
            self._characters.add(ord(found["plain"]))
        return found[0]

    def _set(self, flags: frozenset[str]) -> str:
        start = self._at
        self._at += 1
        is_negated = self._takes("^")
        first = self._at
        found = None
        while self._at == first or not self._text.startswith("]", self._at):
            found = self._take(_MEMBER)
            if not found:
                raise NoTable("a set inside a set" if self._text[self._at] == "[" else f"{self._text[self._at :][:2]}")
            self._noted(found, flags)
        if found and found.start() == first and not is_negated:
            _check_alone(found, flags)
        self._at += 1
        found_set = self._text[start : self._at]
        if _OPERATIONS.search(found_set):
            raise NoTable("an operation between sets")
        return found_set

    def _group(self, flags: frozenset[str]) -> Part:
        if looking := self._take(_LOOKING):
            return _looking(self._inside(flags), negated=looking["sign"] == "!", behind=bool(looking["behind"]))
        if self._takes("(?>"):
            return atomic(self._inside(flags))
        opening = self._take(_OPENING)
        if not opening:
            raise NoTable(_name_of(self._text[self._at : self._at + 4]))
        return self._inside((flags | set(opening["on"] or "")) - set(opening["off"] or ""))

    def _inside(self, flags: frozenset[str]) -> Part:
        found = self._options(flags)
        if not self._takes(")"):
            raise NoTable("an open group")
        return found


def _between(word_before: bool, word_behind: bool) -> Part:
    before = Look((_WORD,), False, negated=not word_before, behind=True)
    return Sequence((before, Look((_WORD,), False, negated=not word_behind)))


_PLACES: dict[str, Part] = {
    r"\A": Look((), True, behind=True),
    r"\Z": Look((), True),
    r"\b": Either((_between(True, False), _between(False, True))),
    r"\B": Either((_between(True, True), _between(False, False))),
}


def _code(escape: str) -> int:
    r"""Return the code point of \x41, \u0041 or \U00000041."""
    return int.from_bytes(bytes.fromhex(escape[2:]))


def _source(written: str, flags: frozenset[str]) -> str:
    """Write a set as an expression for `regex`."""
    return f"(?{''.join(sorted(flags & {'i', 's'}))}:{written})"


def _check_alone(found: re.Match[str], flags: frozenset[str]) -> None:
    """Refuse a class that `regex` reads differently alone and in a set with others."""
    if found["cls"] and "i" in flags and _hangs_on_its_place(found["cls"]):
        raise NoTable(f"{found['cls']} with ignored case")


@cache
def _hangs_on_its_place(name: str) -> bool:
    """Return whether `regex`, ignoring case, reads a class such as \\p{Lu} differently alone and beside something."""
    alone, beside = (regex.findall(f"(?i:[{more}{name}])", _OF_ONE_CASE) for more in ("", r"\x07"))
    return bool(alone != beside)


def _looking(body: Part, *, negated: bool, behind: bool) -> Part:
    """Return the look at one character that a lookahead or lookbehind is."""
    sources: list[str] = []
    unclear: list[str] = []
    edge = False
    for option in body.options if isinstance(body, Either) else (body,):
        if isinstance(option, CharacterSet):
            sources += option.sources
        elif isinstance(option, Look) and not option.negated and option.behind == behind:
            sources += option.sources
            edge = edge or option.edge
            unclear = [*unclear, *option.unclear]
        else:
            direction = "lookbehind" if behind else "lookahead"
            raise NoTable(f"a {direction} of more than one character")
    unclear = [source for source in unclear if source not in sources and r"(?:\s)" not in sources]
    return Look(tuple(sources), edge, negated, behind, tuple(unclear))


def atomic(body: Part) -> Part:
    """Parse an atomic group, which never backtracks: only single characters and their repetitions."""
    if isinstance(body, CharacterSet):
        return body
    if isinstance(body, Repeat) and body.mode != "lazy":
        return possessive(Repeat(body.body, body.least, body.most, "possessive"))
    raise NoTable("an atomic group")


def possessive(repeat: Repeat) -> Part:
    if not isinstance(repeat.body, CharacterSet):
        raise NoTable("a possessive group")
    return repeat


def can_be_empty(node: Part) -> bool:
    match node:
        case CharacterSet():
            return False
        case Sequence(parts):
            return all(map(can_be_empty, parts))
        case Either(options):
            return any(map(can_be_empty, options))
        case Repeat(body, least):
            return least == 0 or can_be_empty(body)
        case Look():
            return True


def _name_of(beginning: str) -> str:
    if beginning.startswith("\\"):
        is_number = beginning[1:2].isdigit() or beginning[1:2] == "g"
        return "a back reference to a group" if is_number else f"\\{beginning[1:2]}"
    if beginning.startswith("{"):
        return "an approximate match"
    return f"what begins with {beginning}"
