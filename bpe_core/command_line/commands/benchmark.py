"""`bpe-explorer benchmark`: any number of tokenizers measured by any number of texts."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import Any

import bpe_core as bpe
from bpe_core.command_line.arguments import number
from bpe_core.command_line.corpora import add_reading, reading
from bpe_core.command_line.groups import add_groups, groups_of
from bpe_core.command_line.interruption import Interruption
from bpe_core.command_line.pictures import add_paper, check_output, write_output
from bpe_core.command_line.progress_bar import TerminalBar
from bpe_core.command_line.tables import open_table
from bpe_core.data_table import ENDINGS, DataTable
from bpe_core.errors import BpeError, OutputError, plain
from bpe_core.measures.benchmark import MEANINGS, Benchmark, Columns, benchmark
from bpe_core.measures.parity import MEANINGS as OF_PARITY
from bpe_core.measures.parity import Parity, parallel_texts, parity_of
from resources import parallel_samples

EXAMPLES = """\
examples:
  bpe-explorer benchmark ours.csv theirs.tokenizer.json --texts news/ book.txt --output figures.parquet
      Every file by every tokenizer, a row each: pandas.read_parquet("figures.parquet") is a table of them.

  bpe-explorer benchmark ours.csv --sizes 1000 2000 4000 --group de texts/de --group code src
      The same tokenizer at three sizes of its vocabulary, by groups of texts.

  bpe-explorer benchmark ours.csv theirs.tiktoken --parallel sentences/ --reference en
      What the same sentences cost in each language: a file a language (en.txt, de.txt), a line a sentence.

