"""The question of which words contain the pair that a step merged, and which files these words come from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bpe_core.asking import Answer, Question, parameter
from bpe_core.errors import BpeError
from bpe_core.history.history import ADDED, NOTHING
from bpe_core.history.token_texts import shown
from bpe_core.insight.ranked_words import contributions
from bpe_core.insight.token_life import words_of_step
from bpe_core.methods.kit.histories import learns_by_ranks
from bpe_core.methods.kit.life import Held
from bpe_core.studies.study import Study
from bpe_core.support.data_table import DataTable
from bpe_core.support.progress import ALONE, Work
from bpe_core.support.wording import count_text

WHAT = "The list of words that caused a step"
DONE = {NOTHING: " dropped,", ADDED: " added,"}  # by the right half of its pair


@dataclass(frozen=True)
class Paid(Question):
    """List the words that caused a step, and how many of the pair's occurrences each file or group has.

    A pair's count comes from the words that contain it. The words with the largest counts come first. Each word is
    shown as it was when the pair was merged.
    """

    about = "this step"
    asks = "Which words caused this step?"
    turn = 4
    needs = "texts"
    examples = """\
examples:
  bpe-explorer paid merges.csv --corpus a.txt b.txt --step 120
      List the words that held the pair when it was merged, and how its count is divided over the files.

  bpe-explorer paid book.bpex --step 120 -o paid.csv
      Write a table of all words that caused step 120; a session needs no texts for that.
"""
    in_python = """
        >>> import bpe_core as bpe
        >>> study = bpe.train("low lower lowest, new newer newest", "gpt2", merges=6)
        >>> bpe.paid(study, 1).columns["text"]
        ['␣lower', '␣lowest', '␣newer', '␣newest']
    """

    step: int = parameter(help="the number of the step; 1 is the first", metavar="N")

    def answer(self, study: Study, work: Work = ALONE) -> Answer:
        step = study.inside.checked_step(self.step)
        history = study.history
        title = f"Step {step:,}: {study.inside.by_index.pair_name(history.pair(step - 1))}"
        if not learns_by_ranks(history):
            if history.only_joins:
                raise BpeError(
                    f"{WHAT} works only for tokenizers that merge pairs one after the other. This tokenizer does not."
                )
            held = words_of_step(study.inside.words(WHAT, work), history, step, work)
            total = sum(count for _, count in held)
            done = DONE.get(int(history.columns.right[step - 1]), "")
            sentence = f"{title},{done} {count_text(total, 'time')} in {count_text(len(held), 'word')}."
            return Answer(words_table(held), (sentence,), headings={"text": "word"})
        ranked = study.inside.ranked(WHAT, work)
        learned_in = ranked.at(step - 1)
        paid = contributions(learned_in, step)
        sentences = [f"{title}, {count_text(paid.count, 'time')} in {count_text(len(paid.words), 'word')}."]
        shares = study.inside.file_counts(WHAT, work).split(contributions(ranked, step), ranked)
        sentences += [f"{share / max(1, paid.count):.1%} ({share:,}) from {name}" for name, share in shares.items()]
        held = [(learned_in.words.word(word.word), word.count) for word in paid.words]
        times = np.array([word.times for word in paid.words], np.int64)
        return Answer(
            DataTable({**words_table(held).columns, "times": times}),
            tuple(sentences),
            listed=("text", "times", "count"),
            headings={"text": "word", "times": "times in a word"},
            facts={"count": paid.count, "parts": shares},
        )


def words_table(words: Held) -> DataTable:
    """Return a table of the words that contain a token.

    `count` is the number of times that the token occurs in all copies of the word.
    """
    return DataTable(
        {
            "text": [shown(word) for word, _ in words],
            "hex": [word.hex(" ") for word, _ in words],
            "count": np.array([count for _, count in words], np.int64),
        }
    )
