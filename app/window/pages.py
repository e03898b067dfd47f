"""The list of all pages that follow the time slider. Tabs, menus, saving and sessions all use this list.

A page is imported and built only when it is needed, so that the window opens quickly.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar, cast

from app.session.session import Session
from app.window.actions import Item
from app.window.charts.loading import ChartLoading
from app.window.charts.picker import PickedGroup
from app.window.parts.page import Page, PagePlace
from app.window.questions.question_list.view import QuestionListRow
from app.window.questions.token.model import TokenModel
from app.window.text.text_model import TokenTextModel
from bpe_core.questions import description_of, question_names, questions_by_subject

if TYPE_CHECKING:
    from app.window.charts.pairs_page import PairsPage
    from app.window.corpus.text_page import CorpusTextPage
    from app.window.questions.audit.page import AuditPage
    from app.window.questions.blocks_page import BlocksPage
    from app.window.questions.chat.page import ChatPage
    from app.window.questions.compare.answers import ComparePage, LabPage
    from app.window.questions.compare.lanes_model import LanesModel
    from app.window.questions.compare.panel import LanesPanel
    from app.window.questions.curves.page import SweepPage
    from app.window.questions.id_map.page import IdMapPage
    from app.window.questions.question_page import QuestionPage
    from app.window.questions.reading_page import ReadingPage
    from app.window.questions.token.page import TokenPage
    from app.window.questions.why.merge_tree import TreePage
    from app.window.questions.why.model import WhyModel
    from app.window.questions.why.page import WhyPage
    from app.window.questions.words.page import WordsPage

BEGINNING = 40  # characters of the user's text for the page of all ways to split
Tabs = Literal["charts", "inspector", "centre", "beside"]  # places of pages; "beside" is next to the text
Kind = TypeVar("Kind", bound=Page)
Built = TypeVar("Built", bound=Page, covariant=True)


@dataclass(frozen=True)
class PageContext:
    session: Session
    text: TokenTextModel  # the user's text, cut into tokens
    token: TokenModel  # the token looked at

    @cached_property
    def loading(self) -> ChartLoading:
        """Return the object that loads the drawing library in the background."""
        return ChartLoading(self.session.background)

    @cached_property
    def why(self) -> WhyModel:
        """Return the model of the question that asks why a text is split at a position.

        The small view and the large view of the question share the model.
        """
        from app.window.questions.why.model import WhyModel

        return WhyModel(self.session, self.text)

    @cached_property
    def lanes(self) -> LanesModel:
        """Return the model of the tokenizers side by side.

        The columns and the charts share the model.
        """
        from app.window.questions.compare.lanes_model import LanesModel

        return LanesModel(self.session)


def build_token(world: PageContext) -> TokenPage:
    from app.window.questions.token.life_model import LifeModel
    from app.window.questions.token.page import TokenPage

    return TokenPage(world.token, LifeModel(world.session, world.token))


def build_why(world: PageContext) -> WhyPage:
    from app.window.questions.why.page import WhyPage

    return WhyPage(world.why)


def build_pairs(world: PageContext) -> PairsPage:
    from app.window.charts.pairs_model import PairsModel
    from app.window.charts.pairs_page import PairsPage

    return PairsPage(PairsModel(world.session), world.loading)


def build_words(world: PageContext) -> WordsPage:
    from app.window.questions.words.model import WordsModel
    from app.window.questions.words.page import WordsPage

    return WordsPage(WordsModel(world.session))


def build_corpus_text(world: PageContext) -> CorpusTextPage:
    from app.window.corpus.text_page import CorpusTextModel, CorpusTextPage

    return CorpusTextPage(CorpusTextModel(world.session))


def build_audit(world: PageContext) -> AuditPage:
    from app.window.questions.audit.page import AuditPage
    from app.window.questions.audit.trimming import TrimTask
    from app.window.questions.question_model import QuestionModel

    return AuditPage(TrimTask(world.session, QuestionModel(world.session, "audit", ("characters", "only_in"))))


def build_reading(world: PageContext, name: str, **chosen: Any) -> ReadingPage:
    from app.window.questions.question_model import QuestionModel
    from app.window.questions.reading_page import ReadingPage

    return ReadingPage(QuestionModel(world.session, name, **chosen), world.session)


def build_ways(world: PageContext) -> QuestionPage:
    from app.window.questions.question_model import QuestionModel
    from app.window.questions.question_page import QuestionPage

    return QuestionPage(QuestionModel(world.session, "ways", text=world.text.text()[:BEGINNING].strip("\n")))


def build_sweeps(world: PageContext) -> SweepPage:
    from app.window.questions.curves.page import SweepPage
    from app.window.questions.curves.planning import CurvePlan
    from app.window.questions.curves.sweeping import SweepModel

    return SweepPage(SweepModel(world.session), CurvePlan(world.session))


def build_blocks(world: PageContext) -> BlocksPage:
    from app.window.questions.blocks_model import BlocksModel
    from app.window.questions.blocks_page import BlocksPage

    return BlocksPage(BlocksModel(world.session))


def build_chat(world: PageContext) -> ChatPage:
    from app.window.questions.chat.model import ChatModel
    from app.window.questions.chat.page import ChatPage

    return ChatPage(ChatModel(world.session))


def build_lanes(world: PageContext) -> LanesPanel:
    from app.window.questions.compare.panel import LanesPanel

    return LanesPanel(world.lanes, world.text)


def build_compare(world: PageContext) -> ComparePage:
    from app.window.questions.compare.answers import ComparePage
    from app.window.questions.compare.lane_questions import PairQuestion

    return ComparePage(PairQuestion(world.session, world.lanes))


def build_lab(world: PageContext) -> LabPage:
    from app.window.questions.compare.answers import LabPage
    from app.window.questions.compare.lane_questions import LabQuestion

    return LabPage(LabQuestion(world.session, world.lanes))


def build_id_map(world: PageContext) -> IdMapPage:
    from app.window.questions.id_map.model import IdMapModel
    from app.window.questions.id_map.page import IdMapPage

    return IdMapPage(IdMapModel(world.session))


def build_tree(world: PageContext) -> TreePage:
    from app.window.questions.why.merge_tree import TreePage

    return TreePage(world.why, world.session.cursor, world.session.playing)


@dataclass(frozen=True)
class PageRow(Generic[Built]):
    """A row of the list of pages: the name of a page in files and code, its title, its tabs, and its actions.

    The first action shows the page.
    """

    id: str
    title: str
    tabs: Tabs
    build: Callable[[PageContext], Built]
    actions: tuple[Item, ...] = ()

    @property
    def kind(self) -> str:
        """Return the name of the page's class. It is the return type of the function that builds the page.

        The class itself may not be imported yet.
        """
        return str(getattr(self.build, "__annotations__", {}).get("return", ""))


def question_row(name: str, *actions: Item) -> PageRow[QuestionPage]:
    def build(world: PageContext) -> QuestionPage:
        from app.window.questions.question_model import QuestionModel
        from app.window.questions.question_page import QuestionPage

        return QuestionPage(QuestionModel(world.session, name))

    return PageRow(name, name.replace("_", " ").capitalize(), "charts", build, actions)


def chart_row(build: Callable[[PageContext], Built], shows: Item) -> PageRow[Built]:
    """Return the entry in the list of all pages for a page with a chart.

    `build` is the function that creates the page. `shows` is the action that opens the page and gives the page
    its name.
    """
    return PageRow(shows.name, shows.name.capitalize(), "charts", build, (shows,))


TOKEN = PageRow("token", "Token", "inspector", build_token)
WHY = PageRow("why", "Why here?", "inspector", build_why)
PAIRS = PageRow("pairs", "Pairs", "charts", build_pairs)
RANKS = question_row("ranks")
COMPRESSION = question_row("compression")
LENGTHS = question_row("lengths")
RACE = question_row(
    "race",
    Item("race", description_of("race").asks, "Follow the counts of chosen pairs through the training"),
    Item("follow", "&Follow This Pair", "Also follow the count of the pair that the shown step joins", "Ctrl+Shift+F"),
)
SIZES = question_row(
    "sizes", Item("sizes", description_of("sizes").asks, "Show how many tokens your texts need at each vocabulary size")
)
LANGUAGES = question_row(
    "languages",
    Item(
        "languages",
        description_of("languages").asks,
        "Show how many tokens a sentence needs in each language, {step} by {step}",
    ),
)
FLOOR = question_row(
    "floor",
    Item("floor", description_of("floor").asks, "Show how few tokens the best vocabulary of this size could need"),
)
WAYS = PageRow(
    "ways",
    "Ways",
    "charts",
    build_ways,
    (Item("ways", description_of("ways").asks, "Show all ways to split a text into these tokens, and random splits"),),
)
TIES = question_row(
    "ties", Item("ties", description_of("ties").asks, "List the {steps} that a tie decided, and try another rule")
)
MIXTURE = question_row(
    "mixture",
    Item(
        "mixture",
        description_of("mixture").asks,
        "Find the shares of your groups of texts that lead to the {steps} of this table",
    ),
)
WORDS = chart_row(
    build_words,
    Item("words", "The W&ords of the Corpus", "List the words of the texts, the most frequent first"),
)
CORPUS_TEXT_ITEM = Item("corpus_text", "Edit Co&rpus Text", "Change a text of the corpus, and see how the run changes")
CORPUS_TEXT = PageRow("corpus_text", "Corpus Text", "charts", build_corpus_text, (CORPUS_TEXT_ITEM,))
AUDIT = chart_row(
    build_audit,
    Item("audit", description_of("audit").asks, "List tokens that are unused, unreachable or broken, and remove them"),
)
BENCHMARK = chart_row(
    partial(build_reading, name="benchmark", parallel="own"),
    Item(
        "benchmark",
        description_of("benchmark").asks,
        "Measure all runs on many texts, and on the same sentences in many languages",
    ),
)
CURVES = question_row(
    "curves", Item("curves", description_of("curves").asks, "Draw a measure of all runs at each vocabulary size")
)
SWEEP_ITEM = Item(
    "sweeps", "Ma&ke a Sweep", "Plan and train many runs, and draw a measure of them at each vocabulary size"
)
SWEEPS = PageRow("sweep_results", "Sweeps", "charts", build_sweeps, (SWEEP_ITEM,))
MORPHEMES = PageRow("morphemes", "Morphemes", "charts", partial(build_reading, name="morphemes"))
BLOCKS = chart_row(
    build_blocks, Item("blocks", description_of("blocks").asks, "Show the blocks of a compressed text and their tables")
)
CHAT = PageRow("chat", "Chat", "charts", build_chat)
COMPARE = chart_row(
    build_compare, Item("compare", "&Compare with Another …", "Compare another run or tokenizer with the run shown")
)
LAB_ITEM = Item("lab", "&Lab", "Compare up to four tokenizers at any vocabulary size", "Ctrl+L", "lab")
DUEL_ITEM = Item("duel", "&Duel", "Show your text side by side as two tokenizers split it", "Ctrl+Shift+K")
LAB = PageRow("lab", "Lab", "charts", build_lab, (LAB_ITEM, DUEL_ITEM))
LANES = PageRow("lanes", "Side by side", "beside", build_lanes)
ID_MAP_ITEM = Item(
    "idmap", description_of("idmap").asks, "Show which id each token of another run has in the run shown"
)
ID_MAP = PageRow("idmap", "Id map", "charts", build_id_map, (ID_MAP_ITEM,))
TREE = PageRow("tree", "Merge Tree", "centre", build_tree)

PAGES: tuple[PageRow[Page], ...] = (
    TOKEN, WHY, PAIRS, RANKS, COMPRESSION, LENGTHS, RACE, TIES, WAYS, WORDS, CORPUS_TEXT, AUDIT, BLOCKS, LAB, COMPARE,
    SIZES, LANGUAGES, FLOOR, MIXTURE, ID_MAP, CURVES, SWEEPS, BENCHMARK, MORPHEMES, CHAT, TREE, LANES,
)  # fmt: skip
# Questions with special views: the rows above, and the tables of merges and words.
OWN_VIEWS = {*(row.id for row in PAGES), "paid", "steps", "diff", "look"}
PAGES += tuple(question_row(name) for name in question_names() if name not in OWN_VIEWS)


# The charts below the tokenizers side by side, and the subject of each, for the picker.
ABOUT = {
    "lab": "these columns, by size",
    "curves": "all runs, by size",
    "sizes": "the run shown, by size",
    "sweep_results": "a sweep, by size",
    "benchmark": "all runs, by language or text",
    "morphemes": "all runs, by list of words",
    "compare": "two columns",
}
STEPS_THAT_DIFFER = "Steps that differ"  # picked like a measure, though it is none
HOW_STEPS_DIFFER = "Two tables can differ from one step on, because a missing merge moves all later merges."


def drawn_measures() -> list[PickedGroup]:
    """Return the measures that the charts in `ABOUT` can draw, divided into groups."""
    from bpe_core.measures.measures import GROUPS, MEASURES, OF_MORPHEMES_IN_SWEEPS
    from bpe_core.questions import question_named

    charts: dict[str, dict[str, str]] = {}  # by measure; the name of a measure differs from chart to chart
    for chart in [id for id in ABOUT if id != "compare"]:
        measure = next(parameter for parameter in question_named(chart).parameters() if parameter.name == "measure")
        for name in measure.choices:
            charts.setdefault(OF_MORPHEMES_IN_SWEEPS.get(name, name), {})[chart] = name
    groups = []
    for group in GROUPS:
        drawn = {MEASURES[name].title: charts[name] for name in group.measures if name in charts}
        meanings = {MEASURES[name].title: MEASURES[name].explanation for name in group.measures}
        groups.append(PickedGroup(group.title, group.sentence, drawn, meanings))
    steps = PickedGroup("Step by step", HOW_STEPS_DIFFER, {STEPS_THAT_DIFFER: {"compare": ""}}, {})
    return [*groups, steps]


# The charts that rooms have besides Ask, by their ids. Ask has all questions.
IN_ROOMS: dict[str, tuple[str, ...]] = {
    "watch": ("pairs",),
    "compare": tuple(ABOUT),
    "build": ("words", "corpus_text", "audit", "twins", "blocks"),
}


NOT_LISTED = {"look", "lab", "diff"}  # questions that the text itself answers, or the room Compare


def charts_in(room: str) -> tuple[str, ...]:
    if room in IN_ROOMS:
        return IN_ROOMS[room]
    asked = {*question_names()} - NOT_LISTED
    return tuple(row.id for row in PAGES if row.tabs == "charts" and row.id in asked)


def question_list_rows() -> list[QuestionListRow]:
    """Return the rows of the list in which a user chooses a question: each subject, followed by its questions."""
    rows = []
    for subject, names in questions_by_subject({*question_names()} - NOT_LISTED).items():
        rows.append(QuestionListRow(subject.capitalize()))
        for name in names:
            described = description_of(name)
            rows.append(QuestionListRow(described.asks, name, f"{described.summary}."))
    return rows


class Pages:
    """The pages of a window. A page is found by its row in the list, or by its class.

    A page is built when it is needed for the first time.
    """

    def __init__(self, world: PageContext) -> None:
        self._world = world
        self._built: dict[str, Page] = {}
        self._connections: dict[str, list[Callable[[Any], object]]] = defaultdict(list)
        self._places = {row.id: PagePlace(row.title, partial(self.page, row)) for row in PAGES}

    def __getitem__(self, kind: type[Kind]) -> Kind:
        return cast(Kind, self.page(next(row for row in PAGES if row.kind == kind.__name__)))

    def page(self, row: PageRow[Kind]) -> Kind:
        if row.id not in self._built:
            self._built[row.id] = page = row.build(self._world)
            if not page.accessibleName():
                page.setAccessibleName(row.title)
            self._places[row.id].set_page(page, scrolls=row.tabs in ("charts", "inspector"))
            page.recolor()
            for connect in self._connections.pop(row.id, ()):
                connect(page)
        return cast(Kind, self._built[row.id])

    def known(self, row: PageRow[Kind]) -> Kind | None:
        return cast("Kind | None", self._built.get(row.id))

    def when_built(self, row: PageRow[Kind], connect: Callable[[Kind], object]) -> None:
        """Call `connect` with a page as soon as the page has been built."""
        if row.id in self._built:
            connect(self.page(row))
        else:
            self._connections[row.id].append(connect)

    def on(self, tabs: Tabs) -> dict[str, PagePlace]:
        return {row.id: self._places[row.id] for row in PAGES if row.tabs == tabs}

    def recolor(self) -> None:
        for page in self._built.values():
            page.recolor()

    @property
    def are_waiting(self) -> bool:
        return any(page.watched.is_waiting for page in self._built.values())
