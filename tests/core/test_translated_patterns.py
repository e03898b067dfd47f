"""Tests of custom patterns.

A pattern either becomes a table that splits texts as `regex` does, or a message says why there is no table
for it.
"""

from __future__ import annotations

import tracemalloc
from itertools import pairwise
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
import regex
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from bpe_core.counting.count_words import count_words
from bpe_core.errors import PatternError
from bpe_core.recipes.parts import Unit
from bpe_core.recipes.recipe import Recipe
from bpe_core.splitting.safe_cuts import safe_pairs_of_kinds
from bpe_core.splitting.splitter import split_words
from bpe_core.text.corpus import Corpus
from bpe_core.text.preparation import expressions
from bpe_core.text.scanner import ScanTable, table_of, why_no_table
from bpe_core.text.scanner.expression import CharacterSet, read_expression
from bpe_core.text.scanner.kinds import CODE_POINTS, SURROGATES, Kinds, every_character
from tests.conftest import EXPLORES
from tests.core.counting_with_and_without_kernels import count_by_kernels, count_plainly

SETS = [
    "a", "b", "'", " ", r"\n", r"\x41", r"\s", r"\S", r"\w", r"\W", r"\d", r"\p{L}", r"\p{Lu}", r"\P{N}", ".", "(?s:.)",
    "[ab]", "[^a]", "[^\r\n\\p{L}\\p{N}]", r"[a-f\d]", "[]'-]", "(?i:s)", "(?i:[k-t])", r"(?i:[\p{Lu}x])",
    "[[:punct:]]", r"\p{Greek}", "é",
]  # fmt: skip
OTHER_SETS = [r"\p{Han}", r"(?i:[^\p{Ll}])", r"[^\W\d_]", r"[\x00-\u00ff\U0001f600]", r"(?i:[\p{Lt}x])", "(?i:[à-þ])"]
LOOKS = [
    r"(?!\S)", r"(?=\S)", "(?!a|b)", r"(?=a|\Z)", r"(?=\s|$)", r"(?<=a)", r"(?<!\s)", r"\b", r"\B", r"\A", r"\Z",
    "$", "(?m:$)", "^", "(?m:^)",
]  # fmt: skip
COUNTS = ["*", "+", "?", "{2}", "{1,3}", "{2,}", "{,2}"]
TEXTS = st.text(st.sampled_from("aabbAks' \n\r1é½-ſKΣ\u2028\u0301😀"), max_size=14)


def _repetitions(body: str) -> st.SearchStrategy[str]:
    modes = st.sampled_from(["", "", "", "?", "+"])
    return st.builds(lambda count, mode: body + count + mode, st.sampled_from(COUNTS), modes)


