"""Functions that compare the tokenizer files in a folder.

The tokens, merges and special tokens of the files are compared, and also the ids that the files give to difficult
texts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import islice
from pathlib import Path
from typing import Literal

import regex

from bpe_core.delivery.chat_template import templates_by_file, templates_of_gguf
from bpe_core.delivery.kept_parts import ids_around
from bpe_core.delivery.sidecars import Sidecars, roles_in, sidecars_of
from bpe_core.errors import BpeError, FormatError
from bpe_core.formats import FORMATS
from bpe_core.formats.all_formats import open_table
from bpe_core.formats.base import OpenedTable, own_numbers
from bpe_core.formats.gguf_known_ids import TEXT, converter_name
from bpe_core.formats.gguf_patterns import BY_NAME
from bpe_core.formats.hugging_face_cache import FILES, is_folder, located, tokenizer_file
from bpe_core.formats.transformers_files import CONFIG, MAP
from bpe_core.history.history import History
from bpe_core.history.token_texts import quoted, written
from bpe_core.methods.kit.tokenizer import Tokenizer
from bpe_core.segmenting.cutting import Allowed
from bpe_core.splitting.normalization import normalize
from bpe_core.splitting.splitter import Splitter
from bpe_core.support.progress import ALONE, Progress, Work
from bpe_core.support.wording import count_text
from bpe_core.verification.sampling import HARD_TEXTS, joined_tokens, special_texts

Stage = Literal["", "special tokens", "normalization", "words", "tokens", "ids"]
STAGES: dict[Stage, str] = {
    "special tokens": "only one of the two files matches a special token in the text",
    "normalization": "the text is changed differently before it is split",
    "words": "the text is split into other words",
    "tokens": "a word is split into other tokens",
    "ids": "the tokens are the same, but have other ids",
}
GGUF = "*.gguf"
HEX = re.compile(r"\\x\{([0-9a-f]+)\}")  # a character by its number, in expressions of llama.cpp
PAIRED = ("vocab.json", "encoder.json")  # files that belong to a list of merges
MOST_FILES = 12
MADE_TEXTS = 60  # texts made of the tokens of each file, besides the hard texts
LONGEST_TEXT = 2_000  # characters
GENERATION = "generation_config.json"
NO_FILE = "{} is a folder without a tokenizer: it has none of {}."
NO_FOLDER = "{} is not a folder. Name a folder with the files of a model, or a name such as hf:owner/name."


@dataclass(frozen=True, eq=False)
class FolderFile:
    """An opened tokenizer file of a folder."""

    path: Path
    opened: OpenedTable

    @property
    def name(self) -> str:
        return self.path.name

    @property
    def history(self) -> History:
        return self.opened.history

    @cached_property
    def tokenizer(self) -> Tokenizer:
        return Tokenizer(self.history)

    def encode(self, text: str, allowed_special: Allowed = "all") -> list[int]:
        """Return the ids that this file gives to a text. By default, special tokens are matched in the text."""
        indices = self.tokenizer.encode_to_array(text, allowed_special=allowed_special)
        ids: list[int] = own_numbers(self.history)[indices].tolist()
        return ids

    @property
    def library(self) -> str:
        """Return the name of the library that loads files of this format."""
        format = FORMATS.get(self.opened.format)
        return format.peer_name if format is not None else ""

    @cached_property
    def texts(self) -> list[bytes]:
        return written(self.history)

    @cached_property
    def ids(self) -> dict[bytes, int]:
        """Return a dictionary from the bytes of each token to its id, without special tokens."""
        numbers = own_numbers(self.history).tolist()
        known: dict[bytes, int] = {}
        for index in range(self.history.first_special):
            if numbers[index] >= 0:
                known.setdefault(self.texts[index], numbers[index])
        return known

    @cached_property
    def specials(self) -> dict[str, int]:
        return special_ids(self.history)

    @cached_property
    def merges(self) -> list[tuple[bytes, bytes]]:
        return [(self.texts[left], self.texts[right]) for left, right in self.history.pairs()]

    @cached_property
    def llama_cpp_converter_name(self) -> str | None:
        """Return the name that llama.cpp's converter writes for this file's pre-tokenizer.

        The converter recognizes a published tokenizer by the ids of a certain text and of the special tokens around
        the text. Return None if the converter does not know the ids of this file.
        """
        try:
            ids = self.encode(TEXT)
        except BpeError:  # the text has characters without a token
            return None
        names = (converter_name([*before, *ids, *behind]) for before, behind in self._around_texts)
        return next((name for name in names if name is not None), None)

    @property
    def _around_texts(self) -> Iterator[tuple[list[int], list[int]]]:
        """Yield pairs of lists: ids that may be put before a text, and ids that may be put after it.

        The first pair has the ids that the file itself puts around texts, if the file says so. The next pair has two
        empty lists. The other pairs have the ids of special tokens with usual roles, such as `bos` before a text and
        `eos` after it.
        """
        if (named := ids_around(self.path)) is not None:
            yield named
        yield [], []
        roles = {role: self.ids_of_all.get(text.encode()) for role, text in self._roles.items()}
        for begins, ends in (("bos", ""), ("bos", "eos"), ("cls", "sep"), ("", "eos")):
            around = [[id for id in [roles.get(role)] if id is not None] for role in (begins, ends)]
            if any(around):
                yield around[0], around[1]

    @property
    def ids_of_all(self) -> dict[bytes, int]:
        """Return a dictionary from the bytes of each token to its id, including special tokens."""
        return {**self.ids, **{text.encode(): id for text, id in self.specials.items()}}

    @property
    def _roles(self) -> dict[str, str]:
        """Return a dictionary from each role, such as `bos`, to its special token.

        The roles come from the sidecar files. A GGUF file contains its own roles.
        """
        if self.path.match(GGUF):
            specials = templates_of_gguf(self.path).specials
            return {name.removesuffix("_token"): text for name, text in specials.items()}
        return roles_in(sidecars_of(self.path.parent, self.opened.format))

    @cached_property
    def llama_cpp_differences(self) -> dict[str, list[str]]:
        """Return the difficult texts that each pre-tokenizer of llama.cpp splits differently from this file.

        The result is a dictionary from the names of the pre-tokenizers to lists of texts. Equal patterns can be
        written differently, so words are compared instead of patterns. The pre-tokenizer with the fewest such texts
        comes first. Some pre-tokenizers treat the words in the vocabulary in the same way as this file. In a tie,
        they come first.
        """
        recipe = self.history.recipe
        if recipe.normalizes:
            return {}
        texts = [text for text in HARD_TEXTS if not any(special in text for special in recipe.special_tokens)]
        words = {text: list(Splitter(recipe).words(text)) for text in texts}
        differing = {
            splitting: [text for text in texts if _pieces(splitting.expressions, text) != words[text]]
            for splitting in {*BY_NAME.values()}
        }
        joining = self.history.joining

        def rank(name: str) -> tuple[int, bool]:
            splitting = BY_NAME[name]
            return len(differing[splitting]), joining is not None and splitting.whole_words != joining.whole_words

        return {name: differing[BY_NAME[name]] for name in sorted(BY_NAME, key=rank)}


def special_ids(history: History) -> dict[str, int]:
    """Return a dictionary from the text of each special token to its id."""
    numbers = own_numbers(history)[history.first_special :].tolist()
    return {text: id for text, id in zip(history.recipe.special_tokens, numbers, strict=True) if id >= 0}


def _pieces(expressions: Sequence[str], text: str) -> list[str]:
    """Split a text as llama.cpp does. Each expression splits the pieces that the previous expression made.

    If no expression matches in a piece, the piece stays whole.
    """
    pieces = [text] if text else []
    for expression in expressions:
        pieces = [part for piece in pieces for part in _parts(_compiled(expression), piece)]
    return pieces


@cache
def _compiled(expression: str) -> regex.Pattern[str]:
    return regex.compile(HEX.sub(lambda match: chr(int(match[1], 16)), expression))


def _parts(expression: regex.Pattern[str], text: str) -> Iterator[str]:
    last = 0
    for match in expression.finditer(text):
        if match.start() > last:
            yield text[last : match.start()]
        if match[0]:
            yield match[0]
        last = match.end()
    if last < len(text):
        yield text[last:]


@dataclass(frozen=True)
class TextDifference:
    """A text that has different ids in two files, and the stage of encoding at which the difference begins."""

    text: str
    stage: Stage


@dataclass(frozen=True)
class FileDifferences:
    """The differences between a file and the main file, which transformers loads."""

    tokens: tuple[str, ...] = ()  # tokens that only one of them has, or that have other ids; one sentence each
    first_merge: int | None = None  # the first merge that differs, counted from 1
    specials: tuple[str, ...] = ()  # special tokens that differ, one sentence each
    texts: tuple[TextDifference, ...] = ()
    texts_compared: int = 0

    @property
    def is_none(self) -> bool:
        return not (self.tokens or self.specials or self.texts)


def files_in(place: Path | str) -> tuple[Path, list[Path]]:
    """Return a folder and its tokenizer files, at most MOST_FILES. The file that transformers loads comes first.

    `place` is the folder, or a name such as `hf:gpt2`, which stands for the folder of the downloaded file.
    """
    folder = located(place)
    if not is_folder(folder):
        folder = folder.parent if str(place) != str(folder) else folder
    if not is_folder(folder):
        raise FormatError(NO_FOLDER.format(place))
    paths = dict.fromkeys(path for pattern in (*FILES, GGUF) for path in sorted(folder.glob(pattern)) if path.is_file())
    if not paths:
        raise FormatError(NO_FILE.format(folder, ", ".join((*FILES, GGUF))))
    has_others = any(not path.match(GGUF) for path in paths)
    first = tokenizer_file(folder) if has_others else next(iter(paths))
    rest = [path for path in paths if path != first]
    return folder, [*([first] if first in paths else []), *rest][:MOST_FILES]


def opened_files(paths: Iterable[Path], work: Work = ALONE) -> tuple[list[FolderFile], list[str]]:
    """Open the tokenizer files. Return the opened files, and a sentence about each file that cannot be opened."""
    files = list[FolderFile]()
    refused = list[str]()
    for path in paths:
        work.check()
        try:
            files.append(FolderFile(path, open_table(path)))
        except BpeError as error:
            refused.append(str(error))
    return files, refused


def differences(first: FolderFile, other: FolderFile, work: Work = ALONE) -> FileDifferences:
    """Return the differences between two files of a folder. `first` is the file that transformers loads."""
    texts = [*_texts_to_compare((first, other))]
    differing = list[TextDifference]()
    for number, text in enumerate(texts):
        if number % 32 == 0:
            work.check()
            work.progress(Progress(f"comparing {other.name}", number, len(texts), "texts"))
        stage = stage_of(first, other, text)
        if stage:
            differing.append(TextDifference(text, stage))
    return FileDifferences(
        tuple(_about_tokens(first, other)),
        _first_merge(first, other),
        tuple(_about_specials(first.specials, other.specials, (first.name, other.name))),
        tuple(differing),
        len(texts),
    )


def _texts_to_compare(files: Sequence[FolderFile]) -> Iterator[str]:
    yield from HARD_TEXTS
    for file in files:
        yield from special_texts(file.history, file.history.recipe)
        yield from (text[:LONGEST_TEXT] for text in islice(joined_tokens(file.history, MADE_TEXTS), MADE_TEXTS))


def stage_of(first: FolderFile, other: FolderFile, text: str) -> Stage:
    """Return the first stage of encoding at which two files differ for a text.

    The stage is empty if the text has the same ids in both files.
    """
    if first.encode(text) == other.encode(text):
        return ""
    if _tokens_of(first, text) == _tokens_of(other, text):
        return "ids"
    if first.encode(text, ()) == other.encode(text, ()):
        return "special tokens"
    if normalize(text, first.history.recipe) != normalize(text, other.history.recipe):
        return "normalization"
    if _ends_of_words(first, text) != _ends_of_words(other, text):
        return "words"
    return "tokens"


def _tokens_of(file: FolderFile, text: str) -> list[bytes]:
    """Return the bytes of each token into which a file splits a text."""
    texts = [*file.texts, *(special.encode() for special in file.history.recipe.special_tokens)]
    return [texts[index] for index in file.tokenizer.encode_to_array(text, allowed_special="all").tolist()]


def _ends_of_words(file: FolderFile, text: str) -> list[str]:
    recipe = file.history.recipe
    return list(Splitter(recipe).words(normalize(text, recipe)))


def _about_tokens(first: FolderFile, other: FolderFile) -> Iterator[str]:
    """Yield sentences about tokens that only one file has, and about tokens that have different ids.

    Each sentence has the number of these tokens and an example.
    """
    lacking = [text for text in first.ids if text not in other.ids]
    further = [text for text in other.ids if text not in first.ids]
    moved = [text for text, id in first.ids.items() if other.ids.get(text, id) != id]
    for tokens, name in ((lacking, first.name), (further, other.name)):
        if tokens:
            yield f"{count_text(len(tokens), 'token is', 'tokens are')} only in {name}, such as {quoted(tokens[0])}"
    if moved:
        token = moved[0]
        yield (
            f"{count_text(len(moved), 'token has', 'tokens have')} other ids, such as {quoted(token)}: "
            f"{first.ids[token]:,} in {first.name}, {other.ids[token]:,} in {other.name}"
        )


def _first_merge(first: FolderFile, other: FolderFile) -> int | None:
    """Return the number of the first merge that differs between two files.

    Return None if the merges are equal, or if a file lists no merges.
    """
    if not first.merges or not other.merges or first.merges == other.merges:
        return None
    pairs = zip(first.merges, other.merges, strict=False)
    shorter = min(len(first.merges), len(other.merges))
    return next((place for place, (merge, other_merge) in enumerate(pairs, 1) if merge != other_merge), shorter + 1)


def _about_specials(first: dict[str, int], other: dict[str, int], names: tuple[str, str]) -> Iterator[str]:
    for text in dict.fromkeys((*first, *other)):
        ids = first.get(text), other.get(text)
        if ids[0] == ids[1]:
            continue
        stated = (f"{'none' if id is None else f'{id:,}'} in {file}" for id, file in zip(ids, names, strict=True))
        yield f"the id of {quoted(text)} is {', '.join(stated)}"


def about_sidecars(folder: Path, main: FolderFile) -> list[str]:
    """Return sentences about contradictions between the tokenizer file, the configuration and the chat templates.

    There is also a sentence for each file that cannot be read as JSON.
    """
    sidecars = sidecars_of(folder, main.opened.format)
    known = {**{text.decode(errors="replace"): id for text, id in main.ids.items()}, **main.specials}
    sentences = [f"{name} cannot be read as JSON" for name in sidecars.damaged]
    roles = roles_in(sidecars)
    sentences += [
        f"The {role} token {quoted(text)} of the configuration is not a token of {main.name}"
        for role, text in roles.items()
        if text not in known
    ]
    sentences += _about_two_maps(sidecars)
    sentences += _about_added(sidecars, known, main.name)
    sentences += _about_templates(folder, sidecars)
    end = sidecars.read.get(GENERATION, {}).get("eos_token_id")
    ends = end if isinstance(end, list) else [end]
    wanted = known.get(roles.get("eos", ""))
    if wanted is not None and end is not None and wanted not in ends:
        sentences.append(
            f"{GENERATION} gives the id {end} for the end of a text, but {quoted(roles['eos'])} has the id {wanted:,}"
        )
    return sentences


def _about_two_maps(sidecars: Sidecars) -> Iterator[str]:
    files = [sidecars.read.get(name, {}) for name in (CONFIG, MAP)]
    for role in files[0]:
        texts = [content.get(role) for content in files]
        texts = [text.get("content") if isinstance(text, dict) else text for text in texts]
        if role.endswith("_token") and all(isinstance(text, str) for text in texts) and texts[0] != texts[1]:
            yield f"{CONFIG} names {quoted(str(texts[0]))} as {role}, and {MAP} names {quoted(str(texts[1]))}"


def _about_added(sidecars: Sidecars, known: dict[str, int], name: str) -> Iterator[str]:
    numbered = sidecars.read.get(CONFIG, {}).get("added_tokens_decoder")
    for id, token in numbered.items() if isinstance(numbered, dict) else ():
        text = token.get("content") if isinstance(token, dict) else None
        if isinstance(text, str) and id.isdecimal() and known.get(text) != int(id):
            there = "no id" if text not in known else f"the id {known[text]:,}"
            yield f"{CONFIG} gives {quoted(text)} the id {int(id):,}, but it has {there} in {name}"


def _about_templates(folder: Path, sidecars: Sidecars) -> Iterator[str]:
    """Yield a sentence for each chat template that differs from the template that transformers uses."""
    try:
        held = [*templates_by_file(sidecars)]
        held += [(path.name, templates_of_gguf(path).texts) for path in sorted(folder.glob(GGUF))[:MOST_FILES]]
    except FormatError as error:
        yield str(error).removesuffix(".")
        return
    known = dict[str, tuple[str, str]]()
    for file, templates in held:
        for name, text in templates.items():
            first, first_text = known.setdefault(name, (file, text))
            if text != first_text:
                yield f"The chat template {name} in {file} differs from the one in {first}"
