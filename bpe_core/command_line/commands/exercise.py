"""The command `bpe-explorer exercise`. It answers the questions that an exercise asks about a trainer."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

from bpe_core.asking import Answer
from bpe_core.asking.caption import caption_from, recipe_in_words
from bpe_core.command_line.arguments import number
from bpe_core.command_line.asking import table_lines
from bpe_core.command_line.corpora import add_reading, named_texts
from bpe_core.command_line.interruption import interruptible
from bpe_core.command_line.paper_options import add_paper_options, is_for_paper, print_for_paper
from bpe_core.errors import BpeError, OutputError, cause_of, plain
from bpe_core.history.token_texts import shown
from bpe_core.insight.exercise_rules import EXERCISES
from bpe_core.studies.checksums import checksum_of_texts
from bpe_core.studies.handout import (
    LARGE_CORPUS,
    LONGEST,
    ROUNDS,
    ExerciseTokenizer,
    crosswise,
    recipe_of,
    train_all,
)
from bpe_core.studies.texts import Texts, texts_of
from bpe_core.support.atomic import all_or_none, write_atomically
from bpe_core.support.data_table import ENDINGS, checked_name, csv_text, write_data
from bpe_core.support.wording import count_text
from bpe_core.text.articles import articles
from bpe_core.text.stories import stories

examples = """\
examples:
  bpe-explorer exercise
      Learn 10,000 tokens from stories and 32,000 from articles, and print all answers as a table. The program makes
      both texts from a few dozen sentences each. They replace TinyStories and OpenWebText, and their numbers differ.

  bpe-explorer exercise tinystories.txt owt.txt --sizes 10000 32000 -o answers.csv
      Learn 10,000 tokens from the first text and 32,000 from the second, as the handout of CS336 asks.

  bpe-explorer exercise --write class/
      Also write a folder for a class: the texts, the merges of both tokenizers, the recipe, and the questions.

