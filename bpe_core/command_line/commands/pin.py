"""The command `bpe-explorer pin`. It saves the ids of hard texts, so that `check --pins` can find later changes."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from bpe_core.command_line.arguments import ANY_TABLE, add_json
from bpe_core.errors import FormatError
from bpe_core.studies.pins import Pins
from bpe_core.support.wording import count_text

examples = """\
examples:
  bpe-explorer pin tokenizer.json
      Writes tokenizer.pins.json: the ids of 200 texts that are hard to split, from this program and from the
      file's library.

  bpe-explorer pin --folder model/ -o model.pins.json
      Pin the ids that all tokenizer files of the folder give.

  bpe-explorer check --pins tokenizer.pins.json
      Ends with exit code 3, and lists each text that is split differently now: for the checks of a project.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("table", metavar="TABLE", help=ANY_TABLE)
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        metavar="FILE",
        help="the file to write (default: the table's name with .pins.json)",
    )
    parser.add_argument(
        "--folder",
        action="store_true",
        help="TABLE is the folder of a model: save the ids that each of its tokenizer files gives",
    )
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    from bpe_core.studies.making import open_study  # the help does not need this module

    path = options.output or Path(options.table).with_suffix(".pins.json")
    pins = _pins_of_folder(options.table) if options.folder else Pins.of(open_study(options.table))
    pins.write(path)
    if options.json:
        summary = {
            "output": str(path),
            "texts": len(pins.texts),
            "libraries": list(pins.ids),
            "files": list(pins.files),
        }
        print(json.dumps(summary, ensure_ascii=False))
        return 0
    others = f", and from {', '.join(pins.files)} in the same folder" if pins.files else ""
    print(
        f"Wrote the ids of {count_text(len(pins.texts), 'text')} to {path}. The ids come from "
        f"{' and '.join(pins.ids)}{others}."
    )
    return 0


def _pins_of_folder(place: str) -> Pins:
    """Return the pins of a model folder: the ids that its tokenizer files give to texts that are hard to split.

    `place` is the path of the folder. The main file is the tokenizer file that transformers loads.
    """
    from bpe_core.delivery.one_folder import files_in, opened_files
    from bpe_core.studies.study import Study

    _, paths = files_in(place)
    files, refused = opened_files(paths)
    if refused:
        raise FormatError(refused[0])
    main, *others = (
        Study(file.history, name=str(path), format=file.opened.format) for file, path in zip(files, paths, strict=True)
    )
    return Pins.of(main, {Path(other.name).name: other for other in others})
