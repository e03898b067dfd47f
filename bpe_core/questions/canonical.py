"""The question of whether ids stay the same when they are decoded and encoded again."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby

import numpy as np

from bpe_core.asking import Answer, Pair, Question, parameter
from bpe_core.asking.shared import specials_parameter
from bpe_core.errors import BpeError
from bpe_core.figures.figure import Bar, BarFigure
from bpe_core.history.token_texts import quoted, shown
from bpe_core.insight.never_together import PairsInTexts, PairVerdict, Verdict, drawn_pairs
from bpe_core.insight.round_trip import KINDS, Kind, Place, Reason, RoundTrip, RoundTrips
from bpe_core.methods.kit.tokenizer import Way
from bpe_core.segmenting.cutting import ALLOWED
from bpe_core.studies.study import Study
from bpe_core.support.arrays import Int64s
from bpe_core.support.data_table import DataTable
from bpe_core.support.progress import ALONE, Progress, Work
from bpe_core.support.wording import count_text
from bpe_core.text.reading.id_rows import IdRow, is_file_of_ids, rows_of_file, rows_of_words

GIVEN = "the ids"  # the name of ids that no file holds
MOST_PLACES = 10_000  # places with a reason
MOST_DRAWN = 100_000  # pairs
NO_IDS = "There are no ids: give them as numbers, or name a file with ids (.npy, .bin, .parquet, .jsonl, or text)."
LISTED = ("file", "row", "place", "text", "ids", "encoded", "kind", "reason")


@dataclass(frozen=True)
class Canonical(Question):
    """Show whether ids stay the same when they are decoded and encoded again, and why not.

    A model may write tokens that its tokenizer would never give for the same text. If such a text is encoded again, the
    new ids differ from the ids of the model. This can happen in training data and in the answers of a model.
    """

    about = "this token"
    asks = "Do the ids stay the same?"
    turn = 2
    table_first = True
    rests = True
    examples = """\
examples:
  bpe-explorer canonical tokenizer.json 116 104 101
      Show whether encoding the text of these ids gives the same ids, and if not, why.

  bpe-explorer canonical hf:openai-community/gpt2 ids.npy rollouts.jsonl --fields prompt_ids response_ids
      Show the share of rows with unchanged ids in each file, the first differences, and what decoding and encoding
      between turns costs. A row of .jsonl is a list of ids, a list of such lists (turns), or has fields of ids.

  bpe-explorer canonical tokenizer.json train.bin --id-bytes 2
      Check the ids in a file of bare numbers with two bytes each.

  bpe-explorer canonical tokenizer.json --pair th e --drawn 1000
      Show which two tokens can never be side by side in a text, with a proof or with a text that holds both.

  bpe-explorer encode --merges merges.csv < page.txt | bpe-explorer canonical merges.csv
      Check ids from standard input.