Each text is split into documents at its special tokens. Each tokenizer encodes the documents with one thread, three
times, and the shortest time counts. Of a long text, the first 10 million characters are encoded. The seconds depend on
this computer.
"""
ends_well = (0,)

SIZES = (10_000, 32_000)
STORIES = 5_000
ARTICLES = 2_000
TIMED = f"Encoded with one thread, the best of {ROUNDS} rounds, from at most the first {LONGEST // 10**6} MB of a text"
HEADINGS = {
    "training_seconds": "seconds of training",
    "megabytes_per_second": "MB a second",
    "hours_for_825_gb": "hours for 825 GB",
}
OWN = "stories and articles that this program makes"
MADE = {
    "stories": f"{STORIES:,} short stories of common English words, which the program makes in place of TinyStories",
    "articles": f"{ARTICLES:,} articles of invented words, which the program makes in place of OpenWebText",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("texts", nargs="*", metavar="FILE", help=f"a text for each tokenizer (default: {OWN})")
    add("--as", dest="as_", choices=EXERCISES, default="cs336", help="the exercise (default: cs336)")
    sizes = "the vocabulary size for each text; the last size is for all other texts (default: 10000 32000)"
    add("--sizes", nargs="+", type=number, default=SIZES, metavar="N", help=sizes)
    add("--write", type=Path, metavar="OUT", help="also write a folder for a class: texts, merges, recipe, questions")
    add("-o", "--output", type=Path, metavar="OUT", help=f"write the table ({', '.join(ENDINGS)})")
    add_reading(parser)
    shown_as = parser.add_mutually_exclusive_group()
    shown_as.add_argument("--json", action="store_true", help="print sentences and rows as JSON")
    shown_as.add_argument("--csv", action="store_true", help="print the table as CSV")
    add_paper_options(shown_as, "the answers")


def run(options: argparse.Namespace) -> int:
    if options.output is not None:
        checked_name(options.output)
    if options.write is not None:
        _make_folder(options.write)
    exercise = EXERCISES[options.as_]
    base = 256 + len(exercise.rules.texts.specials)
    small = [size for size in options.sizes if size <= base]
    if small:
        raise BpeError(
            f"A vocabulary of {count_text(small[0], 'token')} has no merges: "
            f"{count_text(base, 'token is', 'tokens are')} there before any merge."
        )
    own = {} if options.texts else {"stories": stories(STORIES), "articles": articles(ARTICLES)}
    texts: Mapping[str, Texts] = {name: texts_of(text) for name, text in own.items()} or _named(options.texts)
    with interruptible(stopped="") as interruption:
        work = interruption.work
        trained = list(train_all(texts, options.sizes, exercise, work))
        table = crosswise(trained, texts, work)
    said = (
        *(f"{name}: {MADE[name]}." for name in own),
        *_sentences(trained, [*table.columns["megabytes_per_second"]]),
    )
    listed = tuple(name for name in table.columns if name not in ("longest_token", "longest_bytes"))
    answer = Answer(table, said, listed=listed, headings=HEADINGS)
    caption = _caption(exercise.title, trained, texts, own) if options.write or is_for_paper(options) else ""
    if options.write is not None:
        _write_folder(options.write, trained, own, options.as_, answer, caption)
    if options.output is not None:
        write_data(table, options.output)
    _print(answer, caption, options)
    return 0


def _named(files: Sequence[str]) -> dict[str, Texts]:
    names: dict[str, Texts] = {}
    for file in files:
        name = Path(file).name.partition(".")[0] or file
        while name in names:
            name = f"{name}'"
        names[name] = named_texts([file])
    return names


def _sentences(trained: Sequence[ExerciseTokenizer], speeds: Sequence[float]) -> Iterator[str]:
    for tokenizer in trained:
        merges = f"{tokenizer.name}: {count_text(len(tokenizer.study), 'token')} in {tokenizer.seconds:,.1f} s."
        if len(tokenizer.study) < tokenizer.size:
            merges += f" The text has too few pairs for {count_text(tokenizer.size, 'token')}."
        yield (
            f"{merges} The longest token is {shown(tokenizer.longest)}, with "
            f"{count_text(len(tokenizer.longest), 'byte')}."
        )
    slowest, fastest = min(speeds), max(speeds)
    hours = [LARGE_CORPUS / (speed * 1e6) / 3600 for speed in (fastest, slowest)]
    yield (
        f"One thread encodes {slowest:,.1f} to {fastest:,.1f} MB a second, so encoding 825 GB would take "
        f"{hours[0]:,.1f} to {hours[1]:,.1f} hours on this computer."
    )


def _caption(title: str, trained: Sequence[ExerciseTokenizer], texts: Mapping[str, Texts], own: Collection[str]) -> str:
    """Return the caption of the table. It names the recipes, the texts with their checksums, and what was timed."""
    recipes = [f"{tokenizer.name}: {recipe_in_words(tokenizer.study.history)}" for tokenizer in trained]
    learned = [
        f"Text {tokenizer.name}: {f'{MADE[tokenizer.name]}; ' if tokenizer.name in own else ''}"
        f"{checksum_of_texts(texts[tokenizer.name], tokenizer.study.history.recipe)}"
        for tokenizer in trained
    ]
    return caption_from(f"Answers of the exercise: {title}", *recipes, *learned, TIMED)


def _print(answer: Answer, caption: str, options: argparse.Namespace) -> None:
    if options.json:
        print(json.dumps({"sentences": answer.sentences, "rows": answer.table.records()}, ensure_ascii=False))
    elif options.csv:
        sys.stdout.write(csv_text(answer.table))
    elif is_for_paper(options):
        print_for_paper(answer.printed(), caption, options)
    else:
        print(*answer.sentences, *table_lines(answer, len(answer.table)), sep="\n")


def _make_folder(folder: Path) -> None:
    """Make the folder for the files that an exercise writes for students.

    Raise OutputError if it cannot be made. The folder is made before the training, so that the user learns of this
    early.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"Could not make the folder {folder}: {cause_of(error)}.") from error


def _write_folder(
    folder: Path,
    trained: Sequence[ExerciseTokenizer],
    own: Mapping[str, str],
    exercise: str,
    answer: Answer,
    caption: str,
) -> None:
    """Write a folder with all files of an exercise: texts, correct merges, the recipe, questions and answers."""
    with all_or_none(folder):
        for name, text in own.items():
            _write(folder / f"{name}.txt", text)
        for tokenizer in trained:
            tokenizer.study.save(folder / f"{tokenizer.name}.merges.txt")
        _write(folder / "recipe.json", recipe_of(EXERCISES[exercise], trained[0].size).to_json())
        questions = QUESTIONS.format(title=EXERCISES[exercise].title, exercise=exercise, first=trained[0].name)
        sizes = "\n".join(f"- `{tokenizer.name}`: {count_text(tokenizer.size, 'token')}" for tokenizer in trained)
        _write(folder / "questions.md", f"{questions}\n\n{sizes}\n")
        _write(folder / "answers.md", "\n\n".join([*answer.sentences, answer.to_markdown(caption)]))
    sys.stderr.write(f"Wrote the folder {plain(str(folder))}.\n")


def _write(path: Path, text: str) -> None:
    with write_atomically(path) as file:
        file.write(text.encode(errors="backslashreplace"))  # a name in it need not be UTF-8


QUESTIONS = """\
# {title}

Write a trainer of byte-pair encoding. Learn a tokenizer from each text, with the vocabulary size below.

1. How long does the training take?
2. What is the longest token? Does it make sense?
3. How many bytes does a token hold on average, on each text with each tokenizer?
4. How many megabytes a second does the tokenizer encode? How long would it take to encode 825 GB?

Compare your merges: `bpe-explorer grade your-merges.txt --corpus {first}.txt --as {exercise}`\
"""
