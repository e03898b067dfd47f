"""The manifest of a result: the record of how a table, figure, export or report was made.

With a manifest, the command `repeat` recreates the result, and compares it with the old one. All paths in a manifest
are relative to the manifest. So a folder with texts, results and manifest can be moved as a whole.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import json
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, NoReturn

from bpe_core.command_line.parser import files_read_by, results_of
from bpe_core.errors import BpeError, FormatError, OutputError
from bpe_core.formats.hugging_face_cache import is_name, located
from bpe_core.session_file import is_session_file, run_of
from bpe_core.studies.making import open_study
from bpe_core.support.atomic import path_to_read, write_atomically
from bpe_core.support.fingerprints import fingerprint_of
from bpe_core.support.foreign import json_of, report_faults
from bpe_core.support.plugins import used_plugins
from bpe_core.support.small_files import read_small_file
from bpe_core.support.version import program_version

VERSION = 3  # version 2 had no plug-ins
FIRST_LAID_OUT_ALIKE = 2  # older versions laid out pages and figures differently
STANDARD_OUTPUT = "-"


@dataclass(frozen=True)
class Fingerprint:
    """The size and the hash of a file or a folder, at the time when the manifest was made."""

    path: str
    bytes: int
    sha256: str


@dataclass(frozen=True)
class Manifest:
    program: str  # the program's version and commit
    folder: str  # the folder in which the command ran
    arguments: list[str]  # the words of the command line; an absolute path becomes PATH and a path from the manifest
    inputs: list[Fingerprint]
    results: list[Fingerprint]
    # with their groups and weights, by the files that hold the recipes
    recipes: dict[str, Any] = field(default_factory=dict)
    texts: dict[str, Any] = field(default_factory=dict)  # by session: the texts that its runs were learned from
    plugins: dict[str, str] = field(default_factory=dict)  # packages with their versions, files with their SHA-256
    version: int = VERSION


PATH = "path:"


@contextmanager
def captured_output() -> Iterator[io.StringIO]:
    """Copy everything that is printed in the `with` block, and refuse to read standard input.

    A command that reads standard input could not be repeated.
    """
    kept = io.StringIO()
    shown = sys.stdout
    before = sys.stdin

    class TwoStreams(io.TextIOBase):
        def write(self, text: str) -> int:
            kept.write(text)
            return shown.write(text)

        def flush(self) -> None:
            shown.flush()

        def close(self) -> None:
            """Do nothing, because the underlying stream stays open.

            Otherwise Python would flush that stream again when this object is deleted.
            """

    class NullOutput(io.TextIOBase):
        @property
        def buffer(self) -> NoReturn:
            raise OutputError("--manifest needs files, because standard input can be read only once. Name a file.")

    sys.stdout = TwoStreams()
    sys.stdin = NullOutput()
    try:
        yield kept
    finally:
        sys.stdout = shown
        sys.stdin = before


class CommandRecord:
    """A record of a command and its files. It is made before the command runs.

    When the command has ended, the record is written as a manifest.
    """

    def __init__(self, argv: Sequence[str], options: argparse.Namespace) -> None:
        self.path: Path = options.manifest
        self._argv = _without_manifest(argv)
        output = getattr(options, "output", None)
        if isinstance(output, str) and not any(_names_output(word, output) for word in argv):
            self._argv += ["--output", output]  # the default
        self._results = results_of(options)
        named = files_read_by(options)
        address = next((path for path in named if "://" in path), None)
        if address is not None:
            raise OutputError(
                f"--manifest needs files, but {address} is an address, and the text there may change. Download "
                "the text and name the file, or leave out --manifest."
            )
        self._named = sorted(path for path in named if path and _is_there(path) and path not in self._results)
        if not self.path.absolute().parent.is_dir():
            raise OutputError(f"There is no folder {self.path.parent} for the manifest {self.path.name}.")
        self._inputs = [self._fingerprint(path) for path in self._named]

    def manifest(self, printed: str) -> Manifest:
        results = [self._fingerprint(path) for path in self._results]
        if not results:
            data = printed.encode(errors="replace")
            results = [Fingerprint(STANDARD_OUTPUT, len(data), hashlib.sha256(data).hexdigest())]
        recipes = {self._relative(path): recipe for path in self._named + self._results if (recipe := _recipe(path))}
        arguments = [self._portable(word) for word in self._argv]
        folder = self._relative(".")
        texts = {self._relative(path): sources for path in self._named if (sources := _texts_in(path))}
        return Manifest(program_version(), folder, arguments, self._inputs, results, recipes, texts, used_plugins())

    def write(self, manifest: Manifest) -> None:
        with write_atomically(self.path) as file:
            text = json.dumps(asdict(manifest), ensure_ascii=False, indent=1)
            file.write(text.encode(errors="backslashreplace") + b"\n")

    def _fingerprint(self, path: str) -> Fingerprint:
        size, digest = fingerprint_of(path_to_read(located(path)))
        return Fingerprint(self._relative(path), size, digest)

    def _relative(self, path: str) -> str:
        if is_name(path):
            return path
        return Path(os.path.relpath(path, self.path.absolute().parent)).as_posix()

    def _portable(self, word: str) -> str:
        place, run = run_of(word)
        if not Path(place).is_absolute() or place not in self._named + self._results:
            return word
        if run is not None:
            return f"{PATH}{self._relative(place)}#{run}"
        return (
            PATH + self._relative(word) + ("/" if word.endswith("/") else "")
        )  # the name of a new folder ends in a slash


def read_manifest(path: Path) -> Manifest:
    document = json_of(
        read_small_file(path_to_read(path), "the manifest", FormatError), f"{path} is not a manifest: it is not JSON"
    )
    version = document.get("version") if isinstance(document, dict) else None
    if isinstance(version, int) and version > VERSION:
        raise FormatError(
            f"{path} was written by a newer version of this program. Update this program to repeat the manifest."
        )
    with report_faults(f"{path} is not a manifest of this program, or is damaged"):
        prints = {name: [Fingerprint(**print_) for print_ in document[name]] for name in ("inputs", "results")}
        manifest = Manifest(**{**document, **prints})
        places = [manifest.folder, *(result.path for result in (*manifest.inputs, *manifest.results))]
        plugins = manifest.plugins
        texts = [*manifest.arguments, *places, manifest.program, *plugins.keys(), *plugins.values()]
        is_sound = isinstance(manifest.arguments, list) and isinstance(manifest.version, int) and manifest.results
        if not is_sound or any("\0" in os.fsdecode(os.fsencode(text)) for text in texts):
            raise ValueError
    return manifest


def _names_output(word: str, output: str) -> bool:
    return word == output or (word.startswith("-") and word.endswith(output))


def _is_there(path: str) -> bool:
    return os.path.exists(located(path))  # noqa: PTH110 - Path.exists raises an OSError if the name is too long


def _without_manifest(argv: Sequence[str]) -> list[str]:
    words = [word for word in argv if not word.startswith("--manifest=")]
    if "--manifest" in words:
        place = words.index("--manifest")
        del words[place : place + 2]
    return words


def _recipe(path: str) -> dict[str, Any] | None:
    try:
        return None if path_to_read(path).is_dir() else open_study(path).history.recipe.to_dict()
    except BpeError:
        return None


def _texts_in(path: str) -> list[dict[str, Any]]:
    from bpe_core.session_file.reading import read_session  # this module loads SQLite

    if not Path(path).is_file() or not is_session_file(path):
        return []
    known = {
        (source.name, source.fingerprint)
        for run in read_session(path).runs
        for source in run.sources
        if source.fingerprint
    }
    texts = [
        {"name": name, "bytes": fingerprint.size, "sha256": fingerprint.sha256}
        for name, fingerprint in known
        if fingerprint is not None
    ]
    return sorted(texts, key=lambda text: (str(text["name"]), str(text["sha256"])))
