"""The commands and the Python code that repeat an action of the window in a terminal or in a program."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from types import MappingProxyType
from typing import Any

from app.session.corpus_texts import CorpusTexts
from app.session.manifests import RESULT, SESSION, TextFiles, fill_placeholders
from bpe_core.asking import Question
from bpe_core.questions import QUESTIONS
from bpe_core.session_file import EXTENSION

PROGRAM = "bpe-explorer"
UNSAVED = "session" + EXTENSION
LONGEST_ARGUMENT = 10_000  # characters of a text in a command
SAVE_FIRST = "Save the session as {} first. The copied code opens this file."


def as_command(command: Sequence[str], session: Path | None, texts: CorpusTexts, result: Path | None = None) -> str:
    """Return a command in the form that a user types. Without a result file, the command prints to the terminal.

    >>> as_command(("why", "low", "--merges", SESSION, "-o", RESULT), Path("my book.bpex"), ())
    "bpe-explorer why low --merges 'my book.bpex'"
    """
    words = list(command)
    if result is None and "-o" in words and words[words.index("-o") + 1] == RESULT:
        del words[words.index("-o") : words.index("-o") + 2]
    opened = session or Path(UNSAVED)
    written = result or opened.with_name(f"{command[0]}.csv")  # of a command that only writes files
    full_words = fill_placeholders(words, written, opened, TextFiles(texts, opened))
    return shlex.join([PROGRAM, *full_words])


def as_python(
    question: Question,
    opened: Mapping[str, str],
    session: Path | None,
    texts: Mapping[str, Sequence[Path]] = MappingProxyType({}),
) -> str:
    """Return the Python code that asks a question.

    `texts` maps the name of each group to the files that the question reads. An empty name means no group.

    `opened` maps the name of each tokenizer to the part of the session file to open. The part `#2` is run 2, and
    `#2@40` is the first 40 steps of run 2. For a question about a single tokenizer, the name is empty. For a question
    about no tokenizer, the mapping is empty.
    """
    file = str(session or UNSAVED)
    read = ".with_texts(texts)" if texts else ""
    studies = {name: _opening(file, run) + read for name, run in opened.items()}
    lines = ["import bpe_core as bpe", ""]
    if texts:
        paths = {name: f"[{', '.join(f'Path({str(path)!r})' for path in files)}]" for name, files in texts.items()}
        named = "{" + ", ".join(f"{name!r}: {files}" for name, files in paths.items()) + "}"
        lines = ["from pathlib import Path", "", *lines, f"texts = {paths.get('', named)}"]
    about = ""
    if set(studies) == {""}:
        lines.append(f"study = {studies['']}")
        about = "study"
    elif studies:
        lines.append("studies = {")
        lines += [f"    {name!r}: {call}," for name, call in studies.items()]
        lines.append("}")
        about = "studies"
    given = [f"{name}={value}" for name, value in _values(question, file)]
    if question.name in QUESTIONS.own:
        about = "*studies.values()" if question.roles else about
        call = f"bpe.{question.name}({', '.join(filter(None, [about, *given]))})"
    else:
        call = f"bpe.ask({', '.join([about or 'None', repr(question.name), *given])})"
    lines += [f"answer = {call}", "print(answer)"]
    return "\n".join(lines) + "\n"


def _opening(file: str, run: str) -> str:
    """Return the Python expression that opens a run, at a step if `run` names a step.

    >>> _opening("book.bpex", "#2@40")
    "bpe.open('book.bpex#2').at(40)"
    """
    number, _, step = run.partition("@")
    return f"bpe.open({file + number!r})" + (f".at({step})" if step else "")


def _values(question: Question, file: str) -> list[tuple[str, str]]:
    """Return the required parameters, and those that differ from their defaults, with their values as Python code.

    If a value is the session of the window, the code names `file` instead.
    """
    values = []
    for parameter in question.parameters():
        value: Any = getattr(question, parameter.name)
        if isinstance(value, str) and value.startswith(SESSION):
            value = file + value.removeprefix(SESSION)
        if value != parameter.default or parameter.is_required:
            values.append((parameter.name, repr(list(value.paths) if parameter.kind == "files" else value)))
    return values


def as_python_for_file(command: Sequence[str], session: Path | None, result: Path) -> str:
    """Return Python code that recreates a file.

    Return an empty string if no Python function writes such a file, or if the command does not name exactly one run.

    >>> command = "export", "--merges", SESSION, RESULT, "--to", "csv", "--at", "9"
    >>> print(as_python_for_file(command, None, Path("a.csv")))
    import bpe_core as bpe
    <BLANKLINE>
    study = bpe.open('session.bpex').at(9)
    bpe.save(study, 'a.csv', format='csv')
    <BLANKLINE>
    """
    words = dict(pairwise(command))
    runs = [word.removeprefix(SESSION) for word in command if word.startswith(SESSION)]
    if len(runs) != 1:
        return ""
    step = f"@{words['--at']}" if "--at" in words else ""
    study = _opening(str(session or UNSAVED), runs[0] + step)
    if command[0] == "export" and "--to" in words:
        call = f"bpe.save(study, {str(result)!r}, format={words['--to']!r})"
    elif command[0] == "share":
        call = f"bpe.share(study, {str(result)!r})"
    else:
        return ""
    return f"import bpe_core as bpe\n\nstudy = {study}\n{call}\n"
