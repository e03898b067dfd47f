"""The command `python -m tests.benchmarks [TEXT ...]`, which `--help` explains."""

from __future__ import annotations

import argparse
import importlib.util
import os
import platform
import sys
import sysconfig
import tempfile
from importlib import metadata
from itertools import product
from pathlib import Path

from tests.benchmarks import encode_table, many_languages
from tests.benchmarks.cold import measure_cold
from tests.benchmarks.jobs import JOBS, Task
from tests.benchmarks.kinds import make_kinds
from tests.benchmarks.measure import measure
from tests.benchmarks.peers import OURS, PEERS, BpeExplorer
from tests.benchmarks.report import Results, table
from tests.benchmarks.texts import HELD_OUT, LANGUAGES, default_text, existing_text
from tests.benchmarks.vocabulary import Vocabulary
from tests.shared import SHARED

SHORT_TEXT = SHARED / "data/raven.txt"
GPT2_FILE = SHARED / "data/gpt2/vocab.bpe"
VOCABULARY_SIZE = 32_000
ENCODE, KINDS = "encode", "encode-kinds"  # the jobs with a table of their own
MOST_CODE = 10_000_000  # characters


def main() -> int:
    options = _options()
    texts = [existing_text(text) for text in options.texts or [None]]
    text = texts[0]
    present = [name for name in options.peers if _is_installed(name)]
    _introduce(text, options)
    if options.cold:
        return 0 if measure_cold(text, options.rounds) else 1
    sound = True
    with tempfile.TemporaryDirectory() as folder:
        vocabulary = Path(folder) / "vocabulary.json"
        if any(job not in (ENCODE, KINDS) and not JOBS[job].trains and not JOBS[job].only_ours for job in options.only):
            _make_vocabulary(options.vocabulary or default_text(HELD_OUT)).save(vocabulary)
        sizes = {
            "train": options.sizes,
            "train-languages": options.sizes[-1:],
            "unsplit": [options.unsplit],
            "wordpiece": options.sizes[-1:],
        }
        for job in options.only:
            if job == ENCODE:
                sound &= _encode(texts if options.texts else [text, *_other_kinds(Path(folder))], options, Path(folder))
                continue
            if job == KINDS:
                sound &= _encode_kinds(
                    texts if options.texts else [text, default_text(LANGUAGES)], options, Path(folder)
                )
                continue
            for path in _texts_for(job, text, Path(folder)):
                for size in sizes.get(job, [0]):
                    sound &= _run_job(job, path, size, vocabulary, present, options)
    return 0 if sound else 1


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks",
        description="Measure the engine beside other libraries: each measurement in a fresh process, rounds "
        "interleaved. Import and warm-up are not timed but shown as start-up. The exit code is 1 where results "
        "differ that should not.",
    )
    parser.add_argument(
        "texts",
        nargs="*",
        type=Path,
        metavar="TEXT",
        help="the text to train on; `encode` and `encode-kinds` take all texts",
    )
    jobs = [*JOBS, ENCODE, KINDS]
    parser.add_argument("--only", nargs="+", choices=jobs, default=jobs, metavar="JOB", help=", ".join(jobs))
    parser.add_argument("--sizes", nargs="+", type=int, default=[2_000, 32_000], help="vocabulary sizes for `train`")
    parser.add_argument("--unsplit", type=int, default=10_000, metavar="N", help="merges for `unsplit`")
    parser.add_argument("--rounds", type=int, default=3, help="how often each is measured; medians are shown")
    parser.add_argument("--peers", nargs="+", choices=PEERS, default=list(PEERS), metavar="NAME", help=", ".join(PEERS))
    parser.add_argument("--cold", action="store_true", help="whole processes instead, and the first run ever")
    parser.add_argument("--timeout", type=float, default=3_600, help="seconds a single measurement may take")
    parser.add_argument(
        "--vocabulary",
        help="what to encode with: a text to train on first (another than the one encoded), or `gpt2`; for `encode` "
        "also a .tiktoken file",
    )
    parser.add_argument(
        "--pattern",
        nargs="+",
        default=["gpt2"],
        help="the patterns of the tables that `encode` trains: names, or regular expressions of one's own",
    )
    parser.add_argument(
        "--tokens", nargs="+", type=int, default=[VOCABULARY_SIZE], metavar="N", help="the sizes of those tables"
    )
    parser.add_argument(
        "--batch", type=int, default=0, metavar="MB", help="repeat the texts of `encode` in a batch of this size"
    )
    return parser.parse_args()


