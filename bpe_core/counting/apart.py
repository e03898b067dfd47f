"""A count in a process of its own, which goes on when whoever began it is gone; a file tells how it stands.

Whoever begins a count keeps the path of that file, or finds it again in its folder. The process holds a lock beside
it as long as it lives, so that one that was killed is known to be gone; a further file beside it asks it to stop.
"""

from __future__ import annotations

import json
import os
import secrets
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, field, replace
from pathlib import Path
from typing import Any, Literal

from bpe_core.atomic import write_atomically
from bpe_core.counting.to_files import CountingOrder, Written, count_to_file
from bpe_core.errors import BpeError, Cancelled, CorpusError, OutputError, cause_of, plain
from bpe_core.lock import Lock
from bpe_core.private_folder import private_folder
from bpe_core.progress import Progress
from bpe_core.recipe import Recipe
from bpe_core.records import dataclass
from bpe_core.text.corpus import Corpus

State = Literal["starting", "counting", "done", "stopped", "failed"]
UNDER_WAY = ("starting", "counting")
ENDING = ".json"
SECONDS_BETWEEN_REPORTS = 0.3
MOST_TOLD = 5  # things that were odd about the texts
SECONDS_TO_START = 30  # after which one that does not hold its lock is gone
GONE = "It ended without a word; perhaps it was killed. Begin the same again, and it goes on from there."
STOPPED = "Stopped. Begin the same again, and it goes on with the texts that are not counted yet."

_begun: list[subprocess.Popen[bytes]] = []  # those of this process, to be laid to rest when they end


@dataclass(frozen=True)
class TextsToCount:
    """A file, an address or a text, as `Corpus.from_files` and `from_texts` read it."""

    place: str = ""
    text: str | None = field(default=None, repr=False)
    group: str = ""
    choices: dict[str, Any] = field(default_factory=dict)  # how a file is read

    def corpus(self) -> Corpus:
        if self.text is not None:
            return Corpus.from_texts([self.text])
        return Corpus.from_files([self.place], **self.choices)


@dataclass(frozen=True)
class Order:
    """What is to be counted, how, by whom and where to."""

    texts: Sequence[TextsToCount]
    recipe: Recipe
    output: str
    on: str = ""  # `local`, the address of a scheduler, or nothing: by our own threads
    workers: int | None = None  # of `local`
    memory: int | None = None

    def to_json(self) -> str:
        values = asdict(replace(self, texts=()))
        values |= {"texts": [asdict(one) for one in self.texts], "recipe": self.recipe.to_json()}
        return json.dumps(values)

    @classmethod
    def from_json(cls, text: str) -> Order:
        values = json.loads(text)
        texts = [TextsToCount(**one) for one in values.pop("texts")]
        return cls(texts, Recipe.from_json(values.pop("recipe")), **values)

    def corpus(self) -> Corpus:
        """The texts, group by group."""
        groups = dict.fromkeys(one.group for one in self.texts)
        parts = {
            name: Corpus.joined([one.corpus() for one in self.texts if one.group == name], twice=True)
            for name in groups
        }
        return Corpus.grouped(parts, twice=True)


@dataclass(frozen=True)
class Standing:
    """How a count stands."""

    output: str
    on: str = ""
    state: State = "starting"
    stage: str = ""
    done: int = 0
    total: int | None = None
    unit: str = "bytes"
    dashboard: str = ""  # where a cluster shows what it does
    sentence: str = ""  # what came of it
    began: float = 0.0  # seconds since 1970

    @property
    def is_under_way(self) -> bool:
        return self.state in UNDER_WAY


def begin(order: Order, folder: Path) -> Path:
    """Begin a count; its file, in that folder of the person's own, tells how it stands."""
    path = folder / f"{time.strftime('%Y%m%d-%H%M%S')}-{secrets.token_hex(4)}{ENDING}"
    try:
        private_folder(folder)
        _write(path, Standing(order.output, order.on, began=time.time()))
        # -P: a file named like one of our modules in the person's folder must not be imported.
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "bpe_core.counting.apart", str(path)],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(one for one in sys.path if one)},
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # closing the terminal does not end it
            creationflags=getattr(subprocess, "DETACHED_PROCESS", 0),
        )
        _begun.append(process)
        assert process.stdin is not None  # it is a pipe
        with process.stdin:
            process.stdin.write(order.to_json().encode())
    except OSError as error:
        raise OutputError(f"The count could not be begun: {cause_of(error)}.") from error
    return path


