"""The fixed behaviour of the classes of transformers: the tokens they search for, and how they change and split a text.

In transformers 5, most classes read only the pieces of a tokenizer.json, and make all other parts themselves. The facts
were measured with the versions 4.57.6 and 5.24.0. The slow and the fast class encoded texts of many languages, each
token alone, and every assigned character, alone and between letters. They also decoded random tokens.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from bpe_core.formats.hugging_face_text import read_steps
from bpe_core.formats.json_reading import Object
from bpe_core.text.decoding import Decoder, Metaspace

# Classes that go by the file.
_BY_FILE = ("", "Bloom", "PreTrained", "TokenizersBackend")
_BERTS = (
    *("Bert", "ConvBert", "DistilBert", "Electra", "LayoutLM", "LayoutLMv2", "Lxmert", "MobileBert"),
    *("Splinter", "SqueezeBert"),
)
LIKE_BERT = (*_BERTS, "Funnel", "MPNet")
# of these, the classes whose transformers 4 version decodes with spaces before signs
SPACED = ("LayoutLMv2", "Splinter")
LIKE_BART = ("Bart", "Blenderbot", "LED", "LayoutLMv3", "Longformer", "Luke", "MarkupLM", "Mvp", "Roberta")
LIKE_GPT2 = (*LIKE_BART, "CodeGen", "Deberta", "GPT2", "Whisper")
_LIKE_T5 = ("Camembert", "T5", "XLMRoberta")  # classes with the file's own map of characters
_MAPLESS = ("MBart", "Udop")  # classes that leave it out
_PREFIXED = ("Blenderbot", "LayoutLMv3")  # classes that put a space before a text by default

_CALLED = "bos <s> eos </s> sep </s> cls <s> unk <unk> pad <pad>"
_TOKENS = {  # the tokens of classes by their role, where no file names others
    f"{_CALLED} mask <mask>": (
        *(*LIKE_BART, "Barthez", "Camembert", "LayoutXLM", "MBart", "MBart50", "Nllb", "XLMRoberta"),
    ),
    f"{_CALLED} mask <mask> ent <ent> ent2 <ent2> u [UNK] p [PAD] m [MASK] m2 [MASK2]": ("Luke",),
    _CALLED: ("SeamlessM4T", "XGLM"),
    "unk [UNK] sep [SEP] pad [PAD] cls [CLS] mask [MASK]": (*_BERTS, "RoFormer"),
    "bos [CLS] eos [SEP] sep [SEP] cls [CLS] unk <unk> pad <pad> mask [MASK]": ("Albert", "FNet", "RemBert"),
    "bos [CLS] eos [SEP] sep [SEP] cls [CLS] unk [UNK] pad [PAD] mask [MASK]": ("Deberta", "DebertaV2"),
    "bos <s> eos </s> sep [SEP] cls [CLS] unk <unk> pad <pad> mask [MASK]": ("BigBird",),
    "bos <s> eos </s> sep <sep> cls <cls> unk <unk> pad <pad> mask <mask>": ("Funnel", "XLNet"),
    "bos <s> eos </s> sep </s> cls <s> unk [UNK] pad <pad> mask <mask>": ("MPNet",),
    "bos <|endoftext|> eos <|endoftext|> unk <|endoftext|>": ("CodeGen", "GPT2", "Whisper"),
    "bos <|endoftext|> eos <|endoftext|> unk <|endoftext|> pad <|padding|>": ("GPTNeoX",),
    "eos <|endoftext|> unk <|endoftext|> pad <|endoftext|>": ("Qwen2", "Qwen3_5"),
    "bos <|startoftext|> eos <|endoftext|> unk <|endoftext|> pad <|endoftext|>": ("CLIP",),
    "bos <BOS_TOKEN> eos <|END_OF_TURN_TOKEN|> unk <UNK> pad <PAD> cls <CLS> sep <SEP> mask <MASK_TOKEN>": ("Cohere",),
    "bos <s> eos </s> unk <unk>": ("CodeLlama", "Llama"),
    "bos <bos> eos <eos> unk <unk> pad <pad> mask <mask>": ("Gemma",),
    "bos <s> eos </s> unk <unk> pad <pad>": ("Bloom", "Nougat"),
    "sep </s> cls <s> unk <unk> pad <pad> mask <mask>": ("Herbert",),
    "eos </s> unk <unk> pad <pad>": ("T5", "Udop"),
    "eos </s> unk <unk> pad <pad> mask <mask_2>": ("Pegasus",),
    "eos </s> unk <unk>": ("Reformer",),
    "unk <unk>": ("OpenAIGPT",),
}
_OF_CLASS = {kind: dict(zip(*[iter(tokens.split())] * 2, strict=True)) for tokens, kinds in _TOKENS.items()
             for kind in kinds}  # fmt: skip
_OTHERWISE_CALLED = {  # models whose classes have other names
    **dict.fromkeys(("gptneo", "gptj", "opt"), "GPT2"),
    **dict.fromkeys(("mistral", "mixtral", "phi3"), "Llama"),
    **dict.fromkeys(("gemma2", "gemma3", "gemma3text"), "Gemma"),
    **dict.fromkeys(("longt5", "mt5", "umt5"), "T5"),
    **dict.fromkeys(("xlmrobertaxl", "xmod"), "XLMRoberta"),
    **dict.fromkeys(("qwen2moe", "qwen3", "qwen3moe"), "Qwen2"),
    "phi": "CodeGen",
}
_CLASS_OF_MODEL = {
    kind.replace("_", "").lower(): kind for kind in (*_OF_CLASS, "Siglip2", "RoFormer")
} | _OTHERWISE_CALLED
_BY_MODEL = ("Qwen2", "Qwen3_5", "Siglip2")  # models for which transformers 5 ignores the named class
READ_ALIKE = 10  # digits after the point
_OF_MODEL = (
    *("ignore_merges", "byte_fallback", "fuse_unk", "continuing_subword_prefix", "end_of_word_suffix", "unk_id"),
    "max_input_chars_per_word",
)


def class_of(config: Object) -> str:
    """Return the class that a configuration names, without the endings Tokenizer and Fast.

    >>> class_of({"tokenizer_class": "XLMRobertaTokenizerFast"}), class_of({"tokenizer_class": None})
    ('XLMRoberta', '')
    """
    named = config.get("tokenizer_class")
    return named.removesuffix("Fast").removesuffix("Tokenizer") if isinstance(named, str) else ""


def class_for(model: Object) -> str:
    """Return the name of the tokenizer class for a model. `model` is the configuration of the model.

    >>> class_for({"model_type": "xlm-roberta"}), class_for({"model_type": "gptj"}), class_for({"model_type": "new"})
    ('XLMRoberta', 'GPT2', '')
    """
    named = model.get("model_type")
    plain = named.replace("-", "").replace("_", "").lower() if isinstance(named, str) else ""
    return class_of(model) or _CLASS_OF_MODEL.get(plain, "")


def class_beside(config: Object, model: Object) -> str:
    """Return the name of the class with which transformers reads a tokenizer.

    `config` is the configuration of the tokenizer, and `model` is the configuration of its model. If transformers 4 and
    transformers 5 choose different classes, return the class of transformers 5.
    """
    by_model = class_for({"model_type": model.get("model_type")})
    return by_model if by_model in _BY_MODEL else class_of(config) or class_for(model)


def own_tokens(kind: str, config: Object) -> list[str] | None:
    """Return the special tokens that a tokenizer class of transformers has by default. `kind` names the class.

    A token is left out if `config` sets the token for its role. Return None if this program does not know the
    class.
    """
    if kind not in _OF_CLASS:
        return None
    tokens = [text for name, text in _OF_CLASS[kind].items() if f"{name}_token" not in config]
    count = config.get("extra_ids", 100) if kind == "T5" else 0
    tokens += [f"<extra_id_{number}>" for number in range(count if isinstance(count, int) else 0)]
    return list(dict.fromkeys(tokens))


def role_tokens(kind: str) -> dict[str, str]:
    """Return the default token for each role, such as `unk_token`, in a tokenizer class of transformers.

    >>> role_tokens("MPNet")["unk_token"], role_tokens("new")
    ('[UNK]', {})
    """
    return {f"{name}_token": text for name, text in _OF_CLASS.get(kind, {}).items()}


def decoder_of(kind: str, config: Object) -> Object | None:
    """Return the decoder of a tokenizer class of transformers, in the form that a tokenizer.json has for it.

    `kind` is the name of the class without the ending `Tokenizer`, such as `Llama`. `config` is the content of the file
    tokenizer_config.json. Return None if the decoder is not known.
    """
    if kind in (*LIKE_GPT2, "GPTNeoX", "Qwen2", "Qwen3_5"):
        return _BY_BYTES
    if kind in LIKE_BERT:
        return {"type": "WordPiece", "prefix": "##", "cleanup": True}
    is_put = config.get("add_prefix_space") is not False
    if kind in (*_LIKE_T5, *_MAPLESS, "Pegasus"):
        never = not is_put and kind in ("Camembert", "XLMRoberta")
        return {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "never" if never else "always"}
    if kind in ("CodeLlama", "Gemma", "Llama"):
        steps: list[Object] = [_replace("▁", " "), {"type": "ByteFallback"}, {"type": "Fuse"}]
        strips = kind == "CodeLlama" or (kind == "Llama" and is_put)
        return _sequence("decoders", steps + [{"type": "Strip", "content": " ", "start": 1, "stop": 0}] * strips)
    if kind == "CLIP":
        steps = [_BY_BYTES, _replace("</w>", " "), _replace(BLANKS_AROUND, "", "Regex")]
        return _sequence("decoders", steps)
    return None


def decodes_as(whole: Object, kind: str, config: Object) -> bool:
    """Return whether a tokenizer class of transformers decodes ids as a tokenizer.json says.

    `kind` names the class, `whole` is the content of the file, and `config` holds the settings of the class. Return
    True if the decoder of the class is not known.
    """
    own = decoder_of(kind, config)
    return own is None or _decoding(own) == _decoding(whole.get("decoder"))


def _decoding(decoder: object) -> object:
    steps = read_steps({"decoder": decoder, "added_tokens": []}, "steps").choices["decoding"]
    return [replace(step, prepend_scheme="always") if _drops_first(step) else step for step in steps]


def _drops_first(step: Decoder) -> bool:
    return isinstance(step, Metaspace) and step.prepend_scheme != "never"


BLANKS_AROUND = r"\A[\s\x1c-\x1f]+|[\s\x1c-\x1f]+\z"  # of a text, which Python strips


def steps_of(kind: str, config: Object, map: Object | None = None) -> Object | None:
    """Return the normalizer and the pre-tokenizer of a tokenizer class of transformers. `kind` names the class.

    They have the form of a tokenizer.json. Return None if they are not known.

    >>> steps_of("GPT2", {})
    {'pre_tokenizer': {'type': 'ByteLevel', 'add_prefix_space': False, 'use_regex': True}}
    """
    if kind in ("Qwen2", "Qwen3_5"):
        steps = [_split(_QWEN2 if kind == "Qwen2" else _QWEN3_5), _byte_level(False, use_regex=False)]
        return {"normalizer": {"type": "NFC"}, "pre_tokenizer": _sequence("pretokenizers", steps)}
    if kind in (*LIKE_GPT2, "GPTNeoX"):
        changed = {"normalizer": {"type": "NFC"}} if kind == "GPTNeoX" else {}
        return {**changed, "pre_tokenizer": _byte_level(config.get("add_prefix_space", kind in _PREFIXED) is True)}
    if kind in LIKE_BERT:
        choices = {"lowercase": "do_lower_case", "handle_chinese_chars": "tokenize_chinese_chars"}
        said = {name: config.get(key, True) is not False for name, key in choices.items()}
        changes = {"type": "BertNormalizer", "clean_text": True, "strip_accents": config.get("strip_accents"), **said}
        return {"normalizer": changes, "pre_tokenizer": {"type": "BertPreTokenizer"}}
    if kind in (*_LIKE_T5, *_MAPLESS):
        is_put = kind in (*_MAPLESS, "T5") or config.get("add_prefix_space") is not False
        steps = [{"type": "WhitespaceSplit"}, _metaspace("always" if is_put else "never")]
        changed = {} if map is None or kind in _MAPLESS else {"normalizer": map}
        return {**changed, "pre_tokenizer": _sequence("pretokenizers", steps)}
    if kind == "Pegasus" and map is not None:
        steps = [map, _replace(" {2,}", " ", "Regex")]
        return {"normalizer": _sequence("normalizers", steps), "pre_tokenizer": _metaspace("always")}
    if kind in ("CodeLlama", "Llama"):
        scheme = "always" if config.get("legacy") is True else "first"
        scheme = "never" if config.get("add_prefix_space") is False else scheme
        return {"pre_tokenizer": _metaspace(scheme, split=False)}
    if kind == "Gemma":
        return {
            "normalizer": _replace(" ", "▁"),
            "pre_tokenizer": {**_split(" ", "String"), "behavior": "MergedWithPrevious"},
        }
    if kind == "CLIP":
        steps = [{"type": "NFC"}, _replace(r"\s+", " ", "Regex"), {"type": "Lowercase"}]
        cuts = [{**_split(_CLIP), "behavior": "Removed", "invert": True}, _byte_level(False)]
        return {"normalizer": _sequence("normalizers", steps), "pre_tokenizer": _sequence("pretokenizers", cuts)}
    return None


def byte_steps_of(config: Object) -> Object | None:
    """Return the normalizer and the pre-tokenizer of the tokenizer class that a configuration names.

    Return None if the tokens of this class do not consist of bytes.
    """
    kind = class_of(config)
    return steps_of(kind, config) if kind in (*LIKE_GPT2, "GPTNeoX", "Qwen2", "Qwen3_5") else None


_BY_BYTES: Object = {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True}
_QWEN2 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+"
    r"|\s+(?!\S)|\s+"
)
_QWEN3_5 = _QWEN2.replace(r"?\p{L}+", r"?[\p{L}\p{M}]+").replace(r"[^\s\p{L}\p{N}]", r"[^\s\p{L}\p{M}\p{N}]")
_CLIP = r"<\|startoftext\|>|<\|endoftext\|>|'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"


def _replace(old: str, new: str, kind: str = "String") -> Object:
    return {"type": "Replace", "pattern": {kind: old}, "content": new}


def _split(pattern: str, kind: str = "Regex") -> Object:
    return {"type": "Split", "pattern": {kind: pattern}, "behavior": "Isolated", "invert": False}


def _byte_level(prefix: bool, *, use_regex: bool = True) -> Object:
    return {"type": "ByteLevel", "add_prefix_space": prefix, "use_regex": use_regex}


def _metaspace(scheme: str, *, split: bool = True) -> Object:
    return {"type": "Metaspace", "replacement": "▁", "prepend_scheme": scheme, "split": split}


def _sequence(key: str, steps: list[Object]) -> Object:
    return {"type": "Sequence", key: steps}


def goes_by_file(kind: str) -> bool:
    return kind in _BY_FILE


def equals_steps_of_class(whole: Object, kind: str, config: Object) -> bool:
    """Return whether the class `kind` of transformers normalizes and splits texts exactly as the tokenizer file says.

    The class must also use the same options for its model as the file, such as the unknown token. `whole` is the
    content of the file, and `config` is the configuration of the tokenizer.
    """
    changes = whole.get("normalizer")
    steps = [] if not changes else changes.get("normalizers", [changes])
    map = next((step for step in steps if step.get("type") == "Precompiled"), None)
    own = steps_of(kind, config, map)
    return (
        own is not None
        and _choices(whole) == _choices(own)
        and _model(whole["model"], kind) == _own_model(kind, config)
    )


def reads_scores_itself(whole: Object, kind: str) -> bool:
    """Return whether the class `kind` of transformers may read scores differently than this program.

    Some classes read scores with their own code, which may change a score that has very many digits.
    """
    vocabulary = whole["model"].get("vocab")
    if goes_by_file(kind) or not isinstance(vocabulary, list):
        return False
    scores = np.array([score for _, score in vocabulary], np.float64)
    return bool((np.round(scores, READ_ALIKE) != scores).any())


def _choices(whole: Object) -> dict[str, Any]:
    """Return the choices of a recipe for the normalizer and the pre-tokenizer of a file.

    If two files write the same operations differently, their choices are equal.
    """
    steps = {key: whole.get(key) for key in ("normalizer", "pre_tokenizer")}
    choices = dict(read_steps({**steps, "added_tokens": []}, "steps").choices)
    choices.pop("decoding", None)
    return choices


def _model(model: Object, kind: str) -> dict[str, Any]:
    """Return the choices of a model, without those that are missing, false or empty."""
    names = (*_OF_MODEL, "unk_token") if kind in _WITH_UNKNOWN else _OF_MODEL
    return {name: model[name] for name in names if model.get(name)}


_WITH_UNKNOWN = (*LIKE_BERT, "CLIP")  # the classes that pass the unknown token to their model


def _own_model(kind: str, config: Object) -> dict[str, Any]:
    numbers = {"T5": 2, "Udop": 2, "Camembert": 3, "MBart": 3, "XLMRoberta": 3}
    if kind in numbers:
        return {"unk_id": numbers[kind]}
    if kind in ("CodeLlama", "Gemma", "Llama"):
        return {"byte_fallback": True, "fuse_unk": True}
    if kind not in _WITH_UNKNOWN:
        return {}
    named = config.get("unk_token", _OF_CLASS[kind]["unk"])
    unknown = {"unk_token": named.get("content") if isinstance(named, dict) else named}
    if kind == "CLIP":
        return {"end_of_word_suffix": "</w>", **unknown}
    return {"continuing_subword_prefix": "##", "max_input_chars_per_word": 100, **unknown}
