"""Helpers that write documents to files of every kind that can hold several documents."""

from __future__ import annotations

import csv
import io
import json
import tarfile
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as arrow
from pyarrow import feather, parquet


def write_every_kind(folder: Path, texts: Sequence[str]) -> dict[str, str | None]:
    """Write the texts as files and folders of every kind.

    Return a dictionary from each path to the field of the texts. The field is None if it need not be given.
    """
    table = arrow.table({"id": range(len(texts)), "text": arrow.array(texts, arrow.string())})
    parquet.write_table(table, folder / "a.parquet", compression="zstd", row_group_size=3, data_page_size=64)
    feather.write_feather(table, str(folder / "a.feather"), chunksize=2)
    nested = arrow.table(
        {
            "doc": [{"id": 1, "body": text} for text in texts],
            "turns": [[{"role": 0, "said": [text]}, None, {"role": 1, "said": []}] for text in texts],
            "again": arrow.array(texts, arrow.string()).dictionary_encode(),
            "bytes": [text.encode() for text in texts],
        }
    )
    parquet.write_table(nested, folder / "nested.parquet")
    write_stream(nested, folder / "nested.arrow")
    write_data_set(table, folder / "data_set")
    rows = [{"doc": {"id": i, "body": text}, "text": text, "turns": [{"said": [text]}]} for i, text in enumerate(texts)]
    (folder / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    for name, delimiter in (("a.csv", ","), ("a.tsv", "\t")):
        with open(folder / name, "w", newline="", encoding="utf-8") as file:
            csv.writer(file, delimiter=delimiter).writerows([("id", "text"), *enumerate(texts)])
    files = {f"in/{i:03}.txt": text.encode() for i, text in enumerate(texts) if text}
    write_tar(folder / "a.tar", files)
    write_tar(folder / "a.tgz", files)
    with zipfile.ZipFile(folder / "a.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    wholes = ("a.parquet", "a.feather", "data_set", "a.jsonl", "a.csv", "a.tsv", "a.tar", "a.tgz", "a.zip")
    ways = dict.fromkeys(("doc.body", "turns[].said[]", "again", "bytes"))
    return {
        **dict.fromkeys(wholes),
        **{f"nested.{ending}#{way}": way for ending in ("parquet", "arrow") for way in ways},
        "a.jsonl#doc.body": "doc.body",
        "a.jsonl#turns[].said[]": "turns[].said[]",
    }


def write_stream(table: Any, path: Path, rows: int | None = None) -> None:
    with arrow.OSFile(str(path), "wb") as file, arrow.ipc.new_stream(file, table.schema) as writer:
        writer.write_table(table, max_chunksize=rows)


def write_data_set(table: Any, folder: Path) -> None:
    """Write a data set as `save_to_disk` does, with a cache file of a change that was never saved."""
    split = folder / "train"
    split.mkdir(parents=True)
    half = len(table) // 2
    for part, rows in enumerate((table.slice(0, half), table.slice(half))):
        write_stream(rows, split / f"data-0000{part}-of-00002.arrow", rows=2)
    write_stream(table, split / "cache-0123.arrow")
    (split / "state.json").write_text('{"_data_files": []}')
    (split / "dataset_info.json").write_text("{}")
    (folder / "dataset_dict.json").write_text('{"splits": ["train"]}')
    (folder / "README.md").write_text("about the data")


def write_tar(path: Path, files: dict[str, bytes], *others: tarfile.TarInfo) -> None:
    with tarfile.open(path, "w:gz" if path.suffix == ".tgz" else "w") as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
        for other in others:
            archive.addfile(other)
