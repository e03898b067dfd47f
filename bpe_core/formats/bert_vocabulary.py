"""BERT's vocab.txt: a token a line, whose number is that of its line, counted from 0.

How a text is changed and split before tells a file beside it, tokenizer_config.json; where that is missing it is
guessed from the tokens, and a note says so.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from bpe_core.errors import FormatError, RecipeError
from bpe_core.formats import missing_places
from bpe_core.formats.base import Beside, Format, OpenedTable, Peer, nothing_beside
from bpe_core.formats.bert_config import SPECIALS, BertConfig
from bpe_core.formats.text_lines import VERSION, lines_of
from bpe_core.formats.unfit_tokens import containing, same_text
from bpe_core.formats.wordpiece_vocabulary import history_of, numbers_for, vocabulary_of
from bpe_core.history.history import History, Int64s
from bpe_core.progress import Progress, ProgressReport
from bpe_core.recipe import LARGEST_VOCABULARY, Recipe
from bpe_core.text.preparation.added_tokens import AddedToken

MARKER = "##"
LONGEST_WORD = 100  # characters, which BERT's tokenizers take for granted
LOOK = 100_000  # bytes that tell whether there is a token a line


class BertVocabulary(Format):
    """vocab.txt"""

    name = "vocab.txt"
    extension = ".txt"
    methods = ("wordpiece",)
    holds = "WordPiece's tokens only"
    peer_name = "tokenizers"
    holds_splitting = False
    holds_specials = False

    def impossible(self, history: History) -> list[str]:
        if history.recipe.marker_text != MARKER:
            return [
                f"vocab.txt knows {MARKER} before what continues a word; here it is {history.recipe.marker_text!r}."
            ]
        return containing(history, _holds_a_blank, "A line of vocab.txt cannot hold the blank or line break in these")

    def can_hold(self, history: History) -> list[str]:
        impossible = self.impossible(history)
        if impossible:
            return impossible
        recipe = history.recipe
        found = same_text(history)
        if recipe.pattern != "bert":
            found += missing_places.about_splitting(recipe.with_changes(special_tokens=()))
        else:
            found += _about_changes(recipe)
        found += missing_places.about_specials(
            recipe.with_changes(special_tokens=tuple(one for one in recipe.special_tokens if one not in SPECIALS))
        )
        if recipe.longest_word != LONGEST_WORD:
            found.append(
                f"Here a word of more than {recipe.longest_word:,} characters is unknown; who loads this file takes "
                f"{LONGEST_WORD} for granted."
            )
        return found

    def numbers(self, history: History, known: Int64s | None = None) -> Int64s:
        return numbers_for(history, known)

    def write_all(self, history: History, file: BinaryIO, progress: ProgressReport, numbers: Int64s) -> None:
        vocabulary = vocabulary_of(history, numbers)
        text_of = {number: text for text, number in vocabulary.items()}
        for line in range(max(text_of) + 1):  # BERT's own files fill gaps so, too
            text = text_of.get(line) or next(gap for gap in _gaps(line) if gap not in vocabulary)
            file.write(text.encode() + b"\n")
        progress(Progress("writing", len(history), len(history), "steps"))

    def recognizes(self, data: bytes) -> bool:
        lines = data[:LOOK].split(b"\n")
        marked = b"[UNK]" in data[:LOOK] or any(line.startswith(b"##") and len(line) > 2 for line in lines)
        return marked and _has_a_token_a_line(data)

    def recognizes_file(self, data: bytes, name: str, beside: Beside) -> bool:
        return self.recognizes(data) or (Path(name).name == "vocab.txt" and _has_a_token_a_line(data))

    def open(self, data: bytes, name: str, beside: Beside = nothing_beside) -> OpenedTable:
        vocabulary = read_vocabulary(data, name)
        config = BertConfig.beside(beside, vocabulary, name)
        try:
            recipe = Recipe(
                name="vocab.txt",
                method="wordpiece",
                base="characters",
                marker="continuation",
                marker_text=MARKER,
                unknown_text=config.unknown,
                special_tokens=tuple(config.specials),
                merges=0,
                vocab_size=None,
                preparation=(AddedToken(config.unknown),),
                **config.text_choices,
            )
        except RecipeError as error:
            raise FormatError(f"{name}: {error}") from error
        history, numbers = history_of(vocabulary | config.specials, recipe, name)
        return OpenedTable(history, self.name, tuple(config.notes), numbers)

    def peer(self, data: bytes, history: History, name: str, beside: Beside = nothing_beside) -> Peer | None:
        try:
            import tokenizers  # not needed to run: only asked whether it agrees
        except ImportError:
            return None
        recipe = history.recipe
        said: dict[str, Any] = {"unk_token": recipe.unknown_text, "max_input_chars_per_word": recipe.longest_word}
        asked = tokenizers.Tokenizer(tokenizers.models.WordPiece(read_vocabulary(data, name), **said))
        return lambda word: list(asked.encode(word).ids)


def read_vocabulary(data: bytes, name: str) -> dict[str, int]:
    """The tokens of a whole file with the numbers of their lines, from 0."""
    found: dict[str, int] = {}
    for number, line in enumerate(lines_of(data, name)):
        text = line.rstrip()
        if any(character.isspace() for character in text):
            raise FormatError(f"{name}, line {number + 1:,}: there must be one token and no blank, not {text[:80]!r}.")
        if text and found.setdefault(text, number) != number:
            raise FormatError(
                f"{name}, line {number + 1:,}: the token {text[:80]!r} stands in line {found[text] + 1:,} already."
            )
    return found


def _about_changes(recipe: Recipe) -> list[str]:
    """What must be said to BERT's tokenizer, and what it has no word for."""
    said = f"do_lower_case={recipe.lowercase}, strip_accents={recipe.strip_accents}"
    found = [f"vocab.txt does not say how a text is changed first; tell BERT's tokenizer {said}."]
    if not recipe.clean_text:
        found.append("BERT's tokenizer leaves out control characters; here they stay.")
    if recipe.lowercase and recipe.final_sigma:
        found.append("A capital Σ at the end of a word becomes ς here, but σ by BERT's tokenizer.")
    known = dict.fromkeys(("clean_text", "lowercase", "strip_accents"), False)
    return found + missing_places.about_lines(recipe) + missing_places.about_normalization(recipe.with_changes(**known))


def _gaps(line: int) -> Iterator[str]:
    """Texts for a line that no token has."""
    yield f"[unused{line}]"
    yield from (f"[unused{line}-{other}]" for other in range(LARGEST_VOCABULARY))


def _has_a_token_a_line(data: bytes) -> bool:
    """Whether its beginning is lines of text, not empty, without a blank inside."""
    lines = data[:LOOK].split(b"\n")[:-1] or [data[:LOOK]]
    return (
        not data.startswith((b"{", VERSION.encode()))
        and b"\0" not in data[:LOOK]
        and all(len(line.split()) <= 1 for line in lines)
        and any(lines)
    )


def _holds_a_blank(text: bytes) -> bool:
    return any(character.isspace() for character in text.decode())
