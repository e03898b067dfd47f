"""Models that SentencePiece trains here, with each of its options: every id is the library's."""

from __future__ import annotations

from typing import Any

import pytest

from bpe_core.formats import FORMATS
from bpe_core.segmenting.tokenizer import Tokenizer
from tests.core.formats.kinds import sentencepiece_model
from tests.core.formats.test_kinds import lines

sentencepiece = pytest.importorskip("sentencepiece", reason="the package sentencepiece is not installed")

FOUND_FIRST = (",", ".", "(", "of", "the▁", "▁▁", "<sep>", "é")
OPTIONS: dict[str, dict[str, Any]] = {
    "as it is": {},
    "user-defined symbols": {"user_defined_symbols": FOUND_FIRST},
    "user-defined symbols, no map": {"user_defined_symbols": FOUND_FIRST, "normalization_rule_name": "identity"},
    "bytes": {"byte_fallback": True},
    "blanks behind": {"treat_whitespace_as_suffix": True},
    "no blank before": {"add_dummy_prefix": False},
    "all blanks": {"remove_extra_whitespaces": False},
    "over blanks": {"split_by_whitespace": False},
    "over scripts": {"split_by_unicode_script": False, "split_by_number": False},
    "digits alone": {"split_digits": True, "allow_whitespace_only_pieces": True},
    "folded": {"normalization_rule_name": "nmt_nfkc_cf"},
    "control symbols": {"control_symbols": ("<mask>", "<s2>"), "unk_piece": "[UNK]", "pad_id": 3},
    "all at once": {
        "user_defined_symbols": FOUND_FIRST,
        "treat_whitespace_as_suffix": True,
        "split_by_whitespace": False,
        "remove_extra_whitespaces": False,
        "byte_fallback": True,
        "normalization_rule_name": "nfkc",
    },
}


@pytest.mark.parametrize("kind", ["unigram", "bpe"])
@pytest.mark.parametrize("options", OPTIONS)
def test_a_model_opens_exactly_and_is_written_as_it_was(kind: str, options: str) -> None:
    data = sentencepiece_model(kind, **OPTIONS[options])
    library = sentencepiece.SentencePieceProcessor(model_proto=data)
    found = FORMATS["sentencepiece"].open(data, "trained.model")
    tokenizer = Tokenizer(found.history)
    samples = [*lines(), "\n".join(lines())[:20_000]]
    ids, offsets = tokenizer.encode_batch(samples)
    numbers = found.numbers_of(ids.tolist())
    for place, text in enumerate(samples):
        theirs = library.encode(text)
        assert numbers[offsets[place] : offsets[place + 1]] == theirs, text
        if place % 20 == 0:  # in plain Python, too
            assert found.numbers_of(Tokenizer(found.history).encode(text[:200])) == library.encode(text[:200]), text
