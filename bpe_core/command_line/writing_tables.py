"""Write a table for other libraries and report the check, for `export` and `convert`."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

from bpe_core.command_line.arguments import add_json, number, text_argument
from bpe_core.command_line.interruption import working
from bpe_core.delivery.folder import Delivery, prepare_folder
from bpe_core.errors import OutputError
from bpe_core.formats import FORMATS, format_for
from bpe_core.history.history import History
from bpe_core.studies.study import Study
from bpe_core.support.threads import available_threads
from bpe_core.verification.checking import PreparedExport, prepare_export

CHECKED = ("words", "asked", "differing", "differences", "cannot_hold", "chosen")  # lines printed of a check


def format_list() -> str:
    return "formats:\n" + "".join(f"  {name:<15} {row.explanation}\n" for name, row in FORMATS.written.rows.items())


def add_writing(parser: argparse.ArgumentParser) -> None:
    add_checks(parser)
    parser.add_argument("--at", type=number, metavar="K", help="write only what the first K steps made")


def add_checks(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(at=None)
    parser.add_argument(
        "--to", choices=FORMATS.written, metavar="FORMAT", help="one of those below; else OUT's ending decides"
    )
    text = "a text that must come out alike, too"
    parser.add_argument("--check-with", type=text_argument, default="", metavar="TEXT", help=text)
    parser.add_argument("--anyway", action="store_true", help="write the file even if reading it back does not agree")
    add_json(parser)


def write_and_tell(
    history: History,
    options: argparse.Namespace,
    notes: tuple[str, ...] = (),
    described: Mapping[str, Any] = MappingProxyType({}),
    delivery: Delivery | None = None,
    *,
    makes_folder: bool = False,
) -> int:
    """Write the file if its check agrees, and return the exit code; the JSON includes `described`."""
    Study(history).inside.checked_step_count(options.at)
    target = Path(options.out)
    prepare = _way_to_write(target, options.to, delivery)
    folder = target.parent.parent if makes_folder else target.parent
    if not folder.resolve().is_dir():
        raise OutputError(f"Could not write {target}: the folder {folder} does not exist.")
    with working() as interruption:
        prepared = prepare(history, target, merges=options.at, text=options.check_with, work=interruption.work)
    written = prepared.verification.agrees or options.anyway
    if written:
        prepared.put_in_place(makes_folder=makes_folder)
    if options.json:
        print(json.dumps({**described, **_described(prepared, written, notes)}, ensure_ascii=False, indent=1))
    else:
        _tell(prepared, written, notes)
    return 0 if written else 1


def _way_to_write(target: Path, format: str | None, delivery: Delivery | None) -> Callable[..., PreparedExport]:
    if delivery is not None:
        return partial(prepare_folder, delivery=delivery)
    chosen = FORMATS[format] if format else format_for(target)
    # The library is loaded here: asking another process about each word takes longer.
    return partial(prepare_export, format=chosen, apart=chosen.holds_splitting and available_threads() > 1)


def _tell(prepared: PreparedExport, written: bool, notes: tuple[str, ...]) -> None:
    found = prepared.verification
    lines = [f"- {sentence}" for sentence in (*notes, *found.chosen, *found.cannot_hold)]
    lines += [f"! {difference}" for difference in found.differences]
    if found.differing > len(found.differences):
        lines.append(f"! ... and {found.differing - len(found.differences):,} more")
    names = " and ".join(str(path) for path in prepared.files)
    done = f"Wrote {prepared.steps} to {names}; {found.sentence}."
    refused = f"Nothing was written: {found.sentence}. With --anyway the file is written as it is."
    print(*lines, done if written else refused, sep="\n")


def _described(prepared: PreparedExport, written: bool, notes: tuple[str, ...]) -> dict[str, Any]:
    found = prepared.verification
    return {
        "files": [str(path) for path in prepared.files],
        "format": prepared.format.name,
        "merges": prepared.merges,
        "written": written,
        "verified": found.agrees,
        **{name: getattr(found, name) for name in CHECKED},
        "notes": notes,
    }