def _larger(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    group = st.builds(str.format, st.sampled_from(["(?:{})", "({})", "(?i:{})", "(?>{})"]), inner)
    part = st.one_of(
        st.sampled_from(SETS), st.sampled_from(SETS).flatmap(_repetitions), group, group.flatmap(_repetitions)
    )
    sequence = st.lists(part | st.sampled_from(LOOKS), min_size=1, max_size=3).map("".join)
    return st.lists(sequence, min_size=1, max_size=3).map("|".join)


EXPRESSIONS = st.recursive(st.sampled_from(SETS), _larger, max_leaves=6)


def words(table: ScanTable, text: str) -> list[str]:
    data = text.encode()
    return [data[start:stop].decode() for start, stop in pairwise(table.cuts(data))]


def words_by_regex(expression: str, text: str, unit: Unit = "file") -> list[str]:
    return list(split_words(text, Recipe(pattern="custom", custom_pattern=expression, unit=unit)))


def table(expression: str, unit: Unit = "file") -> ScanTable:
    scan_table = table_of(expression, unit)
    assert scan_table is not None, why_no_table(expression, unit)
    return scan_table


@given(expression=EXPRESSIONS, unit=st.sampled_from(["file", "line"]), texts=st.lists(TEXTS, min_size=6, max_size=12))
def test_translated_random_patterns_split_random_texts_as_regex_does(
    expression: str, unit: Unit, texts: list[str]
) -> None:
    scan_table = table_of(expression, unit)
    assume(scan_table is not None)
    assert scan_table is not None
    for text in texts:
        assert words(scan_table, text) == words_by_regex(expression, text, unit), text


@settings(max_examples=10)
@given(expression=EXPRESSIONS, before=TEXTS, behind=TEXTS)
def test_dividing_a_text_where_the_scan_table_allows_it_does_not_change_its_words(
    expression: str, before: str, behind: str
) -> None:
    scan_table = table_of(expression)
    assume(scan_table is not None and before and behind)
    assert scan_table is not None
    last, first = (scan_table.kind_of_code_point[ord(character)] for character in (before[-1], behind[0]))
    if safe_pairs_of_kinds(scan_table)[last, first]:
        whole = words_by_regex(expression, before + behind)
        assert words_by_regex(expression, before) + words_by_regex(expression, behind) == whole


def test_character_sets_of_translated_patterns_contain_the_characters_that_regex_matches() -> None:
    """All code points are compared. Each set is tested alone, because other sets of the pattern do not influence it."""
    read = read_expression("|".join([*SETS, *OTHER_SETS]))
    assert isinstance(read.body, CharacterSet)
    kinds = Kinds(read.body.sources, read.characters, read.classes)
    for source in read.body.sources if EXPLORES else read.body.sources[-9:]:
        expected = np.zeros(CODE_POINTS, np.bool_)
        for match in regex.finditer(f"{source}+", every_character()):
            expected[ord(match.group()[0]) : ord(match.group()[-1]) + 1] = True
        holds = np.array([kinds.mask([source]) >> kind & 1 for kind in range(256)], np.bool_)[kinds.of_code_point]
        expected[SURROGATES.start : SURROGATES.stop] = holds[SURROGATES.start : SURROGATES.stop]
        assert (holds == expected).all(), source


WITHOUT_TABLE = {
    r"(?<=the )\w+": "a lookbehind of more than one character",
    r"\s+(?=\S\S)": "a lookahead of more than one character",
    r"(\w)\1": "a back reference to a group",
    r"(?:ab|c)++": "a possessive group",
    r"(?>ab|c)": "an atomic group",
    r"(?:low){e<=1}": "an approximate match",
    r"\w+$|.|\n": "$ before a line end: write \\Z, or (?m:$)",
    r"a|": "the pattern may match an empty text",
    r"(?:a*b*)+c": "the repetition of a group that may be empty",
    r"(?:a.*b|.)": "the pattern must remember several places at a time",
    r"\w{900}": "a long repetition",
    r"[a-z]{1,200}|(?s:.)": "the table of the pattern would be too large",
    r"\X": "\\X",
    r"(?x) a": "the flags (?x)",
    r"x|(?i:A?\p{Lu})": r"\p{Lu} with ignored case",
    r"(?i:k)|\P{L}": "U+0345 when case is ignored",
    r"(?i)[[:upper:]]|x": "[:upper:] with ignored case",
    r"(?V1)[a--b]": "the flags (?V1)",
    r"(?<n>a)(?&n)": "a part that begins with (?&n",
    "(?:" * 800 + "a" + ")" * 800: "groups inside groups",
}


@pytest.mark.parametrize("expression", WITHOUT_TABLE)
def test_a_pattern_without_a_scan_table_is_reported_with_the_reason(expression: str) -> None:
    assert why_no_table(expression) == WITHOUT_TABLE[expression]
    assert table_of(expression) is None


PUBLISHED = {  # patterns from published tokenizers
    "digits in twos": r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}{1,2}| ?[^\s\p{L}\p{N}]++[\r\n]*"
    r"|\s*[\r\n]|\s+(?!\S)|\s+",
    "words and signs": r"\w+|[^\w\s]+",
    "words at borders": r"\b\w+\b|\S",
    "lines": r"[^\n]*\n|[^\n]+",
    "one digit": r"\p{N}|[^\p{N}]+",
    "camel": r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+|\s+|[^\w\s]|_",
    "amounts": r"\d+(?:\.\d+)?|[^\d]",
}


