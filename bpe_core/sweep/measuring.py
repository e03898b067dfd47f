"""The measures of the runs in a sweep.

All runs that split texts into the same words share the counted words of the documents. Each run encodes these words at
each size.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from bpe_core.counting.count_words import count_texts
from bpe_core.counting.words import WordTable
from bpe_core.history.history import History
from bpe_core.measures.bits_per_byte import bits_per_byte, hold_out_tenth
from bpe_core.measures.bootstrap import DRAWS, LEAST, Bootstrap, interval, ratios
from bpe_core.measures.measures import OF_MORPHEMES_IN_SWEEPS, part_of
from bpe_core.measures.morphemes import Morphemes, SplitWordList
from bpe_core.measures.size_curves import renyi_efficiency
from bpe_core.measures.texts_in_words import TextsInWords, can_be_in_words, finds_specials, splitting_of
from bpe_core.methods.kit.tokenizer import Tokenizer
from bpe_core.recipes.recipe import Recipe
from bpe_core.support.arrays import Float64s, Int64s
from bpe_core.support.progress import CancelCheck, Work, never_cancelled, while_wanted
from bpe_core.text.characters import count_parts_between_blanks


class Cut(NamedTuple):
    tokens: Int64s
    counts: Int64s


@dataclass(frozen=True, eq=False)
class MeasuredTexts:
    documents: Sequence[str]
    bytes: Int64s  # of each document
    words: Int64s  # of each document: the parts between blanks
    in_words: TextsInWords | None

    @classmethod
    def of(cls, documents: Sequence[str], recipe: Recipe, cancelled: CancelCheck = never_cancelled) -> MeasuredTexts:
        texts = {str(place): [text] for place, text in enumerate(documents)}
        in_words = None
        if can_be_in_words(recipe):
            in_words = TextsInWords.of(texts, recipe, cancelled=cancelled)
        sizes = np.array([recipe.size_of(len(text.encode(errors="surrogatepass"))) for text in documents], np.int64)
        return cls(documents, sizes, np.array(list(map(count_parts_between_blanks, documents)), np.int64), in_words)

    def cuts(self, history: History, cancelled: CancelCheck = never_cancelled) -> Callable[[int], Cut]:
        """Return a function that encodes the documents.

        The argument of the function is the number of steps to encode with.

        Only one thread may call the function at a time.
        """
        tokenizer = Tokenizer(history)
        if self.in_words is not None and not finds_specials(tokenizer, {"": self.documents}):
            cut_at = self.in_words.cuts(history, cancelled=cancelled)
            return lambda at: Cut((cut := cut_at(at)).tokens_by_text, cut.counts_in_all)

        def encoded(at: int) -> Cut:
            counts = np.zeros(history.index_count, np.int64)
            lengths = []
            for text in while_wanted(self.documents, cancelled, every=1):
                ids = tokenizer.encode_to_array(text, at=at)
                counts += np.bincount(ids, minlength=history.index_count)
                lengths.append(len(ids))
            return Cut(np.array(lengths, np.int64), counts)

        return encoded

    def table(self, history: History) -> WordTable:
        if self.in_words is not None:
            return self.in_words.words
        return count_texts([self.documents], splitting_of(history.recipe)).words


def measured(
    history: History,
    sizes: Sequence[int],
    measured_texts: MeasuredTexts,
    *,
    learned: WordTable | None = None,
    is_held_out: bool = False,
    morphemes: Morphemes | None = None,
    cancelled: CancelCheck = never_cancelled,
) -> Iterator[dict[str, Any]]:
    """Yield the measures at each vocabulary size as a dictionary.

    `learned` holds the words that the tokenizer was trained on. Without it, bits per byte are not computed.

    If `is_held_out` is true, nothing was learned from `measured_texts`, and bits per byte are measured on these
    texts. Otherwise a tenth of the words in `learned` is held out, and bits per byte are measured on this tenth.
    """
    steps = [history.step_of_size(size) for size in sizes]
    cut_at = measured_texts.cuts(history, cancelled)
    cuts = [cut_at(step) for step in while_wanted(steps, cancelled, every=1)]
    tokens = np.array([cut.tokens for cut in cuts])
    fewer, more = intervals((measured_texts.bytes, measured_texts.words), tokens)
    bits = _bits(history, steps, measured_texts, learned, is_held_out, cancelled)
    cut_list = None if morphemes is None else SplitWordList(morphemes, history, cancelled)
    unknown = [id for id, symbol in enumerate(history.alphabet.symbols) if symbol.kind == "unknown"]
    whole = int(measured_texts.bytes.sum())
    words = int(measured_texts.words.sum())
    for place, (size, step) in enumerate(zip(sizes, steps, strict=True)):
        counts = cuts[place].counts
        total = int(tokens[place].sum())
        vocabulary = history.vocabulary_size_at(step)
        agreement = {} if cut_list is None else cut_list.counted(step)
        yield {
            "size": size,
            "vocabulary": vocabulary,
            "step": step,
            "documents": len(measured_texts.documents),
            "bytes": whole,
            "words": words,
            "tokens": total,
            "bytes_per_token": part_of(whole, total),
            "tokens_per_word": part_of(total, words),
            "renyi_efficiency": renyi_efficiency(counts),
            "share_in_use": int(np.count_nonzero(counts)) / vocabulary,
            "unknown_share": part_of(int(counts[unknown].sum()), total),
            "bits_per_byte": None if bits is None else bits[place],
            **{long: agreement[name] for long, name in OF_MORPHEMES_IN_SWEEPS.items() if agreement},
            "bytes_per_token_low": fewer[0][place],
            "bytes_per_token_high": fewer[1][place],
            "tokens_per_word_low": part_of(1, more[1][place]),
            "tokens_per_word_high": part_of(1, more[0][place]),
        }


def _bits(
    history: History,
    steps: list[int],
    measured_texts: MeasuredTexts,
    learned: WordTable | None,
    is_held_out: bool,
    cancelled: CancelCheck,
) -> list[float] | None:
    if learned is None:
        return None
    both = (learned, measured_texts.table(history)) if is_held_out else hold_out_tenth(learned)
    if not both[1].total:  # a single long word has no tenth that can be held out
        return None
    sizes = np.array([history.vocabulary_size_at(step) for step in steps], np.int64)
    by_size = bits_per_byte(*both, history, sizes, work=Work(cancelled=cancelled))
    of_size = dict(zip(by_size.sizes.tolist(), by_size.bits.tolist(), strict=True))
    return [of_size[size] for size in sizes.tolist()]


def intervals(several: Sequence[Int64s], of: Int64s, drawn: int = DRAWS) -> list[tuple[Float64s, Float64s]]:
    """Return 95 % intervals of ratios, computed from documents that are drawn at random (bootstrap).

    Each array in `several` has a number for each document, such as its bytes. Each row of `of` belongs to a
    vocabulary size, and also has a number for each document, such as its tokens. A ratio is the sum of an array
    divided by the sum of a row, such as the number of bytes per token.

    Each draw takes as many documents as there are, with replacement, and computes all ratios from the drawn
    documents. Each call makes the same draws. The result has two arrays for each array in `several`: the lower
    limits and the upper limits, with a limit for each size. With fewer than five documents, all limits are NaN.
    """
    count = of.shape[1]
    if count < LEAST:
        return [(np.full(len(of), np.nan), np.full(len(of), np.nan)) for _ in several]
    sums = Bootstrap(count, draws=drawn).sums(np.vstack([*several, of]))
    below = sums[:, len(several) :]
    return [interval(ratios(sums[:, [place]], below)) for place in range(len(several))]
