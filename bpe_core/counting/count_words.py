"""Functions that find the distinct words of a corpus, and count how often each of them occurs.

The compiled scanner counts large texts on all cores. Plain Python counts small texts, because loading the machine code
would take longer. Plain Python also counts texts with a pattern that the scanner cannot run. The words and their order
do not depend on this choice.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice

import numpy as np

from bpe_core.counting.borders import cut_at_borders, cut_numbers
from bpe_core.counting.count_files import why_not_from, word_list
from bpe_core.counting.counts_of_recipe import why_not_for
from bpe_core.counting.grouped import GroupedWords
from bpe_core.counting.watching import LineEnds, WholeTexts
from bpe_core.counting.words import CountedWords, PartCounts, WordTable
from bpe_core.errors import Cancelled, CorpusError, RecipeError
from bpe_core.kernels import readiness
from bpe_core.kernels.readiness import by_machine_code, use_machine_code
from bpe_core.kernels.stored_code import COUNTING
from bpe_core.kernels.stored_tables import scan_table
from bpe_core.recipes.recipe import Recipe
from bpe_core.splitting.normalization import function_to_normalize, normalize
from bpe_core.splitting.safe_cuts import SafeCuts, keeps_newlines
from bpe_core.splitting.splitter import Splitter, part_without_table
from bpe_core.support.limits import check_room, refuse_bomb, watching_memory
from bpe_core.support.progress import (
    ALONE,
    WORTH_TELLING,
    CancelCheck,
    Progress,
    Work,
    never_cancelled,
    while_wanted,
)
from bpe_core.text.corpus import Corpus
from bpe_core.text.patterns import WHOLE_NUMBERS
from bpe_core.text.reading.counts_head import CountsHead
from bpe_core.text.reading.source import Bytes, Chunk, one_by_one
from bpe_core.text.specials import parts_of

WORDS_BETWEEN_CHECKS = 50_000  # about 30 ms of work
LARGE = 100_000  # average characters of a text; looking through all tables takes as long as counting so many

# copies of a document that is split as a whole: its parts, the text, the normalized text, its words
COPIES_HELD = 4
BYTES_A_WORD = 150  # bytes of memory for a word in Python, besides its characters, until the words become a table
SHORT_TEXT = 1 << 16  # bytes; plain Python looks for machine code after as many characters
PIECE = 1_000_000  # characters of a normalized text that become bytes at a time
WORTH_A_REMARK = 200_000  # bytes of a text that a slow pattern takes more than a moment to split
FEWER_WORDS = (
    "Count fewer texts, choose a pattern that makes fewer different words, or count line by line: then less of "
    "a long text is in memory at a time."
)


def count_words(corpus: Corpus, recipe: Recipe, work: Work = ALONE) -> WordTable:
    """Count the words of a corpus, in first-seen order.

    The recipe splits the texts into words. If it has a mixture, the groups of texts are weighted.

    Parameters
    ----------
    corpus
        The texts to count.
    recipe
        The recipe that splits texts into words and weights groups.
    work
        The callbacks that receive the progress and may cancel the work.

    Examples
    --------
    >>> list(count_words(Corpus.from_texts(["low lower low"]), Recipe.preset("words")))
    [(b'low', 2), (b'lower', 1)]
    """
    if recipe.mixture is not None:
        return count_groups(corpus, recipe, work).learned_by(recipe)
    return count_unmixed(corpus, recipe, work)


def count_groups(corpus: Corpus, recipe: Recipe, work: Work = ALONE) -> GroupedWords:
    """Count the words of each group. If the recipe's mixture takes samples of the groups, count only the samples.

    The weights of the mixture are not applied.
    """
    total = corpus.total_size
    done = 0
    tables = {}
    for name, part in corpus.parts(recipe.mixture).items():
        tables[name] = count_unmixed(part, recipe, callbacks_for_part(work, done, total))
        done += part.total_size or 0
    return GroupedWords.of(tables)


def callbacks_for_part(work: Work, done: int, total: int | None) -> Work:
    """Return the callbacks for a part of a count. They report the progress of the whole count.

    `done` is the number of bytes before this part, and `total` is the number of bytes of the whole count.
    """

    def report(at: Progress) -> None:
        work.progress(replace(at, done=done + at.done, total=total) if at.stage == "counting" else at)

    return replace(work, progress=report)


def count_unmixed(corpus: Corpus, recipe: Recipe, work: Work = ALONE, by_kernels: bool | None = None) -> WordTable:
    """Split a corpus into words by the recipe, and count the words. Ignore the mixture of the recipe.

    If `by_kernels` is None, the size of the texts decides between machine code and plain Python. A match of a
    custom pattern can depend on any part of its text. So plain Python keeps a whole document in memory, unless
    each line is a separate text.

    If the first stage of the recipe splits the texts differently, the texts are counted twice.
    """
    table = _counted_once(corpus, recipe, work, by_kernels)
    first = recipe.recipe_at_first
    if first is None:
        return table
    if corpus.word_counts is not None or corpus.word_lists:
        raise CorpusError(
            "The first stage of this recipe splits whole lines, but these texts are known only as counted words. Name "
            "the texts, or choose a recipe whose first stage splits runs of words."
        )
    return replace(table, at_first=_counted_once(corpus, first, work, by_kernels))


def _counted_once(corpus: Corpus, recipe: Recipe, work: Work, by_kernels: bool | None) -> WordTable:
    if not recipe.border:
        return _as_they_are(corpus, recipe, work, by_kernels)
    if normalize(recipe.border, recipe) != recipe.border:
        raise RecipeError(
            f"The recipe changes or removes the border {recipe.border} before it splits texts. Choose another border."
        )
    return cut_at_borders(_as_they_are(corpus, recipe, work, by_kernels), recipe.border)


def _as_they_are(corpus: Corpus, recipe: Recipe, work: Work, by_kernels: bool | None) -> WordTable:
    if corpus.word_counts is not None:
        return WordTable.from_counts(corpus.word_counts)
    whole = WHOLE_NUMBERS.get(recipe.custom_pattern)
    if whole is not None and not corpus.word_lists and not recipe.older_unicode:
        return cut_numbers(_as_they_are(corpus, recipe.with_changes(custom_pattern=whole), work, by_kernels))
    count = _Count(corpus, recipe, _watching(work), by_kernels)
    if not corpus.word_lists:
        return count.texts()
    return WordTable.merged([*([count.texts()] if corpus.has_texts else []), *count.given_lists()])


def _watching(work: Work) -> Work:
    return replace(work, cancelled=watching_memory(work.cancelled, "Counting", FEWER_WORDS))


def count_in_runs(
    corpus: Corpus, recipe: Recipe, room: int | None, work: Work = ALONE, threads: int | None = None
) -> Iterator[WordTable]:
    """Count the words of a corpus without the mixture of the recipe. Yield one table, or several tables in order.

    When a table needs more than `room` bytes, the next table begins. Without machine code, there is always one table.
    """
    is_simple = counts_in_runs(recipe) and corpus.word_counts is None and not corpus.word_lists
    size = corpus.total_size
    is_one_table = room is None or (size is not None and size <= room) or not is_simple
    if is_one_table or not by_machine_code(size or readiness.SAMPLE + 1, COUNTING, work, is_needed=False):
        yield count_unmixed(corpus, recipe, work)
        return
    from bpe_core.counting import counter  # loads machine code

    table = scan_table(recipe)
    assert table is not None  # patterns with a scanner have a table
    yield from counter.count_in_runs(scanned_texts(corpus, recipe, work), table, room=room, threads=threads)


def counts_in_runs(recipe: Recipe) -> bool:
    """Return whether the words of one text can be counted into several tables.

    If they cannot, each text needs a single table, however large it is.
    """
    scans = recipe.pattern != "custom" and not recipe.splits_by_steps and not _takes_whole_documents(recipe)
    return scans and not recipe.asks_for_line_ends and not recipe.border


def scanned_texts(corpus: Corpus, recipe: Recipe, work: Work = ALONE) -> Iterator[Chunk]:
    return _scanned(_Count(corpus, recipe, _watching(work)).chunks(recipe.asks_for_line_ends), recipe)


def count_texts(
    texts: Sequence[Sequence[str]],
    recipe: Recipe,
    *,
    done: Callable[[], object] = lambda: None,
    cancelled: CancelCheck = never_cancelled,
) -> CountedWords:
    """Count the words of several texts that are only measured. No vocabulary is learned from these texts.

    Each text is a sequence of documents. Large texts are counted in shared tables. `done` is called after each text.

    A recipe can have a border: a character that no merge crosses. The border matters only for learning, so here it is
    an ordinary character.
    """
    recipe = recipe.with_changes(border="") if recipe.border else recipe

    def corpora() -> Iterator[Corpus]:
        for documents in while_wanted(texts, cancelled, every=1):
            yield Corpus.from_texts(documents)
            done()

    work = Work(cancelled=cancelled)
    size = sum(len(document) for documents in texts for document in documents)
    table = scan_table(recipe) if counts_in_runs(recipe) and size >= LARGE * len(texts) else None
    if table is None or not use_machine_code(size, COUNTING, work):
        tables = (count_unmixed(corpus, recipe, work) for corpus in corpora())
        return CountedWords.joined(
            [CountedWords(words, [PartCounts(np.arange(len(words)), words.counts)]) for words in tables]
        )
    from bpe_core.counting.counter import count_texts_compiled  # loads machine code

    counted = count_texts_compiled((scanned_texts(corpus, recipe, work) for corpus in corpora()), table)
    given = sum(len(document.encode()) for documents in texts for document in documents)
    return counted._replace(words=replace(counted.words, text_bytes=recipe.size_of(given)))


@dataclass(frozen=True)
class _Count:
    corpus: Corpus
    recipe: Recipe
    work: Work
    by_kernels: bool | None = None

    def texts(self) -> WordTable:
        asks_for_line_ends = self.recipe.asks_for_line_ends
        size = 0

        def measured(chunks: Iterator[Chunk]) -> Iterator[Chunk]:
            nonlocal size
            for chunk in chunks:
                size += len(chunk.data)
                yield chunk

        chunks = measured(self.chunks(asks_for_line_ends))
        if not asks_for_line_ends:
            words = self._counted(chunks)
        else:
            lines = LineEnds(self.recipe)
            words = lines.added_to(self._counted(lines.watched(chunks)))
        return replace(words, text_bytes=self.recipe.size_of(size))

    def given_lists(self) -> Iterator[WordTable]:
        """Yield a table of words for each file that holds words with their counts.

        Report a table that was recognized only by its column names. Also report a table if the recipe would split a
        text into other words than the words of the table.
        """
        for reader in self.corpus.word_lists:
            name = reader.source.name
            log = self.corpus.remarks
            counted = reader.source.counted
            if counted and (why := why_not_for(CountsHead.from_json(counted, name), name, self.recipe)):
                raise CorpusError(why)
            table = word_list(reader.source, reader.options, log, self.work.cancelled)
            if reader.options.word_list is None and not counted:
                log.add(
                    name,
                    f"{name} is read as a list of words with their counts, because its columns have the usual names "
                    "of such lists",
                )
            if not counted and (why := why_not_from(table, self.recipe)):
                log.add(name, f"{name}: the recipe would split texts into words other than those of this list: {why}")
            yield table

    def chunks(self, line_by_line: bool) -> Iterator[Chunk]:
        """Yield the chunks of the corpus and report the progress.

        A chunk may hold many documents if only the scanner reads it.
        """
        total = self.corpus.total_size
        done_before = 0  # bytes of the sources that are finished
        source = read = 0
        several = _can_be_scanned_unchanged(self.recipe) and not line_by_line
        if (total or 0) >= WORTH_TELLING:
            self.work.progress(Progress("counting", 0, total, "bytes", self.corpus.sources[0].name))
        for chunk in self.corpus.chunks(several=several, base_symbols=self.recipe.base_symbols):
            self._stop_if_cancelled()
            if chunk.source != source:
                done_before = done_before + read
                source = chunk.source
            read = chunk.bytes_read
            done = done_before + read if total is None else min(done_before + read, total)
            yield chunk
            self.work.progress(Progress("counting", done, total, "bytes", self.corpus.sources[source].name))

    def _stop_if_cancelled(self) -> None:
        if self.work.cancelled():
            raise Cancelled("Counting was stopped.")

    def _counted(self, chunks: Iterator[Chunk]) -> WordTable:
        beginning = list(_up_to(chunks, readiness.SAMPLE + 1 if self.by_kernels is None else 0))
        everything = chain(beginning, chunks)
        if self.by_kernels is None and _takes_whole_documents(self.recipe):
            return _counted_as_wholes(everything)
        wanted = self._should_use_kernels(sum(len(chunk.data) for chunk in beginning))
        return self._counted_by_kernels(everything) if wanted else self._counted_plainly(everything)

    def _should_use_kernels(self, read: int) -> bool:
        """Return whether to count with machine code after `read` bytes of the texts have been counted.

        Machine code needs a table of the pattern. If the texts are large and the pattern has no table, add a remark
        that this pattern is slow.
        """
        if self.by_kernels is not None:
            return self.by_kernels
        size = read if read <= readiness.SAMPLE else max(read, self.corpus.total_size or 0)
        if size > readiness.SAMPLE and self._scans and use_machine_code(size, COUNTING, self.work):
            return True
        self._stop_if_cancelled()
        if size >= WORTH_A_REMARK and (why := part_without_table(self.recipe)):
            said = f"this pattern is slow ({why}). Other patterns split texts up to a hundred times as fast"
            self.corpus.remarks.add("The pattern", said)
        return False

    def _counted_plainly(self, chunks: Iterable[Chunk]) -> WordTable:
        counts: Counter[str] = Counter()
        splitter = Splitter(self.recipe)
        normalized = function_to_normalize(self.recipe)
        texts = _short_texts(one_by_one(chunks), SafeCuts.of(self.recipe, table=scan_table(self.recipe)))
        since_look = 0  # characters
        for text in texts:
            words = splitter.words(text if normalized is None else normalized(text))
            while batch := list(islice(words, WORDS_BETWEEN_CHECKS)):
                counts.update(batch)
                self._stop_if_cancelled()
            since_look += len(text)
            if since_look > SHORT_TEXT:
                since_look = 0
                if self._can_continue_by_kernels(splitter):
                    rest = self._counted_by_kernels((Chunk(text.encode(), True) for text in texts), has_matched=True)
                    return WordTable.merged([_table_of(counts), rest])
        if self.recipe.pattern == "custom":
            splitter.check_has_matched()
        return _table_of(counts)

    def _can_continue_by_kernels(self, splitter: Splitter) -> bool:
        """Return whether machine code has become ready during the count, and can count the remaining texts.

        If machine code cannot be stored in a folder, start to compile it in memory for this process alone.
        """
        if (
            self.by_kernels is not None
            or not self._scans
            or (self.recipe.pattern == "custom" and not splitter.has_matched)
        ):
            return False
        readiness.prepare(in_memory=True)
        return readiness.is_ready(COUNTING)

    @property
    def _scans(self) -> bool:
        return not self.recipe.splits_by_steps and scan_table(self.recipe) is not None

    def _counted_by_kernels(self, chunks: Iterable[Chunk], *, has_matched: bool = False) -> WordTable:
        from bpe_core.counting.counter import count_compiled  # loads machine code

        table = scan_table(self.recipe)
        assert table is not None  # the caller checked it
        scanned = _scanned(chunks, self.recipe)
        if self.recipe.pattern != "custom" or has_matched:
            return count_compiled(scanned, table)
        texts = WholeTexts(self.recipe)
        words = count_compiled(texts.watched(scanned), table)
        texts.check_has_matched(words)
        return words


def _table_of(counts: Counter[str]) -> WordTable:
    check_room(BYTES_A_WORD * len(counts), "Making the table of words", FEWER_WORDS)
    try:
        return WordTable.from_counts((word.encode(), count) for word, count in counts.items())
    except UnicodeEncodeError as error:
        raise RecipeError(
            "This tokenizer's file splits some words inside a character. The tokenizer can encode texts, but "
            "their words cannot be counted or learned from."
        ) from error


def _counted_as_wholes(chunks: Iterable[Chunk]) -> WordTable:
    """Count each document as one word. The documents are not searched, so they need not be text."""
    counts: Counter[bytes] = Counter()
    held: list[Bytes] = []
    for chunk in chunks:
        held.append(chunk.data)
        refuse_bomb(sum(map(len, held)), chunk.bytes_read)
        if chunk.ends_document:
            check_room(sum(map(len, held)), "Holding a text as one word", FEWER_WORDS)
            counts[b"".join(held)] += 1
            held = []
    return WordTable.from_counts(counts.items())


def _takes_whole_documents(recipe: Recipe) -> bool:
    is_one_word = recipe.pattern == "none" and recipe.unit == "file"
    return is_one_word and not recipe.splits_by_steps and not recipe.normalizes and not recipe.special_tokens


def _can_be_scanned_unchanged(recipe: Recipe) -> bool:
    """Return whether the scanner can read the bytes of the texts unchanged.

    It then needs only these bytes and the offsets at which documents end.
    """
    return not (recipe.normalizes or recipe.special_tokens or _takes_whole_documents(recipe))


def _scanned(chunks: Iterable[Chunk], recipe: Recipe) -> Iterator[Chunk]:
    """Yield the chunks of text for the scanner.

    If the recipe needs it, the chunks are normalized and special tokens are removed from them.
    """
    if _can_be_scanned_unchanged(recipe):
        yield from chunks
        return
    normalized = function_to_normalize(recipe)
    for text, ends_document in _texts(chunks, keeps_newlines(recipe)):
        text = text if normalized is None else normalized(text)
        for part, is_special in parts_of(text, recipe.special_tokens):
            if is_special:
                yield Chunk(b"", True)
                continue
            for start in range(0, len(part), PIECE):
                yield Chunk(part[start : start + PIECE].encode(), False)
        if ends_document:
            yield Chunk(b"", True)


def _up_to(chunks: Iterator[Chunk], enough: int) -> Iterator[Chunk]:
    held = 0
    while held < enough and (chunk := next(chunks, None)) is not None:
        held += len(chunk.data)
        yield chunk


def _short_texts(chunks: Iterable[Chunk], cuts: SafeCuts) -> Iterator[str]:
    """Divide documents into short texts, without dividing a word.

    Splitting short texts into words takes half as long as splitting whole documents.
    """
    held = bytearray()
    for chunk in chunks:
        held += chunk.data
        while len(held) > SHORT_TEXT and (cut := cuts.last(held[:SHORT_TEXT])):
            yield held[:cut].decode()
            del held[:cut]
        if len(held) > SHORT_TEXT:
            refuse_bomb(len(held), chunk.bytes_read)
        if chunk.ends_document:
            if len(held) > SHORT_TEXT:
                check_room(COPIES_HELD * len(held), "Splitting a text as a whole", FEWER_WORDS)
            yield held.decode()
            held.clear()


def _texts(chunks: Iterable[Chunk], cut_at_newlines: bool) -> Iterator[tuple[str, bool]]:
    """Yield the texts of documents, each with a flag that says whether the document ends after this text.

    If `cut_at_newlines` is true, a long document is yielded in several texts, which consist of whole lines.
    """
    held: list[str] = []
    for chunk in chunks:
        text = str(chunk.data, "utf-8")
        if cut_at_newlines and not chunk.ends_document:
            cut = text.rfind("\n") + 1
            if cut:
                yield "".join([*held, text[:cut]]), False
                held = []
                text = text[cut:]
        held.append(text)
        refuse_bomb(sum(map(len, held)), chunk.bytes_read)
        if chunk.ends_document:
            check_room(COPIES_HELD * sum(map(sys.getsizeof, held)), "Splitting a text as a whole", FEWER_WORDS)
            yield "".join(held), True
            held = []
