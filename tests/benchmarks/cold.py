"""The measurement of whole processes, from start to end: our commands, and scripts that use other libraries.

The command is `python -m tests.benchmarks --cold`. The files are already in the memory of the system, and compiled
kernels are cached, except in the first run of a new installation. Our merges are compared with the merges of rustbpe,
which has the same tie rule. Our ids are compared with the ids of tiktoken. Other trainers are compared in the
measurements of `train`.
"""

from __future__ import annotations

import importlib.util
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from bpe_core.formats import read_history
from bpe_core.history.token_texts import written
from bpe_core.kernels.readiness import wait_until_ready
from bpe_core.kernels.stored_code import LOCATION
from tests.benchmarks.peers import GPT2

SOURCES = Path(__file__).parents[2]
SIZE = 8_000
MEGABYTES = (1, 10)
MERGES = "merges.csv"
OURS = (sys.executable, "-m", "bpe_core")
COMMANDS = (
    *("--help", "presets", "doctor", "train --help", "words low lower lowest"),
    *("decode --merges {table} 116 104 101", "encode --merges {table} low", "why low --merges {table}"),
    *("ties --merges {table}", "verify {table}", "sizes --merges {table} --corpus {text}"),
)
# The least time of any program that loads NumPy as we do.
LEAST = "import os; os.environ['OPENBLAS_NUM_THREADS'] = '1'; import argparse, numpy"
SMALL = 30_000  # bytes of the text for these commands
# The shortest script that trains with each library.
SCRIPTS = {
    "rustbpe": "import rustbpe, sys; tokenizer = rustbpe.Tokenizer(); "
    f"tokenizer.train_from_iterator([open(sys.argv[1], encoding='utf-8').read()], int(sys.argv[2]), pattern={GPT2!r})",
    "tokenizers": "import sys; from tokenizers import Tokenizer, models, pre_tokenizers, trainers; "
    "tokenizer = Tokenizer(models.BPE()); tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False); "
    "tokenizer.train([sys.argv[1]], trainers.BpeTrainer(vocab_size=int(sys.argv[2]), show_progress=False, "
    "initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))",
    "sentencepiece": "import sentencepiece, sys; sentencepiece.SentencePieceTrainer.train(input=sys.argv[1], "
    "model_prefix=sys.argv[3], vocab_size=int(sys.argv[2]), model_type='bpe', minloglevel=2)",
}
# Prints the merges of one of them, for comparison.
TELLING = "; ranked = sorted(tokenizer.get_mergeable_ranks(), key=lambda one: one[1]); print(*(bytes(token).hex() for "
TELLING += "token, _ in ranked[256:]))"
ENCODING = (
    "import os, sys; os.environ['TIKTOKEN_CACHE_DIR'] = ''; import tiktoken; from tiktoken.load import "
    "load_tiktoken_bpe; encoding = tiktoken.Encoding('ours', pat_str=sys.argv[4], mergeable_ranks="
    "load_tiktoken_bpe(sys.argv[2]), special_tokens={}); encoding.encode_to_numpy(open(sys.argv[1], "
    "encoding='utf-8').read(), disallowed_special=()).tofile(sys.argv[3])"
)


