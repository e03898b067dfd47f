"""Write a table in memory, read it back and compare both on texts that are hard to cut; only then put it in place."""

from __future__ import annotations

import copy
import io
import math
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from itertools import islice, pairwise
from pathlib import Path

import numpy as np

from bpe_core.errors import LONGEST_SENTENCE, BpeError, Cancelled, OutputError, plain
from bpe_core.formats import format_for
from bpe_core.formats.base import Beside, Format, OpenedTable, Peer, nothing_beside, own_numbers
from bpe_core.formats.peer_process import peer_of
from bpe_core.history.history import History, Int64s
from bpe_core.history.token_texts import quoted, written
from bpe_core.learning.methods import has_ranks, told_by
from bpe_core.recipes.recipe import Normalization, Recipe
from bpe_core.segmenting.cutting import Allowed
from bpe_core.segmenting.tokenizer import NEVER, Tokenizer
from bpe_core.support.atomic import write_atomically
from bpe_core.support.found_once import each_found_once
from bpe_core.support.garbage import nothing_collected
from bpe_core.support.progress import ALONE, Progress, ProgressReport, Work
from bpe_core.text.normalization import normalize
from bpe_core.text.splitting import Splitter

HARD_TEXTS = (
    "",
    " ",
    "   ",
    "\n",
    "  two  blanks \n\n\t and a tab\r\n",
    "trailing blanks   \n   \n  ",
    " \u00a0\u2003\u3000wide\u200bblanks\u2028and\u2029lines\u0085",
    "naïve café e\u0301 o\u0302\u0323 — “quotes” … ½ ² ٣ №",
    "👩‍👩‍👧‍👦 🏽 \U0001f1e9\U0001f1ea ☂️ zero\u200dwidth\ufeff",
    "\x00\x01\x02\x1b[0m\x1c\x1f\x7f\x80\x9f control",
    "don't we'll I'm they've 'tis 'S 'LL rock'n'roll",
    "1 12 123 1234 12345678 3.14 1,000,000 ²³ ½",
    "camelCase HTMLParser snake_case kebab-case a/b/c x=y+1; // no\n\treturn {}\n",
    "人人生而自由 すべての人間は 모든 인간은 كل الناس שוויון ทุกคน",
    "<0x41> <unk> </w> #version: 0.2 ## Ġ Ċ \\u0041 \\n %20 &amp;",
    "a" * 300 + " " + "ab" * 150 + " " + "abc" * 100 + " " * 50 + "!" * 80 + "\n" * 40,
)

FEWEST, MOST = 1, 4  # tokens put together to a new word
WORDS_A_LINE = 20
ATTEMPTS = 8  # words made at most, for each that is wanted


def special_texts(recipe: Recipe) -> Iterator[str]:
    """Yield texts in which special tokens occur alone, side by side and inside words."""
    for special in recipe.special_tokens[:20]:
        yield f"{special}"
        yield f"a{special}b {special}{special} end {special[:-1]}"


