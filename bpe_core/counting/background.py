"""The counting of words in a separate process.

The process continues after the program that started it is closed.

Three files in a folder belong to a count. The first file shows the state of the count. The second file is
locked until the process ends. If the third file appears, the process stops.
"""

from __future__ import annotations

import json
import os
import secrets
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Literal

from bpe_core.counting.to_files import CountingOrder, WrittenCounts, count_to_file
from bpe_core.errors import BpeError, Cancelled, CorpusError, OutputError, cause_of, plain
from bpe_core.recipes.recipe import Recipe
from bpe_core.support.atomic import reserve, write_atomically
from bpe_core.support.lock import Lock
from bpe_core.support.private_folder import private_folder
from bpe_core.support.progress import Progress, Work
from bpe_core.support.wording import count_text
from bpe_core.text.corpus import Corpus

State = Literal["starting", "counting", "done", "stopped", "failed"]
UNDER_WAY = ("starting", "counting")
ENDING = ".json"
SECONDS_BETWEEN_REPORTS = 0.3
MOST_REPORTED = 5  # sentences about oddities in the texts
SECONDS_TO_START = 30  # seconds after which a process without its lock counts as gone
GONE = (
    "The process ended without a message, perhaps because another program stopped it. Start the same count again: it "
    "continues with the texts that are not yet counted."
)
STOPPED = "Counting was stopped. Start the same count again: it continues with the texts that are not yet counted."

_begun: list[subprocess.Popen[bytes]] = []  # processes that this process started and must wait for when they end


@dataclass(frozen=True)
class TextsToCount:
    """A file, an address or a text in memory whose words will be counted. `place` is the path or the address."""

    place: str = ""
    text: str | None = field(default=None, repr=False)
    group: str = ""
    choices: dict[str, Any] = field(default_factory=dict)  # how a file is read

    def corpus(self) -> Corpus:
        if self.text is not None:
            return Corpus.from_texts([self.text])
        return Corpus.from_files([self.place], **self.choices)


def corpus_of(texts: Iterable[TextsToCount]) -> Corpus:
    """Return one corpus of these texts, in which the texts of each group are together.

    Raise CorpusError if a file does not exist.
    """
    return Corpus.joined([text.corpus().in_group(text.group) for text in texts], twice=True)


@dataclass(frozen=True)
class Order:
    texts: Sequence[TextsToCount]
    recipe: Recipe
    output: str
    on: str = ""  # `local`, the address of a scheduler, or empty: threads of this program
    workers: int | None = None  # the number of local workers
    memory: int | None = None

    def to_json(self) -> str:
        values = asdict(replace(self, texts=()))
        values |= {"texts": [asdict(text_to_count) for text_to_count in self.texts], "recipe": self.recipe.to_json()}
        return json.dumps(values)

    @classmethod
    def from_json(cls, text: str) -> Order:
        values = json.loads(text)
        texts = [TextsToCount(**fields_of_text) for fields_of_text in values.pop("texts")]
        return cls(texts, Recipe.from_json(values.pop("recipe")), **values)

    def corpus(self) -> Corpus:
        return corpus_of(self.texts)


@dataclass(frozen=True)
class CountStatus:
    output: str
    state: State = "starting"
    stage: str = ""
    done: int = 0
    total: int | None = None
    unit: str = "bytes"
    dashboard: str = ""  # the page on which a cluster shows its work
    sentence: str = ""  # the path of the result

    @classmethod
    def of(cls, path: Path) -> CountStatus:
        """Read the status from a file. Fields that other versions write into the file are ignored."""
        values = json.loads(path.read_bytes())
        return cls(**{field.name: values[field.name] for field in fields(cls)})

    @property
    def is_under_way(self) -> bool:
        return self.state in UNDER_WAY


def start_count(order: Order, folder: Path) -> Path:
    """Start a count in a separate process. Return the path of the file in `folder` that shows the state of the count.

    `folder` must be a private folder.
    """
    path = folder / f"{time.strftime('%Y%m%d-%H%M%S')}-{secrets.token_hex(4)}{ENDING}"
    try:
        private_folder(folder)
        _write(path, CountStatus(order.output))
        # -P: a file named like one of our modules in the user's folder must not be imported.
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "bpe_core.counting.background", str(path)],
            env={
                **os.environ,
                "PYTHONPATH": os.pathsep.join(place for place in sys.path if place),
            },
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # closing the terminal does not end it
            creationflags=getattr(subprocess, "DETACHED_PROCESS", 0),
        )
        _begun.append(process)
        assert process.stdin is not None  # standard input is a pipe
        with process.stdin:
            process.stdin.write(order.to_json().encode())
    except OSError as error:
        raise OutputError(f"Counting could not start: {cause_of(error)}.") from error
    return path


