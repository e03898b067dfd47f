"""The command `bpe-explorer film`.

It makes a moving picture of a run, or of two runs side by side, for a chat or a slide.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from bpe_core.command_line.arguments import ANY_TABLE, add_json, number, text_argument
from bpe_core.command_line.corpora import add_corpus, named_texts
from bpe_core.command_line.interruption import interruptible
from bpe_core.command_line.runs import run_named
from bpe_core.errors import plain
from bpe_core.filming.choices import ENDINGS, LONGEST_SECONDS, SIZES, USUAL_SECONDS, FilmChoices, checked_ending
from bpe_core.filming.film import write_film

examples = """\
examples:
  bpe-explorer film book.bpex -o film.gif
      Film the first twenty seconds of the run that was shown last, with its text.

  bpe-explorer film merges.csv --corpus book.txt --text "the lowest price" --to 500 --size chat -o film.png
      Film all merges up to 500, faster and faster, as an animated PNG; with the leading pairs of the book.

  bpe-explorer film merges.csv tokenizer.json --size slide --dark -o duel.mp4
      Film two runs side by side, with ffmpeg. Both always show vocabularies of the same size.

The package Pillow draws the film (pip install 'bpe-explorer[film]') with the fonts of this computer. Characters that no
font has are left out, and a message names them. With --font you can give a font file that has them.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("tables", nargs="+", metavar="RUN", help=f"{ANY_TABLE}; book.bpex#2 is run 2 of a session (one run or two)")
    output = f"the film to write: its name ends in {', '.join(ENDINGS)} (default: film.gif)"
    add("-o", "--output", default="film.gif", metavar="FILE", help=output)
    add(
        "--text",
        type=text_argument,
        default="",
        help="the text that is split (default: the text of the session, or a sentence)",
    )
    add("--title", type=text_argument, default="", help="the title over the film (default: the names of the runs)")
    add("--size", choices=list(SIZES), default="readme", help="the size: for a README (the default), a chat or a slide")
    add(
        "--from",
        dest="first",
        type=number,
        metavar="STEP",
        help="the step at which the film begins; for two runs, the vocabulary size (default: 0)",
    )
    add(
        "--to",
        dest="last",
        type=number,
        metavar="STEP",
        help="the step at which the film ends (default: the last step that the seconds allow)",
    )
    seconds = (
        f"how many seconds the film lasts, up to {LONGEST_SECONDS:g} (default: {USUAL_SECONDS:g}, or less if the run "
        "ends earlier)"
    )
    add("--seconds", type=float, metavar="N", help=seconds)
    add("--dark", action="store_true", help="light letters on a dark background")
    add("--font", type=Path, metavar="FILE", help="a .ttf or .otf file for the letters (default: the system's fonts)")
    add_corpus(parser, "texts whose leading pairs are shown (default: the texts of the session)")
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    checked_ending(options.output)
    named_runs = [run_named(table) for table in options.tables]
    reports = [report for _, _, report in named_runs if report is not None]
    runs = [(title, study) for title, study, _ in named_runs]
    if options.corpus:
        texts = named_texts(options.corpus)
        runs = [(title, study.with_texts(texts)) for title, study in runs]
    text = options.text or next((report.text for report in reports), "")
    text = runs[0][1].history.recipe.text_of_symbols(text)
    stretch = options.first, options.last, options.seconds
    with interruptible() as interruption:
        choices = FilmChoices(text, options.title, options.size, *stretch, options.dark, options.font)
        notes = write_film(runs, options.output, choices, interruption.work)
    if options.json:
        print(json.dumps({"output": options.output, "notes": list(notes)}, ensure_ascii=False))
    else:
        print(f"Wrote {plain(str(Path(options.output)))}.", *notes, sep="\n")
    return 0