def joined_tokens(history: History, wanted: int, seed: int = 1) -> Iterator[str]:
    """Yield lines of words made of the vocabulary's own tokens, so that merges meet in ways no text shows.

    There are more than wanted, for many come out alike: a small vocabulary makes few words.
    """
    pieces = _pieces(history)
    if not pieces:
        return
    import random  # takes a while to load, and many a table is compared with no other library

    rng = random.Random(seed)
    form = history.recipe.unicode_form  # marks meet in an order in which no text has them
    words_a_line = 1 if history.recipe.pattern == "none" else WORDS_A_LINE  # there a line is a word
    for _ in range(ATTEMPTS * wanted // words_a_line):
        lengths = rng.choices(range(FEWEST, MOST + 1), k=words_a_line)
        drawn = iter(rng.choices(pieces, k=sum(lengths)))
        words = (b"".join(islice(drawn, length)).decode(errors="ignore") for length in lengths)
        yield " ".join(unicodedata.normalize(form, word) if form else word for word in words)


def _pieces(history: History) -> list[bytes]:
    """Return tokens as a text has them: without the marker, and no longer than a long word."""
    marker = history.recipe.marker_text.encode()
    try:
        texts = written(history)
    except BpeError:  # tokens of many megabytes; their parts are in the other texts
        return []
    kinds = [symbol.kind for symbol in history.alphabet.symbols]
    unusual = ("marker", "unknown", "fallback")
    usual = [text for text, kind in zip(texts, kinds, strict=False) if kind not in unusual] + texts[len(kinds) :]
    cleaned = [text.removesuffix(marker).removeprefix(marker) for text in usual] if marker else usual
    return [text for text in cleaned if 0 < len(text) <= 64]


WANTED_WORDS = 10_000
LETTERS = 8  # of a word, about
AT_ONCE = 256  # samples between two looks whether all is still wanted
NOTHING_NEW = 100  # samples in a row without a word that was not compared yet: a small vocabulary makes few
LONGEST_TEXT = 300_000  # characters of the person's text that are checked
LISTED = 5  # differences named
EPSILON = 2.0**-24  # how far, relatively, a number of 32 bits is from what is meant
MOST_ROUNDED = 0.05  # of a log-probability, however long the text is


@dataclass(frozen=True)
class Verification:
    """What came of reading a file back."""

    format: str
    words: int  # compared
    differences: tuple[str, ...]  # the first few, a sentence each
    differing: int
    cannot_hold: tuple[str, ...]
    asked: str = ""  # the library that was asked as well
    compared: str = "words"  # or what else
    chosen: tuple[str, ...] = ()  # what was chosen for the person, who may say otherwise

    @property
    def agrees(self) -> bool:
        return self.differing == 0

    @property
    def sentence(self) -> str:
        if self.agrees:
            give = "give" if " and " in self.asked else "gives"
            also = f", and {self.asked} {give} the same" if self.asked else ""
            return f"verified: {self.words:,} {self.compared} agree{also}"
        return f"not verified: {self.differing:,} differences in {self.words:,} {self.compared}"


def verify(
    data: bytes,
    format: Format,
    history: History,
    *,
    name: str = "the file",
    text: str = "",
    beside: Beside = nothing_beside,
    work: Work = ALONE,
    apart: bool = False,
) -> Verification:
    """Check that a file of this content and name cuts texts as the history does; `text` is part of the sample.

    With `apart` the real library is asked in another process, so that it holds nothing else up.
    """
    numbered = format.numbers(history)
    cannot_hold = tuple(format.can_hold(history))
    if not np.array_equal(numbered, own_numbers(history)):
        cannot_hold += ("The file gives tokens other numbers than the ones by which they are shown here.",)
    stated = format.differences(data, history)
    if stated is not None:
        first = tuple(stated[:LISTED])
        return Verification(format.name, len(history), first, len(stated), cannot_hold, compared="rows")
    with peer_of(format, data, history, name, beside, apart=apart) as loaded:
        try:
            opened = format.open(data, name, beside)
        except BpeError as error:
            return Verification(format.name, 0, (f"The file cannot be read back: {error}",), 1, cannot_hold)
        comparison = Comparison(history, opened, format, numbered)
        comparison.compare_columns()
        peer = None
        try:
            peer = loaded()
        except Exception as error:  # whatever another library throws; what it refuses to load is a difference, too
            comparison.found.append(plain(f"{format.peer_name} does not load the file: {error}", LONGEST_SENTENCE))
        samples = comparison.samples(text)
        while some := list(islice(samples, AT_ONCE)):
            comparison.compare(some, peer)
            work.progress(Progress("verifying", len(comparison.words), WANTED_WORDS, "words"))
            if work.cancelled():
                raise Cancelled("The check was stopped. What was there before is unchanged.")
    asked = format.peer_name if peer else ""
    found = comparison.found
    return Verification(format.name, len(comparison.words), tuple(found[:LISTED]), len(found), cannot_hold, asked)


def _scores(history: History, numbers: Int64s) -> dict[int, float] | None:
    if history.scores is None:
        return None
    scores = [*history.scores.at(len(history)).tolist(), *(0.0 for _ in history.recipe.special_tokens)]
    return dict(zip(numbers.tolist(), scores, strict=True))


class Comparison:
    """One history beside what was read back, fed with samples.

    A format that says how text is split is given whole texts; any other words, as only what happens inside is its own.
    """

    def __init__(self, history: History, opened: OpenedTable, format: Format, numbers: Int64s) -> None:
        self.found: list[str] = []
        self.words: set[str] = set()
        self._opened = opened
        self._format = format
        self._number_of: list[int] = numbers.tolist()
        self._score_of = _scores(history, numbers)
        self._recipe = history.recipe if format.holds_specials else history.recipe.with_changes(special_tokens=())
        self._ours = self._tokenizer(history)
        self._theirs = Tokenizer(opened.history) if format.holds_splitting else self._tokenizer(opened.history)
        for tokenizer in (self._ours, self._theirs):
            tokenizer.expect(WANTED_WORDS * LETTERS)

    def _tokenizer(self, history: History) -> Tokenizer:
        """Use the recipe that the file is checked with, or none where that cannot be applied to one word."""
        needs_words = has_ranks(history) and self._recipe.marker != "none"  # of which only some have a marker
        alone = not self._format.holds_splitting and not needs_words
        return Tokenizer(_with_recipe(history, _of_one_word(self._recipe) if alone else self._recipe))

    def samples(self, text: str) -> Iterator[str]:
        """Yield texts or words to compare, the person's own first, until there are enough words."""
        spelled = self._format.spelled(self._ours.history)
        signs = re.compile("|".join(map(re.escape, spelled)) or r"(?!)")
        words_of = Splitter(self._recipe).words
        nothing_new = 0
        for whole in self._within_limits(map(partial(signs.sub, ""), self._texts(text))):
            fresh = set(words_of(normalize(whole, self._recipe))) - self.words
            self.words |= fresh
            nothing_new = 0 if fresh else nothing_new + 1
            if self._format.holds_splitting:
                yield whole
            else:
                yield from sorted(fresh)
            if len(self.words) >= WANTED_WORDS or nothing_new >= NOTHING_NEW:
                return

    def _within_limits(self, texts: Iterable[str]) -> Iterator[str]:
        """Leave out the lines in which the format says that it does something else."""
        is_beyond = partial(self._format.is_beyond, self._ours.history)
        for text in texts:
            if not is_beyond(text):
                yield text
            else:
                yield from (line for line in text.splitlines(keepends=True) if not is_beyond(line))

    def _texts(self, text: str) -> Iterator[str]:
        yield from HARD_TEXTS
        yield from special_texts(self._recipe)
        yield text[:LONGEST_TEXT]
        yield from joined_tokens(self._ours.history, WANTED_WORDS)

    def compare(self, samples: list[str], peer: Peer | None) -> None:
        """Cut the samples by all, and note where they differ."""
        ours: Iterable[list[int]]
        theirs: Iterable[list[int]]
        if self._format.numbers_tokens:
            ours = ([self._number_of[id] for id in ids] for ids in self._ids(self._ours, samples))
            theirs = map(self._opened.numbers_of, self._ids(self._theirs, samples))
        else:  # then how many characters each piece has
            ours, theirs = (map(partial(piece_lengths, one), samples) for one in (self._ours, self._theirs))
        for sample, expected, read_back in zip(samples, ours, theirs, strict=True):
            self._note(sample, expected, read_back, "the file as it is read back")
            asked = expected if peer is None else _asked(peer, sample)
            if not self._is_as_probable(expected, asked):
                self._note(sample, expected, asked, self._format.peer_name)

    def _is_as_probable(self, expected: list[int], other: object) -> bool:
        """Whether two cuts by log-probabilities differ by no more than sums of 32 bits do."""
        if self._score_of is None or not isinstance(other, list):
            return False
        sums = [sum(self._score_of.get(number, -math.inf) for number in cut) for cut in (expected, other)]
        return abs(sums[0] - sums[1]) <= min(MOST_ROUNDED, EPSILON * len(expected) * abs(sums[0]))

    def compare_columns(self) -> None:
        """Compare the columns of a table that holds counts."""
        theirs, ours = self._opened.history, self._ours.history
        if len(theirs) and theirs.has_counts and ours.has_counts:
            for name, column in ours.columns._asdict().items():
                if not np.array_equal(column, getattr(theirs.columns, name)):
                    self.found.append(f"The column {name} is read back otherwise.")

    def _ids(self, tokenizer: Tokenizer, samples: list[str]) -> Iterator[list[int]]:
        if tokenizer.history.recipe.pattern != "none" and not self._format.holds_splitting:
            yield from (encode_word(tokenizer, word) for word in samples)
            return
        allowed: Allowed = "all" if self._format.holds_splitting and self._format.holds_specials else ()
        ids, offsets = tokenizer.encode_batch(samples, allowed_special=allowed)
        of_all: list[int] = ids.tolist()
        for start, stop in pairwise(offsets.tolist()):
            found = of_all[start:stop]
            yield self._joined(found, tokenizer.history) if self._format.holds_splitting else found

    def _joined(self, ids: list[int], history: History) -> list[int]:
        unknown = history.alphabet.unknown_id
        if not self._format.joins_unknown or unknown is None:
            return ids
        return [id for i, id in enumerate(ids) if id != unknown or i == 0 or ids[i - 1] != unknown]

    def _note(self, sample: str, expected: list[int], other: object, whose: str) -> None:
        if expected == other:
            return
        theirs = other if isinstance(other, list) else [other]
        place = next((i for i, (a, b) in enumerate(zip(expected, theirs, strict=False)) if a != b), None)
        place = min(len(expected), len(theirs)) if place is None else place
        near = slice(max(0, place - 1), place + 3)
        what = "token" if self._format.numbers_tokens else "piece lengths"
        self.found.append(
            f"{quoted(sample)}: {what} {place + 1:,} and on are {expected[near]} here, {theirs[near]} by {whose}."
        )


def encode_word(tokenizer: Tokenizer, word: str) -> list[int]:
    """Return the ids of one word, which is not split again."""
    if not has_ranks(tokenizer.history):
        return tokenizer.encode(word)
    steps = tokenizer.word_steps(word.encode())
    if steps:
        return steps[-1][1]
    return tokenizer.history.alphabet.symbols_of(word.encode(), tokenizer.history.recipe)


def piece_lengths(tokenizer: Tokenizer, word: str) -> list[int]:
    """Return how many characters each token of a word has; a marker that is a token has none."""
    marks_end = tokenizer.history.recipe.marker == "symbol"
    lengths = [1]
    for rank in tokenizer.ranks_of_word(word.encode()):
        if rank == NEVER:
            lengths.append(1)
        else:
            lengths[-1] += 1
    if marks_end:
        lengths[-1] -= 1
    return [length for length in lengths if length]


def _asked(peer: Peer, sample: str) -> object:
    try:
        return [len(one.decode()) if isinstance(one, bytes) else one for one in peer(sample)]
    except Exception as error:  # whatever another library throws
        return str(error)


def _of_one_word(recipe: Recipe) -> Recipe:
    return recipe.with_changes(pattern="none", custom_pattern="", unit="file", **vars(Normalization()))


def _with_recipe(history: History, recipe: Recipe) -> History:
    """Return the same merges under another recipe, for choices that a format has no place for."""
    if history.recipe == recipe:
        return history
    told = copy.copy(history)
    told.recipe = recipe
    return told


@dataclass(frozen=True)
class PreparedExport:
    """Files that are written in memory and checked, but not yet in place."""

    path: Path  # the main one, or the folder they are in
    format: Format
    merges: int
    told: str  # how many steps that are, in words
    files: Mapping[Path, bytes]  # the main one first
    verification: Verification

    @property
    def replaces(self) -> list[Path]:
        return [path for path in self.files if path.exists()]

    def put_in_place(self) -> None:
        """Write all files, and only when all are written replace the old ones.

        A path that is none of them is their folder, which is made if it is missing.
        """
        if self.path not in self.files:
            try:
                self.path.mkdir(exist_ok=True)
            except OSError as error:
                raise OutputError(f"Could not make the folder {self.path}: {error.strerror or error}.") from error
        folder = next((path for path in self.files if path.is_dir()), None)
        if folder is not None:  # found now, not when another file has taken its place already
            raise OutputError(f"Could not write {folder}: it is a folder. What was there before is unchanged.")
        with ExitStack() as stack:
            for path, content in self.files.items():
                stack.enter_context(write_atomically(path)).write(content)


@nothing_collected()
@each_found_once()
def prepare_export(
    history: History,
    path: Path | str,
    *,
    format: Format | None = None,
    merges: int | None = None,
    text: str = "",
    work: Work = ALONE,
    apart: bool = False,
) -> PreparedExport:
    """Write the first `merges` merges in memory and check them; without a format the name chooses it.

    With `apart` the real library is asked in another process, so that it holds nothing else up. Raises an OutputError
    where the format has no way to hold the history at all.
    """

    def report(where: Progress) -> None:
        if work.cancelled():
            raise Cancelled("The export was stopped. What was there before is unchanged.")
        work.progress(where)

    target = Path(path)
    chosen = format or format_for(target)
    target = chosen.main_file(target)
    table = history if merges is None else history.first(merges)
    chosen.refuse_the_impossible(table)
    files = _written(table, chosen, target, report)
    by_name = {one.name: content for one, content in files.items()}
    found = verify(
        files[target], chosen, table, name=str(target), text=text, beside=by_name.get, work=work, apart=apart
    )
    return PreparedExport(target, chosen, len(table), told_by(table), files, found)


def _written(table: History, chosen: Format, target: Path, report: ProgressReport) -> dict[Path, bytes]:
    files = {target: io.BytesIO()}
    chosen.write(table, files[target], progress=report)
    for companion, write in chosen.companions(target).items():
        write(table, files.setdefault(companion, io.BytesIO()))
    return {path: file.getvalue() for path, file in files.items()}
