"""The command `bpe-explorer count`. It counts the words of texts, and writes them with their counts to a file."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from bpe_core.asking import Answer
from bpe_core.asking.caption import caption_from
from bpe_core.command_line.arguments import add_recipe, chosen_recipe, number, size, text_argument
from bpe_core.command_line.corpora import add_reading, open_texts, with_names_of_files
from bpe_core.command_line.groups import add_mixture, groups_of, mixture_of
from bpe_core.command_line.interruption import interruptible
from bpe_core.command_line.paper_options import add_paper_options, is_for_paper, print_for_paper
from bpe_core.counting.count_words import count_groups
from bpe_core.counting.counts_of_recipe import recipe_of
from bpe_core.counting.grouped import GroupedWords
from bpe_core.counting.to_files import PARTITION_SIZE, PIECE_SIZE, CountingOrder, WrittenCounts, count_to_file
from bpe_core.errors import OutputError, RecipeError, plain
from bpe_core.history.token_texts import quoted
from bpe_core.insight.listed_words import COUNT, ListedWords
from bpe_core.recipes.recipe import Recipe
from bpe_core.studies.checksums import checksum_of_words
from bpe_core.support.data_table import checked_name, is_data, write_data
from bpe_core.support.limits import size_text
from bpe_core.support.progress import Work
from bpe_core.support.wording import count_text
from bpe_core.text.corpus import Corpus
from bpe_core.text.reading.counts_head import ENDING, CountsHead
from bpe_core.text.reading.opening import is_address
from bpe_core.text.reading.source import STANDARD_INPUT

LEAST_MEMORY = 200_000_000  # bytes; the program itself needs a part of them
examples = f"""\
examples:
  bpe-explorer count book.txt folder/ -o counts.parquet
      Count words as the recipe gpt2 splits texts, in order of first occurrence. `train counts.parquet` learns from it.

  bpe-explorer count --group de texts/de --group code src -o counts.parquet
      Count each group separately; weights are given later, to `train`.

  bpe-explorer count a.parquet b.parquet -o all.parquet
      Add up counts that were split by the same recipe; texts can be added, too.

  bpe-explorer count s3://bucket/texts --on tcp://scheduler:8786 -o s3://bucket/counts
      Count on a Dask cluster (pip install 'bpe-explorer[cluster]' here and on its workers); --on local uses this
      computer as a cluster. All workers must reach the texts and the output. The result is the same. The person
      who runs the scheduler can run any code here, so trust them fully. For tls://, Dask's settings name certificates.

  bpe-explorer count counts.parquet
      Show the most frequent words, by group. --list words.csv writes all words, --holding ␣the only words with ␣the.

  bpe-explorer count huge/ --memory 2GB -o counts.parquet
      Get the same result with little memory: what does not fit is kept on the disk. A table of more than
      --partition-size ({size_text(PARTITION_SIZE)}) becomes a folder of files, each with a part of the words.

If the command was stopped or killed, or the disk was full, run it again: it continues with the texts
that it has not counted yet.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("files", nargs="*", metavar="FILE", help="texts or counts; everything that `train` reads")
    add(
        "-o",
        "--output",
        metavar="FILE",
        help="write the counts to this .parquet file or folder; without it, show the first words",
    )
    add(
        "--partition-size",
        type=size,
        default=PARTITION_SIZE,
        metavar="SIZE",
        help="the largest size of one file of counts",
    )
    memory = (
        "count with this much memory, such as 2GB. Lists of words, and a text that cannot be split into parts, may "
        "need more"
    )
    add("--memory", type=size, metavar="SIZE", help=memory)
    on = (
        "count on a Dask cluster: tls://scheduler:8786, tcp:// without encryption, or local; the scheduler can run "
        "any code here"
    )
    add("--on", metavar="CLUSTER", help=on)
    add("--workers", type=number, metavar="N", help="how many processes --on local uses (default: the number of cores)")
    add("--piece-size", type=size, metavar="SIZE", help="how much text one task counts, such as 64MB")
    add(
        "--holding",
        type=text_argument,
        metavar="TEXT",
        help="without -o: show only words that contain TEXT, such as ␣the",
    )
    add(
        "--list",
        dest="listed",
        metavar="OUT",
        help="without -o: write the words, not only the first, to OUT (.csv, .tsv, .json or .parquet)",
    )
    add("--sort", metavar="BY", default=COUNT, help="without -o: sort by word, count (the default), or a group's name")
    add(
        "--reverse",
        action="store_true",
        help="without -o: reverse the order, for example to begin with the rarest words",
    )
    add("--top", type=number, default=20, metavar="N", help="without -o: how many words to show")
    add_recipe(parser, "how texts are split")
    add_mixture(parser)
    add_reading(parser)
    shown = parser.add_mutually_exclusive_group()
    shown.add_argument("--json", action="store_true", help="print the result as JSON")
    add_paper_options(shown, "the first words")
    add("--quiet", action="store_true", help="print no progress and no summary")


