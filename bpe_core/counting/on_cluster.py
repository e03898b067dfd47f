"""The counting of a corpus by the workers of a Dask cluster.

There are two kinds of tasks. A task of the first kind counts a piece of the corpus. A task of the second kind adds up
the counts of a range of words.

A task writes its result to a file, and the next task reads this file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from bpe_core.counting.runs import CorpusPiece, Place, check_for_workers, count_piece, pieces_to_count
from bpe_core.counting.to_files import (
    CountingOrder,
    FileCount,
    PartTask,
    Range,
    WrittenCounts,
    add_up_range,
    write_part,
)
from bpe_core.recipes.recipe import Recipe
from bpe_core.support.arrays import Int64s
from bpe_core.support.cluster import cluster_errors, results_of_tasks
from bpe_core.support.progress import ALONE, Progress, Work
from bpe_core.text.corpus import Corpus, SkippedText
from bpe_core.text.mixture import Mixture
from bpe_core.text.reading.counts_head import CountsHead

PIECE_SIZE = 2**28  # bytes of text for each task: small enough that all workers are busy to the end
TASKS_A_THREAD = 4  # tasks that add up: enough to keep all workers busy to the end, few enough to cost little
ROOM = 2**29  # bytes of a task's tables, if no memory was given
RANKS = "ranks"


def count_on_cluster(
    corpus: Corpus, recipe: Recipe, order: CountingOrder, client: Any, watched: Work = ALONE
) -> WrittenCounts:
    """Count words with the workers of a cluster.

    The written files are the same as the files of `count_to_file`, byte for byte.
    """
    count = _ClusterCount(corpus, recipe, order, watched)
    count.client = client
    check_for_workers(corpus.sources)
    with cluster_errors():
        return count.run()


class _ClusterCount(FileCount):
    client: Any

    def counted_directly(self, pieces: list[CorpusPiece]) -> None:
        return None

    def count(self, pieces: list[CorpusPiece]) -> None:
        wanted = pieces_to_count(pieces, self.work)
        remarks = self.corpus.remarks
        for group in (self.recipe.mixture or Mixture()).groups:
            if group.must_be_read_whole:
                name = f"The group {group.name!r}" if group.name else "The whole corpus"
                why = "the sample of a text depends on the texts before it"
                remarks.add(group.name, f"{name} is counted by one worker: {why}")
        done = sum(piece.corpus.total_size or 0 for piece in set(pieces) - set(wanted))
        room = self.order.room or ROOM
        tasks = [
            (
                replace(piece_wanted, corpus=piece_wanted.corpus.independent_copy()),
                self.recipe,
                self.head,
                self.work,
                room,
            )
            for piece_wanted in wanted
        ]
        for size, skipped in self._each(_count_one, tasks):
            done += size
            for report in skipped:
                remarks.add(report.source, report.sentence, report.count)
            self.watched.progress(Progress("counting", done, self.corpus.total_size, "bytes"))

    def added_up(self, runs: Sequence[str], count: int) -> list[Range]:
        together = max(1, count // (TASKS_A_THREAD * sum(self.client.nthreads().values())))
        shares = [range(first, min(first + together, count)) for first in range(0, count, together)]
        added: dict[int, Range] = {}
        for some in self._each(_add_up, [(self.work, runs, self.head, share) for share in shares]):
            added |= some
            self.watched.progress(Progress("adding up", len(added), count, "parts"))
        return [added[number] for number in range(count)]

    def write(self, output: str, tasks: Sequence[PartTask]) -> None:
        """Write the files of the result.

        Workers write these files into the folder for work in progress. Only this process moves them to their final
        places. So a worker that Dask no longer uses cannot replace a result.
        """
        lean = []
        for task in tasks:
            with self.work.writing(task.name_at_work(RANKS)) as file:
                file.write(np.concatenate(task.ranks).tobytes())
            lean.append((task._replace(ranks=()), np.cumsum([len(ranks) for ranks in task.ranks])[:-1]))
        for _ in self._each(_write_part, [(self.work, self.head, *fields_of_task) for fields_of_task in lean]):
            pass
        for task in tasks:
            place, name = task.place_in(output)
            place.take(name, self.work, task.name_at_work(self.head))

    def _each(self, work: Callable[..., Any], tasks: Sequence[tuple[Any, ...]]) -> Iterator[Any]:
        return results_of_tasks(self.client, work, tasks, self.work.name, self.watched.cancelled)


def _count_one(
    piece: CorpusPiece, recipe: Recipe, head: CountsHead, work: Place, room: int
) -> tuple[int, tuple[SkippedText, ...]]:
    skipped = count_piece(piece, recipe, head, work, room, threads=1)
    return piece.corpus.total_size or 0, skipped


def _add_up(work: Place, runs: Sequence[str], head: CountsHead, numbers: range) -> dict[int, Range]:
    return {number: add_up_range(work, runs, head, number) for number in numbers}


def _write_part(work: Place, head: CountsHead, task: PartTask, borders: Int64s) -> None:
    with work.open(task.name_at_work(RANKS)) as file:
        ranks = np.frombuffer(file.read(), np.int64)
    write_part(work, head, task._replace(ranks=np.split(ranks, borders)), work, task.name_at_work(head))
