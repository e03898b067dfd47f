"""The command `bpe-explorer bench`. It measures how fast this program and the tokenizer's own library encode texts."""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterator
from importlib import metadata
from pathlib import Path
from typing import Any

from bpe_core.asking.caption import caption_from, recipe_in_words
from bpe_core.command_line.corpora import add_reading, open_texts
from bpe_core.command_line.interruption import interruptible
from bpe_core.command_line.paper_options import add_paper_options, is_for_paper, print_for_paper
from bpe_core.errors import BpeError, plain
from bpe_core.formats import FORMATS
from bpe_core.formats.all_formats import content_of, files_beside
from bpe_core.formats.base import Format, Peer
from bpe_core.formats.hugging_face_cache import tokenizer_file
from bpe_core.kernels import readiness
from bpe_core.splitting.normalization import normalize
from bpe_core.splitting.splitter import Splitter
from bpe_core.studies.checksums import checksum_of_documents
from bpe_core.studies.making import open_study
from bpe_core.studies.study import Study
from bpe_core.support.paper_tables import PrintedTable
from bpe_core.support.progress import CancelCheck, while_wanted
from bpe_core.support.version import PROGRAM
from bpe_core.support.wording import count_text
from bpe_core.verification.sampling import CheckedTokenizer, answer_of
from resources import samples

examples = """\
examples:
  bpe-explorer bench tokenizer.json --texts book.txt
      Encode the book with one thread, here and with tokenizers, three times each. The shortest time counts.
      The ids are compared.

  bpe-explorer bench hf:openai-community/gpt2
      Encode the program's sample texts, repeated twenty times.

Texts are split at line ends into parts of about 10,000 characters. If a format does not say how texts are split
into words, each different word of the texts is encoded once instead. The exit code is 3 if ids differ. If the
library is not installed, only our speed is shown.
"""

DIFFERENT = 3
ends_well = (0, DIFFERENT)
ROUNDS = 3
LONGEST = 20_000_000  # characters
PIECE = 10_000  # characters
SHOWN = 3  # differences
SAMPLES_ANEW = 20  # times that each is measured


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("table", metavar="TABLE", help="a tokenizer of any format, or a name such as hf:owner/name")
    parser.add_argument(
        "--texts", nargs="+", default=[], metavar="FILE", help="texts to encode (default: the sample texts)"
    )
    shown = parser.add_mutually_exclusive_group()
    shown.add_argument("--json", action="store_true", help="print the result as JSON")
    add_paper_options(shown, "the speeds")
    add_reading(parser)


def run(options: argparse.Namespace) -> int:
    study = open_study(options.table)
    format = FORMATS.holding(study.format)
    with interruptible(stopped="") as interruption:
        cancelled = interruption.work.cancelled
        checked = CheckedTokenizer(study.history, format, as_opened=True)
        texts = list(_of_format(_pieces(options.texts), checked, format))
        if not texts:
            raise BpeError("The texts are empty, so there is nothing to encode. Name a text with words.")
        facts = _measured(options.table, study, checked, texts, cancelled)
    if options.json:
        print(json.dumps(facts, ensure_ascii=False, indent=1))
    elif is_for_paper(options):
        print_for_paper(_printed(facts), _caption(facts, study, texts), options)
    else:
        _print_result(facts)
    return DIFFERENT if facts.get("differing") else 0


def _pieces(files: list[str]) -> Iterator[str]:
    if not files:
        whole = "\n".join(sample.text() for sample in samples())
        for _ in range(SAMPLES_ANEW):
            yield from _cut(whole)
        return
    room = LONGEST
    with open_texts(files) as corpus:
        for text in corpus.documents():
            yield from _cut(text[:room])
            room -= len(text)
            if room <= 0:
                return


def _cut(text: str) -> Iterator[str]:
    start = 0
    while start < len(text):
        end = text.find("\n", start + PIECE) + 1 or len(text)
        yield text[start:end]
        start = end


