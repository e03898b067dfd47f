"""The question of whether a student's trainer made the right merges, and which mistake explains wrong merges."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bpe_core.asking import NONE, Answer, Question, parameter
from bpe_core.asking.caption import choices_in_words
from bpe_core.errors import BpeError, RecipeError
from bpe_core.formats import TABLES
from bpe_core.formats.hugging_face_cache import is_folder
from bpe_core.formats.submissions import submission_in
from bpe_core.history.token_texts import shown
from bpe_core.insight.exercise_rules import EXERCISES, Exercise, Merge, exercise_by
from bpe_core.insight.grading import GradedMerges, Grader
from bpe_core.insight.mistakes import BYTES
from bpe_core.recipes.recipe import Recipe
from bpe_core.session_file import is_session_file, run_of
from bpe_core.studies.handout import recipe_of
from bpe_core.studies.making import open_study
from bpe_core.studies.texts import Texts
from bpe_core.support.data_table import DataTable
from bpe_core.support.progress import ALONE, Work
from bpe_core.support.small_files import read_small_bytes, read_small_file
from bpe_core.support.wording import count_text

RIGHT = "right"
WRONG = "wrong"
UNREAD = "not read"
USUAL_ENDINGS = (".txt", ".json", ".pkl", ".pickle", ".model", ".tiktoken")  # in the order in which they are preferred


@dataclass(frozen=True)
class Grade(Question):
    """Grade a student's merges: find the first wrong merge, and the likely mistake that explains it.

    A trainer that follows the exercise's rules learns from the text of the exercise. If its merges differ from the
    student's merges, other trainers are tried. Each of these trainers makes one mistake, for example in the tie rule,
    the counts, overlapping pairs, special tokens, line ends or the pattern.
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

  bpe-explorer grade submissions/ --corpus tinystories.txt --as minbpe --report grades.html
      Write a page to print, with each result and the most common mistakes.
"""

    in_python = """
        >>> import bpe_core as bpe
        >>> from tempfile import TemporaryDirectory
        >>> study = bpe.train("low lower lowest, new newer newest", "gpt2", ties="largest-text", merges=6)
        >>> with TemporaryDirectory() as folder:
        ...     written = study.save(f"{folder}/merges.txt")
        ...     answer = bpe.grade(f"{folder}/merges.txt", corpus="low lower lowest, new newer newest", as_="cs336")
        >>> answer.sentences
        ('merges.txt: all 6 merges are right.',)
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
        "cs336",
        help=f"the exercise: {', '.join(EXERCISES)}, or a file with a recipe or a run",
        metavar="NAME",
        title="Exercise",
    )
    vocab_size: int | None = parameter(
        None,
        help="the size that the exercise asks for",
        metavar="N",
        title="Vocabulary size",
        in_words={"": "as the exercise asks"},
        is_extra=True,
    )

    @property
    def _exercise(self) -> Exercise:
        return EXERCISES.get(self.as_) or _by_file(self.as_)

    def texts_of(self, studies: Any) -> Mapping[str, Sequence[str]]:
        if self.corpus is None:
            raise BpeError("Name the text of the exercise with --corpus.")
        with self.corpus.reading() as corpus:
            return {"corpus": list(corpus.documents())}

    def cited(self) -> Sequence[str]:
        """Return the rules of the exercise in words, for the caption of the answer."""
        recipe = recipe_of(self._exercise, self.vocab_size)
        size = () if self.vocab_size is None else (f"{count_text(self.vocab_size, 'token')}",)
        return (f"{self._exercise.title}: {choices_in_words(recipe, *size)}",)

    def answer(self, study: Any = None, work: Work = ALONE) -> Answer:
        exercise = self._exercise
        wanted = _wanted_merges(self.vocab_size, exercise)
        (documents,) = self.texts_of(study).values()
        if not any(documents):
            raise BpeError("The text of the exercise is empty.")
        grader = Grader(documents, exercise, work)
        files = _results(self.result)
        results: dict[str, GradedMerges | str] = {}  # a text says why a file could not be read
        for name, path in files.items():
            work.check()
            try:
                submission = submission_in(read_small_bytes(path, "the merges", BpeError), path.name)
                results[name] = grader.grade(submission.merges, wanted, is_vocabulary=submission.is_vocabulary)
            except BpeError as error:
                if not is_folder(Path(self.result)):
                    raise
                results[name] = str(error) if name == path.name else f"{name}: {error}"
        sentences = [said for name, result in results.items() for said in _sentences(name, result)]
        facts: dict[str, Any] = {}
        first = next(iter(results.values()))
        if len(results) > 1:
            counts = Counter(map(_verdict, results.values()))
            counted = ", ".join(f"{counts[verdict]:,} {verdict}" for verdict in (RIGHT, WRONG, UNREAD))
            summary = f"{exercise.title}, {count_text(len(results), 'result')}: {counted}."
            sentences = [summary, *(" ".join(_sentences(name, result)) for name, result in results.items())]
            facts = {"mistakes": _common_mistakes(results)}
        elif isinstance(first, GradedMerges):
            facts = {"right_until": first.right_until, "verdict": _verdict(first), "cause": first.cause}
        differs = any(_verdict(result) != RIGHT for result in results.values())
        return Answer(_table(results), tuple(sentences), facts=facts, differs=differs)


