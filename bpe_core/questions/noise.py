"""The question `noise`. It asks how strongly noise in a text changes its tokens."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from bpe_core.asking import Answer, Question, parameter
from bpe_core.errors import BpeError
from bpe_core.figures.figure import Bar, BarFigure, Figure
from bpe_core.figures.from_table import dots_chart
from bpe_core.measures.noise import ChangedIds, changed_ids
from bpe_core.studies.study import Study
from bpe_core.support.arrays import Int64s
from bpe_core.support.data_table import DataTable
from bpe_core.support.progress import ALONE, Progress, Work
from bpe_core.support.wording import count_text
from bpe_core.text.noise import KINDS, noisy

MEASURED = ("edits", "overlap", "growth")
USUAL = 100_000  # characters that are looked at
PIECE = re.compile(r"[^\n]{0,2000}\n?")  # lines, and parts of long lines
NO_TEXTS = "Noise needs texts: name some with --corpus."
EMPTY = "These texts are empty, so there is nothing to change."
Found = Mapping[tuple[str, str], ChangedIds]  # by tokenizer and kind of noise
TITLES = {
    "edits": "Edits for each token",
    "overlap": "Share of tokens that stay",
    "growth": "Growth of the number of tokens",
}


@dataclass(frozen=True)
class Noise(Question):
    """Show how far noise in a text changes its tokens: typing errors, capitals, look-alikes, spaces and line ends."""

    about = "the corpus"
    asks = "What do typing errors change?"
    turn = 3
    needs = "texts if known"
    studies = (1, 8)
    rests = True
    examples = """\
examples:
  bpe-explorer noise merges.csv --corpus book.txt
      Show how the tokens change if a tenth of the words has each kind of noise.

  bpe-explorer noise ours.csv theirs.tokenizer.json --corpus book.txt --share 1 --seed 3 -o noise.parquet
      Change all words, and compare two tokenizers.
"""
    in_python = """
        >>> import bpe_core as bpe
        >>> study = bpe.train("low lower lowest, new newer newest", "gpt2", merges=6)
        >>> table = bpe.noise({"ours": study.with_texts("low lower lowest")}, share=1.0).table
        >>> dict(zip(table.columns["kind"], table.columns["noisy_tokens"], strict=True))["capitals"]
        16
    """

    share: float = parameter(
        0.1, help="the share of words, spaces or line ends that change", metavar="SHARE", title="Share that changes"
    )
    seed: int = parameter(
        0,
        help="the seed of the random changes; equal seeds make equal changes",
        metavar="N",
        title="Seed of the changes",
        is_extra=True,
    )
    characters: int = parameter(
        USUAL, help="how many characters of the texts are used", metavar="N", title="Characters"
    )
    measure: str = parameter("edits", help="the measure that is drawn", choices=MEASURED, title="Measure")

    def reads_documents(self) -> bool:
        return True

    def asks_corpus(self, *, has_texts: bool) -> bool:
        return not has_texts

    def answer(self, studies: Mapping[str, Study], work: Work = ALONE) -> Answer:
        if not 0 < self.share <= 1:
            raise BpeError(f"The share that changes must be above 0 and at most 1, not {self.share:g}.")
        if self.characters < 1:
            raise BpeError(f"The number of characters must be at least 1, not {self.characters:,}.")
        pieces = _pieces(studies, self.characters)
        known = {name: _ids(study, pieces) for name, study in studies.items()}
        by_kind = dict[str, dict[str, ChangedIds]]()
        for number, (kind, noise) in enumerate(KINDS.items()):
            work.check()
            work.progress(Progress("changing the text", number, len(KINDS), "kinds of noise"))
            seeds = range(self.seed, self.seed + len(pieces))
            changed = [
                noisy(piece, noise, share=self.share, seed=seed) for piece, seed in zip(pieces, seeds, strict=True)
            ]
            by_kind[kind] = {
                name: changed_ids(zip(known[name], _ids(study, changed), strict=True))
                for name, study in studies.items()
            }
        changes = {(name, kind): by_name[name] for name in studies for kind, by_name in by_kind.items()}
        table = _table(changes)
        several = len(studies) > 1
        listed = ("tokenizer", "kind", "tokens", "noisy_tokens", "growth", "overlap", "edits")
        return Answer(
            table,
            tuple(_sentences(changes, studies, self.share)),
            _chart(table, self.measure, several=several),
            listed if several else listed[1:],
            facts={"kinds": {name: kind.meaning for name, kind in KINDS.items()}},
        )


def _pieces(studies: Mapping[str, Study], characters: int) -> list[str]:
    """Return the beginning of the texts, at most `characters` characters, split into lines. Long lines are divided."""
    texts = next(iter(studies.values())).texts
    if texts is None:
        raise BpeError(NO_TEXTS)
    pieces = list[str]()
    left = characters
    with texts.reading() as corpus:
        for document in corpus.documents():
            pieces += [piece for piece in PIECE.findall(document[:left]) if piece]
            left -= len(document)
            if left <= 0:
                break
    if not pieces:
        raise BpeError(EMPTY)
    return pieces


def _ids(study: Study, pieces: Sequence[str]) -> list[Int64s]:
    tokenizer = study.inside.by_index.tokenizer
    batch = tokenizer.encode_batch(list(pieces))
    ids = tokenizer.numbers(batch.ids).astype(np.int64)
    ends = [*batch.offsets.tolist(), len(ids)]
    return [ids[ends[place] : ends[place + 1]] for place in range(len(pieces))]


def _table(changes: Found) -> DataTable:
    return DataTable(
        {
            "tokenizer": [name for name, _ in changes],
            "kind": [kind for _, kind in changes],
            "tokens": [change.before for change in changes.values()],
            "noisy_tokens": [change.after for change in changes.values()],
            "growth": [change.growth for change in changes.values()],
            "overlap": [change.overlap for change in changes.values()],
            "distance": [change.distance for change in changes.values()],
            "edits": [change.edits for change in changes.values()],
        }
    )


def _sentences(
    changes: Mapping[tuple[str, str], ChangedIds], studies: Mapping[str, Study], share: float
) -> Iterator[str]:
    """Yield a sentence for each tokenizer. It names the kind of noise that changes the most tokens."""
    for name in studies:
        own = {kind: change for (owner, kind), change in changes.items() if owner == name}
        kind, worst = max(own.items(), key=lambda item: item[1].edits)
        before = f"{name}: " if len(studies) > 1 else ""
        edits = count_text(worst.distance, "edit")
        yield (
            f"{before}The kind of noise with the largest effect is {kind}, in {share:.0%} of the places: {edits} for "
            f"{count_text(worst.before, 'token')}, and the number of tokens changes by {worst.growth:+.1%}."
        )


def _chart(table: DataTable, measure: str, *, several: bool) -> Figure:
    """Draw a bar for each kind of noise.

    If there are several tokenizers, draw a dot for each kind and tokenizer instead.
    """
    if several:
        columns = {
            "tokenizer": table.columns["tokenizer"],
            "text": table.columns["kind"],
            measure: table.columns[measure],
        }
        return dots_chart(DataTable(columns), measure)
    rows = zip(table.columns["kind"], table.columns[measure], strict=True)
    bars = [Bar(kind, float(value), f"{value:.1%}") for kind, value in rows]
    return BarFigure("noise", "Tokens under noise.", TITLES[measure] + ".", bars, TITLES[measure])
