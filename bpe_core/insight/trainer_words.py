"""A list of ways in which trainers split texts into words without recording this in the files of their tables.

The check of a table first splits the texts in the way that the file names. If this does not explain the merges, the
check tries the ways of this module, one after another.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple, get_args

from bpe_core.counting.words import WordTable
from bpe_core.errors import BpeError
from bpe_core.history.history import History
from bpe_core.history.token_texts import written
from bpe_core.kernels import TRANSPARENT
from bpe_core.methods.kit.scripts import scripts_of
from bpe_core.recipes.interventions import MOST_INTERVENTIONS, Intervention
from bpe_core.recipes.parts import CUSTOM_PATTERN, Normalization, Unit
from bpe_core.recipes.recipe import Recipe
from bpe_core.support.wording import count_text
from bpe_core.text.preparation.normalizers import Strip
from bpe_core.text.preparation.pieces import AddedToken

SENTENCEPIECE = "sentencepiece"  # the format of tables whose trainer splits words where the script changes
SUBWORD_NMT = "subword-nmt"
ALL = "none"  # the pattern that splits nothing
WORD_SIGN = "▁"
LINE_END = "\n"
LONGEST_LINE = 4_192  # bytes; SentencePiece's trainer leaves out longer lines, unless an option says otherwise
DIGITS = frozenset("0123456789")
_DIGIT = re.compile(b"([0-9])")
IN_LOWER_CASE = "in lower case"
SPECIALS_AS_TEXT = "special tokens as text"
WITHOUT_UNKNOWN = "without unknown characters"
CountWords = Callable[[Recipe], WordTable]


@dataclass(frozen=True)
class Way:
    name: str
    recipe: Recipe
    words: WordTable
    is_unsaid: bool = True  # whether no file of this kind can say that texts are split in this way
    forbidden: tuple[Intervention, ...] = ()  # pairs in these words that the trainer never joins


def other_ways(
    format: str, history: History, words: WordTable, count: CountWords, *, holds_splitting: bool
) -> Iterator[Way]:
    """Yield ways to split the texts into words, except the way that the file of the table names.

    Parameters
    ----------
    words
        The words into which the texts are split in the way that the file names.
    count
        A function that counts the words of the texts by a recipe.
    holds_splitting
        Whether files of this format say how texts are split.
    """
    recipe = history.recipe
    if recipe.base_symbols:  # integers have no other words
        return
    if format == SENTENCEPIECE:
        yield from _ways_of_sentencepiece(history, words, count)
    if recipe.special_tokens and recipe.spelled_specials != "text":
        kept = tuple(step for step in recipe.preparation if not isinstance(step, AddedToken))
        as_text = recipe.with_changes(special_tokens=(), preparation=kept)
        yield Way(SPECIALS_AS_TEXT, as_text, count(as_text))
    if recipe.base == "characters" and recipe.unknown != "bytes":
        yield Way(WITHOUT_UNKNOWN, recipe, without_unknown_characters(words, history))
    if recipe.preparation:
        return
    if format == SUBWORD_NMT and recipe.marker in ("glued", "symbol"):
        lines = recipe.with_changes(pattern=ALL, unit="line", marker="none", marker_text="")
        yield Way("by U+0020 alone", recipe, split_at_spaces(count(lines)))
    for unit in get_args(Unit):
        if unit != recipe.unit:
            by_unit = recipe.with_changes(unit=unit)
            yield Way(f"by {unit}", by_unit, count(by_unit))
    if recipe.marker == "none":
        by_line = recipe.with_changes(unit="line")
        yield Way("by line without its line break", by_line, without_line_ends(count(by_line)))
    is_plain = recipe.part(Normalization) == Normalization()
    if is_plain and recipe.marker == "none" and recipe.border == "":
        stripped = in_lines(recipe, Strip())
        yield Way("by line without the spaces at its ends", stripped, count(stripped))
    if not recipe.lowercase and recipe.border == "":
        small = recipe.with_changes(lowercase=True)
        yield Way(IN_LOWER_CASE, small, count(small), is_unsaid=not holds_splitting)


def _ways_of_sentencepiece(history: History, words: WordTable, count: CountWords) -> Iterator[Way]:
    """Yield the ways in which SentencePiece's trainer may have split the texts. Its options choose the way."""
    recipe = history.recipe
    yield Way("by script", recipe, split_by_script(words, history))
    joined = _JoinedBlanks.of(history)
    forbidden = joined.forbidden(history)
    texts = written(history)
    given = [text for text in texts[: len(history.alphabet)] if len(text.decode("utf-8", "replace")) > 1]
    has_joined_digits = any(re.search(b"[0-9]", text) for text in texts[len(history.alphabet) : history.first_special])
    lines = in_lines(recipe)
    patterns = {name: lines.with_changes(**pattern) for name, pattern in joined.patterns().items()}

    def ways_of(name: str, by_pattern: Recipe, counted: WordTable) -> Iterator[Way]:
        whole = split_around(counted, given)
        by_digit = {} if has_joined_digits else {f"{name} and digit": split_at_digits(whole)}
        for way, parts in {name: whole, **by_digit}.items():
            yield Way(f"by line, script{way}", by_pattern, split_by_script(parts, history), forbidden=forbidden)
            yield Way(f"by line{way}", by_pattern, parts, forbidden=forbidden)
        if has_joined_digits:
            by_script = split_by_script(whole, history, digits_fit=True)
            yield Way(f"by line, script except at digits{name}", by_pattern, by_script, forbidden=forbidden)

    for name, by_pattern in patterns.items():
        yield from ways_of(name, by_pattern, count(by_pattern))
    if recipe.pattern not in (CUSTOM_PATTERN, ALL):  # such a model was not made by this trainer
        return
    counted_lines = count(lines.with_changes(pattern=ALL, custom_pattern=""))
    short = [(line, times) for line, times in counted_lines if _raw_length(line) <= LONGEST_LINE]
    if len(short) < len(counted_lines):
        for name, by_pattern in patterns.items():
            words = _split_by_pattern(short, by_pattern)
            yield from ways_of(f"{name} without lines of more than {LONGEST_LINE:,} bytes", by_pattern, words)


