"""Icons, styles, sample texts and pictures. They are available after any kind of installation.

>>> samples()[0].title
'The lighthouse library (prose)'
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable


def _folder() -> Traversable:
    from importlib.resources import files  # imported late, as it loads slowly

    return files(__name__)


class Sample(NamedTuple):
    """A sample text that was written for this project, so that a user can begin with it."""

    name: str
    title: str

    def text(self) -> str:
        return _folder().joinpath("samples", self.name).read_text(encoding="utf-8")


_SAMPLES = (
    Sample("lighthouse.txt", "The lighthouse library (prose)"),
    Sample("rhymes.txt", "Low, lower, lowest (a lesson)"),
    Sample("kettle.py.txt", "A tea kettle (code)"),
    Sample("languages.txt", "The same morning in many languages"),
    Sample("emoji.txt", "Messages with emoji"),
)


def samples() -> tuple[Sample, ...]:
    return _SAMPLES


OWN_SENTENCES = "own"  # stands for the parallel samples where a folder can be named


def parallel_samples() -> dict[str, list[str]]:
    """Return ten sentences with the same meaning in several languages, written for this project.

    >>> {len(sentences) for sentences in parallel_samples().values()}
    {10}
    """
    found = _folder().joinpath("samples", "parallel").iterdir()
    languages = {file.name.removesuffix(".txt"): file for file in found if file.name.endswith(".txt")}
    return {name: languages[name].read_text(encoding="utf-8").splitlines() for name in sorted(languages)}


def morpheme_samples() -> dict[str, list[str]]:
    """Return the lines of the sample files of words with their morphemes, one file for each of two languages.

    The samples were written for this project.

    >>> list(morpheme_samples()), morpheme_samples()["en"][1]
    (['de', 'en'], 'unhappy\\tun happy')
    """
    found = sorted(_folder().joinpath("samples", "morphemes").iterdir(), key=lambda file: file.name)
    lists = (file for file in found if file.name.endswith(".tsv"))
    return {file.name.removesuffix(".tsv"): file.read_text(encoding="utf-8").splitlines() for file in lists}


@cache
def icon_svg(name: str) -> str:
    """Return the drawing of an icon."""
    return _folder().joinpath("icons", f"{name}.svg").read_text(encoding="utf-8")


def lesson_files(folder: Traversable | None = None) -> dict[str, str]:
    """Return a dictionary from the name of each lesson in a folder to the text of the lesson.

    By default, the folder of the lessons about more than one method is read.
    """
    files = (folder or _folder().joinpath("lessons")).iterdir()
    lessons = {file.name.removesuffix(".toml"): file for file in files if file.name.endswith(".toml")}
    return {name: file.read_text(encoding="utf-8") for name, file in lessons.items()}


def page_part(name: str) -> str:
    """Return the content of a file for the page that shows a run, such as a script or the style sheet."""
    return _folder().joinpath("share", name).read_text(encoding="utf-8")
