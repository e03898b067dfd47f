"""The process that opens randomly damaged inputs with the program.

The program must accept each input or raise a BpeError. Any other error is a failure.

    python -m tests.fuzz.target KIND[,KIND...] SECONDS SEED      tries inputs of each kind for SECONDS
    python -m tests.fuzz.target again KIND SEED NUMBER [KIND SEED NUMBER ...]      tries failed inputs again

The kind, the seed and the number of an input decide its content. So these three values are enough to repeat an input.
"""

from __future__ import annotations

import contextlib
import csv
import io
import itertools
import json
import random
import sys
import tempfile
import time
import tomllib
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as arrow
from pyarrow import ipc, parquet
from sentencepiece import SentencePieceTrainer

from bpe_core.command_line.commands import COMMANDS
from bpe_core.command_line.main import run
from bpe_core.counting.count_words import count_words
from bpe_core.errors import LONGEST_SENTENCE, BpeError
from bpe_core.formats import FORMATS, open_table
from bpe_core.formats.sentencepiece_fields import FIXED32, Field, bytes_field, fields_of, varint, varint_field
from bpe_core.methods.gage.container import compress, expand_file
from bpe_core.methods.kit.tokenizer import Tokenizer
from bpe_core.recipes.recipe import Recipe
from bpe_core.session_file.reading import read_session
from bpe_core.session_file.writing import write_session
from bpe_core.text.corpus import Corpus
from bpe_core.text.patterns import NAMED_PATTERNS, compile_custom
from tests.benchmarks.stopwatch import forget_peak, peak_memory
from tests.core.formats.samples import file_name, files, histories_for
from tests.core.learning import train
from tests.core.session_file.sessions import session
from tests.core.tables_on_disk import write_every_kind, write_stream
from tests.fuzz.damage import as_json, as_toml, damage_session, damage_table, damage_value, with_large_numbers

TEXT = "the lowest price is lower than the last one, naïve 日本, isn't it? 12 123\n" * 3
# Bytes for one input, beyond what is held by then: tokenizers keeps a megabyte or more whenever it is asked.
MOST_MEMORY = 2**30
MOST_TIME = 20.0  # seconds of the processor, for one input
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


def change_bytes(data: bytes, chance: random.Random) -> bytes:
    for _ in range(chance.randint(1, 4)):
        place, cut = chance.randint(0, len(data)), chance.choice((0, 1, 2, 8, 200))
        data = data[:place] + chance.choice((*PUT, chance.randbytes(3))) + data[place + cut :]
    return data


@cache
def _tables(format: str) -> list[dict[str, bytes]]:
    """Return tokenizer files of a format. There is one table for each method that the format can store."""
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
    table_files = chance.choice(_tables(chance.choice([name for name in FORMATS.written if name != "subword-nmt"])))
    for place, (name, data) in enumerate(table_files.items()):
        (folder / name).write_bytes(change_bytes(data, chance) if place == 0 else data)
    opened = open_table(folder / next(iter(table_files)))
    opened.numbers_of(Tokenizer(opened.history).encode("the lowest 3\n"))


def sessions(chance: random.Random, folder: Path) -> None:
    path = folder / "changed.bpex"
    path.write_bytes(change_bytes(_session(), chance))
    try:
        read_session(path)
    except BpeError as error:
        check_sentence(str(error))


def gage_files(chance: random.Random, folder: Path) -> None:
    original = TEXT.encode() * chance.choice((0, 1, 9))
    written = compress(original, Recipe.preset("gage", block_size=chance.choice((60, 5_000)))).data
    path = folder / "changed.gage"
    path.write_bytes(change_bytes(written, chance))
    expand_file(path, folder / "expanded")
    assert (folder / "expanded").read_bytes() == original  # nothing else has this checksum


def corpora(chance: random.Random, folder: Path) -> None:
    path = folder / chance.choice(("a.txt", "a.jsonl", "a.csv", "a.txt.gz", "a.tsv"))
    path.write_bytes(
        change_bytes(chance.choice((TEXT, '{"text": "low"}\n' * 9, "text,b\nlow,2\n" * 9)).encode(), chance)
    )
    train(Corpus.from_files([path]), Recipe.preset("gpt2", merges=5))


@cache
def _files_of_many_texts() -> list[tuple[str, bytes, str | None]]:
    """Return an example of each kind of file that contains many texts.

    Each example has the name of the file, its content, and the name of the field with the texts.
    """
    with tempfile.TemporaryDirectory() as folder:
        ways = write_every_kind(Path(folder), [*TEXT.splitlines()[:1], "", "日本" * 9])
        paths = {Path(folder, name.split("#")[0]): way for name, way in ways.items()}
        return [(path.name, path.read_bytes(), way) for path, way in paths.items() if path.is_file()]


