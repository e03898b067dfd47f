"""The question `race`. It asks how the counts of pairs change during training."""

from __future__ import annotations

from dataclasses import dataclass

from bpe_core.asking import Answer, Pair, Question, parameter
from bpe_core.errors import BpeError
from bpe_core.figures.from_table import race_chart
from bpe_core.insight.pairs import (
    FollowedPair,
    LeadChange,
    NeverMerged,
    changes_of_leader,
    pairs_with_largest_losses,
    race,
    runners_up_never_merged,
)
from bpe_core.studies.study import Study
from bpe_core.support.data_table import DataTable
from bpe_core.support.progress import ALONE, Work
from bpe_core.support.wording import count_text

RUNNERS = 5  # number of pairs to follow if no pair is named
MOST_CUTS = 8
MOST_LEADS = 24
WHAT = "A race of pairs"


@dataclass(frozen=True)
class Race(Question):
    """Follow chosen pairs through the training: when each pair led, and which merges lowered its count.

    A pair has a count as soon as both its tokens exist. From then on the count can only fall, each time because another
    merge uses one of the two tokens. If no pair is named, the answer follows the pairs whose counts fell the most.
    """

    about = "this step"
    asks = "Which pairs lost?"
    turn = 1
    follows_time = True
    moment = ("after_step", 0)
    axis = "step"
    needs = "texts if known"
    examples = """\
examples:
  bpe-explorer race merges.csv --corpus book.txt --pair t h --pair h e --step 40
      Follow the pairs t+h and h+e, and the pair that was merged at step 40.

  bpe-explorer race merges.csv --never-won
      List the pairs that were runner-up but never merged; this needs no texts.
"""
    in_python = """
        >>> import bpe_core as bpe
        >>> study = bpe.train("low lower lowest, new newer newest", "gpt2", merges=6)
        >>> bpe.race(study, pairs=[("l", "o"), ("e", "w")]).sentences[0]
        'l + o: 3 times after step 0, merged at step 2.'
    """

    pairs: tuple[Pair, ...] = parameter(
        (), help="follow this pair of tokens", metavar="LEFT RIGHT", repeated=True, example="t + h; h + e"
    )
    steps: tuple[int, ...] = parameter(
        (),
        help=("follow the pair that was merged at this step"),
        metavar="N",
        repeated=True,
        title="Merged at steps",
        example="1 2",
    )
    at: int | None = parameter(None, help="follow the pairs that are merged next after the first K steps", metavar="K")
    never_won: bool = parameter(
        False, help="list the pairs that were runner-up but never merged", title="Pairs that were never merged"
    )

    def asks_corpus(self, *, has_texts: bool) -> bool:
        return not (has_texts or self.never_won)

    def answer(self, study: Study, work: Work = ALONE) -> Answer:
        if self.never_won:
            return _never_won(study)
        ranked = study.inside.ranked(WHAT, work)
        pairs = [
            (study.inside.by_index.of_text(left), study.inside.by_index.of_text(right)) for left, right in self.pairs
        ]
        pairs += [study.history.pair(study.inside.checked_step(step) - 1) for step in self.steps]
        pairs = pairs or self._next_pairs(study) or pairs_with_largest_losses(ranked, RUNNERS, cancelled=work.cancelled)
        runners = race(ranked, pairs, cancelled=work.cancelled)
        if not runners:
            raise BpeError("There are no pairs to follow: either nothing was learned, or no pair was ever a runner-up.")
        table = _table(runners, study)
        sentences = [_fate(runner, study) for runner in runners]
        sentences += [_lead(lead, runners, study) for lead in changes_of_leader(runners)[:MOST_LEADS]]
        figure = race_chart(table, study.history.recipe.wording.steps.capitalize())
        return Answer(table, tuple(sentences), figure)

    def _next_pairs(self, study: Study) -> list[tuple[int, int]]:
        end = len(study.history)
        if self.at is None or study.inside.checked_step_count(self.at) == end:
            return []
        first = min(self.at, max(0, end - RUNNERS))
        return [study.history.pair(row) for row in range(first, min(first + RUNNERS, end))]


def _table(runners: list[FollowedPair], study: Study) -> DataTable:
    return DataTable(
        {
            **study.inside.by_index.pair_columns([runner.pair for runner in runners for _ in runner.counts]),
            "after_step": [step for runner in runners for step in runner.states.tolist()],
            "count": [count for runner in runners for count in runner.counts.tolist()],
            "won_at": [runner.won_at for runner in runners for _ in runner.counts],
        }
    )


def _fate(runner: FollowedPair, study: Study) -> str:
    won = f"merged at step {runner.won_at:,}" if runner.won_at else "never merged"
    base = len(study.history.alphabet)
    lost = [
        f"{study.inside.by_index.texts.text[base + cut.step - 1]} (step {cut.step:,}) took {cut.lost:,}"
        for cut in runner.losses_to_others[:MOST_CUTS]
    ]
    cuts = f" {'; '.join(lost)}." if lost else ""
    name = study.inside.by_index.pair_name(runner.pair)
    return f"{name}: {count_text(runner.peak, 'time')} after step {runner.peak_at:,}, {won}.{cuts}"


def _lead(change: LeadChange, runners: list[FollowedPair], study: Study) -> str:
    if change.leader is None:
        return f"After step {change.at:,} none of these pairs occurs any more."
    runner = runners[change.leader]
    history = study.history
    at = change.at
    now = f"After step {at:,} {study.inside.by_index.pair_name(runner.pair)}"
    count = f"with {runner.count_at(at):,}"
    if at == len(history) or runner.pair == history.pair(at):
        return f"{now} leads {count}."
    next_one = study.inside.by_index.pair_name(history.pair(at))
    return f"{now} is first among these pairs {count}, but {next_one} is {history.recipe.wording.done} next."


def _never_won(study: Study) -> Answer:
    losers: list[NeverMerged] = runners_up_never_merged(study.history)
    table = DataTable(
        {
            **study.inside.by_index.pair_columns([loser.pair for loser in losers]),
            "times_second": [loser.times for loser in losers],
            "closest_step": [loser.closest_step for loser in losers],
            "missed_by": [loser.missed_by for loser in losers],
        }
    )
    return Answer(table, (f"{count_text(len(losers), 'pair was', 'pairs were')} runner-up but never merged.",))
