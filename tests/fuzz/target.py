"""Small sound inputs, made here and changed at random, given to the program: only a BpeError is a good end.

    python -m tests.fuzz.target KIND[,KIND...] SECONDS SEED      these seconds for each kind
    python -m tests.fuzz.target again KIND SEED NUMBER [KIND SEED NUMBER ...]

Each input follows from its kind, seed and number alone: they are all that must be kept of one that failed.
"""

from __future__ import annotations

import contextlib
import io
import itertools
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path

from bpe_core.command_line.commands import COMMANDS
from bpe_core.command_line.main import run
from bpe_core.counting.count_words import count_words
from bpe_core.errors import LONGEST_SENTENCE, BpeError
from bpe_core.formats import FORMATS, open_table
from bpe_core.gage_file import compress, expand_file
from bpe_core.recipes.recipe import Recipe
from bpe_core.segmenting.tokenizer import Tokenizer
from bpe_core.session_file.reading import read_session
from bpe_core.session_file.recovering import recover_session
from bpe_core.session_file.writing import write_session
from bpe_core.text.corpus import Corpus
from bpe_core.text.patterns import NAMED_PATTERNS, compile_custom
from tests.core.formats.samples import file_name, files, histories_for
from tests.core.learning import train
from tests.core.session_file.sessions import session
from tests.core.tables_on_disk import write_every_kind

TEXT = "the lowest price is lower than the last one, naïve 日本, isn't it? 12 123\n" * 3
PUT = (b"", b"\0", b"\xff", b"9" * 25, b"-1", b'"', b"{}", b"[" * 50, b"\n", b"<h1>", b"\x1b[31m", b"\x80" * 11, b"{9}")
JARGON = ("sqlite", "malformed", "no such table", "delimiter", "errno", "traceback", "invalid distance", "datatype")
PARTS = (
    "a",
    "(",
    ")",
    "(?:",
    "[a-c]",
    "{9}",
    "{2,}",
    "+",
    "*",
    "?",
    "|",
    r"\p{L}",
    r"\R",
    "(?i)",
    "(?x)",
    "(?V1)",
    "^",
)


def changed(data: bytes, chance: random.Random) -> bytes:
    for _ in range(chance.randint(1, 4)):
        place, cut = chance.randint(0, len(data)), chance.choice((0, 1, 2, 8, 200))
        data = data[:place] + chance.choice((*PUT, chance.randbytes(3))) + data[place + cut :]
    return data


@cache
def _tables(format: str) -> list[dict[str, bytes]]:
    """One of each method that the format can hold."""
    return [
        files(history, format, file_name(FORMATS[format]))
        for history in histories_for(FORMATS[format], TEXT, merges=15)
    ]


@cache
def _session() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "made.bpex")
        write_session(session(), path)
        return path.read_bytes()


def tables(chance: random.Random, folder: Path) -> None:
    found = chance.choice(_tables(chance.choice([name for name in FORMATS if name != "subword-nmt"])))
    for place, (name, data) in enumerate(found.items()):
        (folder / name).write_bytes(changed(data, chance) if place == 0 else data)
    opened = open_table(folder / next(iter(found)))
    opened.numbers_of(Tokenizer(opened.history).encode("the lowest 3\n"))


def sessions(chance: random.Random, folder: Path) -> None:
    path = folder / "changed.bpex"
    path.write_bytes(changed(_session(), chance))
    try:
        read_session(path)
    except BpeError as error:
        check_sentence(str(error))
        for lost in recover_session(path).lost:
            check_sentence(lost)


def gage_files(chance: random.Random, folder: Path) -> None:
    original = TEXT.encode() * chance.choice((0, 1, 9))
    written = compress(original, Recipe.preset("gage", block_size=chance.choice((60, 5_000)))).data
    path = folder / "changed.gage"
    path.write_bytes(changed(written, chance))
    expand_file(path, folder / "expanded")
    assert (folder / "expanded").read_bytes() == original  # nothing else has this checksum


def corpora(chance: random.Random, folder: Path) -> None:
    path = folder / chance.choice(("a.txt", "a.jsonl", "a.csv", "a.txt.gz", "a.tsv"))
    path.write_bytes(changed(chance.choice((TEXT, '{"text": "low"}\n' * 9, "text,b\nlow,2\n" * 9)).encode(), chance))
    train(Corpus.from_files([path]), Recipe.preset("gpt2", merges=5))


