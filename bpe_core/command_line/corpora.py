"""Functions that read the texts of a command.

Skipped texts, and texts that changed while they were read, are reported on standard error.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from bpe_core.errors import CorpusError, plain
from bpe_core.recipes.recipe import Recipe
from bpe_core.studies.texts import CorpusTexts
from bpe_core.support.progress import Work

if TYPE_CHECKING:  # loaded when files are read
    from bpe_core.text.corpus import Corpus, SkippedText, Source

FIELD = (
    "the field with the text in .jsonl, .csv, .parquet and .arrow files, such as body, doc.body or messages[].content "
    "(default: text, content, body or document, or the only field with text)"
)
WORD_LIST = (
    "read the files as lists of words with counts (word<TAB>count, CSV, Parquet), or with --no-word-list as texts "
    "(default: as lists of words if the columns are word and count)"
)
_said: ContextVar[Mapping[str, Any]] = ContextVar("how files are read", default=MappingProxyType({}))


def add_corpus(parser: argparse.ArgumentParser, purpose: str, *, required: bool = False) -> None:
    parser.add_argument("--corpus", nargs="+", required=required, default=[], metavar="FILE", help=purpose)
    add_reading(parser)


def add_reading(parser: argparse.ArgumentParser) -> None:
    """Add the options that say how files are read."""
    parser.set_defaults(reading_as=read_as)
    reading = parser.add_argument_group("how files are read")
    add = reading.add_argument
    add(
        "--encoding",
        metavar="NAME",
        help="the encoding, such as latin-1 (default: UTF-8, or the encoding of the file's byte order mark)",
    )
    invalid = (
        "what to do with bytes that are not text: refuse the file (the default), replace them by U+FFFD, or skip them"
    )
    add("--on-invalid", choices=["strict", "replace", "skip"], default="strict", help=invalid)
    matching = "in folders, read only the files whose names match PATTERN, such as '*.txt'"
    add("--include", action="append", metavar="PATTERN", help=matching)
    add("--field", metavar="NAME", help=FIELD)
    add("--word-list", action=argparse.BooleanOptionalAction, help=WORD_LIST)
    damaged = "what to do with damaged rows of tables: refuse the file (the default), or skip the rows"
    add("--on-bad-row", choices=["error", "skip"], default="error", help=damaged)


@contextmanager
def read_as(options: argparse.Namespace) -> Iterator[None]:
    said = {name: getattr(options, name) for name in ("encoding", "on_invalid", "field", "word_list", "on_bad_row")}
    token = _said.set({**said, "file_patterns": tuple(options.include or ["*"])})
    try:
        yield
    finally:
        _said.reset(token)


@contextmanager
def open_texts(
    files: Sequence[str],
    reported: Sequence[SkippedText] = (),
    *,
    groups: Mapping[str, Sequence[str]] | None = None,
    twice: bool = False,
    recipe: Recipe | None = None,
) -> Iterator[Corpus]:
    """Open files or groups as a corpus. At the end of the `with` block, report the skipped texts.

    Texts in `reported` are not reported again. The recipe decides whether a file may hold any bytes, or named symbols
    instead of text.
    """
    choices = dict(_said.get())
    if recipe is not None and recipe.takes_any_bytes and choices.get("on_invalid", "strict") == "strict":
        choices["on_invalid"] = "keep"
    if recipe is not None and recipe.base_symbols == "lines":
        choices["symbol_names"] = recipe.symbol_names
    corpus = _corpus_of(files, groups or {}, twice, choices)
    yield corpus
    for skipped in corpus.skipped:
        if skipped not in reported:
            sys.stderr.write(f"{plain(str(skipped))}\n")


def _corpus_of(
    files: Sequence[str], groups: Mapping[str, Sequence[str]], twice: bool, choices: Mapping[str, Any]
) -> Corpus:
    from bpe_core.text.corpus import Corpus

    if not groups:
        return Corpus.from_files(list(files), twice=twice, **choices)
    if files:
        raise CorpusError(
            f"{files[0]} is in no group, but other texts are. Put all texts into groups (--group NAME FILE ...), or "
            "use no groups."
        )
    corpora = {name: Corpus.from_files(list(paths), twice=twice, **choices) for name, paths in groups.items()}
    return Corpus.grouped(corpora, twice=twice)


def named_texts(
    files: Sequence[str], groups: Mapping[str, Sequence[str]] = MappingProxyType({}), recipe: Recipe | None = None
) -> CorpusTexts:
    """Return texts that can be read several times. Skipped texts are reported only once.

    `recipe` is the recipe of the tokenizer that will split the texts.
    """
    of_symbols = recipe if recipe is not None and recipe.base_symbols else None
    reported: list[SkippedText] = []

    @contextmanager
    def opened() -> Iterator[Corpus]:
        with open_texts(files, tuple(reported), groups=groups, recipe=of_symbols) as corpus:
            yield corpus
        reported.extend(corpus.skipped)

    return CorpusTexts(opened, list(files) or list(groups))


def with_names_of_files(
    recipe: Recipe, files: Sequence[str], groups: Mapping[str, Sequence[str]], work: Work
) -> Recipe:
    """Return the recipe with the names of all symbols in these files.

    A file of counts holds the names of its symbols. If the files have no named symbols, or if the recipe
    has the names already, return the recipe unchanged.
    """
    if recipe.base_symbols != "lines" or recipe.symbol_names:
        return recipe
    with open_texts(files, groups=groups, recipe=recipe) as corpus:
        counted = next((source for source in corpus.sources if source.counted), None)
        names = corpus.names_of_symbols(work) if counted is None else _names_counted(counted)
        named = recipe.with_changes(symbol_names=names)
    if recipe.border and recipe.border not in named.symbol_names:
        raise CorpusError(
            f"These files do not contain the border symbol {recipe.border!r}. Choose another border, or none."
        )
    return named.with_changes(border=named.names.text_of([recipe.border])) if recipe.border else named


def _names_counted(source: Source) -> tuple[str, ...]:
    """Return the names of the symbols in a file of counts."""
    from bpe_core.counting.counts_of_recipe import recipe_of  # few commands read files of counts
    from bpe_core.text.reading.counts_head import CountsHead

    return recipe_of(CountsHead.from_json(source.counted, source.name), source.name).symbol_names


def names_of(files: Sequence[str], groups: Mapping[str, Sequence[str]] = MappingProxyType({})) -> list[str]:
    """Return the names of texts for the list in a session. They are the names of the files, without the folders.

    >>> names_of(["texts/a.txt", "-"], {"en": ["/home/me/en.txt"]})
    ['a.txt', 'standard input', 'en.txt']
    """
    given = chain(files, *groups.values())
    return ["standard input" if file == "-" else Path(file).name or file for file in given]


@contextmanager
def cluster_of(options: argparse.Namespace, activity: str) -> Iterator[Any]:
    """Connect to the cluster that `--on` names, and yield its client. Without `--on`, yield None.

    Use this function in a `with` statement. `activity` is the beginning of a message, such as "Encoding" in
    "Encoding on a cluster".
    """
    if not options.on:
        yield None
        return
    from bpe_core.support.cluster import cluster  # Dask takes a while to load

    with cluster(options.on, options.workers) as client:
        sys.stderr.write(f"{activity} on a cluster. See the progress at {client.dashboard_link}\n")
        yield client
