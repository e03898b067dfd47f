"""From a corpus to its distinct words and how often each occurs.

Large texts are counted by the compiled scanner, on all cores. Small ones are done in plain
Python before machine code would be loaded, and what a pattern finds that has no table is only known
by trying it. Whichever way, the words and their order are the same.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import chain, islice
from typing import TYPE_CHECKING

from bpe_core.counting.line_ends import LineEnds
from bpe_core.counting.whole_texts import WholeTexts
from bpe_core.counting.words import WordTable
from bpe_core.errors import Cancelled, CorpusError, RecipeError
from bpe_core.kernels.policy import Policy
from bpe_core.limits import check_room, watching_memory
from bpe_core.progress import CancelCheck, Progress, ProgressReport, ignore_progress, never_cancelled
from bpe_core.recipe import Recipe
from bpe_core.text.blocks import Stretch
from bpe_core.text.corpus import Chunk, Corpus
from bpe_core.text.normalization import normalize
from bpe_core.text.own_patterns import why_slow
from bpe_core.text.reading.counted import CountsHead
from bpe_core.text.reading.source import Bytes
from bpe_core.text.safe_cuts import keeps_newlines, may_cut_at_newlines
from bpe_core.text.scanner import ScanTable, table_for
from bpe_core.text.specials import parts_of
from bpe_core.text.splitting import Splitter

if TYPE_CHECKING:
    from bpe_core.counting.grouped import GroupedWords

# In bytes. Very much text would take plain Python much memory, too.
KERNELS = Policy("bpe_core.counting.compiled", small=200_000, small_when_loaded=10_000, large=100_000_000)

WORDS_BETWEEN_CHECKS = 50_000  # some 30 ms

COPIES_HELD = 4  # of a document that is split as a whole: its parts, the text, the normalized text, its words
BYTES_A_WORD = 150  # of memory, besides its characters, until the words that Python has counted are a table
PIECE = 1_000_000  # characters of a normalized text that become bytes at a time
FEWER_WORDS = (
    "Count fewer texts, choose a pattern that leaves fewer different words, or count line by line, which holds less "
    "of a long text at a time."
)


def count_words(
    corpus: Corpus,
    recipe: Recipe,
    *,
    progress: ProgressReport = ignore_progress,
    cancelled: CancelCheck = never_cancelled,
) -> WordTable:
    """The words of a corpus as the recipe splits and mixes it, in the order they are first seen.

    >>> list(count_words(Corpus.from_texts(["low lower low"]), Recipe.preset("words")))
    [(b'low', 2), (b'lower', 1)]
    """
    if recipe.mixture is not None:
        return count_groups(corpus, recipe, progress=progress, cancelled=cancelled).weighted(recipe.mixture)
    return count_unmixed(corpus, recipe, progress=progress, cancelled=cancelled)


def count_groups(
    corpus: Corpus,
    recipe: Recipe,
    *,
    progress: ProgressReport = ignore_progress,
    cancelled: CancelCheck = never_cancelled,
) -> GroupedWords:
    """The words of each group of a corpus, of what the recipe's mixture takes of it; weights come after.

    >>> groups = {"de": Corpus.from_texts(["low low"]), "code": Corpus.from_texts(["new low"])}
    >>> words = count_groups(Corpus.grouped(groups), Recipe.preset("words"))
    >>> list(words.words), list(words.table_of("code"))
    ([(b'low', 3), (b'new', 1)], [(b'low', 1), (b'new', 1)])
    """
    total, done = corpus.total_size, 0
    tables = {}
    for name, part in corpus.parts(recipe.mixture).items():

        def told(at: Progress, done: int = done) -> None:
            is_counting = at.stage == "counting"
            progress(replace(at, done=done + at.done, total=total) if is_counting else at)

        tables[name] = count_unmixed(part, recipe, progress=told, cancelled=cancelled)
        done += part.total_size or 0
    from bpe_core.counting.grouped import GroupedWords  # loads fractions

    return GroupedWords.of(tables)


def count_unmixed(
    corpus: Corpus,
    recipe: Recipe,
    *,
    progress: ProgressReport = ignore_progress,
    cancelled: CancelCheck = never_cancelled,
) -> WordTable:
    """The words of a corpus as the recipe splits it, whatever it mixes: of a text that is only looked at."""
    if corpus.word_counts is not None:
        return corpus.word_counts
    cancelled = watching_memory(cancelled, "Counting", FEWER_WORDS)

    if not corpus.word_lists:
        return _counted_texts(corpus, recipe, progress, cancelled)
    tables = [_counted_texts(corpus, recipe, progress, cancelled)] if corpus.has_texts else []
    return WordTable.merged([*tables, *_given_lists(corpus, recipe, cancelled)])


def _counted_texts(corpus: Corpus, recipe: Recipe, progress: ProgressReport, cancelled: CancelCheck) -> WordTable:
    """The words of all that is text, with how large it was as it was given."""
    size = 0

    def measured(chunks: Iterator[Chunk]) -> Iterator[Chunk]:
        nonlocal size
        for chunk in chunks:
            size += len(chunk.data)
            yield chunk

    def counted(chunks: Iterator[Chunk]) -> WordTable:
        return _counted(chunks, corpus, recipe, progress, cancelled)

    words = _with_line_ends(measured(_watched_for(corpus, recipe, progress, cancelled)), recipe, counted)
    return replace(words, text_bytes=size)


def count_in_runs(
    corpus: Corpus,
    recipe: Recipe,
    room: int | None,
    *,
    threads: int | None = None,
    progress: ProgressReport = ignore_progress,
    cancelled: CancelCheck = never_cancelled,
) -> Iterator[WordTable]:
    """What `count_unmixed` counts, in several tables where one would take more room, in bytes, than that.

    Merged in their order they are the one. Texts of which more than their words is asked, and those that Python
    splits, are one table each.
    """
    is_simple = counts_in_runs(recipe) and corpus.word_counts is None and not corpus.word_lists
    size = corpus.total_size
    if room is None or not is_simple or not KERNELS.chooses(KERNELS.large if size is None else size):
        yield count_unmixed(corpus, recipe, progress=progress, cancelled=cancelled)
        return
    from bpe_core.counting import compiled  # loads machine code

    table = scan_table(recipe)
    assert table is not None  # scanned patterns have one
    stretches = stretches_of(corpus, recipe, cancelled, progress)
    yield from compiled.count_in_runs(stretches, table, room=room, threads=threads)


def stretches_of(
    corpus: Corpus, recipe: Recipe, cancelled: CancelCheck, progress: ProgressReport = ignore_progress
) -> Iterator[Stretch]:
    """What of a corpus is to be scanned for words."""
    cancelled = watching_memory(cancelled, "Counting", FEWER_WORDS)
    return _stretches(_watched_for(corpus, recipe, progress, cancelled), recipe)


def counts_in_runs(recipe: Recipe) -> bool:
    """Whether the words of one text can be several tables; else a text has one table, however large."""
    scans = recipe.pattern != "custom" and not recipe.splits_by_steps and not _takes_whole_documents(recipe)
    return scans and not recipe.asks_for_line_ends


def _given_lists(corpus: Corpus, recipe: Recipe, cancelled: CancelCheck) -> Iterator[WordTable]:
    """The words that were counted elsewhere; what is odd about them is told."""
    from bpe_core.counting.word_lists import why_not_from, word_list  # knows all kinds of files

    for reader in corpus.word_lists:
        name, log = reader.source.name, corpus.remarks
        if reader.source.counted:
            if why := CountsHead.from_json(reader.source.counted, name).why_not_for(name, recipe):
                raise CorpusError(why)
            yield word_list(reader.source, reader.options, log, cancelled)
            continue
        table = word_list(reader.source, reader.options, log, cancelled)
        if reader.options.word_list is None:
            log.add(name, f"{name} is read as a list of words with their counts: so its columns are named")
        if why := why_not_from(table, recipe):
            log.add(name, f"{name}: these words are not as the recipe splits texts: {why}")
        yield table


def _counted(
    chunks: Iterator[Chunk], corpus: Corpus, recipe: Recipe, progress: ProgressReport, cancelled: CancelCheck
) -> WordTable:
    beginning = list(_up_to(chunks, KERNELS.least))
    if _takes_whole_documents(recipe):
        return _counted_as_wholes(chain(beginning, chunks))
    read = sum(len(chunk.data) for chunk in beginning)
    size = read if read < KERNELS.least else max(read, corpus.total_size or 0)
    scans = size >= KERNELS.least and not recipe.splits_by_steps and scan_table(recipe) is not None
    if scans and KERNELS.chooses(size, waiting=_told(progress), cancelled=cancelled):
        return _counted_by_kernels(chain(beginning, chunks), recipe)
    _stop_if(cancelled)
    if size >= KERNELS.small and (why := why_slow(recipe)):
        corpus.remarks.add("The pattern", f"this one is slow ({why}); others are split up to a hundred times as fast")
    documents = (one for chunk in chain(beginning, chunks) for one in chunk.documents())
    return _counted_plainly(documents, recipe, cancelled)


def count_plainly(
    corpus: Corpus,
    recipe: Recipe,
    *,
    progress: ProgressReport = ignore_progress,
    cancelled: CancelCheck = never_cancelled,
) -> WordTable:
    """The same in plain Python, and the only way for a pattern that has no table.

    Line by line it needs little memory. Otherwise a whole document is held at a time: what an
    own expression matches may depend on any other place of the text.
    """
    chunks = _watched(corpus, progress, cancelled)
    return _with_line_ends(chunks, recipe, lambda chunks: _counted_plainly(chunks, recipe, cancelled))


def count_by_kernels(
    corpus: Corpus,
    recipe: Recipe,
    *,
    progress: ProgressReport = ignore_progress,
    cancelled: CancelCheck = never_cancelled,
) -> WordTable:
    """The same with the compiled scanner, ready or compiled first; for patterns that have a table."""
    chunks = _watched(corpus, progress, cancelled)
    return _with_line_ends(chunks, recipe, lambda chunks: _counted_by_kernels(chunks, recipe))


def _with_line_ends(
    chunks: Iterator[Chunk], recipe: Recipe, counted: Callable[[Iterator[Chunk]], WordTable]
) -> WordTable:
    """Count, and look on the way which words end lines where the method asks for that."""
    if not recipe.asks_for_line_ends:
        return counted(chunks)
    lines = LineEnds(recipe)
    return lines.told(counted(lines.watched(chunks)))


def _counted_as_wholes(chunks: Iterable[Chunk]) -> WordTable:
    """Where each document is one word there is nothing to find in it, so it need not even be text."""
    counts: Counter[bytes] = Counter()
    held: list[Bytes] = []
    for chunk in chunks:
        held.append(chunk.data)
        if chunk.ends_document:
            check_room(sum(map(len, held)), "Holding a text as one word", FEWER_WORDS)
            counts[b"".join(held)] += 1
            held = []
    return WordTable.from_counts(counts.items())


def _counted_plainly(chunks: Iterable[Chunk], recipe: Recipe, cancelled: CancelCheck) -> WordTable:
    counts: Counter[str] = Counter()
    splitter = Splitter(recipe)
    for text, _ in _texts(chunks, may_cut_at_newlines(recipe)):
        words = splitter.words(normalize(text, recipe))
        while batch := list(islice(words, WORDS_BETWEEN_CHECKS)):
            counts.update(batch)
            _stop_if(cancelled)
    if recipe.pattern == "custom":
        splitter.check_it_matched()
    check_room(BYTES_A_WORD * len(counts), "Making a table of the words", FEWER_WORDS)
    try:
        return WordTable.from_counts((word.encode(), count) for word, count in counts.items())
    except UnicodeEncodeError as error:
        raise RecipeError(
            "The preparation of this recipe cuts some words inside a character, as its file says; such words can be "
            "encoded, but not counted or learned from."
        ) from error


def _counted_by_kernels(chunks: Iterable[Chunk], recipe: Recipe) -> WordTable:
    from bpe_core.counting.compiled import count_compiled  # loads machine code

    table = scan_table(recipe)
    assert table is not None  # the caller saw to it
    if recipe.pattern != "custom":
        return count_compiled(_stretches(chunks, recipe), table)
    texts = WholeTexts(recipe)
    words = count_compiled(texts.watched(_stretches(chunks, recipe)), table)
    texts.check_it_matched(words)
    return words


def scan_table(recipe: Recipe) -> ScanTable | None:
    """What the scanner goes by; None where Python has to split."""
    return table_for(recipe.pattern, recipe.unit, recipe.custom_pattern, older=recipe.older_unicode)


def _stretches(chunks: Iterable[Chunk], recipe: Recipe) -> Iterator[Stretch]:
    """What is to be scanned: the text as it is, or normalized and without its special tokens."""
    if _scans_as_it_is(recipe):
        yield from (Stretch(chunk.data, chunk.ends_document, chunk.inner_ends) for chunk in chunks)
        return
    for text, ends_document in _texts(chunks, keeps_newlines(recipe)):
        for part, is_special in parts_of(normalize(text, recipe), recipe.special_tokens):
            if is_special:
                yield Stretch(b"", True)
                continue
            for start in range(0, len(part), PIECE):
                yield Stretch(part[start : start + PIECE].encode(), False)
        if ends_document:
            yield Stretch(b"", True)


def _scans_as_it_is(recipe: Recipe) -> bool:
    """Whether the scanner is given the bytes that were read, and where documents end in them."""
    return not (recipe.normalizes or recipe.special_tokens or _takes_whole_documents(recipe))


def _takes_whole_documents(recipe: Recipe) -> bool:
    is_one_word = recipe.pattern == "none" and recipe.unit == "file"
    return is_one_word and not recipe.splits_by_steps and not recipe.normalizes and not recipe.special_tokens


def _told(progress: ProgressReport) -> Callable[[], None]:
    """Tells that the compiler is waited for."""
    about = "compiling for this computer, which is done only once"
    return lambda: progress(Progress("preparing", 0, None, "bytes", about))


def _up_to(chunks: Iterator[Chunk], enough: int) -> Iterator[Chunk]:
    """The first chunks, until they hold enough bytes."""
    held = 0
    while held < enough and (chunk := next(chunks, None)) is not None:
        held += len(chunk.data)
        yield chunk


def _watched_for(corpus: Corpus, recipe: Recipe, progress: ProgressReport, cancelled: CancelCheck) -> Iterator[Chunk]:
    """Many documents at once where nothing but the scanner looks at them."""
    several = _scans_as_it_is(recipe) and not recipe.asks_for_line_ends
    return _watched(corpus, progress, cancelled, several=several)


def _watched(
    corpus: Corpus, progress: ProgressReport, cancelled: CancelCheck, *, several: bool = False
) -> Iterator[Chunk]:
    """The chunks of a corpus; before each, what was read is told and a wish to stop is heard."""
    total = corpus.total_size
    done_before = 0  # in the sources already finished
    source = read = 0
    for chunk in corpus.chunks(several=several):
        _stop_if(cancelled)
        if chunk.source != source:
            done_before, source = done_before + read, chunk.source
        read = chunk.bytes_read
        done = done_before + read if total is None else min(done_before + read, total)
        yield chunk
        progress(Progress("counting", done, total, "bytes", corpus.sources[source].name))


def _stop_if(cancelled: CancelCheck) -> None:
    if cancelled():
        raise Cancelled("Counting was stopped.")


def _texts(chunks: Iterable[Chunk], cut_at_newlines: bool) -> Iterator[tuple[str, bool]]:
    """Whole documents; or, where newlines may be cut at, runs of whole lines. True where a document ends."""
    held: list[str] = []
    for chunk in chunks:
        text = str(chunk.data, "utf-8")
        if cut_at_newlines and not chunk.ends_document:
            cut = text.rfind("\n") + 1
            if cut:
                yield "".join([*held, text[:cut]]), False
                held, text = [], text[cut:]
        held.append(text)
        if chunk.ends_document:
            check_room(COPIES_HELD * sum(map(sys.getsizeof, held)), "Splitting a text as a whole", FEWER_WORDS)
            yield "".join(held), True
            held = []
