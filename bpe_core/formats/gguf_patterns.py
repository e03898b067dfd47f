"""How llama.cpp splits a text before it joins bytes: expressions one after the other, by the name a GGUF file gives."""

from __future__ import annotations

from typing import NamedTuple

_SHORT = "'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD]"
_SIGNS = r" ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
_GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)"
_LLAMA3 = rf"{_SHORT}|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|\p{{N}}{{1,3}}|{_SIGNS}"
_QWEN2 = rf"{_SHORT}|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|\p{{N}}|{_SIGNS}"
_MARKED = rf"{_SHORT}|[^\r\n\p{{L}}\p{{N}}]?[\p{{L}}\p{{M}}]+|\p{{N}}| ?[^\s\p{{L}}\p{{M}}\p{{N}}]+[\r\n]*"
_DEEPSEEK_3 = (
    r"[!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+"
    r"| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
_CASED = r"(?=\p{L})[^a-z]", r"(?=\p{L})[^A-Z]"  # all letters beyond ASCII are in both
_LETTERS = rf"(?:{_CASED[0]})*(?:{_CASED[1]})+", rf"(?:{_CASED[0]})+(?:{_CASED[1]})*"
_SIGNS_AND_SLASHES = r" ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
_TEKKEN = "|".join(rf"[^\r\n\p{{L}}\p{{N}}]?{one}" for one in _LETTERS) + rf"|\p{{N}}|{_SIGNS_AND_SLASHES}"
_GPT4O = (
    "|".join(rf"[^\r\n\p{{L}}\p{{N}}]?{one}(?:{_SHORT})?" for one in _LETTERS)
    + rf"|\p{{N}}{{1,3}}|{_SIGNS_AND_SLASHES}"
)


class Splitting(NamedTuple):
    expressions: tuple[str, ...]
    whole_words: bool = False  # a word that is a token is that token


_DIGITS = Splitting((r"\p{N}", _GPT2))
_FALCON = r"[\p{P}\$\+<=>\^~\|`]+", _GPT2, "[0-9][0-9][0-9]"
_ROWS: dict[Splitting, str] = {  # by names, with blanks between them
    Splitting((_GPT2,)): (
        "gpt-2 phi-2 jina-es jina-de gigachat jina-v2-es jina-v2-de a.x-4.0 mellum modern-bert jina-v1-en jina-v2-code "
        "roberta-bpe exaone4 mpt olmo jais trillion granite-docling"
    ),
    Splitting((_LLAMA3,), whole_words=True): (
        "llama3 llama-v3 llama-bpe falcon3 falcon-h1 pixtral midm-2.0 lfm2 jina-v5-nano"
    ),
    Splitting((_LLAMA3,)): "dbrx smaug-bpe glm4 chatglm-bpe",
    Splitting((_QWEN2,)): (
        "qwen2 deepseek-r1-qwen kormo f2llmv2 megrez stablelm2 hunyuan solar-open grok-2"
    ),
    Splitting((rf"{_MARKED}|\s*[\r\n]+|\s+(?!\S)|\s+",)): "qwen35",
    Splitting((r"\p{N}{1,3}", "[一-龥\u3040-ゟ゠-ヿ]+", _DEEPSEEK_3)): (
        "deepseek-v3 hunyuan-dense joyai-llm"
    ),
    Splitting(
        ("[\r\n]", r"\s?\p{L}+", r"\s?\p{P}+", "[一-龥ࠀ-一가-\ud7ff]+", r"\p{N}")
    ): "deepseek-coder",
    Splitting(_FALCON): "falcon",
    _DIGITS: "starcoder refact command-r smollm codeshell exaone minerva-7b mellum2",
    Splitting((" ?[^(\\s|.,!?…。，、।۔،)]+",)): "bloom poro-chat gpt3-finnish",
    Splitting((" ?[^(\\s|.,!?…。，、।۔،)]+", r"\p{N}")): "viking",
    Splitting((_TEKKEN,), whole_words=True): "tekken",
    Splitting((_GPT4O,)): "gpt-4o llama4 kanana2 talkie minimax-m2",
    Splitting((r"\p{N}+", r"(?=(\d{3})+(?!\d))")): "superbpe",
    Splitting(
        (r"'(?:[sSdDmMtT]|[lL][lL]|[vV][eE]|[rR][eE])|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}"
         r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+",)
    ): "bailingmoe bailingmoe2 llada-moe",
    Splitting(
        (rf"{_SHORT}|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|\p{{N}}| ?[^\s\p{{L}}\p{{N}}\r\n]+|\s*[\r\n]+|\s+(?!\S)|\s+",)
    ): "seed-coder",
    Splitting((r"[\p{P}\$\+<=>\^~\|]+", _GPT2, r"\p{N}+", "[0-9][0-9][0-9]")): "default",
}  # fmt: skip
BY_NAME = {name: splitting for splitting, names in _ROWS.items() for name in names.split()}
