"""Tests that the scanner's tables split texts as `regex` does.

The tests use every character, every short text, real texts and random texts.
"""

from __future__ import annotations

from functools import cache
from itertools import pairwise, product
from random import Random

import numpy as np
import pytest
import regex
from hypothesis import example, given, settings
from hypothesis import strategies as st

from bpe_core.kernels import scan as kernels
from bpe_core.recipes.parts import Unit
from bpe_core.recipes.recipe import Recipe
from bpe_core.splitting.safe_cuts import safe_pairs_of_kinds
from bpe_core.splitting.splitter import split_words
from bpe_core.text.patterns import NAMED_PATTERNS
from bpe_core.text.scanner import ScanTable, table_for
from bpe_core.text.scanner import machine as scan_tables
from bpe_core.text.scanner.kinds import Kind, every_character
from bpe_core.text.scanner.machine import ROW, STATE_SHIFT
from tests.conftest import EXPLORES
from tests.shared import available_texts, samples_of

PATTERNS = list(NAMED_PATTERNS)
UNITS: list[Unit] = ["file", "line"]
LONGEST, LONGEST_IN_LINES = (1_500_000, 300_000) if EXPLORES else (150_000, 50_000)  # characters of a real text
TRICKY = "sltvreSLdAaZ'’ſ  \n\r\t\u00a0\u2028/1½٣.,!-ÉéǅʰあΣ\u0301\u0000😀"
TEXTS = st.text(st.sampled_from(TRICKY) | st.characters(exclude_categories=["Cs"]), max_size=40)


def machine(pattern: str, unit: str = "file") -> ScanTable:
    table = table_for(pattern, unit)
    assert table is not None
    return table


def words_by_kernel(text: str, pattern: str, unit: str = "file") -> list[bytes]:
    table, data = machine(pattern, unit), text.encode()
    return expected_words(table, data, cuts_by_kernel(table, data))


def expected_words(table: ScanTable, data: bytes, cuts: list[int]) -> list[bytes]:
    words = [data[start:stop] for start, stop in pairwise(cuts)]
    return [word for word in words if word.decode()[0] not in blanks()] if table.drops_blanks else words


@cache
def blanks() -> frozenset[str]:
    return frozenset(regex.findall(r"\s", every_character()))


def cuts_by_kernel(table: ScanTable, data: bytes) -> list[int]:
    cuts, registers = np.empty(len(data) + 4, np.int32), np.empty(kernels.REGISTERS, np.int64)
    buffer, pieces = np.frombuffer(bytearray(data + bytes(8)), np.uint8), np.array([0, len(data)], np.int32)
    count = int(kernels.scan_pieces(kernels.machine_of(table), buffer, pieces, registers, cuts))
    return [int(cut) for cut in cuts[:count]]


def words_by_regex(text: str, pattern: str, unit: Unit = "file") -> list[bytes]:
    return [word.encode() for word in split_words(text, Recipe(pattern=pattern, unit=unit))]


