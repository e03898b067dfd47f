"""The test that kills every command that writes files, at any moment.

Older files must stay complete, and a second run must end normally.

    python -m tests.e2e.killing_commands SEED TOTAL [CASE ...]

An attempt starts a command and interrupts it. Half of the attempts kill the command at a random moment,
mostly a late moment. The other half kill it before it opens a file for writing, renames a file or removes a
file. Some attempts interrupt the command in another way: they send a signal that asks it to stop, close the
pipe that it writes to, or fill the disk. Such a signal comes at a random moment, or before the command changes
a file. The command runs in a fork of this process, so that it need not load any modules. Its folder contains
`in/` and `out/`. Before an attempt, `out/` is empty or has the result of the same command for different texts.
"""

from __future__ import annotations

import gc
import os
import random
import re
import resource
import shlex
import shutil
import signal
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from app.__main__ import main
from bpe_core.command_line.commands import COMMANDS
from bpe_core.command_line.commands.repeat import OF_MAKING, TAKEN
from bpe_core.command_line.parser import command_named
from bpe_core.counting import to_files
from bpe_core.kernels import stored_code
from bpe_core.methods.kit import encode_documents
from bpe_core.support.data_table import is_data, read_plainly
from bpe_core.support.journal import complete_all_in
from bpe_core.sweep import runs_in_session
from bpe_core.verification import sampling
from tests.shared import text_of

