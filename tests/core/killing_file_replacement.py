"""A program that kills a process at any line of the code that replaces several files together.

Usage: python -m tests.core.killing_file_replacement SEED TOTAL

Each try is a forked process that counts the lines of support/atomic.py, journal.py and lock.py, and kills
itself before one of these lines. Then one process reads the files, and another process writes them again.
Some of the reading processes are killed, too. A TOTAL of 0 tries all lines.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType
from typing import Any

from bpe_core.support import atomic, journal, lock
from bpe_core.support.atomic import folder_for, path_to_read, reserve, write_atomically, write_together
from bpe_core.support.journal import complete_all_in

TRACED = {module.__file__ for module in (atomic, journal, lock)}
Files = dict[str, bytes]
MAIN, OTHER = "merges.txt", "vocab.json"


def pair(place: Path, content: bytes) -> None:
    with write_together(place / MAIN, place / OTHER) as files:
        for file in files:
            file.write(content)


def write_three_files(place: Path, content: bytes) -> None:
    (place / "more").mkdir(exist_ok=True)
    with write_together(place / MAIN, place / OTHER, place / "more" / "third.json") as files:
        for file in files:
            file.write(content)


def write_with_manifest(place: Path, content: bytes) -> None:
    with reserve(place / "table.csv", manifest=place / "how.json"):
        with write_atomically(place / "table.csv") as file:
            file.write(content)
        with write_atomically(place / "how.json") as file:
            file.write(content)


def write_folder_with_manifest(place: Path, content: bytes) -> None:
    with reserve(place / "counts", manifest=place / "how.json"):
        with folder_for(place / "counts", replaces=True) as folder:
            (folder / "part").write_bytes(content)
        with write_atomically(place / "how.json") as file:
            file.write(content)


def remove_manifest(place: Path, content: bytes) -> None:
    """Write a result and remove its manifest, as a training that is stopped early does."""
    if content == OLD:
        write_with_manifest(place, content)
    else:
        with reserve(place / "table.csv", manifest=place / "how.json"), write_atomically(place / "table.csv") as file:
            file.write(content)


WRITERS: dict[str, Callable[[Path, bytes], None]] = {
    writer.__name__: writer
    for writer in (pair, write_three_files, write_with_manifest, write_folder_with_manifest, remove_manifest)
}


def visible_files(place: Path) -> Files:
    return {
        path.relative_to(place).as_posix(): path.read_bytes()
        for path in sorted(place.rglob("*"))
        if path.is_file() and not any(part.startswith(".") for part in path.relative_to(place).parts)
    }


def hidden_files(place: Path) -> list[str]:
    return [path.name for path in place.rglob(".*")]


def lines_of(deed: Callable[..., None], *given: Any, stop: int = 0) -> int:
    """Run the function `deed` in a forked process. Return the number of lines that ran.

    If `stop` is not 0, the process kills itself before line number `stop`, and -1 is returned.
    """
    reader, writer = os.pipe()
    child = os.fork()
    if child:
        os.close(writer)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        with os.fdopen(reader) as pipe:
            count = pipe.read()
        if status == -signal.SIGKILL:
            return -1
        assert status == 0, count
        return int(count)
    done = 0

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal done
        if frame.f_code.co_filename not in TRACED:
            return None
        if event == "line":
            done += 1
            if done == stop:
                os.kill(os.getpid(), signal.SIGKILL)
        return trace

    code = 1
    try:
        sys.settrace(trace)
        deed(*given)
        sys.settrace(None)
        os.write(writer, str(done).encode())
        code = 0
    except BaseException as error:
        os.write(writer, repr(error).encode())
    finally:
        os._exit(code)


def read(place: Path, names: Files) -> None:
    for name in reversed([*names]):
        path_to_read(place / name)


def open_folders(place: Path, _: Files) -> None:
    for folder in (place, *(path for path in place.iterdir() if path.is_dir())):
        complete_all_in(folder)


COMERS: Sequence[Callable[[Path, Files], None]] = (read, open_folders)
OLD, CONTENT = b"old", b"new, and longer"
SHARE_OF_KILLED_COMERS = 0.5
# The other files are useless without this file. It is never beside files of the other version.
FIRST = {
    pair.__name__: MAIN,
    write_three_files.__name__: MAIN,
    write_with_manifest.__name__: "how.json",
    write_folder_with_manifest.__name__: "how.json",
    remove_manifest.__name__: "how.json",
}


def broken_files(
    name: str, place: Path, lines: Sequence[int], chosen: random.Random, counts: Counter[str], *, is_over_old: bool
) -> Iterator[str]:
    """Kill a writer in many attempts, each time before a different line in `lines`.

    After each kill, other code reads the files or opens their folder. Yield a message if the files then have neither
    the old nor the new content.
    """
    write, new = WRITERS[name], NEW[name]

    def begin_anew(stop: int) -> int:
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        if is_over_old:
            write(place, OLD)
        return lines_of(write, place, CONTENT, stop=stop)

    for stop in lines:
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        if is_over_old:
            write(place, OLD)
        old = visible_files(place)
        counts["kills"] += begin_anew(stop) == -1
        raw = visible_files(place)
        kind = {"all old": old, "all new": new}
        counts[next((name for name, files in kind.items() if raw == files), "something missing")] += 1
        if len(set(raw.values())) > 1 and FIRST[name] in raw:
            yield f"{name}, line {stop}: {raw} beside each other"
        comes = chosen.choice(COMERS)
        if chosen.random() < SHARE_OF_KILLED_COMERS and (often := lines_of(comes, place, new)) > 1:
            begin_anew(stop)
            counts["kills"] += lines_of(comes, place, new, stop=chosen.randint(1, often)) == -1
        lines_of(comes, place, new)
        after = visible_files(place)
        if after not in (old, new):
            yield f"{name}, line {stop}, {comes.__name__}: {after} from {raw}, with {hidden_files(place)}"
        lines_of(write, place, CONTENT)
        if visible_files(place) != new or hidden_files(place):
            yield f"{name}, line {stop}: the next writer leaves {visible_files(place)}, {hidden_files(place)}"


NEW: dict[str, Files] = {}


def run_attempts(seed: int, total: int) -> tuple[list[str], Counter[str]]:
    chosen, counts, faults_so_far = random.Random(seed), Counter[str](), list[str]()
    with TemporaryDirectory() as folder:
        place = Path(folder, "place")
        cases = [(name, is_over_old) for name in WRITERS for is_over_old in (True, False)]
        for name, is_over_old in cases:
            shutil.rmtree(place, ignore_errors=True)
            place.mkdir()
            if is_over_old or name == "told_no_more":
                WRITERS[name](place, OLD)
            lines = lines_of(WRITERS[name], place, CONTENT)
            NEW[name] = visible_files(place)
            every = range(1, lines + 1)
            wanted = every if not total else sorted(chosen.sample(every, min(lines, total // len(cases))))
            faults_so_far += broken_files(name, place, wanted, chosen, counts, is_over_old=is_over_old)
    return faults_so_far, counts


if __name__ == "__main__":
    problems, summary = run_attempts(int(sys.argv[1]), int(sys.argv[2]))
    sys.stdout.writelines(f"{line}\n" for line in (*problems, str(summary)))
    sys.exit(bool(problems))