@cache
def few_of_long_runs() -> str:
    """Return a string of all characters, but with only a few of each long run of unassigned or caseless characters.

    The tests take less time with this string.
    """
    few: str = regex.sub(
        r"[\p{Cn}\p{Co}\p{Lo}]+", lambda run: run.group()[:: max(1, len(run.group()) // 8)], every_character()
    )
    return few


@pytest.mark.parametrize("pattern", PATTERNS)
def test_the_scanner_and_regex_split_characters_of_every_kind_in_the_same_way(pattern: str) -> None:
    """Each character stands after and before letters, digits, punctuation, blanks, newlines and apostrophes."""
    assigned = few_of_long_runs()
    text = "".join(f"a{c}b 1{c}2.{c}! {c}\n{c}'{c}s '{c}{c}\tA{c}B" for c in assigned)
    assert words_by_kernel(text, pattern) == words_by_regex(text, pattern)
    alone = " ".join((every_character() if EXPLORES else assigned)[::-1])
    assert words_by_kernel(alone, pattern) == words_by_regex(alone, pattern)


def distinguished_characters(pattern: str) -> list[str]:
    """Return one character of each class of characters that the table distinguishes."""
    columns: dict[bytes, str] = {}
    for kind in machine(pattern).kinds:
        column = machine(pattern).entries.reshape(-1, ROW)[:, kind].tobytes()
        columns.setdefault(column, example_of(kind, machine(pattern)))
    return list(columns.values())


def example_of(kind: int, table: ScanTable) -> str:
    return chr(int(np.argmax(table.kind_of_code_point == kind)))


@pytest.mark.parametrize("pattern", PATTERNS)
def test_the_scanner_splits_every_short_text_as_regex_does(pattern: str) -> None:
    """The texts are all sequences of up to four characters.

    One character represents each class of characters that the table distinguishes. Longer texts take too long.
    """
    table, expression = machine(pattern), regex.compile(NAMED_PATTERNS[pattern].expression)
    for length in range(1, 5):
        for characters in product(distinguished_characters(pattern), repeat=length):
            text = "".join(characters)
            data = text.encode()
            assert expected_words(table, data, table.cuts(data)) == [w.encode() for w in expression.findall(text)], (
                repr(text)
            )


PIECES_BETWEEN_MARKS = (
    "a",
    "low ",
    "it's",
    "12",
    ".",
    "\n",
    "\r\n",
    "\t",
    "é",
    *(" " * size for size in (1, 2, 5, 11, 12, 13, 14, 31)),
)


@pytest.mark.parametrize("pattern", PATTERNS)
def test_the_scanner_splits_long_texts_with_blanks_after_newlines_as_regex_does(pattern: str) -> None:
    """After a newline, the scanner marks an offset and counts the blanks that follow, up to a limit of its table.

    The texts have runs of blanks below and above this limit.
    """
    chance = Random(1)
    for size in (5, 20, 60, 200):
        for _ in range(100):
            text = "".join(chance.choices(PIECES_BETWEEN_MARKS, k=size))
            assert words_by_kernel(text, pattern) == words_by_regex(text, pattern), repr(text)


@pytest.mark.parametrize("pattern", ["gpt2", "cl100k", "o200k", "whitespace"])
def test_the_scanner_never_leaves_the_state_reached_by_a_pair_with_a_non_ascii_character(pattern: str) -> None:
    """The scanner needs this state at the end of a part, to know whether it could read the whole part in pairs."""
    tables = kernels.machine_of.__wrapped__(machine(pattern))
    entries = tables.pair_entries.reshape(-1, kernels.PAIR_ROW)
    alone = (len(entries) - 1) * kernels.PAIR_ROW
    assert (entries[-1] == alone).all()
    kinds = tables.pair_kinds.reshape(256, 256)
    for kind in np.unique(np.append(kinds[128:], kinds[:, 128:].T, axis=0)):
        assert (entries[:, kind] == alone).all()
    assert (entries[:-1, kinds[ord("a"), ord("a")]] != alone).any()


def test_a_scan_table_with_too_many_states_gets_no_extra_states_for_marks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    table = machine("cl100k")
    with_marks = kernels.machine_of.__wrapped__(table)
    monkeypatch.setattr(kernels, "MOST_PAIR_STATES", len(table.entries) // ROW)
    without_marks = kernels.machine_of.__wrapped__(table)
    assert len(without_marks.pair_states) == len(table.entries) // ROW < len(with_marks.pair_states)
    assert not without_marks.mark_distances.any()


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("pattern", PATTERNS)
@given(text=TEXTS)
@example(text="we'Ve  \n 'ſx 'lL 'vo\r\n\r\n  12345 ½ ǅa'LL\t\tA\u0301B'r")
def test_the_scanner_splits_random_texts_as_regex_does(pattern: str, unit: Unit, text: str) -> None:
    data, expected = text.encode(), words_by_regex(text, pattern, unit)
    table = machine(pattern, unit)
    assert expected_words(table, data, table.cuts(data)) == expected
    assert words_by_kernel(text, pattern, unit) == expected


@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize(
    "name",
    available_texts("prose", "code", "languages", "made/languages")
    + available_texts("data/tinyshakespeare.txt", "data/wikitext2-test.raw.txt", "data/udhr-languages.txt"),
)
def test_the_scanner_splits_real_texts_as_regex_does(name: str, pattern: str) -> None:
    text = samples_of(name, LONGEST)
    assert words_by_kernel(text, pattern) == words_by_regex(text, pattern)


@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize(
    "name", available_texts("poem", "code", "languages", "data/raven.txt", "data/udhr-languages.txt")
)
def test_the_scanner_splits_real_texts_line_by_line_as_regex_does(name: str, pattern: str) -> None:
    text = samples_of(name, LONGEST_IN_LINES)
    assert words_by_kernel(text, pattern, "line") == words_by_regex(text, pattern, "line")


@pytest.mark.parametrize("pattern", PATTERNS)
@given(seed=st.integers(0, 10_000), other=st.integers(20, 400))
@settings(max_examples=20)
def test_the_scanner_splits_long_runs_of_ascii_as_regex_does(pattern: str, seed: int, other: int) -> None:
    """The scanner reads four ranges of bytes at once.

    Some runs of letters, digits or spaces are longer than these ranges.
    """
    draw = Random(seed)
    characters = [draw.choice(["e", "e", "e", " ", " ", "1", draw.choice(TRICKY[:36])]) for _ in range(3000)]
    runs = [character * (draw.choice((30, 90, 300)) if draw.random() < 0.02 else 1) for character in characters]
    text = "".join("é" + run if draw.randrange(other) == 0 else run for run in runs)
    assert words_by_kernel(text, pattern) == words_by_regex(text, pattern)


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("pattern", PATTERNS)
@given(texts=st.lists(TEXTS.map(lambda text: text.replace("\0", "")), min_size=1, max_size=6))
@example(texts=["", "", "a", ""])
@example(texts=["we'L", "l  \n  ", "  \n", "\n", "12", "3"])
@example(texts=["the low price of a lower price " * 9, "of the lowest"])
def test_joined_texts_are_split_in_the_same_way_as_separate_texts(pattern: str, unit: Unit, texts: list[str]) -> None:
    table, joined = machine(pattern, unit), machine(pattern, unit).for_joined_texts()
    assert joined is not None
    expected = [0]
    for text in texts:
        start = expected[-1]
        cuts = [start + cut for cut in table.cuts(text.encode())]
        expected += [*cuts[1:], cuts[-1] + 1]
    data = "\0".join(texts).encode()
    empty_word = [0] if data and not texts[0] else []
    assert joined.cuts(data) == cuts_by_kernel(joined, data) == [*empty_word, *expected[:-1]]


def test_a_scan_table_that_cannot_hold_another_state_is_not_used_for_joined_texts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    table = machine("cl100k")
    monkeypatch.setattr(scan_tables, "MOST_STATES", len(table.entries) // ROW)
    assert table.for_joined_texts() is None


@pytest.mark.parametrize("pattern", PATTERNS)
@given(text=TEXTS, pause=st.integers(1, 50), room=st.integers(4, 12))
def test_a_scan_that_pauses_at_any_byte_finds_the_same_words_as_a_scan_without_pauses(
    pattern: str, text: str, pause: int, room: int
) -> None:
    """A scan can pause at any byte, and pauses whenever its array of results is full."""
    data = text.encode()
    if not data:
        return
    table = machine(pattern)
    automaton, buffer = kernels.machine_of(table), np.frombuffer(bytearray(data + bytes(8)), np.uint8)
    registers, cuts = np.empty(kernels.REGISTERS, np.int64), np.empty(room, np.int32)
    kernels.begin_text(registers, np.int64(0))
    collected = [0]
    while registers[kernels.POSITION] < len(data):
        stop = min(len(data), int(registers[kernels.POSITION]) + pause)
        count = kernels.scan(automaton, buffer, np.int64(stop), registers, cuts, np.int64(0))
        collected += cuts[:count].tolist()
    count = kernels.end_text(automaton, registers, cuts, np.int64(0))
    assert [*collected, *cuts[:count].tolist()] == table.cuts(data)


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("pattern", [name for name in PATTERNS if name != "none"])
@given(before=TEXTS, pair=st.integers(0, 10_000), behind=TEXTS)
def test_a_text_divided_at_a_safe_pair_of_characters_contains_the_same_words(
    pattern: str, unit: Unit, before: str, pair: int, behind: str
) -> None:
    first, second = safe_characters(pattern, unit)[pair % len(safe_characters(pattern, unit))]
    left, right = before + first, second + behind
    divided = words_by_regex(left, pattern, unit) + words_by_regex(right, pattern, unit)
    assert divided == words_by_regex(left + right, pattern, unit)


@cache
def safe_characters(pattern: str, unit: Unit) -> list[tuple[str, str]]:
    table = machine(pattern, unit)
    return [(example_of(x, table), example_of(y, table)) for x, y in np.argwhere(safe_pairs_of_kinds(table)).tolist()]


def test_scan_tables_are_small_and_valid() -> None:
    for pattern, unit in product(PATTERNS, UNITS):
        entries = machine(pattern, unit).entries
        assert len(entries) % ROW == 0
        assert len(entries) <= 64 * ROW
        assert (entries >> STATE_SHIFT).max() < len(entries)
        assert ((entries >> STATE_SHIFT) % ROW == 0).all()
    assert max(Kind) < ROW
