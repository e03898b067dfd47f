"""The checksums of texts. With a checksum, readers of a paper can check whether they have the same texts.

The checksum of a single document is the SHA-256 of its text in UTF-8. For a file in UTF-8, `sha256sum` prints the
same number. The checksum of several documents is the SHA-256 of the list of their checksums, with one checksum per
line. If only the words of texts are known, the checksum is the SHA-256 of a list of words. Each line of this list
holds a word, a tab and the word's count. The lines are sorted by the words.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from bpe_core.counting.words import WordTable
from bpe_core.errors import CorpusError
from bpe_core.recipes.recipe import Recipe
from bpe_core.studies.texts import CorpusTexts, Texts
from bpe_core.support.progress import ALONE, Work
from bpe_core.support.wording import count_text
from bpe_core.text.corpus import Corpus

DIGITS = 16  # hexadecimal digits that captions show
STANDARD_INPUT = "-"


@dataclass(frozen=True)
class TextChecksum:
    """The size and the SHA-256 of texts."""

    size: str  # in words, such as "2 documents of 30 bytes"
    sha256: str

    def __str__(self) -> str:
        return f"{self.size}, whose SHA-256 begins with {self.sha256[:DIGITS]}"


def checksum_of_texts(texts: Texts, recipe: Recipe, work: Work = ALONE) -> TextChecksum:
    """Return the checksum of texts. If their documents cannot be read, return the checksum of their words.

    `recipe` says how texts are split into words.
    """
    if not (isinstance(texts, CorpusTexts) and STANDARD_INPUT in texts.paths):  # standard input is read only once
        try:
            with texts.reading() as corpus:
                if not corpus.word_lists:
                    return _of_corpus(corpus, work)
        except CorpusError:  # only the words are known
            pass
    return checksum_of_words(texts.words(recipe, work))


def file_in_words(path: Path) -> str:
    """Return a phrase for a caption: the name of a file and the beginning of the file's SHA-256."""
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return f"{path.name}, whose SHA-256 begins with {digest[:DIGITS]}"


def checksum_of_documents(documents: Iterable[str]) -> TextChecksum:
    """Return the checksum of documents.

    >>> print(checksum_of_documents(["abc"]))
    1 document of 3 bytes, whose SHA-256 begins with ba7816bf8f01cfea
    """
    data = [document.encode(errors="surrogatepass") for document in documents]
    return _of_digests([hashlib.sha256(each).hexdigest() for each in data], sum(map(len, data)))


def _of_corpus(corpus: Corpus, work: Work) -> TextChecksum:
    digests: list[str] = []
    size = 0
    document = hashlib.sha256()
    for chunk in corpus.chunks():
        work.check()
        document.update(chunk.data)
        size += len(chunk.data)
        if chunk.ends_document:
            digests.append(document.hexdigest())
            document = hashlib.sha256()
    return _of_digests(digests, size)


def _of_digests(digests: list[str], size: int) -> TextChecksum:
    in_words = f"{count_text(len(digests), 'document')} of {count_text(size, 'byte')}"
    lines = "".join(f"{digest}\n" for digest in digests)
    return TextChecksum(in_words, digests[0] if len(digests) == 1 else hashlib.sha256(lines.encode()).hexdigest())


def checksum_of_words(words: WordTable) -> TextChecksum:
    """Return the checksum of texts if only their words are known.

    >>> print(checksum_of_words(WordTable.from_counts({"low": 2, "new": 1})))
    3 words, 2 different, whose SHA-256 begins with 73609722beac222b
    """
    whole = hashlib.sha256()
    for word, count in sorted(words):
        whole.update(b"%s\t%d\n" % (word, count))
    return TextChecksum(f"{count_text(words.total, 'word')}, {len(words):,} different", whole.hexdigest())
