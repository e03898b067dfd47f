"""A test of how often the window copies a text of the corpus before it counts the text.

The copies are measured in the same way as in `tests/core/test_layers_of_counting.py`.
"""

from __future__ import annotations

import pytest

from tests.core.test_layers_of_counting import LINES, path_of_sources, written_sources

COUNTING = """
from app.session import counts
from app.session.corpus_texts import CorpusText
from app.session.counts import count_texts, kind_of, units_of
from app.worker.job import Task
from bpe_core.recipes.recipe import Recipe

recipe = Recipe.preset("gpt2")
counts.SECONDS_BETWEEN_REPORTS = float("inf")  # only a slow machine reports progress, and a report is another move

def counted(text):
    outcomes = {}
    units = units_of((text,), recipe)
    count_texts({unit.key: unit for unit in units.values()}, recipe, outcomes, Task("counts", lambda task: None))
    (outcome,) = outcomes.values()
    return outcome.words

ways = {}
for name, place in json.loads(sys.argv[1]).items():
    is_file = isinstance(place, str)
    text = CorpusText("a", path=Path(place)) if is_file else CorpusText("a", text=place["text"])
    words = counted(text)
    again, ways[name] = way_of(lambda: counted(text))
    assert words == again > 0
print(json.dumps(ways))
"""
MOST = {  # with the moves of counting itself
    "text": {"files": 21, "moves": 57, "back": 9},
    "jsonl": {"files": 24, "moves": 67, "back": 9},
    "gzip": {"files": 21, "moves": 57, "back": 9},
    "given": {"files": 18, "moves": 45, "back": 5},
}


@pytest.fixture(scope="module")
def ways(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, int]]:
    places = written_sources(tmp_path_factory.mktemp("sources"))
    return path_of_sources(COUNTING, {**places, "given": {"text": "\n".join(LINES)}})


@pytest.mark.parametrize("name", MOST)
def test_counting_a_corpus_text_in_the_window_executes_few_source_files(
    ways: dict[str, dict[str, int]], name: str
) -> None:
    for what, most in MOST[name].items():
        assert 0 < ways[name][what] <= most, what