"""
SHOWN = (
    ("tokens", "tokens", "{:,}"),
    ("bytes_per_token", "bytes/token", "{:.3f}"),
    ("tokens_per_word", "tokens/word", "{:.3f}"),
    ("renyi_efficiency", "Rényi", "{:.3f}"),
    ("share_in_use", "in use", "{:.1%}"),
    ("unknown_share", "unknown", "{:.2%}"),
    ("unencoded_share", "not encoded", "{:.2%}"),
    ("relative_tokens", "relative", "{:.3f}"),
    ("seconds", "seconds", "{:.3f}"),
)


DRAWN = (*(name for name, _, _ in SHOWN), "premium")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    told = (f"  {name:<18} {meaning}" for name, meaning in {**MEANINGS, **OF_PARITY}.items())
    parser.epilog = EXAMPLES + "\n".join(("columns:", *told))
    parser.add_argument(
        "tables", nargs="+", metavar="TABLE", help="tokenizers, merge tables or sessions, in any format"
    )
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument("--texts", nargs="+", default=[], metavar="FILE", help="files and folders; each file is a text")
    add_groups(which)
    which.add_argument(
        "--parallel",
        nargs="?",
        const="",
        metavar="FOLDER",
        help="the same sentences, a file a language, a line a sentence; without a folder the program's own ten",
    )
    add_reading(parser)
    parser.add_argument("--reference", metavar="NAME", help="the language that others are compared with (the first)")
    parser.add_argument("--sizes", nargs="+", type=number, metavar="N", help="each at these sizes of its vocabulary")
    add_runs(parser)
    parser.add_argument("--relative-to", metavar="TABLE", help="whose tokens others are compared with (the first)")
    parser.add_argument("--json", action="store_true", help="print all columns as JSON")
    what = f"write all rows to a {', '.join(ENDINGS)}; or a picture of one measure, .svg, .pdf or .png"
    parser.add_argument("-o", "--output", type=Path, metavar="OUT", help=what)
    parser.add_argument("--measure", choices=DRAWN, default=DRAWN[0], metavar="COLUMN", help=", ".join(DRAWN))
    add_paper(parser)


def run(options: argparse.Namespace) -> int:
    if options.reference is not None and options.parallel is None:
        raise BpeError("--reference names a language of --parallel texts; --relative-to names one of the tables.")
    if options.output is not None:
        check_output(options)
    elif options.manifest is not None:
        raise OutputError(
            "What is printed tells how long encoding took, which nobody can repeat; write a table with -o beside it."
        )
    tokenizers = named_tokenizers(options)
    relative = _chosen(tokenizers, options.relative_to)
    texts: Mapping[str, list[str]] = _texts(options) if options.parallel is None else _parallel(options.parallel)
    bar = TerminalBar(sys.stderr)
    with Interruption("Stopping; nothing is written.") as interruption:
        try:
            found = benchmark(tokenizers, texts, relative_to=relative, progress=bar, cancelled=interruption)
        except bpe.Cancelled:
            return interruption.exit_code
        finally:
            bar.clear()
    parity = None if options.parallel is None else parity_of(found, options.reference)
    columns = found.columns if parity is None else {**found.columns, "premium": parity.columns["premium"]}
    if options.output is not None:
        if options.measure not in columns:
            raise BpeError(f"{options.measure} is told of parallel texts only: name them with --parallel.")
        write_output(options, "dots", DataTable(columns), measure=options.measure)
    if options.json:
        told: dict[str, Any] = {"rows": _objects(columns), "remarks": found.remarks}
        print(json.dumps(told if parity is None else told | {"parity": _objects(parity.summary)}, ensure_ascii=False))
    elif options.output is not None:
        print(f"Wrote {len(columns['text']):,} rows to {options.output}.")
    else:
        _tell(found, columns, parity)
    if not options.json:
        print(*found.remarks, sep="\n", end="\n" if found.remarks else "")
    return 0


def add_runs(parser: argparse.ArgumentParser) -> None:
    told = "of a session all runs, named as in the window, and the one shown as it stood at the moment shown, too"
    parser.add_argument("--runs", action="store_true", help=told)


def named_tokenizers(options: argparse.Namespace) -> dict[str, tuple[bpe.History, int]]:
    """Each table at each size, or all runs of a session, under a name of its own."""
    tables: Sequence[str] = options.tables
    sizes: Sequence[int] | None = options.sizes
    if options.runs:
        if len(tables) > 1 or sizes:
            raise BpeError("--runs is of one session, and tells its runs at the sizes that they have there.")
        from bpe_core.command_line.sessions import runs_in  # loads what reads sessions

        return runs_in(tables[0])
    found: dict[str, tuple[bpe.History, int]] = {}
    for table in tables:
        opened = open_table(table)
        history = opened.history
        sys.stderr.writelines(
            f"{plain(table)}: {note}\n" for note in opened.notes
        )  # such as where it may cut otherwise
        for size in sizes or (None,):
            at = len(history) if size is None else history.step_of_size(size)
            name = table if size is None else f"{table}@{history.vocabulary_size_at(at)}"
            free = next(one for i in count(1) if (one := name if i == 1 else f"{name} ({i})") not in found)
            found[free] = history, at
    return found


def _chosen(tokenizers: dict[str, tuple[bpe.History, int]], name: str | None) -> str | None:
    """A table that is named without its size stands for the first of its sizes."""
    if name is None or name in tokenizers:
        return name
    return next((one for one in tokenizers if one.startswith(f"{name}@")), name)


def _parallel(folder: str) -> dict[str, list[str]]:
    return parallel_texts(folder) if folder else parallel_samples()


def _texts(options: argparse.Namespace) -> dict[str, list[str]]:
    """The documents of each file, or of each group."""
    groups = groups_of(options)
    with reading(options.texts, groups=groups) as corpus:
        parts = corpus.parts() if groups else corpus.by_source()
        return {name: list(part.documents()) for name, part in parts.items()}


def _tell(found: Benchmark, columns: Columns, parity: Parity | None) -> None:
    shown = [*SHOWN, *([] if parity is None else [("premium", "premium", "{:.3f}")])]
    for text in found.texts:
        print(text)
        print("".join(f"{title:>13}" for _, title, _ in shown))
        for cell in _objects(columns):
            if cell["text"] == text:
                told = ("" if cell[name] is None else form.format(cell[name]) for name, _, form in shown)
                print("".join(f"{one:>13}" for one in told), cell["tokenizer"], sep="  ")
        print()
    if parity is not None:
        print(*parity.sentences, sep="\n")


def _objects(columns: Columns) -> list[dict[str, Any]]:
    """An object a row."""
    return [dict(zip(columns, row, strict=True)) for row in DataTable(columns).rows()]
