"""The command `python -m tests.benchmarks.beside_owners`.

It compares this program with the library of each file format. Both open the same files and encode the same texts. Short
texts of about 55 characters are encoded one by one, and then as one batch on one thread. The last rows of the output
are the times to open a file and encode a first text. One process does all work: this program and the library take
turns, several times. The least CPU time is printed. If ids differ, the exit code is 1. Vocabularies are learned from
one text, and two other texts are encoded.
"""

from __future__ import annotations

import io
import os
import sys
import tempfile
import textwrap
from collections.abc import Callable, Iterator
from functools import cache, partial
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from tests.benchmarks.peers import GPT2, PEERS, BpeExplorer, Peer
from tests.benchmarks.stopwatch import Stopwatch
from tests.benchmarks.texts import ENCODED, HELD_OUT, LANGUAGES, default_text
from tests.benchmarks.vocabulary import Vocabulary
from tests.shared import path_of

if TYPE_CHECKING:  # the measured program loads it
    from bpe_core.history.history import History
    from bpe_core.studies.study import Study

TEXTS = {"English": ENCODED, "languages": LANGUAGES}
VOCABULARY_SIZE = 16_000
LINES, CHARACTERS = 20_000, 60
ROUNDS = 5
FIRST = "The lowest price is lower than the last one."

Encode = Callable[[list[str]], list[list[int]]]


class Owner(NamedTuple):
    """A kind of tokenizer file, with functions of its library and of this program.

    The functions encode texts one by one and as a batch.
    """

    name: str
    theirs: tuple[Encode, Encode]
    ours: tuple[Encode, Encode]
    opening: tuple[Callable[[], object], Callable[[], object]] | None = None


def main() -> int:
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    texts = {name: lines(content_of(text)) for name, text in TEXTS.items()}
    titles = ("one by one", "library", "ratio", "batch", "library", "ratio")
    print(f"{'CPU us a text':32}" + "".join(f"{title:>11}" for title in titles))
    sound, openings = True, list[str]()
    for owner in owners():
        for name, given in texts.items():
            both = list(zip(owner.ours, owner.theirs, strict=True))
            sound &= all(ours(given) == theirs(given) for ours, theirs in both)
            least = [least_seconds(partial(ours, given), partial(theirs, given)) for ours, theirs in both]
            print(row(f"{owner.name}, {name}", least, len(given) / 1e6), flush=True)
        if owner.opening is not None:
            openings.append(row(owner.name, [least_seconds(*owner.opening)], 1e-3))
    openings += [row(name, [least_seconds(ours, theirs)], 1e-3) for name, ours, theirs in other_openings()]
    print(f"{'CPU ms to open':32}{'ours':>11}{'library':>11}{'ratio':>11}", *openings, sep="\n")
    print("All ids are equal." if sound else "Ids DIFFER.")
    return 0 if sound else 1


def content_of(text: str) -> str:
    return default_text(text).read_bytes().decode()


def row(name: str, least: list[tuple[float, float]], unit: float) -> str:
    return f"{name:32}" + "".join(
        f"{ours / unit:>11.1f}{theirs / unit:>11.1f}{ours / theirs:>11.2f}" for ours, theirs in least
    )


def lines(text: str) -> list[str]:
    """Return the first LINES distinct lines of a text, wrapped at blanks to at most CHARACTERS characters."""
    cut = (line for paragraph in text.split("\n") for line in textwrap.wrap(paragraph, CHARACTERS))
    return list(dict.fromkeys(cut))[:LINES]


def least_seconds(ours: Callable[[], object], theirs: Callable[[], object]) -> tuple[float, float]:
    """Call our function and their function in turn, several times. Return the least CPU seconds of each."""
    rounds = [(seconds_of(ours), seconds_of(theirs)) for _ in range(ROUNDS)]
    return min(own for own, _ in rounds), min(other for _, other in rounds)


def seconds_of(work: Callable[[], object]) -> float:
    with Stopwatch() as watch:
        work()
    return watch.cpu


def owners() -> Iterator[Owner]:
    import bpe_core
    from bpe_core.history.alphabet import Alphabet

    BpeExplorer().warm_up()
    learned = learned_history()
    vocabulary = Vocabulary(tuple(learned.pairs()), None)
    same = bpe_core.History.from_pairs(learned.recipe, Alphabet.of_bytes(), vocabulary.pairs)
    for name in ("tokenizers", "tiktoken"):
        single, many = library(PEERS[name](), vocabulary)
        yield Owner(name, (single, many), encoders(bpe_core.Study(same)))
    import sentencepiece

    with tempfile.TemporaryDirectory() as folder:
        for kind in ("bpe", "unigram"):
            path = Path(folder) / f"{kind}.model"
            path.write_bytes(model(sentencepiece, kind))
            processor = sentencepiece.SentencePieceProcessor(model_file=str(path))
            table = bpe_core.open(path)
            theirs = lambda texts, encode=processor.encode: [encode(text) for text in texts]  # noqa: E731
            batch = lambda texts, encode=processor.encode: encode(texts, num_threads=1)  # noqa: E731
            opening = (
                lambda path=path: bpe_core.open(path),
                lambda path=path: sentencepiece.SentencePieceProcessor(model_file=str(path)),
            )
            yield Owner(f"SentencePiece {kind}", (theirs, batch), encoders(table), opening)