PLAN = """\
sizes = [280, 300]
seeds = [1, 2]
sample = "50%"
sample_of = "lines"
[corpora]
book = ["text.txt"]
[recipes.bytes]
preset = "gpt2"
"""
INPUTS = (
    "train in/text.txt --merges 60 -o in/merges.csv",
    "train in/other.txt --merges 40 -o in/second.csv",
    "train in/text.txt --preset sentencepiece-like --merges 60 -o in/characters.csv",
    "train in/text.txt --merges 60 -o in/run.bpex",
    "train in/text.txt --method wordpiece --merges 60 -o in/words.bpex",
    "export --merges in/merges.csv in/tokenizer.json",
    "export --merges in/merges.csv in/folder/ --chat-template in/chat.jinja",
    "compress in/text.txt -o in/packed.gage",
    "count in/text.txt -o in/counts.parquet",
)
GIVEN = {"in/text.txt", "in/other.txt", "in/chat.jinja", "in/plan.toml"}  # no command makes them
CASES = {
    "train csv": "train in/text.txt --merges 80 -o out/table.csv",
    "train json": "train in/text.txt --merges 80 -o out/table.json",
    "train session": "train in/text.txt --merges 80 -o out/run.bpex",
    "train unigram": "train in/text.txt --method unigram --vocab-size 200 -o out/run.bpex",
    "train manifest": "train in/text.txt --merges 80 -o out/table.csv --manifest out/how.json",
    "count": "count in/text.txt in/other.txt -o out/counts.parquet",
    "count in pieces": "count in/text.txt in/other.txt --memory 200MB --piece-size 2000 -o out/counts.parquet",
    "count to a folder": "count in/text.txt in/other.txt --partition-size 4000 --piece-size 2000 -o out/counts",
    "count list": "count in/counts.parquet --list out/words.csv",
    "encode npy": "encode --merges in/merges.csv in/text.txt --output out/ids.npy",
    "encode bin": "encode --merges in/merges.csv in/text.txt --output out/ids.bin",
    "encode documents": (
        "encode --documents in/text.txt in/other.txt --merges in/merges.csv --shard-size 900 -o out/ids"
    ),
    "encode documents bin": (
        "encode --documents in/text.txt in/other.txt --merges in/merges.csv --shards bin --eos 1 -o out/ids "
        "--manifest out/how.json"
    ),
    "export csv": "export --merges in/merges.csv out/table.csv",
    "export parquet": "export --merges in/merges.csv out/table.parquet",
    "export tokenizer.json": "export --merges in/merges.csv out/tokenizer.json",
    "export pair": "export --merges in/merges.csv out/merges.txt",
    "export tiktoken": "export --merges in/merges.csv out/ranks.tiktoken",
    "export sentencepiece": "export --merges in/characters.csv out/table.spm.model",
    "export vocab.txt": "export --merges in/words.bpex out/vocab.txt",
    "export folder": "export --merges in/merges.csv out/delivered/ --chat-template in/chat.jinja",
    "convert": "convert in/tokenizer.json out/table.tsv",
    "convert to a pair": "convert in/tokenizer.json out/merges.txt",
    "convert to minbpe": "convert in/merges.csv out/table.model --to minbpe --manifest out/how.json",
    "convert to a folder": "convert in/tokenizer.json out/new/ --to tokenizer.json",
    "branch csv": "branch in/run.bpex --forbid e+r@9 -o out/other.csv",
    "branch session": "branch in/run.bpex --forbid e+r@9 -o out/other.bpex",
    "extend": "extend in/tokenizer.json --corpus in/other.txt --by 20 -o out/more.tokenizer.json",
    "extend to a folder": "extend in/tokenizer.json --corpus in/other.txt --by 20 -o out/new/",
    "extend to a pair": "extend in/merges.csv --corpus in/other.txt --by 20 --to merges.txt -o out/new/ --anyway",
    "extend to a session": "extend in/run.bpex --corpus in/other.txt --by 20 -o out/new/",
    "export pair manifest": "export --merges in/merges.csv out/merges.txt --manifest out/how.json",
    "encode manifest": "encode --merges in/merges.csv in/text.txt --output out/ids.npy --manifest out/how.json",
    "count folder manifest": (
        "count in/text.txt in/other.txt --partition-size 4000 --piece-size 2000 -o out/counts --manifest out/how.json"
    ),
    "specials manifest": "specials in/folder --add '<x>' -o out/named/ --manifest out/how.json",
    "export minbpe": "export --merges in/merges.csv --to minbpe out/table.model",
    "extend manifest": "extend in/run.bpex --corpus in/other.txt --by 20 -o out/new.bpex --manifest out/how.json",
    "trim": "trim in/tokenizer.json --least-used 10 --corpus in/text.txt -o out/small.tokenizer.json",
    "trim with a map": (
        "trim in/tokenizer.json --least-used 10 --corpus in/text.txt -o out/small.tokenizer.json --map out/map.npz"
    ),
    "replace": "replace in/tokenizer.json --corpus in/other.txt --swap 5 -o out/new.tokenizer.json",
    "specials": "specials in/tokenizer.json --add '<x>' -o out/named.tokenizer.json",
    "specials of a folder": "specials in/folder --rename '<|pad|>=<x>' -o out/named/",
    "merge": "merge in/merges.csv in/second.csv -o out/both.csv",
    "sweep": "sweep in/plan.toml -o out/results.csv -o out/runs.bpex --summary out/summary.json --threads 1",
    "sweep parquet": "sweep in/plan.toml -o out/results.parquet --threads 2",
    "exercise": "exercise in/text.txt in/other.txt --sizes 280 --write out/class",
    "report": "report in/run.bpex --text 'the lowest price' -o out/report.html",
    "share": "share in/run.bpex in/merges.csv -o out/run.html",
    "film gif": "film in/run.bpex --seconds 2 -o out/film.gif",
    "film png": "film in/run.bpex --seconds 2 -o out/film.png",
    "compress": "compress in/text.txt -o out/text.gage",
    "expand": "expand in/packed.gage -o out/text.txt",
    "pin": "pin in/tokenizer.json -o out/ids.pins.json",
    "chart svg": "ranks in/merges.csv --corpus in/text.txt -o out/ranks.svg",
    "chart csv": "ranks in/merges.csv --corpus in/text.txt -o out/ranks.csv",
    "chart pdf": "ranks in/merges.csv --corpus in/text.txt -o out/ranks.pdf",
    "repeat": "repeat out/how.json --made-by train in/text.txt --merges 60 -o in/merges.csv",
}
BIT_BY_BIT = ("sweep", "sweep parquet")  # what is done is kept
LEARNS = ("train", "branch", "extend")  # what was learned by then is kept where one asks it to stop
LIBRARIES = ("tokenizers", "tiktoken", "sentencepiece", "transformers", "pyarrow.parquet")

