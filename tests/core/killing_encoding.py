"""The test that kills a process at any line of the code that encodes documents into shards.

Usage: python -m tests.core.killing_encoding SEED KILLS

Each attempt is a forked process. It counts the lines of encode_documents.py, atomic.py and journal.py that it
runs, and kills itself before one of the lines. The next process resumes the work and is killed, too. When a
process ends by itself, the folder must equal a folder made without kills. The next processes then replace the
shards by different shards.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType
from typing import Any

from bpe_core.history.history import History
from bpe_core.methods.kit import encode_corpus, encode_documents
from bpe_core.methods.kit.tokenizer import Tokenizer
from bpe_core.recipes.recipe import Recipe
from bpe_core.support import atomic, journal
from bpe_core.text.corpus import Corpus
from tests.core.learning import train

TRACED = {module.__file__ for module in (encode_documents, atomic, journal)}
LINES = 3_000  # no try has many more
Files = dict[str, bytes]


def texts() -> list[str]:
    return [f"the lowest price of {number} is lower than the last one. " * (number % 5) for number in range(60)]


def encode(place: Path, history: History, eos: int) -> None:
    corpus = Corpus.from_files(place / "rows.jsonl")
    encode_documents.encode_documents(corpus, Tokenizer(history), place / "shards", eos=eos, kind="bin", shard_size=300)


def files_in(folder: Path) -> Files:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())} if folder.is_dir() else {}


def encode_in_a_fork(place: Path, history: History, eos: int, last: int) -> bool:
    """Encode in a forked process that kills itself before the `last`-th line that it executes.

    Return whether the process was killed.
    """
    child = os.fork()
    if child == 0:
        left = last

        def on_line(frame: FrameType, event: str, argument: Any) -> Any:
            nonlocal left
            if frame.f_code.co_filename not in TRACED:
                return None
            if event == "line":
                left -= 1
                if left == 0:
                    os.kill(os.getpid(), signal.SIGKILL)
            return on_line

        code = 1
        try:
            sys.settrace(on_line)
            encode(place, history, eos)
            code = 0
        finally:
            sys.settrace(None)
            os._exit(code)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == 0, "a try ended with an error"
    return os.WIFSIGNALED(status)


def main(seed: int, kills: int) -> None:
    encode_corpus.PIECE = 500
    chance = random.Random(seed)
    history = train(Corpus.from_texts(texts()), Recipe.preset("gpt2", merges=60))
    with TemporaryDirectory() as folder:
        place = Path(folder)
        rows = "".join(json.dumps({"text": text}) + "\n" for text in texts())
        (place / "rows.jsonl").write_text(rows, encoding="utf-8")
        expected: dict[int, Files] = {}
        for eos in (0, 1):
            encode(place, history, eos)
            expected[eos] = files_in(place / "shards")
        former = eos = 1
        killed = gone_on = 0
        while killed < kills:
            eos = 1 - former
            while encode_in_a_fork(place, history, eos, chance.randrange(1, LINES)):
                killed += 1
                gone_on += (place / "shards.encoding" / "00000.json").exists()
                atomic.path_to_read(place / "shards")
                contents = files_in(place / "shards")
                assert contents in (expected[former], expected[eos]), f"half a folder after kill {killed}"
            assert files_in(place / "shards") == expected[eos], f"another result after kill {killed}"
            assert sorted(path.name for path in place.iterdir()) == ["rows.jsonl", "shards"], "something is left"
            former = eos
    assert gone_on > 0, "no kill left a whole shard"


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
