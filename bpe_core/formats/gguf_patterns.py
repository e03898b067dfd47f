"""A table of llama.cpp's pre-tokenizers, with their names in GGUF files.

Each pre-tokenizer is a list of expressions that are applied in turn.
"""

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
_CASED = r"(?=\p{L})[^a-z]", r"(?=\p{L})[^A-Z]"  # both ranges hold all letters beyond ASCII
_LETTERS = rf"(?:{_CASED[0]})*(?:{_CASED[1]})+", rf"(?:{_CASED[0]})+(?:{_CASED[1]})*"
_SIGNS_AND_SLASHES = r" ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
_TEKKEN = "|".join(rf"[^\r\n\p{{L}}\p{{N}}]?{one}" for one in _LETTERS) + rf"|\p{{N}}|{_SIGNS_AND_SLASHES}"
_GPT4O = (
    "|".join(rf"[^\r\n\p{{L}}\p{{N}}]?{one}(?:{_SHORT})?" for one in _LETTERS)
    + rf"|\p{{N}}{{1,3}}|{_SIGNS_AND_SLASHES}"
)
_CASED_LETTERS = (  # as DeepSeek's first tokenizer lists them
    "41-5a 61-7a b5 c0-d6 d8-f6 f8-1ba 1bc-1bf 1c4-293 295-2af 370-373 376 377 37b-37d 37f 386 388-38a 38c "
    "38e-3a1 3a3-3f5 3f7-481 48a-52f 531-556 10a0-10c5 13a0-13f5 13f8-13fd 1c90-1cba 1cbd-1cbf 1d00-1d2b "
    "1d6b-1d77 1d79-1d9a 1e00-1f15 1f18-1f1d 1f20-1f45 1f48-1f4d 1f50-1f57 1f59 1f5b 1f5d 1f5f-1f7d 1f80-1fb4 "
    "1fb6-1fbc 1fbe 1fc2-1fc4 1fc6-1fcc 1fd0-1fd3 1fd6-1fdb 1fe0-1fec 1ff2-1ff4 1ff6-1ffc 2102 2107 210a-2113 "
    "2115 2119-211d 2124 2126 2128 212a-212d 212f-2134 2139 213c-213f 2145-2149 214e 2183 2184 2c00-2c7b "
    "2c7e-2ce4 2ceb-2cee 2cf2 2cf3 a640-a66d a680-a69b a722-a76f a771-a787 a78b-a78e ab70-abbf fb00-fb06 "
    "fb13-fb17 ff21-ff3a ff41-ff5a 10400-1044f 104b0-104d3 104d8-104fb 10c80-10cb2 10cc0-10cf2 118a0-118df "
    "1e900-1e943 "
)
_DIGITS_FROM_RIGHT = (  # the text before the first group is kept with it
    r"\P{N}*\p{N}{1,2}(?=(?:\p{N}{3})*(?!\p{N}))|\P{N}*\p{N}{3}"
)
_WITH_MARKS = rf"[^\r\n\p{{L}}\p{{N}}]?[\p{{L}}\p{{M}}]+(?:{_SHORT})?"
_CASED_MARKED = r"(?=[\p{L}\p{M}])[^a-z]", r"(?=[\p{L}\p{M}])[^A-Z]"
_HAN = r"\x{4e00}-\x{9fff}\x{3400}-\x{4dbf}\x{20000}-\x{2a6df}\x{2a700}-\x{2ebef}\x{f900}-\x{faff}\x{2f800}-\x{2fa1f}"
_EASTERN = r"(?:(?!\s)[\x{800}-\x{9fa5}\x{ac00}-\x{d7ff}])+"
_CJK = "[一-龥\u3040-ゟ゠-ヿ]+"
_SPARK = (
    r"[!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+"
    r"| ?[\p{P}\p{S}]+|[\r\n]|\s+(?!\S)|\s+"
)
_AFMOE = "[一-鿿㐀-䶿\u8c48-\ufaff\u3040-ゟ゠-ヿ･-ﾟ⼀-\u2fdfเ-\u0e7f\u0e80-\u0effក-\u17ffက-႟ꩠ-ꩿꧠ-\ua9ff가-\ud7afᄀ-ᇿ]+"
_EXAONE = (
    rf"{_SHORT}|[^\r\n\p{{L}}\p{{N}}]?(?:\p{{L}}\p{{M}}*(?: \p{{L}}\p{{M}}*)*)+|\p{{N}}| ?[^\s\p{{L}}\p{{N}}]+[\r\n/]?"
    r"|\s*[\r\n]|\s+(?!\S)|\s+"
)
_RUNS_OF_BLANKS = "|".join(
    rf"\s{{{count}}}(?!\S)" for count in ("512", "256", "128", "64", "32", "16", "8", "4", "1,2")
)


