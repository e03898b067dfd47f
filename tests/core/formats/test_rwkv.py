"""Tests of the vocabulary of RWKV: texts are encoded from the left, each time with the longest token that fits."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bpe_core.editing.growing import growing_recipe
from bpe_core.editing.without_tokens import remove_tokens
from bpe_core.errors import FormatError, RecipeError
from bpe_core.formats import FORMATS
from bpe_core.formats.all_formats import open_table
from bpe_core.history.history import History
from bpe_core.history.token_texts import written as written_texts
from bpe_core.methods.kit.tokenizer import Tokenizer
from bpe_core.methods.wordpiece import reference as wordpiece
from bpe_core.methods.wordpiece.explain import WhyLongest
from tests.core.formats.tables import table_bytes

RWKV = FORMATS["rwkv"]
LONGER = ("the", " the", "th", "\n\n", "ab", "aba", "abab", " a", "人", "人民", "it's", 'say "', "\u2028", "\\")
TOKENS = [*(bytes([byte]) for byte in range(256)), *map(str.encode, LONGER[:-1]), "人".encode()[:2], b"\xba\xba\xe6"]
NUMBERS = dict(zip(TOKENS, range(1, 999), strict=False))


def escape_token(text: bytes) -> str:
    try:
        return repr(text.decode())
    except UnicodeDecodeError:
        return repr(text)


def rows(numbers: dict[bytes, int] = NUMBERS) -> str:
    return "".join(f"{number} {escape_token(text)} {len(text)}\n" for text, number in numbers.items())


def encode_by_the_rule(text: str, gone: Collection[bytes] = ()) -> list[int]:
    data, ids = text.encode(), []
    while data:
        longest = max((token for token in NUMBERS if data.startswith(token) and token not in gone), key=len)
        ids.append(NUMBERS[longest])
        data = data[len(longest) :]
    return ids


HISTORY: History = RWKV.read(rows().encode(), "rwkv_vocab.txt")
PLAIN, COMPILED = Tokenizer(HISTORY), Tokenizer(HISTORY)
TEXTS = st.lists(st.one_of(st.sampled_from(LONGER), st.text(max_size=3))).map("".join)


@settings(max_examples=50)
@given(TEXTS)
def test_rwkv_encoding_uses_the_longest_tokens_and_decoding_restores_the_text(text: str) -> None:
    ids = PLAIN.encode(text)
    assert HISTORY.numbers_of(ids).tolist() == encode_by_the_rule(text)
    assert wordpiece.encode(text, HISTORY) == ids
    assert PLAIN.decode(ids) == PLAIN.decode(ids, way="library") == text


def test_kernels_encode_many_texts_to_the_ids_that_the_rwkv_rule_gives() -> None:
    chance = Random(1)
    texts = ["".join(chance.choices(LONGER, k=chance.randrange(40))) for _ in range(300)]
    ids, starts = COMPILED.encode_batch(texts)
    rows = np.split(HISTORY.numbers_of(ids), starts[1:-1])
    assert [numbers.tolist() for numbers in rows] == [encode_by_the_rule(text) for text in texts]


def test_an_rwkv_file_is_written_unchanged_and_table_formats_keep_the_ids_of_the_file(tmp_path: Path) -> None:
    assert table_bytes(HISTORY, RWKV).decode() == rows()
    for name in ("csv", "tsv", "json"):
        path = tmp_path / f"table.{name}"
        path.write_bytes(table_bytes(HISTORY, FORMATS[name]))
        again = open_table(path).history
        assert again.numbers_of(Tokenizer(again).encode("人民 the abab")).tolist() == encode_by_the_rule(
            "人民 the abab"
        )
    for name in ("tokenizer.json", "vocab.txt", "tiktoken", "sentencepiece", "merges.txt"):
        assert FORMATS[name].refusal(HISTORY)


def test_the_reason_for_a_split_of_an_rwkv_text_names_the_longest_token_that_fits() -> None:
    text = "人民 the aba"
    reasons = [WhyLongest(text, HISTORY).explanation_at(byte, 0).sentence for byte in range(1, len(text.encode()))]
    assert reasons[5].startswith("“人民” is the longest token that fits here; “人民␣” is not")


def test_an_rwkv_table_with_removed_tokens_encodes_with_the_longest_remaining_tokens() -> None:
    gone = {b"abab", "人民".encode()}
    trimmed = remove_tokens(HISTORY, np.array([text in gone for text in written_texts(HISTORY)])).history
    text = "ababab人民 the"
    token_texts = [written_texts(trimmed)[id] for id in Tokenizer(trimmed).encode(text)]
    assert [NUMBERS[token_text] for token_text in token_texts] == encode_by_the_rule(
        text, gone
    )  # later tokens get smaller ids if a token is missing


def test_extending_an_rwkv_vocabulary_is_refused() -> None:
    with pytest.raises(RecipeError, match="training cannot continue from it"):
        growing_recipe(HISTORY, by=5)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("999 'ab' 3", "has 2 bytes, but the row says 3"),
        ("999 '' 1", "has 0 bytes"),
        ("1 'xyz' 3", "an earlier row has the same"),
        ("999 'ab' 2", "an earlier row has the same"),
        ("9999999999 'xyz' 3", "is too large"),
        ("999 __import__('os') 3", "there must be a number, a text in quotes"),
        ("999 'x' 'y' 2", "there must be a number, a text in quotes"),
        ("999 '\\ud800' 3", "is not a Python string or bytes literal"),
        ("999 '\\U99999999' 3", "is not a Python string or bytes literal"),
        ("999 b'é' 2", "is not a Python string or bytes literal"),
        ("999 b'\\u1234' 6", "cannot be in bytes"),
        ("999 " + "(" * 9_999 + " 1", "there must be a number"),
    ],
)
def test_invalid_rows_of_an_rwkv_file_are_refused_with_their_line_numbers(row: str, message: str) -> None:
    with pytest.raises(FormatError, match=message):
        RWKV.read(f"{rows()}{row}\n".encode(), "rwkv_vocab.txt")


def test_an_rwkv_file_without_all_256_bytes_is_refused() -> None:
    with pytest.raises(FormatError, match="254 of the 256 bytes have no token; the first is 0x02"):
        RWKV.read(b"1 '\\x00' 1\n2 '\\x01' 1\n", "rwkv_vocab.txt")
