"""The question `sweep-results`. It asks how a measure of a sweep's runs changes with the vocabulary size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bpe_core.asking import NONE, Answer, Question, parameter
from bpe_core.asking.answer import ends_of_interval
from bpe_core.asking.shared import drawn_lines
from bpe_core.figures.from_table import sweep_chart
from bpe_core.measures.measures import OF_SWEEPS
from bpe_core.studies.checksums import file_in_words
from bpe_core.support.data_table import DataTable
from bpe_core.support.progress import ALONE, Work
from bpe_core.sweep.results import read_results


@dataclass(frozen=True)
class SweepResults(Question):
    """Draw a measure of all runs in a table that `sweep` wrote, with a band for the range over several samples."""

    about = "other tokenizers"
    asks = "What did a sweep find?"
    turn = 6
    studies = NONE  # its input is a file of results
    examples = """\
examples:
  bpe-explorer sweep-results results.csv --measure tokens_per_word -o sweep.svg
"""
    in_python = """
        >>> import bpe_core as bpe
        >>> from tempfile import TemporaryDirectory
        >>> study = bpe.train("low lower lowest, new newer newest", "gpt2", merges=6)
        >>> two = {"ours": study, "half": study.at(3)}
        >>> curves = bpe.curves(two, held_out=["the lowest"])
        >>> with TemporaryDirectory() as folder:
        ...     bpe.write_data(curves.table, f"{folder}/runs.csv")
        ...     answer = bpe.sweep_results(f"{folder}/runs.csv")
        >>> len(answer.table) == len(curves.table)
        True
    """

    results: str = parameter(
        help="the table that `sweep` has written",
        metavar="RESULTS",
        positional=True,
        path="file",
        title="Table of a sweep",
        in_words={"": "none yet"},
    )
    measure: str = parameter("bytes_per_token", help=f"the measure to draw: {', '.join(OF_SWEEPS)}", choices=OF_SWEEPS)
    lines: tuple[str, ...] = drawn_lines()

    def answer(self, study: object = None, work: Work = ALONE) -> Answer:
        return self.answer_of(read_results(self.results))

    def cited(self) -> Sequence[str]:
        """Return what the caption of the answer says about the runs in the table of results.

        The caption names their recipes, texts, tie rules and seeds, and the checksum of the table's file.
        """
        table = read_results(self.results)
        names = [("recipe", "Recipes"), ("corpus", "Texts"), ("ties", "Tie rules")]
        if any(table.columns["seed"]):  # 0 means that no sample was drawn
            names.append(("seed", "Seeds"))
        runs = [f"{title}: {', '.join(map(str, dict.fromkeys(table.columns[name])))}" for name, title in names]
        return (*runs, f"Table {file_in_words(Path(self.results))}")

    def answer_of(self, table: DataTable) -> Answer:
        seeds = ("seed",) if len({*table.columns["seed"]}) > 1 else ()
        ends = (name for name in ends_of_interval(self.measure) if name in table.columns)
        listed = ("recipe", "corpus", "ties", *seeds, "vocabulary", self.measure, *ends)
        return Answer.drawn(table, sweep_chart(table, self.measure, self.lines or None), listed)