def corpora_of_many_texts(chance: random.Random, folder: Path) -> None:
    name, whole, way = chance.choice(_files_of_many_texts())
    (folder / name).write_bytes(change_bytes(whole, chance))
    is_list = chance.random() < 0.2
    corpus = Corpus.from_files([folder / name], field=None if is_list else way, word_list=is_list)
    count_words(corpus, Recipe.preset("gpt2"))


def recipes(chance: random.Random, folder: Path) -> None:
    whole = Recipe.preset(chance.choice(("gpt2", "words", "sentencepiece-like"))).to_json().encode()
    recipe = Recipe.from_json(change_bytes(whole, chance).decode("utf-8", "replace")).with_changes(
        merges=5, vocab_size=None
    )
    train(Corpus.from_texts([TEXT]), recipe)


def patterns(chance: random.Random, folder: Path) -> None:
    parts = (*PARTS, chance.choice([pattern.expression for pattern in NAMED_PATTERNS.values()]))
    compile_custom("".join(chance.choices(parts, k=chance.randint(1, 30))))


def command_lines(chance: random.Random, folder: Path) -> None:
    words = ("table.csv", "text.txt", "--merges", "--corpus", "--at", "--json", "--step", "9" * 25, "-1", "3", "low")
    _write_examples("table.csv", "text.txt")
    given = chance.choices((*words, "#260"), k=chance.randint(0, 8))
    run_command(chance.choice(sorted(COMMANDS)), *given, "--merges", "table.csv")


# -- Sound as files, but with values that cannot be; each is given to a command -----------------------


def run_command(command: str, *words: str) -> None:
    """Run a command, and check that it succeeds or ends with one sentence on standard error."""
    errors = io.StringIO()
    with contextlib.redirect_stdout(io.TextIOWrapper(io.BytesIO())), contextlib.redirect_stderr(errors):
        assert run([command, *words]) in (0, 1, 2, 3), errors.getvalue()
    for line in errors.getvalue().splitlines():
        check_sentence(
            line.removeprefix("bpe-explorer").removeprefix(f" {command}").removeprefix(": error").removeprefix(": ")
        )


PLAN: dict[str, Any] = {
    "sizes": [300, 270],
    "ties": ["first-seen"],
    "seeds": [1],
    "sample": "60%",
    "sample_of": "lines",
    "bits": True,
    "interval_over": "lines",
    "held_out": ["text.txt"],
    "morphemes": "parts.tsv",
    "corpora": {"a": ["text.txt"]},
    "recipes": {"bytes": {"preset": "gpt2"}, "words": {"preset": "words", "special_tokens": ["<|x|>"]}},
}
MAKING = (
    "train text.txt --vocab-size 300 --output table.csv --manifest how.json",
    "train text.txt --vocab-size 290 --output run.bpex",
    "train text.txt --preset unigram --vocab-size 37 --output pieces.csv",
    "export --merges table.csv tokenizer.json",
    "export --merges table.csv table.parquet",
    "export --merges table.csv table.json",
    "count text.txt -o counts.parquet",
    "pin table.csv -o pins.json",
    "floor text.txt --sizes 280 --certificate --json",
    "sweep plan.toml -o results.json",
    "sweep plan.toml -o results.csv",
    "sweep plan.toml -o results.parquet",
)


@cache
def _written_files() -> dict[str, bytes]:
    """Return a dictionary from file name to content, with a valid example of each kind of file that commands write."""
    with tempfile.TemporaryDirectory() as place, contextlib.chdir(place):
        Path("text.txt").write_text(TEXT, encoding="utf-8")
        Path("parts.tsv").write_text("lowest\tlow est\nlower\tlow er\n", encoding="utf-8")
        Path("plan.toml").write_bytes(as_toml(PLAN))
        for line in MAKING:
            printed = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
            with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(io.StringIO()) as errors:
                assert run(line.split()) == 0, errors.getvalue()
            if line.startswith("floor"):
                Path("floor.json").write_bytes(printed.buffer.getvalue())
        counts = arrow.table({"word": ["low", "lower", " price"], "count": [3, 2, 1]})
        parquet.write_table(counts, "words.parquet")
        write_stream(counts, Path("words.arrow"))
        Path("words.tsv").write_text("low\t3\nlower\t2\n", encoding="utf-8")
        return {path.name: path.read_bytes() for path in Path().iterdir() if path.is_file()}


