"""The question `mixture`. It asks which mixture of groups of texts explains the merges of a table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bpe_core.asking import Answer, Question, parameter
from bpe_core.counting.blocks_of_documents import count_in_blocks
from bpe_core.counting.grouped import GroupedWords
from bpe_core.counting.words import WordTable
from bpe_core.errors import BpeError, NoDocuments
from bpe_core.figures.figure import Bar, BarFigure
from bpe_core.formats import FORMATS
from bpe_core.history.history import History
from bpe_core.insight.drawn_documents import DrawnDocuments
from bpe_core.insight.shares import MIXTURE as WHAT
from bpe_core.insight.shares import Bound, Evidence, Line, Program
from bpe_core.methods.kit.method import Method
from bpe_core.methods.registry import METHODS
from bpe_core.recipes.recipe import Recipe
from bpe_core.studies.study import Study
from bpe_core.support.data_table import DataTable
from bpe_core.support.progress import ALONE, Progress, Work
from bpe_core.support.wording import count_text
from bpe_core.text.patterns import NAMED_PATTERNS

TRIED = 200  # number of merges by which another way to split texts is tried
# Spreads on each side of a share, so that 95 of 100 lie between, as measured (the manual's page on speed): more than
# 1.96, as the texts that a table was learned from vary as well, and a few documents show too little of it.
SURE = 5.0
LEAST_SPREAD = 0.1  # of the average spread of all groups, for a group that has the share 0 in all draws
OF_STEPS = 2.6  # the same for random weights of steps, if there are no documents
AS_WELL = 1.01  # a way to split fits as well if it leaves at most this factor more unexplained than the best
LISTED = 3  # listed merges that are not explained
LEAST_KNOWN = 0.5  # the least share of a group's symbols that the table must have
MUCH = 0.1  # the share of merged occurrences that counts as much unexplained
SPLITS_NOTHING = "none"


@dataclass(frozen=True)
class Mixture(Question):
    """Estimate what a table was learned from: the shares of groups of texts that explain its merges.

    Each merge took the most frequent pair. So in the texts that the table was learned from, each merge was at least as
    frequent as all other pairs. The answer is the shares of the groups, in bytes, that fit this rule best.
    """

    about = "the corpus"
    asks = "What was it learned from?"
    turn = 1
    needs = "texts if known"
    rests = True
    by_parts = True
    examples = """\
examples:
  bpe-explorer mixture tokenizer.json --group en english.txt --group de german.txt --group code src
      Show the share of each group with its lower and upper bound, and the merges that decide it.

  bpe-explorer mixture cl100k_base.tiktoken --groups-of texts --steps 3000 -o shares.svg
      Make a group of each folder in `texts`, use the first 3,000 merges, and draw the shares.