@cache
def learned_history() -> History:
    import bpe_core

    return bpe_core.train([content_of(HELD_OUT)], "gpt2", vocab_size=VOCABULARY_SIZE, ties="lowest-ids").history


def other_openings() -> Iterator[tuple[str, Callable[[], object], Callable[[], object]]]:
    """Yield a file name and two functions for each of tokenizer.json, merges.txt and a file of tiktoken's ranks.

    Both functions open the file and encode a text. The first function uses this program. The second function uses the
    library to which the format of the file belongs.

    The files have GPT-2's 50,257 tokens, or the learned tokens if GPT-2's file is missing.
    """
    import tiktoken.load
    import tokenizers

    import bpe_core

    published = path_of("data/gpt2/vocab.bpe")
    learned = Vocabulary(tuple(learned_history().pairs()), None)
    vocabulary = Vocabulary.from_gpt2_file(published) if published.is_file() else learned
    with tempfile.TemporaryDirectory() as folder:
        whole, ranks, merges = (Path(folder) / name for name in ("tokenizer.json", "gpt2.tiktoken", "merges.txt"))
        whole.write_text(vocabulary.as_hugging_face(), encoding="utf-8")
        ranks.write_text(vocabulary.as_tiktoken(), encoding="utf-8")
        tokenizers.Tokenizer.from_file(str(whole)).model.save(folder)  # vocab.json and merges.txt

        def by_ranks() -> object:
            known = tiktoken.load.load_tiktoken_bpe(str(ranks))
            return tiktoken.Encoding("opened", pat_str=GPT2, mergeable_ranks=known, special_tokens={}).encode(FIRST)

        def by_merges() -> object:
            model = tokenizers.models.BPE.from_file(str(merges.with_name("vocab.json")), str(merges))
            return tokenizers.Tokenizer(model).encode(FIRST)

        for path, theirs in (
            (whole, lambda: tokenizers.Tokenizer.from_file(str(whole)).encode(FIRST)),
            (merges, by_merges),
            (ranks, by_ranks),
        ):
            yield path.name, lambda path=path: bpe_core.open(path).encode(FIRST), theirs  # type: ignore[misc]


def encoders(study: Study) -> tuple[Encode, Encode]:
    """Return a function that encodes texts one by one, and a function that encodes all texts at once."""

    def one_by_one(texts: list[str]) -> list[list[int]]:
        return [study.encode(text) for text in texts]

    def batch(texts: list[str]) -> list[list[int]]:
        ids, offsets = study.encode_batch(texts, threads=1)
        every, borders = ids.tolist(), offsets.tolist()
        return [every[first:last] for first, last in pairwise(borders)]

    return one_by_one, batch


def library(peer: Peer, vocabulary: Vocabulary) -> tuple[Encode, Encode]:
    peer.warm_up()
    if peer.distribution == "tiktoken":
        ranks = {token: id for id, token in reversed(list(enumerate(vocabulary.tokens)))}
        library = peer.library  # type: ignore[attr-defined]
        encoding = library.Encoding("benchmark", pat_str=GPT2, mergeable_ranks=ranks, special_tokens={})
        return (
            lambda texts: [encoding.encode_ordinary(text) for text in texts],
            lambda texts: encoding.encode_ordinary_batch(texts, num_threads=1),
        )
    tokenizer = peer.library.Tokenizer.from_str(vocabulary.as_hugging_face())  # type: ignore[attr-defined]
    return (
        lambda texts: [tokenizer.encode(text).ids for text in texts],
        lambda texts: [encoding.ids for encoding in tokenizer.encode_batch(texts)],
    )


def model(library: Any, kind: str) -> bytes:
    buffer = io.BytesIO()
    library.SentencePieceTrainer.Train(
        sentence_iterator=iter(content_of(HELD_OUT).split("\n")),
        model_writer=buffer,
        model_type=kind,
        vocab_size=VOCABULARY_SIZE,
        hard_vocab_limit=False,
        minloglevel=2,
    )
    return buffer.getvalue()


if __name__ == "__main__":
    sys.exit(main())
