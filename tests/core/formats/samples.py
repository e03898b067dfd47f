"""Tables learned from real text, files written from the tables, and texts that are hard to split."""

from __future__ import annotations

import io
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from bpe_core.counting.count_words import count_words
from bpe_core.formats import FORMATS, Format, OpenedTable
from bpe_core.formats.base import Beside
from bpe_core.history.history import History
from bpe_core.methods.kit.tokenizer import Tokenizer
from bpe_core.methods.kit.trainer import learn
from bpe_core.methods.registry import METHODS
from bpe_core.recipes.presets import PRESETS
from bpe_core.recipes.recipe import Recipe
from bpe_core.text.corpus import Corpus
from bpe_core.verification.sampling import HARD_TEXTS
from tests.core.learning import train, with_two_languages
from tests.shared import SCRIPTS, available_texts, text_of

LEARNED = 60_000  # characters of each text
MERGES = 400

LEARNED_FROM_GROUPS = ("parity",)  # the steps of parity are those of byte-pair encoding


@cache
def languages() -> str:
    """Return a text in many languages."""
    return "\n".join(
        text_of(name)[:LEARNED] for name in available_texts("languages", "made/languages", "data/udhr-languages.txt")
    )


@cache
def texts() -> tuple[str, ...]:
    """Return texts in many languages, additional English texts, and texts that are hard to split."""
    samples = [text_of(name) for name in (*SCRIPTS, "poem", "prose", "code")]
    for name in available_texts("data/udhr-languages.txt"):
        whole = text_of(name)
        samples += [whole[start : start + 1_500] for start in range(0, len(whole), 250_000)]
    samples += [text_of(name)[:20_000] for name in available_texts("data/wikitext2-test.raw.txt")]
    return (*samples, *HARD_TEXTS)


@cache
def lines() -> tuple[str, ...]:
    """Return lines of text in many languages."""
    sample_lines = [line for name in available_texts("data/udhr-languages.txt") for line in text_of(name).split("\n")]
    return tuple(sample_lines[:: max(1, len(sample_lines) // 200)])


@cache
def _learn(recipe: Recipe, text: str) -> History:
    return train(Corpus.from_texts([text]), recipe)


def learn_preset(preset: str, **changes: Any) -> History:
    return learn_text(languages(), preset, **changes)


def learn_text(text: str, preset: str, **changes: Any) -> History:
    return _learn(Recipe.preset(preset, **{"merges": MERGES, **changes}), text)


def content(history: History, format: str) -> bytes:
    file = io.BytesIO()
    FORMATS[format].write(history, file)
    return file.getvalue()


def files(history: History, format: str, name: str) -> dict[str, bytes]:
    """Return the content of the named file and of the files that the format writes beside it."""
    contents = {name: content(history, format)}
    for path, write in FORMATS[format].companions(Path(name)).items():
        file = io.BytesIO()
        write(history, file)
        contents[path.name] = file.getvalue()
    return contents


def write_and_open(history: History, format: str, name: str = "table") -> OpenedTable:
    """Write a history in a format and return the table read back from the file."""
    contents = files(history, format, name)
    return FORMATS[format].open(contents[name], name, contents.get)


def file_name(format: Format) -> str:
    ending = FORMATS.rows[format.name].endings[0]
    return f"table{ending}" if ending.startswith(".") else ending


def history_for(format: Format, text: str, **changes: Any) -> History:
    """Return a history of the first recipe whose tables the format can hold."""
    return histories_for(format, text, **changes)[0]


def histories_for(format: Format, text: str, **changes: Any) -> list[History]:
    """Return a history of each method whose tables the format can hold."""
    recipes = [
        Recipe.preset("gpt2"),
        Recipe.preset("words", marker="glued", ties="largest-text"),
        Recipe.preset("sentencepiece-like", unicode_form=""),  # the normalization map fills most of the file
        Recipe.preset("gage"),
        Recipe.preset("superbpe", unit="file"),  # not every format splits by lines, too
        Recipe.preset("bert"),
        Recipe(method="wordpiece", base="bytes", pattern="none", merges=0, vocab_size=None, longest_word=2**31 - 1),
        Recipe.preset("unigram", unicode_form=""),
        Recipe.preset("mingram", unicode_form=""),
    ]
    known = {recipe.method for recipe in recipes}
    others = map(Recipe.preset, PRESETS)
    recipes += [recipe for recipe in others if recipe.method not in {*known, *LEARNED_FROM_GROUPS}]
    histories: dict[str, History] = {}
    for recipe in recipes:
        if METHODS[recipe.method].fits(format) and recipe.method not in histories:
            wanted = {**changes, "merges": 0} if recipe.lists_bytes else changes
            recipe = recipe.with_changes(special_tokens=("<|end|>",), vocab_size=None, **wanted)
            history = _learn_by_method(recipe, text)
            if not (impossible := format.impossible(history)):
                histories[recipe.method] = history
    assert histories, impossible
    return list(histories.values())


@cache
def _learn_by_method(recipe: Recipe, text: str) -> History:
    words = count_words(Corpus.from_texts([text]), recipe)
    return learn(with_two_languages(words) if METHODS[recipe.method].serves_languages else words, recipe)


def files_beside(contents: dict[str, bytes]) -> Beside:
    return contents.get


def same_merges(first: History, second: History) -> bool:
    columns = zip(first.columns[:2], second.columns[:2], strict=True)
    return first.alphabet == second.alphabet and all((a.tolist() == b.tolist()) for a, b in columns)


def encode(history: History, text: str) -> list[int]:
    return _tokenizer_of(history).encode(text, allowed_special="all")


@lru_cache(maxsize=4)
def _tokenizer_of(history: History) -> Tokenizer:
    """Return the cached tokenizer of a history, so that a test makes the tokenizer once for all texts."""
    return Tokenizer(history)


def format_named(name: str) -> Format:
    return FORMATS[name]
