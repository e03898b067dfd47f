r"""The translation of expressions from Oniguruma, the engine of Hugging Face's tokenizers, to `regex`.

In Oniguruma `^` and `$` match at the ends of a line, but no line begins after the last line break. `\Z` also matches
before the last line break. `\h` is a hexadecimal digit. `(?m)` lets the dot match line breaks. `{2}+` repeats a
repetition. `{2}?` makes a repetition optional. In `\U0001F600` the first character is a plain U.

    >>> Expression(r"a$|\h{2}+").spans("a\nff00")
    [(0, 1), (2, 6)]
    >>> Expression(r"[\U0001F600-\U0001F64F]").substituted("U+1F600 is 😀", "")
    '+ is 😀'
"""

from __future__ import annotations

from contextlib import suppress
from functools import cached_property, lru_cache

import numpy as np
import numpy.typing as npt
import regex

from bpe_core.errors import PatternError
from bpe_core.text.characters import code_points, text_of
from bpe_core.text.older_unicode import replace_newer
from bpe_core.text.patterns import compile_custom

PATIENCE = 3.0  # seconds before an expression counts as catastrophic
PATIENT_CHARACTERS = 20_000_000  # one more second for each of these
WORTH_RUNS = 200  # characters; in shorter texts, runs are searched for like other matches

_TOKEN = regex.compile(
    r"\[:\^?[a-z]+:\]|\\[pP]\{[^}]*\}|\\x\{[0-9A-Fa-f]+\}|\\x[0-9A-Fa-f]{1,2}|\\u[0-9A-Fa-f]{4}|\\."
    r"|\{\d+\}\?|\{\d*,?\d*\}\+?|\(\?(?:[a-z-]*[:)]|<?[=!]|>)|\[\^?\]?|&&|.",
    regex.DOTALL,
)
_NUMBER = regex.compile(r"\\x\{?[0-9A-Fa-f]")
_LISTED = r"\p{Alphabetic}\p{M}\p{Nd}\p{Pc}"  # characters of a word, where they are listed in a set
_WORD = rf"{_LISTED}\xb2\xb3\xb9\xbc-\xbe"
_POSIX = {"[:digit:]": r"\p{Nd}", "[:alnum:]": r"\p{Alphabetic}\p{Nd}", "[:punct:]": r"\p{P}\p{S}", "[:word:]": _LISTED}
_OUTSIDE = {"^": r"(?:\A|^(?!\Z))", r"\Z": r"(?=\n?\Z)", r"\z": r"\Z", r"\h": "[0-9A-Fa-f]", r"\H": "[^0-9A-Fa-f]"}
_OUTSIDE |= {r"\w": f"[{_WORD}]", r"\W": f"[^{_WORD}]", r"\N": r"[^\n]", r"\O": r"[\s\S]", r"\e": r"\x1b"}
_OUTSIDE |= {r"\p": "p", r"\P": "P", r"\x": "x"}  # with no name or number after it
_OUTSIDE |= {
    r"\b": f"(?:(?<=[{_WORD}])(?![{_WORD}])|(?<![{_WORD}])(?=[{_WORD}]))",
    r"\B": f"(?:(?<=[{_WORD}])(?=[{_WORD}])|(?<![{_WORD}])(?![{_WORD}]))",
}
_INSIDE = {r"\h": "0-9A-Fa-f", r"\w": _LISTED, r"\e": r"\x1b", r"\p": "p", r"\P": "P", r"\x": r"\0", **_POSIX}
_INSIDE |= {r"\W": f"[^{_LISTED}]", r"\H": "[^0-9A-Fa-f]"}
_INSIDE |= {name.replace("[:", "[:^"): f"[^{listed}]" for name, listed in _POSIX.items()}
_OUTSIDE |= {rf"\{one}": one for one in "ijlmoqEFIJLQTUV"}  # plain letters to Oniguruma
_INSIDE |= {rf"\{one}": one for one in "ijlmoqEFIJLQTUVgkyABGKNORXYZz"}
_PROPERTIES = {"word": (_WORD, _LISTED), "xdigit": ("0-9A-Fa-f", "0-9A-Fa-f")}  # alone, and in a set