@pytest.mark.parametrize("name", PUBLISHED)
def test_kernels_and_plain_python_count_the_same_words_with_published_patterns(name: str) -> None:
    text = "It's the 1,234.50th time: HTTPServer, fooBar_baz!\r\n\n  Ünïcode—naïve   \t end½\n" * 50
    for unit in ("file", "line"):
        recipe = Recipe(pattern="custom", custom_pattern=PUBLISHED[name], unit=unit)
        corpus = Corpus.from_texts([text, "", text[:99], "x"])
        assert list(count_by_kernels(corpus, recipe)) == list(count_plainly(corpus, recipe))


@pytest.mark.parametrize("change", [dict(), dict(unit="line"), dict(special_tokens=("|",)), dict(lowercase=True)])
def test_kernels_report_a_pattern_that_never_matches(change: dict[str, Any]) -> None:
    texts = ["low\nlower", "", "new |\n", "|\n\n", "widest"]
    never = Recipe(pattern="custom", custom_pattern=r"(?<!z)X", **change)
    with pytest.raises(PatternError, match="matches nothing in this text"):
        count_by_kernels(Corpus.from_texts(texts), never)
    for once in ("widest", "\n", r"(?m:^)low(?m:$)", "t"):
        recipe = never.with_changes(custom_pattern=once)
        counted = count_by_kernels(Corpus.from_texts(texts), recipe)
        assert list(counted) == list(count_plainly(Corpus.from_texts(texts), recipe))
    assert count_by_kernels(Corpus.from_texts([]), never).total == 0


def test_counting_a_large_text_reports_a_slow_pattern() -> None:
    corpus = Corpus.from_texts(["lower " * 50_000])
    count_words(corpus, Recipe(pattern="custom", custom_pattern=r"(?<=ow)e|\w+"))
    assert [str(note) for note in corpus.skipped] == [
        "The pattern: this pattern is slow (a lookbehind of more than one character). "
        "Other patterns split texts up to a hundred times as fast"
    ]
    fast = Corpus.from_texts(["lower " * 50_000])
    count_words(fast, Recipe(pattern="custom", custom_pattern=r"(?<=w)e|\w+"))
    assert fast.skipped == ()


def test_characters_that_a_pattern_treats_alike_belong_to_one_kind_in_its_scan_table() -> None:
    letters = "|".join(f"x{letter}" for letter in "abcdefghijklmnopqrstuvwyz0123456789")
    assert len(Kinds([f"(?:{c})" for c in "abc"], map(ord, "abc"), []).of_code_point) == CODE_POINTS
    assert len(table(f"{letters}|.").kinds) < 6
    assert why_no_table("|".join(f"x{c}{c}" for c in "abcdefghijklmnopqrstuvwyz0123456789")) != ""


@given(
    expression=st.sampled_from([" +", "[a ]++", "é+", r"\s+", "[^b]+"]), text=TEXTS, content=st.sampled_from(["", "xy"])
)
def test_replacing_adjacent_matches_together_gives_the_same_text_as_replacing_each_match(
    expression: str, text: str, content: str
) -> None:
    with patch.object(expressions, "WORTH_RUNS", 10**9):
        expected = expressions.Expression(expression).substituted(text, content)
    with patch.object(expressions, "WORTH_RUNS", 0):
        assert expressions.Expression(expression).substituted(text, content) == expected


def test_the_text_of_all_characters_of_unicode_is_freed_after_the_characters_are_grouped_into_kinds() -> None:
    """The text takes 4 MB. If it were not freed, it would stay in memory as long as the program runs."""
    tracemalloc.start()
    try:
        kinds = Kinds([r"(?:\p{Script=Thai})"], [], [r"\p{Script=Thai}"])
        kept, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most > 4 * CODE_POINTS
    assert kept < kinds.of_code_point.nbytes + CODE_POINTS
