"""The costs of a vocabulary size for a model: parameters, computation for each byte of text, and memory.

The model is a decoder of Transformer layers. The formula for training comes from the scaling laws with
vocabulary (Tao and others, 2024, arXiv 2407.13623): FLOPs = 6 · (N + V · d) · H · f(V). N is the number of
parameters without the vocabulary, H is the number of characters of the text, and f(V) is the number of tokens
per character. Tao and others fit f to their tokenizers. Here 1 / f is the measured number of bytes per token,
and bytes are counted instead of characters. During inference, a parameter costs 2 FLOPs for each token
instead of 6. The input embedding costs nothing, because it is only looked up. So these parameters are
counted:

    counted parameters = layers · (2 · d · head · (heads + kv) + m · d · ffn) + V · d

V is the size of the vocabulary, d is the width of the model, and head is the width of an attention head. kv
is the number of key and value heads, ffn is the width of a feed-forward part, and m is its number of
matrices, 2 or 3.

    >>> shape = ModelShape.of("d=4096,layers=32,heads=32,tied=no")
    >>> shape.body, shape.parameters(32_000), round(shape.embedding_share(32_000), 4)
    (6442450944, 6704594944, 0.0391)
    >>> shape.training_flops(32_000), shape.use_flops(32_000)
    (39441137664, 13147045888)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from bpe_core.errors import FormatError, RecipeError
from bpe_core.history.token_texts import quoted
from bpe_core.support.arrays import Int64s
from bpe_core.support.foreign import json_of
from bpe_core.support.small_files import read_small_file

OF_TRAINING = 6  # FLOPs for each parameter and token, forwards and backwards
OF_USE = 2
BYTES_OF_LOGIT = 4  # as most programs compute the loss in 32 bits
LARGEST = 10_000_000  # of any number of a model
USUAL_TIMES = 4  # the width of a feed-forward part, where it is not given, in widths of the model
TRUTHS = {"yes": True, "no": False, "true": True, "false": False}
# The names of these numbers in a config.json of transformers, the usual one first.
IN_CONFIG = {
    "d": ("hidden_size", "n_embd", "d_model"),
    "layers": ("num_hidden_layers", "n_layer", "num_layers"),
    "heads": ("num_attention_heads", "n_head", "num_heads"),
    "kv": ("num_key_value_heads",),
    "head": ("head_dim",),
    "ffn": ("intermediate_size", "n_inner", "d_ff"),
    "tied": ("tie_word_embeddings",),
}
OF_EXPERTS = ("num_local_experts", "num_experts", "n_routed_experts")
GATED = ("silu", "swish", "swiglu", "geglu")  # activations that usually have a third matrix
GATED_MODELS = ("gemma",)  # models that have a gate with another activation
HOW = "Write the model as d=4096,layers=32,heads=32,tied=no, or name the config.json of the model."

Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True)
class ModelShape:
    d: int  # the width
    layers: int
    heads: int = 1
    kv: int = 0  # heads of keys and values; 0: as many as heads
    head: int = 0  # the width of a head; 0: that of the model, divided among the heads
    ffn: int = 0  # the width of a feed-forward part; 0: four times d
    gated: bool = False  # whether a feed-forward part has three matrices
    tied: bool = True  # whether the output embedding is that of the input

    @classmethod
    def of(cls, said: str) -> ModelShape:
        """Return the shape of a model from a text such as `d=4096,layers=32`, or from the path of a config.json."""
        given = _of_words(said) if "=" in said and not Path(said).is_file() else _of_config(said)
        for name in ("d", "layers"):
            if name not in given:
                raise RecipeError(f"The model {quoted(said)} lacks the value {name}. {HOW}")
        shape = cls(**given)
        if not shape.head and shape.d % shape.heads:
            raise RecipeError(
                f"The width {shape.d:,} of the model is not a multiple of its {shape.heads:,} heads. {HOW}"
            )
        return shape

    @property
    def body(self) -> int:
        """Return the number of parameters in all layers, without embeddings."""
        head = self.head or self.d // self.heads
        attention = 2 * self.d * head * (self.heads + (self.kv or self.heads))
        feeding = (3 if self.gated else 2) * self.d * (self.ffn or USUAL_TIMES * self.d)
        return self.layers * (attention + feeding)

    def embeddings(self, size: Any) -> Any:
        return size * self.d * (1 if self.tied else 2)

    def parameters(self, size: Any) -> Any:
        """Return the number of all parameters of a model whose vocabulary has `size` tokens.

        `size` may be an array of sizes. Then the result is an array, too.
        """
        return self.body + self.embeddings(size)

    def embedding_share(self, size: Any) -> Any:
        return self.embeddings(size) / self.parameters(size)

    def training_flops(self, size: Any) -> Any:
        """Return the FLOPs of training for one token. `size` is the size of the vocabulary."""
        return OF_TRAINING * (self.body + size * self.d)

    def use_flops(self, size: Any) -> Any:
        """Return the FLOPs of inference for one token. `size` is the size of the vocabulary."""
        return OF_USE * (self.body + size * self.d)

    def columns(self, sizes: Int64s, bytes_per_token: Numbers) -> dict[str, Any]:
        """Return the costs of each vocabulary size.

        `bytes_per_token` has the average number of bytes in a token at each size.
        """
        return {
            "parameters": self.parameters(sizes).tolist(),
            "embedding_share": self.embedding_share(sizes).tolist(),
            "training_flops_per_byte": (self.training_flops(sizes) / bytes_per_token).tolist(),
            "next_token_flops_per_byte": (self.use_flops(sizes) / bytes_per_token).tolist(),
            "logit_bytes_per_token": (BYTES_OF_LOGIT * sizes).tolist(),
            "logit_bytes_per_byte": (BYTES_OF_LOGIT * sizes / bytes_per_token).tolist(),
        }

    def best(self, sizes: Int64s, bytes_per_token: Numbers) -> int:
        """Return the index of the vocabulary size at which training reads the most bytes of text for each FLOP."""
        return int(np.argmax(bytes_per_token / self.training_flops(sizes)))


def _of_words(said: str) -> dict[str, Any]:
    known = {field.name: field.type for field in fields(ModelShape)}
    given: dict[str, Any] = {}
    for word in said.split(","):
        name, _, value = (part.strip() for part in word.partition("="))
        if name not in known:
            raise RecipeError(
                f"A model has no value {quoted(name)}. The values of a model are {', '.join(known)}. {HOW}"
            )
        given[name] = _truth(name, value) if known[name] == "bool" else _number(name, value)
    return given


def _truth(name: str, value: str) -> bool:
    if value.lower() not in TRUTHS:
        raise RecipeError(f"{name} of a model must be yes or no, not {quoted(value)}. {HOW}")
    return TRUTHS[value.lower()]


def _number(name: str, value: Any) -> int:
    text = str(value)
    if not text.isascii() or not text.isdecimal() or not 1 <= int(text[:9]) <= LARGEST or len(text) > len(str(LARGEST)):
        raise RecipeError(f"{name} of a model must be a whole number from 1 to {LARGEST:,}, not {quoted(text)}. {HOW}")
    return int(text)


def _of_config(path: str) -> dict[str, Any]:
    whole = json_of(read_small_file(path, "the configuration of the model", FormatError), path)
    config = whole.get("text_config", whole) if isinstance(whole, Mapping) else None
    if not isinstance(config, Mapping):
        raise FormatError(f"{path} is not the configuration of a model. {HOW}")
    if any(isinstance(config.get(name), int) and config[name] > 1 for name in OF_EXPERTS):
        raise FormatError(
            f"{path} describes a mixture of experts. A token uses only some of the experts, so this file does not "
            "show the costs. Give the numbers of the model instead, such as d=4096,layers=32,heads=32."
        )
    given: dict[str, Any] = {}
    for name, names in IN_CONFIG.items():
        value = next((config[key] for key in names if config.get(key) is not None), None)
        if name == "tied":
            given[name] = bool(value) if value is not None else True
        elif value is not None:
            given[name] = _number(name, value)
    is_known = str(config.get("model_type", "")).startswith(GATED_MODELS)
    given["gated"] = is_known or str(config.get("hidden_act", "")).lower() in GATED
    return given
