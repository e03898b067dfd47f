"""The command that asks a question. Its arguments are the parameters of the question.

This file declares the arguments, prints the answer, and writes the answer to files.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterator, Sequence
from itertools import cycle, groupby
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bpe_core.asking import NONE, Answer, Parameter, Question, answered, check_how_many
from bpe_core.asking.beside_figure import write_beside_figure
from bpe_core.asking.caption import caption_of
from bpe_core.command_line.arguments import ANY_TABLE, number, text_argument, text_or_standard_input
from bpe_core.command_line.corpora import add_reading, named_texts
from bpe_core.command_line.groups import add_groups, groups_of
from bpe_core.command_line.interruption import interruptible
from bpe_core.command_line.named_files import named_file
from bpe_core.command_line.paper_options import add_paper_options, is_for_paper, print_for_paper
from bpe_core.errors import BpeError, OutputError, plain
from bpe_core.recipes.presets import PRESETS
from bpe_core.session_file import is_session_file
from bpe_core.studies.making import open_study, study_without_steps
from bpe_core.studies.study import Study, free_name
from bpe_core.support.atomic import write_atomically
from bpe_core.support.data_table import ENDINGS, checked_name, csv_text, is_data, write_data
from bpe_core.support.optional_packages import renderer_or_none
from bpe_core.support.wording import count_text

if TYPE_CHECKING:
    from bpe_core.figures.sheet import Paper

DIFFERENT = 3  # the exit code if two things differ
DRAWN = (".svg", ".pdf", ".png")  # the endings of figures
MOST_SHOWN = 20
TERMINAL_GROUNDS = (153, 222, 151, 218, 183, 159)  # pale colours, readable under black
WIDEST = 100  # characters of a cell in the terminal
PURPOSES = {
    "texts": "the texts to ask about (default: the texts of a session)",
    "texts if known": "the texts that the tokenizer was learned from; some answers do not need them",
}
_TYPES: dict[str, Any] = {
    "number": number,
    "numbers": number,
    "fraction": float,
    "text": text_argument,
    "texts": text_argument,
    "ids": text_argument,
    "pairs": text_argument,
    "files": str,
}


def add_question_arguments(parser: argparse.ArgumentParser, question: type[Question]) -> None:
    parser.description = f"{question.asks}\n\n{question.explanation()}"
    parameters = question.parameters()
    if question.table_first:
        parser.add_argument("table", metavar="TABLE", help=ANY_TABLE)
        parser.set_defaults(merges=None)
    for parameter in parameters:
        if parameter.positional:
            many: dict[str, Any] = {} if parameter.is_required else {"nargs": "?", "default": parameter.default}
            many = {"nargs": "*"} if parameter.from_input else many
            parser.add_argument(
                parameter.name,
                type=_TYPES[parameter.kind],
                metavar=parameter.metavar,
                help=parameter.help,
                **many,
            )
    if not question.table_first:
        _add_studies(parser, question, has_text=any(parameter.positional for parameter in parameters))
    if question.needs != "no texts":
        which = parser.add_mutually_exclusive_group()
        which.add_argument("--corpus", nargs="+", default=[], metavar="FILE", help=PURPOSES[question.needs])
        add_groups(which)
        add_reading(parser)
    for parameter in parameters:
        if not parameter.positional:
            _add_parameter(parser, parameter)
    shown = parser.add_mutually_exclusive_group()
    shown.add_argument("--json", action="store_true", help="print sentences and rows as JSON")
    shown.add_argument("--csv", action="store_true", help="print all rows as CSV")
    add_paper_options(shown, "all rows")
    parser.add_argument("--most", type=number, default=MOST_SHOWN, metavar="N", help=f"print N rows ({MOST_SHOWN})")
    endings = ", ".join((*ENDINGS, *question.own_endings))
    where = f"write all rows as a table ({endings}), or the figure as a picture (.svg, .pdf, .png)"
    page = "write the answer as a web page: its sentences, its figure and all rows"
    parser.add_argument("--report", dest="page", type=Path, metavar="HTML", help=page)
    parser.add_argument("-o", "--output", type=Path, metavar="OUT", help=where)
    beside = "with -o FIGURE: also write its rows as .csv, and its caption for LaTeX as .tex"
    parser.add_argument("--paper", dest="beside", action="store_true", help=beside)
    _add_paper(parser)


def run_question(question: type[Question], options: argparse.Namespace) -> int:
    """Ask the question, print or write its answer, and return the exit code."""
    if options.beside and (options.output is None or options.output.suffix.lower() not in DRAWN):
        raise OutputError("--paper writes files beside a figure: name the figure with -o, such as -o figure.pdf.")
    if options.output is not None:
        _check_output(question, options)
    _take_text_after_tables(question, options)
    with interruptible(stopped="") as interruption:
        if options.page is not None and question.of_page:
            setattr(options, question.of_page, True)
        asked = question(**{parameter.name: _value(options, parameter) for parameter in question.parameters()})
        studies = _studies(question, options, asked.table_named())
        answer = answered(asked, studies, interruption.work)
    if options.output is not None:
        _write_output(options, answer)
    if options.beside:
        sentence = answer.figure.sentence if answer.figure is not None else ""
        write_beside_figure(options.output, answer.table, sentence, caption_of(asked, studies, interruption.work))
    if options.page is not None:
        from bpe_core.answer_page import write_page  # an answer in the terminal does not need it

        write_page(question, answer, studies, options.page)
    if options.json:
        document = {
            "sentences": answer.sentences,
            **answer.facts,
            # Numbers and short texts once more, by the name that Python gives them. Lists, such as those of a
            # certificate, can be long.
            "facts": {name: fact for name, fact in answer.facts.items() if not isinstance(fact, list | tuple | dict)},
            "rows": answer.table.records(),
        }
        print(json.dumps(document, ensure_ascii=False))
    elif options.csv:
        sys.stdout.write(csv_text(answer.table))
    elif is_for_paper(options):
        print_for_paper(answer.printed(), caption_of(asked, studies), options)
    elif options.output is not None:
        print(
            *answer.sentences,
            f"Wrote {count_text(len(answer.table), 'row')} to {plain(str(options.output))}.",
            sep="\n",
        )
    else:
        tokens = [coloured(answer.tokens, answer.kinds)] if answer.tokens else []
        print(*tokens, *answer.sentences, *table_lines(answer, options.most), sep="\n")
    return DIFFERENT if answer.differs else 0


def coloured(tokens: Sequence[str], kinds: Sequence[str] = ()) -> str:
    """Return the tokens of a text as one string, in which each token has a background colour.

    If the terminal has no colours, a bar separates neighbouring tokens. If the tokens have kinds, each kind has its
    colour, and neighbouring tokens of the same kind share a line.
    """
    if kinds:
        return "\n".join(_lines_of_kinds(tokens, kinds))
    if not _has_colours():
        return " | ".join(tokens)
    grounds = cycle(TERMINAL_GROUNDS)
    return "".join(f"\x1b[38;5;16;48;5;{next(grounds)}m{token}" for token in tokens) + "\x1b[0m"


def _has_colours() -> bool:
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def _lines_of_kinds(tokens: Sequence[str], kinds: Sequence[str]) -> Iterator[str]:
    grounds = dict(zip(dict.fromkeys(kinds), cycle(TERMINAL_GROUNDS), strict=False))
    width = max(map(len, kinds))
    for kind, part in groupby(zip(kinds, tokens, strict=True), itemgetter(0)):
        line = " | ".join(token for _, token in part)
        painted = f"\x1b[38;5;16;48;5;{grounds[kind]}m{line}\x1b[0m" if _has_colours() else line
        yield f"{kind:<{width}}  {painted}"


def table_lines(answer: Answer, most: int) -> Iterator[str]:
    table = answer.printed(most)
    whole = len(answer.table if answer.rows is None else answer.rows)
    if not table.headings or not whole:
        return
    rows = [table.headings, *([_shortened(cell) for cell in row] for row in table.rows)]
    widths = [max(map(len, cells)) for cells in zip(*rows, strict=True)]
    for cells in rows:
        row = zip(cells, widths, table.is_text, strict=True)
        yield "  ".join(f"{cell:<{width}}" if text else f"{cell:>{width}}" for cell, width, text in row).rstrip()
    if whole > len(table.rows):
        yield f"… and {count_text(whole - len(table.rows), 'more row')}; -o writes all rows."


def _shortened(text: str) -> str:
    return text if len(text) <= WIDEST else f"{text[: WIDEST - 1]}…"


def _add_studies(parser: argparse.ArgumentParser, question: type[Question], *, has_text: bool) -> None:
    if question.studies == NONE:
        return
    if question.about_texts:
        parser.add_argument("texts", nargs="*", metavar="FILE", help="the texts; the same as --corpus")
        parser.add_argument("--preset", choices=PRESETS, default="gpt2", help="how to split texts if no table is given")
        parser.add_argument("--merges", metavar="FILE", help=ANY_TABLE)
        return
    if question.studies is not None:
        about = f"{ANY_TABLE}; book.bpex#2 is run 2 of a session; ours=a.csv gives a table a name"
        parser.add_argument("tables", nargs="*", metavar="TABLE", help=about)
        parser.add_argument("--merges", metavar="FILE", help="another way to give a single TABLE")
        parser.add_argument("--runs", action="store_true", help="all runs of one session, named as in the window")
        return
    if not has_text:
        parser.add_argument("table", nargs="?", metavar="TABLE", help=ANY_TABLE)
    parser.add_argument(
        "--merges", required=has_text, metavar="FILE", help=ANY_TABLE if has_text else "another way to give TABLE"
    )


def _add_parameter(parser: argparse.ArgumentParser, parameter: Parameter) -> None:
    if parameter.kind == "truth":
        parser.add_argument(parameter.flag, dest=parameter.name, action="store_true", help=parameter.help)
        return
    keywords: dict[str, Any] = {
        "dest": parameter.name,
        "type": _TYPES[parameter.kind],
        "help": parameter.help,
        "default": parameter.default,
    }
    if parameter.choices and not parameter.several:
        keywords["choices"] = (*parameter.choices, *parameter.older)
    if parameter.const:
        keywords |= {"nargs": "?", "const": parameter.const}
    names: Any = parameter.placeholder
    if parameter.kind == "pairs":
        keywords |= {"nargs": 2, "action": "append", "default": []}
        names = tuple(names.split())
    elif parameter.kind in ("numbers", "texts", "files"):
        keywords |= (
            {"action": "append", "default": []} if parameter.repeated else {"nargs": "+", "default": parameter.default}
        )
    parser.add_argument(parameter.flag, metavar=names, required=parameter.is_required, **keywords)


def _value(options: argparse.Namespace, parameter: Parameter) -> Any:
    value = getattr(options, parameter.name)
    if parameter.kind == "ids":
        others = any(getattr(options, name, None) for name in parameter.instead)
        return tuple(value) if value or others else tuple(text_or_standard_input(()).split())
    if parameter.from_input:
        return text_or_standard_input(value)
    if parameter.kind == "pairs":
        return tuple(tuple(pair) for pair in value)
    if parameter.kind == "files":
        return None if value is None else named_texts(value)
    return tuple(value) if isinstance(value, list) else value


def _studies(
    question: type[Question], options: argparse.Namespace, otherwise: str = ""
) -> Study | dict[str, Study] | None:
    if question.studies == NONE:
        return None
    if question.about_texts:
        options.corpus = [*options.texts, *options.corpus]
        return _with_texts(
            question, open_study(options.merges) if options.merges else study_without_steps(options.preset), options
        )
    if question.studies is not None:
        return _several(question, options)
    named = [path for path in (getattr(options, "table", None), options.merges) if path]
    named = named or [otherwise] * bool(otherwise)
    if len(named) != 1:
        raise BpeError("Name one merge table, session or tokenizer, either as TABLE or with --merges.")
    return _with_texts(question, open_study(named[0]), options)


def _take_text_after_tables(question: type[Question], options: argparse.Namespace) -> None:
    """Store the text that follows the tables, as in `diff A B TEXT`, as the value of the option `--text`."""
    if question.studies in (None, NONE) or getattr(options, "text", None) != "":
        return
    most = question.studies[1] - bool(options.merges)
    options.tables, options.text = options.tables[:most], " ".join(options.tables[most:])


def _several(question: type[Question], options: argparse.Namespace) -> dict[str, Study]:
    tables: list[str] = [*options.tables, *([options.merges] if options.merges else [])]
    if options.runs and len(tables) != 1:
        raise BpeError("--runs takes one session; name only one file.")
    is_whole_session = not question.takes_moments and len(tables) == 1 and is_session_file(tables[0])
    if is_whole_session or options.runs:
        from bpe_core.studies.sessions import runs_of_session  # this module loads SQLite

        studies = runs_of_session(tables[0], with_moment=not is_whole_session)
    else:
        studies = {}
        for word in tables:
            name, table = named_file(word)
            study = open_study(table)
            sys.stderr.writelines(f"{plain(table)}: {note}\n" for note in study.notes)
            studies[free_name(name or table, studies)] = study
    check_how_many(question, len(studies))
    return {name: _with_texts(question, study, options) for name, study in studies.items()}


def _with_texts(question: type[Question], study: Study, options: argparse.Namespace) -> Study:
    if question.needs == "no texts" or not (options.corpus or options.group or options.groups_of):
        return study
    texts = named_texts(options.corpus, groups_of(options), study.history.recipe)
    if question.needs == "texts if known":  # perhaps they are not read, and a wrong name must be reported
        with texts.reading():
            pass
    return study.with_texts(texts)


def _add_paper(parser: argparse.ArgumentParser) -> None:
    paper = parser.add_argument_group("the picture")
    paper.add_argument(
        "--width", type=float, default=120, metavar="MM", help="width of the picture in millimetres (default: 120)"
    )
    paper.add_argument(
        "--height", type=float, default=80, metavar="MM", help="height of the picture in millimetres (default: 80)"
    )
    paper.add_argument(
        "--text-size", type=float, default=8, metavar="POINTS", help="size of the text in points (default: 8)"
    )
    paper.add_argument("--dark", action="store_true", help="draw on a dark background")


def _check_output(question: type[Question], options: argparse.Namespace) -> None:
    """Raise an error before the answer is computed, if the output file cannot be written."""
    path: Path = options.output
    ending = path.suffix.lower()
    _paper(options)
    if ending in (".pdf", ".png") and renderer_or_none() is None:
        raise OutputError(
            f"{path}: without PySide6 only .svg files can be drawn. Any browser can print an .svg file as PDF. If "
            f"PySide6 is installed, `bpe-explorer {options.command}` also writes .pdf and .png files."
        )
    if ending in (*DRAWN, *question.own_endings):
        return
    if not is_data(path):
        endings = ", ".join((*ENDINGS, *question.own_endings))
        raise OutputError(f"The name {path} must end in .svg, .pdf, .png or {endings}.")
    checked_name(path)


def _write_output(options: argparse.Namespace, answer: Answer) -> None:
    path: Path = options.output
    if is_data(path):
        write_data(answer.table, path)
        return
    if path.suffix.lower() in answer.files:
        with write_atomically(path) as file:
            file.write(answer.files[path.suffix.lower()]())
        return
    if answer.figure is None or not len(answer.table):
        raise OutputError(f"{path} was not written: this answer has no figure. To save its rows, name a .csv file.")
    from bpe_core.figures.painter import picture  # an answer in the terminal does not need it

    drawn = picture(answer.figure, _paper(options))
    renderer = renderer_or_none()
    if path.suffix.lower() == ".svg" or renderer is None:
        with write_atomically(path) as file:
            file.write(drawn)
    elif missing := renderer(drawn, options.width, options.height, path):
        raise OutputError(f"{path} was not written. Write an .svg file instead. {missing}")


def _paper(options: argparse.Namespace) -> Paper:
    from bpe_core.figures.sheet import Paper

    return Paper.of_millimetres(options.width, options.height, options.text_size, is_dark=options.dark)