def _write_examples(*names: str) -> None:
    """Write the valid examples called `names` to the folder in which a command will run."""
    for name in names:
        Path(name).write_bytes(_written_files()[name])


def _write_damaged(name: str, chance: random.Random) -> None:
    """Damage some values of the valid example called `name`, and write the result to the folder."""
    data, ending = _written_files()[name], Path(name).suffix
    if ending in (".parquet", ".arrow"):
        whole = parquet.read_table(io.BytesIO(data)) if ending == ".parquet" else ipc.open_stream(data).read_all()
        whole = damage_table(whole, chance) if chance.random() < 0.8 else whole
        metadata = {key: _damage_json(value, chance) for key, value in (whole.schema.metadata or {}).items()}
        if metadata and chance.random() < 0.5:
            whole = whole.replace_schema_metadata(metadata)
        write = parquet.write_table if ending == ".parquet" else write_stream
        write(whole, Path(name))
    elif ending == ".toml":
        Path(name).write_bytes(as_toml(damage_value(tomllib.loads(data.decode()), chance)))
    elif ending in (".csv", ".tsv"):
        rows = list(csv.reader(io.StringIO(data.decode()), delimiter="," if ending == ".csv" else "\t"))
        cells = damage_value(rows, chance)
        with open(name, "w", newline="", encoding="utf-8", errors="replace") as file:
            lines: list[list[Any]] = (
                [row if isinstance(row, list) else [row] for row in cells] if isinstance(cells, list) else []
            )
            rows = [["[" * 300 if isinstance(cell, (list, dict)) else str(cell) for cell in row] for row in lines]
            csv.writer(file, delimiter="," if ending == ".csv" else "\t").writerows(rows)
    elif ending == ".bpex":
        Path(name).write_bytes(data)
        damage_session(Path(name), chance)
    else:
        Path(name).write_bytes(_damage_json(data, chance))
    if chance.random() < 0.05:
        Path(name).write_bytes(change_bytes(Path(name).read_bytes(), chance))


def _damage_json(data: bytes, chance: random.Random) -> bytes:
    try:
        return as_json(damage_value(json.loads(data), chance), chance)
    except ValueError:
        return data


def foreign_tables(chance: random.Random, folder: Path) -> None:
    """Open a tokenizer with damaged values, and ask a question about it, trim it, audit it or convert it."""
    name = chance.choice(("tokenizer.json", "table.parquet", "table.csv", "table.json", "pieces.csv", "run.bpex"))
    _write_examples("text.txt")
    if name == "run.bpex" or chance.random() < 0.5:
        _write_damaged(name, chance)
    else:
        Path(name).write_bytes(change_bytes(_written_files()[name], chance))
    out = chance.choice(("x.json", "x.csv", "x.parquet", "x.tiktoken", "x.model", "x.bpex"))
    run_command(*chance.choice((
        ("export", "--merges", name, out),
        ("export", "--merges", name, "tokenizer.json"),
        ("trim", name, "--down-to", "280", "-o", out),
        ("trim", name, "--audit", "duplicates,unreachable", "-o", out),
        ("audit", name),
        ("why", "the lowest price", "--merges", name),
        ("encode", "--merges", name, "the lowest price"),
        ("verify", name),
        ("share", name, "-o", "x.html"),
        ("extend", name, "--corpus", "text.txt", "--by", "5", "-o", "new/"),
        ("merge", name, name, "-o", out),
    )))  # fmt: skip


def foreign_plans(chance: random.Random, folder: Path) -> None:
    _write_examples("text.txt", "parts.tsv", "plan.toml")
    if chance.random() < 0.8:
        _write_damaged("plan.toml", chance)
    else:
        Path("plan.toml").write_bytes(change_bytes(_written_files()["plan.toml"], chance))
        Path("parts.tsv").write_bytes(change_bytes(_written_files()["parts.tsv"], chance))
    run_command("sweep", "plan.toml", "-o", "out.csv")


def foreign_recipes(chance: random.Random, folder: Path) -> None:
    _write_examples("text.txt")
    whole = Recipe.preset(chance.choice(("gpt2", "words", "sentencepiece-like", "unigram", "bert"))).to_dict()
    whole |= {"vocab_size": 300} if chance.random() < 0.5 else {}
    name, damaged = chance.choice(("a.toml", "a.json")), damage_value(whole, chance)
    is_told = isinstance(damaged, dict)
    Path(name).write_bytes(as_toml(damaged) if name == "a.toml" and is_told else as_json(damaged, chance))
    run_command("train", "text.txt", "--recipe", name, "--vocab-size", "290", "--output", "x.csv")


