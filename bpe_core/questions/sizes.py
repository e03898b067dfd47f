"""The question `sizes`. It asks how a text would be split at each vocabulary size."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bpe_core.asking import Answer, Question, parameter
from bpe_core.asking.shared import drawn_lines, power_parameter
from bpe_core.counting.words import WordTable
from bpe_core.errors import BpeError
from bpe_core.figures.from_table import costs_chart, sizes_chart
from bpe_core.insight.tokenized_words import TokenizedWords
from bpe_core.measures.bits_per_byte import HELD_OUT, TRAINING, BitsPerByte, bits_by_text
from bpe_core.measures.inside_tokens import InsideBySize, inside_by_size
from bpe_core.measures.measures import MEASURES, OF_SIZES
from bpe_core.measures.model_costs import BYTES_OF_LOGIT, ModelShape
from bpe_core.measures.size_curves import LITTLE, SizeCurves, checked_power, measured_sizes, size_curves, which_sizes
from bpe_core.methods.registry import METHODS
from bpe_core.studies.study import Study
from bpe_core.studies.texts import CorpusTexts, Texts, names_of_groups
from bpe_core.support.data_table import DataTable, Values
from bpe_core.support.progress import ALONE, Work
from bpe_core.support.wording import count_text

WHAT = "The comparison of vocabulary sizes"
BITS = "bits_per_byte"
INSIDE = "inside"
SHOWN_SIZES = 20
MOST_WITH_COSTS = 3  # texts whose costs are drawn
RENAMED = {"tokens_per_word": "tokens_per_pretoken"}  # former names that still work
OF_CURVES = (
    *("tokens", "bytes_per_token", "tokens_per_pretoken", "renyi_efficiency", "share_in_use", "share_of_scaffolds"),
    "unknown_share",
)
NOTES = "\n\n".join(note for name in OF_SIZES if (note := MEASURES[name].note or MEASURES[name].formula))


@dataclass(frozen=True)
class Sizes(Question):
    """Show how well each vocabulary size compresses, how much of the vocabulary is used, and how evenly.

    The answer marks one size. It is the smallest vocabulary that could be halved with less than 5 % more tokens in the
    text. Further training does not change the marked size.
    """

    about = "the vocabulary"
    asks = "How large should it be?"
    turn = 2
    axis = "size"
    needs = "texts"
    studies = (1, 8)
    examples = f"""\
examples:
  bpe-explorer sizes merges.csv --corpus book.txt --held-out other.txt
      Show for each size up to the learned size: bytes per token, tokens per pretoken, how evenly the tokens are used,
      how much of the vocabulary is used, and how many tokens are only scaffolds.

  bpe-explorer sizes merges.csv --corpus de.txt fr.txt --each --csv > sizes.csv
      Write a table with every size, for each file separately (also for each file of a folder).

  bpe-explorer sizes ours.csv theirs.json --corpus en.txt --measure tokens_per_pretoken -o both.svg
      Draw several tables in one figure.

  bpe-explorer sizes merges.csv --corpus book.txt --model d=4096,layers=32,heads=32,tied=no
      Show and draw what each size costs such a model: parameters, FLOPs per byte, memory of the logits. A config.json
      does, too.