def _wanted_merges(vocab_size: int | None, exercise: Exercise) -> int | None:
    """Return how many merges fit into a vocabulary of this size. Return None if no size is given.

    Raise BpeError if the size leaves no room for a merge.
    """
    if vocab_size is None:
        return None
    base = BYTES + len(exercise.rules.texts.specials)
    if vocab_size <= base:
        raise BpeError(
            f"A vocabulary of {count_text(vocab_size, 'token')} has no merges: "
            f"{count_text(base, 'token is', 'tokens are')} there before any merge."
        )
    return vocab_size - base


def _by_file(path: str) -> Exercise:
    """Return an exercise with the rules of a recipe.

    The recipe comes from a recipe file, from a run, or from a table that holds a recipe.
    """
    if not Path(run_of(path)[0]).exists():
        raise BpeError(f"{path} is neither an exercise ({', '.join(EXERCISES)}) nor a file with a recipe.")
    try:
        if is_session_file(path):
            return exercise_by(open_study(path).history.recipe)
        try:
            return exercise_by(Recipe.from_json(read_small_file(path, "the recipe", BpeError)))
        except RecipeError:
            study = open_study(path)
            if study.format not in TABLES:
                raise
            return exercise_by(study.history.recipe)
    except BpeError as error:
        names = ", ".join(EXERCISES)
        raise BpeError(f"{path}: {error} Name an exercise ({names}), a recipe in JSON, or a run.") from error


def _results(place: str) -> dict[str, Path]:
    """Return a dictionary from the name of each student's result to its file.

    If `place` is a folder, each file or subfolder in it is one result. Otherwise `place` itself is the only result.
    """
    path = Path(place)
    if not is_folder(path):
        return {path.name: path}
    results: dict[str, Path] = {}
    for entry in sorted(path.iterdir()):
        if not entry.name.startswith("."):
            results[entry.name] = entry if entry.is_file() else _result_in(entry)
    if not results:
        raise BpeError(f"{place} is an empty folder; put the students' results into it.")
    return results


def _result_in(folder: Path) -> Path:
    """Return the file with the merges in a student's folder. A file with "merges" in its name is preferred.

    If the folder has no such file, return a path without a file, so that the answer reports the missing file.
    """
    files = [file for file in sorted(folder.iterdir()) if file.is_file() and file.suffix in USUAL_ENDINGS]
    if not files:
        return folder / "merges.json"  # a file that is missing, so that the answer says so
    return min(files, key=lambda file: ("merges" not in file.name, USUAL_ENDINGS.index(file.suffix)))


def _verdict(result: GradedMerges | str) -> str:
    if isinstance(result, str):
        return UNREAD
    return RIGHT if result.is_right else WRONG


def _table(results: Mapping[str, GradedMerges | str]) -> DataTable:
    grades = [GradedMerges(0, 0, 0, cause=result) if isinstance(result, str) else result for result in results.values()]
    return DataTable(
        {
            "result": [*results],
            "verdict": [*map(_verdict, results.values())],
            "merges": [grade.merges for grade in grades],
            "right_until": [grade.right_until for grade in grades],
            "expected": [_written(grade.expected) for grade in grades],
            "found": [_written(grade.found) for grade in grades],
            "cause": [grade.cause for grade in grades],
        }
    )


def _common_mistakes(results: Mapping[str, GradedMerges | str]) -> list[dict[str, Any]]:
    """Return the mistakes that the students of a class made, the most common mistake first.

    `results` holds the graded result of each student, or a sentence if a file could not be read. Each mistake comes
    with the number of results that have it.
    """
    causes = [result.cause for result in results.values() if isinstance(result, GradedMerges) and result.cause]
    return [{"cause": cause, "results": count} for cause, count in Counter(causes).most_common()]


def _written(merge: Merge | None) -> str:
    return "" if merge is None else f"{shown(merge[0])} + {shown(merge[1])}"


def _sentences(name: str, grade: GradedMerges | str) -> Iterator[str]:
    if isinstance(grade, str):
        yield grade
        return
    if grade.is_right:
        yield f"{name}: all {count_text(grade.merges, 'merge is', 'merges are')} right."
        return
    if grade.right_until:
        yield f"{name}: the merges are right until merge {grade.right_until:,} of {grade.merges:,}."
    else:
        yield f"{name}: the first of {count_text(grade.merges, 'merge')} is wrong already."
    if grade.found is not None:
        instead = (
            f" instead of {_written(grade.expected)}" if grade.expected is not None else ", where the training ends"
        )
        yield f"Merge {grade.right_until + 1:,} is {_written(grade.found)}{instead}."
    if grade.cause:
        until = (
            f" This mistake explains all merges up to merge {grade.explained:,}."
            if grade.explained > grade.right_until
            else ""
        )
        yield f"Likely mistake: {grade.cause}{until}"
        if grade.others:
            yield f"Another mistake would explain as many merges: {grade.others[0]}"
    elif grade.found is not None:
        yield "None of the mistakes that were tried explains this difference."
