"""Tests of the formats for each method: an error message names the formats that can hold the method's tables."""

from __future__ import annotations

import numpy as np
import pytest

from bpe_core.formats import FORMATS, Format
from bpe_core.formats.base import IN_WORDS, LONGEST, PAIRS, RANKS, SCORES
from bpe_core.formats.markdown_table import MarkdownTable
from bpe_core.formats.unigram_vocabulary import method_of
from bpe_core.methods.registry import METHODS, method_for
from bpe_core.methods.unigram import Unigram


class ByNames(MarkdownTable):
    """A format that declares its methods by their names. Plug-ins for older versions of the program do this."""

    name = "by-names"
    methods = ("wordpiece", "chains")


class Chains(Unigram):
    """A method that a plug-in derives from Unigram."""

    name = "chains"
    title = "Chains"


def methods_of(format: Format) -> list[str]:
    return [name for name, method in METHODS.own.items() if method.fits(format)]


@pytest.mark.parametrize(
    ("format", "methods"),
    [
        ("merges.txt", ["bpe", "superbpe", "parity"]),
        ("tokenizer.json", ["bpe", "superbpe", "parity", "wordpiece", "unigram", "mingram", "best"]),
        ("sentencepiece", ["bpe", "unigram", "mingram", "best"]),
        ("vocab.txt", ["wordpiece"]),
        ("gguf", ["bpe", "wordpiece", "unigram"]),
        ("parquet", ["bpe", "wordpiece"]),
        ("boundless", ["boundless"]),
        ("csv", [*METHODS.own]),
    ],
)
def test_each_format_can_store_the_tables_of_the_expected_methods_and_of_no_others(
    format: str, methods: list[str]
) -> None:
    assert methods_of(FORMATS[format]) == methods


def test_a_refused_export_names_the_formats_that_can_store_a_table_of_the_method() -> None:
    assert METHODS["wordpiece"].refusal(FORMATS["merges.txt"]) == (
        "merges.txt holds only merges of pairs, but this table was learned by WordPiece: "
        "choose vocab.txt, tokenizer.json or a table such as csv, or save it as a session."
    )
    assert METHODS["parity"].refusal(FORMATS["vocab.txt"]).endswith("Parity-aware BPE: save it as a session.")
    assert METHODS["bpe"].refusal(FORMATS["merges.txt"]) == ""


def test_a_plug_in_format_may_list_the_names_of_the_methods_that_it_supports() -> None:
    assert methods_of(ByNames()) == ["wordpiece"]
    assert Chains().fits(ByNames())
    assert "by-names holds only merges of pairs" in METHODS["bpe"].refusal(ByNames())


def test_a_plug_in_method_derived_from_another_method_can_be_exported_to_the_same_formats() -> None:
    assert [name for name, format in FORMATS.items() if Chains().fits(format)] == [
        name for name, format in FORMATS.items() if METHODS["unigram"].fits(format)
    ]


def test_the_method_of_an_opened_file_is_chosen_by_the_kind_of_its_table() -> None:
    assert [method_for(table) for table in (RANKS, PAIRS, IN_WORDS, LONGEST, SCORES)] == [
        *("bpe", "bpe", "bpe", "wordpiece", "unigram")
    ]
    assert method_of(np.array([-4_097.0, -4_103.5])) == "mingram"
    assert method_of(np.array([-1.25, -7.5])) == "unigram"