{NOTES}
"""
    in_python = """
        >>> import bpe_core as bpe
        >>> study = bpe.train("low lower lowest, new newer newest", "gpt2", merges=6)
        >>> [round(value, 2) for value in bpe.sizes({"ours": study}).columns["bytes_per_token"]]
        [1.0, 1.13, 1.26, 1.42, 1.62, 1.79, 2.0]
    """

    measure: str = parameter(
        "bytes_per_token", help=f"the measure to draw: {', '.join(OF_SIZES)}", choices=OF_SIZES, older=tuple(RENAMED)
    )
    held_out: Texts | None = parameter(
        None,
        help="held-out texts, which were not learned from; each named text has its own curve",
        metavar="FILE",
        title="Held-out texts",
    )
    each: bool = parameter(False, help="show each file or group of the texts separately", title="Each text by itself")
    own: bool = parameter(
        False, help="also show the texts that a session was learned from", title="Training texts, too", is_extra=True
    )
    lines: tuple[str, ...] = drawn_lines("curves")
    power: float = power_parameter()
    bits: bool = parameter(
        False,
        help="also measure bits per byte on held-out text, by a small model of token pairs",
        title="Held-out bits per byte",
        is_extra=True,
    )
    model: str = parameter(
        "",
        help="show what each size costs this model: d=4096,layers=32,heads=32,tied=no, or its config.json",
        metavar="MODEL",
        title="Costs for a model",
        example="d=4096,layers=32,heads=32,tied=no",
        is_extra=True,
    )

    def answer(self, studies: Mapping[str, Study], work: Work = ALONE) -> Answer:
        checked_power(self.power)
        shape = ModelShape.of(self.model) if self.model else None
        if self.bits or self.measure == BITS:
            if shape is not None:
                raise BpeError(
                    "The costs for a model depend on the compression, not on bits per byte. Leave out either the "
                    "model or bits per byte."
                )
            return self._bits(studies, work)
        if self.measure == INSIDE:
            return self._inside(studies, work)
        curves: dict[str, SizeCurves] = {}
        sentences: list[str] = []
        for name, study in studies.items():
            texts = self._texts(study, work) | self._held_out(study, work)
            for text, words in texts.items():
                curves[_line(text, name, texts, studies)] = curves_of(study, words, self.power, work)
        table = table_of_curves(curves)
        columns: tuple[str, ...] = ("text", "vocabulary", *OF_SIZES)
        sentences += [_about(name, curve) for name, curve in curves.items()]
        if shape is not None:
            costs = _costs(table, shape)
            table = DataTable({**table.columns, **costs})
            columns = ("text", "vocabulary", "bytes_per_token", *costs)
            sentences += [sentence for name, curve in curves.items() for sentence in _about_costs(name, curve, shape)]
        usual = METHODS[next(iter(studies.values())).history.recipe.method].usual_sizes
        sentences += [f"Usual sizes: {'; '.join(usual)}."] if usual else []
        measure = RENAMED.get(self.measure, self.measure)
        drawn = self._checked_lines(table)
        if shape is None:
            figure = sizes_chart(table, measure, drawn)
        else:
            shown = {name: curves[name] for name in drawn or [*curves][:MOST_WITH_COSTS]}
            figure = costs_chart(table, measure, [*shown], [_best_size(curve, shape) for curve in shown.values()])
        return Answer(table, tuple(sentences), figure, columns, _some_rows(curves))

    def _bits(self, studies: Mapping[str, Study], work: Work) -> Answer:
        bits_by_line: dict[str, BitsPerByte] = {}
        sentences: list[str] = []
        for name, study in studies.items():
            bits = bits_by_text(self._texts(study, work), self._held_out(study, work), study.history, work=work)
            sentences += [which for by_size in bits.values() if (which := which_sizes(by_size.sizes, study.history))]
            bits_by_line |= {_line(text, name, bits, studies): by_size for text, by_size in bits.items()}
        for name, by_size in bits_by_line.items():
            least = int(np.argmin(by_size.bits))
            sentences.append(
                f"{name}: the smallest value, {by_size.bits[least]:.4f} bits per byte, is that of a vocabulary of "
                f"{count_text(by_size.sizes[least], 'token')}."
            )
        table = DataTable(
            {
                "text": [name for name, by_size in bits_by_line.items() for _ in by_size.bits],
                "step": [step for by_size in bits_by_line.values() for step in by_size.steps.tolist()],
                "vocabulary": [size for by_size in bits_by_line.values() for size in by_size.sizes.tolist()],
                BITS: [number for by_size in bits_by_line.values() for number in by_size.bits.tolist()],
            }
        )
        figure = sizes_chart(table, BITS, self._checked_lines(table))
        rows = np.unique(np.geomspace(1, max(1, len(table)), SHOWN_SIZES).round().astype(int) - 1).tolist()
        return Answer(table, tuple(dict.fromkeys(sentences)), figure, rows=rows if len(table) else None)

    def _inside(self, studies: Mapping[str, Study], work: Work) -> Answer:
        inside_by_line: dict[str, InsideBySize] = {}
        for name, study in studies.items():
            texts = self._texts(study, work) | self._held_out(study, work)
            for text, words in texts.items():
                inside_by_line[_line(text, name, texts, studies)] = inside_by_size(words, study.history, work)
        table = DataTable(
            {
                "text": [name for name, by_size in inside_by_line.items() for _ in by_size.sizes],
                "step": [step for by_size in inside_by_line.values() for step in by_size.steps.tolist()],
                "vocabulary": [size for by_size in inside_by_line.values() for size in by_size.sizes.tolist()],
                INSIDE: [share for by_size in inside_by_line.values() for share in by_size.shares.tolist()],
            }
        )
        sentences = [
            f"{name}: {by_size.shares[-1]:.2%} of the ends of words fall inside a token, with a "
            f"vocabulary of {count_text(by_size.sizes[-1], 'token')}."
            for name, by_size in inside_by_line.items()
        ]
        return Answer(table, tuple(sentences), sizes_chart(table, INSIDE, self._checked_lines(table)))

    def _texts(self, study: Study, work: Work) -> dict[str, WordTable]:
        own = study.inside.learned_from
        if own is not None and not self.each:
            return {TRAINING: own}
        texts = {TRAINING: own} if self.own and own is not None else {}
        if self.each:
            return texts | dict(study.inside.parts(WHAT, work))
        paths = study.texts.paths if isinstance(study.texts, CorpusTexts) else ()
        return texts | {" ".join(paths) or "text": study.inside.words(WHAT, work)}

    def _held_out(self, study: Study, work: Work) -> dict[str, WordTable]:
        if self.held_out is None:
            return {}
        recipe = study.history.recipe
        if names_of_groups(self.held_out):
            return {HELD_OUT + name: words for name, words in self.held_out.parts(recipe, work).items()}
        paths = self.held_out.paths if isinstance(self.held_out, CorpusTexts) else ()
        name = " ".join(Path(path).name for path in paths) or "a text"
        return {HELD_OUT + name: self.held_out.words(recipe, work)}

    def _checked_lines(self, table: DataTable) -> list[str] | None:
        there = dict.fromkeys(table.columns.get("text", []))
        missing = next((name for name in self.lines if name not in there), None)
        if missing is not None:
            raise BpeError(f"There is no curve {missing!r}; the curves are: {', '.join(map(str, there))}."[:290])
        return list(self.lines) or None


def curves_of(study: Study, words: WordTable, power: float, work: Work) -> SizeCurves:
    """Return the measures of the given words at all vocabulary sizes.

    If the boundaries in the words have no ranks, only some sizes are measured.
    """
    if study.inside.has_ranks:
        return size_curves(words, study.history, power=power, cancelled=work.cancelled)
    cut = TokenizedWords.of(words, study.history.recipe, study.history, cancelled=work.cancelled)
    return measured_sizes(cut, power=power, work=work)


def _line(text: str, name: str, texts: Mapping[str, object], studies: Mapping[str, Study]) -> str:
    if len(studies) == 1:
        return text
    return name if len(texts) == 1 else f"{name}: {text}"


def table_of_curves(curves: Mapping[str, SizeCurves]) -> DataTable:
    parts = [_columns(name, curve) for name, curve in curves.items()]
    return DataTable({name: [value for part in parts for value in part[name]] for name in (parts[0] if parts else ())})


def _columns(name: str, curves: SizeCurves) -> dict[str, Values]:
    order = np.argsort(curves.steps)
    return {
        "text": [name] * len(order),
        "step": curves.steps[order].tolist(),
        "vocabulary": curves.sizes[order].tolist(),
        "bytes": [int(curves.bytes)] * len(order),
        "pretokens": [int(curves.words)] * len(order),
        **{column: getattr(curves, column)[order].tolist() for column in OF_CURVES},
    }


def _about(name: str, curves: SizeCurves) -> str:
    marked = curves.first_halvable
    half = ""
    if marked is not None:
        half = (
            f" A vocabulary of {count_text(int(curves.sizes[marked]), 'token')} could be halved: the text would need "
            f"less than {LITTLE:.0%} more tokens."
        )
    return f"{name}: {count_text(curves.bytes, 'byte')}, {count_text(curves.words, 'pretoken')}.{half}"


def _costs(table: DataTable, shape: ModelShape) -> dict[str, Values]:
    sizes = np.array(table.columns.get("vocabulary", ()), np.int64)
    return shape.columns(sizes, np.array(table.columns.get("bytes_per_token", ()), np.float64))


def _best_size(curves: SizeCurves, shape: ModelShape) -> int:
    """Return the vocabulary size at which training reads the most bytes per FLOP."""
    order = np.argsort(curves.sizes)
    sizes = curves.sizes[order]
    return int(sizes[shape.best(sizes, curves.bytes_per_token[order])])


def _about_costs(name: str, curves: SizeCurves, shape: ModelShape) -> Iterator[str]:
    order = np.argsort(curves.sizes)
    sizes = curves.sizes[order]
    lengths = curves.bytes_per_token[order]
    flops = shape.training_flops(sizes) / lengths
    best = shape.best(sizes, lengths)
    largest = int(sizes[-1])
    is_last = best == len(sizes) - 1
    end = (
        ". This is the largest size here, so a larger size may be better"
        if is_last
        else f", compared with {flops[-1]:,.0f} for {count_text(largest, 'token')}"
    )
    yield (
        f"{name}: training reads the most bytes for each FLOP with {count_text(sizes[best], 'token')} in the "
        f"vocabulary: {flops[best]:,.0f} FLOPs for each byte{end}."
    )
    yield (
        f"With {count_text(largest, 'token')} the model has {count_text(shape.parameters(largest), 'parameter')}, "
        f"{shape.embedding_share(largest):.1%} of them in embeddings; the logits of a token take "
        f"{count_text(BYTES_OF_LOGIT * largest, 'byte')}."
    )


def _some_rows(curves: Mapping[str, SizeCurves]) -> list[int]:
    """Return the rows that a terminal shows: the marked sizes and some other sizes, most of which are small."""
    rows = list[int]()
    first = 0
    for curve in curves.values():
        length = len(curve.tokens)
        spread = np.geomspace(1, length, SHOWN_SIZES).round().astype(int) - 1
        marked = None if curve.scaffolds is None else curve.first_halvable
        rows += [first + row for row in sorted({*spread.tolist(), *([] if marked is None else [marked])})]
        first += length
    return rows
