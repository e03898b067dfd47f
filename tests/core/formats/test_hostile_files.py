"""Tests of hostile and damaged files.

Such files are refused with a message that names the file. This takes only a limited time and a limited amount
of memory.

Valid files of every format are truncated and changed at random. A changed file gives a valid table or a
FormatError. Each file that once crashed the program has a test below.
"""

from __future__ import annotations

import base64
import json
import os
import time
import tracemalloc
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bpe_core.errors import BpeError, FormatError, TooLarge
from bpe_core.formats import FORMATS, all_formats, open_table
from bpe_core.formats.base import no_sidecar_files
from bpe_core.formats.rows import Row
from bpe_core.methods.kit.tokenizer import Tokenizer
from bpe_core.methods.registry import METHODS
from tests.core.formats.samples import LEARNED_FROM_GROUPS, files, histories_for
from tests.core.formats.samples import file_name as format_file_name

WRITTEN = FORMATS.written
NAMES = {name: format_file_name(format) for name, format in FORMATS.items()}
every_format = pytest.mark.parametrize("format", WRITTEN)
LEARNED = {
    name: [one for one, method in METHODS.items() if method.fits(format) and one not in LEARNED_FROM_GROUPS]
    for name, format in WRITTEN.items()
}
KINDS = [(name, method) for name, methods in LEARNED.items() for method in methods]
every_kind = pytest.mark.parametrize(("format", "method"), KINDS, ids=map(" of ".join, KINDS))
TEXT = "the lowest price is lower than the last one, naïve 日本 the lower the better, isn't it? 12 123 1234\n" * 3
EXAMPLES = 1_500 if os.environ.get("BPE_LONG") else 30
MOST_SECONDS, MOST_BYTES = 5.0, 300 * 2**20

STRANGE = [
    b"\xff", b"\x00", b"\xed\xa0\x80", b"\xe2\x80\xa8", b"\xc2\x85", b"\r", b"\n", b"\n\n", b"\xef\xbb\xbf", b"-1",
    b"99999999999999999999", b"1e999", b"NaN", b"null", b"true", b"[]", b"{}", b'""', b'"\\ud800"', b"[" * 3_000,
    b'{"a":' * 3_000, b"\x0a\xff\xff\xff\xff\x07", b"\x80" * 12, b" ", b",", b"\t", b"=", b"0 0", b"256 256",
    b"\xf4\x90\x80\x80",
]  # fmt: skip


@cache
def valid_files(format: str, method: str = "") -> dict[str, bytes]:
    """Return the files of a table, written in the format.

    The table is learned by `method`, or by the first method of the format if no method is given.
    """
    place = LEARNED[format].index(method) if method else 0
    history = histories_for(FORMATS[format], TEXT, merges=25)[place]
    return files(history, format, NAMES[format])


def opened_or_refused(format: str, data: bytes, beside: dict[str, bytes] | None = None) -> None:
    """Check that a file either opens as a usable table, or is refused with an error that names the file.

    A usable table can encode a text.
    """
    name = NAMES.get(format, f"table.{format}")
    FORMATS[format].recognizes(data)
    try:
        opened = FORMATS[format].open(data, name, no_sidecar_files if beside is None else beside.get)
    except TooLarge:
        return
    except FormatError as error:
        sentence = str(error)
        assert name in sentence or "merges.txt" in sentence or "vocab" in sentence, sentence
        assert sentence.rstrip().endswith((".", "”", "|", "table", ")")) or "header" in sentence, sentence
        assert len(sentence) < 1_000
        return
    assert len(opened.history) <= len(data)
    opened.numbers_of(Tokenizer(opened.history).encode("the low est 3\n"))


def damage(length: int) -> st.SearchStrategy[list[tuple[int, int, bytes]]]:
    """Return a strategy for changes of a file. Each change has an offset, a number of removed bytes, and new bytes."""
    place = st.integers(0, length)
    cut = st.one_of(st.integers(0, 8), st.integers(0, length))
    put = st.one_of(st.sampled_from(STRANGE), st.binary(max_size=6), st.just(b""))
    return st.lists(st.tuples(place, cut, put), min_size=1, max_size=4)


def apply_damage(data: bytes, changes: list[tuple[int, int, bytes]]) -> bytes:
    for place, cut, put in changes:
        data = data[:place] + put + data[place + cut :]
    return data


