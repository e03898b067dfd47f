"""Every page that follows the time cursor, a row each: a new one is its own file and a line here.

The tabs, the Ask menu, saving, copying and colours, and what a session remembers of the layout follow from the rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypeVar

from app.session.session import Session
from app.window.actions import Item
from app.window.charts import curves
from app.window.charts.curve_page import CurvePage
from app.window.charts.pairs_model import PairsModel
from app.window.charts.pairs_page import PairsPage
from app.window.parts.page import Page
from app.window.questions.audit.model import AuditModel
from app.window.questions.audit.page import AuditPage
from app.window.questions.audit.trimming import Trimming
from app.window.questions.benchmark.model import BenchmarkModel
from app.window.questions.benchmark.page import BenchmarkPage
from app.window.questions.compare.duel_page import DuelPage
from app.window.questions.compare.model import CompareModel
from app.window.questions.compare.page import ComparePage
from app.window.questions.compare.putting_together import PuttingTogether
from app.window.questions.curves.model import CurvesModel
from app.window.questions.curves.page import CurvesPage
from app.window.questions.curves.planning import Planning
from app.window.questions.gage.model import BlocksModel
from app.window.questions.gage.page import BlocksPage
from app.window.questions.lab.figures import LabFigures
from app.window.questions.lab.model import LabModel
from app.window.questions.lab.page import LabPage
from app.window.questions.lab.words_model import DifferingWordsModel
from app.window.questions.race.model import RaceModel
from app.window.questions.race.page import RacePage
from app.window.questions.sizes.model import SizesModel
from app.window.questions.sizes.page import SizesPage
from app.window.questions.ties.model import TiesModel
from app.window.questions.ties.page import TiesPage
from app.window.questions.token.life_model import LifeModel
from app.window.questions.token.model import TokenModel
from app.window.questions.token.page import TokenPage
from app.window.questions.why.model import WhyModel
from app.window.questions.why.page import WhyPage
from app.window.questions.why.tree_page import TreePage
from app.window.questions.words.model import WordsModel
from app.window.questions.words.page import WordsPage
from app.window.text.model import TokenTextModel

Tabs = Literal["charts", "inspector", "centre"]
Kind = TypeVar("Kind", bound=Page)


@dataclass(frozen=True)
class World:
    """All that a page may be about."""

    session: Session
    text: TokenTextModel  # the person's, cut into tokens
    token: TokenModel  # the token that is looked at

    @cached_property
    def why(self) -> WhyModel:
        """One question, answered small and large."""
        return WhyModel(self.session, self.text)

    @cached_property
    def comparison(self) -> CompareModel:
        """One question, answered by a table and by the text."""
        return CompareModel(self.session)


def build_ranks(session: Session) -> CurvePage:
    return CurvePage("Rank and frequency", session, curves.rank_frequency, curves.exact_ranks, "ranks")


def build_compression(session: Session) -> CurvePage:
    return CurvePage("Compression", session, curves.compression, curves.exact_compression, "compression")


def build_lengths(session: Session) -> CurvePage:
    return CurvePage("Token lengths", session, curves.token_lengths, curves.exact_lengths, "lengths")


def build_audit(world: World) -> AuditPage:
    model = AuditModel(world.session)
    return AuditPage(model, Trimming(world.session, model))


def build_compare(world: World) -> ComparePage:
    return ComparePage(world.comparison, PuttingTogether(world.session, world.comparison))


def build_lab(world: World) -> LabPage:
    model = LabModel(world.session)
    figures = LabFigures(world.session, model)
    return LabPage(model, figures, DifferingWordsModel(figures, model), world.text)


@dataclass(frozen=True)
class PageRow:
    """One page: its name in files and code, its title, its place, and the actions about it, the first of which
    shows it."""

    id: str
    title: str
    tabs: Tabs
    build: Callable[[World], Page]
    actions: tuple[Item, ...] = ()


PAGES = (
    PageRow("token", "Token", "inspector", lambda w: TokenPage(w.token, LifeModel(w.session, w.token))),
    PageRow("why", "Why here?", "inspector", lambda w: WhyPage(w.why, w.session.playing)),
    PageRow("pairs", "Pairs", "charts", lambda w: PairsPage(PairsModel(w.session))),
    PageRow("ranks", "Ranks", "charts", lambda w: build_ranks(w.session)),
    PageRow("compression", "Compression", "charts", lambda w: build_compression(w.session)),
    PageRow("lengths", "Lengths", "charts", lambda w: build_lengths(w.session)),
    PageRow("race", "Race", "charts", lambda w: RacePage(RaceModel(w.session)), (
        Item("race", "The &Race of Pairs", "Follow the counts of chosen pairs through the training"),
        Item("follow", "&Follow This Pair", "Let the pair of the merge shown run against the others", "Ctrl+Shift+F"),
    )),
    PageRow("sizes", "Sizes", "charts", lambda w: SizesPage(SizesModel(w.session)), (
        Item("sizes", "Which Vocabulary &Size?", "Show what each size would mean for your texts"),
    )),
    PageRow("ties", "Ties", "charts", lambda w: TiesPage(TiesModel(w.session)), (
        Item("ties", "What Did the T&ies Decide?", "List the {steps} that a tie decided, and try another rule"),
    )),
    PageRow("words", "Words", "charts", lambda w: WordsPage(WordsModel(w.session)), (
        Item("words", "The W&ords of the Corpus", "List what the texts were counted into, the most frequent first"),
    )),
    PageRow("audit", "Audit", "charts", build_audit, (
        Item("audit", "A&udit of the Tokens", "List those that are unused, unreachable or broken; trim the table"),
    )),
    PageRow("benchmark", "Benchmark", "charts", lambda w: BenchmarkPage(BenchmarkModel(w.session)), (
        Item("benchmark", "&Benchmark", "Measure all runs by many texts, and by the same sentences in many languages"),
    )),
    PageRow("curves", "Curves", "charts", lambda w: CurvesPage(CurvesModel(w.session), Planning(w.session)), (
        Item("curves", "Cur&ves of Many Runs", "Draw a measure of all runs, or of a sweep, by the size of vocabulary"),
    )),
    PageRow("blocks", "Blocks", "charts", lambda w: BlocksPage(BlocksModel(w.session)), (
        Item("blocks", "What Do B&ytes Stand For?", "Show the blocks of Gage's compressor and their tables"),
    )),
    PageRow("compare", "Compare", "charts", build_compare, (
        Item("compare", "&Compare with Another …", "Put another run or tokenizer beside the one shown"),
    )),
    PageRow("duel", "Duel", "centre", lambda w: DuelPage(w.comparison), (
        Item("duel", "&Duel", "Put your text as two tokenizers cut it side by side", "Ctrl+Shift+K"),
    )),
    PageRow("lab", "Lab", "centre", build_lab),
    PageRow("tree", "Merge Tree", "centre", lambda w: TreePage(w.why, w.session.cursor, w.session.playing)),
)  # fmt: skip


class Pages:
    """The pages of one window, found by their kind or by where they lie."""

    def __init__(self, world: World) -> None:
        self._pages: dict[str, Page] = {row.id: row.build(world) for row in PAGES}

    def __getitem__(self, kind: type[Kind]) -> Kind:
        return next(page for page in self._pages.values() if isinstance(page, kind))

    def page(self, id: str) -> Page:
        """The page of that id."""
        return self._pages[id]

    def on(self, tabs: Tabs) -> dict[str, tuple[str, Page]]:
        """Title and page, by id, in their order."""
        return {row.id: (row.title, self._pages[row.id]) for row in PAGES if row.tabs == tabs}

    @property
    def are_waiting(self) -> bool:
        """Whether one may show an earlier moment."""
        return any(page.watched.is_waiting for page in self._pages.values())
