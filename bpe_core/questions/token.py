"""The question `token`. It asks what a token is made of, how its count changes over time, and where it occurs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from bpe_core.asking import Answer, Question, parameter
from bpe_core.asking.shared import steps_parameter
from bpe_core.errors import BpeError
from bpe_core.figures.figure import LineFigure
from bpe_core.figures.from_table import life_chart
from bpe_core.history.token_texts import shown
from bpe_core.insight.contexts import Context, contexts
from bpe_core.insight.ranked_words import words_with
from bpe_core.insight.token_life import life_by_use, life_without_words, token_life, use_by_splitting
from bpe_core.methods.kit.histories import learns_by_ranks
from bpe_core.methods.kit.life import Held, Reachability, TokenLife
from bpe_core.methods.kit.method import Method
from bpe_core.questions.paid import words_table
from bpe_core.studies.study import Study
from bpe_core.studies.texts import KnownWords
from bpe_core.support.data_table import DataTable
from bpe_core.support.progress import ALONE, Work
from bpe_core.support.wording import count_text

MOST_SHOWN = 12
WHAT = "The life of a token"


@dataclass(frozen=True)
class Token(Question):
    """Show the life of a token: its parts, its count over time, its words, and where it occurs.

    A new token gets all its occurrences at once. From then on larger tokens take occurrences away. Before the token
    exists, its count is the count of the pair that becomes the token.
    """

    about = "this token"
    asks = "What became of this token?"
    turn = 1
    needs = "texts"
    follows_time = True
    examples = """\
examples:
  bpe-explorer token "␣the" --merges merges.csv --corpus book.txt
      Show its parts and the tokens made of it, how often it occurs, in which words and lines, and whether it is only a
      scaffold that larger tokens have used up.

  bpe-explorer token "#260" --merges merges.csv --at 300 --json --corpus book.txt
      Show the token with the id 260 after step 300.

  bpe-explorer token "␣the" --merges book.bpex -o life.svg --width 84 --height 60
      Write its count after each step, as a figure (.pdf, .png) or as a table (.csv, .parquet ...).
