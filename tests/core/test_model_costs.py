"""Tests of what a vocabulary size costs a model.

The numbers agree with the numbers of published models, and with plain arithmetic.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import bpe_core as bpe
from bpe_core.errors import BpeError
from bpe_core.figures.figure import LineFigure
from bpe_core.measures.model_costs import ModelShape

GPT2 = {"n_embd": 768, "n_layer": 12, "n_head": 12, "activation_function": "gelu_new", "model_type": "gpt2"}
LLAMA = {
    "hidden_size": 4096,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "intermediate_size": 11008,
    "hidden_act": "silu",
    "tie_word_embeddings": False,
}
MISTRAL = {**LLAMA, "intermediate_size": 14336, "num_key_value_heads": 8}
# All parameters of the published models, without norms, biases and positions.
PUBLISHED = (
    (GPT2, 50_257, 124_439_808 - 1024 * 768 - 12 * (13 * 768) - 2 * 768),
    (LLAMA, 32_000, 6_738_415_616 - 65 * 4096),
    (MISTRAL, 32_000, 7_241_732_096 - 65 * 4096),
)


@pytest.mark.parametrize(("config", "size", "parameters"), PUBLISHED, ids=["GPT-2", "Llama 2 7B", "Mistral 7B"])
def test_parameters_and_flops_of_published_models_match_the_known_numbers(
    config: dict[str, object], size: int, parameters: int, tmp_path: Path
) -> None:
    path = tmp_path / "config.json"
    path.write_text(json.dumps(config), encoding="utf-8")
    shape = ModelShape.of(str(path))
    assert shape.parameters(size) == parameters
    met = parameters if shape.tied else parameters - size * shape.d
    assert (shape.training_flops(size), shape.use_flops(size)) == (6 * met, 2 * met)
    path.write_text(json.dumps({"text_config": config}), encoding="utf-8")
    assert ModelShape.of(str(path)) == shape


def test_the_recommended_vocabulary_size_maximizes_the_bytes_per_flop_of_a_model() -> None:
    study = bpe.train("low lower lowest, new newer newest, wide wider widest " * 3, "gpt2", merges=30)
    answer = bpe.sizes({"ours": study}, model="d=8,layers=1,heads=2,ffn=16,tied=no")
    rows = answer.table.records()
    body = 4 * 8 * 8 + 2 * 8 * 16
    bytes_by_size = {}
    for row in rows:
        size = row["vocabulary"]
        assert row["parameters"] == body + 2 * 8 * size
        assert row["embedding_share"] == pytest.approx(16 * size / (body + 16 * size))
        flops = 6 * (body + 8 * size) / row["bytes_per_token"]
        assert row["training_flops_per_byte"] == pytest.approx(flops)
        assert row["next_token_flops_per_byte"] == pytest.approx(flops / 3)
        assert row["logit_bytes_per_byte"] == pytest.approx(4 * size / row["bytes_per_token"])
        bytes_by_size[size] = 1 / flops
    best = max(bytes_by_size, key=bytes_by_size.__getitem__)
    assert any(f"the most bytes for each FLOP with {best:,} tokens" in sentence for sentence in answer.sentences)
    assert "training_flops_per_byte" in answer.shown_columns


# Sizes by the code that the article's authors published for their second approach: parameters without vocabulary, the
# width, and the size at which the derivative of the FLOPs is 0.
BEST_OF_AUTHORS = (
    *((33_000_000, 512, 10_322.9), (85_000_000, 768, 15_939.2), (302_000_000, 1024, 32_776.6)),
    *((1_130_000_000, 2048, 49_416.0), (2_870_000_000, 3200, 65_928.3)),
)


@pytest.mark.parametrize(("body", "width", "size"), BEST_OF_AUTHORS)
def test_the_best_vocabulary_size_for_a_model_equals_the_published_value(body: int, width: int, size: float) -> None:
    sizes = np.arange(1_000, 100_000, dtype=np.int64)
    logs = np.log(sizes)
    tokens_per_character = 0.00639222 * logs**2 - 0.15811069 * logs + 1.20470122  # fitted by the authors
    shape = ModelShape(d=width, layers=1, head=1, ffn=round((body / width - 4) / 2))
    assert shape.body == pytest.approx(body, rel=1e-4)
    best = sizes[shape.best(sizes, 1 / tokens_per_character)]
    assert best == pytest.approx(size, rel=1e-3)


def test_the_sizes_chart_draws_the_costs_of_a_model_as_curves_next_to_the_bytes_per_token() -> None:
    study = bpe.train("low lower lowest, new newer newest, wide wider widest " * 3, "gpt2", merges=30)
    answer = bpe.sizes({"ours": study}, model="d=8,layers=1,heads=2,ffn=16,tied=no")
    assert isinstance(answer.figure, LineFigure)
    lines = {line.name: line for line in answer.figure.lines}
    drawn = {
        "bytes per token": "bytes_per_token",
        "FLOPs per byte": "training_flops_per_byte",
        "memory of logits per byte": "logit_bytes_per_byte",
        "parameters": "parameters",
        "share in embeddings": "embedding_share",
    }
    assert {*lines} == {*drawn}
    columns = answer.table.columns
    for title, column in drawn.items():
        assert lines[title].y.tolist() == pytest.approx([value / columns[column][0] for value in columns[column]])
        assert lines[title].x.tolist() == columns["vocabulary"]
    (marked,) = answer.figure.marks
    assert f"for each FLOP with {marked:,} tokens" in " ".join(answer.sentences)


def test_an_invalid_description_of_a_model_is_refused_with_an_error_message(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    cases = {
        "d=8": "lacks the value layers",
        "d=8,layers=2,heads=3": "not a multiple of its 3 heads",
        "d=8,layers=x": "a whole number from 1",
        "d=8,layers=99999999999": "a whole number from 1",
        "d=8,layers=2,tied=perhaps": "must be yes or no",
        "width=8": "A model has no value “width”",
        str(tmp_path / "none.json"): "Could not read the configuration",
    }
    for description, message in cases.items():
        with pytest.raises(BpeError, match=message):
            ModelShape.of(description)
    of_files = {
        "[]": "is not the configuration",
        "{}": "lacks the value d",
        '{"num_experts": 8}': "a mixture of experts",
    }
    for content, message in of_files.items():
        path.write_text(content, encoding="utf-8")
        with pytest.raises(BpeError, match=message):
            ModelShape.of(str(path))
    study = bpe.train("low lower lowest", "gpt2", merges=2, min_frequency=1)
    with pytest.raises(BpeError, match="either the model or bits per byte"):
        bpe.sizes({"ours": study}, bits=True, model="d=8,layers=2")
