"""Tests that splitting into one array of words finds the same words as splitting piece by piece."""

from __future__ import annotations

from itertools import chain, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_core.segmenting.array_splitter import FlatWords, array_splitter
from bpe_core.text.characters import raw_bytes
from bpe_core.text.preparation.expressions import Expression
from bpe_core.text.preparation.normalizers import Replace, replaced
from bpe_core.text.preparation.pieces import BEHAVIORS, Behavior, TracedPiece
from bpe_core.text.preparation.pre_tokenizers import (
    BertPreTokenizer,
    ByteLevel,
    CharDelimiterSplit,
    Digits,
    FixedLength,
    Metaspace,
    PreTokenizer,
    Punctuation,
    Split,
    Whitespace,
    WhitespaceSplit,
)
from bpe_core.text.preparation.steps import WordSplitter, as_json, read_step

SIGNS = "aB1½² ▁.,-'’\n\r\té人ß한\u0301\u3000\u2028\ufeff\u061d\U00011f43\U00016ea0\u0378🏽"
TEXTS = st.lists(st.sampled_from([*SIGNS, "don't", "  ", "<end>", "12345"]), max_size=16).map("".join)
EXPRESSIONS = [
    r"\s+", r"\w+|[^\w\s]+", r"[0-9][0-9][0-9]", r"\p{N}{1,3}", r"\s+$", r" ?[^(\s|[.,!?…。])]+", r"(?=[A-Z])", "a|x*",
    r"<end>|'s|'t|\p{L}+|\p{N}|[^\s\p{L}\p{N}]+", r"^.|$", r"\h{2}+", "a", ".",
    r"[^\r\n\p{L}]?\p{L}+|\s*[\r\n]+|\s+(?!\S)", r"[\(\)]|([.,\-'])\1*", r"(a)([.,])\1*",
]  # fmt: skip
how = st.sampled_from(BEHAVIORS)
flags = st.booleans()
STEPS: st.SearchStrategy[PreTokenizer] = st.one_of(
    st.builds(Split, st.sampled_from(EXPRESSIONS), st.just(True), how, flags),
    st.builds(Split, st.sampled_from(["", " ", "-", "▁", "ab", ".", "<end>"]), st.just(False), how, flags),
    st.builds(Digits, flags),
    st.builds(Punctuation, how),
    st.builds(CharDelimiterSplit, st.sampled_from(" a-▁")),
    st.sampled_from([Whitespace(), WhitespaceSplit(), BertPreTokenizer()]),
    st.builds(Metaspace, st.just("▁"), st.sampled_from(["always", "never"]), flags),
)


@st.composite
def cuts(draw: st.DrawFn) -> tuple[PreTokenizer, ...]:
    steps: list[PreTokenizer] = draw(st.lists(STEPS, min_size=1, max_size=3))
    if draw(flags):
        place = draw(st.integers(0, len(steps)))
        later = [step for step in steps[place:] if not isinstance(step, Metaspace)]
        steps = [*steps[:place], ByteLevel(draw(flags), draw(flags)), *later]
    return tuple(steps)


@given(cuts(), st.lists(TEXTS, max_size=3))
def test_splitting_texts_in_a_batch_gives_the_same_words_as_splitting_each_text_alone(
    steps: tuple[PreTokenizer, ...], texts: list[str]
) -> None:
    assert tuple(read_step(as_json(step)) for step in steps) == steps
    at_once = array_splitter(steps)
    if at_once is None or not all(map(at_once.can_cut, texts)):
        return
    laid = at_once.of(*texts)
    expected = [[word.text for word in WordSplitter(steps).words(TracedPiece.bare(text))] for text in texts]
    for words_of_batch in (
        laid,
        FlatWords.of(expected),
        FlatWords.joined(at_once.of(text) for text in texts) if texts else laid,
    ):
        words = [words_of_batch.data[start:stop].tobytes() for start, stop in pairwise(words_of_batch.cuts.tolist())]
        by_texts = [words[first:last] for first, last in pairwise(words_of_batch.first_words.tolist())]
        assert by_texts == [[raw_bytes(word) for word in words if word] for words in expected]


def test_pre_tokenizers_that_can_split_many_texts_at_once_are_recognized() -> None:
    always = [
        Split(expression, True, behavior) for expression in EXPRESSIONS[:6] for behavior in ("Isolated", "Contiguous")
    ]
    blanks: list[Behavior] = ["Removed", "MergedWithPrevious", "MergedWithNext"]
    always += [Split(" ", False, behavior) for behavior in blanks]
    for step in chain(always, (ByteLevel(), Digits(), Punctuation(), Whitespace(), BertPreTokenizer(), Metaspace())):
        assert array_splitter((step,)) is not None, step
    assert array_splitter((Split(EXPRESSIONS[-2], True, "Isolated"),)) is not None
    rare = array_splitter((Split("<end>", False, "Removed"),))
    assert rare is not None
    assert [rare.can_cut(text) for text in ("an end", "an <end>")] == [True, False]
    rare = array_splitter((Split(EXPRESSIONS[8], True, "Removed", invert=True),))
    assert rare is not None
    assert [rare.can_cut(text) for text in ("an end", "an <end>")] == [True, False]
    for step in (FixedLength(3), Metaspace(prepend_scheme="first"), Split("a|x*", True, "Isolated")):
        assert array_splitter((step,)) is None, step


@pytest.mark.parametrize("pattern", [r"\s+", "[a-z▁]+", " {2,}", r"\p{M}+", "é", "x*", r"a|\s+"])
def test_the_replace_operation_replaces_exactly_the_matches_of_its_pattern(pattern: str) -> None:
    @given(TEXTS, st.sampled_from(["", " ", "\\1", "▁▁"]))
    def check(text: str, content: str) -> None:
        spans = Expression.of(pattern, is_regex=True).spans(text)
        expected = replaced(TracedPiece.whole(text), spans, content).text if text else ""
        assert Replace(pattern, True, content).changed(TracedPiece.bare(text)).text == expected

    check()