def _raw_length(line: bytes) -> int:
    return len(line.replace(WORD_SIGN.encode(), b" "))


def _split_by_pattern(lines: list[tuple[bytes, int]], recipe: Recipe) -> WordTable:
    """Split lines at the matches of the recipe's pattern. The text between two matches is a word, too."""
    expression = re.compile(f"({recipe.custom_pattern})") if recipe.custom_pattern else None
    count_of: dict[str, int] = {}
    for raw, times in lines:
        line = raw.decode()
        for part in filter(None, [line] if expression is None else expression.split(line)):
            count_of[part] = count_of.get(part, 0) + times
    return WordTable.from_counts(count_of)


class _JoinedBlanks(NamedTuple):
    """The ways in which the tokens of a table hold spaces. They show which options SentencePiece's trainer had."""

    across_words: bool  # some token has a space between two other characters
    alone: bool  # some token consists of several spaces
    before_words: bool
    behind_words: bool

    @classmethod
    def of(cls, history: History) -> _JoinedBlanks:
        made = written(history)[len(history.alphabet) : history.first_special]
        texts = [text.decode("utf-8", "replace") for text in made]
        worded = [text for text in texts if text.strip(WORD_SIGN)]
        return cls(
            across_words=any(WORD_SIGN in text.strip(WORD_SIGN) for text in worded),
            alone=len(worded) < len(texts),
            before_words=any(text.startswith(WORD_SIGN) for text in worded),
            behind_words=any(text.endswith(WORD_SIGN) for text in worded),
        )

    def patterns(self) -> dict[str, dict[str, str]]:
        """Return the ways in which lines may have been split into words, as choices of a recipe.

        The key of each way is a phrase for a sentence. It is empty for the way that the file names.
        """
        if self.across_words:
            return {" across words": {"pattern": ALL, "custom_pattern": ""}}
        before = f"{WORD_SIGN}+[^{WORD_SIGN}]*" if self.alone else f"{WORD_SIGN}[^{WORD_SIGN}]*"
        behind = f"[^{WORD_SIGN}]*{WORD_SIGN}+" if self.alone else f"[^{WORD_SIGN}]*{WORD_SIGN}"
        found: dict[str, dict[str, str]] = {"": {}}  # as the file says
        if not self.behind_words:
            found[" and each space"] = {"pattern": CUSTOM_PATTERN, "custom_pattern": before}
        if not self.before_words:
            found[" and each space behind a word"] = {"pattern": CUSTOM_PATTERN, "custom_pattern": behind}
        return found

    def allows(self, text: str) -> bool:
        """Return whether the trainer could make a token with this text. Only the spaces of the text are checked."""
        if not text.strip(WORD_SIGN):
            return self.alone
        if self.across_words:
            return not (text.startswith(WORD_SIGN) if self.behind_words else text.endswith(WORD_SIGN))
        return WORD_SIGN not in (text[:-1] if self.behind_words else text[1:])

    def forbidden(self, history: History) -> tuple[Intervention, ...]:
        """Return the pairs that the trainer never joins.

        Each pair is forbidden from the first step at which it can occur. One of its tokens consists of spaces.
        """
        if not (self.across_words or self.alone):
            return ()
        base = len(history.alphabet)
        texts = [text.decode("utf-8", "replace") for text in written(history)[: history.first_special]]
        blanks = [index for index, text in enumerate(texts) if text and not text.strip(WORD_SIGN)]
        if 2 * len(blanks) * len(texts) > MOST_INTERVENTIONS:
            raise BpeError(
                "SentencePiece joined several spaces, or spaces between words, in this table. The check of such a "
                f"table works only for at most {count_text(MOST_INTERVENTIONS // (2 * len(blanks)), 'token')}."
            )
        pairs = {pair for blank in blanks for other in range(len(texts)) for pair in ((blank, other), (other, blank))}
        return tuple(
            Intervention(max(1, max(left, right) - base + 2), "forbid", left, right)
            for left, right in sorted(pairs)
            if not self.allows(texts[left] + texts[right])
        )


