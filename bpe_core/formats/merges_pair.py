"""The format of merges.txt with its sidecar file vocab.json.

Each line of merges.txt is a pair of texts. vocab.json has the ids.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from bpe_core.errors import FormatError
from bpe_core.formats import byte_level, limitations
from bpe_core.formats.base import Beside, Format, Opened, Peer, Writer, complete_numbers, recipe_from
from bpe_core.formats.byte_level import vocabulary_by_number, written_tokens
from bpe_core.formats.hugging_face_text import marker_in_texts, read_steps
from bpe_core.formats.json_reading import indented_json, parsed_object, vocabulary_of
from bpe_core.formats.limitations import about_same_text, containing, holds_a_blank
from bpe_core.formats.patterns import likely_pattern, sampled
from bpe_core.formats.transformers_beside import config_beside, tokens_in, tokens_searched_beside
from bpe_core.formats.transformers_classes import BLANKS_AROUND, byte_steps_of
from bpe_core.formats.transformers_files import CONFIG
from bpe_core.formats.vocabulary_model import Style, build
from bpe_core.formats.written_merges import VERSION, WrittenMerges, pairs_at_the_beginning, read_pairs
from bpe_core.history.alphabet import BYTE_TEXTS
from bpe_core.history.history import History, Int64s
from bpe_core.recipes.parts import UNKNOWN_TOKEN
from bpe_core.support.progress import Progress, ProgressReport
from bpe_core.support.result_cache import cached
from bpe_core.support.wording import count_text
from bpe_core.text.decoding import ByteLevel, Replace
from bpe_core.text.preparation.pieces import AddedToken
from bpe_core.text.preparation.pre_tokenizers import Split

END = "</w>"
CLIP_TITLE = b'"bpe_simple_vocab'  # the line with which CLIP's own file begins
CLIP_MERGES = 49_152 - 256 - 2  # the number of these merges that CLIP's own program uses
CLIP_SPECIALS = ("<|startoftext|>", "<|endoftext|>")
CLIP_WORDS = r"<\|startoftext\|>|<\|endoftext\|>|'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"
CLIP_NOTE = "The file does not say how texts are normalized and split. This program does both as CLIP does."


def are_bytes_with_ends(texts: Iterable[str]) -> bool:
    """Return whether the texts are written in byte characters, such as `Ã©` for the two bytes of `é`.

    Each character of a text must represent a byte, and the bytes of the text must be a part of valid UTF-8. Some byte
    of the texts must be the first byte of a character that is not in ASCII. The ending `</w>` of a text is ignored.

    >>> [are_bytes_with_ends(texts) for texts in (["Ã©</w>", "lo"], ["été</w>", "lo"], ["low</w>"], ["´s</w>"])]
    [True, False, False, False]
    """
    beyond = False
    for text in texts:
        raw = byte_level.read(text.removesuffix(END))
        if raw is None or not _is_piece(raw):
            return False
        beyond |= max(raw, default=0) >= 0xC0
    return beyond


def _is_piece(raw: bytes) -> bool:
    begins = 0
    while begins < min(3, len(raw)) and 0x80 <= raw[begins] < 0xC0:
        begins += 1
    try:
        raw[begins:].decode()
    except UnicodeDecodeError as error:
        return error.reason == "unexpected end of data"
    return True


def clip_vocabulary(merges: WrittenMerges) -> dict[str, int]:
    """Return the ids that CLIP gives to its tokens.

    Bytes come first, then bytes at the end of a word, then the results of merges, then special tokens.
    """
    stand_ins = byte_level.stand_ins()
    base = [stand_ins[byte] for byte in byte_level.stand_in_order()]
    names = [*base, *(text + END for text in base), *merges.made, *CLIP_SPECIALS]
    return {name: number for number, name in enumerate(dict.fromkeys(names))}


def clip_choices(texts: Iterable[str]) -> dict[str, Any]:
    """Return the choices of a recipe that changes and splits texts like CLIP.

    Texts are changed to lower case if no token contains a capital letter.
    """
    lower = not any(text != text.lower() for text in texts if text.isascii())
    said: dict[str, Any] = {"pattern": "none", "unicode_form": "NFC"}
    if lower:
        said |= {"lowercase": True, "final_sigma": False}
    decoding = (ByteLevel(), Replace(END, False, " "), Replace(BLANKS_AROUND, True, ""))  # as its class does
    return said | {"preparation": (Split(CLIP_WORDS, True, "Removed", invert=True),), "decoding": decoding}


# The names of the two files, where they are not named alike ("small-merges.txt", "small-vocab.json").
MERGES_NAMES = ("merges.txt", "vocab.bpe")
VOCABULARY_NAMES = ("vocab.json", "encoder.json")

ROWS_BETWEEN_REPORTS = 4_096
UNKNOWN = (UNKNOWN_TOKEN, "[UNK]")  # the names of the unknown token
MARKERS = {"</w>": "glued", "▁": "prefix"}
_UNUSUAL = tuple(map(chr, range(0x100, 0x144)))  # byte characters of bytes that do not print
# An object whose first entries have numbers.
_ENTRY = rb'\s*"(?:(?!":)[\s\S])*":\s*\d+\s*'
_VOCABULARY = re.compile(rb"\s*\{%b(?:\}|,%b(?:\}|,%b))" % (_ENTRY, _ENTRY, _ENTRY))
MOST_SPECIALS = 10_000  # with more entries without a merge, the two files cannot belong together


class MergesPair(Format):
    name = "merges.txt"
    peer_name = "tokenizers"
    peer_call = "encode(word)"
    holds_splitting = False
    holds_specials = False

    def does_match_specials(self, beside: Beside) -> bool:
        """Return whether transformers searches texts for special tokens.

        It does so only if a configuration file lies in the same folder. `beside` reads the files of this folder.
        """
        return bool(config_beside(beside))

    def impossible(self, history: History) -> list[str]:
        recipe = history.recipe
        if recipe.base == "bytes":
            return [] if recipe.marker in ("none", "continuation") else limitations.needs_bytes(history, "merges.txt")
        if recipe.marker == "symbol" or (recipe.marker != "none" and recipe.marker_text not in MARKERS.keys() | {"##"}):
            return [f"merges.txt cannot store the word marker {recipe.marker_text!r} ({recipe.marker})."]
        return containing(
            history, holds_a_blank, "A line of merges.txt cannot hold the space or line break in these tokens"
        )

    def does_otherwise(self, history: History) -> list[str]:
        sentences = about_same_text(history) + limitations.about_splitting(history.recipe)
        if history.recipe.marker == "prefix":
            sentences.append(
                f"In this format {history.recipe.marker_text} inside a word becomes the marker. The check leaves "
                "out such words."
            )
        tokens = written_tokens(history)
        versions = [id for id, token in enumerate(tokens) if token.startswith(VERSION)]
        if versions and np.isin(history.columns.left, versions).any():
            sentences.append(
                f"A merge begins with {VERSION}. Other libraries read such a line as the version of the file, and "
                "skip it."
            )
        return sentences

    def spelled(self, history: History) -> tuple[str, ...]:
        return (history.recipe.marker_text,) if history.recipe.marker == "prefix" else ()

    def write_all(self, history: History, file: BinaryIO, progress: ProgressReport) -> None:
        texts = list(map(str.encode, written_tokens(history)))
        file.write(b"#version: 0.2\n")
        for start in range(0, len(history), ROWS_BETWEEN_REPORTS):
            progress(Progress("writing", start, len(history), "steps"))
            some = history.pairs(start, start + ROWS_BETWEEN_REPORTS)
            file.write(b"".join([b"%b %b\n" % (texts[left], texts[right]) for left, right in some]))

    def numbers(self, history: History) -> Int64s:
        return complete_numbers(history)

    def main_file(self, path: Path) -> Path:
        is_vocabulary = path.name.endswith("vocab.json")
        return path.with_name(path.name.removesuffix("vocab.json") + "merges.txt") if is_vocabulary else path

    def companions(self, path: Path) -> dict[Path, Writer]:
        return {path.with_name(vocabulary_name(path.name)): write_vocabulary}

    def recognizes(self, data: bytes) -> bool:
        if data.lstrip()[:1] == b"{":
            return _VOCABULARY.match(data[:4096]) is not None
        pairs = pairs_at_the_beginning(data)
        texts = [left + right for left, right in pairs]
        if data.startswith(CLIP_TITLE) or not pairs:
            return bool(pairs)
        if any(text.endswith("</w>") for text in texts):
            return are_bytes_with_ends(texts)
        named = data.removeprefix(codecs.BOM_UTF8).startswith(VERSION.encode())
        together = "".join(texts)
        as_bytes = named or ("Ġ" in together and byte_level.is_byte_level(together))
        return (as_bytes and not set(together).isdisjoint(_UNUSUAL)) or (
            not together.isascii() and are_bytes_with_ends(texts)
        )

    def recognizes_file(self, data: bytes, name: str, beside: Beside) -> bool:
        if self.recognizes(data):
            return True
        # Merges of characters, or none, look like subword-nmt's codes, but those have no vocabulary beside them.
        is_bare = data.startswith(VERSION.encode()) and data.count(b"\n") <= 1
        called = Path(name).name
        known = [vocabulary_name(called), *(VOCABULARY_NAMES if called in MERGES_NAMES else ())]
        has_vocabulary = any(beside(vocabulary) is not None for vocabulary in known)
        return has_vocabulary and (is_bare or bool(pairs_at_the_beginning(data)))

    def read_all(self, data: bytes, name: str, beside: Beside) -> Opened:
        (merges_name, merges_data), (where, vocabulary_data) = _merges_and_vocabulary(data, name, beside)
        if merges_data is None:
            raise FormatError(f"{name} {_about_no_merges(_vocabulary_in(data, name))}")
        merges, _ = read_pairs(merges_data, merges_name)
        vocabulary = None
        notes = []
        if vocabulary_data:
            vocabulary = _vocabulary_in(vocabulary_data, where)
        elif merges_data.startswith(CLIP_TITLE):
            if len(merges) > CLIP_MERGES:
                notes = [
                    f"CLIP uses the first {CLIP_MERGES:,} of the {count_text(len(merges), 'merge')}, and so does this "
                    "program."
                ]
            merges = merges.first(CLIP_MERGES)
            vocabulary = clip_vocabulary(merges)
            history, notes_given = _opened(merges, vocabulary, merges_name, where, notes, beside)
            history.recipe = history.recipe.with_changes(spelled_specials="matched")  # by CLIP's own pattern
            return history, notes_given
        return _opened(merges, vocabulary, merges_name, where, notes, beside)

    def loaded_by(self, library: Any, data: bytes, history: History, name: str, beside: Beside) -> Peer | None:
        (_, merges_data), (_, vocabulary) = _merges_and_vocabulary(data, name, beside)
        if vocabulary is None:
            return None
        recipe = history.recipe
        written, _ = read_pairs(merges_data or b"", name)
        merges = list(zip(written.left, written.right, strict=True))
        said: dict[str, Any] = {}
        numbers = _vocabulary_in(vocabulary, name)
        if recipe.base == "characters" and recipe.unknown == "bytes":
            said["byte_fallback"] = True
        elif recipe.base == "characters" and recipe.unknown_text in numbers:
            said["unk_token"] = recipe.unknown_text
        if recipe.marker == "glued":
            said["end_of_word_suffix"] = recipe.marker_text
        model = library.models.BPE(numbers, merges, **said)
        asked = library.Tokenizer(model)
        if recipe.base == "bytes":
            asked.pre_tokenizer = library.pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
        before = recipe.marker_text if recipe.marker == "prefix" else ""
        return lambda word: list(asked.encode(before + word).ids)


def write_vocabulary(history: History, file: BinaryIO) -> None:
    """Write vocab.json, which holds the id of each token. Special tokens come last if they have the highest ids."""
    numbers = complete_numbers(history)
    vocabulary = vocabulary_by_number(history, numbers)
    for id, special in enumerate(history.recipe.special_tokens, history.first_special):
        vocabulary.setdefault(special, int(numbers[id]))
    file.write(indented_json(vocabulary, 0).encode())


# --- Names ------------------------------------------------------------------------------


def vocabulary_name(merges_name: str) -> str:
    """Return the name of the vocab.json that belongs to a file of merges.

    >>> vocabulary_name("merges.txt"), vocabulary_name("small-merges.txt"), vocabulary_name("other.txt")
    ('vocab.json', 'small-vocab.json', 'other.vocab.json')
    """
    if merges_name.endswith("merges.txt"):
        return merges_name.removesuffix("merges.txt") + "vocab.json"
    return merges_name.rpartition(".")[0] + ".vocab.json"


def _merges_and_vocabulary(
    data: bytes, name: str, beside: Beside
) -> tuple[tuple[str, bytes | None], tuple[str, bytes | None]]:
    """Return the name and the content of the two files, first merges.txt, then vocab.json."""
    folder = Path(name).parent
    name = Path(name).name

    def first(names: list[str]) -> tuple[str, bytes | None]:
        contents = (
            (str(folder / candidate), content) for candidate in names if (content := beside(candidate)) is not None
        )
        return next(contents, ("", None))

    itself = (str(folder / name), data)
    if data.lstrip()[:1] != b"{":
        return itself, first([vocabulary_name(name), *VOCABULARY_NAMES])
    own = [name.removesuffix("vocab.json") + "merges.txt"] if name.endswith("vocab.json") else []
    own += [name.removesuffix(".vocab.json") + ".txt"] if name.endswith(".vocab.json") else []
    return first([*own, *MERGES_NAMES]), itself


# --- Reading ----------------------------------------------------------------------------


def _vocabulary_in(data: bytes, name: str) -> dict[str, int]:
    return cached("vocabulary", data, lambda: vocabulary_of(parsed_object(data, name, counts_last=True), name))


# the marks of WordPiece: they are in at least an eighth of the tokens, and no merges are next to the file
_SIGNS_OF_OTHERS = (
    (
        r"##",
        "has WordPiece's tokens with their ids. To open it, write a vocab.txt with one token in each line, in the "
        "order of the ids.",
    ),
    (
        r".*@@\Z",
        "holds the ids of subword-nmt's tokens, whose merges are in a separate file of codes; open that file.",
    ),
    (
        r"▁",
        "gives ids to pieces of a SentencePiece model. Open the .model or .spm file of this model, which has other "
        "ids. If merges made the pieces, put their merges.txt into the same folder.",
    ),
)


def _about_no_merges(vocabulary: Mapping[str, int]) -> str:
    for sign, sentence in _SIGNS_OF_OTHERS:
        if 8 * sum(1 for token in vocabulary if re.match(sign, token)) > len(vocabulary):
            return sentence
    plain = [token for token in vocabulary if not re.fullmatch(r"[<\[|].*[>\]|]", token)]
    longer = [token for token in plain if len(token) > 1]
    if not plain:
        return "holds only special tokens, which are added to another file; open the other file in its folder."
    if not longer:
        return (
            "is a vocabulary of single characters, such as speech models have, so it has no merges. If merges belong "
            "to it, put their file, such as merges.txt, into the same folder."
        )
    return (
        "is a vocabulary without merges. If merges belong to it, put their file, such as merges.txt, into the same "
        "folder, or open that file. A list of whole words has no merges, and does not say how texts are split."
    )


def _opened(
    merges: WrittenMerges,
    vocabulary: Mapping[str, int] | None,
    name: str,
    where: str,
    notes: list[str],
    beside: Beside,
) -> Opened:
    config = config_beside(beside)
    style = _style(merges, vocabulary, names_bytes=byte_steps_of(config) is not None)
    made = set(merges.made)
    looked_for = tokens_searched_beside(config, beside)  # other tokens that no merge makes are met in no text
    found_there = _specials(vocabulary or {}, made, style, where).items()
    specials = {text: number for text, number in found_there if looked_for is None or text in looked_for}
    if looked_for and vocabulary and len(lacking := looked_for.difference(vocabulary)) == 1:
        specials |= dict.fromkeys(lacking, len(vocabulary))  # several would be numbered in an order of the class
    built = build(vocabulary, merges, specials, style, name + ", line {}", named=where)
    choices: dict[str, Any] = {"base": "bytes"} if style.byte_level else {"base": "characters"}
    choices |= {"marker": style.marker}
    if style.byte_level and style.marker == "glued":
        choices |= clip_choices(made)
        notes.append(CLIP_NOTE)
    elif style.byte_level and (steps := byte_steps_of(config)):
        preparation = read_steps({**steps, "decoder": {"type": "ByteLevel"}}, CONFIG)
        choices |= preparation.choices
        notes += preparation.notes
    else:
        if style.byte_level:
            pattern = likely_pattern([byte_level.read(text) or b"" for text in sampled(merges.made)])
        else:
            pattern = "whitespace" if style.marker != "none" else "gpt2"
        choices |= {"pattern": pattern, "older_unicode": pattern != "whitespace"}
        notes.append(
            f"merges.txt does not say how text is split into words. This program splits text by the pattern {pattern}."
        )
    notes += built.notes
    choices |= {"unknown_text": style.unknown} if style.unknown else {}
    notes += [marker_in_texts(style.marker_text)] if style.marker == "prefix" else []
    if style.drops_unknown:
        notes.append("The vocabulary has no unknown token, so unknown characters are left out.")
    sides = [how for text, how in tokens_in(config).items() if how and text in specials]
    choices |= {"merges": len(built.pairs), "special_tokens": tuple(specials)}
    if style.unknown:  # a text that spells it becomes that token, as with special tokens
        sides.append(AddedToken(style.unknown))
    choices |= {"preparation": (*sides, *choices.get("preparation", ()))}
    recipe = recipe_from(name, name="merges.txt", unknown="bytes" if style.byte_fallback else "unk", **choices)
    if vocabulary is None:
        notes.append("There is no vocab.json in its folder, so tokens have ids as in GPT-2.")
    history = History.from_pairs(recipe, built.alphabet, built.pairs, built.joining)
    return history.numbered(built.numbers), notes


def _style(merges: WrittenMerges, vocabulary: Mapping[str, int] | None, *, names_bytes: bool = False) -> Style:
    """Return how the file spells its tokens.

    `names_bytes` is true if a sidecar file names a class of transformers whose tokens consist of bytes.
    """
    texts = merges.made
    ends = not {END}.issuperset([text for text in vocabulary or texts if text.endswith(END)])
    as_bytes = are_bytes_with_ends(texts) if ends else byte_level.is_byte_level("".join(texts))
    if as_bytes and (vocabulary is None or names_bytes or _characters_are_bytes(vocabulary)):
        return Style(byte_level=True, marker="glued" if ends else "none", marker_text="</w>" if ends else "")
    entries = vocabulary or dict.fromkeys(texts, 0)
    begins = any(text.startswith("▁") for text in entries)
    marker = ""
    if ends:
        marker = "</w>"
    elif begins:
        marker = "▁"
    unknown = next((text for text in UNKNOWN if text in entries), "")
    byte_fallback = set(BYTE_TEXTS).issubset(entries)
    return Style(
        marker=MARKERS.get(marker, "none"),  # type: ignore[arg-type]
        marker_text=marker,
        unknown=unknown,
        byte_fallback=byte_fallback,
        drops_unknown=not (unknown or byte_fallback) and vocabulary is not None,
    )


def _characters_are_bytes(vocabulary: Mapping[str, int]) -> bool:
    """Return whether the single characters of a vocabulary represent bytes, as `Ġ` represents a space.

    Otherwise they are ordinary letters. At least two of three conditions must be true: `Ġ` is a token, most of the
    characters that represent bytes are tokens, and no other single character is a token. Two are enough, because
    Japanese texts have few spaces, and English texts have few bytes beyond ASCII.
    """
    there = {letter for letter in byte_level.stand_ins() if letter in vocabulary}
    no_others = there.issuperset(text for text in vocabulary if len(text) == 1)
    has_space = byte_level.stand_ins()[ord(" ")] in there
    return (has_space and (no_others or len(there) > 128)) or (no_others and len(there) > 192)


def _specials(vocabulary: Mapping[str, int], made: set[str], style: Style, where: str) -> dict[str, int]:
    others = {*made, style.unknown, *(BYTE_TEXTS if style.byte_fallback else ())}
    others = {*others, *style.symbols_among(vocabulary)}
    number_of = {text: number for text, number in vocabulary.items() if text not in others}
    if len(number_of) > MOST_SPECIALS:
        raise FormatError(
            f"{where} has {count_text(len(number_of), 'token')} that no merge makes, so the vocabulary and the merges "
            "belong to different tokenizers. Open two files of the same tokenizer."
        )
    return dict(sorted(number_of.items(), key=lambda item: item[1]))
