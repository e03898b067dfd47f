"""The jobs of the benchmark.

A job is one kind of work, such as training. A process does the job with one library, and measures the time of the main
part.
"""

from __future__ import annotations

import hashlib
import random
import statistics
import string
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from tests.benchmarks import superwords, unigram, wordpiece
from tests.benchmarks.insight import VARIANTS, ask
from tests.benchmarks.peers import OURS, PEERS, BpeExplorer, Encoder, Peer
from tests.benchmarks.stopwatch import Stopwatch
from tests.benchmarks.vocabulary import Vocabulary
from tests.shared import SHARED

LONG_WORD = 100_000  # letters
LONG_WORDS = 5
COMPRESSED = 10_000_000  # bytes


@dataclass(frozen=True)
class Task:
    """The description of a measurement that a process will make."""

    job: str
    peer: str
    text: str
    size: int = 0
    ties: str = ""
    vocabulary: str = ""  # the file that holds it


@dataclass(frozen=True)
class Measurement:
    """The time and memory that a job took, and a fingerprint of its result."""

    wall: float  # seconds
    cpu: float
    peak: int  # peak of resident bytes, with interpreter and library
    start_up: float  # seconds to import and warm up, not part of `wall`
    result: str  # a fingerprint; "" where it cannot be compared
    size: int  # merges learned or ids given


def perform(task: Task) -> Measurement:
    began = time.perf_counter()
    peer = PEERS[task.peer]()
    peer.warm_up()
    start_up = time.perf_counter() - began
    watch, result, size = JOBS[task.job].perform(peer, task)
    return Measurement(watch.wall, watch.cpu, watch.peak, start_up, result, size)


Performed = tuple[Stopwatch, str, int]


def train(peer: Peer, task: Task) -> Performed:
    with Stopwatch() as watch:
        trained = peer.train(Path(task.text), task.size, task.ties)
    tokens = peer.tokens(trained)
    if tokens is None:
        return watch, "", 0
    return watch, _fingerprint(b"".join(len(token).to_bytes(8, "big") + token for token in tokens)), len(tokens)


def train_unsplit(peer: Peer, task: Task) -> Performed:
    assert isinstance(peer, BpeExplorer)  # only we offer it
    recipe = peer.bpe.Recipe.preset("raw-bytes", merges=task.size)
    with Stopwatch() as watch:
        history = peer.bpe.train(peer.bpe.Corpus.from_files([task.text]), recipe)
    return watch, "", len(history)


def compress(peer: Peer, task: Task) -> Performed:
    """Compress a text to a file in memory, and return the time. Check that the file expands to the same text."""
    from bpe_core.methods.gage import container as gage_file

    data = Path(task.text).read_bytes()[:COMPRESSED]
    with Stopwatch() as watch:
        made = gage_file.compress(data)
    assert gage_file.expand(made.data) == data
    return watch, _fingerprint(made.data), len(made.data)


def train_wordpiece(peer: Peer, task: Task) -> Performed:
    train = wordpiece.trainer(peer, task.size, task.ties)
    with Stopwatch() as watch:
        trained = train(Path(task.text))
    return watch, "", wordpiece.size_of(trained)


def encode_wordpiece(peer: Peer, task: Task) -> Performed:
    encode = wordpiece.encoder(peer, SHARED / "data/wikitext2-test.raw.txt")
    encode("low lower lowest")
    text = Path(task.text).read_bytes().decode()
    with Stopwatch() as watch:
        ids = encode(text)
    return watch, _fingerprint_of_ids(peer, ids), len(ids)


def train_unigram(peer: Peer, task: Task) -> Performed:
    train = unigram.trainer(peer)
    with Stopwatch() as watch:
        trained = train(Path(task.text))
    return watch, "", unigram.size_of(trained)


def encode_unigram(peer: Peer, task: Task) -> Performed:
    encode = unigram.encoder(peer, SHARED / "data/wikitext2-test.raw.txt")
    encode("low lower lowest")
    text = Path(task.text).read_bytes().decode()
    with Stopwatch() as watch:
        ids = encode(text)
    return watch, "", len(ids)


def encode_superwords(peer: Peer, task: Task) -> Performed:
    encode = superwords.encoder(peer, task.ties, SHARED / "data/wikitext2-test.raw.txt")
    encode("low lower lowest")
    text = Path(task.text).read_bytes().decode()
    with Stopwatch() as watch:
        ids = encode(text)
    return watch, _fingerprint_of_ids(peer, ids), len(ids)


def encode_repeated_letter(peer: Peer, task: Task) -> Performed:
    return _encode_long_words(peer, task, ["a" * (LONG_WORD + i) for i in range(LONG_WORDS)])


def encode_random_letters(peer: Peer, task: Task) -> Performed:
    letters = random.Random(1)
    words = ["".join(letters.choices(string.ascii_lowercase, k=LONG_WORD)) for _ in range(LONG_WORDS)]
    return _encode_long_words(peer, task, words)