def counts_in(folder: Path) -> dict[Path, CountStatus]:
    """Return a dictionary from the path of each status file in a folder to its status, the newest count first."""
    _begun[:] = [process for process in _begun if process.poll() is None]
    status_of_path = {}
    with suppress(OSError):
        if folder.is_dir() and private_folder(folder):
            for path in sorted(folder.glob(f"*{ENDING}"), reverse=True):
                if (status := _read(path)) is not None:
                    status_of_path[path] = status
    return status_of_path


def stop_count(path: Path) -> None:
    """Ask a process that counts words to stop. The process keeps the counts of the parts that it has finished.

    `path` is the status file of the process.
    """
    with suppress(OSError):
        path.with_suffix(".stop").touch()


def remove_count(path: Path) -> None:
    """Remove the status file `path` of a process that counts words. The file with the counted words stays."""
    for ending in (".stop", ENDING):
        with suppress(OSError):
            path.with_suffix(ending).unlink(missing_ok=True)


def _read(path: Path) -> CountStatus | None:
    try:
        status = CountStatus.of(path)
        if not status.is_under_way or _is_held(path) or _may_still_start(path, status):
            return status
        status = CountStatus.of(path)  # it may have ended in the meantime
    except (OSError, ValueError, TypeError, KeyError):
        return None
    return replace(status, state="failed", sentence=GONE) if status.is_under_way else status


def _is_held(path: Path) -> bool:
    try:
        lock = Lock.of_existing(path.with_suffix(".lock"))
    except OSError:
        return True  # a file system without locks
    if lock is not None:
        lock.release()
    return lock is None and path.with_suffix(".lock").exists()


def _may_still_start(path: Path, status: CountStatus) -> bool:
    return status.state == "starting" and time.time() - path.stat().st_mtime < SECONDS_TO_START


def _write(path: Path, status: CountStatus) -> None:
    with write_atomically(path) as file:
        file.write(json.dumps(asdict(status)).encode())


# -- In the separate process ---------------------------------------------------------------


class _Reporter:
    """A reporter that writes the progress of the count into the file that shows the state of the count.

    There is a pause between two reports of progress.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.status = CountStatus.of(path)
        self._written = 0.0

    def write(self, **news: Any) -> None:
        self.status = replace(self.status, **news)
        self._written = time.monotonic()
        with suppress(OutputError):  # the work goes on even if the status cannot be written
            _write(self.path, self.status)

    def report(self, progress: Progress) -> None:
        if time.monotonic() - self._written >= SECONDS_BETWEEN_REPORTS:
            stage = progress.stage
            done = progress.done
            self.write(state="counting", stage=stage, done=done, total=progress.total, unit=progress.unit)

    def cancelled(self) -> bool:
        return self.path.with_suffix(".stop").exists()


def count_apart(path: Path, order: Order) -> None:
    lock = Lock.acquire(path.with_suffix(".lock"))
    if lock is None:
        return
    reporter = _Reporter(path)
    try:
        corpus = order.corpus()
        with reserve(order.output):
            written = _counted_texts(order, corpus, reporter)
        files = "" if written.files == 1 else f", in {written.files} files"
        odd = "".join(f" {skipped}." for skipped in corpus.skipped[:MOST_REPORTED])
        sentence = f"Counted {count_text(written.total, 'word')}, {written.words:,} of them different{files}.{odd}"
        reporter.write(state="done", sentence=sentence, dashboard="")
    except Cancelled:
        reporter.write(state="stopped", sentence=STOPPED, dashboard="")
    except BpeError as error:
        reporter.write(state="failed", sentence=str(error), dashboard="")
    except BaseException as error:
        sentence = f"Counting failed: {plain(str(error) or type(error).__name__)[:200]}"
        reporter.write(state="failed", sentence=sentence, dashboard="")
        raise
    finally:
        lock.release()


def _counted_texts(order: Order, corpus: Corpus, reporter: _Reporter) -> WrittenCounts:
    if not order.texts:
        raise CorpusError("There is no text to count.")
    counting = CountingOrder(order.output, memory=order.memory)
    watched = Work(reporter.report, reporter.cancelled)
    if not order.on:
        return count_to_file(corpus, order.recipe, counting, watched)
    from bpe_core.counting.on_cluster import PIECE_SIZE, count_on_cluster  # few counts need it
    from bpe_core.support.cluster import cluster

    with cluster(order.on, order.workers, order.memory) as client:
        reporter.write(state="counting", dashboard=client.dashboard_link or "")
        return count_on_cluster(corpus, order.recipe, replace(counting, piece_size=PIECE_SIZE), client, watched)


if __name__ == "__main__":
    count_apart(Path(sys.argv[1]), Order.from_json(sys.stdin.read()))