def run(options: argparse.Namespace) -> int:
    if options.weights:
        raise RecipeError("A file of counts has no weights. Give --weights when you train from this file.")
    if options.memory is not None and options.memory < LEAST_MEMORY:
        raise RecipeError(f"Counting needs at least {size_text(LEAST_MEMORY)} of memory; give --memory a larger size.")
    if options.on and options.output is None:
        raise RecipeError(
            "Counting on a cluster writes the counts to a file or folder. Name the file or folder with -o."
        )
    if options.output is not None and (options.listed or options.holding or is_for_paper(options)):
        raise RecipeError("With --list, --holding, --latex or --markdown no counts are written. Leave out -o.")
    if options.listed:
        checked_name(options.listed)
    if options.output is not None:
        _check_ending(options.output)
    groups = groups_of(options)
    groups = {name: list(map(_reached, files)) for name, files in groups.items()} if options.on else groups
    goes_on = "Counting was stopped. Run the same command again: it continues with the texts that are not yet counted."
    with interruptible(stopped=goes_on if options.output is not None else "", quiet=options.quiet) as interruption:
        files = list(map(_reached, options.files)) if options.on else options.files
        named = _with_names(options, files, groups, interruption.work)
        with open_texts(files, groups=groups, twice=options.twice, recipe=named) as corpus:
            recipe = named or _recipe(options, corpus)
            recipe = recipe.with_changes(mixture=mixture_of(options, corpus, recipe.mixture))
            if options.output is None:
                _show(count_groups(corpus, recipe, interruption.work), recipe, options)
            else:
                _print_result(_counted(corpus, recipe, options, interruption.work), options)
    return 0


def _check_ending(output: str) -> None:
    """Raise OutputError if the name has the extension of a different kind of file, such as words.csv.

    Without this check, the counts would be written to a folder with such a name.
    """
    if is_data(output) and not output.endswith(ENDING) and not Path(output).is_dir():
        raise OutputError(
            f"Could not write {output}: the name of a file of counts must end in {ENDING}. For a list of words, give "
            f"--list {output} instead of -o."
        )


def _counted(corpus: Corpus, recipe: Recipe, options: argparse.Namespace, work: Work) -> WrittenCounts:
    order = CountingOrder(options.output, options.partition_size, options.memory, options.piece_size or PIECE_SIZE)
    if not options.on:
        return count_to_file(corpus, recipe, order, work)
    from bpe_core.counting import on_cluster  # Dask takes a while to load
    from bpe_core.support.cluster import cluster

    order = replace(order, output=_reached(options.output), piece_size=options.piece_size or on_cluster.PIECE_SIZE)
    with cluster(options.on, options.workers, options.memory) as client:
        if not options.quiet:
            sys.stderr.write(f"Counting on a cluster. See the progress at {client.dashboard_link}\n")
        return on_cluster.count_on_cluster(corpus, recipe, order, client, work)


def _reached(path: str) -> str:
    return path if is_address(path) or path == STANDARD_INPUT else str(Path(path).absolute())


def _with_names(
    options: argparse.Namespace, files: Sequence[str], groups: Mapping[str, Sequence[str]], work: Work
) -> Recipe | None:
    """Return the chosen recipe with the names of all symbols that occur in the files.

    Return None if the base symbols have no names, because they are characters or integers.
    """
    if options.base_symbols != "lines":
        return None
    return with_names_of_files(chosen_recipe(options, "gpt2"), files, groups, work)


def _recipe(options: argparse.Namespace, corpus: Corpus) -> Recipe:
    said = (options.preset, options.recipe, options.pattern, options.regex, options.special)
    counted = next((source for source in corpus.sources if source.counted), None)
    if counted is not None and not any(said):
        return recipe_of(CountsHead.from_json(counted.counted, counted.name), counted.name)
    return chosen_recipe(options, options.preset or "gpt2")


def _print_result(written: WrittenCounts, options: argparse.Namespace) -> None:
    if options.json:
        print(json.dumps({"output": options.output, **written._asdict()}, indent=1))
    elif not options.quiet:
        files = "" if written.files == 1 else f", in {written.files} files"
        print(
            f"Counted {count_text(written.total, 'word')}, {written.words:,} of them different. Wrote "
            f"{plain(options.output)}{files}."
        )


def _show(words: GroupedWords, recipe: Recipe, options: argparse.Namespace) -> None:
    listed = ListedWords(words)
    rows = listed.sorted_by(options.sort, options.holding or "", from_end=options.reverse)
    if options.listed:
        write_data(listed.table(rows), options.listed)
        if not options.quiet:
            wrote = f"Wrote {count_text(len(rows), 'word')} to {plain(options.listed)}."
            print(wrote, file=sys.stderr if is_for_paper(options) else sys.stdout)
    table = words.words
    first = rows[: max(0, options.top)].tolist()
    if is_for_paper(options):
        print_for_paper(Answer(listed.table(first)).printed(), _caption(listed, first, recipe, options), options)
    if options.listed or is_for_paper(options):
        return
    groups = {name: words.counts_in(name) for name in words.groups if name}
    if options.json:
        first_words = [
            {"word": table.word(i).decode(errors="replace"), "count": int(table.counts[i])}
            | {"groups": {name: int(counts[i]) for name, counts in groups.items()}}
            for i in first
        ]
        print(
            json.dumps({"words": len(table), "total": table.total, "first": first_words}, ensure_ascii=False, indent=1)
        )
        return
    print("".join(f"{name[:20]:>20}" for name in ("count", *map(plain, groups))), " word")
    for i in first:
        counts = [table.counts, *groups.values()]
        print(
            "".join(f"{int(column[i]):>20,}" for column in counts), f" {quoted(table.word(i).decode(errors='replace'))}"
        )
    held = f" {len(rows):,} of the different words contain {quoted(options.holding)}." if options.holding else ""
    print(f"{count_text(table.total, 'word')}, {len(table):,} of them different.{held}")


def _caption(listed: ListedWords, first: Sequence[int], recipe: Recipe, options: argparse.Namespace) -> str:
    held = f" that contain {quoted(options.holding)}" if options.holding else ""
    order = f"sorted by {options.sort}{', reversed' if options.reverse else ''}"
    return caption_from(
        f"{count_text(len(first), 'word')}{held}, {order}",
        f"Split by the pattern {recipe.pattern}",
        f"Texts: {checksum_of_words(listed.words.words)}",
    )