Low and high are the ends of a 95 % interval. To find them, documents are drawn at random again and again. If a group
has few documents, parts of its texts are drawn. The interval also contains every share that explains the merges equally
well. It should contain 95 of 100 true shares, if tables are learned from other documents of the same sources. If you
leave out a group of the original texts, its share goes to the most similar groups. The answer says how much no group
explains. Needs the package highspy: pip install 'bpe-explorer[mixture]'.
"""
    in_python = """
        >>> import bpe_core as bpe
        >>> texts = {"en": "the lowest of the low " * 9, "de": "die niedrigste der Zahlen " * 9}
        >>> study = bpe.train(texts, "gpt2", merges=9)
        >>> bpe.mixture(study, draws=2).columns["group"]
        ['de', 'en']
    """

    steps: int = parameter(1_000, help="use the first N merges (default: 1,000)", metavar="N", title="First merges")
    pattern: str = parameter(
        "",
        help="the pattern that split the texts of the table, if the table names none (default: the one that fits best)",
        choices=tuple(name for name in NAMED_PATTERNS if name != SPLITS_NOTHING),
        title="Texts were split by",
        in_words={"": "the best pattern"},
    )
    draws: int = parameter(
        20,
        help="how many times to draw the documents at random, to compute the columns low and high (default: 20)",
        metavar="N",
        title="Random draws",
    )
    seed: int = parameter(
        1,
        help="the seed of the random draws (default: 1)",
        metavar="N",
        title="Seed of the random draws",
        is_extra=True,
    )

    def asks_corpus(self, *, has_texts: bool) -> bool:
        return not has_texts

    def answer(self, study: Study, work: Work = ALONE) -> Answer:
        history = study.history
        method = Method.of(history.recipe)
        if method.reason != "count" or not METHODS[history.recipe.method].can_be_steered or not len(history):
            raise BpeError(f"{WHAT} works only for tables that merge the most frequent pair. This table does not.")
        if self.steps < 1 or self.draws < 2:
            raise BpeError("The number of merges must be at least 1, and the number of draws at least 2.")
        begun = History.from_pairs(history.recipe, history.alphabet, history.pairs(0, self.steps))
        said, groups, recipe = self._split(study, begun, work)
        evidence = Evidence(groups, begun, work)
        if not evidence.merges.any():
            raise BpeError(
                f"None of the first {count_text(len(begun), 'merge')} occurs in these texts. Name texts in the scripts "
                "that the table was learned from, or the pattern it was learned with (--pattern)."
            )
        for name, known in zip(evidence.names, evidence.known().tolist(), strict=True):
            if known < LEAST_KNOWN:
                raise BpeError(
                    f"Only {known:.0%} of the text in the group {name!r} consists of characters of this table, so the "
                    "table was not learned from such texts. Leave the group out."
                )
        program = Program(evidence)
        program.explain(work)
        drawn = _documents_to_draw(study, groups, recipe, work)
        return _answer(
            study, program, self._interval(program, drawn, work), [*said, *([] if drawn else [NO_DOCUMENTS])]
        )

    def _interval(self, program: Program, documents: DrawnDocuments | None, work: Work) -> tuple[Any, Any]:
        """Return the lower bounds and the upper bounds of the shares.

        There are two reasons why a share is uncertain: other documents would give other shares, and several shares may
        explain the merges equally well.
        """
        if documents is None:
            spread = OF_STEPS * program.spread(self.draws, self.seed, work)
        else:
            shares = documents.shares(program, self.draws, self.seed, work)
            spread = SURE * np.sqrt(np.mean((shares - program.shares) ** 2, axis=0))
        spread = np.maximum(spread, LEAST_SPREAD * spread.mean())
        least, most = program.equally_good_shares(work)
        low = np.maximum(0.0, np.minimum(least, program.shares - spread))
        return low, np.minimum(1.0, np.maximum(most, program.shares + spread))

    # -- how texts are split ---------------------------------------------------------------

    def _split(self, study: Study, begun: History, work: Work) -> tuple[list[str], GroupedWords, Recipe]:
        """Count the words of each group, split by the pattern in `self.pattern`, or else by the pattern of the table.

        If neither is known, choose the pattern that fits best. In this case, the first returned value holds a sentence
        about the choice.
        """
        recipe = study.history.recipe.with_changes(mixture=None)
        says = FORMATS.holding(study.format).holds_splitting
        if self.pattern:
            recipe = recipe.with_changes(pattern=self.pattern, custom_pattern="")
        if self.pattern or says or recipe.preparation:
            return [], _grouped(study, recipe, work), recipe
        names = [name for name in NAMED_PATTERNS if name != SPLITS_NOTHING]
        by_pattern = dict[str, tuple[float, GroupedWords]]()
        for number, name in enumerate(names):
            work.progress(Progress("trying ways to split", number, len(names), "ways"))
            groups = _grouped(study, recipe.with_changes(pattern=name, custom_pattern=""), work)
            program = Program(Evidence(groups, begun.first(TRIED), work))
            program.explain(Work(cancelled=work.cancelled))
            by_pattern[name] = program.unexplained, groups
        least = min(unexplained for unexplained, _ in by_pattern.values())
        chosen, *others = (name for name, (unexplained, _) in by_pattern.items() if unexplained <= AS_WELL * least)
        beside = f" (equally well: {', '.join(others)})" if others else ""
        said = f"The table's file does not say how texts were split. Of all known patterns, {chosen} fits best{beside}."
        return [said], by_pattern[chosen][1], recipe.with_changes(pattern=chosen, custom_pattern="")


NO_DOCUMENTS = (
    "Only the words of these texts are known, not their documents. So the values low and high come from random "
    "weights of the steps, which is less reliable than drawing documents."
)


def _documents_to_draw(study: Study, groups: GroupedWords, recipe: Recipe, work: Work) -> DrawnDocuments | None:
    """Return the documents of the groups, from which random samples are drawn.

    Return None if the texts are counted words and have no documents.
    """
    assert study.texts is not None
    try:
        with study.texts.reading() as corpus:
            if corpus.word_counts is not None or corpus.word_lists:
                return None
            parts = corpus.by_source() if corpus.groups == ("",) else corpus.parts()
            return DrawnDocuments(groups, count_in_blocks(parts, recipe, work))
    except NoDocuments:
        return None


AT_LEAST_TWO = "name at least two groups"


def _grouped(study: Study, recipe: Recipe, work: Work) -> GroupedWords:
    if study.texts is None:
        raise BpeError(f"{WHAT} needs groups of texts: {AT_LEAST_TWO}.")
    tables: Mapping[str, WordTable] = study.texts.parts(recipe, work)
    if len(tables) < 2:
        raise BpeError(f"{WHAT} needs several groups of texts, and there is only one: {AT_LEAST_TWO}.")
    for name, table in tables.items():
        if not len(table):
            raise BpeError(f"The group {name!r} holds no words: give it texts, or leave it out.")
    return GroupedWords.of(tables)


def _answer(study: Study, program: Program, interval: tuple[Any, Any], said: Sequence[str]) -> Answer:
    evidence = program.evidence
    (low, high) = interval
    bounds = [program.bounds(group) for group in range(len(evidence.names))]
    order = np.argsort(-program.shares, kind="stable").tolist()
    columns: dict[str, list[Any]] = {
        "group": [evidence.names[group] for group in order],
        "share": [float(program.shares[group]) for group in order],
        "low": [float(low[group]) for group in order],
        "high": [float(high[group]) for group in order],
        "bytes": [evidence.bytes[group] for group in order],
    }
    for side, name in enumerate(("at_least", "at_most")):
        column = [bounds[group][side] for group in order]
        columns |= {
            name: [None if bound is None else bound.share for bound in column],
            f"{name}_step": [None if bound is None else bound.line.step + 1 for bound in column],
            f"{name}_by": [None if bound is None else _line(study, program, bound.line) for bound in column],
        }
    occurrences = float((evidence.merges @ program.shares).sum())
    share = program.unexplained / max(occurrences, 1.0)
    sentences = [*said, *_sentences(study, program, order, bounds, share)]
    bars = [
        Bar(
            evidence.names[group],
            float(program.shares[group]),
            _percent(program, interval, group),
            interval=(low[group], high[group]),
        )
        for group in order
    ]
    title = "The shares of groups that explain the merges best, with their lower and upper bounds."
    figure = BarFigure(
        "mixture",
        "The texts that the table was learned from.",
        title,
        bars,
        "Share of the bytes that the table was learned from",
    )
    facts = {"unexplained": share, "steps": len(evidence), "lines": len(program.lines)}
    return Answer(DataTable(columns), tuple(sentences), figure, ("group", "share", "low", "high", "bytes"), facts=facts)


def _percent(program: Program, interval: tuple[Any, Any], group: int) -> str:
    low, high = (float(end[group]) for end in interval)
    return f"{program.shares[group]:.1%} ({100 * low:.1f}–{100 * high:.1f})"


def _line(study: Study, program: Program, line: Line) -> str:
    merged = study.inside.by_index.pair_name(program.evidence.table.pair(line.step))
    return f"{merged} before {study.inside.by_index.pair_name(program.rivals[line.rival].pair)}"


def _sentences(
    study: Study, program: Program, order: list[int], bounds: list[tuple[Bound | None, Bound | None]], share: float
) -> Iterator[str]:
    evidence = program.evidence
    best = ", ".join(f"{evidence.names[group]} {program.shares[group]:.1%}" for group in order[:LISTED])
    yield f"Estimate from the first {count_text(len(evidence), 'merge')}: {best}{' …' if len(order) > LISTED else ''}"
    for group in order[:LISTED]:
        for side, bound in zip(("at least", "at most"), bounds[group], strict=True):
            if bound is not None:
                yield (
                    f"{evidence.names[group]} is {side} {bound.share:.1%} because of step {bound.line.step + 1:,}: "
                    f"{_line(study, program, bound.line)}."
                )
    if not program.lines or share < 1e-9:
        yield "A mixture of these groups explains every merge."
        return
    yield f"The part that no mixture explains is {share:.2%} of all merged occurrences."
    if share > MUCH:
        yield (
            "This is a large part: the table may have been learned from other groups as well, or its texts were split "
            "differently."
        )
    worst = [(float(by), number) for number, by in enumerate(program.of_rivals) if by > 0]
    for by, number in sorted(worst, reverse=True)[:LISTED]:
        rival = program.rivals[number]
        name = study.inside.by_index.pair_name(rival.pair)
        fate = _fate(rival.until, program)
        yield f"With this mixture, {name} occurs {by:,.1f} times too often in each million bytes. {fate}"
    steps = np.argsort(-program.of_steps, kind="stable")[:LISTED]
    for step in (step for step in steps.tolist() if program.of_steps[step] > 0):
        merged = study.inside.by_index.pair_name(evidence.table.pair(step))
        yield (
            f"Step {step + 1:,}: {merged} has {program.of_steps[step]:,.1f} occurrences too few in each million bytes."
        )


def _fate(until: int, program: Program) -> str:
    last = len(program.evidence)
    if until < last:
        return f"This pair is merged at step {until + 1:,}."
    return f"This pair is not merged in the {count_text(last, 'step')} compared."
