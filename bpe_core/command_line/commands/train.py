"""The command `bpe-explorer train`. It learns a merge table from files."""

from __future__ import annotations

import argparse
import json
import sys
from itertools import chain
from pathlib import Path
from typing import Any

from bpe_core.command_line.arguments import (
    add_merge_limits,
    add_recipe,
    add_tie_rule,
    chosen_recipe,
    number,
    own_arguments,
)
from bpe_core.command_line.corpora import add_reading, names_of, open_texts, with_names_of_files
from bpe_core.command_line.decisions import add_decisions, recipe_with_decisions
from bpe_core.command_line.groups import add_languages, add_mixture, groups_of, mixture_of
from bpe_core.command_line.interruption import KEEPS, Interruption, interruptible
from bpe_core.command_line.steps import step_lines
from bpe_core.counting.count_words import count_groups, count_words
from bpe_core.counting.words import WordTable, without_rare
from bpe_core.errors import OutputError, plain
from bpe_core.formats import FORMATS, TABLES, format_for, write_history
from bpe_core.history.history import END_SENTENCES, History
from bpe_core.methods.kit.trainer import Trainer, learn
from bpe_core.methods.registry import METHODS, USUAL
from bpe_core.recipes.presets import PRESETS
from bpe_core.recipes.recipe import Recipe
from bpe_core.session_file import EXTENSION, is_session_name
from bpe_core.support.paths import real_path
from bpe_core.support.progress import CancelCheck, Progress, ProgressReport, Work
from bpe_core.support.stopwatch import Stopwatch
from bpe_core.support.wording import count_text
from bpe_core.text.corpus import Corpus
from bpe_core.text.reading.symbols import are_fasta

LARGEST_PORT = 65_535
FASTA = "These files are FASTA, so each letter is a symbol. To learn from them as text, name a preset."