def standings(folder: Path) -> dict[Path, Standing]:
    """All counts that a folder knows of, the newest first."""
    _begun[:] = [process for process in _begun if process.poll() is None]
    found = {}
    with suppress(OSError):
        if folder.is_dir() and private_folder(folder):
            for path in sorted(folder.glob(f"*{ENDING}"), reverse=True):
                if (standing := _read(path)) is not None:
                    found[path] = standing
    return found


def stop(path: Path) -> None:
    """Ask it to stop; what is counted is kept."""
    with suppress(OSError):
        path.with_suffix(".stop").touch()


def forget(path: Path) -> None:
    """Know nothing of it any more; its result stays where it is."""
    for ending in (".stop", ENDING):
        with suppress(OSError):
            path.with_suffix(ending).unlink(missing_ok=True)


def _read(path: Path) -> Standing | None:
    try:
        standing = Standing(**json.loads(path.read_bytes()))
        if not standing.is_under_way or _is_held(path) or _may_still_start(path, standing):
            return standing
        standing = Standing(**json.loads(path.read_bytes()))  # it may have ended in between
    except (OSError, ValueError, TypeError):
        return None
    return replace(standing, state="failed", sentence=GONE) if standing.is_under_way else standing


def _is_held(path: Path) -> bool:
    try:
        lock = Lock.of_existing(path.with_suffix(".lock"))
    except OSError:
        return True  # a file system that knows no locks
    if lock is not None:
        lock.release()
    return lock is None and path.with_suffix(".lock").exists()


def _may_still_start(path: Path, standing: Standing) -> bool:
    return standing.state == "starting" and time.time() - path.stat().st_mtime < SECONDS_TO_START


def _write(path: Path, standing: Standing) -> None:
    with write_atomically(path) as file:
        file.write(json.dumps(asdict(standing)).encode())


# -- In the process of its own -------------------------------------------------------------


class _Teller:
    """Writes how it stands, not too often."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.standing = Standing(**json.loads(path.read_bytes()))
        self._told = 0.0

    def tell(self, **news: Any) -> None:
        self.standing, self._told = replace(self.standing, **news), time.monotonic()
        with suppress(OutputError):  # the work goes on, whoever hears of it
            _write(self.path, self.standing)

    def report(self, progress: Progress) -> None:
        if time.monotonic() - self._told >= SECONDS_BETWEEN_REPORTS:
            stage, done = progress.stage, progress.done
            self.tell(state="counting", stage=stage, done=done, total=progress.total, unit=progress.unit)

    def cancelled(self) -> bool:
        return self.path.with_suffix(".stop").exists()


def count_apart(path: Path, order: Order) -> None:
    """Count, and let the file tell how it stands to the end."""
    lock = Lock.acquire(path.with_suffix(".lock"))
    if lock is None:
        return
    teller = _Teller(path)
    try:
        corpus = order.corpus()
        written = _counted(order, corpus, teller)
        files = "" if written.files == 1 else f", in {written.files} files"
        odd = "".join(f" {skipped}." for skipped in corpus.skipped[:MOST_TOLD])
        told = f"Counted {written.total:,} words, {written.words:,} of them different{files}.{odd}"
        teller.tell(state="done", sentence=told, dashboard="")
    except Cancelled:
        teller.tell(state="stopped", sentence=STOPPED, dashboard="")
    except BpeError as error:
        teller.tell(state="failed", sentence=str(error), dashboard="")
    except BaseException as error:
        told = f"The count failed: {plain(str(error) or type(error).__name__)[:200]}"
        teller.tell(state="failed", sentence=told, dashboard="")
        raise
    finally:
        lock.release()


def _counted(order: Order, corpus: Corpus, teller: _Teller) -> Written:
    if not order.texts:
        raise CorpusError("There is no text to count.")
    counting = CountingOrder(order.output, memory=order.memory)
    if not order.on:
        return count_to_file(corpus, order.recipe, counting, progress=teller.report, cancelled=teller.cancelled)
    from bpe_core.counting.on_cluster import PIECE_SIZE, cluster, count_on_cluster  # Dask takes a while to load

    with cluster(order.on, order.workers, order.memory) as client:
        teller.tell(state="counting", dashboard=client.dashboard_link or "")
        return count_on_cluster(
            corpus,
            order.recipe,
            replace(counting, piece_size=PIECE_SIZE),
            client,
            progress=teller.report,
            cancelled=teller.cancelled,
        )


if __name__ == "__main__":
    count_apart(Path(sys.argv[1]), Order.from_json(sys.stdin.read()))
