"""The count of the word ends in a text that lie inside a token.

A prompt may stop at such a word end. But in the texts that a model was trained on, no token ended there.

>>> from bpe_core.studies.making import train
>>> study = train("low low lower", "gpt2", merges=3)
>>> ends = WordEnds()
>>> ends.add(study.inside.by_index.tokenizer, "low lower", words_of("low lower"), 3)
>>> ends.in_words.ends, ends.in_words.inside, ends.tokens
(2, 0, 4)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from bpe_core.counting.words import WordTable
from bpe_core.history.history import History
from bpe_core.insight.tokenized_words import TokenizedWords
from bpe_core.measures.benchmark import Columns, Tokenizers, contenders_of
from bpe_core.measures.size_curves import some_sizes
from bpe_core.methods.kit.tokenizer import Tokenizer
from bpe_core.segmenting.segmentation import NO_TOKEN
from bpe_core.splitting.normalization import byte_starts
from bpe_core.splitting.safe_cuts import SafeCuts
from bpe_core.support.arrays import Float64s, Int64s
from bpe_core.support.progress import ALONE, Progress, Work, while_wanted
from bpe_core.text.corpus import Corpus
from bpe_core.text.word_ends import Word
from bpe_core.text.word_ends import words_of as words_of

PIECE = 1 << 18  # bytes of a long document that are looked at together
BLANKS = (ord(" "), ord("\n"))


@dataclass
class Ends:
    """The number of word ends of one kind, and how many of these word ends are inside a token."""

    ends: int = 0
    inside: int = 0  # the ends that fall inside a token

    @property
    def share(self) -> float:
        return self.inside / self.ends if self.ends else float("nan")


@dataclass
class WordEnds:
    """A count of the word ends in texts that a tokenizer has split, and of the word ends inside tokens."""

    by_kind: dict[str, Ends] = field(default_factory=dict)
    tokens: int = 0
    across: int = 0  # tokens that reach across the end of a word
    most: Counter[int] = field(default_factory=Counter)  # the times that each token does so

    @property
    def in_words(self) -> Ends:
        """Return the number of word ends in the text, and how many of them are inside tokens.

        Both numbers are sums over all kinds of words in `by_kind`.
        """
        kinds = self.by_kind.values()
        return Ends(sum(kind.ends for kind in kinds), sum(kind.inside for kind in kinds))

    @property
    def share_across(self) -> float:
        return self.across / self.tokens if self.tokens else float("nan")

    def add(self, tokenizer: Tokenizer, text: str, words: Iterable[Word], at: int) -> None:
        """Count the ends of the words in a text. The tokenizer splits the text with its first `at` steps."""
        tokens = tokenizer.segmentation(text).tokens(at)
        known = tokens.ids != NO_TOKEN
        self.tokens += int(known.sum())
        stops: list[int] = []
        kinds: list[str] = []
        for _, stop, kind in words:
            stops.append(stop)
            kinds.append(kind)
        if not stops:
            return
        ends = np.array(stops, np.int64)
        ends = ends if text.isascii() else byte_starts(text)[ends]
        is_edge = np.zeros(int(tokens.edges[-1]) + 1, np.bool_)
        is_edge[tokens.edges] = True
        inside = ~is_edge[ends]
        for kind, times in Counter(kinds).items():
            self.by_kind.setdefault(kind, Ends()).ends += times
        for place in np.flatnonzero(inside).tolist():
            self.by_kind[kinds[place]].inside += 1
        holding = np.unique(np.searchsorted(tokens.edges, ends[inside]) - 1)
        self.across += len(holding)
        self.most.update(tokens.ids[holding].tolist())


def pieces_of(corpus: Corpus, tokenizers: Sequence[Tokenizer], work: Work = ALONE) -> Iterator[str]:
    """Yield all texts in pieces, so that a large text need not be in memory as a whole.

    A text is divided only at offsets that no word or token of any tokenizer crosses.
    """
    pairs = np.logical_and.reduce([SafeCuts.of(tokenizer.history.recipe).pairs for tokenizer in tokenizers])
    is_blank = np.isin(np.arange(256), BLANKS)
    cuts = SafeCuts(pairs & is_blank[None, :])
    total = corpus.total_size
    rest = bytearray()
    for chunk in corpus.chunks():
        work.check()
        work.progress(Progress("looking for the ends of words", chunk.bytes_read, total, "bytes"))
        rest += chunk.data
        length = len(rest) if chunk.ends_document else 0
        if len(rest) >= PIECE and not length:
            length = cuts.last(rest)
        if length:
            yield bytes(rest[:length]).decode()
            del rest[:length]
    if rest:
        yield rest.decode()


def inside_of_texts(tokenizers: Tokenizers, texts: Mapping[str, Sequence[str]], work: Work = ALONE) -> Columns:
    """Count the word ends inside tokens for each tokenizer and text. Return them as columns of a benchmark."""
    contenders = contenders_of(tokenizers)
    ends_of = {(contender.name, name): WordEnds() for contender in contenders for name in texts}
    for done, (name, documents) in enumerate(texts.items()):
        work.progress(Progress("looking for the ends of words", done, len(texts), "texts"))
        for text in documents:
            words = [*words_of(text)]
            for contender in contenders:
                work.check()
                ends_of[contender.name, name].add(contender.tokenizer, text, words, contender.at)
    rows = [ends.in_words for ends in ends_of.values()]
    return {
        "ends": np.array([row.ends for row in rows], np.int64),
        "inside": np.array([row.share for row in rows], np.float64),
    }


@dataclass(frozen=True, eq=False)
class InsideBySize:
    """The share of word ends that are inside a token, at some sizes of the vocabulary."""

    steps: Int64s
    sizes: Int64s
    shares: Float64s


def inside_by_size(words: WordTable, history: History, work: Work = ALONE) -> InsideBySize:
    """Return the share of word ends that are inside a token, at some sizes of the vocabulary.

    An entry of the table `words` is a word that the recipe makes, or a run of words if the method makes superwords. It
    may contain several words of the text, whose ends can be inside a token. The end of an entry counts as the end of a
    word if its last character is a letter or a digit.
    """
    cut = TokenizedWords.of(words, history.recipe, history, cancelled=work.cancelled)
    places, weights, total = _ends_inside_entries(words, work)
    order = np.unique([history.step_of_size(size) for size in some_sizes(history).tolist()])
    shares = np.full(len(order), np.nan)
    for done, step in enumerate(while_wanted(order.tolist(), work.cancelled, every=1)):
        work.progress(Progress("measuring", done, len(order), "sizes"))
        shares[done] = float(weights[~cut.starts_inside_words(step)[places]].sum()) / total if total else np.nan
    sizes = np.array([history.vocabulary_size_at(step) for step in order.tolist()], np.int64)
    return InsideBySize(order, sizes, shares)


def _ends_inside_entries(words: WordTable, work: Work) -> tuple[Int64s, Int64s, int]:
    """Find the ends of words that lie inside an entry of the table, and not at its end.

    No other word end can be inside a token. Return their offsets in the table's text, their counts, and the count of
    all word ends.
    """
    places: list[int] = []
    weights: list[int] = []
    total = 0
    starts = words.starts.tolist()
    for index, (raw, count) in enumerate(while_wanted(words, work.cancelled)):
        text = raw.decode(errors="replace")
        for _, stop, _ in words_of(text):
            total += count
            if stop < len(text):
                places.append(starts[index] + len(text[:stop].encode()))
                weights.append(count)
    return np.array(places, np.int64), np.array(weights, np.int64), total