def _is_installed(name: str) -> bool:
    return importlib.util.find_spec(PEERS[name].package) is not None


def _introduce(text: Path, options: argparse.Namespace) -> None:
    print(
        f"{text.name}: {text.stat().st_size / 1e6:,.1f} MB; {os.cpu_count()} cores; Python {platform.python_version()}"
    )
    for name in options.peers:
        if not _is_installed(name):
            print(f"  {name}: not installed")
        elif name != OURS:
            print(f"  {name} {metadata.version(name)}")


def _make_vocabulary(source: Path | str) -> Vocabulary:
    """Return the vocabulary with which all libraries encode.

    It is the vocabulary of GPT-2, or a vocabulary that is learned from the text `source`. If pairs have equal counts,
    the pair with the lowest ids is learned first.
    """
    if str(source) == "gpt2":
        return Vocabulary.from_gpt2_file(GPT2_FILE)
    ours = BpeExplorer()
    ours.warm_up()
    recipe = ours.bpe.Recipe.preset("gpt2", vocab_size=VOCABULARY_SIZE, ties="lowest-ids")
    path = Path(source).resolve()
    history = ours.bpe.train(ours.bpe.Corpus.from_files([path]), recipe).history
    print(f"  encoding with {len(history):,} merges learned from {path.name}")
    return Vocabulary(tuple((merge.left, merge.right) for merge in history), path)


def _run_job(
    job: str, text: Path, size: int, vocabulary: Path, present: list[str], options: argparse.Namespace
) -> bool:
    print(f"\n{JOBS[job].title.format(size=size)} ({options.rounds} rounds, medians)", flush=True)
    contestants = JOBS[job].contestants(present)
    results: Results = {contestant: [] for contestant in contestants}
    for turn in range(options.rounds):
        first = turn % len(contestants)  # no peer always comes first
        for name, ties in contestants[first:] + contestants[:first]:
            task = Task(job, name, str(text), size, ties, str(vocabulary))
            results[name, ties].append(measure(task, options.timeout))
    lines, sound = table(results)
    print("\n".join(lines), flush=True)
    return sound


def _encode(texts: list[Path], options: argparse.Namespace, folder: Path) -> bool:
    learned_from = options.vocabulary or default_text(HELD_OUT)
    is_made = learned_from != "gpt2" and not str(learned_from).endswith(".tiktoken")
    wished = list(product(options.pattern, options.tokens))
    sound = True
    for pattern, tokens in wished if is_made else wished[:1]:
        table = encode_table.make_table(learned_from, pattern, tokens, GPT2_FILE, folder)
        peers = filter(_is_installed, options.peers)
        sound &= encode_table.measure_all(texts, table, peers, options.timeout, 1_000_000 * options.batch)
    return sound


def _encode_kinds(texts: list[Path], options: argparse.Namespace, folder: Path) -> bool:
    sound = True
    for kind in make_kinds(Path(options.vocabulary or default_text(HELD_OUT)), folder):
        print(f"\n{kind.title}")
        names = {name for name in kind.libraries if name in options.peers and _is_installed(name)}
        sound &= encode_table.measure_all(texts, kind.table, names, options.timeout)
    return sound


def _texts_for(job: str, text: Path, folder: Path) -> list[Path]:
    if job == "train-languages":
        made = folder / "made-of-many-languages.txt"
        many_languages.make(default_text(LANGUAGES), made)
        return [made]
    return [SHORT_TEXT if job == "command" and SHORT_TEXT.is_file() else text]


def _other_kinds(folder: Path) -> list[Path]:
    """Return the paths of two more texts: C code from Python and its packages, and a text in many languages.

    Empty texts are left out.
    """
    code = folder / "code-in-c.txt"
    if not code.exists():
        places = [Path(sysconfig.get_path(name)) for name in ("include", "purelib")]
        files = [file for place in places for file in sorted(place.rglob("*.[ch]"))]
        once = "".join(file.read_text(encoding="utf-8", errors="replace") for file in files)
        code.write_text(once[:MOST_CODE], encoding="utf-8")
    return [kind for kind in (code, default_text(LANGUAGES)) if kind.stat().st_size]


if __name__ == "__main__":
    sys.exit(main())