def foreign_counts(chance: random.Random, folder: Path) -> None:
    name = chance.choice(("counts.parquet", "words.parquet", "words.arrow", "words.tsv", "table.parquet"))
    _write_damaged(name, chance)
    way = ("--word-list",) if chance.random() < 0.5 else ()
    run_command(
        *chance.choice(
            (("train", name, *way, "--merges", "5", "--output", "x.csv"), ("count", name, *way, "-o", "y.parquet"))
        )
    )


def foreign_manifests(chance: random.Random, folder: Path) -> None:
    _write_examples("text.txt", "table.csv")
    _write_damaged("how.json", chance)
    run_command(*chance.choice((("repeat", "how.json"), ("verify", "how.json"))))


def foreign_certificates(chance: random.Random, folder: Path) -> None:
    _write_damaged("floor.json", chance)
    run_command("verify", "floor.json")


def foreign_pins(chance: random.Random, folder: Path) -> None:
    _write_examples("table.csv")
    _write_damaged("pins.json", chance)
    run_command("check", "--pins", "pins.json")


@cache
def _models() -> list[bytes]:
    """Return SentencePiece models of several kinds, as SentencePiece's trainer writes them."""
    lines = [line + word for line in TEXT.splitlines() for word in TEXT.split()]
    made = []
    kinds: tuple[dict[str, Any], ...] = (
        {"model_type": "bpe", "user_defined_symbols": ["low", " é"]},
        {"model_type": "bpe", "byte_fallback": True, "vocab_size": 320},
        {"model_type": "unigram", "hard_vocab_limit": False},
        {"model_type": "char", "hard_vocab_limit": False},
        {"model_type": "word", "hard_vocab_limit": False},
    )
    for choices in kinds:
        data = io.BytesIO()
        chosen: dict[str, Any] = {"vocab_size": 60, "minloglevel": 2, "num_threads": 1, **choices}
        SentencePieceTrainer.train(sentence_iterator=iter(lines), model_writer=data, **chosen)
        made.append(data.getvalue())
    return made


def foreign_models(chance: random.Random, folder: Path) -> None:
    """Open a SentencePiece model whose fields are damaged.

    Some fields are missing, repeated, or of a different type. Others have unusual values.
    """
    fields = list(fields_of(memoryview(chance.choice(_models())), "made", most=10**6))
    for _ in range(chance.randint(1, 4)):
        place = chance.randrange(len(fields))
        field, what = fields[place], chance.randrange(5)
        if what == 0:
            del fields[place]
        elif what == 1:
            fields.insert(chance.randrange(len(fields)), field)
        elif what == 2:
            fields[place] = field._replace(number=chance.choice((1, 2, 3, 4, 5, 99)))
        elif isinstance(field.value, bytes):
            content = chance.choice((change_bytes(field.value, chance), _with_odd_fields(field.value, chance)))
            fields[place] = field._replace(value=content)
    Path("x.model").write_bytes(b"".join(map(_field, fields)))
    out = chance.choice(("y.model", "tokenizer.json", "y.csv", "y.tiktoken"))
    run_command(
        *chance.choice(
            (
                ("encode", "--merges", "x.model", TEXT),
                ("export", "--merges", "x.model", out),
                ("why", "the lowest price", "--merges", "x.model"),
                ("audit", "x.model"),
                ("trim", "x.model", "--audit", "duplicates", "-o", out),
            )
        )
    )


def _with_odd_fields(message: bytes, chance: random.Random) -> bytes:
    try:
        fields = list(fields_of(memoryview(message), "made"))
    except BpeError:
        return message
    for place, field in enumerate(fields):
        if chance.random() < 0.3:
            numbers = (0, 1, 2, 3, 6, 7, 2**31, 2**63, 2**64 - 1)
            texts = (b"", b"\0", b"\xff", b"a", "▁".encode() * 300, "日".encode() * 5_000, bytes(4), b"\0\0\x80\xff")
            replacement = chance.choice(numbers) if isinstance(field.value, int) else chance.choice(texts)
            fields[place] = field._replace(value=replacement)
    return b"".join(map(_field, fields))


def _field(field: Field) -> bytes:
    if isinstance(field.value, int):
        return varint_field(field.number, field.value)
    if len(field.value) == 4 and field.number == 2:
        return varint(field.number << 3 | FIXED32) + field.value
    return bytes_field(field.number, field.value)


def foreign_results(chance: random.Random, folder: Path) -> None:
    name = chance.choice(("results.json", "results.csv", "results.parquet"))
    _write_examples("plan.toml", "text.txt", "parts.tsv")
    if chance.random() < 0.8:
        _write_damaged(name, chance)
    else:
        Path(name).write_bytes(change_bytes(_written_files()[name], chance))
    run_command(*chance.choice((("sweep-results", name), ("sweep", "plan.toml", "-o", name))))


