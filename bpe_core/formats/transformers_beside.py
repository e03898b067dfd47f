"""What transformers does by the files beside one, which that one does not say: a sentence each.

Its classes add tokens, let some take the spaces beside them, split in a way of their own, and give SentencePiece's
pieces other numbers.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from bpe_core.errors import FormatError
from bpe_core.formats.base import Beside, OpenedTable
from bpe_core.formats.json_reading import Object, parsed_object
from bpe_core.formats.limitations import about
from bpe_core.history.token_texts import written
from bpe_core.recipes.recipe import Recipe
from bpe_core.text.preparation.pieces import AddedToken

ADDED, CONFIG, MAP = "added_tokens.json", "tokenizer_config.json", "special_tokens_map.json"
VOCABULARY, WHOLE = "vocab.json", "tokenizer.json"
_LISTS = ("additional_special_tokens", "extra_special_tokens")
# Classes that number pieces otherwise, by fairseq's order, room for tokens of their own, or a vocab.json.
_OTHER_NUMBERS = (
    *("Camembert", "LayoutXLM", "MBart", "MBart50", "MLuke", "Nllb", "PLBart", "SeamlessM4T", "XGLM", "XLMRoberta"),
    *("M2M100", "Marian", "Pegasus", "Speech2Text"),
)
_MASKED = ("Bart", "Roberta")
_MASK = (
    "No file beside it says whether “<mask>” takes the spaces before it: in transformers 4 it does, in 5 it does not, "
    "and here it does not."
)
_OWN_TOKENS = {  # of classes, beside those that a configuration names
    ("<|endoftext|>",): ("CodeGen", "GPT2", "Qwen2", "Whisper"),
    ("<s>", "</s>", "<unk>", "<pad>", "<mask>"): _MASKED,
}
_EXTRA = (
    f"{CONFIG} beside it names T5Tokenizer, which adds tokens such as “<extra_id_0>”; they are not looked for here."
)
_CHANGING = ("Albert", "XLNet")
_CHANGES = "which itself changes texts, such as quotes and accents; here only the file does."
_INSTEAD = f"{WHOLE} lies beside it, which transformers reads instead; open that one for its ids."
_PREFIX = f"{CONFIG} beside it says add_prefix_space: transformers puts a space before a text; here it has none."


def about_beside(opened: OpenedTable, beside: Beside) -> list[str]:
    found = [_INSTEAD] * (beside(WHOLE) is not None)
    files = {name: _object_in(name, beside, found) for name in (ADDED, CONFIG, MAP)}
    recipe, kind = opened.history.recipe, class_of(files[CONFIG])
    done = {step.content for step in recipe.preparation if isinstance(step, AddedToken)}
    told, by_spaces = _known(opened) | done, dict[str, None]()
    for name, whole in files.items():
        tokens = dict.fromkeys(whole) if name == ADDED else tokens_in(whole)
        lacking = [token for token in tokens if token not in told]
        told.update(lacking)
        found += about(
            lacking, f"tokens in {name} beside it are not looked for here; a tokenizer.json has them, too: {{}}"
        )
        by_spaces |= {text: None for text, how in tokens.items() if how and text in {*recipe.special_tokens} - done}
    found += about(by_spaces, "tokens take the spaces beside them in transformers, which stay here: {}")
    if opened.format == "merges.txt":
        if beside(WHOLE) is None:
            found += _about_own(recipe.special_tokens, {text for whole in files.values() for text in _all(whole)}, kind)
            by_name = kind in _MASKED and "<mask>" in recipe.special_tokens and "<mask>" not in done
            found += [_MASK] * by_name
        found += [_PREFIX] * (files[CONFIG].get("add_prefix_space") is True and steps_of(files[CONFIG]) is None)
    if opened.format == "sentencepiece":
        found += _about_numbers(opened, kind, beside)
        adds = kind == "T5" and files[CONFIG].get("extra_ids") != 0 and "<extra_id_0>" not in told
        found += [_EXTRA] * adds + [f"{CONFIG} beside it names {kind}Tokenizer, {_CHANGES}"] * (kind in _CHANGING)
    return found


def _about_own(specials: Collection[str], named: Collection[str], kind: str) -> list[str]:
    """Report special tokens that the class does not look for; none where it is not known."""
    own = next((tokens for tokens, kinds in _OWN_TOKENS.items() if kind in kinds), None)
    unnamed = [text for text in specials if text not in named and text not in own] if own else []
    return about(
        unnamed,
        "tokens that no merge makes are looked for in texts here, but not in transformers, as nothing names them: {}",
    )


def _all(whole: Object) -> Iterator[str]:
    """Return all texts that a file may name as tokens."""
    yield from whole  # of added_tokens.json
    yield from tokens_in(whole)


def config_beside(beside: Beside) -> Object:
    return _object_in(CONFIG, beside, [])


def steps_of(config: Object) -> Object | None:
    """Return how the class that is named changes and splits texts, as a tokenizer.json says it; None: it is not known.

    >>> steps_of({"tokenizer_class": "GPT2Tokenizer"})
    {'pre_tokenizer': {'type': 'ByteLevel', 'add_prefix_space': False, 'use_regex': True}}
    """
    kind = class_of(config)
    if kind == "Qwen2":
        split = {"type": "Split", "pattern": {"Regex": _QWEN2}, "behavior": "Isolated", "invert": False}
        steps = [split, {"type": "ByteLevel", "add_prefix_space": False, "use_regex": False}]
        return {"normalizer": {"type": "NFC"}, "pre_tokenizer": {"type": "Sequence", "pretokenizers": steps}}
    if kind in _LIKE_GPT2:
        before = config.get("add_prefix_space") is True
        return {"pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": before, "use_regex": True}}
    return None


_QWEN2 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+"
    r"|\s+(?!\S)|\s+"
)
_LIKE_GPT2 = (
    *("Bart", "Blenderbot", "CodeGen", "Deberta", "GPT2", "LED", "LayoutLMv3", "Longformer", "MarkupLM", "Mvp"),
    *("Roberta", "Whisper"),
)


_OWN_STEPS = {  # of classes in transformers 5: the kinds of those that change texts, and of those that split them
    **dict.fromkeys(("Bart", "GPT2", "Roberta"), ("", "ByteLevel")),
    "Llama": ("", "Metaspace"),
    "Pegasus": ("Precompiled Replace", "Metaspace"),
    "Qwen2": ("NFC", "Split ByteLevel"),
    **dict.fromkeys(("T5", "XLMRoberta"), ("Precompiled", "WhitespaceSplit Metaspace")),
}


def about_whole(whole: Object, recipe: Recipe, beside: Beside) -> list[str]:
    """Report what transformers does otherwise than a sound tokenizer.json says, as files beside it want it."""
    listed = {item.get("content") for item in whole.get("added_tokens") or ()}
    config, names = (_object_in(name, beside, []) for name in (CONFIG, MAP))
    lacking = [text for text in tokens_in(config) | tokens_in(names) if text not in listed]
    said = f"tokens that {CONFIG} or {MAP} beside it name are looked for in transformers, but not here: {{}}"
    return _about_steps(whole, recipe, class_of(config)) + about(lacking, said)


def _about_steps(whole: Object, recipe: Recipe, kind: str) -> list[str]:
    """Report a class that goes by steps of its own, where those of the file are of other kinds."""
    steps = _kinds(whole.get("normalizer"), "normalizers"), _kinds(whole.get("pre_tokenizer"), "pretokenizers")
    if kind in _LIKE_GPT2 and recipe.pattern == "gpt2" and not steps[0]:
        return []  # told in other words
    if _OWN_STEPS.get(kind, steps) == steps:
        return []
    return [
        f"{CONFIG} beside it names {kind}Tokenizer, which in transformers 5 changes and splits texts in a way of its "
        "own; here it is done as the file says."
    ]


def _kinds(step: Any, key: str) -> str:
    if not step:
        return ""
    return step["type"] if key not in step else " ".join(filter(None, (_kinds(one, key) for one in step[key])))


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
    first = [opened.history.alphabet.texts[id].decode() for id in (joining.found_first if joining else ())]
    unknown = [recipe.unknown_text] if opened.format != "sentencepiece" else []  # which finds it in no text
    return {*recipe.special_tokens, *unknown, *first}


def tokens_in(config: Object) -> dict[str, AddedToken | None]:
    """Find the tokens that a configuration names, and how those are found that take spaces or stand alone."""
    numbered = config.get("added_tokens_decoder")
    items = [*numbered.values()] if isinstance(numbered, dict) else []
    for key, value in config.items():
        if key in _LISTS:
            items += value if isinstance(value, list) else [*value.values()] if isinstance(value, dict) else []
        elif key.endswith("_token") and isinstance(value, str | dict):
            items.append(value)
    found: dict[str, AddedToken | None] = {}
    for item in items:
        said: Mapping[str, object] = item if isinstance(item, dict) else {"content": item}
        text = said.get("content")
        if isinstance(text, str) and text:
            sides = {side: True for side in ("lstrip", "rstrip", "single_word") if said.get(side) is True}
            found[text] = AddedToken(text, **sides) if sides else found.get(text)
    return found


def _about_numbers(opened: OpenedTable, kind: str, beside: Beside) -> list[str]:
    if kind in _OTHER_NUMBERS:
        return [f"{CONFIG} beside it names {kind}Tokenizer, which {_NUMBERS}"]
    try:
        vocabulary = parsed_object(beside(VOCABULARY) or b"{}", VOCABULARY)
    except FormatError:
        return []
    if not vocabulary:
        return []
    texts = [text.decode(errors="replace") for text in written(opened.history)]
    numbers = opened.numbers_of(range(len(texts)))
    others = (vocabulary.get(text) not in (None, number) for text, number in zip(texts, numbers, strict=True))
    return [f"{VOCABULARY} beside it {_NUMBERS}"] * any(others)


_NUMBERS = "gives pieces other numbers than their places in the file; here they have those places."