def in_lines(recipe: Recipe, *steps: Strip) -> Recipe:
    """Return a recipe that prepares each line of a text separately, without its line break.

    A line break is a special token in this recipe, because special tokens belong to no word. The operations
    `steps` are applied to each line before those of the recipe.
    """
    kept = tuple(step for step in recipe.preparation if not isinstance(step, AddedToken))
    return recipe.with_changes(
        special_tokens=(LINE_END,), unit="file", preparation=(AddedToken(LINE_END), *steps, *kept)
    )


def split_around(words: WordTable, tokens: list[bytes]) -> WordTable:
    """Split words at each of the given tokens. The tokens themselves are left out.

    >>> dict(split_around(WordTable.from_counts({"other": 2}), [b"the"]))
    {b'o': 2, b'r': 2}
    """
    if not tokens:
        return words
    expression = re.compile(b"|".join(map(re.escape, sorted(tokens, key=len, reverse=True))))
    count_of: dict[bytes, int] = {}
    for word, count in words:
        for part in filter(None, expression.split(word)):
            count_of[part] = count_of.get(part, 0) + count
    return WordTable.from_counts(count_of.items())


def without_unknown_characters(words: WordTable, history: History) -> WordTable:
    """Remove the characters that are not in the alphabet of the history from all words.

    The characters before and after a removed character become neighbours.
    """
    known = {text.decode("utf-8", "replace") for text in written(history)[: len(history.alphabet)]}
    count_of: dict[str, int] = {}
    for raw, count in words:
        kept = "".join(sign for sign in raw.decode("utf-8", "replace") if sign in known)
        if kept:
            count_of[kept] = count_of.get(kept, 0) + count
    return WordTable.from_counts(count_of)


