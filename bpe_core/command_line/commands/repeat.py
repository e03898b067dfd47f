"""The command `bpe-explorer repeat`. It runs the command of a manifest again, and compares the results byte by byte."""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Collection
from pathlib import Path
from typing import NamedTuple

from bpe_core.command_line.arguments import add_json
from bpe_core.command_line.manifest import (
    FIRST_LAID_OUT_ALIKE,
    PATH,
    STANDARD_OUTPUT,
    CommandRecord,
    Fingerprint,
    Manifest,
    read_manifest,
)
from bpe_core.command_line.parser import WITHOUT_MANIFEST, command_named, parsed, results_of
from bpe_core.errors import BpeError, CorpusError, FormatError, OutputError, plain
from bpe_core.formats.hugging_face_cache import is_name, located
from bpe_core.session_file import EXTENSION
from bpe_core.session_file.reading import are_equal_except_places
from bpe_core.support.data_table import is_data, read_plainly
from bpe_core.support.fingerprints import fingerprint_of
from bpe_core.support.foreign import report_faults
from bpe_core.support.optional_packages import program
from bpe_core.support.paths import real_path
from bpe_core.support.plugins import plugin_arguments, version_of_plugin
from bpe_core.support.version import program_version

examples = """\
examples:
  bpe-explorer chart ranks merges.csv --corpus book.txt -o ranks.svg --manifest ranks.json
  bpe-explorer repeat ranks.json
      The first command also writes how the figure was made. The second makes it again in a temporary folder, and
      checks that every byte is the same. The exit code is 1 if something differs.
"""
MADE_AT = re.compile(rb"\d\d \w+ \d{4}, \d\d:\d\d")  # the date in a report
# The dates in a PDF, and its id, which depends on them.
OF_PDF = re.compile(rb"\(D:\d{14}[^)]*\)|\d{4}-\d\d-\d\dT[\d:.+Z-]+|uuid:[\da-f-]{36}|/ID \[[^\]]*\]")
# the parts that differ each time, and how often each occurs in the file
OF_MAKING = {".html": (MADE_AT, 1), ".pdf": (OF_PDF, 0)}
FOR_PEOPLE = (STANDARD_OUTPUT, ".html")  # files for people, not for computing
TAKEN = "seconds"  # the column of durations


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("manifest", type=Path, metavar="MANIFEST", help="a file that --manifest has written")
    on = "the cluster that the manifest names, if you trust this cluster: it can run any code on this computer"
    parser.add_argument("--on", metavar="CLUSTER", help=on)
    made_by = "run this command again, and write MANIFEST if the result is the same as the existing result"
    add_json(parser)
    parser.add_argument("--made-by", nargs=argparse.REMAINDER, metavar="COMMAND", help=made_by)


def run(options: argparse.Namespace) -> int:
    path: Path = options.manifest
    if not options.made_by:
        return _repeated(read_manifest(path), path, options.on, as_json=options.json)
    asked = parsed([*options.made_by, "--manifest", str(options.manifest)])
    if asked is None:
        raise OutputError(
            f"The manifest names the command {' '.join(options.made_by)[:80]!r}, but this version has no such command."
        )
    account = CommandRecord(options.made_by, asked)
    manifest = account.manifest("")
    code = _repeated(manifest, path, getattr(asked, "on", None), as_json=options.json)
    if not code:
        account.write(manifest)
    return code


def _repeated(manifest: Manifest, path: Path, on: str | None, *, as_json: bool) -> int:
    home = path.absolute().parent
    with report_faults(f"{path} cannot be repeated"):  # a name may be too long to look for
        _check_inputs(manifest, home)
    notes = _check_plugins(manifest)
    if manifest.program != program_version():
        notes.append(f"Made with version {manifest.program}, repeated with {program_version()}.")
    if not as_json:
        sys.stdout.writelines(f"{note}\n" for note in notes)
    with tempfile.TemporaryDirectory() as folder:
        printed, places = _repeat_command(manifest, home, Path(folder), on)
        is_older = manifest.version < FIRST_LAID_OUT_ALIKE
        outcomes = [_compare(known, home, places.get(known.path), printed, is_older) for known in manifest.results]
    is_same = all(outcome.is_same for outcome in outcomes)
    differs_by_speed = [] if is_same else _about_speed(manifest)
    notes += differs_by_speed
    if as_json:
        results = [outcome._asdict() for outcome in outcomes]
        print(json.dumps({"is_same": is_same, "notes": notes, "results": results}, ensure_ascii=False, indent=1))
    else:
        print(*(outcome.sentence for outcome in outcomes), *differs_by_speed, sep="\n")
    return 0 if is_same else 1


def _about_speed(manifest: Manifest) -> list[str]:
    """Return a sentence if the result of the command depends on the speed of the computer."""
    options = parsed([*manifest.arguments])
    option = "" if options is None else command_named(options.command).steady_with
    if not option or getattr(options, option) is not None:
        return []
    return [
        "This search ends after a number of seconds, so its result depends on the speed of the computer. A search with "
        f"--{option} gives the same result every time."
    ]


def _check_inputs(manifest: Manifest, home: Path) -> None:
    for known in manifest.inputs:
        place = located(known.path, may_fetch=False) if is_name(known.path) else home / known.path
        if not place.exists():
            raise CorpusError(
                f"{known.path} is missing. Put the file back at this path. The path is relative to the folder of the "
                "manifest."
            )
        if fingerprint_of(place)[1] != known.sha256:
            raise CorpusError(
                f"{known.path} has changed since the manifest was written, so the result cannot be repeated."
            )


