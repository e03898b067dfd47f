"""The answers to the questions in the handout of an exercise. They can be computed for any texts.

The handout of CS336 uses two texts. It asks for the longest token, the average number of bytes per token in each text,
the speed of encoding, and the time that it would take to encode 825 GB.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bpe_core.errors import CorpusError
from bpe_core.history.token_texts import shown, written
from bpe_core.insight.exercise_rules import AS_RULE, Exercise
from bpe_core.methods.kit.trainer import learn
from bpe_core.recipes.recipe import Recipe
from bpe_core.studies.study import Study
from bpe_core.studies.texts import Texts
from bpe_core.support.data_table import DataTable
from bpe_core.support.progress import ALONE, Work
from bpe_core.text.specials import parts_of

LONGEST = 10_000_000  # characters of a text that are encoded
ROUNDS = 3  # times that a text is encoded; the shortest time counts
LARGE_CORPUS = 825e9  # bytes


@dataclass(frozen=True)
class ExerciseTokenizer:
    """A tokenizer that was trained on one text of the exercise."""

    name: str  # of the text
    size: int  # the size that was asked for
    study: Study
    seconds: float  # to count and to learn

    @property
    def longest(self) -> bytes:
        """Return the longest token. If there are several, return the one that was learned first."""
        return max(written(self.study.history), key=len)


def recipe_of(exercise: Exercise, vocab_size: int | None = None) -> Recipe:
    """Return the recipe that follows the rules of an exercise.

    Without `vocab_size`, the recipe has the default size of its preset.
    """
    rules = exercise.rules
    pattern: dict[str, str] = {"pattern": "none"}
    if rules.texts.pattern:
        pattern = {"pattern": "custom", "custom_pattern": rules.texts.pattern}
    return Recipe.preset("gpt2").with_changes(
        ties=AS_RULE[rules.tie],
        special_tokens=rules.texts.specials,
        min_frequency=rules.least,
        name=exercise.title,
        **pattern,
        **({} if vocab_size is None else {"vocab_size": vocab_size}),
    )


def train_all(
    texts: Mapping[str, Texts], sizes: Sequence[int], exercise: Exercise, work: Work = ALONE
) -> Iterator[ExerciseTokenizer]:
    """Learn a tokenizer from each text.

    If there are fewer sizes than texts, the last size is used for the remaining texts.
    """
    for place, (name, text) in enumerate(texts.items()):
        size = sizes[min(place, len(sizes) - 1)]
        recipe = recipe_of(exercise, size)
        began = time.perf_counter()
        history = learn(text.words(recipe, work), recipe, progress=work.progress, cancelled=work.cancelled)
        seconds = time.perf_counter() - began
        work.check()
        yield ExerciseTokenizer(name, size, Study(history, name=name), seconds)


def crosswise(trained: Sequence[ExerciseTokenizer], texts: Mapping[str, Texts], work: Work = ALONE) -> DataTable:
    """Return a table with a row for each combination of a tokenizer and a text.

    The columns answer the questions on the handout of an exercise, such as the number of bytes per token.
    """
    specials = {special for tokenizer in trained for special in tokenizer.study.history.recipe.special_tokens}
    samples = {name: sample_of(text, specials) for name, text in texts.items()}
    for name, documents in samples.items():
        if not any(documents):
            raise CorpusError(f"{name} is empty, so there is nothing to encode.")
    rows: list[dict[str, Any]] = []
    for tokenizer in trained:
        for name, documents in samples.items():
            work.check()
            length = sum(len(document.encode()) for document in documents)
            tokens, seconds = _encoded(tokenizer.study, documents)
            rows.append(
                {
                    "tokenizer": tokenizer.name,
                    "vocabulary": len(tokenizer.study),
                    "longest_token": shown(tokenizer.longest),
                    "longest_bytes": len(tokenizer.longest),
                    "training_seconds": tokenizer.seconds,
                    "text": name,
                    "bytes_per_token": length / tokens,
                    "megabytes_per_second": length / seconds / 1e6,
                    "hours_for_825_gb": LARGE_CORPUS * seconds / length / 3600,
                }
            )
    return DataTable({column: [row[column] for row in rows] for column in rows[0]})


def sample_of(text: Texts, specials: Collection[str]) -> list[str]:
    """Return the documents in the first 10 million characters of a text. Special tokens divide them further."""
    documents: list[str] = []
    room = LONGEST
    with text.reading() as corpus:
        for document in corpus.documents():
            parts = parts_of(document[:room], tuple(specials))
            documents.extend(part for part, is_special in parts if not is_special)
            room -= len(document)
            if room <= 0:
                break
    return documents


def _encoded(study: Study, documents: Sequence[str]) -> tuple[int, float]:
    """Encode the documents on one thread. Return the number of tokens and the seconds that this takes.

    The documents are encoded several times, and the shortest time is returned.
    """
    times = list[float]()
    tokens = 0
    for _ in range(ROUNDS):
        began = time.perf_counter()
        batch = study.inside.by_index.tokenizer.encode_batch(list(documents), threads=1)
        times.append(time.perf_counter() - began)
        tokens = len(batch.ids)
    return tokens, min(times)