class Expression:
    def __init__(self, expression: str) -> None:
        self._written = expression
        self._compiled = compile_custom(translated(expression))  # a PatternError if it is not valid

    @staticmethod
    @lru_cache(maxsize=64)
    def of(pattern: str, is_regex: bool) -> Expression:
        """Return a cached `Expression`. If `is_regex` is false, it matches the text `pattern` literally."""
        return Expression(pattern if is_regex else regex.escape(pattern, literal_spaces=True))

    @property
    def source(self) -> str:
        """Return the expression in the syntax of `regex`."""
        return str(self._compiled.pattern)

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Return the start and the stop of each match. An empty match directly after another match is left out."""
        patience = PATIENCE + len(text) / PATIENT_CHARACTERS
        text = self._as_known(text)
        try:
            spans = [match.span() for match in self._compiled.finditer(text, concurrent=True, timeout=patience)]
            empty = sum(start >= stop for start, stop in spans)
            if 0 < empty < len(spans):  # otherwise no match directly follows another
                spans = self._with_empty(text, patience)
        except (TimeoutError, MemoryError) as error:
            shown = text[:60] + ("…" if len(text) > 60 else "")
            raise PatternError(
                f"The file's pattern '{self._written[:80]}' takes too much time or memory on the text {shown!r}. "
                "A repetition inside a repetition, such as (a+)+, is the usual cause."
            ) from error
        return spans

    def _as_known(self, text: str) -> str:
        return replace_newer(text, self._compiled.pattern)

    def substituted(self, text: str, content: str) -> str:
        if len(text) >= WORTH_RUNS and self._runs_of is not None and self._as_known(text) is text:
            return _with_runs_as(content, text, self._runs_of)
        spans = self.spans(text)
        ends = [0, *(stop for _, stop in spans)]
        between = [text[end:start] for end, (start, _) in zip(ends, spans, strict=False)]
        return content.join([*between, text[ends[-1] :]])

    @cached_property
    def _runs_of(self) -> npt.NDArray[np.bool_] | None:
        """Return a mask of code points if the expression is a single set with `+`, such as `[a-z]+`. Otherwise return
        None.

        Such an expression matches whole runs of the characters of its set. The mask marks these characters.
        """
        from bpe_core.text.scanner import characters_beginning_matches  # takes a while to load
        from bpe_core.text.scanner.expression import CharacterSet, NoTable, Repeat, read_expression

        try:
            body = read_expression(self._compiled.pattern).body
        except (NoTable, RecursionError):
            return None
        match body:
            case Repeat(CharacterSet(), 1, None, "greedy" | "possessive"):
                return characters_beginning_matches(self._compiled.pattern)
        return None

    def found(self, text: str) -> list[str]:
        """Return the texts of all matches, without empty matches. No offsets are computed, which saves time."""
        if not self._compiled.groups and self._as_known(text) is text:
            try:
                texts: list[str] = self._compiled.findall(text, concurrent=True, timeout=PATIENCE)
            except (TimeoutError, MemoryError):
                texts = [""]
            if "" not in texts:
                return texts
        return [text[start:stop] for start, stop in self.spans(text) if stop > start]

    def _with_empty(self, text: str, patience: float) -> list[tuple[int, int]]:
        spans: list[tuple[int, int]] = []
        place = 0
        while place <= len(text) and (match := self._compiled.search(text, place, timeout=patience)):
            start, stop = match.span()
            if start == stop and spans and spans[-1][1] == stop:
                place += 1
                continue
            spans.append((start, stop))
            place = stop
        return spans


def _with_runs_as(content: str, text: str, which: npt.NDArray[np.bool_]) -> str:
    codes = code_points(text)
    is_in_run = which[codes]
    if not is_in_run.any():
        return text
    begins = is_in_run & ~np.concatenate(([False], is_in_run[:-1]))
    before = np.cumsum(~is_in_run)[begins]  # the number of unchanged characters before each
    return text_of(
        np.insert(codes[~is_in_run], np.repeat(before, len(content)), np.tile(code_points(content), len(before)))
    )


def translated(expression: str) -> str:
    r"""Translate an expression to the syntax of `regex`.

    >>> translated(r"\d{1,3}+|x\z"), translated("[a-z&&[^b]]")
    ('(?m)(?:\\d{1,3})+|x\\Z', '(?mV1)[a-z&&[^b]]')
    >>> translated("[^(|[.,!?]]+"), translated("[+[-]z]")
    ('(?m)[^(|.,!?]+', '(?m)[+\\-z]')
    """
    written: list[str] = []
    depth = opened = 0  # open sets, and where the outermost begins
    inside = 0  # sets inside sets that only add characters, so that their brackets can be left out
    left_out = -1  # where the last of these brackets would be
    nested = False
    for token in _TOKEN.findall(expression):
        if token == "[" and depth and depth == 1 + inside and written[-1] != "-" and "&&" not in expression:
            depth = depth + 1
            inside = inside + 1
            left_out = len(written)
            continue
        if token == "]" and inside and depth == 1 + inside:
            written[-1] = r"\-" if written[-1] == "-" else written[-1]
            depth = depth - 1
            inside = inside - 1
            left_out = len(written)
            continue
        if token[0] == "[" and token[1:2] != ":":
            opened = opened if depth else len(written)
            depth += 1
            nested |= depth > 1
        elif token == "]" and depth:
            depth -= 1
        elif named := _NAMED.fullmatch(token):
            token = _property(token, named, within=depth > 0)
            nested |= depth > 0 and token[0] == "["
        elif depth:
            token = r"\-" if token == "-" and len(written) == left_out else _INSIDE.get(token, token)
            written += _NOTHING if token == "&&" and written[-1] in ("[", "[^") else []
            nested |= token == "&&" or token[0] == "["
        elif token[0] == "{" and token[-2:] in ("}+", "}?"):
            token = _make_repeatable(written, token)
        elif token.startswith("(?") and token[-1] in ":)":
            token = token.replace("m", "s")
        else:
            token = _OUTSIDE.get(token, token)
        written.append(rf"\U{int(token[2:].strip('{}'), 16):08X}" if _NUMBER.match(token) else token)
        if (
            token == "]"
            and not depth
            and written[opened][:2] == "[^"
            and _has_class_and_opposite(written[opened + 1 :])
        ):
            written[opened:] = _NOTHING
    if "i" in expression:
        from bpe_core.text.preparation.ignoring_case import as_in_oniguruma  # takes a while to load

        with suppress(regex.error):  # a mistake is reported when it is compiled
            written = as_in_oniguruma(written)
    return f"(?m{'V1' if nested else ''})" + "".join(written)


_NOTHING = ["[^", r"\0", "-", r"\U0010FFFF", "]"]


def _has_class_and_opposite(listed: list[str]) -> bool:
    r"""Return whether a set contains a class and its opposite, such as `\s` and `\S`.

    `regex` ignores the negation of such a set.
    """
    members = regex.sub(r"(\\.)|\[\^(?:\\.|[^]])*\]", r"\1", "".join(listed))
    members = members.replace(r"\d", r"\p{Nd}").replace(r"\D", r"\P{Nd}")
    kinds = {(token[1], token[2:]) for token in _TOKEN.findall(members) if token[0] == "\\" and token[1] in "sSpP"}
    return any((kind.swapcase(), name) in kinds for kind, name in kinds)


def may_match_nothing(expression: str) -> bool:
    r"""Return whether the expression may match an empty string.

    A lookahead or a lookbehind matches an empty string.

    >>> may_match_nothing(r"\s+(?!\S)|a"), may_match_nothing("(?<=a)|b"), may_match_nothing("x?")
    (False, True, True)
    """
    tokens = iter(_TOKEN.findall(translated(expression)))
    written: list[str] = []
    for token in tokens:
        depth = int(token in ("(?=", "(?!", "(?<=", "(?<!"))
        if not depth:
            written += [] if token in _PLACES else [token]
        while depth:
            token = next(tokens, ")")
            depth += (token[0] == "(" and token[-1] != ")") - (token == ")")
    try:
        return compile_custom("".join(written)).fullmatch("") is not None
    except PatternError:  # a repetition of something that was left out
        return True


_PLACES = ("^", "$", r"\A", r"\Z", r"\b", r"\B", r"\G")


_NAMED = regex.compile(r"\\([pP])\{(\^?)([^}]*)\}")


def _property(token: str, named: regex.Match[str], *, within: bool) -> str:
    """Translate a Unicode property to a set if Oniguruma and `regex` define the property differently.

    Any other property is returned unchanged. If `within` is true, the property is inside a set. Then the result is only
    the members of a set, without brackets, unless the property is negated.
    """
    translation = _PROPERTIES.get(named[3].lower().replace("_", "").replace(" ", "").replace("-", ""))
    if translation is None:
        return token
    is_negated = (named[1] == "P") != (named[2] == "^")
    return translation[1] if within and not is_negated else f"[{'^' * is_negated}{translation[within]}]"


def _make_repeatable(written: list[str], counts: str) -> str:
    """Put the last part of an expression into a group, so that one more quantifier can follow it.

    `written` holds the parts of the expression, and is changed. `counts` are the quantifiers that follow the last part.
    The last of them is returned, and all others are added to the group: `a{2}+` becomes `(?:a{2})` and `+`.
    """
    from bpe_core.text.preparation.ignoring_case import is_whole_set  # takes a while to load

    first = len(written) - 1
    depth = 0
    while first > 0:
        opens = written[first][0] in "[(" and not is_whole_set(written[first])
        depth += (written[first] in ("]", ")")) - opens
        if depth <= 0:
            break
        first -= 1
    written.insert(first, "(?:")
    written += [counts[:-1], ")"]
    return counts[-1]
