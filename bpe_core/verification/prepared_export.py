"""Write a table for others: first in memory, then check it, and only then replace the old file."""

from __future__ import annotations

import io
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from bpe_core.errors import Cancelled, OutputError
from bpe_core.formats import Format, format_for
from bpe_core.history.history import History
from bpe_core.learning.methods import told_by
from bpe_core.support.atomic import write_atomically
from bpe_core.support.found_once import each_found_once
from bpe_core.support.garbage import nothing_collected
from bpe_core.support.progress import ALONE, Progress, ProgressReport, Work
from bpe_core.verification.checking import Verification, verify


@dataclass(frozen=True)
class PreparedExport:
    """Files that are written in memory and checked, but not yet in place."""

    path: Path  # the main one, or the folder they are in
    format: Format
    merges: int
    told: str  # how many steps that are, in words
    files: Mapping[Path, bytes]  # the main one first
    verification: Verification

    @property
    def replaces(self) -> list[Path]:
        return [path for path in self.files if path.exists()]

    def put_in_place(self) -> None:
        """Write all files, and only when all are written replace the old ones.

        A path that is none of them is their folder, which is made if it is missing.
        """
        if self.path not in self.files:
            try:
                self.path.mkdir(exist_ok=True)
            except OSError as error:
                raise OutputError(f"Could not make the folder {self.path}: {error.strerror or error}.") from error
        folder = next((path for path in self.files if path.is_dir()), None)
        if folder is not None:  # found now, not when another file has taken its place already
            raise OutputError(f"Could not write {folder}: it is a folder. What was there before is unchanged.")
        with ExitStack() as stack:
            for path, content in self.files.items():
                stack.enter_context(write_atomically(path)).write(content)


@nothing_collected()
@each_found_once()
def prepare_export(
    history: History,
    path: Path | str,
    *,
    format: Format | None = None,
    merges: int | None = None,
    text: str = "",
    work: Work = ALONE,
    apart: bool = False,
) -> PreparedExport:
    """Write the first `merges` merges in memory and check them; without a format the name chooses it.

    With `apart` the real library is asked in another process, so that it holds nothing else up. Raises an OutputError
    where the format has no way to hold the history at all.
    """

    def report(where: Progress) -> None:
        if work.cancelled():
            raise Cancelled("The export was stopped. What was there before is unchanged.")
        work.progress(where)

    target = Path(path)
    chosen = format or format_for(target)
    target = chosen.main_file(target)
    table = history if merges is None else history.first(merges)
    chosen.refuse_the_impossible(table)
    files = _written(table, chosen, target, report)
    by_name = {one.name: content for one, content in files.items()}
    found = verify(
        files[target], chosen, table, name=str(target), text=text, beside=by_name.get, work=work, apart=apart
    )
    return PreparedExport(target, chosen, len(table), told_by(table), files, found)


def _written(table: History, chosen: Format, target: Path, report: ProgressReport) -> dict[Path, bytes]:
    files = {target: io.BytesIO()}
    chosen.write(table, files[target], progress=report)
    for companion, write in chosen.companions(target).items():
        write(table, files.setdefault(companion, io.BytesIO()))
    return {path: file.getvalue() for path, file in files.items()}