examples = """\
examples:
  bpe-explorer train book.txt --vocab-size 2000 --output merges.csv
      Learn 1,744 merges from the 256 bytes. Words are split as GPT-2 splits them.

  bpe-explorer train a.txt folder/ more.jsonl.gz --field body --output merges.json
      Learn from several files, a folder, and the field `body` of each JSON line.

  bpe-explorer train chats/*.parquet more.tar.gz s3://bucket/texts --field 'messages[].content' --output merges.csv
      Learn from tables, archives, and addresses that an installed fsspec package can read.

  bpe-explorer train book.txt --preset clean-words --merges 50
      Without --output the merges are printed.

  zcat big.gz | bpe-explorer train - --vocab-size 32000 --ties lowest-ids --output merges.csv
      Learn from standard input. Among equally frequent pairs, merge the pair with the lowest ids.

  bpe-explorer train book.txt --method unigram --vocab-size 8000 --output book.bpex
      Learn by another method. A session can hold every run: other commands read it, and the window opens it.

  bpe-explorer train book.txt --forbid "t+h@12" --force "q+u@40" --output branch.csv
      Intervene: never merge t and h from step 12 on, and merge q and u at step 40, whatever their count.

  bpe-explorer train --group de texts/de --group code src --weights de=70% code=30% --by bytes --output mixed.csv
      Learn from two groups of texts; a group that is too small is repeated until the shares fit. The recipe in the
      result holds the mixture, by the names of the groups. --groups-of FOLDER makes a group of each folder in FOLDER.

  bpe-explorer train --group de a.txt --group fi b.txt --dev de c.txt --dev fi d.txt --method parity --merges 400
      Each merge is chosen for the language whose dev text has the most tokens; the dev texts are
      translations. Without dev texts use
      --ratio de=1 fi=1.3. With --variant window --window-size 50 --alpha 1.5 no language is chosen too often in a row.

  bpe-explorer train counts.parquet --min-word-count 2 --output merges.csv
      Learn from counts that `count` has written, without words that occur only once. The share left out is shown.

  bpe-explorer presets english > mine.json; bpe-explorer train book.txt --recipe mine.json
      Set every choice in a file that you edit.

Ctrl-C stops the training; --output then holds the merges learned so far (exit code 130).
Ctrl-C twice drops them. `kill` (143) or closing the terminal (129) stops it in the same way.
A session (.bpex) is saved every few seconds during the training. After a stop or a crash the same command
continues from the last save, and the result is the same as without the stop. While the training runs,
`bpe-explorer follow` shows the steps.
`echo pause > book.bpex.request` makes the training save its steps and wait until the file book.bpex.request is
removed. `echo stop > book.bpex.request` ends the training.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    files = "texts, tables, archives, folders, addresses (s3://...), or - for standard input"
    parser.add_argument("files", nargs="*", metavar="FILE", help=files)
    parser.set_defaults(one_of={"files": "FILE", "group": "--group", "groups_of": "--groups-of"})
    own = own_arguments("train")
    recipe = add_recipe(parser, "the recipe")
    method = f"the method: {', '.join(METHODS)} (default: the method of the preset)"
    recipe.add_argument("--method", choices=METHODS, metavar="NAME", help=method)
    add_tie_rule(recipe)
    add_decisions(recipe)
    add_merge_limits(parser, own)
    rare = "leave out words that occur fewer than N times"
    parser.add_argument("--min-word-count", type=number, default=1, metavar="N", help=rare)
    add_mixture(parser)
    add_languages(parser, own)
    add_reading(parser)
    add = parser.add_argument_group("the result").add_argument
    endings = ", ".join(TABLES.endings)
    session = f"{EXTENSION} saves a run of any method as a session"
    output = f"write the merge table to this file; its ending ({endings}) decides the format; {session}"
    add("-o", "--output", metavar="FILE", help=output)
    watch = (
        f"also save the growing run to this session ({EXTENSION}), or send its steps to programs that connect to this "
        "port"
    )
    add("--watch", metavar="FILE|PORT", help=watch)
    add("--json", action="store_true", help="print the summary (or, without --output, the table) as JSON")
    add("--quiet", action="store_true", help="print no progress and no summary")


def settle(options: argparse.Namespace) -> None:
    """Interpret the value of `--watch`: a number is a port, and anything else is the path of a session file.

    The steps of the growing run are sent to the port or saved in the file.
    """
    options.port = int(options.watch) if options.watch and options.watch.isascii() and options.watch.isdigit() else None
    if options.port is not None:
        options.watch = None


def run(options: argparse.Namespace) -> int:
    recipe = chosen_recipe(options, options.preset or _first_preset(options.method), own_arguments("train"))
    groups = groups_of(options)
    is_fasta = not _says_how_to_split(options) and are_fasta([*options.files, *chain.from_iterable(groups.values())])
    if is_fasta:
        recipe = recipe.of_symbols("lines")
    if options.output:
        _check_output(Path(options.output))
    if options.watch or options.port is not None:
        _check_watched(options)
    watch = Stopwatch()
    with interruptible(KEEPS, quiet=options.quiet) as interruption:

        def report(progress: Progress) -> None:
            watch.tick()
            interruption.worth_keeping |= progress.stage == "training"
            interruption.work.progress(progress)

        recipe = with_names_of_files(recipe, options.files, groups, Work(report, interruption))
        with open_texts(options.files, groups=groups, twice=options.twice, recipe=recipe) as corpus:
            recipe = recipe.with_changes(mixture=mixture_of(options, corpus, recipe.mixture))
            words, notes = _counted(corpus, recipe, report, interruption)
            words, left_out = without_rare(words, options.min_word_count)
            steered, known = recipe_with_decisions(words, recipe, options, Work(report, interruption))
            if not options.quiet:
                interruption.print_lines(*[FASTA] * is_fasta, *notes, *left_out)
            if _session_to_save(options):
                history = _learn_into_session(words, steered, known, options, report, interruption)
            elif options.port is not None:
                history = _learn_and_serve(words, steered, known, options, report, interruption)
            else:
                history = learn(words, steered, history=known, progress=report, cancelled=interruption)
            seconds = watch.tick()
        _deliver(history, options, seconds, report)
    return interruption.exit_code


def _says_how_to_split(options: argparse.Namespace) -> bool:
    return any((options.base_symbols, options.preset, options.recipe, options.pattern, options.regex))


def _learn_into_session(
    words: WordTable,
    recipe: Recipe,
    history: History | None,
    options: argparse.Namespace,
    report: ProgressReport,
    interruption: Interruption,
) -> History:
    """Learn a history from the words, and save it in a session while the training runs.

    If the session already contains the first steps of the same run, continue after these steps.
    """
    from bpe_core.studies.sessions import GrowingRun  # this module loads SQLite

    session = _session_to_save(options)
    growing = GrowingRun(session, words, names_of(options.files, groups_of(options)), interruption)
    kept = growing.known(recipe)
    if kept is not None and len(kept) > len(history or ()):
        history = kept
        if not options.quiet:
            said = f"{recipe.wording.counted(len(kept))} that {session} holds"
            interruption.print_lines(f"Continuing from the {said}.")
    try:
        learned = learn(words, recipe, history=history, progress=report, cancelled=growing.cancelled, keep=growing.keep)
        growing.write(learned)
    finally:
        growing.close()
    return learned


def _session_to_save(options: argparse.Namespace) -> str:
    """Return the path of the session that is saved during training, or an empty string if no session is saved."""
    is_session = options.output and is_session_name(Path(options.output))
    return str(options.output if is_session else options.watch or "")


def _learn_and_serve(
    words: WordTable,
    recipe: Recipe,
    history: History | None,
    options: argparse.Namespace,
    report: ProgressReport,
    interruption: Interruption,
) -> History:
    """Train, and send the steps to every program that connects to the port. Return the history."""
    from bpe_core.following.server import StepServer

    names = names_of(options.files, groups_of(options))
    server = StepServer(options.port, f"port {options.port}", tuple(names))

    def show(trainer: Trainer) -> None:
        server.show(trainer.history, trainer.leading() if server.wants_leading else None)

    try:
        learned = learn(words, recipe, history=history, progress=report, cancelled=interruption, keep=show)
        server.show(learned)
    finally:
        server.close()
    return learned


def _first_preset(method: str | None) -> str:
    """Return the name of a method's main preset.

    This is the preset with the name of the method. If there is none, it is the first preset of the method. If the
    method has no presets, it is the first of all presets. If `method` is None, return the first preset of the usual
    method.
    """
    presets = METHODS[method or USUAL].presets
    if method is not None and method in presets:
        return method
    return next(iter(presets or PRESETS))


def _counted(
    corpus: Corpus, recipe: Recipe, report: ProgressReport, cancelled: CancelCheck
) -> tuple[WordTable, list[str]]:
    if recipe.mixture is None:
        return count_words(corpus, recipe, Work(report, cancelled)), []
    grouped = count_groups(corpus, recipe, Work(report, cancelled))
    return grouped.learned_by(recipe), grouped.sentences(recipe.mixture)


def _check_output(path: Path) -> None:
    if not is_session_name(path) and format_for(path).name not in TABLES:
        tables = ", ".join(TABLES.endings)
        raise OutputError(
            f"Training writes a session ({EXTENSION}) or a table with the counts ({tables}), not {path.name}. "
            "Afterwards `bpe-explorer export` writes files for other libraries."
        )
    if path.is_dir():
        raise OutputError(f"Could not write {path}: it is a folder.")
    if not real_path(path).parent.is_dir():
        raise OutputError(f"Could not write {path}: the folder {path.parent} does not exist.")


def _check_watched(options: argparse.Namespace) -> None:
    if options.output and is_session_name(Path(options.output)):
        raise OutputError(
            f"{plain(options.output)} is a session, which can be followed without --watch. Leave out --watch."
        )
    if options.port is not None and options.port > LARGEST_PORT:
        raise OutputError(f"--watch {options.port} is not a port. The largest port is {LARGEST_PORT}.")
    if options.port is None and not is_session_name(Path(options.watch)):
        raise OutputError(
            f"--watch {plain(options.watch)} is neither a session nor a port. End the name of a session in {EXTENSION}."
        )
    if options.port is None:
        _check_output(Path(options.watch))


def _deliver(history: History, options: argparse.Namespace, seconds: float, report: ProgressReport) -> None:
    if options.output:
        if not is_session_name(Path(options.output)):
            write_history(history, options.output, work=Work(report))
        if options.json:
            print(json.dumps(_summary(history, options.output, seconds), indent=1))
        elif not options.quiet:
            print(_sentence(history, seconds), f"Wrote {plain(options.output)}.")
    elif options.json:
        FORMATS["json"].write(history, sys.stdout.buffer)
    else:
        for line in step_lines(history):
            print(line)
        if not options.quiet:
            sys.stdout.flush()
            sys.stderr.write(_sentence(history, seconds) + "\n")


def _summary(history: History, output: str, seconds: float) -> dict[str, Any]:
    return {
        "output": output,
        "merges": len(history),
        "vocabulary_size": history.vocabulary_size,
        "end_reason": history.end_reason,
        "tokens_at_start": history.tokens_at_start,
        "tokens_left": int(history.tokens_after[-1]),
        "seconds": round(seconds, 3),
    }


def _sentence(history: History, seconds: float) -> str:
    shorter = f"the text became {history.compression[-1]:.2f} times shorter"
    left = f"{count_text(int(history.tokens_after[-1]), 'token')} in the text"
    return (
        f"Learned {history.recipe.wording.counted(len(history))} in {seconds:.1f} s; "
        f"a vocabulary of {history.vocabulary_size:,}; {shorter if history.only_joins else left}. "
        f"{END_SENTENCES[history.end_reason]}"
    )
