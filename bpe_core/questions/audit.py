"""The question `audit`. It asks which tokens of a table deserve a second look, and why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import get_args

from bpe_core.asking import Answer, Question, parameter
from bpe_core.errors import BpeError
from bpe_core.insight.audit import CRITERIA, LONG, OF_CORPUS, ORDERS, RARE, Audit, AuditRows, Criterion, TokenPlaces
from bpe_core.insight.audit import audit as audited
from bpe_core.insight.audit import table_of as rows_table
from bpe_core.studies.study import Study
from bpe_core.support.progress import ALONE, Work, while_wanted

LONGEST_FIRST = "length"  # in this order the longest token comes first
WHAT = "An audit"
LISTED = ("id", "token", "times", "criteria", "reason")
CRITERIA_LIST = "".join(f"  {name:<12} {sentence}\n" for name, sentence in CRITERIA.items())


@dataclass(frozen=True)
class AuditOfTokens(Question):
    """List the tokens that deserve a second look: scaffolds, unreachable, unused, broken …"""

    about = "the vocabulary"
    asks = "Which tokens are doubtful?"
    turn = 5
    needs = "texts if known"
    rests = by_parts = True
    examples = f"""\
examples:
  bpe-explorer audit tokenizer.json
      Show how many tokens fit each criterion, and the first of them.

  bpe-explorer audit tokenizer.json --corpus mine/ yours.txt --only scaffold,unused --sort count -o audit.csv
      Write a table of the tokens that the corpus needs only to make other tokens, or not at all.

criteria:
{CRITERIA_LIST}"""
    in_python = """
        >>> import bpe_core as bpe
        >>> study = bpe.train("low lower lowest, new newer newest", "gpt2", merges=6)
        >>> bpe.audit(study, sort="length").columns["token"][:2]
        ['␣lowe', '␣ne']
    """

    only: str = parameter(
        "",
        help="list only tokens that meet at least one of these criteria, separated by commas",
        metavar="CRITERIA",
        choices=tuple(CRITERIA),
        several=True,
        title="Only tokens that are",
        in_words={"": "of any kind"},
    )
    sort: str = parameter("id", help="the order of the list", choices=ORDERS, title="Order", is_extra=True)
    reverse: bool = parameter(
        False, help="reverse the order, such as the shortest first", title="Reverse the order", is_extra=True
    )
    rare: int = parameter(
        RARE,
        help=f"a token is rare if it occurs fewer than N times (default: {RARE})",
        metavar="N",
        title="Rare if it occurs fewer times than",
    )
    long: int = parameter(
        LONG,
        help=(f"a token is very long if it has more than N characters (default: {LONG})"),
        metavar="N",
        title="Long if it has more characters than",
    )

    def asks_corpus(self, *, has_texts: bool) -> bool:
        return not has_texts

    def answer(self, study: Study, work: Work = ALONE) -> Answer:
        wanted = criteria_in(self.only)
        audit, names = audit_of(study, self.rare, self.long, wanted, work)
        rows = AuditRows(study.history, audit, names)
        chosen = wanted or tuple(audit.meets)
        from_end = self.reverse != (self.sort == LONGEST_FIRST)
        order = rows.in_order(audit.ids(*chosen), self.sort, from_end=from_end)
        table = rows_table(map(rows.row, while_wanted(order, work.cancelled)))
        totals = tuple(f"{total:,} {name}: {CRITERIA[name]}" for name, total in audit.totals.items())
        return Answer(table, totals, listed=LISTED)


def criteria_in(text: str) -> tuple[Criterion, ...]:
    """Parse a list of criteria that are separated by commas.

    >>> criteria_in("unused,scaffold")
    ('scaffold', 'unused')
    """
    names = [name.strip() for name in text.split(",") if name.strip()]
    unknown = next((name for name in names if name not in CRITERIA), None)
    if unknown is not None:
        raise BpeError(f"There is no criterion {unknown[:40]!r}; the criteria are {', '.join(CRITERIA)}.")
    return tuple(name for name in get_args(Criterion) if name in names)


def audit_of(
    study: Study, rare: int, long: int, wanted: tuple[Criterion, ...] = (), work: Work = ALONE
) -> tuple[Audit, list[str]]:
    """Return an audit of a study, and the names of its groups of texts, or of its files if there are no groups.

    Raise BpeError if the study cannot decide a criterion in `wanted`, for example because the study has no texts.
    """
    parts = {} if study.texts is None else study.inside.parts(WHAT, work)
    needs = [criterion for criterion in wanted if criterion in OF_CORPUS]
    if needs and not parts:
        raise BpeError(f"Only a corpus shows which tokens are {needs[0]}: name its texts with --corpus.")
    places = TokenPlaces.of(list(parts.values()), study.history) if parts else None
    audit = audited(study.history, places, rare=rare, long=long, work=work)
    missing = [criterion for criterion in wanted if criterion not in audit.meets]
    if missing:
        why = "name several texts with --corpus" if missing[0] == "one-file" else "its method merges no pairs"
        raise BpeError(f"This audit cannot say which tokens are {missing[0]}: {why}.")
    return audit, list(parts)