"""
    in_python = """
        >>> import bpe_core as bpe
        >>> study = bpe.train("low lower lowest, new newer newest", "gpt2", merges=6)
        >>> bpe.canonical(study, [108, 111, 119]).columns["encoded"]
        ['257']
    """

    ids: tuple[int | str, ...] = parameter(
        (),
        help=(
            "ids, or files with ids (.npy, .bin, .parquet, .jsonl, or text with one row in each line) "
            "(default: standard input)"
        ),
        metavar="IDS",
        positional=True,
        from_input=True,
        instead=("pairs", "drawn"),
        title="Token ids",
        example="116 104 101",
    )
    fields: tuple[str, ...] = parameter(
        (),
        help="the fields of a row that hold its ids, in order (default: fields with known names)",
        metavar="NAME",
        title="Fields that hold ids",
        is_extra=True,
    )
    id_bytes: int = parameter(
        0,
        help="the number of bytes of an id in a .bin file: 1, 2, 4 or 8",
        metavar="BYTES",
        title="Bytes of an id in .bin",
        is_extra=True,
    )
    way: str = parameter(
        "library",
        help="decode as the library of the file does, or exactly, token by token",
        choices=("library", "exact"),
        title="Decoded",
        in_words={"library": "as its library does", "exact": "token by token"},
    )
    specials: str = specials_parameter()
    pairs: tuple[Pair, ...] = parameter(
        (),
        help="say whether these two tokens can ever be neighbours",
        metavar="LEFT RIGHT",
        repeated=True,
        title="Two tokens",
        example="t + h",
    )
    drawn: int = parameter(
        0,
        help="check for N random pairs of tokens whether the two tokens can ever be neighbours",
        metavar="N",
        title="Random pairs",
        is_extra=True,
    )

    def answer(self, study: Study, work: Work = ALONE) -> Answer:
        if self.pairs or self.drawn:
            return self._of_pairs(study, work)
        way: Way = "exact" if self.way == "exact" else "library"
        trips = RoundTrips(
            study.history, way=way, allowed=ALLOWED[self.specials], tokenizer=study.inside.by_index.tokenizer
        )
        files = [_File(name, [*rows]) for name, rows in groupby(self._compared_rows(study, trips, work), _name)]
        if not any(file.rows for file in files):
            raise BpeError(NO_IDS)
        return _answer(study, files)

    def _of_pairs(self, study: Study, work: Work) -> Answer:
        if not 0 <= self.drawn <= MOST_DRAWN:
            raise BpeError(f"The number of pairs to draw must be from 1 to {MOST_DRAWN:,}, not {self.drawn:,}.")
        by_index = study.inside.by_index
        given = [(by_index.of_text(left), by_index.of_text(right)) for left, right in self.pairs]
        return _answer_of_pairs(study, [*given, *drawn_pairs(study.history, self.drawn)], len(given), work)

    def _compared_rows(self, study: Study, trips: RoundTrips, work: Work) -> Iterator[_Row]:
        room = MOST_PLACES
        for row in self._rows(work):
            work.check()
            compared = _compared_row(row, study, trips, room, work)
            room -= len(compared.places)
            yield compared

    def _rows(self, work: Work) -> Iterator[IdRow]:
        words = [str(word) for word in self.ids]
        for is_file, some in groupby(words, is_file_of_ids):
            if not is_file:
                yield from rows_of_words(some)
                continue
            for path in some:
                yield from rows_of_file(path, self.fields, work, width=self.id_bytes)


@dataclass(frozen=True)
class _ChangedPlace:
    first: int
    ids: tuple[int, ...]
    encoded: tuple[int | None, ...]
    text: str
    reason: Reason


@dataclass
class _Row:
    name: str
    number: int
    ids: int = 0
    encoded: int = 0
    changed: int = 0  # ids in places
    first: int | None = None  # the first place
    all_places: int = 0
    places: list[_ChangedPlace] = field(default_factory=list)  # the places with a reason
    turns: int = 1
    passed_on: int = 0  # ids that are passed on between turns
    again: int = 0  # ids that a model computes again if turns are decoded and encoded

    @property
    def is_canonical(self) -> bool:
        return not self.all_places


@dataclass
class _File:
    name: str
    rows: list[_Row]

    @property
    def canonical(self) -> int:
        return sum(row.is_canonical for row in self.rows)

    @property
    def share(self) -> float:
        return self.canonical / len(self.rows)

    @property
    def ids(self) -> int:
        return sum(row.ids for row in self.rows)

    @property
    def changed(self) -> int:
        return sum(row.changed for row in self.rows)


def _name(row: _Row) -> str:
    return row.name


def _compared_row(row: IdRow, study: Study, trips: RoundTrips, room: int, work: Work) -> _Row:
    where = f"{row.name}, row {row.number:,}" if row.name else ""
    counts = _Row(row.name or GIVEN, row.number)
    indices = _indices(study, row.ids, where)
    for first, trip in trips.pieces(indices):
        work.check()
        _add(counts, first, trip, trips, room)
    if len(row.parts) > 1:
        parts = np.split(indices, np.cumsum([len(part) for part in row.parts])[:-1])
        _add_turns(counts, parts, trips)
    return counts


def _indices(study: Study, ids: Int64s, where: str) -> Int64s:
    numbers, places = np.unique(np.asarray(ids), return_inverse=True)
    try:
        known = [study.inside.by_index.of_number(number) for number in numbers.tolist()]
    except BpeError as error:
        if where:
            error.name_subject(where)
        raise
    return np.array(known, np.int64)[places]


def _add(counts: _Row, first: int, trip: RoundTrip, trips: RoundTrips, room: int) -> None:
    counts.ids += len(trip.given)
    counts.encoded += len(trip.encoded)
    for place in trip.places:
        counts.all_places += 1
        counts.changed += place.stop - place.first
        counts.first = first + place.first if counts.first is None else counts.first
        if len(counts.places) < room:
            counts.places.append(_changed_place(first, place, trip, trips))


def _changed_place(first: int, place: Place, trip: RoundTrip, trips: RoundTrips) -> _ChangedPlace:
    given = trip.given[place.first : place.stop]
    text = b"".join(trips.bytes_of[index] for index in given.tolist())
    ids = tuple(trips.numbers(given).tolist())
    return _ChangedPlace(first + place.first, ids, place.encoded, shown(text), trip.reason(place))


def _add_turns(counts: _Row, parts: Sequence[Int64s], trips: RoundTrips) -> None:
    """Count the ids that change in a chat if the whole chat is decoded and encoded again after each turn.

    The last turn is not encoded again, because no turn follows it.
    """
    counts.turns = len(parts)
    held = parts[0]
    for part in parts[1:]:
        trip = trips.of(held)
        counts.passed_on += len(trip.encoded)
        counts.again += len(trip.encoded) - trip.kept
        held = np.concatenate((trip.encoded, part))


def _answer(study: Study, files: Sequence[_File]) -> Answer:
    rows = [row for file in files for row in file.rows]
    places = [(row, place) for row in rows for place in row.places]
    kinds = Counter(place.reason.kind for _, place in places)
    table = DataTable(
        {
            "file": [row.name for row, _ in places],
            "row": [row.number for row, _ in places],
            "place": [place.first for _, place in places],
            "ids": [_written(place.ids) for _, place in places],
            "encoded": [_written(place.encoded) for _, place in places],
            "text": [place.text for _, place in places],
            "kind": [place.reason.kind for _, place in places],
            "reason": [place.reason.sentence for _, place in places],
            "step": [place.reason.step for _, place in places],
        }
    )
    everything = _File("", rows)
    facts = {
        "canonical_share": everything.share,
        "rows_in_all": len(rows),
        "ids": everything.ids,
        "changed_ids": everything.changed,
        "kinds": dict(kinds.most_common()),
        "files": [
            {"file": file.name, "rows": len(file.rows), "canonical_share": file.share, "changed_ids": file.changed}
            for file in files
        ],
        "turns": {"passed_on": sum(row.passed_on for row in rows), "again": sum(row.again for row in rows)},
    }
    listed = LISTED if len(rows) > 1 else LISTED[2:]
    sentences = (*_about(files), *_about_cost(rows), *_about_kinds(kinds, rows))
    return Answer(table, sentences, _figure(kinds), listed=listed, facts=facts)


# --- Pairs of tokens -----------------------------------------------------------------------------


def _answer_of_pairs(study: Study, pairs: Sequence[tuple[int, int]], given: int, work: Work) -> Answer:
    together = PairsInTexts(study.inside.by_index.tokenizer)
    verdicts: list[PairVerdict] = []
    for done, pair in enumerate(pairs):
        work.check()
        work.progress(Progress("looking for texts that hold pairs", done, len(pairs), "pairs"))
        verdicts.append(together.verdict(*pair))
    names = study.inside.by_index.texts.text
    number = study.inside.by_index.number
    table = DataTable(
        {
            "ids": [_written([number(left), number(right)]) for left, right in pairs],
            "left_text": [names[left] for left, _ in pairs],
            "right_text": [names[right] for _, right in pairs],
            "kind": [verdict.kind for verdict in verdicts],
            "reason": [verdict.sentence for verdict in verdicts],
            "witness": ["" if verdict.text is None else shown(verdict.text.encode()) for verdict in verdicts],
        }
    )
    kinds = Counter(verdict.kind for verdict in verdicts)
    drawn = Counter(verdict.kind for verdict in verdicts[given:])
    sentences = [
        f"{names[left]} + {names[right]}: {_about_pair(verdict)}"
        for (left, right), verdict in zip(pairs[:given], verdicts[:given], strict=True)
    ]
    if drawn:
        sentences.append(_about_drawn(drawn))
    if kinds["not found"] and together.why_not_proved:
        sentences.append(together.why_not_proved)
    bars = [Bar(kind, times, f"{times:,}") for kind, times in kinds.most_common()]
    sentence = "The number of pairs of tokens that can be side by side in a text."
    figure = BarFigure("pairs", "Tokens side by side.", sentence, bars, "Pairs")
    return Answer(table, tuple(sentences), figure, facts={"pairs": dict(kinds)})


def _about_pair(verdict: PairVerdict) -> str:
    if verdict.text is not None:
        return f"the two tokens can be side by side, as in {quoted(verdict.text)}."
    return f"the two tokens are never side by side. {verdict.sentence}" if verdict.kind == "never" else verdict.sentence


def _about_drawn(kinds: Counter[Verdict]) -> str:
    total = sum(kinds.values())
    never = kinds["never"] / total
    either_side = 1.96 * math.sqrt(never * (1 - never) / total)
    unknown = (
        (f" For {count_text(kinds['not found'], 'pair')} neither a text nor a proof was found.")
        if kinds["not found"]
        else ""
    )
    share = f"{never:.1%} (95 % interval: ± {either_side:.1%})"
    return (
        f"{kinds['never']:,} of {count_text(total, 'pair')} drawn can never be side by side. The estimate for all "
        f"pairs is {share}.{unknown}"
    )


# --- Ids -----------------------------------------------------------------------------------------


def _written(ids: Sequence[int | None]) -> str:
    return " ".join("none" if id is None else str(id) for id in ids)


def _about(files: Sequence[_File]) -> Iterator[str]:
    for file in files:
        before = f"{file.name}: " if file.name != GIVEN else ""
        ids = count_text(file.ids, "id")
        if len(file.rows) == 1:
            (row,) = file.rows
            if row.is_canonical:
                yield f"{before}All {ids} stay the same when their text is encoded again."
            else:
                yield (
                    f"{before}{row.changed:,} of {ids} change when their text is encoded again. The first change is "
                    "at place "
                    f"{row.first:,}."
                )
            continue
        rows = count_text(len(file.rows), "row")
        yield (
            f"{before}{file.canonical:,} of {rows} ({file.share:.1%}) stay the same when their texts are encoded "
            f"again, but {file.changed:,} of {ids} change."
        )


def _about_cost(rows: Sequence[_Row]) -> Iterator[str]:
    turns = [row for row in rows if row.turns > 1]
    passed_on = sum(row.passed_on for row in turns)
    again = sum(row.again for row in turns)
    if turns:
        yield (
            f"A model whose ids are decoded and encoded between turns computes {again:,} of "
            f"{count_text(passed_on, 'id')} again. Without decoding, no id is computed again."
        )
    changed = [row for row in rows if row.first is not None and row.turns == 1]
    if changed:
        behind = sum(row.ids - (row.first or 0) for row in changed)
        more = sum(row.encoded - row.ids for row in changed)
        longer = "the same number of ids"
        if more:
            longer = f"{count_text(abs(more), 'id')} {'more' if more > 0 else 'fewer'}"
        yield f"Encoding again gives {longer}. From the first change on, {count_text(behind, 'id')} no longer match."


def _about_kinds(kinds: Counter[Kind], rows: Sequence[_Row]) -> Iterator[str]:
    for kind, times in kinds.most_common():
        yield f"{count_text(times, 'place')} by {kind}: {KINDS[kind]}"
    left_out = sum(row.all_places - len(row.places) for row in rows)
    if left_out:
        yield f"For {count_text(left_out, 'more place', 'more places')} no reason is shown."


def _figure(kinds: Counter[Kind]) -> BarFigure | None:
    if not kinds:
        return None
    bars = [Bar(kind, times, f"{times:,}") for kind, times in kinds.most_common()]
    sentence = "The number of places that differ when ids are decoded and encoded again, for each kind of reason."
    return BarFigure("canonical", "Why ids change when they are decoded and encoded again.", sentence, bars, "Places")
