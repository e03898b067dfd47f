"""The life of a token: its parts, its rise and fall, its words, where it occurs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bpe_core.asking import Answer, Question, parameter
from bpe_core.errors import BpeError
from bpe_core.figures.figure import Figure
from bpe_core.figures.from_table import life_chart
from bpe_core.history.token_texts import shown
from bpe_core.insight.contexts import Context, contexts
from bpe_core.insight.ranked_words import RankedWords
from bpe_core.insight.reachability import Reachability, reachability
from bpe_core.insight.token_life import TokenLife, token_life, use_by_cutting, use_by_joining, words_holding
from bpe_core.learning.layout import count_symbols
from bpe_core.learning.methods import learns_by_ranks
from bpe_core.questions.paid import held_table
from bpe_core.studies.study import Study
from bpe_core.studies.texts import KnownWords
from bpe_core.support.data_table import DataTable
from bpe_core.support.progress import ALONE, Work

MOST_SHOWN = 12
WHAT = "The life of a token"
Stairs = Sequence[tuple[int, int]]  # from which state on there is which count


@dataclass(frozen=True)
class Token(Question):
    """Show the life of a token: its parts, its rise and fall, its words, where it occurs.

    A token is born with all its occurrences at once; from then on larger tokens take them away. Before its birth the
    pair it was made of had a life of its own.
    """

    needs = "texts"
    follows_time = True
    examples = """\
examples:
  bpe-explorer token "␣the" --merges merges.csv --corpus book.txt
      Its parts and what was made of it, how often it occurs, in which words and lines, and whether it is a mere
      scaffold that larger tokens have used up.

  bpe-explorer token "#260" --merges merges.csv --at 300 --json --corpus book.txt
      The token with the id 260 as of step 300.

  bpe-explorer token "␣the" --merges book.bpex -o life.svg --width 84 --height 60
      How often it occurred in the texts when, as a drawing (.pdf, .png) or as a table (.csv, .parquet ...).
