"""The question `ways`. It asks in which ways a vocabulary can split a text, and how likely each way is."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, Literal

import numpy as np

from bpe_core.asking import Answer, Question, parameter
from bpe_core.asking.shared import steps_parameter
from bpe_core.errors import BpeError
from bpe_core.figures.figure import Bar, BarFigure, Figure
from bpe_core.figures.lattice import LatticeFigure, LatticeToken, WayDrawn
from bpe_core.history.history import History
from bpe_core.insight.ways import DRAWN, WAYS, probabilities, ways_of
from bpe_core.insight.ways_of_corpus import CorpusLattices, drawn_tokens
from bpe_core.methods.kit.ways import Ids, Way
from bpe_core.methods.kit.ways import Ways as WaysOf
from bpe_core.segmenting.cutting import Cutting
from bpe_core.studies.study import Study
from bpe_core.support.data_table import DataTable
from bpe_core.support.progress import ALONE, Progress, Work, while_wanted
from bpe_core.support.wording import count_text

WHAT = "The comparison of ways to split"
LISTED = 3  # draws of each way that are shown
MOST_IN_FIGURE = 40  # the most likely tokens that are drawn above the symbols
MOST_SYMBOLS = 48  # symbols of the word in the figure
COUNTED_UP_TO = 10**12
BETWEEN = " | "
NO_PROBABILITIES = (
    "The probabilities of the tokens are not known. With texts (--corpus) the probabilities come from counts, "
    "and the ways likeliest and sampled are shown, too."
)
NO_MERGES = "This tokenizer does not split by merges, so BPE-dropout, which leaves out merges, is not shown."
WAYS_LIST = "".join(f"  {name:<10} {sentence}\n" for name, sentence in WAYS.items())


@dataclass(frozen=True)
class Ways(Question):
    """Show the ways to split a text by one vocabulary. A model that is trained on random splits sees many ways.

    The answer splits the text as the tokenizer does, by always taking the longest token that fits, into the fewest
    tokens, in the most probable way, and in three random ways. Without a text, the answer gives the number of
    tokens that each way needs for a whole corpus.
    """

    about = "this place"
    asks = "How else could it be split?"
    turn = 3
    table_first = True
    needs = "texts if known"
    follows_time = True
    rests = True
    examples = f"""\
examples:
  bpe-explorer ways merges.csv "the lowest price" --dropout 0.1 --seed 1
      Show each way to split the text, and the splits that were drawn most often.

  bpe-explorer ways merges.csv unbelievable --corpus book.txt -o lattice.svg
      Draw the lattice of a word: all tokens that could be in it, with the probability of each, and the ways below.

  bpe-explorer ways merges.csv --corpus book.txt
      Count the tokens of the corpus by each way.

