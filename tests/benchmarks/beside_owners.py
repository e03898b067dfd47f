"""The command `python -m tests.benchmarks.beside_owners`.

It compares this program with the library of each file format. Both open the same files and encode the same texts. Short
texts of about 55 characters are encoded one by one, and then as one batch on one thread. The last rows of the output
are the times to open a file and encode a first text. All work is done in one process, by this program and by the
library in turn, several times. The least CPU time is printed. If ids differ, the exit code is 1. Vocabularies are
learned from one text, and two other texts are encoded.
"""

from __future__ import annotations

import io
import os
import sys
import tempfile
import textwrap
from collections.abc import Callable, Iterator
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from tests.benchmarks.peers import GPT2, PEERS, BpeExplorer, Peer
from tests.benchmarks.stopwatch import Stopwatch
from tests.benchmarks.vocabulary import Vocabulary
from tests.shared import path_of, text_of

LEARNED_FROM = "data/wikitext2-test.raw.txt"
ENCODED = {"English": "data/wikitext2-valid.raw.txt", "languages": "data/udhr-languages.txt"}
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
    texts = {name: lines(text_of(path)) for name, path in ENCODED.items()}
    titles = ("one by one", "library", "ratio", "batch", "library", "ratio")
    print(f"{'CPU us a text':32}" + "".join(f"{title:>11}" for title in titles))
    sound, openings = True, list[str]()
    for owner in owners():
        for name, given in texts.items():
            both = list(zip(owner.ours, owner.theirs, strict=True))
            sound &= all(ours(given) == theirs(given) for ours, theirs in both)
            least = [beside(partial(ours, given), partial(theirs, given)) for ours, theirs in both]
            print(row(f"{owner.name}, {name}", least, len(given) / 1e6), flush=True)
        if owner.opening is not None:
            openings.append(row(owner.name, [beside(*owner.opening)], 1e-3))
    openings += [row(name, [beside(ours, theirs)], 1e-3) for name, ours, theirs in other_openings()]
    print(f"{'CPU ms to open':32}{'ours':>11}{'library':>11}{'ratio':>11}", *openings, sep="\n")
    print("All ids are equal." if sound else "Ids DIFFER.")
    return 0 if sound else 1


def row(name: str, least: list[tuple[float, float]], unit: float) -> str:
    return f"{name:32}" + "".join(
        f"{ours / unit:>11.1f}{theirs / unit:>11.1f}{ours / theirs:>11.2f}" for ours, theirs in least
    )


def lines(text: str) -> list[str]:
    """Split a text into distinct short lines, at blanks if the text has blanks."""
    cut = (line for paragraph in text.split("\n") for line in textwrap.wrap(paragraph, CHARACTERS))
    return list(dict.fromkeys(cut))[:LINES]


def beside(ours: Callable[[], object], theirs: Callable[[], object]) -> tuple[float, float]:
    """Call both functions in turn, several times, and return the least CPU seconds of each."""
    rounds = [(seconds_of(ours), seconds_of(theirs)) for _ in range(ROUNDS)]
    return min(own for own, _ in rounds), min(other for _, other in rounds)


def seconds_of(work: Callable[[], object]) -> float:
    with Stopwatch() as watch:
        work()
    return watch.cpu


def owners() -> Iterator[Owner]:
    import bpe_core
    from bpe_core.history.alphabet import Alphabet
    from bpe_core.methods.kit.tokenizer import Tokenizer

    BpeExplorer().warm_up()
    learned = bpe_core.train([text_of(LEARNED_FROM)], "gpt2", vocab_size=VOCABULARY_SIZE, ties="lowest-ids").history
    pairs = tuple(learned.pairs())
    vocabulary = Vocabulary(pairs, None)
    same = bpe_core.History.from_pairs(learned.recipe, Alphabet.of_bytes(), pairs)
    for name in ("tokenizers", "tiktoken"):
        single, many = library(PEERS[name](), vocabulary)
        yield Owner(name, (single, many), encoders(Tokenizer(same), Tokenizer(same).history.numbers_of))
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
            ours = encoders(Tokenizer(table.history), table.history.numbers_of)
            yield Owner(f"SentencePiece {kind}", (theirs, batch), ours, opening)


def other_openings() -> Iterator[tuple[str, Callable[[], object], Callable[[], object]]]:
    """Yield the name of a file and two functions, for further kinds of files with GPT-2's 50,257 tokens.

    Both functions open the file and encode a text, the first by this program and the second by the library of the file.
    """
    import tiktoken.load
    import tokenizers

    import bpe_core

    vocabulary = Vocabulary.from_gpt2_file(path_of("data/gpt2/vocab.bpe"))
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


def encoders(tokenizer: Any, numbers_of: Any) -> tuple[Encode, Encode]:
    """Return a function that encodes texts one by one, and a function that encodes all texts at once.

    The results are the ids of the tokenizer's file.
    """
    tokenizer.expect(10**7)

    def one_by_one(texts: list[str]) -> list[list[int]]:
        return [numbers_of(tokenizer.encode_to_array(text)).tolist() for text in texts]

    def batch(texts: list[str]) -> list[list[int]]:
        batch_result = tokenizer.encode_batch(texts, threads=1)
        numbers, borders = numbers_of(batch_result.ids).tolist(), batch_result.offsets.tolist()
        return [numbers[first:last] for first, last in pairwise(borders)]

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
        sentence_iterator=iter(text_of(LEARNED_FROM).split("\n")),
        model_writer=buffer,
        model_type=kind,
        vocab_size=VOCABULARY_SIZE,
        hard_vocab_limit=False,
        minloglevel=2,
    )
    return buffer.getvalue()


if __name__ == "__main__":
    sys.exit(main())