def _of_format(pieces: Iterator[str], checked: CheckedTokenizer, format: Format) -> Iterator[str]:
    if format.holds_splitting:
        yield from pieces
    else:
        words_of = Splitter(checked.recipe).words
        yield from {word: None for piece in pieces for word in words_of(normalize(piece, checked.recipe))}


def _measured(
    table: str, study: Study, checked: CheckedTokenizer, texts: list[str], cancelled: CancelCheck
) -> dict[str, Any]:
    size = sum(len(text.encode()) for text in texts)
    path = tokenizer_file(table)
    name = study.format
    format = FORMATS.holding(name)
    ours = _least(lambda: checked.tokenizer.encode_batch(texts, threads=1), cancelled)
    facts: dict[str, Any] = {"table": table, "format": name, "tokens": len(study), "texts": len(texts), "bytes": size}
    facts |= {"compiled": readiness.is_ready(), "seconds": {PROGRAM: ours}}
    if not format.peer_name:
        return facts | {"note": "No other library uses this format."}
    try:
        peer = format.peer(content_of(path), study.history, str(path), files_beside(path))
    except Exception as error:  # any exception of another library
        return facts | {"note": plain(f"{format.peer_name} does not load the file: {error}")}
    if peer is None:
        return facts | {"note": f"{format.peer_name} is not installed: pip install {format.peer_name}."}
    facts["seconds"][f"{format.peer_name} {metadata.version(format.peer_name)}"] = _least(
        lambda: [answer_of(peer, text) for text in texts], cancelled
    )
    differing = list(_differing(checked, texts, peer, format.peer_name, cancelled))
    return facts | {"differing": len(differing), "differences": differing[:SHOWN]}


def _least(encode: Callable[[], object], cancelled: CancelCheck) -> float:
    def once() -> float:
        began = time.perf_counter()
        encode()
        return time.perf_counter() - began

    return min(once() for _ in while_wanted(range(ROUNDS), cancelled, every=1))


def _differing(
    checked: CheckedTokenizer, texts: list[str], peer: Peer, whose: str, cancelled: CancelCheck
) -> Iterator[str]:
    answers = zip(texts, checked.answers(texts), strict=True)
    for text, answer in while_wanted(answers, cancelled):
        if difference := checked.difference(text, answer, answer_of(peer, text), whose):
            yield difference


def _printed(facts: dict[str, Any]) -> PrintedTable:
    rows = [
        (name, f"{seconds * 1e3:,.1f}", f"{facts['bytes'] / seconds / 1e6:,.1f}")
        for name, seconds in facts["seconds"].items()
    ]
    return PrintedTable(("library", "ms", "MB/s"), rows, (True, False, False))


def _caption(facts: dict[str, Any], study: Study, texts: list[str]) -> str:
    compared = ""
    if "note" not in facts:
        compared = f"Texts with different ids: {facts['differing']:,} of {facts['texts']:,}"
    return caption_from(
        f"Speed of encoding with {Path(facts['table']).name}, with one thread, the best of {ROUNDS} rounds",
        recipe_in_words(study.history),
        f"Encoded texts: {checksum_of_documents(texts)}",
        *filter(None, [compared]),
    )


def _print_result(facts: dict[str, Any]) -> None:
    named = f"{plain(Path(facts['table']).name)}, {count_text(facts['tokens'], 'token')}"
    print(
        f"{named}: {count_text(facts['bytes'], 'byte')} in {count_text(facts['texts'], 'text')}, one thread, the best "
        f"of {ROUNDS} rounds"
    )
    for name, seconds in facts["seconds"].items():
        print(f"  {name:<24} {seconds * 1e3:>10,.1f} ms {facts['bytes'] / seconds / 1e6:>9,.1f} MB/s")
    if not facts["compiled"]:
        print(f"  {PROGRAM} has no machine code yet: `{PROGRAM} doctor --prepare` makes it.")
    if "note" in facts:
        print(facts["note"])
    elif facts["differing"]:
        about = f"The ids of {facts['differing']:,} of {count_text(facts['texts'], 'text')} differ:"
        print(about, *facts["differences"], sep="\n- ")
    else:
        print(f"The ids of all {count_text(facts['texts'], 'text')} are the same.")
