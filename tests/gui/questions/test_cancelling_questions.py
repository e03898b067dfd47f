"""Tests of cancelled questions. A closing window does not wait for an answer, and neither does a newer question."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

import pytest

from app.window.charts.pairs_model import compute_leading_pairs
from app.window.questions.why.model import explain_boundary, word_facts
from bpe_core.counting.count_words import count_words
from bpe_core.counting.words import WordTable
from bpe_core.errors import Cancelled
from bpe_core.history.history import History
from bpe_core.insight.pairs import ties
from bpe_core.insight.ranked_words import RankedWords
from bpe_core.insight.side_by_side import Vocabularies
from bpe_core.insight.table_comparison import compare_tables
from bpe_core.insight.tokenized_words import TokenizedWords
from bpe_core.measures.size_curves import measured_sizes, size_curves
from bpe_core.methods.kit.trainer import Trainer
from bpe_core.questions.race import Race
from bpe_core.recipes.recipe import Recipe
from bpe_core.studies.study import Study
from bpe_core.studies.texts import KnownWords
from bpe_core.support.progress import CancelCheck, Work
from bpe_core.text.corpus import Corpus
from tests.core.learning import train
from tests.shared import ROOT

TEXT = "the lowest price is lower than the last one, the lower the better " * 3
Question = Callable[[WordTable, History, RankedWords, CancelCheck], object]

QUESTIONS: dict[str, Question] = {
    "race": lambda words, history, ranked, no: Race(steps=(1,)).answer(
        Study(history, KnownWords(words)), Work(cancelled=no)
    ),
    "ties": lambda words, history, ranked, no: ties(history, cancelled=no),
    "tables": lambda words, history, ranked, no: compare_tables(history, history.first(3), cancelled=no),
    "sizes": lambda words, history, ranked, no: size_curves(words, history, cancelled=no),
    "pairs": lambda words, history, ranked, no: compute_leading_pairs(words, history, no),
    "a run from a file": lambda words, history, ranked, no: Trainer(
        words, history.recipe, history=history, cancelled=no
    ),
    "measured sizes": lambda words, history, ranked, no: measured_sizes(
        TokenizedWords.of(words, history.recipe, history), work=Work(cancelled=no)
    ),
    "words of another": lambda words, history, ranked, no: TokenizedWords.of(
        words, Recipe.preset("words"), history, cancelled=no
    ),
    "vocabularies": lambda words, history, ranked, no: Vocabularies.of([history], cancelled=no),
    "why": lambda words, history, ranked, no: word_facts(
        study := Study(history, KnownWords(words)), explain_boundary(study, "lowest"), 2, 0, 5, no
    ),
}


@pytest.mark.parametrize("question", QUESTIONS.values(), ids=QUESTIONS)
def test_cancelling_a_question_raises_an_exception_immediately(question: Question) -> None:
    recipe = Recipe.preset("gpt2", merges=20)
    words, history = count_words(Corpus.from_texts([TEXT]), recipe), train(Corpus.from_texts([TEXT]), recipe)
    assert history.tied.any()
    ranked = RankedWords.of(words, history)
    question(words, history, ranked, lambda: False)
    with pytest.raises(Cancelled):
        question(words, history, ranked, lambda: True)


def test_every_background_question_can_be_cancelled_in_the_engine() -> None:
    """Each page passes `task.cancelled` to the engine when it starts a background task."""
    deaf = []
    for folder in ("charts", "questions", "files"):
        for path in sorted((ROOT / "app" / "window" / folder).rglob("*.py")):
            tree = ast.parse(path.read_text())
            deaf += [
                f"{path.name}: {name}" for name, work in background_questions(tree) if "task.cancelled" not in work
            ]
    assert deaf == []


def background_questions(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Yield the topic of each background task that a module starts, with the source of its function."""
    functions = {node.name: node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "self._background.run":
            topic, work = node.args[:2]
            function = functions.get(work.id) if isinstance(work, ast.Name) else work
            if function is not None:  # else it is handed over by another function
                yield ast.unparse(topic), ast.unparse(function)