def measure_cold(text: Path, rounds: int) -> bool:
    """Print a line for each kind of process, and return False if merges or ids differ.

    A line has the median wall time, the median CPU time, and the ratios to the fastest other library.
    """
    sound = True
    if not wait_until_ready(600):
        sys.exit("The kernels could not be compiled.")
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        print(f"\nwhole processes ({rounds} rounds, medians; seconds of wall and of processor time)")
        data = text.read_bytes()
        small, table = place / "small.txt", place / "merges.csv"
        small.write_text(data[:SMALL].decode(errors="ignore"), encoding="utf-8")
        _once([*OURS, "train", str(small), "--vocab-size", "800", "--output", str(table), "--quiet"], os.environ)
        commands = {command: [*OURS, *command.format(table=table, text=small).split()] for command in COMMANDS}
        least = {"Python importing argparse and NumPy": [sys.executable, "-c", LEAST]}
        for label, (wall, busy) in _timed({**least, **commands}, rounds).items():
            print(f"  {label:<50} {wall:6.3f} {busy:6.3f}", flush=True)
        for size in MEGABYTES:
            part = place / f"{size}.txt"
            part.write_bytes((data * (1 + size * 1_000_000 // len(data)))[: size * 1_000_000])
            part.write_text(part.read_text(encoding="utf-8", errors="ignore"), encoding="utf-8")
            sound &= _measure_training(part, size, place, rounds)
            sound &= _measure_encoding(part, size, place, rounds)
        _measure_first_run(place / f"{MEGABYTES[-1]}.txt", place)
    return sound


def _measure_training(part: Path, size: int, place: Path, rounds: int) -> bool:
    contestants = {"bpe-explorer": _ours(part, place)}
    for name, script in SCRIPTS.items():
        if importlib.util.find_spec(name) is not None:
            contestants[name] = [sys.executable, "-c", script, str(part), str(SIZE), str(place / "other")]
    _print_times(f"train {size} MB to {SIZE:,}", contestants, rounds)
    if "rustbpe" not in contestants:
        return True
    *command, script, text, wanted, other = contestants["rustbpe"]
    done = subprocess.run(
        [*command, script + TELLING, text, wanted, other], check=True, stdout=subprocess.PIPE, text=True
    )
    learned = written(read_history(place / MERGES))[256:]
    return _print_equality("merges as rustbpe's", done.stdout.split() == [token.hex() for token in learned])


def _measure_encoding(part: Path, size: int, place: Path, rounds: int) -> bool:
    """Measure how long programs take to encode a text, each with the merges that this program learned before.

    Return False if the programs give different ids.
    """
    ids, others, ranks = place / "ids.npy", place / "ids.bin", place / "ranks.tiktoken"
    export = ["export", "--merges", str(place / MERGES), str(ranks)]
    subprocess.run([*OURS, *export], check=True, stdout=subprocess.DEVNULL)
    encode = ["encode", str(part), "--merges", str(place / MERGES), "--output", str(ids)]
    contestants = {"bpe-explorer": [*OURS, *encode]}
    if importlib.util.find_spec("tiktoken") is not None:
        contestants["tiktoken"] = [sys.executable, "-c", ENCODING, str(part), str(ranks), str(others), GPT2]
    _print_times(f"encode {size} MB", contestants, rounds)
    if "tiktoken" not in contestants:
        return True
    return _print_equality("ids as tiktoken's", np.array_equal(np.load(ids), np.fromfile(others, np.uint32)))


def _print_times(what: str, contestants: Mapping[str, Sequence[str]], rounds: int) -> None:
    times = _timed(contestants, rounds)
    fastest = min(wall for name, (wall, _) in times.items() if name != "bpe-explorer" or len(times) == 1)
    for name, (wall, busy) in times.items():
        title = f"{what}: {name}"
        print(f"  {title:<50} {wall:6.2f} {busy:6.2f}   {wall / fastest:5.2f} of the fastest other", flush=True)


def _print_equality(what: str, are_equal: bool) -> bool:
    print(f"  {what}: {'equal' if are_equal else 'NOT EQUAL'}", flush=True)
    return are_equal


def _measure_first_run(part: Path, place: Path) -> None:
    """Print how long the first command takes after an installation, with and without installed machine code.

    There is no user folder, so no cache from earlier runs exists.
    """
    installed = place / "installed"
    command = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", str(installed), str(SOURCES)]
    began = time.perf_counter()
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode:
        print(f"  it could not be installed: {(done.stderr.splitlines() or ['no word of why'])[-1]}")
    else:
        print(f"  installed in {time.perf_counter() - began:.0f} s, with machine code that was there")
        home = {"HOME": str(place / "home"), "XDG_CACHE_HOME": str(place / "none"), "PYTHONPATH": str(installed)}
        _print_first_and_second("as installed", part, place, {**os.environ, **home}, cwd=installed)
    cache = place / "cache"
    cache.mkdir(mode=0o700)
    environment = {**os.environ, LOCATION: str(cache)}
    _print_first_and_second("without machine code", part, place, environment, cwd=SOURCES)
    kept = sum(file.stat().st_size for file in cache.rglob("*") if file.is_file())
    print(f"  which takes {kept / 1e6:.1f} MB")


def _print_first_and_second(what: str, part: Path, place: Path, environment: dict[str, str], cwd: Path) -> None:
    began = time.perf_counter()
    first, _ = _once(_ours(part, place), environment, cwd)
    subprocess.run(
        [sys.executable, "-m", "bpe_core.compiler"], env=environment, cwd=cwd, check=True
    )  # waits for others
    made = time.perf_counter() - began
    second, _ = _once(_ours(part, place), environment, cwd)
    times = f"{first:.2f} s, the second {second:.2f} s: {first / second:.1f} times"
    print(f"  the first run ever, {MEGABYTES[-1]} MB, {what}: {times}; machine code after {made:.0f} s", flush=True)


def _ours(part: Path, place: Path) -> list[str]:
    rules = ["--pattern", "gpt2", "--ties", "lowest-ids", "--min-frequency", "1"]
    return [*OURS, "train", str(part), "--vocab-size", str(SIZE), *rules, "--output", str(place / MERGES), "--quiet"]


def _timed(commands: Mapping[str, Sequence[str]], rounds: int) -> dict[str, tuple[float, float]]:
    """Run the commands in turn several times, and return the median wall and processor seconds of each.

    Because they run in turn, a slow minute of the machine affects all commands equally. The first round only loads
    files into memory and is not counted.
    """
    measured = [{label: _once(command, os.environ) for label, command in commands.items()} for _ in range(rounds + 1)][
        1:
    ]
    walls, busy = (
        {label: statistics.median(times[label][part] for times in measured) for label in commands} for part in (0, 1)
    )
    return {label: (walls[label], busy[label]) for label in commands}


def _once(command: Sequence[str], environment: Mapping[str, str], cwd: Path | None = None) -> tuple[float, float]:
    before, began = os.times(), time.perf_counter()
    subprocess.run(command, env=environment, cwd=cwd, check=True, stdout=subprocess.DEVNULL)
    wall, after = time.perf_counter() - began, os.times()
    return wall, after.children_user - before.children_user + after.children_system - before.children_system