DEEDS = ("os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.chmod", "sqlite3.connect")
WRITES = os.O_WRONLY | os.O_RDWR
ASKING = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
SECONDS_TO_END = 120  # for processes that a killed one has started, also on a busy machine

Files = dict[str, Any]  # by their places in a folder: what is in them


def begin(
    arguments: str,
    folder: Path,
    *,
    settles: Callable[[], None] = lambda: None,
    stop: int = 0,
    number: int = signal.SIGKILL,
) -> int:
    """Start a command in a separate process, and return the process id.

    The process sends the signal `number` to itself before file operation number `stop`.
    """
    sys.stdout.flush()
    child = os.fork()
    if child:
        return child
    code = 99
    try:
        os.setsid()
        signal.signal(signal.SIGINT, signal.default_int_handler)  # a process in the background ignores Ctrl-C
        os.chdir(folder)
        said = os.open(output_file(folder), os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        for stream in (1, 2):
            os.dup2(said, stream)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        settles()
        sys.stdout, sys.stderr = (os.fdopen(stream, "w", closefd=False) for stream in (1, 2))
        done = counted_deeds(stop, number)
        code = main(shlex.split(arguments))
        sys.stdout.flush()
        deeds_in(folder).write_text(str(done[0]))
    except BaseException:
        traceback.print_exc()
    finally:
        try:
            sys.stderr.flush()
        finally:  # even on a full disk: an error that went on would end what this process has begun, with its folder
            os._exit(code)


def counted_deeds(stop: int, number: int) -> list[int]:
    done = [0]

    def hook(event: str, details: tuple[Any, ...]) -> None:
        if event in DEEDS or (event == "open" and isinstance(details[2], int) and details[2] & WRITES):
            done[0] += 1
            if done[0] == stop:
                os.kill(os.getpid(), number)

    sys.addaudithook(hook)
    return done


def output_file(folder: Path) -> Path:
    return folder.with_suffix(".said")


def deeds_in(folder: Path) -> Path:
    return folder.with_suffix(".deeds")


def end_of(child: int) -> int:
    """Return the exit code of a process. If a signal killed the process, return the negative number of the signal."""
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def write_inputs(arguments: str, folder: Path) -> None:
    code = end_of(begin(arguments, folder))
    assert code == 0, f"{arguments}: {code}, {output_file(folder).read_text()}"


def files_in(folder: Path) -> Files:
    return {str(path.relative_to(folder)): content(path) for path in sorted(folder.rglob("*")) if path.is_file()}


def content(path: Path) -> Any:
    """Return the content of a file without the parts that differ in each run, such as times."""
    ending = path.suffix
    if path.name == "answers.md":  # has seconds in sentences and in a table
        return re.sub(rb"[-\d., |]+", b"", path.read_bytes())
    with suppress(Exception):  # half a table has no columns
        if is_data(path) and TAKEN in (columns := read_plainly(path)):
            return Counter(zip(*(columns[name] for name in columns if name != TAKEN), strict=True))
    made_at, count = OF_MAKING.get(ending, (re.compile(b"$^"), 0))
    return made_at.sub(b"", path.read_bytes(), count=count)


def is_hidden(name: str) -> bool:
    return any(part.startswith(".") for part in Path(name).parts)


def visible_files(files: Files) -> Files:
    """Return the files that a person sees: hidden files and the files of unfinished work are left out."""
    return {name: held for name, held in files.items() if not is_hidden(name) and not is_unfinished(name)}


def is_unfinished(name: str) -> bool:
    """Return whether a file is in a folder with the finished parts of an unfinished result.

    A command can continue its work from these parts.
    """
    return any(f"{working}/" in name for working in (to_files.WORKING, encode_documents.WORKING))


@dataclass
class PreparedCommand:
    """A record of a command that was run once.

    It holds the files before and after the command, and the run time in seconds.
    """

    name: str
    before: Path
    inputs: Files
    old: Files
    new: Files
    seconds: float
    deeds: int

    @property
    def arguments(self) -> str:
        return CASES[self.name]


def inputs_of(cases: Sequence[str]) -> list[str]:
    """Return the commands that make the input files of some cases. Other inputs are not made, to save time."""
    wanted = {word.rstrip("/") for name in cases for word in CASES[name].split()}
    commands: list[str] = []
    for arguments in reversed(INPUTS):  # a command reads only files that the commands before it make
        places = (word.rstrip("/") for word in arguments.split() if word.startswith("in/"))
        *read, made = (place for place in places if place not in GIVEN)
        if made in wanted:
            commands.insert(0, arguments)
            wanted.update(read)
    return commands


class Attempts:
    """The attempts to interrupt commands. All of them use one folder."""

    def __init__(self, place: Path, chosen: random.Random, cases: Sequence[str]) -> None:
        self.place, self.chosen = place, chosen
        self.folder = place / "work"
        self.found: list[str] = []
        self.counts: dict[str, Counter[str]] = {}
        for number, texts in enumerate((("poem", "prose"), ("prose", "latin"))):
            self.begin_anew(None)
            for name, text in zip(("text.txt", "other.txt"), texts, strict=True):
                (self.folder / "in" / name).write_text(text_of(text)[:6_000])
            (self.folder / "in/plan.toml").write_text(PLAN)
            (self.folder / "in/chat.jinja").write_text("{{ messages }}")
            for arguments in inputs_of(cases):
                write_inputs(arguments, self.folder)
            shutil.copytree(self.folder, place / f"{number}")

    def begin_anew(self, before: Path | None) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)
        if before is not None:
            shutil.copytree(before, self.folder)
        for name in ("in", "out"):
            (self.folder / name).mkdir(parents=True, exist_ok=True)

    def prepare(self, name: str, *, is_over_old: bool) -> PreparedCommand:
        """Prepare a command to run with an empty `out/`, or with an older result in `out/`."""
        if is_over_old:
            self.begin_anew(self.place / "0")
            write_inputs(CASES[name], self.folder)
            shutil.rmtree(self.folder / "in")
            shutil.copytree(self.place / "1/in", self.folder / "in")
        else:
            self.begin_anew(self.place / "1")
        before = self.place / f"before {int(is_over_old)}"
        shutil.rmtree(before, ignore_errors=True)
        shutil.copytree(self.folder, before)
        inputs, old = files_in(self.folder / "in"), files_in(self.folder / "out")
        self.begin_anew(before)
        began = time.monotonic()
        write_inputs(CASES[name], self.folder)
        seconds, deeds = time.monotonic() - began, int(deeds_in(self.folder).read_text())
        new = files_in(self.folder / "out")
        if new != visible_files(new):
            self.found.append(f"{name}: leaves {[*new.keys() - visible_files(new).keys()]} by itself")
        if new == old:
            self.found.append(f"{name}: makes the same of other texts, so nothing can be seen")
        return PreparedCommand(name, before, inputs, old, new, seconds, deeds)

    def attempt(self, command: PreparedCommand) -> None:
        self.begin_anew(command.before)
        way = self.chosen.choice(WAYS)
        output_file(self.folder).write_text("")  # who is killed at once says nothing, and not what was said before
        how, child = way(self.chosen, command, self.folder)
        end = end_of(child)
        counts = self.counts.setdefault(command.name, Counter())
        counts.update(["tries", "killed" if end == -signal.SIGKILL else "asked" if end else "ended"])
        about = f"{command.name}{' over an old one' if command.old else ''}, {how}, ended with {end}: "
        self.found += [about + fault for fault in self._faults(command, end, child)]

    def _faults(self, command: PreparedCommand, end: int, child: int) -> Iterator[str]:
        said = output_file(self.folder).read_text(errors="replace")
        if "Traceback" in said:
            yield f"says {said[-600:]}"
        before_it_listens = (-signal.SIGTERM, -signal.SIGHUP)  # in its first milliseconds
        if end not in (0, 1, 129, 130, 141, 143, -signal.SIGKILL, *before_it_listens):
            yield f"ends with {end}"
        if not have_ended(child):
            yield "a process that it started lives on"
        now = files_in(self.folder / "out")
        if end != -signal.SIGKILL and any(map(is_hidden, now)):
            yield f"leaves {[*filter(is_hidden, now)]} although nobody killed it"
        for folder in (self.folder / "out", *filter(Path.is_dir, (self.folder / "out").rglob("*"))):
            complete_all_in(folder)  # as whoever opens them next does
        now = files_in(self.folder / "out")
        yield from mixture_of_old_and_new(command, now, is_asked=end in (129, 130, 143))
        yield from self._again(command)

    def _again(self, command: PreparedCommand) -> Iterator[str]:
        """Run a command once more after it was interrupted.

        Yield a sentence for each difference from the result of a run without an interruption.
        """
        code = end_of(begin(command.arguments, self.folder))
        again = files_in(self.folder / "out")
        if code:
            yield f"the next run ends with {code}: {output_file(self.folder).read_text()[-400:]}"
        elif again != command.new:
            names = sorted(
                name for name in again.keys() | command.new.keys() if again.get(name) != command.new.get(name)
            )
            yield f"the next run ends otherwise: {names}"
        if files_in(self.folder / "in") != command.inputs:
            yield "the inputs are changed"


