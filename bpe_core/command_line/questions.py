"""What the commands that ask about a merge table share: the moment, the corpus, the tokens' names."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from bpe_core.command_line.arguments import MOST_DIGITS, number
from bpe_core.command_line.corpora import add_reading, reading
from bpe_core.command_line.groups import add_groups, groups_of
from bpe_core.command_line.progress_bar import TerminalBar
from bpe_core.counting.count_words import count_groups, count_unmixed, count_words
from bpe_core.counting.words import WordTable
from bpe_core.errors import BpeError
from bpe_core.history.history import NOTHING, History
from bpe_core.history.token_texts import BLANK, TokenTexts
from bpe_core.learning.methods import told_by
from bpe_core.support.progress import Work
from bpe_core.text.corpus import Corpus

if TYPE_CHECKING:
    from bpe_core.formats import OpenedTable
    from bpe_core.insight.ranked_words import RankedWords
    from bpe_core.text.reading.source import Skipped


def add_moment(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--at", type=number, metavar="K", help="as it stood after the first K steps (else after all)")


def add_corpus(parser: argparse.ArgumentParser, *, required: bool, purpose: str) -> None:
    parser.add_argument("--corpus", nargs="+", required=required, metavar="FILE", help=purpose)
    add_reading(parser)


def add_grouped_corpus(parser: argparse.ArgumentParser, *, required: bool, purpose: str) -> None:
    """The same, or its groups, which then count as the recipe of the table mixes them."""
    which = parser.add_mutually_exclusive_group(required=required)
    which.add_argument("--corpus", nargs="+", default=[], metavar="FILE", help=purpose)
    add_groups(which)
    add_reading(parser)


def has_texts(options: argparse.Namespace) -> bool:
    return bool(options.corpus or options.group or options.groups_of)


def reading_texts(options: argparse.Namespace, told: Sequence[Skipped] = ()) -> AbstractContextManager[Corpus]:
    """The corpus that was named, or its groups."""
    return reading(options.corpus, told, groups=groups_of(options))


def counted_words(number: int) -> str:
    """So many words."""
    return f"{number:,} word{'' if number == 1 else 's'}"


def moment(options: argparse.Namespace, history: History) -> int:
    """After how many merges a person wants to look."""
    at: int | None = options.at
    if at is None:
        return len(history)
    if not 0 <= at <= len(history):
        raise BpeError(f"{options.merges} holds {told_by(history)}; --at must be a number from 0 to that.")
    return at


def count(files: Sequence[str], history: History) -> WordTable:
    """The words of these files, split as the table's recipe says."""
    with reading(files) as corpus:
        return count_corpus(corpus, history)


def count_corpus(corpus: Corpus, history: History) -> WordTable:
    bar = TerminalBar(sys.stderr)
    try:
        counted = count_unmixed if corpus.groups == ("",) else count_words
        return counted(corpus, history.recipe, Work(bar))
    finally:
        bar.clear()


def words_of(options: argparse.Namespace, history: History) -> WordTable:
    """The words of the texts that were named, as the recipe mixes their groups."""
    with reading_texts(options) as corpus:
        return count_corpus(corpus, history)


def words_or_own(options: argparse.Namespace, opened: OpenedTable, what: str) -> WordTable:
    """The same; where none were named, those that a session keeps of its run."""
    if has_texts(options):
        return words_of(options, opened.history)
    if opened.words is None:
        raise BpeError(f"{what} is about texts: name them with --corpus.")
    return opened.words


def parts_of(options: argparse.Namespace, history: History) -> dict[str, WordTable]:
    """The same, each group by itself; where there are none, each of the files, those in folders too."""
    if not groups_of(options):
        with reading_texts(options) as corpus:
            return {name: count_corpus(part, history) for name, part in corpus.by_source().items()}
    bar = TerminalBar(sys.stderr)
    try:
        with reading_texts(options) as corpus:
            return count_groups(corpus, history.recipe, Work(bar)).weighted_parts(history.recipe.mixture)
    finally:
        bar.clear()


def ranked_words(options: argparse.Namespace, history: History) -> RankedWords:
    from bpe_core.insight.ranked_words import RankedWords  # which also cuts texts; some ask of the table alone

    return RankedWords.of(words_of(options, history), history)


class Names:
    """What is written on each token, blanks marked; and the way back from that to the token."""

    def __init__(self, history: History) -> None:
        self._texts = TokenTexts.of(history)

    def __call__(self, id: int) -> str:
        return self._texts.text[id]

    def pair(self, pair: tuple[int, int]) -> str:
        """Of a step that drops a token, that token."""
        return " + ".join(self(id) for id in pair if id != NOTHING)

    def id_of(self, text: str) -> int:
        """The token of which that is written, or with that number behind a `#`.

        Where several are written alike, such as a merge that spells a marker, the oldest.
        """
        found = self._texts.id_of(text)
        if found is not None:
            return found
        if text.startswith("#") and text[1:].isascii() and text[1:].isdigit() and len(text) <= MOST_DIGITS:
            id = int(text[1:])
            if id < len(self._texts.raw):
                return id
            raise BpeError(f"There is no token {id:,}; the ids go from 0 to {len(self._texts.raw) - 1:,}.")
        raise BpeError(
            f"No token is written {text[:60]!r}. Write it as the merge table does (a blank as it is or as {BLANK}, "
            "bytes as <0x0A>), or give its id as #300."
        )


def check_step(step: int, history: History) -> int:
    if not 1 <= step <= len(history):
        raise BpeError(f"There is no step {step:,}; the table holds the steps 1 to {len(history):,}.")
    return step
