"""Tests of files with one text in each row: .jsonl, .csv and .tsv."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import json
from pathlib import Path
from typing import Any, BinaryIO, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_core.counting.count_words import count_words
from bpe_core.errors import CorpusError, EncodingError, TooLarge
from bpe_core.formats.json_reading import parsed_object
from bpe_core.kernels import json_rows as json_rows  # rows of JSON are read by it
from bpe_core.recipes.recipe import Recipe
from bpe_core.support import foreign
from bpe_core.text.corpus import Corpus
from bpe_core.text.reading import opening, text_tables
from bpe_core.text.reading.plain_text import NumberedLines, length_of_whole_lines, text_blocks
from bpe_core.text.reading.rows import LOOKED_AT
from bpe_core.text.reading.source import Chunk, OnInvalid, ReadingOptions, SkipLog, Source
from tests.core.corpus_files import documents, read, sentence, write

TEXTS = st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")), max_size=8)


# --- Lines -----------------------------------------------------------------------------


@given(st.lists(st.binary(min_size=1)))
def test_lines_and_their_numbers_do_not_depend_on_the_size_of_blocks(blocks: list[bytes]) -> None:
    lines = NumberedLines((Chunk(block, False, 7) for block in blocks), "a")
    numbered = list(lines)
    assert b"".join(numbered) == b"".join(blocks)
    assert all(line.endswith(b"\n") for line in numbered[:-1])
    assert all(line.count(b"\n") <= 1 for line in numbered)
    assert lines.number == len(numbered)


@given(lines=st.lists(st.text("añ€", max_size=20).map("{}\n".format)), end=st.text("añ", max_size=20))
def test_blocks_of_lines_end_with_a_line_break_except_the_last_block(
    tmp_path_factory: pytest.TempPathFactory, lines: list[str], end: str
) -> None:
    path = write(tmp_path_factory.mktemp("lines"), "a.txt", "start\n" + "".join(lines) + end)
    source = Corpus.from_files(path).sources[0]
    blocks = [*text_blocks(source, ReadingOptions(), 64, SkipLog(), length_of_whole_lines)]
    assert b"".join(bytes(block.data) for block in blocks) == path.read_bytes()
    assert all(bytes(block.data).endswith(b"\n") for block in blocks[:-1])


def test_a_json_lines_file_with_a_line_that_is_too_long_is_refused() -> None:
    blocks = (Chunk(b"x" * (1 << 20), False) for _ in range(100))
    lines = NumberedLines(iter([Chunk(b"short\n", False), *blocks]), "big.jsonl", longest=8 << 20)
    with pytest.raises(CorpusError, match=r"big.jsonl, line 2 is longer than 8 MB"):
        list(lines)


# --- JSON lines ------------------------------------------------------------------------


@given(texts=TEXTS, size=st.integers(1, 99), ascii_only=st.booleans())
def test_any_text_is_read_back_unchanged_from_json_lines(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str], size: int, ascii_only: bool
) -> None:
    rows = "".join(json.dumps({"id": 1, "text": text}, ensure_ascii=ascii_only) + "\n" for text in texts)
    path = write(tmp_path_factory.mktemp("rows"), "a.jsonl", rows + "\n")
    assert read(path, size) == [text for text in texts if text]


def test_texts_are_read_from_the_chosen_field_of_plain_and_compressed_json_lines(tmp_path: Path) -> None:
    rows = '{"body": "low"}\r\n\r\n{"body": "lower"}'
    assert read(write(tmp_path, "a.jsonl.gz", gzip.compress(rows.encode())), field="body") == ["low", "lower"]
    assert read(write(tmp_path, "a.ndjson", rows), field="body") == ["low", "lower"]


def test_json_lines_in_utf_16_are_read(tmp_path: Path) -> None:
    assert read(write(tmp_path, "a.jsonl", '{"text": "löw"}\n'.encode("utf-16"))) == ["löw"]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["text", "a", "é"]), inner),
    max_leaves=8,
)
ROWS = st.builds(
    lambda row, text, ascii_only, wide: json.dumps(
        {**row, "text": text}, ensure_ascii=ascii_only, separators=(" , ", "\t: ") if wide else None
    ),
    st.dictionaries(st.text(max_size=4), JSON, max_size=3),
    st.text(max_size=30) | JSON,
    st.booleans(),
    st.booleans(),
)
FEATURES = [
    *(
        '{"text": "low"}',
        '{"te\\u0078t": "low"}',
        '{"text": ""}',
        "",
        " \t\r",
        '{"text":"a","text":"b"}',
        '{"text": "a"} x',
    ),
    *(r'{"text": "\ud83d\ude00\u00e9\u20ac\n\/\b\f\r\t\\\""}', r'{"text": "\ud83d"}', r'{"text": "\ude00a"}'),
    *(
        r'{"text": "\ud83d\u0041"}',
        r'{"text": "\u12g4"}',
        r'{"text": "\x"}',
        '{"text": "a\\',
        '{"text": "\x01"}',
        '{"text"}',
    ),
    *(f'{{"n": {number}, "text": "n"}}' for number in ("-0", "01", "1.", ".5", "1e5", "1E+", "-", "NaN", "-1.50e-09")),
    *(
        f'{{"text": "n", "n": {value}}}'
        for value in ("tru", "true", "false", "null", "nul", "[]", "[1,]", "{}", '{"a":}')
    ),
    *(
        '{"text": "n",}',
        '{,"text": "n"}',
        '{"text": "n"',
        '{"n": [}], "text": "n"}',
        '{"n": ' + "[" * 70 + "]" * 70 + "}",
    ),
    *('{"n": 1' + "0" * 4_000 + ', "text": "n"}', '{"n": 1' + "0" * 5_000 + ', "text": "n"}'),
]


def texts_and_reports(path: Path, size: int) -> tuple[list[str], list[str]]:
    corpus = Corpus.from_files(path, field="text", on_bad_row="skip")
    return documents(corpus, size), [str(report) for report in corpus.skipped]


@given(rows=st.lists(ROWS | st.sampled_from(FEATURES), max_size=12), size=st.integers(1, 200))
def test_machine_code_and_python_read_the_same_texts_from_json_lines(
    tmp_path_factory: pytest.TempPathFactory, rows: list[str], size: int
) -> None:
    """Without machine code, Python's reader of JSON reads all rows.

    With it, Python reads only the rows that are not usual.
    """
    path = tmp_path_factory.mktemp("rows") / "a.jsonl"
    path.write_bytes("\n".join(['{"text": "first"}', *rows]).encode("utf-8", "surrogatepass"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text_tables, "_machine_code", [])
        by_python = texts_and_reports(path, size)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text_tables, "LOOKED_AT", 1)
        assert texts_and_reports(path, size) == by_python


BYTES_OF_TEXTS = st.lists(
    st.sampled_from(
        [
            *(b"a", b"low and lower, and the lowest of all", "é".encode(), "低い".encode(), "😀".encode(), b'\\"'),
            *(b"\\n", b"\\u00e9", b"\xff", b"\xc3", b"\xe2\x82", b"\xc0\x80", b"\xed\xa0\x80", b"\xf4\x90\x80\x80"),
        ]
    ),
    max_size=12,
).map(b"".join)


@given(
    texts=st.lists(BYTES_OF_TEXTS, max_size=8),
    size=st.integers(1, 400),
    on_invalid=st.sampled_from(get_args(OnInvalid)),
    has_mark=st.booleans(),
)
def test_machine_code_stops_at_the_same_invalid_bytes_of_json_lines_as_python(
    tmp_path_factory: pytest.TempPathFactory, texts: list[bytes], size: int, on_invalid: OnInvalid, has_mark: bool
) -> None:
    path = tmp_path_factory.mktemp("rows") / "a.jsonl"
    rows = [b'{"text": "first"}', *(b'{"text": "%b"}' % text for text in texts)]
    path.write_bytes((codecs.BOM_UTF8 if has_mark else b"") + b"\n".join(rows))

    def texts_and_oddities() -> tuple[list[str], list[str]] | str:
        corpus = Corpus.from_files(path, field="text", on_invalid=on_invalid)
        try:
            return documents(corpus, size), [str(report) for report in corpus.skipped]
        except EncodingError as error:
            return str(error)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text_tables, "LOOKED_AT", 1)
        by_machine_code = texts_and_oddities()
        patch.setattr(text_tables, "_machine_code", [])
        assert texts_and_oddities() == by_machine_code
    is_valid = has_only_characters(path.read_bytes())
    assert is_valid or on_invalid not in ("skip", "replace") or by_machine_code[1]
    assert isinstance(by_machine_code, str) == (not is_valid and on_invalid in ("strict", "keep"))


def has_only_characters(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def test_invalid_utf8_in_a_late_row_is_reported_with_its_offset_after_a_byte_order_mark(tmp_path: Path) -> None:
    before = codecs.BOM_UTF8 + '{"text": "lów"}\n'.encode() * 30_000
    path = tmp_path / "a.jsonl"
    path.write_bytes(before + b'{"text": "l\xf3w"}\n')
    offset = len(before) + len(b'{"text": "l')
    for size in (100, 5_000, 1 << 20):
        with pytest.raises(EncodingError, match=f"byte 0xF3 at offset {offset:,}"):
            documents(Corpus.from_files(path), size)


def test_python_parses_only_the_first_rows_of_json_lines_if_all_rows_are_ordinary(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = [f"naïve {number} \n" for number in range(100)]
    rows = [json.dumps({"id": [1, {}], "text": text, "n": -1.5e3}) for text in texts]
    parsed: list[bytes] = []
    original = text_tables.texts_of

    def texts_of(line: bytes, *field: Any) -> list[str]:
        parsed.append(line)
        return original(line, *field)

    monkeypatch.setattr(text_tables, "texts_of", texts_of)
    assert read(write(tmp_path, "a.jsonl", "\n".join(rows))) == texts
    assert len(parsed) == LOOKED_AT


BAD_JSON_ROWS = [
    ('{"text": "low', "this is not valid JSON from character 10 on"),
    ("low", "this is not valid JSON from character 1 on"),
    ('{"title": "x", "body": "y"}', 'there is no field "text", only "title", "body"'),
    ("{}", 'there is no field "text", and no other field'),
    ('{"text": null}', 'the field "text" holds null, not text'),
    ('{"text": 5}', 'the field "text" holds a number, not text'),
    ('{"text": ["low"]}', 'the field "text" holds a list, not text'),
    ('{"text": true}', 'the field "text" holds true or false, not text'),
    ("[1]", 'a row must be a JSON object such as {"text": ...}, not a list'),
    ('"low"', 'a row must be a JSON object such as {"text": ...}, not a text'),
    ("[" * 100_000, "this JSON cannot be read"),
    ('{"text": 1' + "1" * 5000 + "}", "this JSON cannot be read"),
    ('{"text": "n\\ud83dw"}', "character 2 is half of a surrogate pair (U+D83D)"),
]


@pytest.mark.parametrize(("row", "reason"), BAD_JSON_ROWS, ids=range(len(BAD_JSON_ROWS)))
def test_a_bad_row_of_json_lines_is_refused_or_skipped_with_a_report(tmp_path: Path, row: str, reason: str) -> None:
    good = '{"text": "low"}'
    path = write(tmp_path, "a.jsonl", f"{good}\n\n{row}\n{good}\n")
    message = sentence(path)
    assert message.startswith(f"{path}, line 3: {reason}")
    assert message.endswith("Repair the row, or choose to skip damaged rows.")
    corpus = Corpus.from_files(path, on_bad_row="skip")
    assert documents(corpus) == ["low", "low"]
    assert [skipped.source for skipped in corpus.skipped] == [str(path)]
    assert corpus.skipped[0].sentence.startswith(f"line 3: {reason}")


@pytest.mark.parametrize(
    ("name", "content", "choices"),
    [
        ("a.jsonl", '{"text": "low"}\n[1]\n' + '{"text": "low"}\n' * 20, {}),
        ("a.csv", "text\nlow\nlow,er\nlow\n", {}),
        ("a.tsv", "low\t5\nlower two\nlow\t5\n", {"word_list": True}),
    ],
)
def test_a_file_with_a_bad_row_is_closed_when_the_error_is_raised(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, content: str, choices: dict[str, Any]
) -> None:
    opened: list[BinaryIO] = []
    opens = opening.open_raw

    def open_seen(source: Source) -> BinaryIO:
        opened.append(opens(source))
        return opened[-1]

    monkeypatch.setattr(opening, "open_raw", open_seen)
    with pytest.raises(CorpusError) as error:
        count_words(Corpus.from_files(write(tmp_path, name, content), **choices), Recipe())
    assert opened
    assert all(file.closed for file in opened)
    assert "line 2" in str(error.value) or "line 3" in str(error.value)


def test_a_lone_surrogate_in_a_row_can_be_replaced_on_request(tmp_path: Path) -> None:
    path = write(tmp_path, "a.jsonl", '{"text": "n\\ud83dw"}')
    assert read(path, on_invalid="replace") == ["n�w"]


def test_invalid_utf8_in_a_row_is_reported_with_its_offset_in_the_file(tmp_path: Path) -> None:
    path = write(tmp_path, "a.jsonl", b'{"text": "low"}\n{"text": "l\xf6w"}\n')
    assert f"{path} is not valid UTF-8: byte 0xF6 at offset 27." in sentence(path, error=EncodingError)


def test_progress_of_reading_rows_never_decreases(tmp_path: Path) -> None:
    path = write(tmp_path, "a.jsonl", '{"text": "low"}\n' * 1000)
    corpus = Corpus.from_files(path)
    progress = [chunk.bytes_read for chunk in corpus.chunks(100)]
    assert progress == sorted(progress)
    assert progress[-1] == corpus.total_size


# --- Tables ----------------------------------------------------------------------------


@given(texts=TEXTS, size=st.integers(1, 99), ending=st.sampled_from([".csv", ".tsv"]))
def test_any_text_is_read_back_unchanged_from_csv_and_tsv(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str], size: int, ending: str
) -> None:
    table = io.StringIO()
    writer = csv.writer(table, delimiter="\t" if ending == ".tsv" else ",")
    writer.writerows([["id", "text"], *([i, text] for i, text in enumerate(texts))])
    path = write(tmp_path_factory.mktemp("rows"), f"a{ending}", table.getvalue())
    assert read(path, size) == [text for text in texts if text]


def test_a_chosen_column_of_a_csv_file_is_read(tmp_path: Path) -> None:
    path = write(tmp_path, "a.csv", 'id,"the body",more\n1,"low, ""lower""\nlowest",x\n\n2,,y\n3,new,z')
    assert read(path, field="the body") == ['low, "lower"\nlowest', "new"]


def test_a_very_long_csv_field_is_read(tmp_path: Path) -> None:
    text = "low " * 300_000  # by default the csv module refuses more than 131,072 characters
    path = write(tmp_path, "a.csv", f"text\n{text}\n")
    assert "".join(read(path, 1000)) == text


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("id,body\n1,low\n", 'has no column "text"; its first row names "id", "body". Choose one of them.'),
        ("\n\n", 'has no column "text"; its first row names none.'),
        ('"text\nlow\n', "this row cannot be read (up to line 2: is a quote not closed?)"),
    ],
)
def test_a_csv_file_without_the_chosen_column_is_refused(tmp_path: Path, content: str, message: str) -> None:
    path = write(tmp_path, "a.csv", content)
    assert sentence(path, field="text").startswith(str(path))
    assert message in sentence(path, field="text")
    assert message in sentence(path, field="text", on_bad_row="skip")


@pytest.mark.parametrize(
    ("row", "reason", "others"),
    [
        ("low\n", "this row has 1 column, but the first row names 2", ["good", "better"]),
        ("2,low,lower\n", "this row has 3 columns, but the first row names 2", ["good", "better"]),
        ('2,"low"er\n', "this row cannot be read: its quotes or line ends are in the wrong place", ["good", "better"]),
        ('2,"low\n', "this row cannot be read (up to line 6: is a quote not closed?)", ["good"]),
    ],
)
def test_a_bad_row_of_a_csv_file_is_reported_or_skipped(
    tmp_path: Path, row: str, reason: str, others: list[str]
) -> None:
    path = write(tmp_path, "a.csv", f'id,text\n1,"good"\n\n{row}3,better\n\n')
    assert sentence(path).startswith(f"{path}, line 4: {reason}")
    corpus = Corpus.from_files(path, on_bad_row="skip")
    assert documents(corpus) == others
    assert corpus.skipped[0].sentence.startswith(f"line 4: {reason}")


def test_a_csv_file_in_another_encoding_is_read(tmp_path: Path) -> None:
    path = write(tmp_path, "a.csv", "text\nlöw\n".encode("cp1252"))
    assert read(path, encoding="cp1252") == ["löw"]
    assert "offset 6" in sentence(path)


def test_json_rows_with_too_many_values_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each value takes a hundred bytes of memory, even if it is short in the file.

    A comma inside a string does not count as a value.
    """
    monkeypatch.setattr(foreign, "MOST_VALUES", 50)
    path = write(tmp_path, "a.jsonl", '{"text": "low", "x": [%s0]}\n' % ("[]," * 30))
    assert sentence(path) == (
        f"{path}, line 1: this JSON cannot be read: too many values are in the file. "
        "Repair the row, or choose to skip damaged rows."
    )
    text = r"\"[{," * 60
    assert read(write(tmp_path, "b.jsonl", '{"text": "' + text + '"}\n')) == [text.replace("\\", "")]
    with pytest.raises(TooLarge, match="values, which is too many"):
        parsed_object(b"{" + b'"a":[[],[]],' * 30 + b'"b":0}', "a.json")
