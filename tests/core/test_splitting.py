"""Tests of splitting by regular expressions."""

from __future__ import annotations

import random
import re
import time
from itertools import pairwise

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from bpe_core.errors import PatternError
from bpe_core.recipes.recipe import Recipe
from bpe_core.splitting.splitter import MATCHES_A_ROUND, Splitter, compiled_for_ascii, lines_of, split_words
from bpe_core.text.patterns import NAMED_PATTERNS
from bpe_core.text.specials import FEW, parts_of
from tests.conftest import EXPLORES
from tests.shared import available_texts, samples_of

LONGEST = 10_000_000 if EXPLORES else 300_000  # characters of a real text
TEXTS = st.text(st.sampled_from("aB'stlre 123\n\r\t.,!<>|\u0301éДǅ日😀\u00a0\u2028ſ") | st.characters())


def custom_recipe(pattern: str, **choices: object) -> Recipe:
    return Recipe(pattern="custom", custom_pattern=pattern).with_changes(**choices)


@pytest.mark.parametrize("name", NAMED_PATTERNS)
@given(text=TEXTS)
def test_splitting_by_named_patterns_gives_the_matches_of_regex_findall(name: str, text: str) -> None:
    expected = regex.findall(NAMED_PATTERNS[name].expression, text)
    assert list(split_words(text, Recipe(pattern=name, min_frequency=1))) == expected


@pytest.mark.parametrize("name", NAMED_PATTERNS)
def test_ascii_versions_of_patterns_find_the_same_words_in_ascii_texts(name: str) -> None:
    """The test splits all pairs of characters, and random texts of characters that the pattern distinguishes."""
    expression, draw = NAMED_PATTERNS[name].expression, random.Random(name)
    ours, theirs = compiled_for_ascii(expression), regex.compile(expression)
    texts = [chr(first) + chr(second) for first in range(128) for second in range(128)]
    texts += ["".join(draw.choices("aB'stLlrevdm 12/\n\r\t.,!_$\x1c\x0b", k=draw.randrange(14))) for _ in range(5_000)]
    for text in texts:
        assert [match.span() for match in ours.finditer(text)] == [match.span() for match in theirs.finditer(text)]


@pytest.mark.parametrize("name", [name for name, pattern in NAMED_PATTERNS.items() if not pattern.drops_whitespace])
@pytest.mark.parametrize("unit", ["file", "line"])
@given(text=TEXTS)
def test_splitting_keeps_every_character_unless_the_pattern_drops_whitespace(name: str, unit: str, text: str) -> None:
    words = list(split_words(text, Recipe(pattern=name, unit=unit)))
    assert "".join(words) == text
    assert all(words)


@given(
    text=TEXTS, pattern=st.sampled_from([r"\w+", r"a*", r"(?=a)|b", r"x", r"\b", r"\s\K\w+", r"(?<=\Ka)b", r"", r"\G."])
)
def test_splitting_by_a_custom_pattern_loses_no_character(text: str, pattern: str) -> None:
    if pattern:
        words = list(split_words(text, custom_recipe(pattern)))
        assert "".join(words) == text
        assert all(words)


@given(text=TEXTS, pattern=st.sampled_from([r"\w+", r"a*", r"(?=a)|b", r"\b\w", r"[a-z]??\d*", r"(?<!a)b"]))
def test_splitting_by_a_custom_pattern_cuts_at_the_matches_of_regex_finditer(text: str, pattern: str) -> None:
    cuts = {0, len(text)}
    for match in regex.finditer(pattern, text):
        if match.end() > match.start():
            cuts.update(match.span())
    ends = sorted(cuts)
    expected = [text[a:b] for a, b in pairwise(ends)]
    assert list(split_words(text, custom_recipe(pattern))) == expected


@pytest.mark.parametrize(
    "matches", [0, 1, MATCHES_A_ROUND - 1, MATCHES_A_ROUND, MATCHES_A_ROUND + 1, 3 * MATCHES_A_ROUND]
)
def test_a_text_with_more_matches_than_one_search_returns_is_split_completely(matches: int) -> None:
    assert list(split_words("ab" * matches + "c", custom_recipe("b|a(?=b)"))) == ["a", "b"] * matches + ["c"]


def test_a_recipe_with_the_unit_line_splits_each_line_as_a_separate_text() -> None:
    recipe = Recipe.preset("gpt2", unit="line")
    assert list(split_words("low  \n\n new\r\nold", recipe)) == ["low", "  \n", "\n", " new", "\r\n", "old"]
    # As one text, the blanks before a word are split differently.
    assert list(split_words("a\n\n b", Recipe.preset("gpt2"))) == ["a", "\n\n", " b"]


@given(TEXTS)
def test_only_the_newline_character_ends_a_line(text: str) -> None:
    lines = list(lines_of(text))
    assert "".join(lines) == text
    assert lines == [part for part in regex.split(r"(?<=\n)", text, flags=regex.V1) if part]


