"""The question `diff`. It asks where two tokenizers differ, and why."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from bpe_core.asking import Answer, Question, parameter
from bpe_core.history.token_texts import shown
from bpe_core.insight.side_by_side import parallel_cuts
from bpe_core.insight.table_comparison import DifferingMerge, TableComparison, compare_tables
from bpe_core.methods.kit.histories import steps_in_words
from bpe_core.studies.study import Study
from bpe_core.support.data_table import DataTable, Values
from bpe_core.support.escaped_bytes import escape
from bpe_core.support.progress import ALONE, Work
from bpe_core.support.wording import count_text

FEW = 10  # listed tokens that only one tokenizer has
LONGEST = 200  # bytes of a shown token

Rows = Sequence[Sequence[int]]  # rows with a start, a stop, and for tokens the id


LISTED = ("left_text", "right_text", "step", "other_step")  # the ids are in files


@dataclass(frozen=True)
class Diff(Question):
    """Show where two tokenizers differ, and why."""

    about = "other tokenizers"
    asks = "Where do two tokenizers differ?"
    turn = 1
    studies = (2, 2)
    examples = """\
examples:
  bpe-explorer diff ours.csv tokenizer.json
      Show the first merge that differs and the likely cause: another tie rule, other data, another pattern ...

  bpe-explorer diff vocab.bpe cl100k_base.tiktoken --text "isn't 2024 naïve?"
      Split the same text by both; [brackets] mark the differences.

