"""A function that opens the run or the table named on a command line, and returns its title.

A run of a session has the title of the run. A table has the name of its file.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from bpe_core.session_file import is_session_file, run_of
from bpe_core.studies.making import open_study

if TYPE_CHECKING:
    from bpe_core.report import Report
    from bpe_core.studies.study import Study


def run_named(table: str) -> tuple[str, Study, Report | None]:
    """Return the title, the study and the report of a run. Only a run of a session has a report."""
    place, number = run_of(table)
    if not is_session_file(place):
        return Path(table).name, open_study(table), None
    from bpe_core.report import report_of
    from bpe_core.session_file.reading import read_session  # this module loads SQLite

    report = report_of(read_session(place), number)
    return report.title, report.study, report