ways:
{WAYS_LIST}
The probability of a draw is the product of the probabilities of its words. Dropout is the method of Provilkov and
others: at each step, each place where a pair could be joined is left out at random, and the first merge among the
other places is made. If all places of a step are left out, the splitting of the word ends there.
"""
    in_python = """
        >>> import bpe_core as bpe
        >>> study = bpe.train("low lower lowest, new newer newest", "gpt2", merges=6)
        >>> bpe.ways(study, "low").columns["split"][:3]
        ['lo | w', 'lo | w', 'lo | w']
    """

    text: str = parameter(
        "",
        help="the text whose splits are shown (default: none; the tokens of the corpus are then counted)",
        metavar="TEXT",
        positional=True,
        example="lighthouse",
    )
    at: int | None = steps_parameter()
    dropout: float = parameter(
        0.1, help="the probability of leaving out a merge (default: 0.1)", metavar="P", title="Share of merges left out"
    )
    seed: int = parameter(
        1,
        help="the seed of the random draws (default: 1)",
        metavar="N",
        title="Seed of the random draws",
        is_extra=True,
    )
    draws: int = parameter(
        100,
        help="how many random splits of the text to draw (default: 100)",
        metavar="N",
        title="Random draws",
        is_extra=True,
    )
    shares: Literal["dropout", "sampled", "uniform"] = parameter(
        "dropout",
        help="the way whose probabilities the lattice shows (default: dropout, if the tokenizer has dropout)",
        title="Probabilities of",
    )
    word: int = parameter(
        0,
        help="draw the lattice of the N-th word (default: the word with the most ways)",
        metavar="N",
        title="Number of the word drawn",
        is_extra=True,
    )

    def answer(self, study: Study, work: Work = ALONE) -> Answer:
        if self.draws < 1:
            raise BpeError(f"Draw a text at least once, not {count_text(self.draws, 'time')}.")
        if not self.text and study.texts is None:
            raise BpeError("Name a text to split, or name the texts of a corpus with --corpus.")
        at = study.inside.checked_step_count(self.at)
        history = study.history.first(at)
        counts = None
        if study.texts is not None and history.scores is None:
            counts = study.inside.cut(WHAT, work).counts(at)
        ways = ways_of(history, probabilities(history, counts), self.dropout)
        return self._of_text(study, ways, work) if self.text else self._of_corpus(study, ways, history, work)

    # -- a text ----------------------------------------------------------------------------

    def _of_text(self, study: Study, ways: WaysOf, work: Work) -> Answer:
        words = _words(self.text, study.history)
        if not words:
            raise BpeError("The text has no word to split; type a text with letters.")
        splits = _SplitWays(study, ways, words, {})
        for way in DRAWN:
            if way in ways.known:
                chance = Random(f"{self.seed} {way}")
                splits.drawn[way] = [splits.draw(way, chance, work) for _ in range(self.draws)]
        rows = [*splits.fixed_rows(), *splits.drawn_rows()]
        shown = []
        seen = Counter[str]()
        for place, row in enumerate(rows):
            seen[row["way"]] += 1
            if seen[row["way"]] <= LISTED:
                shown.append(place)
        averages = {way: splits.average(way) for way in splits.drawn}
        facts = {"ways": splits.ways, "averages": {way: tokens for way, (tokens, _) in averages.items()}}
        return Answer(
            DataTable({name: [row[name] for row in rows] for name in rows[0]}),
            tuple(_sentences(splits, averages, self.dropout)),
            self._figure(splits),
            rows=shown,
            facts=facts,
        )

    def _figure(self, splits: _SplitWays) -> Figure | None:
        words = splits.words
        if not 0 <= self.word <= len(words):
            raise BpeError(f"There is no word {self.word:,}; the text has {count_text(len(words), 'word')}.")
        short = [place for place, word in enumerate(words) if len(splits.all.lattice(word).symbols) <= MOST_SYMBOLS]
        if not short and not self.word:
            return None
        place = self.word - 1 if self.word else max(short, key=lambda place: splits.all.lattice(words[place]).ways)
        if len(splits.all.lattice(words[place]).symbols) > MOST_SYMBOLS:
            raise BpeError(f"Word {self.word:,} has more than {MOST_SYMBOLS} symbols, too many to draw.")
        way: Way = (
            self.shares if self.shares in splits.drawn else next(drawn for drawn in DRAWN if drawn in splits.drawn)
        )
        return splits.figure(place, way)

    # -- a corpus --------------------------------------------------------------------------

    def _of_corpus(self, study: Study, ways: WaysOf, history: History, work: Work) -> Answer:
        words = study.inside.words(WHAT, work)
        at = len(history)
        work.progress(Progress("listing all tokens of all words", 0, 1, ""))
        lattices = study.inside.once(
            "lattices of all tokens", lambda: CorpusLattices(words, study.history, work), words
        )
        lengths = [len(ways.cut("longest", word)) for word, _ in while_wanted(words, work.cancelled)]
        drawn = drawn_tokens(words, ways, Random(self.seed), work) if "dropout" in ways.known else None
        scores = ways.scores or ()
        makes: dict[Way, Any] = {
            "own": lambda: int(study.inside.cut(WHAT, work).counts(at).sum()),
            "longest": lambda: int(words.counts @ np.array(lengths, np.int64)),
            "fewest": lambda: lattices.fewest(history, work),
            "likeliest": lambda: lattices.likeliest(history, scores, work),
            "dropout": lambda: None if drawn is None else drawn[0],
            "sampled": lambda: lattices.sampled(history, scores, work),
            "uniform": lambda: lattices.uniform(history, work),
        }
        tokens: dict[Way, float] = {}
        for way in ways.known:
            made = makes[way]()
            if made is not None:
                tokens[way] = made
        own = tokens["own"] or 1
        more = {way: number / own - 1 for way, number in tokens.items()}
        table = DataTable(
            {
                "way": list(tokens),
                "tokens": [round(number) for number in tokens.values()],
                "off_by": [round(drawn[1]) if way == "dropout" and drawn else None for way in tokens],
                "more_than_own": [f"{share:+.2%}" for share in more.values()],
                "meaning": [WAYS[way] for way in tokens],
            }
        )
        said = [
            f"The tokenizer's way needs {count_text(round(own), 'token')}. The fewest tokens that are possible are "
            f"{tokens['fewest']:,} ({more['fewest']:+.2%})."
        ]
        said += _about_chances(tokens, drawn, self.dropout)
        bars = [Bar(way, number, f"{round(number):,}  {more[way]:+.1%}") for way, number in tokens.items()]
        sentence = "The number of tokens of the corpus for each way to split, compared with the tokenizer's way."
        figure = BarFigure("ways", "Many ways to split.", sentence, bars, "Tokens of the corpus")
        return Answer(table, (*said, *_unknown(ways)), figure, facts={"averages": tokens})


def _words(text: str, history: History) -> list[bytes]:
    cutting = Cutting(history.recipe)
    allowed = cutting.allowed(None)
    return [
        word.encode()
        for part, special in cutting.normalized_parts(text, allowed)
        if special is None
        for word in ([part] if cutting.gives_words else cutting.words(part))
    ]


@dataclass(frozen=True)
class _SplitWays:
    study: Study
    all: WaysOf
    words: Sequence[bytes]
    drawn: dict[Way, list[tuple[Ids, ...]]]  # for each draw, the tokens of each word

    @property
    def ways(self) -> int:
        return math.prod(self.all.lattice(word).ways for word in self.words)

    def draw(self, way: Way, chance: Random, work: Work) -> tuple[Ids, ...]:
        work.check()
        return tuple(self.all.draw(way, word, chance) for word in self.words)

    def fixed(self, way: Way) -> tuple[Ids, ...]:
        return tuple(self.all.cut(way, word) for word in self.words)

    def fixed_rows(self) -> Iterator[dict[str, Any]]:
        for way in self.all.known:
            if way not in DRAWN:
                yield self._row(way, self.fixed(way))

    def drawn_rows(self) -> Iterator[dict[str, Any]]:
        """Yield a row for each distinct split that was drawn.

        The row has the number of draws and the probability of the split. The most frequent split comes first.
        """
        for way, draws in self.drawn.items():
            for cut, times in Counter(draws).most_common():
                logs = [self.all.log_probability(way, word, ids) for word, ids in zip(self.words, cut, strict=True)]
                known = [log for log in logs if log is not None]
                yield self._row(way, cut, times, math.exp(sum(known)) if len(known) == len(logs) else None)

    def _row(
        self, way: Way, cut: tuple[Ids, ...], times: int | None = None, probability: float | None = None
    ) -> dict[str, Any]:
        ids = [id for word in cut for id in word]
        return {
            "way": way,
            "tokens": len(ids),
            "split": BETWEEN.join(self.study.inside.by_index.texts.text[id] for id in ids),
            "drawn": times,
            "probability": probability,
            "as_own": cut == self.fixed("own"),
        }

    def average(self, way: Way) -> tuple[float, bool]:
        """Return the average number of tokens when texts are split in a random way.

        Also return whether the number is exact. If it is not exact, it is estimated from the draws.
        """
        known = [self.all.expected(way, word) for word in self.words]
        exact = [average for average in known if average is not None]
        if len(exact) == len(known):
            return sum(exact), True
        draws = self.drawn[way]
        return sum(len(ids) for draw in draws for ids in draw) / len(draws), False

    # -- the figure of one word ------------------------------------------------------------

    def figure(self, place: int, way: Way) -> LatticeFigure:
        word = self.words[place]
        lattice = self.all.lattice(word)
        own = self.all.own(word)
        text = self.study.inside.by_index.texts.text
        shares = self.all.shares(way, word)
        exact = shares is not None
        if shares is None:
            shares = self._shares_of_draws(place, way)
        held = [
            (shares.get((start, id), 0.0), start, start + length, id)
            for start, edges in enumerate(lattice.edges)
            for length, id in edges
        ]
        longer = sorted((token for token in held if token[2] - token[1] > 1), reverse=True)
        kept = [token for token in held if token[2] - token[1] == 1] + longer[:MOST_IN_FIGURE]
        tokens = [
            LatticeToken(text[id], start, stop, share, f"{text[id]}: in {share:.2%} of the draws by {way}")
            for share, start, stop, id in sorted(kept, key=lambda token: token[1:])
        ]
        fixed: dict[Ids, list[str]] = {}
        for fixed_way in self.all.known:
            if fixed_way not in DRAWN:
                fixed.setdefault(self.all.cut(fixed_way, word), []).append(fixed_way)
        ways = [self._way_drawn(", ".join(names), ids, "") for ids, names in fixed.items()]
        draws = Counter(draw[place] for draw in self.drawn[way])
        for ids, times in draws.most_common(LISTED):
            log = self.all.log_probability(way, word, ids)
            share = times / draws.total() if log is None else math.exp(log)
            ways.append(self._way_drawn(way, ids, f"{share:.1%}"))
        name = "".join(text[symbol] for symbol in lattice.symbols)
        left_out = f" {len(longer) - MOST_IN_FIGURE:,} less likely tokens are not shown." * (
            len(longer) > MOST_IN_FIGURE
        )
        from_where = "" if exact else f", estimated from {count_text(draws.total(), 'draw')}"
        sentence = (
            f"“{name}” can be split in {_number(lattice.ways)} ways; the tokenizer splits it as "
            f"{BETWEEN.join(text[id] for id in own)}. The figure shows each possible token, and its share of the "
            f"draws by {way}{from_where}.{left_out}"
        )
        return LatticeFigure("ways", f"Many ways to split “{name}”.", sentence, tokens, ways)

    def _shares_of_draws(self, place: int, way: Way) -> dict[tuple[int, int], float]:
        draws = Counter[tuple[int, int]]()
        for draw in self.drawn[way]:
            start = 0
            for id in draw[place]:
                draws[start, id] += 1
                start += self.all.length(id)
        return {key: times / len(self.drawn[way]) for key, times in draws.items()}

    def _way_drawn(self, name: str, ids: Ids, share: str) -> WayDrawn:
        tokens = list[LatticeToken]()
        start = 0
        text = self.study.inside.by_index.texts.text
        for id in ids:
            stop = start + self.all.length(id)
            tokens.append(LatticeToken(text[id], start, stop, tip=text[id]))
            start = stop
        return WayDrawn(name, tokens, ", ".join(filter(None, (count_text(len(ids), "token"), share))))


def _sentences(splits: _SplitWays, averages: dict[Way, tuple[float, bool]], dropout: float) -> Iterator[str]:
    own = sum(map(len, splits.fixed("own")))
    several = len(splits.words) > 1
    words = count_text(len(splits.words), "word") if several else "One word"
    them = "them" if several else "it"
    yield (
        f"{words} can be split in {_number(splits.ways)} ways; the tokenizer splits {them} into "
        f"{count_text(own, 'token')}."
    )
    for way, (tokens, exact) in averages.items():
        how = f"Dropout of {dropout:g}" if way == "dropout" else way.capitalize()
        yield f"{how}: {tokens:,.2f} tokens on average{'' if exact else ', estimated from the draws'}."
    yield from _unknown(splits.all)


def _unknown(ways: WaysOf) -> Iterator[str]:
    if ways.scores is None:
        yield NO_PROBABILITIES
    if "dropout" not in ways.known:
        yield NO_MERGES


def _about_chances(tokens: dict[Way, float], drawn: tuple[float, float] | None, dropout: float) -> Iterator[str]:
    if drawn is not None:
        off = f" (95 % interval: ± {round(drawn[1]):,})" if drawn[1] else ""
        tokens_made = count_text(round(drawn[0]), "token")
        yield f"Dropout of {dropout:g} makes about {tokens_made}{off}, estimated from the words drawn."
    if any(way in tokens for way in ("sampled", "uniform")):
        yield "The values of sampled and uniform are exact averages."


def _number(ways: int) -> str:
    """Return a number of ways as text. A very large number is given as a power of ten.

    >>> _number(1_234), _number(3 * 10**14)
    ('1,234', 'about 10^14')
    """
    return f"{ways:,}" if ways < COUNTED_UP_TO else f"about 10^{len(str(ways)) - 1}"
