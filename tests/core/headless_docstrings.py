"""The docstrings that begin with a clause without its subject, and the table of how many each file may still have.

`python -m tests.core.headless_docstrings` lists them, and `--shrink` lowers the numbers of the table to what is there.
No number of the table is ever raised, and no file is added.
"""

from __future__ import annotations

import ast
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tests.shared import ROOT

FOLDERS = ("app", "bpe_core")
TABLE = Path(__file__).with_name("headless_docstrings.txt")
# Questions without their verb, prepositions, and words for something that was said elsewhere.
HEADLESS = re.compile(
    r"(After|And|As|At|Because|Before|Beside|Between|But|By|For|From|How|If|In|Its|Of|On|Only|Or|Since|So|Such|Than"
    r"|That|The (one|ones|other|others|same)|Their|Those|To|Until|What|Whatever|When|Whenever|Where|Whether|Which|While"
    r"|Who|Whose|With)\b",
)
NAMED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


class Docstring(NamedTuple):
    """A docstring and the place where it stands."""

    path: str
    line: int
    name: str
    text: str

    @property
    def package(self) -> str:
        return "/".join(Path(self.path).parts[:2])

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.name}: {self.text}"


def docstrings_in(path: Path) -> Iterator[Docstring]:
    """Yield the docstrings of a file, each on one line."""
    name_in_project = path.relative_to(ROOT).as_posix()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, NAMED) and (text := ast.get_docstring(node)):
            name = "the module" if isinstance(node, ast.Module) else node.name
            yield Docstring(name_in_project, getattr(node, "lineno", 1), name, " ".join(text.split()))


def is_headless(text: str) -> bool:
    """Return whether a docstring begins with a clause that lacks its subject or verb.

    >>> is_headless("What is left"), is_headless("Return what is left"), is_headless("Whatever")
    (True, False, True)
    """
    return HEADLESS.match(text) is not None


def headless_docstrings() -> list[Docstring]:
    """Return all headless docstrings of the program, file by file."""
    paths = [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py"))]
    return [docstring for path in paths for docstring in docstrings_in(path) if is_headless(docstring.text)]


def allowed_in_files() -> Counter[str]:
    """Read how many headless docstrings each file may still have; a file without a row may have none."""
    rows = (line.split() for line in TABLE.read_text("utf-8").splitlines())
    return Counter({path: int(count) for count, path in rows})


def shrink_table(present: Counter[str]) -> None:
    """Lower the table to the present numbers; rows without any headless docstring go."""
    kept = allowed_in_files() & present
    TABLE.write_text("".join(f"{count:3} {path}\n" for path, count in sorted(kept.items())), "utf-8")


def main() -> None:
    listed = headless_docstrings()
    sys.stdout.writelines(f"{docstring}\n" for docstring in listed)
    by_package = Counter(docstring.package for docstring in listed)
    sys.stdout.writelines(f"{count:5} {package}\n" for package, count in by_package.most_common())
    if "--shrink" in sys.argv[1:]:
        shrink_table(Counter(docstring.path for docstring in listed))


if __name__ == "__main__":
    main()
