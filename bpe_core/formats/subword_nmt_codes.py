"""The codes of subword-nmt. The first line has the version. Each of the following lines has a pair `left right`.

In files of fastBPE, a count follows each pair. Version 0.2 joins the end of a word to its last character (`w</w>`). In
version 0.1, the end of a word is a separate symbol. Characters that occur in no merge are unknown.
"""

from __future__ import annotations

import codecs
import io
import re
from typing import Any, BinaryIO

from bpe_core.formats import limitations, written_merges
from bpe_core.formats.base import IN_WORDS, Beside, Format, Opened, Peer, about, reported
from bpe_core.formats.limitations import NEVER_HAPPEN, about_same_text, containing, holds_a_blank
from bpe_core.history.alphabet import Alphabet, Symbol
from bpe_core.history.history import History
from bpe_core.history.token_texts import written
from bpe_core.recipes.parts import UNKNOWN_TOKEN
from bpe_core.recipes.recipe import Recipe
from bpe_core.support.progress import ProgressReport

END = "</w>"
GLUED = "#version: 0.2"
SYMBOL = "#version: 0.1"
_COUNT = re.compile(rb" \d+(?=\r?$)", re.MULTILINE)


class SubwordNmtCodes(Format):
    tables = frozenset({IN_WORDS})
    name = "subword-nmt"
    peer_name = "subword-nmt"
    peer_call = "segment_tokens([word])"
    holds_splitting = False
    holds_specials = False
    numbers_tokens = False

    def impossible(self, history: History) -> list[str]:
        recipe = history.recipe
        if recipe.base != "characters":
            return ["subword-nmt's codes merge characters, but this table starts from bytes."]
        if recipe.marker not in ("glued", "symbol"):
            return [
                "subword-nmt's codes mark the end of each word, but this table does not mark the end of words "
                f"({recipe.marker})."
            ]
        if recipe.marker_text != END:
            return [f"subword-nmt has only the word marker {END}, but this table has {recipe.marker_text!r}."]
        return containing(history, holds_a_blank, "A line cannot hold the space or line break in these tokens")

    def does_otherwise(self, history: History) -> list[str]:
        sentences = about_same_text(history) + limitations.about_splitting(history.recipe)
        sentences += ["Codes hold no ids of tokens, and no list of the characters that are in no merge."]
        if history.recipe.unknown == "bytes":
            sentences.append(
                "In this table unknown characters become bytes. Codes cannot store this rule, so programs that read "
                "the file keep unknown characters as they are."
            )
        return sentences

    def write_all(self, history: History, file: BinaryIO, progress: ProgressReport) -> None:
        texts = written(history)
        file.write((GLUED if history.recipe.marker == "glued" else SYMBOL).encode() + b"\n")
        pairs = reported(enumerate(history.pairs(), 1), history, progress)
        file.writelines(texts[left] + b" " + texts[right] + b"\n" for left, right in pairs)

    def recognizes(self, data: bytes) -> bool:
        if data.removeprefix(codecs.BOM_UTF8).startswith(b"#version"):
            return True
        return END.encode() in data and bool(
            written_merges.pairs_at_the_beginning(without_counts(data[: written_merges.LOOK]))
        )

    def read_all(self, data: bytes, name: str, beside: Beside) -> Opened:
        plain = without_counts(data)
        merges, version = written_merges.read_pairs(plain, name)
        # The first releases wrote no version, and had the end of a word as a separate symbol.
        glued = version == GLUED or (END not in merges.right and any(text.endswith(END) for text in merges.right))
        alphabet = Alphabet(tuple(_symbols(merges, glued)))
        base = {symbol.text.decode(): id for id, symbol in enumerate(alphabet.symbols) if symbol.kind != "unknown"}
        resolved = written_merges.resolve(base, len(alphabet), merges, name + ", line {}")
        recipe = Recipe(
            name="subword-nmt",
            base="characters",
            pattern="whitespace",
            marker="glued" if glued else "symbol",
            ties="largest-text",
            merges=len(resolved.pairs),
            vocab_size=None,
        )
        notes = ["Codes do not list the characters that are in no merge. In this program such characters are unknown."]
        if len(plain) < len(data):
            notes.append("These are fastBPE's codes. The count after each merge is not read.")
        elif glued and version != GLUED:
            said = "version 0.1" if version else "no version, which means 0.1 to subword-nmt"
            notes.append(
                f"The file says {said}. But its tokens hold {END} as in version 0.2, so the file is read as version "
                "0.2."
            )
        notes += about(resolved.never_happen, NEVER_HAPPEN)
        notes += written_merges.listed_twice(merges) if resolved.never_happen else ()
        return History.from_pairs(recipe, alphabet, resolved.pairs), notes

    def loaded_by(self, library: Any, data: bytes, history: History, name: str, beside: Beside) -> Peer | None:
        from subword_nmt.apply_bpe import BPE  # an optional library

        if not history:
            return None  # subword-nmt ends the program at an empty list
        text = without_counts(data).decode("utf-8-sig")
        if history.recipe.marker == "glued" and not text.startswith(GLUED):
            text = f"{GLUED}\n" + text.removeprefix(f"{SYMBOL}\n")
        bpe = BPE(io.StringIO(text, newline="\n"), separator="")

        def encode(word: str) -> list[bytes]:
            *inner, last = bpe.segment_tokens([word])
            return [piece.encode() for piece in (*inner, last)]

        return encode


def without_counts(data: bytes) -> bytes:
    r"""Return the data without the counts, a third column that only fastBPE writes. Other data is returned unchanged.

    >>> without_counts(b"l o 7\nlo w</w> 5\n"), without_counts(b"l o\n")
    (b'l o\nlo w</w>\n', b'l o\n')
    """
    first = data[: written_merges.LONGEST_LINE].partition(b"\n")[0].split()
    return _COUNT.sub(b"", data) if len(first) == 3 and first[2].isdigit() else data


def _symbols(merges: written_merges.WrittenMerges, glued: bool) -> list[Symbol]:
    mentioned = {*merges.left, *merges.right}.difference(merges.made)
    characters = {part for part in mentioned if len(part) == 1}
    symbols = [Symbol(UNKNOWN_TOKEN.encode(), UNKNOWN_TOKEN.encode(), "unknown")]
    if not glued:
        plain = [Symbol(part.encode(), part.encode(), "character") for part in sorted(characters)]
        return [*symbols, *plain, Symbol(END.encode(), b" ", "marker")]
    ends = {part.removesuffix(END) for part in mentioned if part.endswith(END) and len(part) == 1 + len(END)}
    symbols += [Symbol(part.encode(), part.encode(), "character") for part in sorted(characters | ends)]
    return symbols + [Symbol((part + END).encode(), part.encode() + b" ", "glued") for part in sorted(ends)]