def _listed(ranges: str) -> str:
    return "".join("-".join(rf"\x{{{end}}}" for end in span.split("-")) for span in ranges.split())


class NamedSplitting(NamedTuple):
    expressions: tuple[str, ...]
    whole_words: bool = False  # a word that is a token becomes that token


_DIGITS = NamedSplitting((r"\p{N}", _GPT2))
_FALCON = r"[\p{P}\$\+<=>\^~\|`]+", _GPT2, "[0-9][0-9][0-9]"
_ROWS: dict[NamedSplitting, str] = {  # names separated by blanks
    NamedSplitting((_GPT2,)): (
        "gpt-2 phi-2 jina-es jina-de gigachat jina-v2-es jina-v2-de a.x-4.0 mellum modern-bert jina-v1-en jina-v2-code "
        "roberta-bpe exaone4 mpt olmo jais trillion granite-docling"
    ),
    NamedSplitting((_LLAMA3,), whole_words=True): (
        "llama-bpe llama3 llama-v3 falcon3 falcon-h1 pixtral midm-2.0 lfm2 jina-v5-nano glm4 glm5"
    ),
    NamedSplitting((_LLAMA3,)): "dbrx smaug-bpe chatglm-bpe",
    NamedSplitting((_QWEN2,)): (
        "qwen2 deepseek-r1-qwen kormo f2llmv2 megrez stablelm2 hunyuan solar-open grok-2"
    ),
    NamedSplitting((rf"{_MARKED}|\s*[\r\n]+|\s+(?!\S)|\s+",)): "qwen35",
    NamedSplitting((r"\p{N}{1,3}", _CJK, _DEEPSEEK_3)): (
        "deepseek-v3 hunyuan-dense joyai-llm hy_v4"
    ),
    NamedSplitting(
        ("[\r\n]", r"\s?\p{L}+", r"\s?\p{P}+", _EASTERN, r"\p{N}")
    ): "deepseek-coder",
    NamedSplitting(_FALCON): "falcon",
    _DIGITS: "starcoder refact command-r smollm codeshell exaone minerva-7b mellum2",
    NamedSplitting((" ?[^(\\s|.,!?…。，、।۔،)]+",)): "bloom poro-chat gpt3-finnish",
    NamedSplitting((" ?[^(\\s|.,!?…。，、।۔،)]+", r"\p{N}")): "viking",
    NamedSplitting((_TEKKEN,), whole_words=True): "tekken",
    NamedSplitting((_GPT4O,)): "gpt-4o llama4 kanana2 talkie minimax-m2",
    NamedSplitting((r"\p{N}+", r"(?=(\d{3})+(?!\d))")): "superbpe",  # the name in llama.cpp
    NamedSplitting(
        (r"'(?:[sSdDmMtT]|[lL][lL]|[vV][eE]|[rR][eE])|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}"
         r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+",)
    ): "bailingmoe bailingmoe2 llada-moe",
    NamedSplitting(
        (rf"{_SHORT}|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|\p{{N}}| ?[^\s\p{{L}}\p{{N}}\r\n]+|\s*[\r\n]+|\s+(?!\S)|\s+",)
    ): "seed-coder",
    NamedSplitting((r"[\p{P}\$\+<=>\^~\|]+", _GPT2, r"\p{N}+", "[0-9][0-9][0-9]")): "default",
    NamedSplitting((
        "[\r\n]", rf"\s?[{_listed(_CASED_LETTERS)}]+", r"\s?[!-/:-~！-／：-～‘-‟、-。]+", r"\s+$", _EASTERN, r"\p{N}+"
    )): "deepseek-llm",
    NamedSplitting((rf"{_SHORT}|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|\p{{N}}{{1,3}}| ?[^\s\p{{L}}\p{{N}}]+[\r\n]*|\s*[\r\n]+"
               rf"|{_RUNS_OF_BLANKS}|\s",)): "jais-2",
    NamedSplitting((r"\p{N}{1,3}", _CJK, _SPARK, r"\p{N}")): "spark2_5",
    NamedSplitting((
        r"[가-힣ㄱ-ㆎ]+|[！…“”‘’—：；，、-〿︰-﹏]+|[ㄅ-ㄯ]+|[一-龥\x{3040}-ゟ゠-ヿ]+",
        rf"{_WITH_MARKS}|\p{{N}}|{_SIGNS_AND_SLASHES}",
    ), whole_words=True): "youtu",
    NamedSplitting((rf"[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|\p{{N}}|{_SIGNS}",)): "ufakzeka",
    NamedSplitting((r"\p{N}{1,3}", _LLAMA3.replace("{1,3}", "+")), whole_words=True): "minicpm5",
    NamedSplitting((
        "|".join(
            rf"[^\r\n\p{{L}}\p{{N}}]?{one}(?:{_SHORT})?"
            for one in (
                rf"(?:{_CASED_MARKED[0]})*(?:{_CASED_MARKED[1]})+", rf"(?:{_CASED_MARKED[0]})+(?:{_CASED_MARKED[1]})*"
            )
        ) + rf"|\p{{N}}{{1,3}}|{_SIGNS_AND_SLASHES}",
    ), whole_words=True): "granite-embed-multi-97m",
    NamedSplitting((_DIGITS_FROM_RIGHT, rf"{_WITH_MARKS}|\p{{N}}{{1,3}}|{_SIGNS_AND_SLASHES}")): "tiny_aya cohere2moe",
    NamedSplitting((r"[^\n]+|\n+", _QWEN2)): "laguna",
    NamedSplitting((
        rf"[{_HAN}]+|[^\r\n\p{{L}}\p{{N}}]?(?:(?![{_HAN}])\p{{L}})+(?:{_SHORT})?|\p{{N}}{{1,3}}|{_SIGNS}",
    )): "kimi-k2",
    NamedSplitting((_DIGITS_FROM_RIGHT, _AFMOE, _DEEPSEEK_3)): "afmoe",
    NamedSplitting((_EXAONE,)): "exaone-moe",
    NamedSplitting((
        "<sentinel:[0-9]+>", "IMGIMG[A-I]{1,4}Z", r"[\t\n]|    |  ", r"\p{N}", r"[\p{P}!-/:-@\[-`{-~]", _GPT2
    )): "chameleon",
}  # fmt: skip
_CLEANING = (  # names where llama.cpp takes spaces out of decoded texts, separated by blanks
    "a.x-4.0 bloom chatglm-bpe codeshell dbrx default exaone exaone-moe exaone4 falcon falcon-h1 falcon3 gemma4",
    "gigachat glm4 gpt-2 gpt3-finnish granite-embed-multi-311m jais jais-2 jina-de jina-es jina-v1-en jina-v2-code",
    "jina-v2-de jina-v2-es jina-v5-nano lfm2 llama-bpe llama-v3 llama3 megrez mellum mellum2 midm-2.0 minerva-7b",
    "minicpm5 modern-bert mpt olmo phi-2 pixtral refact roberta-bpe smaug-bpe stablelm2 starcoder",
)
CLEANING = frozenset(" ".join(_CLEANING).split())
BY_NAME = {name: splitting for splitting, names in _ROWS.items() for name in names.split()}