def _check_plugins(manifest: Manifest) -> list[str]:
    """Return a sentence for each plug-in that has changed since the manifest was written.

    Raise BpeError if a plug-in is missing.
    """
    notes = []
    for name, was in manifest.plugins.items():
        now = version_of_plugin(name)
        if not now:
            raise BpeError(
                f"The result was made with the plug-in {plain(name)}. Install it, or name its file with --plugin."
            )
        if now != was:
            notes.append(f"The plug-in {plain(name)} has changed since the result was made, so the results may differ.")
    return notes


def _repeat_command(manifest: Manifest, home: Path, folder: Path, on: str | None) -> tuple[bytes, dict[str, Path]]:
    """Run the command of a manifest again. The command writes its files to `folder`, so no earlier result is replaced.

    Return the printed bytes, and the new path of each result.
    """
    there = real_path(home / manifest.folder)
    with report_faults(f"The folder {manifest.folder}"):
        is_there = there.is_dir()
    if not is_there:
        raise BpeError(f"The folder {manifest.folder}, in which the command ran, is missing.")
    results = {
        real_path(home / result.path): result.path for result in manifest.results if result.path != STANDARD_OUTPUT
    }
    places: dict[str, Path] = {}
    words = []
    for word in manifest.arguments:
        path = Path(os.path.normpath(home / word.removeprefix(PATH))) if word.startswith(PATH) else there / word
        known = results.get(real_path(path))
        if known is not None:
            places[known] = folder / path.name
            word = str(places[known]) + ("/" if word.endswith("/") else "")
        words.append(str(path) if word.startswith(PATH) else word)
    codes = _check_command(words, folder, on)
    call = [sys.executable, "-m", program(), *plugin_arguments(), *words]
    offline = {**os.environ, "HF_HUB_OFFLINE": "1"}  # a manifest may come from anybody
    done = subprocess.run(call, cwd=there, env=offline, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    if done.returncode and (done.returncode not in codes or not done.stdout):
        lines = done.stderr.decode(errors="replace").strip().splitlines()
        raise BpeError(f"The command failed when it was repeated: {lines[-1] if lines else 'it printed no message'}")
    return done.stdout, places


def _check_command(words: list[str], folder: Path, on: str | None) -> Collection[int]:
    """Return the exit codes with which the command of a manifest may end.

    Raise FormatError if the command writes files that are not listed as its results. Such files would not be
    compared. The manifest may also come from a stranger, so it must not write other files.
    """
    options = parsed(words)
    if options is None or options.command in WITHOUT_MANIFEST or options.manifest is not None:
        raise FormatError("The manifest holds no command of this program that makes a table, figure, export or report.")
    command = command_named(options.command)
    command.settle(options)
    if getattr(options, "on", None) not in (None, "local", on):
        raise FormatError(
            f"The manifest uses the cluster {options.on}, which could run any code on this computer. If you "
            "trust the cluster, add --on."
        )
    for result in results_of(options):
        if folder not in Path(result).parents:
            raise FormatError(
                f"The manifest would write {result}, but does not list this file as a result. Nothing was run."
            )
    return command.ends_well


class Outcome(NamedTuple):
    """The outcome of a comparison between a new result and the old result, with a sentence about it."""

    path: str
    is_same: bool
    sentence: str


def _compare(known: Fingerprint, home: Path, place: Path | None, printed: bytes, is_older: bool) -> Outcome:
    """Compare a new result with the result that the manifest describes."""
    name = "The printed output" if known.path == STANDARD_OUTPUT else plain(known.path)
    if known.path == STANDARD_OUTPUT:
        digest = hashlib.sha256(printed).hexdigest()
    elif place is None or not place.exists():
        return Outcome(known.path, False, f"{name}: the command did not write this file again.")
    else:
        digest = fingerprint_of(place)[1]
    before = home / known.path
    if digest == known.sha256:
        if before.is_file() and fingerprint_of(before)[1] != known.sha256:
            return Outcome(
                known.path,
                False,
                f"{name}: the result has the checksum of the manifest, but the existing file differs.",
            )
        return Outcome(known.path, True, f"{name}: identical, byte for byte.")
    if is_older and known.path.endswith(FOR_PEOPLE):
        return Outcome(
            known.path,
            True,
            f"{name}: this version lays out the result in another way than the version that wrote the manifest, so the "
            "two are not compared.",
        )
    if place is not None and place.is_file() and before.is_file() and fingerprint_of(before)[1] == known.sha256:
        data = before.read_bytes()
        other = place.read_bytes()
        if without := _alike_without(before, place):
            return Outcome(known.path, True, f"{name}: identical except for {without}.")
        first = next(
            (i for i, (a, b) in enumerate(zip(data, other, strict=False)) if a != b), min(len(data), len(other))
        )
        return Outcome(known.path, False, f"{name}: differs from byte {first + 1:,} on.")
    if place is not None and place.is_file():
        why = "has been changed since" if before.is_file() else "is gone"
        return Outcome(
            known.path,
            False,
            f"{name}: differs, but the first difference is unknown, because the earlier result {why}.",
        )
    return Outcome(known.path, False, f"{name}: differs.")


def _alike_without(before: Path, again: Path) -> str:
    ending = again.suffix.lower()
    if ending in OF_MAKING:
        made, count = OF_MAKING[ending]
        if made.sub(b"", before.read_bytes(), count=count) == made.sub(b"", again.read_bytes(), count=count):
            return "the time at which the file was made"
    if ending == EXTENSION:
        return (
            "the places of its texts, and when they were last changed" if are_equal_except_places(before, again) else ""
        )
    if is_data(again):
        table, other = (read_plainly(path) for path in (before, again))
        if all(column in other and list(table[column]) == list(other[column]) for column in table if column != TAKEN):
            if table.keys() == other.keys():
                return "the time that the command took" if TAKEN in table else ""
            return "columns that are new"
    return ""