def test_special_tokens_divide_words_and_are_part_of_no_word() -> None:
    recipe = Recipe.preset("gpt2", special_tokens=("<end>", "<end>of<end>", "new"))
    assert list(split_words("low<end>lower <end>of<end> newest", recipe)) == ["low", "lower", " ", " ", "est"]


@given(
    text=st.text("ab<]^-\\x", max_size=40),
    tokens=st.sets(st.text("ab<]^-\\", min_size=1, max_size=4), min_size=1, max_size=12),
    has_many=st.booleans(),
)
def test_special_tokens_in_a_text_are_found_even_if_the_recipe_has_many_special_tokens(
    text: str, tokens: set[str], has_many: bool
) -> None:
    others = {f"<{number}>" for number in range(FEW)} if has_many else set[str]()
    expected = re.split(f"({'|'.join(map(re.escape, sorted(tokens, key=len, reverse=True)))})", text)
    assert list(parts_of(text, (*tokens, *others))) == [
        (part, place % 2 == 1) for place, part in enumerate(expected) if part
    ]


def test_a_special_token_may_look_like_a_regular_expression() -> None:
    assert list(split_words("a.*b|c", Recipe(special_tokens=(".*", "|")))) == ["a", "b", "c"]


def test_the_pattern_is_applied_separately_to_each_part_between_special_tokens() -> None:
    recipe = custom_recipe("^low$", special_tokens=("|",))
    assert list(split_words("low|lower|low", recipe)) == ["low", "lower", "low"]


def test_a_text_with_a_lone_surrogate_is_split_without_an_error() -> None:
    assert list(split_words("a\ud800 b", Recipe())) == ["a", "\ud800", " b"]


def test_a_pattern_match_that_needs_too_much_memory_is_reported_with_an_explanation() -> None:
    """The library `regex` records for every character of a match that it could also have matched differently.

    It uses at most a gigabyte for this.
    """
    with pytest.raises(PatternError, match=r"needs too much memory on the text 'ab ab ab .*possessive"):
        list(split_words("ab " * 4_000_000, custom_recipe(r"(?:a|b|\s|x)+?y|(?:(?:a|b)+\s?)+")))


def test_the_error_about_a_catastrophic_pattern_names_the_text() -> None:
    text = "fine " * 3000 + "a" * 60 + "!"
    started = time.process_time()
    with pytest.raises(PatternError) as caught:
        list(Splitter(custom_recipe(r"fine |(a|aa)+$"), patience=0.5).words(text))
    assert time.process_time() - started < 10
    message = str(caught.value)
    assert message.startswith("The pattern 'fine |(a|aa)+$' took more than")
    assert "'" + "a" * 60 + "…'" in message
    assert "repetition inside a repetition" in message


def test_the_time_limit_of_a_pattern_ignores_the_time_that_the_caller_spends_between_words() -> None:
    words = Splitter(custom_recipe(r"\w"), patience=0.3).words("ab" * MATCHES_A_ROUND)
    for number, _ in enumerate(words):
        if number % MATCHES_A_ROUND == 5:
            started = time.process_time()
            while time.process_time() - started < 0.35:
                pass


def test_a_pattern_that_matches_backwards_is_refused() -> None:
    with pytest.raises(PatternError, match=r"moves backwards in the text; do not use \\K"):
        list(split_words("abab", custom_recipe(r"(?=ab\K)")))


def test_a_pattern_that_matched_no_document_is_reported_after_the_last_document() -> None:
    splitter = Splitter(custom_recipe("[A-Z]+"))
    splitter.check_has_matched()  # no text yet
    assert list(splitter.words("low")) == ["low"]
    with pytest.raises(PatternError, match=r"The pattern '\[A-Z\]\+' matches nothing in this text"):
        splitter.check_has_matched()
    assert list(splitter.words("LOW")) == ["LOW"]
    splitter.check_has_matched()


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ("(?r)a", "from the end backwards"),
        ("((a{1000}){1000}){1000}", "too large"),
        ("a{99999999999999999999}", "too large"),
        ("(a", "not a valid regular expression at character"),
    ],
)
def test_a_recipe_with_an_unusable_pattern_is_refused(pattern: str, message: str) -> None:
    with pytest.raises(PatternError, match=message):
        custom_recipe(pattern)


@pytest.mark.parametrize("name", available_texts("prose", "code", "languages", "data/tinyshakespeare.txt"))
def test_splitting_real_texts_gives_the_matches_of_regex_findall(name: str) -> None:
    text = samples_of(name, LONGEST)
    expected = regex.findall(NAMED_PATTERNS["gpt2"].expression, text)
    assert list(split_words(text, Recipe.preset("gpt2"))) == expected
    assert list(split_words(text, custom_recipe(NAMED_PATTERNS["gpt2"].expression))) == expected
