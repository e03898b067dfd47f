"""The parser for the part of `regex`'s syntax that a table can express.

The parser finds only where a set of characters begins and ends. `regex` itself decides which characters are in the set.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Literal

import regex


class NoTable(Exception):
    """An error for an expression that has no table. Its text is a short reason, such as "a lookbehind"."""


@dataclass(frozen=True)
class CharacterSet:
    """A part of an expression that matches one character, which must be in at least one set of `sources`."""

    sources: tuple[str, ...]


@dataclass(frozen=True)
class Sequence:
    parts: tuple[Part, ...]


@dataclass(frozen=True)
class Either:
    """A part of an expression with several alternatives. The first alternative that leads to a match is used."""

    options: tuple[Part, ...]


@dataclass(frozen=True)
class Repeat:
    body: Part
    least: int
    most: int | None
    mode: Literal["greedy", "lazy", "possessive"]


@dataclass(frozen=True)
class Look:
    """A part of an expression that checks the character before or after an offset, without reading it.

    If `edge` is true, the start or the end of the text passes the check, too.
    """

    sources: tuple[str, ...]
    edge: bool
    negated: bool = False
    behind: bool = False
    unclear: tuple[str, ...] = ()  # characters for which the check also depends on the text after them


Part = CharacterSet | Sequence | Either | Repeat | Look


@dataclass(frozen=True)
class Expression:
    body: Part
    characters: frozenset[int]  # all characters in the sets
    classes: frozenset[str]  # all classes in the sets, such as \p{L}


MOST_COPIES = 250  # the most states that one repetition may need
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
_OF_ONE_CASE = "Aĸℂ"  # a letter; a lower-case letter without an upper case; an upper-case letter without a lower case
_OPERATIONS = re.compile(r"--|\|\||&&|~~")  # operators between sets, in some versions of the syntax


def read_expression(expression: str) -> Expression:
    """Parse a valid expression. Raise NoTable if no table can express its syntax."""
    return _Reader(expression).read()


class _Reader:
    def __init__(self, expression: str) -> None:
        self._text = expression
        self._at = 0
        self._characters: set[int] = {ord("\n")}
        self._classes: set[str] = set()

    def read(self) -> Expression:
        flags: frozenset[str] = frozenset()
        while flags_match := self._take(re.compile(r"\(\?([a-zA-Z0-9]+)\)")):
            if not set(flags_match[1]) <= set("ims"):
                raise NoTable(f"the flags {flags_match[0]}")
            flags |= set(flags_match[1])
        body = self._options(flags)
        if self._at < len(self._text):
            raise NoTable(f"a part that begins with {self._text[self._at : self._at + 4]}")
        return Expression(body, frozenset(self._characters), frozenset(self._classes))

    def _take(self, wanted: re.Pattern[str]) -> re.Match[str] | None:
        match = wanted.match(self._text, self._at)
        if match:
            self._at = match.end()
        return match

    def _takes(self, wanted: str) -> bool:
        if is_next := self._text.startswith(wanted, self._at):
            self._at += len(wanted)
        return is_next

    def _options(self, flags: frozenset[str]) -> Part:
        options = [self._sequence(flags)]
        while self._takes("|"):
            options.append(self._sequence(flags))
        if len(options) == 1:
            return options[0]
        sets = [option for option in options if isinstance(option, CharacterSet)]
        if len(sets) == len(options):  # each alternative reads one character
            return CharacterSet(tuple(source for one_set in sets for source in one_set.sources))
        return Either(tuple(options))

    def _sequence(self, flags: frozenset[str]) -> Part:
        parts = []
        while self._at < len(self._text) and self._text[self._at] not in "|)":
            parts.append(self._repeated(self._atom(flags)))
        return parts[0] if len(parts) == 1 else Sequence(tuple(parts))

    def _repeated(self, body: Part) -> Part:
        count = self._take(_COUNT)
        if not count:
            return body
        if count[1]:
            least, most = {"*": (0, None), "+": (1, None), "?": (0, 1)}[count[1]]
        elif count[2]:
            least = most = int(count[2][:9])
        else:
            least = int(count[3][:9] or 0)
            most = int(count[4][:9]) if count[4] else None
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
        if match := self._take(_ATOM):
            _check_alone(match, flags)
            return CharacterSet((_source(self._noted(match, flags), flags),))
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

    def _noted(self, match: re.Match[str], flags: frozenset[str]) -> str:
        if match["cls"]:
            self._classes |= {match["cls"], *(_OF_ANY_CASE if "i" in flags else ())}
        elif match["code"]:
            self._characters.add(_code(match["code"]))
        elif match["escape"]:
            self._characters.add(ord(_ESCAPED.get(match["escape"][1], match["escape"][1])))
        else:
            self._characters.add(ord(match["plain"]))
        return match[0]

    def _set(self, flags: frozenset[str]) -> str:
        start = self._at
        self._at += 1
        is_negated = self._takes("^")
        first = self._at
        member = None
        while self._at == first or not self._text.startswith("]", self._at):
            member = self._take(_MEMBER)
            if not member:
                raise NoTable("a set inside a set" if self._text[self._at] == "[" else f"{self._text[self._at :][:2]}")
            self._noted(member, flags)
        if member and member.start() == first and not is_negated:
            _check_alone(member, flags)
        self._at += 1
        found_set = self._text[start : self._at]
        if _OPERATIONS.search(found_set):
            raise NoTable("an operation between sets")
        return found_set

    def _group(self, flags: frozenset[str]) -> Part:
        if looking := self._take(_LOOKING):
            return _as_look(self._inside(flags), negated=looking["sign"] == "!", behind=bool(looking["behind"]))
        if self._takes("(?>"):
            return atomic(self._inside(flags))
        opening = self._take(_OPENING)
        if not opening:
            raise NoTable(_name_of(self._text[self._at : self._at + 4]))
        return self._inside((flags | set(opening["on"] or "")) - set(opening["off"] or ""))

    def _inside(self, flags: frozenset[str]) -> Part:
        body = self._options(flags)
        if not self._takes(")"):
            raise NoTable("an open group")
        return body


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
    r"""Return the code point of an escape such as \x41, \u0041 or \U00000041."""
    return int.from_bytes(bytes.fromhex(escape[2:]))


def _source(written: str, flags: frozenset[str]) -> str:
    """Return a set, such as `[a-z]`, as an expression for `regex`, with the flags that affect sets."""
    return f"(?{''.join(sorted(flags & {'i', 's'}))}:{written})"


def _check_alone(match: re.Match[str], flags: frozenset[str]) -> None:
    r"""Raise NoTable for a class, such as `\w`, whose meaning in a set depends on the other members of the set.

    For example, `[\w]` may differ from `[\w\x07]` by more than `\x07`. In `regex` this happens only if case is
    ignored.
    """
    if match["cls"] and "i" in flags and _depends_on_its_place(match["cls"]):
        raise NoTable(f"{match['cls']} with ignored case")


@cache
def _depends_on_its_place(name: str) -> bool:
    r"""Return whether the matches of a character class depend on the set that contains it, if case is ignored.

    They depend on it if the class matches different characters alone in a set and together with another item.

    `name` is the class in the syntax of `regex`, such as `\w`.
    """
    alone, beside = (regex.findall(f"(?i:[{more}{name}])", _OF_ONE_CASE) for more in ("", r"\x07"))
    return bool(alone != beside)


def _as_look(body: Part, *, negated: bool, behind: bool) -> Part:
    """Return a lookahead or a lookbehind of one character as a `Look`."""
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
    """Return an atomic group, which never backtracks.

    Raise NoTable if its body is neither a set nor a repeated set.
    """
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
    return f"a part that begins with {beginning}"