def mixture_of_old_and_new(command: PreparedCommand, now: Files, *, is_asked: bool) -> Iterator[str]:
    """Yield a sentence for each file that is neither the old file nor the new file.

    In addition, yield a sentence if some files are old and others are new.
    """
    visible = visible_files(now)
    for name in visible.keys() | command.old.keys():
        held, old, new = visible.get(name), command.old.get(name), command.new.get(name)
        if held not in (old, new) and not is_valid_part(command, held, new, is_asked=is_asked):
            yield f"{name} is neither the old one nor the new one"
    may_mix = command.name in BIT_BY_BIT or (is_asked and command.name.startswith(LEARNS))
    if visible not in (command.old, command.new) and not may_mix:
        late = [name for name, new in command.new.items() if visible.get(name) != new]
        yield f"old and new are mixed: {late} are not new"


def is_valid_part(command: PreparedCommand, held: Any, new: Any, *, is_asked: bool) -> bool:
    """Return whether a file is a valid part of a result.

    `held` is the content of the file now, and `new` is its content in the complete result. Examples of valid parts are
    some rows of a sweep, or the first steps of a training run.
    """
    if isinstance(held, Counter):
        return isinstance(new, Counter) and held <= new
    return (is_asked and command.name.startswith(LEARNS)) or (command.name in BIT_BY_BIT and held is not None)