def split_at_spaces(words: WordTable) -> WordTable:
    """Split lines into words at U+0020 only, as subword-nmt does. Other kinds of space stay in words."""
    count_of: dict[bytes, int] = {}
    for line, count in words:
        for word in line.strip(b"\r\n ").split(b" "):
            if word:
                count_of[word] = count_of.get(word, 0) + count
    return WordTable.from_counts(count_of.items())


def without_line_ends(words: WordTable) -> WordTable:
    """Remove line breaks at the ends of words, and return the words. A word that is only a line break is left out."""
    count_of: dict[bytes, int] = {}
    for word, count in words:
        kept = word.removesuffix(b"\n").removesuffix(b"\r") if word.endswith(b"\n") else word
        if kept:
            count_of[kept] = count_of.get(kept, 0) + count
    return WordTable.from_counts(count_of.items())


def split_at_digits(words: WordTable) -> WordTable:
    """Split words around each digit, so that each digit is a word.

    >>> dict(split_at_digits(WordTable.from_counts({"a10": 2})))
    {b'a': 2, b'1': 2, b'0': 2}
    """
    count_of: dict[bytes, int] = {}
    for word, count in words:
        for part in filter(None, _DIGIT.split(word)):
            count_of[part] = count_of.get(part, 0) + count
    return WordTable.from_counts(count_of.items())


def split_by_script(words: WordTable, history: History, *, digits_fit: bool = False) -> WordTable:
    """Split words where the script changes, as SentencePiece does. The marker before a word fits any script.

    If `digits_fit` is true, characters of any script can come before and after a digit. A space goes with the
    characters after it, unless tokens of the table end with spaces. A combining mark without a script stays with one
    of its two neighbours: the one to which the table's merges join it first.
    """
    texts = written(history)
    joined = {(texts[left], texts[right]): row for row, (left, right) in reversed(list(enumerate(history.pairs())))}
    known = [raw.decode() for raw, _ in words]
    signs = "".join({sign for word in known for sign in word} - {WORD_SIGN})
    script_of = dict(zip(signs, scripts_of(signs).tolist(), strict=True)) | {WORD_SIGN: TRANSPARENT}
    blanks_stay = _JoinedBlanks.of(history).behind_words
    count_of: dict[str, int] = {}
    for word, count in zip(known, words.counts.tolist(), strict=True):
        start = 0
        script = TRANSPARENT
        for place, sign in enumerate(word):
            fits = TRANSPARENT in (script_of[sign], script) or script_of[sign] == script
            fits = fits or (digits_fit and sign in DIGITS)
            if not fits:
                before = word[start:place]
                if before.endswith(WORD_SIGN):
                    border = place if blanks_stay else start + len(before.rstrip(WORD_SIGN))
                else:
                    border = place - _goes_with_next(word[start : place + 1], script_of, joined)
                count_of[word[start:border]] = count_of.get(word[start:border], 0) + count
                start = border
            if digits_fit and sign in DIGITS:
                script = TRANSPARENT
            elif script_of[sign] != TRANSPARENT:
                script = script_of[sign]
        count_of[word[start:]] = count_of.get(word[start:], 0) + count
    return WordTable.from_counts(count_of)


def _goes_with_next(signs: str, script_of: Mapping[str, int], joined: Mapping[tuple[bytes, bytes], int]) -> bool:
    if len(signs) < 3 or script_of[signs[-2]] != TRANSPARENT:
        return False
    before, mark, behind = (sign.encode() for sign in signs[-3:])
    return joined.get((mark, behind), len(joined)) < joined.get((before, mark), len(joined))