"""

    token: str = parameter(help="as the merge table writes it, or #ID", metavar="TOKEN", positional=True)
    at: int | None = parameter(None, help="after the first K steps (else after all)", metavar="K")
    words: bool = parameter(False, help="list all words that hold it instead, with how often")

    def answer(self, study: Study, work: Work = ALONE) -> Answer:
        token, at = study.id_of(self.token), study.checked_step_count(self.at)
        if self.words:
            held = words_holding(study.words(WHAT, work), study.history, token, at, cancelled=work.cancelled)
            return Answer(held_table(held), (f"{len(held):,} words hold {study.names.text[token]}.",))
        if not learns_by_ranks(study.history):
            return _used(study, token, at, work)
        ranked = study.ranked(WHAT, work)
        life = token_life(ranked, token, at)
        before = () if life.before is None else life.before.stairs(life.curve.born)
        table = life_table(study, token, life.curve.stairs(), before)
        reached = reachability(study.history, token, at, corpus=ranked)
        sentences = [*_life_sentences(life, ranked, study), _reach(reached, study), *_places(study, ranked, token, at)]
        facts = _facts(life, reached, ranked, study)
        return Answer(table, tuple(sentences), life_figure(table, study, at), facts=facts)


def _facts(life: TokenLife, reached: Reachability, ranked: RankedWords, study: Study) -> dict[str, object]:
    names = study.names.text
    return {
        "id": study.number(life.token),
        "token": names[life.token],
        "made_at": life.step,
        "parts": None if life.parts is None else [names[part] for part in life.parts],
        "children": [names[child] for child in life.children],
        "at": life.at,
        "count": life.count_now,
        "peak": life.peak,
        "is_scaffold": life.is_scaffold,
        "words": [[ranked.words.word(one.word).decode(errors="replace"), one.count] for one in life.words],
        "reachability": {
            "kind": reached.kind,
            "witness": reached.witness,
            "pieces": [names[id] for id in reached.pieces],
        },
    }


def life_table(study: Study, token: int, curve: Stairs, pair_curve: Stairs) -> DataTable:
    """Make a row for each time its count changes: from which step on it holds; before its birth, of its pair."""
    rows = [("pair", *one) for one in pair_curve] + [("token", *one) for one in curve]
    return DataTable(
        {
            **study.columns([token] * len(rows)),
            "of": [of for of, _, _ in rows],
            "after_step": np.array([step for _, step, _ in rows], np.int64),
            "count": np.array([count for _, _, count in rows], np.int64),
        }
    )


def life_figure(table: DataTable, study: Study, at: int) -> Figure:
    recipe = study.history.recipe
    steps, is_log = recipe.wording.steps.capitalize(), recipe.single is None
    return life_chart(table, steps=steps, end=len(study.history), at=at, is_log=is_log)


def _used(study: Study, token: int, at: int, work: Work) -> Answer:
    """Where pairs are not joined word by word: how often it occurred when, and in which words."""
    history, words = study.history, study.words(WHAT, work)
    held: list[tuple[bytes, int]] = []
    if history.only_joins:
        symbols = count_symbols(words, history.alphabet, history.recipe)
        curve: Stairs = use_by_joining(history, token, int(symbols[token]) if token < len(symbols) else 0)
    else:
        use = use_by_cutting(words, history, token, at, progress=work.progress, cancelled=work.cancelled)
        curve, held = use.curve, use.words
    now = next((count for step, count in reversed(curve) if step <= at), 0)
    steps, most = history.recipe.wording.steps, max(count for _, count in curve)
    sentences = [
        f"{study.names.text[token]} (id {study.number(token):,}) occurs {now:,} times after {at:,} {steps}, "
        f"{most:,} times at most."
    ]
    if held:
        sentences.append(f"In words: {_listed([f'{shown(word)} {count:,}' for word, count in held])}.")
    table = life_table(study, token, curve, ())
    return Answer(table, (*sentences, _reach(reachability(history, token, at), study)), life_figure(table, study, at))


def _life_sentences(life: TokenLife, ranked: RankedWords, study: Study) -> list[str]:
    names, grown_from = study.names.text, study.history.recipe.grown_from
    new = f", new behind the table's own {grown_from:,} steps" if 0 < grown_from < (life.step or 0) else ""
    made = "a base symbol" if life.parts is None else f"step {life.step:,}: {study.pair_name(life.parts)}{new}"
    found = [
        f"{names[life.token]} (id {study.number(life.token):,}, {made}) occurs {life.count_now:,} times after "
        f"{life.at:,} merges; {life.peak:,} at its peak."
    ]
    if life.is_scaffold:
        found.append("It is a scaffold: larger tokens have taken all of it.")
    cuts = [f"{names[ranked.base + cut.step - 1]} (step {cut.step:,}) took {cut.lost:,}" for cut in life.curve.cuts]
    if cuts:
        found.append(f"{_listed(cuts)}.")
    words = [f"{shown(ranked.words.word(one.word))} {one.count:,}" for one in life.words]
    found.append(f"In tokens: {_listed([names[child] for child in life.children])}.")
    found.append(f"In words: {_listed(words)}.")
    return found


def _reach(reached: Reachability, study: Study) -> str:
    if reached.kind == "reachable":
        return f"Reachable by the text {reached.witness!r}."
    if reached.kind == "not learned yet":
        return "It is not learned yet."
    if len(reached.pieces) > 1:
        return f"Unreachable: its own text falls into {' | '.join(study.names.text[id] for id in reached.pieces)}."
    return "Unreachable: no text holds these bytes." if reached.kind == "unreachable" else "No text was found for it."


def _places(study: Study, ranked: RankedWords, token: int, at: int) -> list[str]:
    """Lines of the texts in which it occurs, where the texts themselves are at hand."""
    if study.texts is None or isinstance(study.texts, KnownWords):
        return []
    try:
        with study.texts.reading() as corpus:
            return [_place(hit) for hit in contexts(corpus, ranked, token, at, most=MOST_SHOWN)]
    except BpeError:
        return []


def _place(hit: Context) -> str:
    line = f"{hit.source}:{'row ' if hit.is_row else ''}{hit.line}"
    return f"{line}: {hit.text[: hit.start]}[{hit.text[hit.start : hit.stop]}]{hit.text[hit.stop :]}"


def _listed(texts: list[str]) -> str:
    rest = f" … and {len(texts) - MOST_SHOWN:,} more" if len(texts) > MOST_SHOWN else ""
    return ", ".join(texts[:MOST_SHOWN]) + rest if texts else "none"
