"""Tests of the parser of Arrow messages: it agrees with Arrow, and hostile messages are refused before Arrow reads
them.
"""

from __future__ import annotations

import io
import struct
from pathlib import Path
from typing import Any

import pyarrow as arrow
import pytest
from pyarrow import ipc

from bpe_core.support import limits
from bpe_core.support.arrow_messages import BATCH, DICTIONARY, Message, blocks_of, message_at
from tests.core.corpus_files import read, sentence

TEXTS = [f"the lowest price {i % 50} is lower " * (i % 7) for i in range(300)]
TABLE = arrow.table(
    {
        "text": TEXTS,
        "number": range(300),
        "again": arrow.array(["low", "new"] * 150).dictionary_encode(),
        "lists": [[text[:9], None] for text in TEXTS],
    }
)
WAYS = [(kind, compression) for kind in ("stream", "file") for compression in (None, "lz4", "zstd")]


def arrow_bytes(table: Any, kind: str, compression: str | None, rows: int = 100) -> bytes:
    buffer = io.BytesIO()
    make = ipc.new_stream if kind == "stream" else ipc.new_file
    with make(buffer, table.schema, options=ipc.IpcWriteOptions(compression=compression)) as writer:
        writer.write_table(table, max_chunksize=rows)
    return buffer.getvalue()


def messages_of(data: bytes, kind: str) -> list[Message]:
    raw = io.BytesIO(data)
    if kind == "file":
        dictionaries, batches = blocks_of(raw)
        return [
            message_there
            for place in (*dictionaries, *batches)
            if (message_there := message_at(raw, place)) is not None
        ]
    messages, place = list[Message](), 0
    while (message := message_at(raw, place)) is not None:
        messages.append(message)
        place = message.end
    assert place == len(data) - 8, "only the mark of its end is left"
    return messages[1:]  # behind the schema


@pytest.mark.parametrize(("kind", "compression"), WAYS)
def test_headers_of_compressed_arrow_messages_give_the_approximate_sizes_of_the_unpacked_batches(
    kind: str, compression: str | None
) -> None:
    data = arrow_bytes(TABLE, kind, compression)
    messages = messages_of(data, kind)
    assert [message.kind for message in messages] == [DICTIONARY, BATCH, BATCH, BATCH]
    batches = TABLE.to_batches(max_chunksize=100)
    for message, batch in zip(messages[1:], batches, strict=True):
        assert batch.nbytes - 400 <= message.unpacked <= batch.nbytes + 400 if compression else message.unpacked == 0
        assert message.stored > 0


@pytest.mark.parametrize("kind", ["stream", "file"])
def test_small_compressed_arrow_batches_that_would_fill_the_memory_are_refused(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.arrow"
    bomb = arrow.table({"text": ["low " * 10_000] * 100})
    path.write_bytes(arrow_bytes(bomb, kind, "zstd"))
    assert len(read(path)) == 100
    coded = arrow.DictionaryArray.from_arrays(arrow.array([0] * 100), arrow.array(["low " * 1_000_000]))
    for table in (bomb, arrow.table({"text": coded})):
        path.write_bytes(arrow_bytes(table, kind, "zstd"))
        with monkeypatch.context() as patched:
            patched.setattr(limits, "HARMLESS", 100_000)
            assert "is damaged: the data at byte " in sentence(path)
            assert sentence(path).endswith(" to 4 MB. Copy or download the file again.")


def test_the_size_check_ignores_bytes_other_than_arrow_messages() -> None:
    for data in (b"", b"\xff\xff\xff\xff", struct.pack("<ii", -1, 40) + bytes(40), b"\xff" * 300, b"low lower " * 40):
        assert message_at(io.BytesIO(data), 0) is None
        assert blocks_of(io.BytesIO(data)) == ([], [])
    sound = arrow_bytes(TABLE, "stream", "zstd")
    for place in range(0, 400, 4):  # a claim somewhere ends in a message, or in none, but soon
        message_at(io.BytesIO(sound[:place] + struct.pack("<q", 2**40) + sound[place + 8 :]), 0)
