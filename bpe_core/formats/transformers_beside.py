"""What transformers does by the files beside one, which that one does not say: a sentence each.

Its classes add tokens, let some take the spaces beside them, and give SentencePiece's pieces other numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from bpe_core.errors import FormatError
from bpe_core.formats.base import Beside, OpenedTable
from bpe_core.formats.json_reading import Object, parsed_object
from bpe_core.formats.limitations import about
from bpe_core.history.token_texts import written
from bpe_core.text.preparation.pieces import AddedToken

ADDED, CONFIG, MAP = "added_tokens.json", "tokenizer_config.json", "special_tokens_map.json"
VOCABULARY = "vocab.json"
_LISTS = ("additional_special_tokens", "extra_special_tokens")
# Classes that number pieces otherwise, by fairseq's order, room for tokens of their own, or a vocab.json.
_OTHER_NUMBERS = (
    *("Camembert", "LayoutXLM", "MBart", "MBart50", "MLuke", "Nllb", "PLBart", "SeamlessM4T", "XGLM", "XLMRoberta"),
    *("M2M100", "Marian", "Pegasus", "Speech2Text"),
)
# Classes whose mask takes the spaces before it where its text is all that is said.
_MASK_TAKES_SPACES = (
    *("Albert", "Bart", "Barthez", "BigBird", "Blenderbot", "Camembert", "Deberta", "FNet", "LED", "LayoutLMv3"),
    *("Longformer", "Luke", "MBart", "MBart50", "MPNet", "MarkupLM", "Mvp", "Nllb", "RemBert", "Roberta"),
    *("XLMRoberta", "XLNet"),
)


def about_beside(opened: OpenedTable, beside: Beside) -> list[str]:
    found: list[str] = []
    files = {name: _object_in(name, beside, found) for name in (ADDED, CONFIG, MAP)}
    config, kind = files[CONFIG], class_of(files[CONFIG])
    takes_spaces: dict[str, None] = {}
    told = _known(opened)
    for name, whole in files.items():
        tokens = dict.fromkeys(whole if name == ADDED else _tokens_in(whole, kind, takes_spaces))
        lacking = [token for token in tokens if token not in told]
        told.update(lacking)
        found += about(
            lacking, f"tokens in {name} beside it are not looked for here; a tokenizer.json has them, too: {{}}"
        )
    by_spaces = [token for token in takes_spaces if token in opened.history.recipe.special_tokens]
    found += about(by_spaces, "tokens take the spaces beside them in transformers, which stay here: {}")
    if opened.format == "merges.txt" and config.get("add_prefix_space") is True:
        found.append(
            f"{CONFIG} beside it says add_prefix_space: transformers puts a space before a text; here it has none."
        )
    if opened.format == "sentencepiece":
        found += _about_numbers(opened, kind, beside)
    return found


def class_of(config: Object) -> str:
    """Return the class that a configuration names, by what sets it apart from others.

    >>> class_of({"tokenizer_class": "XLMRobertaTokenizerFast"}), class_of({"tokenizer_class": None})
    ('XLMRoberta', '')
    """
    named = config.get("tokenizer_class")
    return named.removesuffix("Fast").removesuffix("Tokenizer") if isinstance(named, str) else ""


def _object_in(name: str, beside: Beside, found: list[str]) -> Object:
    try:
        return parsed_object(beside(name) or b"{}", name)
    except FormatError:
        found.append(f"{name} beside it is damaged, and was not read.")
        return {}


def _known(opened: OpenedTable) -> set[str]:
    """Return the texts that are looked for here."""
    recipe, joining = opened.history.recipe, opened.history.joining
    symbols = opened.history.alphabet.symbols
    first = [symbols[id].text.decode() for id in (joining.found_first if joining else ())]
    added = [step.content for step in recipe.preparation if isinstance(step, AddedToken)]
    unknown = [recipe.unknown_text] if opened.format != "sentencepiece" else []  # which finds it in no text
    return {*recipe.special_tokens, *unknown, *first, *added}


def _tokens_in(whole: Object, kind: str, takes_spaces: dict[str, None]) -> Iterator[str]:
    """Find the tokens that a configuration names, and which of them take spaces."""
    numbered = whole.get("added_tokens_decoder")
    items = [*numbered.values()] if isinstance(numbered, dict) else []
    for key, value in whole.items():
        if key in _LISTS:
            items += value if isinstance(value, list) else [*value.values()] if isinstance(value, dict) else []
        elif key.endswith("_token") and isinstance(value, str | dict):
            items.append(value)
            if key == "mask_token" and isinstance(value, str) and kind in _MASK_TAKES_SPACES and not numbered:
                takes_spaces[value] = None
    for item in items:
        said: Mapping[str, object] = item if isinstance(item, dict) else {"content": item}
        text = said.get("content")
        if isinstance(text, str) and text:
            if said.get("lstrip") is True or said.get("rstrip") is True:
                takes_spaces[text] = None
            yield text


def _about_numbers(opened: OpenedTable, kind: str, beside: Beside) -> list[str]:
    if kind in _OTHER_NUMBERS:
        return [f"{CONFIG} beside it names {kind}Tokenizer, which {_NUMBERS}"]
    try:
        vocabulary = parsed_object(beside(VOCABULARY) or b"{}", VOCABULARY)
    except FormatError:
        return []
    texts = [text.decode(errors="replace") for text in written(opened.history)]
    numbers = opened.numbers_of(range(len(texts)))
    others = (vocabulary.get(text) not in (None, number) for text, number in zip(texts, numbers, strict=True))
    return [f"{VOCABULARY} beside it {_NUMBERS}"] * any(others)


_NUMBERS = "gives pieces other numbers than their places in the file; here they have those places."
