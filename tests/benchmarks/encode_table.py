"""The table of encoding times. Every library opens the same tokenizer and encodes the same texts.

Each library runs in a separate process.

`python -m tests.benchmarks English.txt code.c --only encode` prints the table. `--tokens`, `--pattern` and
`--batch` choose the sizes and the patterns of the trained tables, and the size of the batch. A process opens
the tokenizer and encodes a few words. Next it opens the tokenizer again and encodes a few words as a batch, so
that work which a library does once in each process is not measured. Then the first tokenizer encodes a text in
documents of 10,000 characters twice. The first time is "cold", the second is "warm". At the end the process
encodes the lines of the text in three ways: with one call for each line, as one batch, and joined into one
text. It also decodes the ids of the documents. Each process uses one thread. If work is repeated, the shortest
time is printed. Documents, batches and the joined text are new strings each time, because Python caches the
UTF-8 bytes of a string after a library has asked for them. The ids of all libraries are compared.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np

from bpe_core.text.patterns import NAMED_PATTERNS
from tests.benchmarks.peers import OURS, PEERS, BpeExplorer
from tests.benchmarks.stopwatch import Stopwatch
from tests.benchmarks.vocabulary import Vocabulary
from tests.shared import ROOT

Item = TypeVar("Item")

DOCUMENT = 10_000  # characters
SHORTEST_LINE, LONGEST_LINE = 50, 130  # characters
LINES = 5_000
ROUNDS = 5


class Encoder(NamedTuple):
    """The functions of a library that encode a text, encode a batch of texts, and decode ids."""

    one: Callable[[str], Any]
    batch: Callable[[list[str]], Iterable[Any]]
    decode: Callable[[Any], Any]
    takes_arrays: bool = True  # whether `decode` takes an array of NumPy, and not only a list


@dataclass(frozen=True)
class Table:
    """The files of one tokenizer, and the pattern by which it splits texts into words."""

    tiktoken: str
    tokenizer_json: str
    pattern: str
    is_ranks: bool  # whether the table came as a `.tiktoken` file, so that every library that reads it opens it
    is_model: bool = False  # whether `tokenizer_json` is a `.model` file of SentencePiece
    keeps_all: bool = True  # whether decoding gives the text back


@dataclass(frozen=True)
class Seconds:
    cpu: float
    wall: float


@dataclass(frozen=True)
class Encoded:
    """The measurements of one library with one text."""

    opening: Seconds  # with the encoding of a few words
    cold: Seconds
    warm: Seconds
    lines: Seconds  # one call for each line
    batch: Seconds  # the same lines as one batch
    text: Seconds  # the same lines as one text
    decoding: Seconds  # of the ids of all documents
    id_count: int
    line_count: int
    line_bytes: int
    bytes: int
    peak: int
    fingerprint: str


# --- In the process of one library ---------------------------------------------------------


def open_ours(table: Table) -> Encoder:
    import bpe_core

    study = bpe_core.open(table.tiktoken if table.is_ranks else table.tokenizer_json)

    def batch(texts: list[str]) -> list[Any]:
        ids, offsets = study.encode_batch(texts, threads=1)
        return [ids, offsets]

    return Encoder(study.encode, batch, study.decode)


def open_gigatoken(table: Table) -> Encoder:
    library = importlib.import_module("gigatoken")
    if table.is_model:
        tokenizer = library.Tokenizer.from_sentencepiece(table.tokenizer_json)
    elif table.is_ranks or table.pattern == "cl100k":  # it cannot read this pattern from a `tokenizer.json`
        tokenizer = library.Tokenizer.from_tiktoken(table.tiktoken, pretokenizer=table.pattern)
    else:
        tokenizer = library.Tokenizer.from_json(Path(table.tokenizer_json).read_text(encoding="utf-8"))
    return Encoder(tokenizer.encode, lambda texts: tokenizer.encode_batch(texts, parallel=False), tokenizer.decode)


def open_tiktoken(table: Table) -> Encoder:
    from tiktoken import Encoding
    from tiktoken.load import load_tiktoken_bpe

    ranks = load_tiktoken_bpe(table.tiktoken)
    named = NAMED_PATTERNS.get(table.pattern)
    expression = named.expression if named else table.pattern
    encoding = Encoding("benchmark", pat_str=expression, mergeable_ranks=ranks, special_tokens={})
    return Encoder(
        encoding.encode_ordinary,
        lambda texts: encoding.encode_ordinary_batch(texts, num_threads=1),
        encoding.decode,
        takes_arrays=False,
    )


def open_tokenizers(table: Table) -> Encoder:
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(table.tokenizer_json)
    return Encoder(
        lambda text: tokenizer.encode(text).ids,
        lambda texts: [found.ids for found in tokenizer.encode_batch_fast(texts)],
        tokenizer.decode,
        takes_arrays=False,
    )


def open_sentencepiece(table: Table) -> Encoder:
    from sentencepiece import SentencePieceProcessor

    processor = SentencePieceProcessor(model_file=table.tokenizer_json)
    return Encoder(
        processor.encode, lambda texts: processor.encode(texts, num_threads=1), processor.decode, takes_arrays=False
    )


OPENERS: dict[str, Callable[[Table], Encoder]] = {
    OURS: open_ours,
    "gigatoken": open_gigatoken,
    "tiktoken": open_tiktoken,
    "tokenizers": open_tokenizers,
    "sentencepiece": open_sentencepiece,
}


def perform(name: str, table: Table, path: Path, size: int) -> Encoded:
    """Measure how fast a library encodes. The text is repeated until it has at least `size` bytes."""
    text = path.read_text(encoding="utf-8")
    text *= max(1, -(-size // max(1, path.stat().st_size)))
    documents = documents_of(text)
    lines = lines_of(text)
    PEERS[name]().warm_up()
    with Stopwatch() as opening:
        encoder = OPENERS[name](table)
        encoder.one("low lower lowest")  # a library may leave work for later
    OPENERS[name](table).batch(["low lower lowest"])  # work that a library does once in each process is not cold
    with Stopwatch() as cold:
        ids = encoder.batch(documents)
    peak = cold.peak
    warm = least_with_new(lambda: documents_of(text), encoder.batch)
    if name == OURS:
        ids, _ = ids
        of_documents = np.asarray(ids)
    else:
        of_documents = np.concatenate([np.asarray(some, np.int64) for some in ids])
    of_lines = np.concatenate([np.asarray(encoder.one(line), np.int64) for line in lines])
    one_by_one = least(lambda: [encoder.one(line) for line in lines])
    encoder.batch(lines)
    file_ids = of_documents.astype(np.uint32) if encoder.takes_arrays else of_documents.tolist()
    decoded = encoder.decode(file_ids)
    if table.keeps_all and (decoded if isinstance(decoded, bytes) else decoded.encode()) != text.encode():
        raise RuntimeError("the decoded ids are not the text")
    return Encoded(
        opening=Seconds(opening.cpu, opening.wall),
        cold=Seconds(cold.cpu, cold.wall),
        warm=warm,
        lines=one_by_one,
        batch=least_with_new(lambda: [line.encode().decode() for line in lines], encoder.batch),
        text=least_with_new(lambda: ["\n".join(lines)], encoder.batch),
        decoding=least(lambda: encoder.decode(file_ids)),
        id_count=len(of_documents),
        line_count=len(lines),
        line_bytes=sum(len(line.encode()) for line in lines),
        bytes=len(text.encode()),
        peak=peak,
        fingerprint=fingerprint(of_documents, of_lines),
    )


def documents_of(text: str) -> list[str]:
    return [text[start : start + DOCUMENT] for start in range(0, len(text), DOCUMENT)]


def lines_of(text: str) -> list[str]:
    """Return up to LINES different lines of a text, each only once.

    Lines with fewer than SHORTEST_LINE characters are left out. Long lines are cut to LONGEST_LINE characters.
    """
    cut = (line[:LONGEST_LINE] for line in text.split("\n") if len(line) >= SHORTEST_LINE)
    return list(dict.fromkeys(cut))[:LINES]


def least(work: Callable[[], object]) -> Seconds:
    return least_with_new(lambda: None, lambda _: work())


def least_with_new(make: Callable[[], Item], work: Callable[[Item], object]) -> Seconds:
    """Return the shortest time of the work in several rounds.

    The argument of `work` is created again for each round. The time to create it is not measured.
    """
    watches = []
    for _ in range(ROUNDS):
        item = make()
        with Stopwatch() as watch:
            work(item)
        watches.append(watch)
    return Seconds(min(watch.cpu for watch in watches), min(watch.wall for watch in watches))


def fingerprint(*arrays: Any) -> str:
    return hashlib.sha256(b"|".join(array.astype(np.int64).tobytes() for array in arrays)).hexdigest()[:16]


# --- In the process that prints --------------------------------------------------------------


def make_table(source: Path | str, pattern: str, size: int, gpt2_file: Path, folder: Path) -> Table:
    """Write the files of a tokenizer.

    Its merges come from a `.tiktoken` file, from GPT-2, or from training on a text.
    """
    ranks = folder / "table.tiktoken"
    whole = folder / "tokenizer.json"
    is_ranks = str(source).endswith(".tiktoken")
    if str(source) == "gpt2":
        vocabulary = Vocabulary.from_gpt2_file(gpt2_file)
        ranks.write_text(vocabulary.as_tiktoken(), encoding="utf-8")
        whole.write_text(vocabulary.as_hugging_face(), encoding="utf-8")
        return Table(str(ranks), str(whole), "gpt2", False)
    bpe = _ours()
    if is_ranks:
        shutil.copy(source, ranks)
        study = bpe.open(ranks)
        pattern = study.history.recipe.pattern
    else:
        named = {"pattern": pattern} if pattern in NAMED_PATTERNS else {"pattern": "custom", "custom_pattern": pattern}
        recipe = bpe.Recipe.preset("gpt2", vocab_size=size, ties="lowest-ids", **named)
        study = bpe.train(bpe.Corpus.from_files([Path(source).resolve()]), recipe)
        study.save(ranks)
    study.save(whole)
    print(f"  encoding with {study.vocab_size:,} tokens of {Path(source).name}, pattern {pattern}")
    return Table(str(ranks), str(whole), pattern, is_ranks)


def _ours() -> Any:
    ours = BpeExplorer()
    ours.warm_up()
    return ours.bpe


def measure_all(paths: Sequence[Path], table: Table, names: Iterable[str], seconds: float, size: int = 0) -> bool:
    """Print a row for each text and library. Return whether all ids are equal.

    Each text is repeated until it has at least `size` bytes.
    """
    present = {OURS, *names}
    chosen = [name for name in OPENERS if name in present and (name != "sentencepiece" or table.is_model)]
    titles = ("cold MB/s", "warm MB/s", "us a line", "batch MB/s", "text MB/s", "opening ms", "decode ns/id")
    print("\nencode on one thread: by CPU time, and by wall time after the stroke; ratios of CPU time, ours first")
    print(f"  {'':12}" + "".join(f"{title:>17}" for title in titles) + f"{'peak MB':>9}  ids")
    sound = True
    for path in paths:
        print(f"  {path.name}")
        ours: Encoded | None = None
        for name in chosen:
            measured = measure(name, table, path, seconds, size)
            if isinstance(measured, str):
                print(f"  {name:12} {measured}")
                sound &= name != OURS
                continue
            ours = measured if name == OURS else ours
            is_equal = ours is None or measured.fingerprint == ours.fingerprint
            sound &= is_equal
            print(row(name, measured) + ("  equal" if is_equal else "  DIFFER"), flush=True)
            if ours is not None and measured is not ours:
                print(ratios(ours, measured), flush=True)
    return sound


def measure(name: str, table: Table, path: Path, seconds: float, size: int = 0) -> Encoded | str:
    """Measure one library in a new process. If it fails, return the last line of its error.

    If it takes more than `seconds`, return a sentence that says so.
    """
    task = {"name": name, "table": asdict(table), "path": str(path), "size": size}
    one_thread = {"RAYON_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}
    command = [sys.executable, "-m", "tests.benchmarks.encode_table", json.dumps(task)]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, cwd=ROOT, timeout=seconds, env={**os.environ, **one_thread}
        )
    except subprocess.TimeoutExpired:
        return f"took more than {seconds:,.0f} s"
    if done.returncode:
        return (done.stderr.strip().splitlines() or [f"ended with the code {done.returncode}"])[-1][:200]
    return read(json.loads(done.stdout.splitlines()[-1]))


def read(written: dict[str, Any]) -> Encoded:
    fields: dict[str, Any] = {
        key: Seconds(**value) if isinstance(value, dict) else value for key, value in written.items()
    }
    return Encoded(**fields)


def speeds(measured: Encoded, clock: str) -> list[float]:
    """Return the speeds and times for a row of the table of results.

    `clock` is "cpu" or "wall".
    """

    def taken(what: Seconds) -> float:
        return max(float(getattr(what, clock)), 1e-9)

    return [
        measured.bytes / 1e6 / taken(measured.cold),
        measured.bytes / 1e6 / taken(measured.warm),
        taken(measured.lines) * 1e6 / max(1, measured.line_count),
        measured.line_bytes / 1e6 / taken(measured.batch),
        measured.line_bytes / 1e6 / taken(measured.text),
        taken(measured.opening) * 1e3,
        taken(measured.decoding) * 1e9 / max(1, measured.id_count),
    ]


def row(name: str, measured: Encoded) -> str:
    both = zip(speeds(measured, "cpu"), speeds(measured, "wall"), strict=True)
    cells = (f"{cpu:,.1f} / {wall:,.1f}" for cpu, wall in both)
    return f"  {name:12}" + "".join(f"{cell:>17}" for cell in cells) + f"{measured.peak / 1e6:>9,.0f}"


def ratios(ours: Encoded, theirs: Encoded) -> str:
    """Divide our number by the other library's number in each column, and return the row of ratios.

    A ratio of speeds above 1 is better for us, and a ratio of times below 1 is better for us.
    """
    both = zip(speeds(ours, "cpu"), speeds(theirs, "cpu"), strict=True)
    return f"  {'  ours / its':12}" + "".join(f"{mine / its:>17.2f}" for mine, its in both)


def main() -> None:
    task = json.loads(sys.argv[1])
    answer = os.dup(1)
    with tempfile.TemporaryFile() as chatter:  # some libraries print their progress
        os.dup2(chatter.fileno(), 1)
        measured = perform(task["name"], Table(**task["table"]), Path(task["path"]), task["size"])
        sys.stdout.flush()
    os.write(answer, json.dumps(asdict(measured)).encode())


if __name__ == "__main__":
    main()
