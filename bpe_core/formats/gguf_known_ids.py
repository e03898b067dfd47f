"""A table of published tokenizers, with the names that llama.cpp's converter writes for their pre-tokenizers.

The converter encodes one fixed text with a tokenizer, and a hash of the ids decides the name. The text and the hashes
are copied from llama.cpp (`get_vocab_base_pre` in its `conversion/base.py`, July 2026). The first 16 digits of each
hash are kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256

TEXT = (
    b"\n \n\n \n\n\n \t \t\t \t\n  \n   \n    \n     \n\xf0\x9f\x9a\x80 (normal) \xf0\x9f\x98\xb6\xe2\x80\x8d\xf0"
    b"\x9f\x8c\xab\xef\xb8\x8f (multiple emojis concatenated) \xe2\x9c\x85 \xf0\x9f\xa6\x99\xf0\x9f\xa6\x99 3 33 3"
    b"33 3333 33333 333333 3333333 33333333 3.3 3..3 3...3 \xe1\x9e\x80\xe1\x9e\xb6\xe1\x9e\x93\xe1\x9f\x8b\xe1"
    b"\x9e\x8f\xe1\x9f\x82\xe1\x9e\x96\xe1\x9e\xb7\xe1\x9e\x9f\xe1\x9f\x81\xe1\x9e\x9f\xe1\x9e\xa2\xe1\x9e\xb6\xe1"
    b"\x9e\x85\xf0\x9f\x98\x81 ?\xe6\x88\x91\xe6\x83\xb3\xe5\x9c\xa8apple\xe5\xb7\xa5\xe4\xbd\x9c1314151\xe5\xa4"
    b"\xa9\xef\xbd\x9e ------======= \xd0\xbd\xd0\xb5\xd1\x89\xd0\xbe \xd0\xbd\xd0\xb0 \xd0\x91\xd1\x8a\xd0\xbb"
    b"\xd0\xb3\xd0\xb0\xd1\x80\xd1\x81\xd0\xba\xd0\xb8 ''''''```````\"\"\"\"......!!!!!!?????? I've been 'told he'"
    b"s there, 'RE you sure? 'M not sure I'll make it, 'D you like some tea? We'Ve a'lL"
).decode()
_DIGITS = 16
_ROWS = {  # hashes separated by blanks
    "a.x-4.0": "b0a6b1c0bd5998eb",
    "afmoe": "49fc0303c9e0d2c2",
    "bailingmoe": "96a5f08be6259352",
    "bailingmoe2": "9b1be57e70d20d95",
    "bert-bge-large": "8e62295832751ca1",
    "bloom": "3c30d3ad1d6b6420",
    "chameleon": "60824e3c0d9401f8",
    "chatglm-bpe": "81d72c7348a9f0eb b6e8e1518dc4305b",
    "codeshell": "7b3e7548e4308f52",
    "cohere2moe": "52df12b4c8d4176e",
    "command-r": "9c2227e4dd922002",
    "dbrx": "a8594e3edff7c29c",
    "deepseek-coder": "347715f544604f91",
    "deepseek-llm": "049ecf7629871e30",
    "deepseek-r1-qwen": "b3f499bb4255f8ca",
    "deepseek-v3": "877081d19cf6996e",
    "exaone": "4e2b24cc4770243d",
    "exaone-moe": "6c81ce329e080288",
    "exaone4": "2085e1638f6c377a",
    "f2llmv2": "862f827721df9560",
    "falcon": "8aeee3860c56296a",
    "falcon-h1": "3eda48b4c4dc7de7 48f8e02c0359c0bb 60476e1243776c4f a6b57017d60e6edb",
    "falcon3": "9d032fcbd5501f4a",
    "gigachat": "ad851be1dba641f2",
    "glm4": "9ca2dd618e8afaf0 a1336059768a55c9 cdf5f35325780597",
    "gpt-2": "0fe1cf6eda062318 3ce83efda5659b07",
    "gpt-4o": "ccc2ef013c104be7",
    "gpt3-finnish": "bc01ce58980e1db4",
    "granite-docling": "53e325976a6e1423",
    "granite-embed-multi-311m": "789696f5946cc0fc",
    "granite-embed-multi-97m": "f241072145675bf8",
    "grok-2": "66b8d4e19ab16c3b",
    "hunyuan": "7e57df22b1fe23a7",
    "hunyuan-dense": "bba3b3366b646dbd",
    "jais": "b53802fb28e26d64",
    "jais-2": "bc5108ee1eb6a3d6",
    "jina-v1-en": "c7699093ba4255a9",
    "jina-v2-code": "7967bfa498ade6b7",
    "jina-v2-de": "27949a2493fc4a9f b3d1dd861f1d4c5c",
    "jina-v2-en": "0876d13b50744004",
    "jina-v2-es": "171aeeedd6fb548d",
    "jina-v5-nano": "a023e9fdc5a11f03",
    "joyai-llm": "b4b8ca1f9769494f",
    "kanana2": "e4d54df1ebc1f2b9",
    "kimi-k2": "81212dc7cdb7e0c1",
    "kormo": "4a2e2abae11ca2b8",
    "laguna": "972da7b59cec44d1",
    "lfm2": "169bf0296a13c4d9 9e454714343b69b9",
    "llama-bpe": "0ef9807a4087ebef",
    "llama4": "d353350c764d8c3b",
    "megrez": "d4c8f286ea6b520b",
    "mellum": "a1e163ecab2e718a",
    "mellum2": "9dcf830ee9990cdb",
    "midm-2.0": "f6791d196f87ce6b",
    "minerva-7b": "1431a23e583c9743",
    "minicpm5": "36f3066e97b7f399",
    "minimax-m2": "f4f37b6c8eb9ea29",
    "modern-bert": "a0b64b4385f12366",
    "olmo": "b6dc8df998e1cfbd",
    "phi-2": "fcace8b9cac38ce8",
    "pixtral": "0e9433cbbb161f89",
    "poro-chat": "c7ea5862a53e4272",
    "qwen2": "d4540891389ea895 e636dc30a262dcc0",
    "qwen35": "1444df51289cfa80 d30d75d9059f1aa2",
    "refact": "6221ad2852e85ce9",
    "roberta-bpe": "8b5a93ed70405748",
    "sarvam-moe": "62f6fb0a6fd5098c",
    "seed-coder": "d5f1dd6f980fec56",
    "smaug-bpe": "c136ed14d01c2745",
    "smollm": "855059429035d75a",
    "solar-open": "16389f0a1f51ee53",
    "stablelm2": "32d85c31273f8019",
    "starcoder": "35d91631860c815f",
    "superbpe": "7dec86086fcc38b6",
    "talkie": "f728162c1315c26e",
    "tekken": "63b97e4253352e6f",
    "tiny_aya": "d772b220ace2baec",
    "trillion": "1994ffd01900cfb3",
    "viking": "7fc505bd3104ca10",
    "youtu": "9d70134b369a70e5",
}
_NAMES = {digits: name for name, row in _ROWS.items() for digits in row.split()}


def converter_name(ids: Sequence[int]) -> str | None:
    """Return the name that llama.cpp's converter gives to the pre-tokenizer of a published tokenizer.

    `ids` are the ids of the text `TEXT` with this tokenizer. Return None if the converter does not know these ids.
    """
    return _NAMES.get(sha256(str([*ids]).encode()).hexdigest()[:_DIGITS])
