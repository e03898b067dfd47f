"""The question `ties`. It asks which steps were decided by a tie.

It also asks what another tie rule would change.
"""

from __future__ import annotations

from dataclasses import dataclass

from bpe_core.asking import Answer, Question, parameter
from bpe_core.errors import BpeError
from bpe_core.history.token_texts import shown
from bpe_core.insight.pairs import Tie, ties
from bpe_core.insight.table_comparison import TableComparison, compare_tables
from bpe_core.methods.kit.tokenizer import Tokenizer
from bpe_core.methods.kit.trainer import learn
from bpe_core.methods.registry import METHODS
from bpe_core.recipes.ties import TIE_RULES
from bpe_core.studies.study import Study
from bpe_core.support.data_table import DataTable
from bpe_core.support.progress import ALONE, Work
from bpe_core.support.wording import count_text

WHAT = "The effect of another tie rule"


@dataclass(frozen=True)
class Ties(Question):
    """List the steps that a tie decided, and show the effect of another tie rule.

    Each row has the winner and the pair that tied with it. If a later step merged the tied pair, the row also names
    this step.
    """

    about = "this step"
    asks = "What did the ties decide?"
    turn = 3
    moment = ("step", -1)  # at the step of the tie
    needs = "texts if known"
    in_report = "rows"
    follows_time = True
    examples = """\
examples:
  bpe-explorer ties merges.csv
      List the steps at which two pairs were equally frequent: the winner, the loser, and when the loser was merged.

  bpe-explorer ties merges.csv --what-if lowest-ids --corpus book.txt --text "the lowest price"
      Learn again by another tie rule: the first difference, the shared merges, and the text split by both.
"""
    in_python = """
        >>> import bpe_core as bpe
        >>> study = bpe.train("low lower lowest, new newer newest", "gpt2", merges=6)
        >>> bpe.ties(study).columns["step"]
        [2, 3, 5, 6]
    """

    at: int | None = parameter(None, help="ask about the first K steps (default: all steps)", metavar="K")
    what_if: str | None = parameter(
        None,
        help=f"learn again by this tie rule: {', '.join(TIE_RULES)}",
        choices=tuple(TIE_RULES),
        metavar="RULE",
        title="Another tie rule",
        in_words={"": "none"},
    )
    text: str = parameter(
        "",
        help="show how both rules split this text",
        metavar="TEXT",
        title="Text to split",
        example="the lowest price",
    )

    def answer(self, study: Study, work: Work = ALONE) -> Answer:
        if self.what_if:
            return self._under_another_rule(study, self.what_if, work)
        at = study.inside.checked_step_count(self.at)
        history = study.history
        if not history.has_counts:
            raise BpeError(
                f"{study.name or 'This table'} has no counts, so its ties cannot be found. In the window, the button "
                "“Count on My Corpus” finds its counts."
            )
        tied = ties(history, at, cancelled=work.cancelled)
        return Answer(_table(tied, study), (_summary(tied, at, study),))

    def _under_another_rule(self, study: Study, rule: str, work: Work) -> Answer:
        history = study.history
        recipe = history.recipe.with_changes(ties=rule, merges=len(history))
        other = learn(study.inside.words(WHAT, work), recipe, progress=work.progress, cancelled=work.cancelled)
        work.check()
        comparison = compare_tables(history, other, cancelled=work.cancelled)
        sentences = [_about_first_difference(comparison, rule, len(other)), comparison.overlap.in_words]
        if self.text:
            data = self.text.encode()
            for run in (other, history):
                spans = Tokenizer(run).spans(self.text)
                pieces = " | ".join(shown(data[start:stop]) for start, stop, _ in spans)
                sentences.insert(2, f"{run.recipe.ties}: {pieces}")
        return Answer(_comparison(comparison, rule, history.recipe.ties), tuple(sentences))


def _table(tied: list[Tie], study: Study) -> DataTable:
    return DataTable(
        {
            "step": [tie.step for tie in tied],
            **study.inside.by_index.pair_columns([tie.winner for tie in tied]),
            **study.inside.by_index.pair_columns([tie.loser for tie in tied], "loser_"),
            "count": [tie.count for tie in tied],
            "loser_step": [tie.loser_step for tie in tied],
        }
    )


def _summary(tied: list[Tie], at: int, study: Study) -> str:
    recipe = study.history.recipe
    wording = recipe.wording
    title = METHODS[recipe.method].title
    if not recipe.applies("ties"):
        return f"{title} has no tie rule. The table of {wording.steps} shows why each {wording.step} was chosen."
    other = " A trainer with another tie rule may differ from the first of these steps on." if tied else ""
    return f"{len(tied):,} of {wording.counted(at)} were decided by a tie (rule: {recipe.ties}).{other}"


def _about_first_difference(comparison: TableComparison, rule: str, merges: int) -> str:
    if comparison.first is None or comparison.parted is None:
        return f"Under {rule} the same {count_text(merges, 'merge is', 'merges are')} learned."
    first, other = (" + ".join(map(shown, pair)) for pair in comparison.parted)
    differ = f"The two runs differ from step {comparison.first + 1:,} on."
    return f"{differ} This step makes {first} in this run, but {other} under {rule}."


def _comparison(comparison: TableComparison, rule: str, own: str) -> DataTable:
    first, other = comparison.parted or ((), ())
    return DataTable(
        {
            "rule": [own],
            "other_rule": [rule],
            "step": [None if comparison.first is None else comparison.first + 1],
            "one": [" + ".join(map(shown, first)) or None],
            "other": [" + ".join(map(shown, other)) or None],
            "shared": [comparison.common],
            "only_one": [len(comparison.only_in_first)],
            "only_other": [len(comparison.only_in_second)],
            "jaccard": [comparison.overlap.jaccard],
            "share_of_one": [comparison.overlap.share_of_first],
            "share_of_other": [comparison.overlap.share_of_second],
        }
    )