@cache
def _held_texts() -> list[tuple[str, bytes, str | None]]:
    """Files of every kind that holds many texts: their names, what is in them, and where the texts are."""
    with tempfile.TemporaryDirectory() as folder:
        ways = write_every_kind(Path(folder), [*TEXT.splitlines()[:1], "", "日本" * 9])
        paths = {Path(folder, name.split("#")[0]): way for name, way in ways.items()}
        return [(path.name, path.read_bytes(), way) for path, way in paths.items() if path.is_file()]


def corpora_of_many_texts(chance: random.Random, folder: Path) -> None:
    name, whole, way = chance.choice(_held_texts())
    (folder / name).write_bytes(changed(whole, chance))
    is_list = chance.random() < 0.2
    corpus = Corpus.from_files([folder / name], field=None if is_list else way, word_list=is_list)
    count_words(corpus, Recipe.preset("gpt2"))


def recipes(chance: random.Random, folder: Path) -> None:
    whole = Recipe.preset(chance.choice(("gpt2", "words", "sentencepiece-like"))).to_json().encode()
    recipe = Recipe.from_json(changed(whole, chance).decode("utf-8", "replace")).with_changes(merges=5, vocab_size=None)
    train(Corpus.from_texts([TEXT]), recipe)


def patterns(chance: random.Random, folder: Path) -> None:
    parts = (*PARTS, chance.choice([pattern.expression for pattern in NAMED_PATTERNS.values()]))
    compile_custom("".join(chance.choices(parts, k=chance.randint(1, 30))))


def command_lines(chance: random.Random, folder: Path) -> None:
    table, text = folder / "table.csv", folder / "text.txt"
    if not table.exists():
        table.write_bytes(_tables("csv")[0][file_name(FORMATS["csv"])])
        text.write_text(TEXT)
    words = (
        str(table),
        str(text),
        "--merges",
        "--corpus",
        "--at",
        "--json",
        "--step",
        "9" * 25,
        "-1",
        "3",
        "low",
        "#260",
    )
    given = chance.choices(words, k=chance.randint(0, 8))
    told = io.StringIO()
    with contextlib.redirect_stdout(io.TextIOWrapper(io.BytesIO())), contextlib.redirect_stderr(told):
        command = chance.choice(sorted(COMMANDS))
        assert run([command, *given, "--merges", str(table)]) in (0, 1, 2)
    for line in told.getvalue().splitlines():
        check_sentence(line.removeprefix("bpe-explorer").removeprefix(f" {command}").removeprefix(": error: "))


KINDS: dict[str, Callable[[random.Random, Path], None]] = {
    one.__name__: one
    for one in (tables, sessions, gage_files, corpora, corpora_of_many_texts, recipes, patterns, command_lines)
}


def check_sentence(sentence: str) -> None:
    """It is short, and says nothing that only those understand who made a library."""
    assert len(sentence) <= LONGEST_SENTENCE, sentence
    assert not [word for word in JARGON if word in sentence.lower()], sentence


def attempt(kind: str, seed: int, number: int) -> None:
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        try:
            KINDS[kind](random.Random(f"{kind} {seed} {number}"), Path(folder))
        except BpeError as error:
            check_sentence(str(error))


def attempts(inputs: Iterable[tuple[str, int, int]]) -> None:
    """One after the other; on standard error which one failed."""
    for kind, seed, number in inputs:
        try:
            attempt(kind, seed, number)
        except BaseException:
            sys.stderr.write(f"failed: {kind} {seed} {number}\n")
            raise


def for_a_while(kind: str, seconds: float, seed: int) -> Iterator[tuple[str, int, int]]:
    end = time.monotonic() + seconds
    for number in itertools.count():
        if number and time.monotonic() > end:
            sys.stdout.write(f"{number:,} inputs of the kind {kind}\n")
            return
        yield kind, seed, number


def main(*words: str) -> None:
    if words[0] == "again":
        attempts(zip(words[1::3], map(int, words[2::3]), map(int, words[3::3]), strict=True))
    else:
        kinds, seconds, seed = words
        for kind in kinds.split(","):
            attempts(for_a_while(kind, float(seconds), int(seed)))


if __name__ == "__main__":
    main(*sys.argv[1:])
