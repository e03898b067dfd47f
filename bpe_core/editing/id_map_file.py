"""The files for maps of ids: tables in `.csv`, `.json` or `.parquet`, and arrays for NumPy in `.npz`.

The `.npz` file holds these arrays: `new` and `old` (-1 for a missing id), `special`, `parts` with their `weights` and
`offsets`, and `bytes`, which holds the concatenated texts of all tokens. `bytes_offsets` says where each text begins.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from bpe_core.editing.id_map import NONE, IdMap, MapRow
from bpe_core.errors import FormatError, OutputError, TooLarge, cause_of, damage_error
from bpe_core.support.atomic import write_atomically
from bpe_core.support.data_table import checked_name, read_plainly, write_data
from bpe_core.support.foreign import MOST_VALUES, report_faults

NPZ = ".npz"
MAP_ENDINGS = (".csv", ".json", ".parquet", NPZ)
IN_FOLDERS = "idmap.npz"  # the map in the folder of a tokenizer
LARGEST_NPZ = 64 * MOST_VALUES  # bytes of all arrays


def checked_map_name(path: Path | str) -> Path:
    """Return the path of a file to which a map of ids will be written.

    Raise OutputError if the path does not end in one of `MAP_ENDINGS`, such as `.csv`.
    """
    if Path(path).suffix.lower() not in MAP_ENDINGS:
        raise OutputError(f"The name {path} must end in one of {', '.join(MAP_ENDINGS)}.")
    return Path(path) if Path(path).suffix.lower() == NPZ else checked_name(path)


def write_id_map(id_map: IdMap, path: Path | str) -> None:
    """Write a map in the format that the ending of the file name chooses.

    Parameters
    ----------
    id_map
        The map from the ids of one table to the ids of another.
    path
        The name of the file, which ends in .csv, .json, .parquet or .npz.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> import bpe_core as bpe
    >>> study = bpe.train("low low lower", "gpt2", vocab_size=258)
    >>> with TemporaryDirectory() as folder:
    ...     write_id_map(IdMap.of(study, bpe.trim(study, [256])), Path(folder, "ids.csv"))
    ...     print(Path(folder, "ids.csv").read_text().splitlines()[-1])
    257,257,low,6c 6f 77,False,257,1.0
    """
    target = checked_map_name(path)
    if target.suffix.lower() != NPZ:
        write_data(id_map.table(), target)
        return
    with write_atomically(target) as file:
        file.write(npz_of(id_map))


def npz_of(id_map: IdMap) -> bytes:
    """Return the arrays of a map as the content of an `.npz` file."""
    file = io.BytesIO()
    np.savez_compressed(
        file,
        new=id_map.new,
        old=id_map.old,
        special=id_map.special,
        parts=id_map.parts,
        weights=id_map.weights,
        offsets=id_map.offsets,
        bytes=np.frombuffer(b"".join(id_map.texts), np.uint8),
        bytes_offsets=np.cumsum([0, *map(len, id_map.texts)], dtype=np.int64),
    )
    return file.getvalue()


def read_id_map(path: Path | str) -> IdMap:
    """Read a map that was written in any of the formats.

    Parameters
    ----------
    path
        The file, whose ending names its format.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> import bpe_core as bpe
    >>> study = bpe.train("low low lower", "gpt2", vocab_size=258)
    >>> with TemporaryDirectory() as folder:
    ...     write_id_map(IdMap.of(study, bpe.trim(study, [257])), Path(folder, "ids.npz"))
    ...     read_id_map(Path(folder, "ids.npz"))
    IdMap(kept=257, new=0, gone=1)
    """
    target = checked_map_name(path)
    with report_faults(f"{path} is not a map of ids, or is damaged"):
        try:
            rows = _rows_of_npz(target) if target.suffix.lower() == NPZ else _rows_of_table(target)
        except OSError as error:
            raise FormatError(f"Could not read the map {path}: {cause_of(error)}.") from error
        except zipfile.BadZipFile as error:
            raise damage_error(f"{path} is not a map of ids, or is damaged: it is not an .npz file.") from error
    _check_ids(rows, path)
    return IdMap.of_rows(rows)


def _rows_of_npz(path: Path) -> list[MapRow]:
    with open(path, "rb") as file:
        with zipfile.ZipFile(file) as archive:
            if sum(member.file_size for member in archive.infolist()) > LARGEST_NPZ:
                raise TooLarge(f"{path} holds more than {LARGEST_NPZ:,} bytes, too many for a map of ids.")
        file.seek(0)
        with np.load(file, allow_pickle=False) as arrays:
            names = ("new", "old", "special", "parts", "offsets", "bytes", "bytes_offsets")
            columns = {name: arrays[name] for name in names}
    parts = columns["parts"].tolist()
    data = columns["bytes"].astype(np.uint8).tobytes()
    texts = [data[start:stop] for start, stop in pairwise(columns["bytes_offsets"].tolist())]
    of_rows = [tuple(parts[start:stop]) for start, stop in pairwise(columns["offsets"].tolist())]
    ids = (columns["new"].tolist(), columns["old"].tolist())
    return [MapRow(*row) for row in zip(*ids, texts, columns["special"].tolist(), of_rows, strict=True)]


def _rows_of_table(path: Path) -> list[MapRow]:
    columns = read_plainly(path)
    texts = [bytes.fromhex(value) for value in columns["hex"]]
    special = [value in (True, "True") for value in columns["special"]]
    ids = ([_id(value) for value in columns[name]] for name in ("new", "old"))
    return [MapRow(*row) for row in zip(*ids, texts, special, map(_ids, columns["parts"]), strict=True)]


def _id(value: Any) -> int:
    return NONE if value is None or value == "" else int(value)


def _ids(value: Any) -> tuple[int, ...]:
    """Read the ids in a cell. The cell is a list, or a string with commas between the ids.

    >>> _ids("1, 2"), _ids([1, 2]), _ids("")
    ((1, 2), (1, 2), ())
    """
    parts = [part for part in value.split(",") if part.strip()] if isinstance(value, str) else value
    return tuple(map(int, parts))


def _check_ids(rows: Sequence[MapRow], path: Path | str) -> None:
    """Raise FormatError if an old or new id is negative or occurs twice in the map, or if a part is unknown.

    The parts of a new token must be ids of old tokens. The error names the file `path`.
    """
    olds = [row.old for row in rows if row.old != NONE]
    news = [row.new for row in rows if row.new != NONE]
    known = set(olds)
    wrong = next((id for id in (*olds, *news) if id < 0), None)
    wrong = next((part for row in rows for part in row.parts if part not in known), wrong)
    if wrong is not None:
        raise damage_error(f"{path} is not a map of ids, or is damaged: {wrong:,} is not the id of a token.")
    for which, ids in (("old", olds), ("new", news)):
        twice = next(iter(sorted(id for id, after in pairwise(sorted(ids)) if id == after)), None)
        if twice is not None:
            raise damage_error(f"{path} is not a map of ids, or is damaged: the {which} id {twice:,} is in two rows.")