@every_kind
def test_a_damaged_tokenizer_file_is_opened_as_a_table_or_refused(format: str, method: str) -> None:
    whole = valid_files(format, method)
    name = NAMES.get(format, f"table.{format}")

    @settings(max_examples=EXAMPLES)
    @given(damage(len(whole[name])))
    def run(changes: list[tuple[int, int, bytes]]) -> None:
        opened_or_refused(format, apply_damage(whole[name], changes), whole)

    run()


@every_format
def test_random_bytes_are_refused_by_every_format(format: str) -> None:
    @settings(max_examples=EXAMPLES)
    @given(st.binary(max_size=200))
    def run(data: bytes) -> None:
        opened_or_refused(format, data)

    run()


@every_kind
def test_a_tokenizer_file_truncated_at_any_length_is_refused_or_read(format: str, method: str) -> None:
    """The file is truncated at several lengths and at the ends of its first lines."""
    whole = valid_files(format, method)
    data = whole[NAMES[format]]
    ends = [place for place in range(len(data)) if data[place : place + 1] == b"\n"][:40]
    for stop in {0, 1, 2, 7, len(data) // 3, len(data) // 2, len(data) - 1, *ends, *(end + 1 for end in ends)}:
        opened_or_refused(format, data[:stop], whole)


scalars = st.one_of(st.none(), st.booleans(), st.integers(-(2**70), 2**70), st.floats(), st.text(max_size=4))
keys = st.sampled_from(["type", "a", "id", "content"])
json_values = st.one_of(scalars, st.lists(scalars, max_size=3), st.dictionaries(keys, scalars, max_size=3))


@pytest.mark.parametrize("format", ["tokenizer.json", "json", "merges.txt"])
def test_json_values_of_the_wrong_type_in_a_tokenizer_file_are_refused(format: str) -> None:
    """One value of the file is replaced by an arbitrary value. A file that is still valid may be opened."""
    name = "vocab.json" if format == "merges.txt" else NAMES[format]
    whole = json.loads(valid_files(format)[name])
    paths = list(_paths(whole))

    @settings(max_examples=4 * EXAMPLES)
    @given(st.sampled_from(paths), json_values)
    def run(path: tuple[str | int, ...], value: object) -> None:
        data = json.dumps(_with_value(whole, path, value)).encode()
        beside = {**valid_files(format), name: data}
        opened_or_refused(format, beside["merges.txt"] if format == "merges.txt" else data, beside)

    run()


def _paths(value: object, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    few = list(inside)[:12]
    return [path, *(child_path for key, child in few for child_path in _paths(child, (*path, key)))]


def _with_value(whole: object, path: tuple[str | int, ...], value: object) -> object:
    if not path:
        return value
    copy = dict(whole) if isinstance(whole, dict) else list(whole)  # type: ignore[call-overload]
    copy[path[0]] = _with_value(copy[path[0]], path[1:], value)
    return copy


# --- Large on purpose -------------------------------------------------------------------


def nested(depth: int) -> bytes:
    return b'{"model": {"vocab": ' + b'{"a":' * depth + b"1" + b"}" * (depth + 2)


DEEP = {
    "tokenizer.json": nested(1_000_000),
    "json": b'{"format": "bpe-explorer merge table", "version": 1, "merges": ' + b"[" * 1_000_000,
    "merges.txt": b'{"a":0,"b":' + b"[" * 1_000_000,
    "csv": ",".join(Row._fields).encode() + b"\n0,,,,,," + b"[" * 1_000_000 + b",,,,,,,,,,,recipe\n",
    "minbpe": b"minbpe v1\n" + b"(" * 1_000_000 + b"\n0\n",
    "subword-nmt": b"#version: 0.2\n" + b"a" * 1_000_000 + b" b\n",
    "tiktoken": base64.b64encode(b"a" * 1_000_000) + b" 0\n",
    "sentencepiece": b"\x0a\xff\xff\xff\xff\x07" + b"\x0a\x7f" * 1_000_000,
}


@pytest.mark.parametrize("format", DEEP)
def test_deeply_nested_or_long_tokenizer_files_cost_little_time_and_memory(format: str) -> None:
    tracemalloc.start()
    before = time.process_time()
    opened_or_refused(format, DEEP[format])
    assert time.process_time() - before < MOST_SECONDS
    assert tracemalloc.get_traced_memory()[1] < MOST_BYTES
    tracemalloc.stop()


def test_merges_of_long_repetitive_tokens_are_recovered_from_ranks_within_seconds() -> None:
    """The time to split a token of thousands of equal bytes must not grow with the square of its length."""
    every = [bytes([byte]) for byte in range(256)]
    tokens = [b"a" * 2**k for k in range(1, 15)] + [b"ab" * length for length in range(1, 400)]
    lines = [base64.b64encode(token) + b" %d\n" % rank for rank, token in enumerate(every + tokens)]
    before = time.process_time()
    opened_or_refused("tiktoken", b"".join(lines))
    assert time.process_time() - before < MOST_SECONDS


def test_a_text_file_whose_merges_keep_doubling_the_token_length_is_refused_at_the_first_overlong_line() -> None:
    """A line of the file is as long as its token, and the length of a line is limited."""
    lines = ["#version: 0.2"]
    token = "a"
    while len(token) < 2**21:
        lines.append(f"{token} {token}")
        token *= 2
    with pytest.raises(BpeError, match=r"table\.codes, line 21: 1,048,577 bytes are too many"):
        FORMATS["subword-nmt"].open("\n".join(lines).encode(), "table.codes")


def test_an_error_message_quotes_only_the_beginning_of_a_long_wrong_value() -> None:
    data = valid_files("csv")["table.csv"].replace(b",byte\n", b"," + b"[" * 3_000 + b"\n", 1)
    with pytest.raises(FormatError, match=r"there is no kind of base symbol named '\[{80}'"):
        FORMATS["csv"].open(data, "table.csv")


def test_every_format_opens_or_refuses_files_of_all_other_formats() -> None:
    for format in FORMATS:
        for other in WRITTEN:
            if other != format:
                opened_or_refused(format, valid_files(other)[NAMES[other]])


@every_kind
def test_tokenizer_files_are_recognized_by_their_content(format: str, method: str) -> None:
    """The name of the file says nothing about its format."""
    whole = valid_files(format, method)
    data, beside = whole[NAMES[format]], whole.get
    taken = next(
        candidate.name for candidate in FORMATS.asked_about(data) if candidate.recognizes_file(data, "file", beside)
    )
    assert taken == format


def test_opening_a_huge_video_as_a_tokenizer_is_refused_without_reading_the_whole_file(tmp_path: Path) -> None:
    film = tmp_path / "film.mp4"
    with open(film, "wb") as file:
        file.write(b"\0\0\0\x20ftypisom")
        file.truncate(1_900_000_000)  # takes no room on most disks
    tracemalloc.start()
    before = time.process_time()
    with pytest.raises(FormatError, match="is not a merge table that this program can read"):
        open_table(film)
    assert time.process_time() - before < MOST_SECONDS
    assert tracemalloc.get_traced_memory()[1] < 50 * 2**20
    tracemalloc.stop()


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="there is no endless file here")
def test_opening_an_endless_device_as_a_table_is_refused() -> None:
    with pytest.raises(FormatError, match=r"^/dev/zero is not a merge table [^…]*Export the tokenizer [^…]*$"):
        open_table("/dev/zero")


def test_an_endless_table_file_with_a_valid_header_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(all_formats, "LARGEST_FILE", 2 * all_formats.LOOK)
    path = tmp_path / "endless.csv"
    with open(path, "wb") as file:
        file.write(valid_files("csv")["table.csv"])
        file.truncate(2 * all_formats.LOOK + 1)
    with pytest.raises(TooLarge, match=r"endless\.csv is too large"):
        open_table(path)


@pytest.mark.parametrize("format", ["csv", "json", "parquet"])
def test_a_table_is_recognized_even_if_only_its_beginning_is_inspected(
    format: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(all_formats, "LOOK", 1_500)
    path = tmp_path / "table"
    path.write_bytes(valid_files(format)[NAMES[format]])
    assert open_table(path).format == format


def test_a_table_file_with_more_lines_than_possible_entries_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file is refused before its lines are parsed, because each parsed line takes a hundred bytes."""
    monkeypatch.setattr(all_formats, "MOST_LINES", 500)
    for name, line in (("merges.txt", b"a b\n"), ("vocab.txt", b"[UNK]\n"), ("table.csv", b"1,2\n")):
        path = tmp_path / name
        path.write_bytes(line * 501)
        with pytest.raises(TooLarge, match="has more than 500 lines, too many for a merge table"):
            open_table(path)
