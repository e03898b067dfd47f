"""The program that writes some parts of the manual from the code: commands, Python, formats, measures and recipes.

    python -m tests.manual_pages

writes these parts into the pages in `resources/manual`. On a page, such a part is between the lines `<!-- made: NAME
-->` and `<!-- end -->`. The program also draws the pictures of the gallery. A test fails if a page differs from the
code, or if a command or function has no help.
"""

from __future__ import annotations

import argparse
import inspect
import os
import re
import shlex
import tempfile
from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

import bpe_core
from bpe_core.command_line.commands import GROUPS
from bpe_core.command_line.main import run
from bpe_core.command_line.parser import WITHOUT_MANIFEST, command_named, command_questions
from bpe_core.formats.all_formats import FORMATS
from bpe_core.measures.measures import MEASURES, WHOLE_NUMBERS
from bpe_core.methods.registry import METHODS
from bpe_core.questions import description_of, question_named, question_names, questions_by_subject
from bpe_core.recipes.presets import PRESETS
from bpe_core.recipes.ties import TIE_RULES
from tests.shared import ROOT

MANUAL = ROOT / "resources" / "manual"
GALLERY = MANUAL / "gallery"
PART = re.compile(r"(<!-- made: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)


LONGEST_DEFAULT = 80  # characters in a signature
PLAIN_VALUES = (str, int, float, tuple, type(None), type)  # a type marks that there is no default


class Undocumented(Exception):
    pass


# --- Commands ---------------------------------------------------------------------------


class Recorder:
    """A recorder of the arguments that a command declares.

    It replaces argparse's parser, because argparse prints help differently in each version of Python.
    """

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.description = self.epilog = ""

    def add_argument(self, *names: str, **keywords: Any) -> None:
        if not keywords.get("help"):
            raise Undocumented(f"{names} has no help")
        metavar, choices = keywords.get("metavar"), keywords.get("choices")
        value = " ".join(metavar) if isinstance(metavar, tuple) else metavar or "|".join(choices or ())
        many = " …" if keywords.get("nargs") in ("*", "+") else ""
        if not names[0].startswith("-"):
            shown = (value or names[0]) + many
        elif keywords.get("action") is argparse.BooleanOptionalAction:
            shown = f"{names[0]}, --no-{names[0][2:]}"
        elif str(keywords.get("action")).startswith("store_"):
            shown = ", ".join(names)
        else:
            shown = f"{', '.join(names)} {value or names[-1].lstrip('-').upper()}{many}"
        self.lines.append(
            f"- `{shown}`: {escape_markup(str(keywords['help']))}{'; required' if keywords.get('required') else ''}"
        )

    def add_argument_group(self, *_: Any, **__: Any) -> Recorder:
        return self

    def add_mutually_exclusive_group(self, **_: Any) -> Recorder:
        return self

    def set_defaults(self, **_: Any) -> None:
        pass


def escape_markup(text: str) -> str:
    """Escape the characters that Markdown would read as markup. Replace `%%`, as help texts write it, by `%`."""
    return text.replace("%%", "%").replace("|", r"\|").replace("<", "&lt;").replace("*", r"\*")


def of_command(name: str) -> Recorder:
    recorder: Any = Recorder()
    command = command_named(name)
    command.add_arguments(recorder)
    recorder.epilog = command.examples
    if name not in WITHOUT_MANIFEST:
        recorder.lines.append(
            "- `--manifest JSON`: write a manifest, which says how the result was made; `repeat JSON` makes the "
            "result again and compares"
        )
    return recorder  # type: ignore[no-any-return]


def commands() -> Iterator[str]:
    asked = {name: of_command(name) for name in command_questions()}
    shared = [line for line in asked["race"].lines if all(line in other.lines for other in asked.values())]
    for title, commands in GROUPS.items():
        yield f"## {title}\n"
        for name, summary in commands.items():
            yield from _one_command(name, summary, of_command(name), [])
    yield "## Questions\n\nEach question takes these options, too:\n"
    yield "\n".join(shared) + "\n"
    for subject, names in questions_by_subject(name.replace("-", "_") for name in asked).items():
        yield f"## Questions about {subject}\n"
        for name in names:
            question = question_named(name)
            command = name.replace("_", "-")
            yield from _one_command(command, f"{question.asks} {question.explanation()}", asked[command], shared)


def _one_command(name: str, about: str, recorder: Recorder, shared: list[str]) -> Iterator[str]:
    yield f"### {name}\n"
    yield f"{escape_markup(about)}{'' if about.endswith('.') else '.'}\n"
    lines = [line for line in recorder.lines if line not in shared]
    if lines:
        yield "\n".join(lines) + "\n"
    if recorder.epilog:
        yield f"```\n{recorder.epilog.strip()}\n```\n"


def questions() -> Iterator[str]:
    """Yield the lines of a list of all questions, sorted by subject. Each question has its sentence and its command."""
    for subject, names in questions_by_subject(question_names()).items():
        yield f"{subject.capitalize()}:\n"
        for name in names:
            described = description_of(name)
            command = name.replace("_", "-")
            yield f"- *{described.asks}* {escape_markup(described.summary)} ([{command}](commands.md#{command}))."
        yield ""


# --- Python -----------------------------------------------------------------------------


def python() -> Iterator[str]:
    stub = Path(bpe_core.__file__).with_suffix(".pyi").read_text(encoding="utf-8")
    for line in stub.splitlines():
        if line.startswith("# ") and "on one page" not in line:
            yield f"## {line[2:].partition(':')[0].partition('.')[0]}\n"
        match = re.match(r"from \S+ import \w+ as (\w+)(?:  # (.*))?", line)
        if match:
            yield from _documented(f"bpe.{match[1]}", getattr(bpe_core, match[1]), match[2])
    yield "## The questions as functions\n"
    yield "Each takes a study first, or several by name, and returns an Answer; `help(bpe.why)` tells more.\n"
    for name in question_names():
        shown = [
            parameter.name
            if parameter.default is inspect.Parameter.empty
            else f"{parameter.name}={parameter.default!r}"
            for parameter in inspect.signature(getattr(bpe_core, name)).parameters.values()
            if parameter.name != "work"
        ]
        command = f"[{name.replace('_', '-')}](commands.md#{name.replace('_', '-')})"
        yield f"- `bpe.{name}({', '.join(shown)})`: {description_of(name).summary}; see {command}."
    yield ""


def _documented(name: str, thing: Any, comment: str | None) -> Iterator[str]:
    yield f"### {name}\n"
    if not callable(thing):
        if not comment:
            raise Undocumented(f"{name} has no comment in bpe_core/__init__.pyi")
        yield f"{comment.capitalize()}.\n"
        return
    is_mistake = isinstance(thing, type) and issubclass(thing, Exception)
    if not is_mistake:
        yield f"```\n{signature(name, thing)}\n```\n"
    yield own_docstring(name, thing)
    if isinstance(thing, type) and not is_mistake:
        for member, value in vars(thing).items():
            if member.startswith("_"):
                continue
            if isinstance(value, property | cached_property):
                yield f"- `{member}`{first_sentence(value)}"
            elif inspect.isfunction(value) or isinstance(value, classmethod):
                called = getattr(thing, member)
                yield f"- `{signature(member, called)}`{first_sentence(called)}"
        yield ""


class Plain:
    """A text that a signature shows without quotation marks."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text


def is_short(default: object) -> bool:
    return isinstance(default, PLAIN_VALUES) and len(str(default)) <= LONGEST_DEFAULT


def signature(name: str, thing: Any) -> str:
    """Return the signature of a function or class as text.

    Defaults that are long or made by the engine are written as dots.
    """
    called, empty = inspect.signature(thing), inspect.Parameter.empty
    parameters = [
        parameter.replace(
            annotation=empty if parameter.annotation is empty else Plain(str(parameter.annotation)),
            default=parameter.default if is_short(parameter.default) else Plain("..."),
        )
        for parameter in called.parameters.values()
        if parameter.name != "self"
    ]
    returned = "" if str(called.return_annotation) in ("None", str(empty)) else f" -> {called.return_annotation}"
    return f"{name}{called.replace(parameters=parameters, return_annotation=empty)}{returned}"


def own_docstring(name: str, thing: Any) -> str:
    text = inspect.cleandoc(vars(thing).get("__doc__") or "" if isinstance(thing, type) else thing.__doc__ or "")
    if not text or text.startswith(f"{name.removeprefix('bpe.')}("):
        raise Undocumented(f"{name} has no docstring")
    return re.sub(r"^(>>> .*?)(?=\n\n|\Z)", r"```\n\1\n```", in_markdown(text), flags=re.DOTALL | re.MULTILINE) + "\n"


def in_markdown(text: str) -> str:
    """Return a NumPy-style docstring as Markdown, with parameters as a list. Examples stay unchanged."""
    head, *rest = re.split(r"^(Parameters|Returns|Examples)\n-+\n", text, flags=re.MULTILINE)
    sections = zip(rest[::2], rest[1::2], strict=True)
    return "\n\n".join([head.strip(), *(_section(title, body.strip()) for title, body in sections)])


def _section(title: str, body: str) -> str:
    if title == "Examples":
        return body
    entries = re.findall(r"^(\S.*)\n((?:[ ]+.*\n?|\n)*)", body, re.MULTILINE)
    before = "Returns " if title == "Returns" else "- "
    return "\n".join(f"{before}`{name}`: {' '.join(about.split())}" for name, about in entries)


def first_sentence(thing: Any) -> str:
    """Return a colon and the first paragraph of a docstring. Return an empty text if there is no docstring."""
    text = " ".join((inspect.getdoc(thing) or "").partition("\n\n")[0].split())
    return f": {text}" if text and not text.startswith(">>>") else ""


# --- Tables -----------------------------------------------------------------------------


def table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> Iterator[str]:
    for row in (head, ("---",) * len(head), *rows):
        yield f"| {' | '.join(row)} |"


def formats() -> Iterator[str]:
    def rows() -> Iterator[tuple[str, ...]]:
        for name, row in FORMATS.rows.items():
            format = FORMATS[name]
            lacks = {
                "how text is split": format.holds_splitting,
                "ids": format.numbers_tokens,
                "special tokens": format.holds_specials,
            }
            yield (
                f"`{name}`",
                ", ".join(f"`{ending}`" for ending in row.endings),
                escape_markup(row.explanation),
                ", ".join(name for name, method in METHODS.items() if method.fits(format)) if format.tables else "all",
                ", ".join(what for what, holds in lacks.items() if not holds) or "–",
                format.peer_name or "–",
            )

    yield from table(("format", "names end in", "what it is", "methods", "does not hold", "checked by"), rows())


def measures() -> Iterator[str]:
    for measure in MEASURES.values():
        if not measure.meaning:
            raise Undocumented(measure.name)
        if measure.unit not in WHOLE_NUMBERS and not (measure.note and (measure.formula or measure.unit == "seconds")):
            raise Undocumented(f"the formula or the limits of {measure.name}")
        unit = {"ratio": "No unit", "share": "Unit: percent", "": "No unit"}.get(measure.unit, f"Unit: {measure.unit}")
        yield f"### {measure.title}" if not measure.name.startswith("morpheme_") else f"### {measure.title}, in sweeps"
        yield f"\nColumn `{measure.name}`. {unit}. {escape_markup(measure.meaning).removesuffix('.')}.\n"
        if measure.formula:
            yield f"Formula: {escape_markup(measure.formula).removesuffix('.')}.\n"
        if measure.note:
            yield f"Limits: {escape_markup(measure.note)}\n"


def presets() -> Iterator[str]:
    yield from table(
        ("preset", "what it is"), ((f"`{n}`", escape_markup(preset.explanation)) for n, preset in PRESETS.items())
    )


def methods() -> Iterator[str]:
    rows = (
        (method.title, f"`{name}`", method.explanation, "; ".join(method.usual_sizes))
        for name, method in METHODS.items()
    )
    yield from table(("method", "name", "what it does", "usual sizes"), rows)


def ties() -> Iterator[str]:
    yield from table(
        ("rule", "it takes the pair"), ((f"`{name}`", escape_markup(rule.takes)) for name, rule in TIE_RULES.items())
    )


def study() -> Iterator[str]:
    """Yield the sample plan of a sweep, which varies size, corpus, method and seed."""
    yield f"```toml\n{(ROOT / 'resources/samples/study.toml').read_text(encoding='utf-8')}```"


_ALL = (commands, questions, python, formats, measures, presets, methods, ties, study)
MAKERS = {maker.__name__: maker for maker in _ALL}


def generate(page: str) -> str:
    """Regenerate the parts of a manual page that come from the code, and return the page."""
    return PART.sub(lambda match: f"{match[1]}{chr(10).join(MAKERS[match[2]]())}\n{match[3]}", page)


def pages() -> list[Path]:
    return sorted(MANUAL.rglob("*.md"))


# --- Pictures ---------------------------------------------------------------------------


def commands_in(text: str) -> list[str]:
    blocks = re.findall(r"^```sh\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    return [line for block in blocks for line in block.splitlines() if line.startswith("bpe-explorer ")]


def pictures_in(folder: Path) -> list[Path]:
    return [path for path in sorted(folder.iterdir()) if path.suffix in (".svg", ".png")]


def draw_gallery(folder: Path) -> None:
    """Run the commands on the gallery page of the manual, so that they draw its pictures.

    The commands run in the folder `folder`.
    """
    before = Path.cwd()
    os.chdir(folder)
    try:
        for command in commands_in((MANUAL / "gallery.md").read_text(encoding="utf-8")):
            if run(shlex.split(command, comments=True)[1:]) != 0:
                raise SystemExit(command)
    finally:
        os.chdir(before)


def main() -> None:
    for page in pages():
        page.write_text(generate(page.read_text(encoding="utf-8")), encoding="utf-8")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "samples").symlink_to(ROOT / "resources" / "samples")
        draw_gallery(folder)
        for picture in pictures_in(folder):
            (GALLERY / picture.name).write_bytes(picture.read_bytes())


if __name__ == "__main__":
    main()
