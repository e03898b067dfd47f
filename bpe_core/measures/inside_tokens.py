"""The ends of words that fall inside tokens: places where a prompt may stop, and a model has never seen a text stop.

>>> from bpe_core.studies.making import train
>>> study = train("low low lower", "gpt2", merges=3)
>>> found = WordEnds()
>>> found.add(study.inside.by_index.tokenizer, "low lower", words_of("low lower"), 3)
>>> found.in_words.ends, found.in_words.inside, found.tokens
(2, 0, 4)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from bpe_core.methods.kit.tokenizer import Tokenizer
from bpe_core.segmenting.segmentation import NO_TOKEN
from bpe_core.splitting.normalization import byte_starts
from bpe_core.splitting.safe_cuts import SafeCuts
from bpe_core.support.progress import ALONE, Progress, Work
from bpe_core.text.corpus import Corpus
from bpe_core.text.word_ends import Word
from bpe_core.text.word_ends import words_of as words_of

PIECE = 1 << 18  # bytes of a long document that are looked at together
BLANKS = (ord(" "), ord("\n"))


@dataclass
class Ends:
    """The ends of words of one kind."""

    ends: int = 0
    inside: int = 0  # those of them inside a token

    @property
    def share(self) -> float:
        return self.inside / self.ends if self.ends else float("nan")


@dataclass
class WordEnds:
    """The ends of words of one text, as one tokenizer splits it."""

    by_kind: dict[str, Ends] = field(default_factory=dict)
    tokens: int = 0
    across: int = 0  # tokens that reach across the end of a word
    most: Counter[int] = field(default_factory=Counter)  # the times that each token does so

    @property
    def in_words(self) -> Ends:
        """Return the ends of all kinds together."""
        kinds = self.by_kind.values()
        return Ends(sum(one.ends for one in kinds), sum(one.inside for one in kinds))

    @property
    def share_across(self) -> float:
        return self.across / self.tokens if self.tokens else float("nan")

    def add(self, tokenizer: Tokenizer, text: str, words: Iterable[Word], at: int) -> None:
        """Count the ends of the words of a text that a tokenizer splits after `at` steps."""
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
    """Yield all texts in pieces that have the same words and tokens by themselves."""
    pairs = np.logical_and.reduce([SafeCuts.of(one.history.recipe).pairs for one in tokenizers])
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