def _encode_long_words(peer: Peer, task: Task, words: list[str]) -> Performed:
    """Encode several long words, and return the median time.

    No word is encoded twice, because a library may cache a word.
    """
    encode = _encoder(peer, task)
    watch = _median_call([partial(encode, word) for word in words[1:]])
    ids = encode(words[0])
    return watch, _fingerprint_of_ids(peer, ids), len(ids)


def _encoder(peer: Peer, task: Task) -> Encoder:
    encode = peer.encoder(Vocabulary.load(Path(task.vocabulary)))
    encode("low lower lowest")
    return encode


def _median_call(calls: list[Callable[[], object]]) -> Stopwatch:
    watches = []
    for call in calls:
        with Stopwatch() as watch:
            call()
        watches.append(watch)
    return Stopwatch(
        wall=statistics.median(watch.wall for watch in watches),
        cpu=statistics.median(watch.cpu for watch in watches),
        peak=max(watch.peak for watch in watches),
    )


def answer(peer: Peer, task: Task) -> Performed:
    return ask(Path(task.text), task.ties), "", 0


def _fingerprint(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:16]


def _fingerprint_of_ids(peer: Peer, ids: object) -> str:
    return "" if peer.has_own_ids else _fingerprint(np.asarray(ids, np.int64).tobytes())


def start_import(peer: Peer, task: Task) -> Performed:
    return _run_program(["-c", "import bpe_core"])


def start_command(peer: Peer, task: Task) -> Performed:
    """Run the command `train`, and measure its time, including the start of the interpreter."""
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "merges.csv"
        return _run_program(["-m", "bpe_core", "train", task.text, "--output", str(output), "--quiet"])


def _run_program(arguments: list[str]) -> Performed:
    with Stopwatch() as watch:
        subprocess.run([sys.executable, *arguments], check=True)
    watch.peak = 0  # that is of this process, not of the program
    return watch, "", 0


@dataclass(frozen=True)
class Job:
    """A task of the benchmark, and the libraries that can perform it."""

    title: str
    perform: Callable[[Peer, Task], Performed]
    trains: bool = False
    only_ours: bool = False
    variants: tuple[str, ...] = ("first-seen",)  # the reason, for a job that is only ours
    variants_of: Mapping[str, tuple[str, ...]] | None = None  # where not all peers can do it, or differ in it

    def contestants(self, chosen: list[str]) -> list[tuple[str, str]]:
        """Return the chosen libraries that can do this work.

        Each library has an entry for each tie rule or variant of the work.
        """
        if self.only_ours:
            return [(OURS, variant) for variant in self.variants]
        names = [OURS, *(name for name in chosen if name != OURS)]
        if self.variants_of is not None:
            return [(name, variant) for name in names for variant in self.variants_of.get(name, ())]
        if self.trains:
            return [(name, ties) for name in names for ties in PEERS[name].ties]
        return [(name, "") for name in names]


JOBS: dict[str, Job] = {
    "import": Job("import bpe_core in a new interpreter", start_import, only_ours=True),
    "command": Job("`bpe-explorer train` on a short text, from start to end", start_command, only_ours=True),
    "train": Job("train a vocabulary of {size:,}", train, trains=True),
    "train-languages": Job(
        "train a vocabulary of {size:,} on a made text in many languages, with long words", train, trains=True
    ),
    "unsplit": Job("train {size:,} merges on the whole text as one sequence", train_unsplit, only_ours=True),
    "gage": Job("compress the first 10 MB as Gage did, in blocks of 5,000 bytes", compress, only_ours=True),
    "wordpiece": Job(
        "train a WordPiece vocabulary of {size:,}", train_wordpiece, trains=True, variants_of=wordpiece.TRAINING
    ),
    "wordpiece-encode": Job(
        "encode the whole text into WordPieces, unseen and nothing cached, on one thread",
        encode_wordpiece,
        trains=True,
        variants_of=wordpiece.ENCODING,
    ),
    "unigram": Job("train a Unigram vocabulary of 8,000", train_unigram, trains=True, variants_of=unigram.TRAINING),
    "unigram-encode": Job(
        "encode the whole text by Unigram, unseen and nothing cached, on one thread",
        encode_unigram,
        trains=True,
        variants_of=unigram.ENCODING,
    ),
    "superwords-encode": Job(
        "encode the whole text by tables of superwords, unseen and nothing cached, on one thread",
        encode_superwords,
        trains=True,
        variants_of=superwords.ENCODING,
    ),
    "insight": Job(
        "answer a question about a run of 32,000 tokens: the first ever asked, and further ones (medians)",
        answer,
        only_ours=True,
        variants=VARIANTS,
    ),
    "same-letter": Job("encode one word of 100,000 times the letter a", encode_repeated_letter),
    "random-letters": Job("encode one word of 100,000 random letters", encode_random_letters),
}
