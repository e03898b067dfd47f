"""The question of whether a student's trainer made the right merges, and which mistake explains wrong merges."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bpe_core.asking import NONE, Answer, Question, parameter
from bpe_core.errors import BpeError, RecipeError
from bpe_core.formats.submissions import merges_in
from bpe_core.history.token_texts import shown
from bpe_core.insight.grading import EXERCISES, Exercise, GradedMerges, Merge, exercise_by, grade_merges
from bpe_core.recipes.recipe import Recipe
from bpe_core.studies.texts import Texts
from bpe_core.support.data_table import DataTable
from bpe_core.support.progress import ALONE, Work
from bpe_core.support.small_files import read_small_bytes, read_small_file
from bpe_core.support.wording import count_text

BASE = 256  # tokens before any merge


@dataclass(frozen=True)
class Grade(Question):
    """Grade a student's merges: find the first wrong merge, and the likely mistake that explains it.

    The exercise's rules are learned on the same text. Where merges differ, trainers with one mistake each are tried:
    another tie rule, stale counts, overlaps, special tokens, ends of lines, the pattern, and more.
    """

    about = "other tokenizers"
    asks = "Are a student's merges right?"
    turn = 8
    studies = NONE
    examples = """\
examples:
  bpe-explorer grade merges.txt --corpus tinystories.txt --as cs336
      Grade one result. The exit code is 3 if the result is wrong.

  bpe-explorer grade submissions/ --corpus tinystories.txt --as cs336 --vocab-size 10000 -o grades.csv
      Grade all results in a folder, in one table.
"""

    in_python = """
        >>> import bpe_core as bpe
        >>> from tempfile import TemporaryDirectory
        >>> study = bpe.train("low lower lowest, new newer newest", "gpt2", ties="largest-text", merges=6)
        >>> with TemporaryDirectory() as folder:
        ...     written = study.save(f"{folder}/merges.txt")
        ...     answer = bpe.grade(f"{folder}/merges.txt", corpus="low lower lowest, new newer newest", as_="cs336")
        >>> answer.sentences
        ('merges.txt: right, all 6 merges.',)
    """

    result: str = parameter(
        help="the student's merges, or a folder of results",
        metavar="RESULT",
        positional=True,
        path="file",
        title="Student's merges",
        in_words={"": "none yet"},
    )
    corpus: Texts | None = parameter(
        None, help="the text of the exercise", metavar="FILE", title="Text of the exercise"
    )
    as_: str = parameter(
        "cs336", help=f"the exercise: {', '.join(EXERCISES)}, or a file with a recipe", metavar="NAME", title="Exercise"
    )
    vocab_size: int | None = parameter(
        None,
        help="the size that the exercise asks for",
        metavar="N",
        title="Vocabulary size",
        in_words={"": "as the exercise asks"},
        is_extra=True,
    )

    def answer(self, study: Any = None, work: Work = ALONE) -> Answer:
        if self.corpus is None:
            raise BpeError("Name the text of the exercise with --corpus.")
        with self.corpus.reading() as corpus:
            text = "".join(corpus.documents())
        exercise = EXERCISES.get(self.as_) or _by_recipe(self.as_)
        wanted = None if self.vocab_size is None else self.vocab_size - BASE - len(exercise.rules.specials)
        grades = dict[str, GradedMerges]()
        refused = dict[str, str]()
        for path in _results(self.result):
            work.check()
            try:
                merges = merges_in(read_small_bytes(path, "the merges", BpeError), path.name)
                grades[path.name] = grade_merges(text, merges, exercise, wanted, work)
            except BpeError as error:
                if not Path(self.result).is_dir():
                    raise
                refused[path.name] = str(error)
        table = _table(grades, refused)
        first = next(iter(grades.values()), None)
        facts = {}
        if first is not None:
            facts = {"right_until": first.right_until, "verdict": _verdict(first), "cause": first.cause}
        sentences = [said for name, grade in grades.items() for said in _sentences(name, grade)]
        differs = bool(refused) or not all(grade.is_right for grade in grades.values())
        return Answer(table, (*sentences, *refused.values()), facts=facts, differs=differs)


def _by_recipe(path: str) -> Exercise:
    """Return an exercise in which a student must follow the recipe in a file."""
    text = read_small_file(path, "the recipe", BpeError)
    try:
        return exercise_by(Recipe.from_json(text))
    except RecipeError as error:
        raise BpeError(f"{path}: {error} Name an exercise ({', '.join(EXERCISES)}) or a recipe in JSON.") from error


def _results(place: str) -> list[Path]:
    path = Path(place)
    if not path.is_dir():
        return [path]
    files = sorted(file for file in path.iterdir() if file.is_file() and not file.name.startswith("."))
    if not files:
        raise BpeError(f"{place} is an empty folder; put the students' results into it.")
    return files


def _verdict(grade: GradedMerges) -> str:
    return "right" if grade.is_right else "wrong"


def _table(graded_merges: dict[str, GradedMerges], refused: dict[str, str]) -> DataTable:
    grades = [*graded_merges.values(), *(GradedMerges(0, 0, 0) for _ in refused)]
    return DataTable(
        {
            "result": [*graded_merges, *refused],
            "verdict": [*map(_verdict, graded_merges.values()), *("not read" for _ in refused)],
            "merges": [grade.merges for grade in grades],
            "right_until": [grade.right_until for grade in grades],
            "expected": [_written(grade.expected) for grade in grades],
            "found": [_written(grade.found) for grade in grades],
            "cause": [*(grade.cause for grade in graded_merges.values()), *refused.values()],
        }
    )


def _written(merge: Merge | None) -> str:
    return "" if merge is None else f"{shown(merge[0])} + {shown(merge[1])}"


def _sentences(name: str, grade: GradedMerges) -> Iterator[str]:
    if grade.is_right:
        yield f"{name}: right, all {count_text(grade.merges, 'merge')}."
        return
    yield f"{name}: right until merge {grade.right_until:,} of {grade.merges:,}."
    if grade.found is not None:
        instead = (
            f" instead of {_written(grade.expected)}" if grade.expected is not None else ", where the training ends"
        )
        yield f"Merge {grade.right_until + 1:,} is {_written(grade.found)}{instead}."
    if grade.cause:
        until = f" This explains the merges until {grade.explained:,}." if grade.explained > grade.right_until else ""
        yield f"Likely mistake: {grade.cause}{until}"
    elif grade.found is not None:
        yield "None of the mistakes that were tried explains this difference."