def have_ended(child: int) -> bool:
    until = time.monotonic() + SECONDS_TO_END
    while time.monotonic() < until:
        try:
            os.killpg(child, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.01)
    os.killpg(child, signal.SIGKILL)
    return False


Way = Callable[[random.Random, PreparedCommand, Path], tuple[str, int]]


def at_a_moment(
    chosen: random.Random, command: PreparedCommand, folder: Path, number: int = signal.SIGKILL
) -> tuple[str, int]:
    share = chosen.uniform(chosen.choice([0, 0.85, 0.85]), 1.0)
    child = begin(command.arguments, folder)
    time.sleep(share * command.seconds)
    with suppress(ProcessLookupError):
        os.kill(child, number)
    return f"signal {number} after {share:.0%} of {command.seconds:.2f} s", child


def before_a_deed(chosen: random.Random, command: PreparedCommand, folder: Path) -> tuple[str, int]:
    deed = chosen.randint(1, command.deeds)
    return f"killed before deed {deed} of {command.deeds}", begin(command.arguments, folder, stop=deed)


def asked_to_stop(chosen: random.Random, command: PreparedCommand, folder: Path) -> tuple[str, int]:
    return at_a_moment(chosen, command, folder, chosen.choice(ASKING))


def asked_before_a_deed(chosen: random.Random, command: PreparedCommand, folder: Path) -> tuple[str, int]:
    deed, number = chosen.randint(1, command.deeds), chosen.choice(ASKING)
    child = begin(command.arguments, folder, stop=deed, number=number)
    return f"signal {number} before deed {deed} of {command.deeds}", child


