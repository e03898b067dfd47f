"""From a corpus to its distinct words and how often each occurs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice

from bpe_core.corpus import Chunk, Corpus
from bpe_core.errors import Cancelled
from bpe_core.normalization import normalize
from bpe_core.progress import CancelCheck, Progress, ProgressReport, ignore_progress, never_cancelled
from bpe_core.recipe import Recipe
from bpe_core.splitting import Splitter
from bpe_core.words import WordTable

WORDS_BETWEEN_CHECKS = 50_000  # some 30 ms


def count_words(
    corpus: Corpus,
    recipe: Recipe,
    *,
    progress: ProgressReport = ignore_progress,
    cancelled: CancelCheck = never_cancelled,
) -> WordTable:
    """The words of a corpus as the recipe splits it, in the order they are first seen.

    >>> list(count_words(Corpus.from_texts(["low lower low"]), Recipe.preset("words")))
    [(b'low', 2), (b'lower', 1)]
    """
    if corpus.word_counts is not None:
        return corpus.word_counts
    return count_plainly(corpus, recipe, progress=progress, cancelled=cancelled)


def count_plainly(
    corpus: Corpus,
    recipe: Recipe,
    *,
    progress: ProgressReport = ignore_progress,
    cancelled: CancelCheck = never_cancelled,
) -> WordTable:
    """The same in plain Python, and the only way for a person's own pattern.

    Line by line it needs little memory. Otherwise a whole document is held at a time: what an
    own expression matches may depend on any other place of the text.
    """
    counts: Counter[str] = Counter()
    splitter = Splitter(recipe)
    for text in _texts(_watched(corpus, progress, cancelled), may_cut_at_newlines(recipe)):
        words = splitter.words(normalize(text, recipe))
        while batch := list(islice(words, WORDS_BETWEEN_CHECKS)):
            counts.update(batch)
            _stop_if(cancelled)
    if recipe.pattern == "custom":
        splitter.check_it_matched()
    return WordTable.from_counts((word.encode(), count) for word, count in counts.items())


def may_cut_at_newlines(recipe: Recipe) -> bool:
    """Whether a document may be cut after any newline without changing a word.

    Lines are texts of their own then, and normalization never looks across a newline; but one
    that is removed, or belongs to a special token, ends no line.
    """
    newline_matters = "\n" in recipe.strip_marks or any("\n" in token for token in recipe.special_tokens)
    return recipe.unit == "line" and not newline_matters


def _watched(corpus: Corpus, progress: ProgressReport, cancelled: CancelCheck) -> Iterator[Chunk]:
    """The chunks of a corpus; before each, what was read is told and a wish to stop is heard."""
    total = corpus.total_size
    done_before = 0  # in the sources already finished
    source = read = 0
    for chunk in corpus.chunks():
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


def _texts(chunks: Iterable[Chunk], cut_at_newlines: bool) -> Iterator[str]:
    """Whole documents; or, where newlines may be cut at, runs of whole lines."""
    held: list[str] = []
    for chunk in chunks:
        text = str(chunk.data, "utf-8")
        if cut_at_newlines and not chunk.ends_document:
            cut = text.rfind("\n") + 1
            if cut:
                yield "".join([*held, text[:cut]])
                held, text = [], text[cut:]
        held.append(text)
        if chunk.ends_document:
            yield "".join(held)
            held = []
