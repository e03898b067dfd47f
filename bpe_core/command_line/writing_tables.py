"""Functions for the commands `export` and `convert`.

They write a table for another library, check the written files, and report the result.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from bpe_core.command_line.arguments import add_json, number, text_argument
from bpe_core.command_line.interruption import interruptible
from bpe_core.delivery.changed_folder import WHOLE, FolderPlan, plan_for, prepare_changed_file, prepare_changed_folder
from bpe_core.delivery.folder import Delivery, prepare_folder
from bpe_core.delivery.sidecars import Sidecars, about_unwritten_sidecars, sidecars_of
from bpe_core.editing.id_map import IdMap
from bpe_core.editing.id_map_file import checked_map_name, write_id_map
from bpe_core.errors import OutputError
from bpe_core.formats import FORMATS, format_for
from bpe_core.formats.base import Format, own_numbers
from bpe_core.formats.hugging_face_cache import tokenizer_file
from bpe_core.history.history import History
from bpe_core.questions.idmap import sentences_of
from bpe_core.studies.study import Study
from bpe_core.support.atomic import all_or_none
from bpe_core.support.paths import real_path
from bpe_core.support.threads import available_threads
from bpe_core.verification.checking import PreparedExport, prepare_export

OUTPUT = "the file to write, or a folder, whose name ends in /"
CHECKED = ("words", "asked", "differing", "differences", "cannot_hold", "chosen")  # lines of a check that are printed


def format_list() -> str:
    return "formats:\n" + "".join(f"  {name:<15} {row.explanation}\n" for name, row in FORMATS.written.rows.items())


def add_writing(parser: argparse.ArgumentParser) -> None:
    add_checks(parser)
    parser.add_argument("--at", type=number, metavar="K", help="write only the tokens of the first K steps")


def add_output(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-o", "--output", dest="out", required=True, metavar="OUT", help=OUTPUT)


def add_checks(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(at=None)
    parser.add_argument(
        "--to",
        choices=FORMATS.written,
        metavar="FORMAT",
        help="one of the formats below (default: the ending of OUT decides)",
    )
    text = "another text on which the written file and the table must agree"
    parser.add_argument("--check-with", type=text_argument, default="", metavar="TEXT", help=text)
    of_map = "also write a map from old ids to new ids, as `idmap` shows it: .csv, .json, .parquet or .npz"
    parser.add_argument("--map", dest="id_map", type=_map_name, metavar="MAP", help=of_map)
    parser.add_argument(
        "--anyway", action="store_true", help="write the file even if the check of the written file finds a difference"
    )
    add_json(parser)


def _map_name(value: str) -> Path:
    try:
        return checked_map_name(value)
    except OutputError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


@dataclass(frozen=True)
class Source:
    """The table that a command changes, and the tokens that it renames."""

    named: str
    study: Study
    renamed: Mapping[str, str] = field(default_factory=dict)
    overriding: Mapping[str, Any] = field(default_factory=dict)  # entries of its configuration that a user gives

    @cached_property
    def sidecars(self) -> Sidecars:
        return sidecars_of(self.named, self.study.format)

    @property
    def first_free_id(self) -> int | None:
        """Return the first id after all ids in the sidecar files.

        Return None if the sidecar files have no larger id than the table.
        """
        largest = self.sidecars.largest_id
        return largest + 1 if largest > int(own_numbers(self.study.history).max(initial=-1)) else None

    def plan(self, options: argparse.Namespace) -> FolderPlan:
        """Plan the files of the output folder.

        Raise OutputError if the folder contains any other files, or if the main file would replace the input table.
        """
        file = tokenizer_file(self.named) if self.study.format else Path(self.named)
        plan = plan_for(options.out, self.sidecars, file, self.study.format, options.to)
        if real_path(plan.path / plan.main) == real_path(file):
            raise OutputError(f"{plan.path / plan.main} is the input table itself. Choose another folder or file name.")
        plan.refuse_other_contents()
        return plan


def is_folder_name(out: str) -> bool:
    return out.endswith(("/", "\\")) or Path(out).is_dir()


def refuse_other_ids(history: History, format: Format, options: argparse.Namespace) -> None:
    """Raise an error if a format's own rule would change the ids of tokens, unless an option allows this."""
    count = history.index_count if format.holds_specials else history.first_special
    if not options.anyway and not np.array_equal(format.numbers(history)[:count], own_numbers(history)[:count]):
        raise OutputError(
            f"{format.name} numbers tokens by its own rule, so old ids would change. Choose tokenizer.json, csv "
            "or a session (.bpex) with --to or by another ending. To accept new ids, add --anyway."
        )