The exit code is 0 if the merges are the same, and 3 if they differ.
"""
    in_python = """
        >>> import bpe_core as bpe
        >>> study = bpe.train("low lower lowest, new newer newest", "gpt2", merges=6)
        >>> two = {"ours": study, "half": study.at(3)}
        >>> bpe.diff(two, "the lowest").sentences[0]
        'ours: 6 merges.'
    """

    text: str = parameter(
        "",
        help="show how both tokenizers split this text",
        metavar="TEXT",
        title="Text to split",
        example="the lowest price",
    )
    limit: int = parameter(
        FEW,
        help=f"list up to N tokens that only one tokenizer has (default: {FEW})",
        metavar="N",
        title="Tokens listed",
        is_extra=True,
    )

    def answer(self, studies: Mapping[str, Study], work: Work = ALONE) -> Answer:
        names = list(studies)
        (first, other) = studies.values()
        comparison = compare_tables(first.history, other.history, cancelled=work.cancelled)
        sentences = [f"{name}: {steps_in_words(study.history)}." for name, study in studies.items()]
        sentences += _about_first_difference(comparison, first, other)
        sentences += [comparison.overlap.in_words, *self._only_in(names, comparison), *_moved(comparison)]
        facts = _facts(comparison)
        if self.text:
            both, regions = _split(self.text, (first, other))
            sentences += _split_sentences(self.text, names, both, regions)
            facts["text"] = _text_facts((first, other), both, regions)
        table = _table(comparison.differing, first, other)
        return Answer(table, tuple(sentences), listed=LISTED, facts=facts, differs=comparison.cause != "none")

    def _only_in(self, names: Sequence[str], comparison: TableComparison) -> list[str]:
        sides = zip(names, (comparison.only_in_first, comparison.only_in_second), strict=True)
        return [f"{len(tokens):,} only in {name}: {_few(tokens, self.limit)}" for name, tokens in sides if tokens]


def _few(tokens: Sequence[bytes], limit: int) -> str:
    more = f"  and {len(tokens) - limit:,} more" if len(tokens) > limit else ""
    return "  ".join(shown(token, LONGEST) for token in tokens[:limit]) + more


def _about_first_difference(comparison: TableComparison, first: Study, other: Study) -> list[str]:
    words = {study.history.recipe.wording.step for study in (first, other)}
    step = words.pop() if len(words) == 1 else "step"
    sentences = []
    if comparison.first is not None:
        merges = "; ".join(f"{_written(merge)} ({_places(merge, step)})" for merge in comparison.differing[:2])
        sentences.append(f"The tables differ from {step} {comparison.first + 1:,} on: {merges}.")
    is_guess = comparison.cause not in ("none", "tokens", "not known")
    return [
        *sentences,
        f"Likely cause ({comparison.cause}): {comparison.explanation}" if is_guess else comparison.explanation,
    ]


def _moved(comparison: TableComparison) -> Iterator[str]:
    if comparison.moved:
        merges = count_text(comparison.moved, "merge")
        are = "is" if comparison.moved == 1 else "are"
        yield f"{merges} {are} in both at different places, without any effect on the tokens."


def _written(merge: DifferingMerge) -> str:
    return f"{shown(merge.left, LONGEST)} + {shown(merge.right, LONGEST)}"


def _places(merge: DifferingMerge, step: str) -> str:
    sides = (("the first", merge.place), ("the second", merge.other_place))
    return ", ".join(f"not in {name}" if place is None else f"{step} {place + 1:,} in {name}" for name, place in sides)


def _table(merges: Sequence[DifferingMerge], first: Study, other: Study) -> DataTable:
    columns: dict[str, Values] = {}
    for side, texts in (("left_", [merge.left for merge in merges]), ("right_", [merge.right for merge in merges])):
        columns[f"{side}hex"] = [text.hex(" ") for text in texts]
        columns[f"{side}text"] = [shown(text) for text in texts]
    places = ("", first, [merge.place for merge in merges]), ("other_", other, [merge.other_place for merge in merges])
    for name, _, known in places:
        columns[f"{name}step"] = [None if place is None else place + 1 for place in known]
    for name, study, known in places:
        pairs = [_ids(study, place) for place in known]
        columns[f"{name}left_id"] = [left for left, _ in pairs]
        columns[f"{name}right_id"] = [right for _, right in pairs]
    return DataTable(columns)


def _facts(comparison: TableComparison) -> dict[str, object]:
    return {
        "merges": comparison.merges,
        "first_difference": None if comparison.first is None else comparison.first + 1,
        "cause": comparison.cause,
        "explanation": comparison.explanation,
        "common_tokens": comparison.common,
        "only_in_first": [escape(token) for token in comparison.only_in_first],
        "only_in_second": [escape(token) for token in comparison.only_in_second],
    }


def _split(text: str, studies: Iterable[Study]) -> tuple[list[Rows], Rows]:
    """Return the tokens of a text for each study, and the ranges that the studies split differently."""
    tokens = [study.inside.by_index.tokenizer.segmentation(text).tokens(len(study.history)) for study in studies]
    return [each.spans().tolist() for each in tokens], parallel_cuts(tokens, len(text.encode())).stretches.tolist()


def _text_facts(studies: Iterable[Study], both: Sequence[Rows], regions: Rows) -> dict[str, object]:
    facts = {
        side: {
            "ids": [study.inside.by_index.number(id) for *_, id in spans],
            "tokens": [escape(study.inside.by_index.texts.raw[id]) for *_, id in spans],
        }
        for side, study, spans in zip(("first", "second"), studies, both, strict=True)
    }
    return {**facts, "differing_bytes": regions}


def _ids(study: Study, place: int | None) -> tuple[int | None, int | None]:
    if place is None:
        return None, None
    left, right = study.history.pair(place)
    return study.inside.by_index.number(left), study.inside.by_index.number(right)


def _split_sentences(text: str, names: Sequence[str], both: Sequence[Rows], regions: Rows) -> Iterator[str]:
    count = len(regions)
    raw = text.encode()
    yield f"{count_text(count, 'place')} of the text {'is' if count == 1 else 'are'} split differently."
    for name, spans in zip(names, both, strict=True):
        yield f"{name}, {count_text(len(spans), 'token')}: {_with_bars(raw, spans, regions)}"


def _with_bars(raw: bytes, spans: Rows, regions: Rows) -> str:
    """Return the tokens of a text with bars between them.

    Brackets mark tokens in places that the other tokenizer splits differently.

    >>> _with_bars(b"the ban", [(0, 3, 1), (3, 4, 2), (4, 5, 3), (5, 7, 4)], [(5, 7)])
    'the | ␣ | b | [an]'
    >>> _with_bars(b"a b", [(0, 1, 1), (2, 3, 2)], [(1, 3)])  # this tokenizer drops blanks
    'a | [b]'
    >>> _with_bars(b"a b ", [(0, 1, 1), (1, 3, 2)], [(1, 4)])
    'a | [␣b]'
    """
    opening = {start for start, _ in regions}
    closing = {stop for _, stop in regions}
    pieces = [(shown(raw[start:stop]), stop) for start, stop, _ in spans if stop > start]
    edges = [0, *(stop for _, stop in pieces[:-1]), len(raw)]  # bytes without a token belong to the next token
    return " | ".join(
        "[" * (start in opening) + piece + "]" * (stop in closing)
        for (piece, _), (start, stop) in zip(pieces, pairwise(edges), strict=False)
    )
