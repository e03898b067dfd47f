"""A benchmark that compares encoding documents into shards with encoding alone.

Both run in one process, in turn.

`python -m tests.benchmarks.shards [TEXT]` repeats a text until it has 100 MB, and divides it into documents of some
3,600 characters. "Encoding alone" is `study.encode_batch(texts)`: the documents are in memory, as a list of strings or
as an Arrow array, and their ids stay there. "Shards" is `bpe.encode_documents`: it reads the documents from files, and
writes ids, ends and the index to the disk. Both use the same table, and encode on all cores.

A ratio is the time of encoding strings alone divided by the time of the other work. A ratio of 1 means that
reading and writing take no time of their own.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
from collections.abc import Callable, Iterator
from functools import partial
from importlib.util import find_spec
from itertools import cycle
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import bpe_core as bpe
from bpe_core.support.threads import available_threads
from tests.benchmarks.stopwatch import Stopwatch
from tests.benchmarks.texts import existing_text
from tests.shared import SHARED

DOCUMENT = 3_600  # characters
IN_A_FILE = 300  # documents of one plain file
TABLE = SHARED / "data/gpt2/vocab.bpe"
ALONE = "encode_batch of strings"
EOS = 0  # the id after each document


def documents_of(text: str, size: int) -> list[str]:
    """Divide a text into documents. Repeat them until they have `size` characters in all."""
    own = [text[start : start + DOCUMENT] for start in range(0, len(text), DOCUMENT)]
    documents = list[str]()
    for document in cycle(own):
        if size <= 0:
            return documents
        documents.append(document)
        size -= len(document)
    return documents


def write_sources(documents: list[str], folder: Path) -> Iterator[tuple[str, Path]]:
    """Write the documents in several file formats. Yield the title of each format and the path of its files."""
    rows = folder / "rows.jsonl"
    with open(rows, "w", encoding="utf-8") as file:
        file.writelines(json.dumps({"text": document}, ensure_ascii=False) + "\n" for document in documents)
    yield "shards of .jsonl", rows
    if find_spec("pyarrow"):
        import pyarrow as pa
        import pyarrow.parquet as pq

        table = pa.table({"text": documents})
        for compression in ("none", "zstd"):
            path = folder / f"{compression}.parquet"
            pq.write_table(table, path, compression=compression)
            yield f"shards of .parquet, {compression}", path
    files = folder / "files"
    files.mkdir()
    for number, first in enumerate(range(0, len(documents), IN_A_FILE)):
        text = "".join(documents[first : first + IN_A_FILE])
        (files / f"{number:05}.txt").write_text(text, encoding="utf-8", newline="")
    yield "shards of text files", files


def works(study: Any, documents: list[str], folder: Path) -> Iterator[tuple[str, Callable[[], object]]]:
    """Yield the name of each task to measure, and the function that performs it."""
    yield ALONE, lambda: study.encode_batch(documents)
    if find_spec("pyarrow"):
        import pyarrow as pa

        array = pa.array(documents, pa.large_string())
        yield "encode_batch of an Arrow array", lambda: study.encode_batch(array)
    for name, path in write_sources(documents, folder):
        yield name, partial(bpe.encode_documents, study, path, folder / "shards", eos=EOS)


def check(study: Any, documents: list[str], folder: Path) -> None:
    """Raise an error unless the shards made from rows.jsonl hold the ids of all documents."""
    bpe.encode_documents(study, folder / "rows.jsonl", folder / "shards", eos=EOS)
    shards = json.loads((folder / "shards/index.json").read_bytes())["shards"]
    written = np.concatenate([np.load(folder / "shards" / shard["file"]) for shard in shards])
    ids, offsets = study.encode_batch(documents)
    if not np.array_equal(written, np.insert(ids, offsets[1:], EOS)):
        raise RuntimeError("The shards do not hold the ids of the documents.")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.shards", description=__doc__.partition("\n")[0])
    parser.add_argument("text", nargs="?", type=Path, metavar="TEXT")
    parser.add_argument("--megabytes", type=int, default=100, help="characters of all documents, in millions")
    parser.add_argument("--rounds", type=int, default=7, help="how often each is measured; medians are shown")
    parser.add_argument("--ascii", action="store_true", help="leave out all characters that are not ASCII")
    options = parser.parse_args()
    path = existing_text(options.text)
    text = path.read_text(encoding="utf-8")
    if options.ascii:
        text = text.encode("ascii", "ignore").decode()
    documents = documents_of(text, options.megabytes * 1_000_000)
    study = bpe.open(TABLE) if TABLE.is_file() else bpe.train(text, "gpt2", vocab_size=32_000)
    print(f"{path.name}: {len(documents):,} documents, {study.vocab_size:,} tokens, {available_threads()} cores")
    with TemporaryDirectory() as place:
        folder = Path(place)
        chosen = dict(works(study, documents, folder))
        check(study, documents, folder)
        watches: dict[str, list[Stopwatch]] = {name: [] for name in chosen}
        for turn in range(options.rounds + 1):  # the first turn is a warm-up
            for name, work in chosen.items():
                shutil.rmtree(folder / "shards", ignore_errors=True)
                with Stopwatch() as watch:
                    work()
                if turn:
                    watches[name].append(watch)
    print(f"  {'median seconds and ratios':32}{'wall':>8}{'CPU':>8}{'ratio of wall':>15}{'of CPU':>9}")
    for name, own in watches.items():
        wall, cpu = (statistics.median(getattr(watch, clock) for watch in own) for clock in ("wall", "cpu"))
        ratios = [
            statistics.median(
                getattr(alone, clock) / getattr(watch, clock) for alone, watch in zip(watches[ALONE], own, strict=True)
            )
            for clock in ("wall", "cpu")
        ]
        print(f"  {name:32}{wall:8.3f}{cpu:8.3f}{ratios[0]:15.2f}{ratios[1]:9.2f}")


if __name__ == "__main__":
    main()