def write_and_report(
    history: History,
    options: argparse.Namespace,
    notes: tuple[str, ...] = (),
    described: Mapping[str, Any] = MappingProxyType({}),
    delivery: Delivery | None = None,
    *,
    source: Source | None = None,
) -> int:
    """Write a table as a file, or as a folder that also has the other files of the source's folder.

    Print a report, and return the exit code. If the check of the written files finds a difference, nothing is written
    without the option `--anyway`. `described` is added to the JSON output.
    """
    Study(history).inside.checked_step_count(options.at)
    target = Path(options.out)
    prepare = _way_to_write(target, options, delivery, source)
    if not real_path(target.parent).is_dir():
        raise OutputError(f"Could not write {target}: the folder {target.parent} does not exist.")
    with interruptible() as interruption:
        prepared = prepare(history, merges=options.at, text=options.check_with, work=interruption.work)
    if source is not None and source.sidecars and not is_folder_name(options.out):
        notes = (*notes, about_unwritten_sidecars(source.sidecars))
    written = prepared.verification.agrees or options.anyway
    if written and options.id_map is not None:
        id_map = prepared.id_map or _id_map(prepared, history if source is None else source)
        write_with_map([prepared.path, *prepared.files], prepared.put_in_place, id_map, options.id_map)
        described = {**described, "map": str(options.id_map)}
        notes = (*notes, *sentences_of(id_map))
    elif written:
        prepared.put_in_place()
    if options.json:
        print(json.dumps({**described, **_described(prepared, written, notes)}, ensure_ascii=False, indent=1))
    else:
        _print_result(prepared, written, notes)
    return 0 if written else 1


def _id_map(prepared: PreparedExport, before: Source | History) -> IdMap:
    if isinstance(before, History):
        return IdMap.of(before, prepared.read_back())
    return IdMap.of(before.study, prepared.read_back(), renamed=before.renamed)


def write_with_map(results: Sequence[Path], write: Callable[[], None], id_map: IdMap, path: Path) -> None:
    """Write files and the map of their ids. If one of these files cannot be written, none is written."""
    places = {real_path(result) for result in results}
    if not places.isdisjoint((real_path(path), *real_path(path).parents)):
        raise OutputError(
            f"The map cannot be written to {path}: this path is the result itself, or inside its folder. Choose "
            "another path for the map."
        )
    with all_or_none(*results, path):
        write()
        write_id_map(id_map, path)


def _way_to_write(
    target: Path, options: argparse.Namespace, delivery: Delivery | None, source: Source | None
) -> Callable[..., PreparedExport]:
    if delivery is not None:
        return partial(prepare_folder, path=target, delivery=delivery)
    if source is not None and is_folder_name(options.out):
        plan = source.plan(options)
        before = source.study.history
        return partial(prepare_changed_folder, plan, before, renamed=source.renamed, overriding=source.overriding)
    chosen = FORMATS[options.to] if options.to else format_for(target)
    # The library is loaded in this process: asking another process about each word takes longer.
    apart = chosen.holds_splitting and available_threads() > 1
    if source is not None and chosen.name == source.study.format == WHOLE:
        file = tokenizer_file(source.named)
        before = source.study.history
        return partial(
            prepare_changed_file, path=target, source=file, before=before, renamed=source.renamed, apart=apart
        )
    return partial(prepare_export, path=target, format=chosen, apart=apart)


def _print_result(prepared: PreparedExport, written: bool, notes: tuple[str, ...]) -> None:
    verification = prepared.verification
    lines = [f"- {sentence}" for sentence in (*notes, *verification.chosen, *verification.cannot_hold)]
    lines += [f"! {difference}" for difference in verification.differences]
    if verification.differing > len(verification.differences):
        lines.append(f"! ... and {verification.differing - len(verification.differences):,} more")
    done = f"Wrote {prepared.steps} to {_places(prepared)}; {verification.sentence}."
    refused = f"Nothing was written: {verification.sentence}. Use --anyway to write the file nevertheless."
    print(*lines, done if written else refused, sep="\n")


def _places(prepared: PreparedExport) -> str:
    if prepared.path in prepared.files:
        return " and ".join(str(path) for path in prepared.files)
    inside = ", ".join(str(path.relative_to(prepared.path)) for path in prepared.files)
    return f"the folder {prepared.path}: {inside}"


def _described(prepared: PreparedExport, written: bool, notes: tuple[str, ...]) -> dict[str, Any]:
    verification = prepared.verification
    return {
        "files": [str(path) for path in prepared.files],
        "format": prepared.format.name,
        "merges": prepared.merges,
        "written": written,
        "verified": verification.agrees,
        **{name: getattr(verification, name) for name in CHECKED},
        "notes": notes,
    }