def read_by_nobody(_: random.Random, command: PreparedCommand, folder: Path) -> tuple[str, int]:
    def closed() -> None:
        reader, writer = os.pipe()
        os.close(reader)
        os.dup2(writer, 1)

    return "its print read by nobody", begin(command.arguments, folder, settles=closed)


def on_a_full_disk(chosen: random.Random, command: PreparedCommand, folder: Path) -> tuple[str, int]:
    largest = max(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    room = int(largest * chosen.random())
    limit = (room, resource.getrlimit(resource.RLIMIT_FSIZE)[1])
    return f"with {room:,} bytes for a file", begin(
        command.arguments, folder, settles=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, limit)
    )


WAYS: Sequence[Way] = (
    *[at_a_moment] * 8,
    *[before_a_deed] * 8,
    *[asked_to_stop] * 2,
    *[asked_before_a_deed] * 2,
    read_by_nobody,
    on_a_full_disk,
)


def say(*lines: str) -> None:
    sys.stdout.writelines(f"{line}\n" for line in lines)
    sys.stdout.flush()


def warm_up() -> None:
    """Load all modules that the commands need, so that no attempt spends its time on loading.

    Also let checks read fewer words, and let a sweep save its session after each run.
    """
    os.environ |= {"TOKENIZERS_PARALLELISM": "false", "HF_HUB_OFFLINE": "1", "BPE_EXPLORER_CACHE": "cache"}
    for name in COMMANDS:
        command_named(name)
    for name in LIBRARIES:
        with suppress(ImportError):
            import_module(name)
    sampling.WANTED_WORDS //= 10
    runs_in_session.SECONDS_BETWEEN = runs_in_session.TIMES_THE_WRITING = 0  # after each run
    gc.freeze()


def run_attempts(seed: int, total: int, names: Sequence[str] = ()) -> Attempts:
    """Make `total` attempts to interrupt commands, and return the attempts.

    `names` are the cases to try. By default they are chosen at random. If there are fewer attempts than cases, some
    cases are left out.
    """
    stored_code.pack()  # from the person's own folder; what tries keep is in theirs
    warm_up()
    with TemporaryDirectory(ignore_cleanup_errors=True) as place:
        chosen = random.Random(seed)
        cases = list(names) or chosen.sample([*CASES], min(total, len(CASES)))
        attempts = Attempts(Path(place), chosen, cases)
        for number, name in enumerate(cases):
            turns = total // len(cases) + (number < total % len(cases))
            beginnings = chosen.sample((False, True), 2)[:turns]  # with few attempts, each case begins in one way
            prepared = [attempts.prepare(name, is_over_old=is_over_old) for is_over_old in beginnings]
            for turn in range(turns):
                attempts.attempt(prepared[turn % len(prepared)])
            counts = ", ".join(f"{what} {count}" for what, count in sorted(attempts.counts[name].items()))
            say(f"{name:<24} {counts}")
    return attempts


if __name__ == "__main__":
    outcome = run_attempts(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:])
    say(*outcome.found, str(sum(outcome.counts.values(), Counter())))
    sys.exit(bool(outcome.found))
