"""The command `bpe-explorer encode`. It prints the tokens of a text, or of whole files."""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from pathlib import Path
from typing import get_args

from bpe_core.command_line.arguments import add_merge_table, number, text_argument, text_or_standard_input
from bpe_core.command_line.corpora import add_reading, cluster_of, open_texts
from bpe_core.command_line.groups import add_groups, groups_of
from bpe_core.command_line.interruption import interruptible
from bpe_core.errors import BpeError, LargeIdsWarning, plain
from bpe_core.formats import TABLES, OpenedTable
from bpe_core.history.ids_in_use import sentence_about_large_ids
from bpe_core.history.token_texts import TokenTexts
from bpe_core.recipes.recipe import Recipe
from bpe_core.segmenting.cutting import ALLOWED
from bpe_core.segmenting.segmentation import Width
from bpe_core.studies.making import open_study
from bpe_core.studies.study import Study
from bpe_core.support.escaped_bytes import escape
from bpe_core.support.numbered_symbols import WIDTH
from bpe_core.support.wording import count_text

examples = """\
examples:
  bpe-explorer encode --merges merges.csv "the lowest price"
      Print the ids of its tokens, separated by spaces.

  bpe-explorer encode --merges merges.csv --at 500 --pieces "the lowest price"
      Print the texts of the tokens, as split after 500 merges.

  bpe-explorer encode --merges merges.csv --json < page.txt
      Encode all of standard input, with its last line break, and print JSON.

  bpe-explorer encode --merges merges.csv --lines < sentences.txt > ids.txt
      Encode each line without its line break as soon as it arrives, and print a line of ids, or an object with --json.

  bpe-explorer encode --merges merges.csv book.txt folder/ --output ids.npy
      With --output the arguments are files: their ids are written to one .npy or .bin file, and sums are printed.

  bpe-explorer encode --merges merges.csv rows.jsonl more.parquet --documents --eos 50256 --output shards
      Write each row as a document, with the id 50256 after it, to shards/00000.npy and so on, with shards/index.json.
      Add --on tcp://scheduler:8786 to encode on a Dask cluster. The shards are the same.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "text",
        nargs="*",
        type=text_argument,
        metavar="TEXT",
        help="the text to encode, or the files if --output is given (default: standard input)",
    )
    add_merge_table(parser)
    parser.add_argument("--at", type=number, metavar="K", help="encode with only the first K steps")
    specials = parser.add_mutually_exclusive_group()
    help = "match all special tokens that occur in the text, or none (default: what the library of the file does)"
    specials.add_argument("--specials", choices=("all", "none"), default="", help=help)
    specials.add_argument(
        "--allow-special", action="store_const", const="all", dest="specials", help="the same as --specials all"
    )
    lines = "encode each line of standard input separately, and print a line for each"
    parser.add_argument("--lines", action="store_true", help=lines)
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        help="read the arguments as files, and write their ids to this file (a folder with --documents)",
    )
    parser.add_argument(
        "--width", choices=get_args(Width), help="the type of an id in that file (default: the smallest that fits)"
    )
    _add_documents(parser)
    add_groups(parser)
    add_reading(parser)
    shown = parser.add_mutually_exclusive_group()
    shown.add_argument("--pieces", action="store_true", help="print the tokens' texts instead of their ids")
    shown.add_argument("--json", action="store_true", help="print ids and texts as JSON")


def _add_documents(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument_group("documents as shards").add_argument
    documents = (
        "write each document (a row of .jsonl, .csv, .parquet or .arrow, or a file) to numbered shards in the "
        "folder that --output names; if the command is stopped, the same command continues after the last whole shard"
    )
    add("--documents", action="store_true", help=documents)
    add("--eos", type=number, metavar="ID", help="the id to write after each document (default: none)")
    add(
        "--shards",
        choices=("npy", "bin"),
        default="npy",
        help="the kind of the shards: .npy, or .bin with the index .idx that Megatron reads (default: npy)",
    )
    on = (
        "encode on a Dask cluster: tls://scheduler:8786, tcp:// without encryption, or local; all workers must reach "
        "the files and the folder, and the scheduler can run any code here"
    )
    add("--on", metavar="CLUSTER", help=on)
    add("--workers", type=number, metavar="N", help="how many processes --on local uses (default: the number of cores)")
    shard_size = "end a shard with the document that reaches this number of ids (default: 100,000,000)"
    add("--shard-size", type=number, metavar="IDS", help=shard_size)


def texts_in(options: argparse.Namespace) -> list[str]:
    return list(options.text) if options.output else []


def run(options: argparse.Namespace) -> int:
    study = open_study(options.merges)
    at = study.inside.checked_step_count(options.at)
    _refuse_half_of_documents(options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LargeIdsWarning)  # the command prints the sentence at its end
        if options.lines:
            _encode_lines(options, study, at)
        elif options.documents:
            _encode_documents(options, study, at)
        elif options.output:
            _encode_files(options, study, at)
        elif options.group or options.groups_of:
            raise BpeError("The ids of groups are written to one file. Name the file with --output.")
        else:
            _encode_text(options, study, at)
    _report_agreement(options.merges, study)
    _report_large_ids(study, at)
    return 0


def _report_large_ids(study: Study, at: int) -> None:
    """Report on standard error if the ids are larger than the vocabulary. Only ids go to standard output."""
    if sentence := sentence_about_large_ids(study.history, at):
        sys.stdout.flush()
        sys.stderr.write(f"{sentence}\n")


def _refuse_half_of_documents(options: argparse.Namespace) -> None:
    if options.documents and (options.output is None or options.pieces or options.lines):
        raise BpeError(
            "--documents writes shards (numbered files of ids) to a folder. Name the folder with --output, and "
            "leave out --lines and --pieces."
        )
    if not options.documents and (options.eos is not None or options.shard_size is not None or options.shards != "npy"):
        raise BpeError("--eos, --shards and --shard-size can be used only with --documents.")
    if options.on and not options.documents:
        raise BpeError("A cluster encodes documents as shards. Add --documents, and name the folder with --output.")


def _encode_lines(options: argparse.Namespace, study: Study, at: int) -> None:
    if options.text or options.output or options.group or options.groups_of:
        raise BpeError(
            "--lines encodes the lines of standard input and prints the result. Leave out texts, files and groups."
        )
    from bpe_core.command_line.line_by_line import encode_lines  # a single text needs less

    encode_lines(study, at, options)


def _encode_text(options: argparse.Namespace, study: Study, at: int) -> None:
    text = study.history.recipe.text_of_symbols(text_or_standard_input(options.text))
    ids = study.encode(text, at=at, allowed_special=ALLOWED[options.specials])
    if not (options.json or options.pieces):
        print(*ids)
        return
    names = TokenTexts.of(study.history, escape).text if options.json else study.inside.by_index.texts.text
    tokens = [names[id] for id in study.history.indices_of(ids)]
    print(json.dumps({"ids": ids, "tokens": tokens}, ensure_ascii=False) if options.json else " | ".join(tokens))


def recipe_of_symbols(study: Study) -> Recipe | None:
    """Return the recipe of a tokenizer for named symbols or integers. Return None for a tokenizer of text."""
    return study.history.recipe if study.history.recipe.base_symbols else None


def _report_agreement(path: str, study: Study) -> None:
    """Report on standard error whether the library of the table's format gives the same ids.

    Standard output has only ids, because scripts read it.
    """
    if study.format in TABLES:
        return  # no other library knows sessions
    from bpe_core.verification.stored_checks import agreement_to_report

    sentence = agreement_to_report(path, OpenedTable(study.history, study.format))
    if sentence:
        sys.stdout.flush()
        sys.stderr.write(f"{plain(Path(path).name)} {sentence}.\n")


def _encode_files(options: argparse.Namespace, study: Study, at: int) -> None:
    from bpe_core.methods.kit.encode_corpus import encode_corpus  # a single text needs less

    groups = groups_of(options)
    files = options.text or ([] if groups else ["-"])
    recipe = study.history.recipe if study.inside.by_index.tokenizer.takes_any_bytes else recipe_of_symbols(study)
    with interruptible() as interruption, open_texts(files, groups=groups, recipe=recipe) as corpus:
        result = encode_corpus(
            corpus,
            study.inside.by_index.tokenizer,
            options.output,
            at=at,
            width=options.width,
            allowed_special=ALLOWED[options.specials],
            progress=interruption.work.progress,
        )
    if options.json:
        sentence = {
            name: [{**vars(figure), "bytes_per_token": figure.bytes_per_token} for figure in figures]
            for name, figures in (("groups", result.groups), ("files", result.files))
            if figures
        }
        print(json.dumps({"output": str(result.path), "width": result.width, **sentence}, ensure_ascii=False))
        return
    of_symbols = bool(study.history.recipe.base_symbols)
    unit = "symbols" if of_symbols else "bytes"
    width = WIDTH if of_symbols else 1
    named = [(group, f"all of {group.name}" if group.name else "all texts in no group") for group in result.groups]
    for figures, name in [*named, *((file, file.name) for file in result.files)]:
        print(
            f"{figures.tokens:>12,} tokens, {figures.different_tokens:,} different, "
            f"{figures.bytes_per_token / width:.2f} {unit} each  {plain(name)}"
        )
    print(f"Wrote {count_text(result.tokens, 'id')} as {result.width} to {plain(str(result.path))}.")


def _encode_documents(options: argparse.Namespace, study: Study, at: int) -> None:
    from bpe_core.methods.kit.encode_documents import SHARD_SIZE, encode_documents  # a single text needs less

    groups = groups_of(options)
    stopped = "Encoding was stopped. Run the same command again: it continues after the finished shards."
    files = options.text or ([] if groups else ["-"])
    with (
        interruptible(stopped=stopped) as interruption,
        open_texts(files, groups=groups, recipe=recipe_of_symbols(study)) as corpus,
        cluster_of(options, "Encoding") as client,
    ):
        result = encode_documents(
            corpus,
            study.inside.by_index.tokenizer,
            options.output,
            eos=options.eos,
            kind=options.shards,
            shard_size=SHARD_SIZE if options.shard_size is None else options.shard_size,
            at=at,
            width=options.width,
            allowed_special=ALLOWED[options.specials],
            client=client,
            work=interruption.work,
        )
    document = {
        "output": str(result.path),
        "width": result.width,
        "shards": result.shards,
        "documents": result.documents,
        "ids": result.ids,
    }
    if options.json:
        print(json.dumps(document, ensure_ascii=False))
        return
    print(
        f"Wrote {count_text(result.documents, 'document')}, {count_text(result.ids, 'id')} as {result.width}, to "
        f"{count_text(result.shards, 'shard')} in {plain(str(result.path))}."
    )
    if result.shards_before:
        sys.stderr.write(
            f"The first {count_text(result.shards_before, 'shard is', 'shards are')} from an earlier command that was "
            "stopped.\n"
        )