"""
    in_python = """
        >>> import bpe_core as bpe
        >>> study = bpe.train("low lower lowest, new newer newest", "gpt2", merges=6)
        >>> bpe.token(study, "␣lowe").sentences[0]
        '␣lowe (id 261, step 6: ␣lo + we) occurs 2 times after 6 merges; 2 at its peak.'
    """

    token: str = parameter(
        help=("the token as the merge table writes it, or its id as #ID"), metavar="TOKEN", positional=True
    )
    at: int | None = steps_parameter()
    words: bool = parameter(False, help="list all words that hold the token, with their counts")

    def answer(self, study: Study, work: Work = ALONE) -> Answer:
        token = study.inside.by_index.of_text(self.token)
        at = study.inside.checked_step_count(self.at)
        if self.words:
            held = _held(study, token, at, work)
            return Answer(
                words_table(held),
                (f"{count_text(len(held), 'word holds', 'words hold')} {study.inside.by_index.texts.text[token]}.",),
                headings={"text": "word"},
            )
        study.inside.words(WHAT, work)  # refuses a study without texts
        life = life_of(study, token, at, work)
        table = life_table(study, life)
        sentences = (*_life_sentences(life, study), reach_sentence(life.reached, study), *_places(study, life, work))
        headings = {"text": "token"}
        return Answer(table, sentences, life_figure(study, life), facts=_facts(life, study), headings=headings)


def life_of(study: Study, token: int, at: int, work: Work = ALONE, *, by_parts: bool = False) -> TokenLife:
    """Return how the count of a token changes from step to step. If there are no texts, the counts come from the steps.

    If `by_parts` is true, also count how often the token occurs in each file or group at the step that makes it.
    """
    history = study.history
    if history.joining is not None:  # the file has merge priorities, which methods do not handle
        return _usual_life(study, token, at, work, by_parts=by_parts)
    words = None if study.texts is None else study.inside.words(WHAT, work)
    usual = partial(_usual_life, study, token, at, work, by_parts=by_parts)
    return Method.of(history.recipe).life(token, at, history, words, usual)


def _usual_life(study: Study, token: int, at: int, work: Work, *, by_parts: bool) -> TokenLife:
    history = study.history
    if study.texts is None:
        return life_without_words(history, token, at, cancelled=work.cancelled)
    if not learns_by_ranks(history):
        return life_by_use(
            study.inside.words(WHAT, work), history, token, at, study.inside.symbol_counts(WHAT, work), work
        )
    files = study.inside.file_counts(WHAT, work) if by_parts else None
    return token_life(study.inside.ranked(WHAT, work), token, at, files=files, cancelled=work.cancelled)


def _held(study: Study, token: int, at: int, work: Work) -> Held:
    if learns_by_ranks(study.history):
        ranked = study.inside.ranked(WHAT, work)
        contributions = words_with(ranked, ranked.occurrences(token), at).words
        return [(ranked.words.word(contribution.word), contribution.count) for contribution in contributions]
    words = study.inside.words(WHAT, work)
    if study.history.only_joins:
        return [*life_of(study, token, at, work).words.words]
    return use_by_splitting(words, study.history, token, at, work).words


def _facts(life: TokenLife, study: Study) -> dict[str, object]:
    names = study.inside.by_index.texts.text
    parts = study.history.parts(life.token)
    row = study.history.row_of(life.token)
    return {
        "id": study.inside.by_index.number(life.token),
        "token": names[life.token],
        "made_at": None if row is None else row + 1,
        "parts": None if parts is None else [names[part] for part in parts],
        "children": [names[child] for child in life.children],
        "at": life.at,
        "count": life.count,
        "peak": life.peak,
        "is_scaffold": life.is_scaffold,
        "words": [[word.decode(errors="replace"), count] for word, count in life.words.words],
        "reachability": {
            "kind": life.reached.kind,
            "witness": life.reached.witness,
            "pieces": [names[id] for id in life.reached.pieces],
        },
    }


def life_table(study: Study, life: TokenLife) -> DataTable:
    """Return a table with a row for each change of a token's count.

    A pair becomes the token in one step. In the rows before this step, the count is the count of the pair.
    """
    rows = [("pair", *point) for point in life.pair_curve] + [("token", *point) for point in life.curve]
    return DataTable(
        {
            **study.inside.by_index.columns([life.token] * len(rows)),
            "of": [of for of, _, _ in rows],
            "after_step": np.array([step for _, step, _ in rows], np.int64),
            "count": np.array([count for _, _, count in rows], np.int64),
        }
    )


def life_figure(study: Study, life: TokenLife) -> LineFigure:
    recipe = study.history.recipe
    end = len(study.history)
    steps = recipe.wording.steps.capitalize()
    is_log = recipe.single is None
    return life_chart(life_table(study, life), steps=steps, end=end, at=life.at, is_log=is_log)


def _life_sentences(life: TokenLife, study: Study) -> list[str]:
    history = study.history
    names = study.inside.by_index.texts.text
    row = history.row_of(life.token)
    grown_from = history.recipe.grown_from
    parts = history.parts(life.token)
    new = f", added after the table's {count_text(grown_from, 'step')}" if 0 < grown_from < (row or 0) + 1 else ""
    made = "" if row is None or parts is None else f", step {row + 1:,}: {study.inside.by_index.pair_name(parts)}{new}"
    base = ", a base symbol" if history.only_joins and row is None else ""
    sentences = [
        f"{names[life.token]} ({_called(study, life.token)}{made}{base}) occurs "
        f"{count_text(life.count, 'time')} after {history.recipe.wording.counted(life.at)}; {life.peak:,} at its peak."
    ]
    if life.is_scaffold:
        sentences.append("The token is a scaffold: larger tokens have taken all its occurrences.")
    if life.takers:
        taken = [f"{names[int(history.indices[step - 1])]} (step {step:,}) took {lost:,}" for step, lost in life.takers]
        sentences.append(f"{_listed(taken)}.")
    if history.only_joins:
        sentences.append(f"Longer tokens made of this token: {_listed([names[child] for child in life.children])}.")
    if learns_by_ranks(history) or not history.only_joins or life.words.number:
        words = [f"{shown(word)} {count:,}" for word, count in life.words.words[: MOST_SHOWN + 1]]
        sentences.append(f"Words that hold this token: {_listed(words, life.words.number)}.")
    return [*sentences, *life.told]


def _called(study: Study, index: int) -> str:
    id = study.inside.by_index.number(index)
    return "no id" if id is None else f"id {id:,}"


def reach_sentence(reached: Reachability, study: Study) -> str:
    if reached.kind == "reachable":
        return f"A text that produces this token: {shown((reached.witness or '').encode())}"
    if reached.kind == "not learned yet":
        return "The token is not learned yet at this step."
    if len(reached.pieces) > 1:
        pieces = " | ".join(study.inside.by_index.texts.text[id] for id in reached.pieces)
        return f"No text can produce this token: its own text is split into {pieces}."
    if reached.kind == "unreachable":
        return "No text can produce this token: its bytes are not part of any character."
    if not reached.pieces:
        return "No text was found that produces this token at this step."
    return "No text was found that produces this token. The pattern seems to split the token's text wherever it occurs."


def _places(study: Study, life: TokenLife, work: Work) -> list[str]:
    if study.texts is None or isinstance(study.texts, KnownWords) or not learns_by_ranks(study.history):
        return []
    try:
        with study.texts.reading() as corpus:
            hits = contexts(corpus, study.inside.ranked(WHAT, work), life.token, life.at, most=MOST_SHOWN)
            return [_place(hit) for hit in hits]
    except BpeError:
        return []


def _place(hit: Context) -> str:
    line = f"{hit.source}:{'row ' if hit.is_row else ''}{hit.line}"
    return f"{line}: {hit.before}[{hit.token}]{hit.after}"


def _listed(texts: list[str], number: int | None = None) -> str:
    if not texts:
        return "none"
    rest = (len(texts) if number is None else number) - MOST_SHOWN
    return ", ".join(texts[:MOST_SHOWN]) + (f" … and {rest:,} more" if rest > 0 else "")
