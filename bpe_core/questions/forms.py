"""The question `forms`. It asks whether a word is split at the same letters wherever it occurs in a text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from bpe_core.asking import Answer, Question, parameter
from bpe_core.asking.shared import at_sizes, sizes_parameter
from bpe_core.errors import BpeError
from bpe_core.figures.from_table import dots_chart
from bpe_core.history.history import History
from bpe_core.measures.benchmark import Contender, contenders_of
from bpe_core.measures.parallel import WORD
from bpe_core.studies.study import Study
from bpe_core.support.data_table import DataTable
from bpe_core.support.progress import ALONE, Work
from bpe_core.support.wording import count_text

MOST_WORDS = 10_000  # the most frequent words, which are nearly the whole text
# How a word is written in each place. {} is the word, which is compared with its splits after a space.
PLACES = {"alone": "{}", "in quotes": '"{}"', "in brackets": "({})", "after a line end": "\n{}"}
CAPITAL = "with a capital"
AFTER_SPACE = " {}"
HEADINGS = {"text": "place of the word", "example": "word that is split differently"}


@dataclass(frozen=True)
class Forms(Question):
    """Measure whether a word is split at the same letters wherever it occurs in a text.

    A tokenizer splits each word in six forms: with a space before it, alone, in quotes, in brackets, after a line end,
    and with a capital letter. The measure is the share of the words, weighted by count, that are split at the same
    letters as with a space before them.
    """

    about = "the corpus"
    asks = "Is a word split in only one way?"
    turn = 5
    needs = "texts if known"
    studies = (1, 1_000)
    rests = True
    examples = """\
examples:
  bpe-explorer forms ours.csv theirs.tokenizer.json --corpus book.txt
      Compare how steadily two tokenizers split the words of a book.

  bpe-explorer forms ours.csv --words lowest Lighthouse -o forms.svg
      Split only these words.
"""
    in_python = """
        >>> import bpe_core as bpe
        >>> study = bpe.train("low lower lowest, new newer newest", "gpt2", merges=6)
        >>> bpe.forms({"ours": study}, words=("newest", "low")).columns["consistency"].tolist()
        [0.5, 0.5, 0.5, 0.5, 0.0]
    """

    words: tuple[str, ...] = parameter(
        (), help="the words (default: the most frequent words of the texts)", metavar="WORD", title="Words"
    )
    sizes: tuple[int, ...] = sizes_parameter()

    def reads_documents(self) -> bool:
        return not self.words

    def answer(self, studies: Mapping[str, Study], work: Work = ALONE) -> Answer:
        words = self._words(studies)
        rows = []
        for contender in contenders_of(dict(at_sizes(studies, self.sizes))):
            whole = _token_starts(contender, [*words], AFTER_SPACE)
            for place, form in PLACES.items():
                work.check()
                rows.append(_row(contender, place, words, whole, _token_starts(contender, [*words], form)))
            small = {word: count for word, count in words.items() if _can_be_capital(word)}
            before = _token_starts(contender, [*small], AFTER_SPACE)
            after = _token_starts(contender, [_capital(word) for word in small], AFTER_SPACE)
            rows.append(_row(contender, CAPITAL, small, before, after))
        columns = {name: [row[name] for row in rows] for name in rows[0]}
        table = DataTable({**columns, "consistency": np.array(columns["consistency"], np.float64)})
        are = "is" if len(words) == 1 else "are"
        sentence = f"{count_text(len(words), 'word')} {are} compared with the split after a space."
        return Answer(
            table, (sentence,), replace(dots_chart(table, "consistency"), sentence=sentence), headings=HEADINGS
        )

    def _words(self, studies: Mapping[str, Study]) -> dict[str, int]:
        if self.words:
            return dict(Counter(self.words))
        texts = next((study.texts for study in studies.values() if study.texts is not None), None)
        if texts is None:
            raise BpeError("This question needs words: name texts with --corpus, or words with --words.")
        counts: Counter[str] = Counter()
        with texts.reading() as corpus:
            for document in corpus.documents():
                counts.update(WORD.findall(document))
        if not counts:
            raise BpeError(
                "The texts hold no words that consist of letters. Name other texts, or give words with --words."
            )
        return dict(counts.most_common(MOST_WORDS))


def _capital(word: str) -> str:
    return word[:1].upper() + word[1:]


def _can_be_capital(word: str) -> bool:
    """Return whether a word begins with a lowercase letter whose capital form is also a single character."""
    return _capital(word) != word and len(_capital(word)) == len(word)


def _token_starts(contender: Contender, words: list[str], form: str) -> list[frozenset[int]]:
    """Return the offsets inside each word at which tokens begin, in characters.

    `form` is the text in which each word is placed, with `{}` in place of the word.
    """
    ahead = form.index("{}")
    splits = []
    for word in words:
        text = form.format(word)
        starts = _starts(contender, text)
        splits.append(frozenset(start - ahead for start in starts if ahead < start < ahead + len(word)))
    return splits


def _starts(contender: Contender, text: str) -> set[int]:
    raw = text.encode(errors="replace")
    spans = contender.tokenizer.spans(text, contender.at)
    return {len(raw[:start].decode(errors="ignore")) for start, _, _ in spans}


def _row(
    contender: Contender,
    place: str,
    words: Mapping[str, int],
    usual: list[frozenset[int]],
    here: list[frozenset[int]],
) -> dict[str, object]:
    is_alike = [before == after for before, after in zip(usual, here, strict=True)]
    total = sum(words.values())
    alike = sum(count for count, kept in zip(words.values(), is_alike, strict=True) if kept)
    history: History = contender.tokenizer.history
    return {
        "tokenizer": contender.name,
        "text": place,
        "vocabulary": history.vocabulary_size_at(contender.at),
        "words": len(words),
        "consistency": alike / total if total else float("nan"),
        "example": next((word for word, kept in zip(words, is_alike, strict=True) if not kept), ""),
    }