def foreign_sessions(chance: random.Random, folder: Path) -> None:
    _write_damaged("run.bpex", chance)
    try:
        read_session(folder / "run.bpex")
    except BpeError as error:
        check_sentence(str(error))


def files_with_false_sizes(chance: random.Random, folder: Path) -> None:
    """Open files with a false size: a number that promises far more content than the file has."""
    what = chance.randrange(5)
    if what == 0:
        name, whole, way = chance.choice(_files_of_many_texts())
        (folder / name).write_bytes(with_large_numbers(whole, chance))
        count_words(Corpus.from_files([folder / name], field=way), Recipe.preset("gpt2"))
    elif what == 1:
        table_files = chance.choice(_tables(chance.choice([name for name in FORMATS.written if name != "subword-nmt"])))
        for name, data in table_files.items():
            (folder / name).write_bytes(with_large_numbers(data, chance))
        opened = open_table(folder / next(iter(table_files)))
        opened.numbers_of(Tokenizer(opened.history).encode("the lowest 3\n"))
    elif what == 2:
        Path("x.model").write_bytes(with_large_numbers(chance.choice(_models()), chance))
        run_command("encode", "--merges", "x.model", TEXT)
    elif what == 3:
        name = chance.choice(("counts.parquet", "words.parquet", "words.arrow", "words.tsv", "results.parquet"))
        Path(name).write_bytes(with_large_numbers(_written_files()[name], chance))
        run_command(
            *(("sweep-results", name) if name[0] == "r" else ("train", name, "--merges", "5", "--output", "x.csv"))
        )
    else:
        Path("run.bpex").write_bytes(with_large_numbers(_written_files()["run.bpex"], chance))
        read_session(folder / "run.bpex")


KINDS: dict[str, Callable[[random.Random, Path], None]] = {
    kind.__name__: kind
    for kind in (
        *(tables, sessions, gage_files, corpora, corpora_of_many_texts, recipes, patterns, command_lines),
        *(foreign_tables, foreign_plans, foreign_recipes, foreign_counts, foreign_manifests, foreign_certificates),
        *(foreign_results, foreign_sessions, foreign_pins, foreign_models, files_with_false_sizes),
    )
}


def check_sentence(sentence: str) -> None:
    """Check that an error message is short and contains no internal words of a library."""
    assert len(sentence) <= LONGEST_SENTENCE, sentence
    assert not [word for word in JARGON if word in sentence.lower()], sentence


class Cost(NamedTuple):
    """The processor seconds and the bytes of memory that an input needs."""

    time: float
    memory: int


def attempt(kind: str, seed: int, number: int) -> Cost:
    forget_peak()
    began, held = time.process_time(), peak_memory()
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        try:
            KINDS[kind](random.Random(f"{kind} {seed} {number}"), Path(folder))
        except BpeError as error:
            check_sentence(str(error))
    cost = Cost(time.process_time() - began, peak_memory() - held)
    assert cost.memory < MOST_MEMORY, "it took more memory than so small a file can need"
    assert cost.time < MOST_TIME, f"it took {cost.time:.0f} seconds, which is more than so small a file can need"
    return cost


def attempts(inputs: Iterable[tuple[str, int, int]]) -> None:
    """Try inputs one after the other. If an input fails, print its kind, seed and number on standard error."""
    most, done = Cost(0.0, 0), 0
    for kind, seed, number in inputs:
        try:
            cost = attempt(kind, seed, number)
        except BaseException:
            sys.stderr.write(f"failed: {kind} {seed} {number}\n")
            raise
        most, done = Cost(max(most.time, cost.time), max(most.memory, cost.memory)), done + 1
    sys.stdout.write(f"{done:,} inputs, last {kind}; at most {most.time:.1f} s and {most.memory / 2**20:,.0f} MB\n")


def inputs_for_seconds(kind: str, seconds: float, seed: int) -> Iterator[tuple[str, int, int]]:
    end = time.monotonic() + seconds
    for number in itertools.count():
        if number and time.monotonic() > end:
            return
        yield kind, seed, number


def main(*words: str) -> None:
    if words[0] == "again":
        attempts(zip(words[1::3], map(int, words[2::3]), map(int, words[3::3]), strict=True))
    else:
        kinds, seconds, seed = words
        for kind in kinds.split(","):
            attempts(inputs_for_seconds(kind, float(seconds), int(seed)))


if __name__ == "__main__":
    main(*sys.argv[1:])
