"""Tests of training that joins the bytes of each character first.

The learners make the same steps as the reference implementation, and no token ends inside a character.
"""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import bpe_core as bpe
from bpe_core.command_line.main import run
from bpe_core.counting.count_words import count_words
from bpe_core.counting.words import WordTable
from bpe_core.errors import RecipeError
from bpe_core.history.alphabet import Alphabet
from bpe_core.history.history import Columns, History
from bpe_core.history.token_texts import decoded
from bpe_core.methods.bpe import reference as reference
from bpe_core.methods.kit.characters import lacks_of, may_be_joined
from bpe_core.methods.kit.compiled_pairs import CompiledLearner
from bpe_core.methods.kit.plain_pairs import PlainLearner
from bpe_core.recipes.recipe import Recipe
from bpe_core.text.corpus import Corpus
from bpe_core.text.mixture import Group, Mixture
from resources import parallel_samples
from tests.core.learning import all_columns
from tests.core.random_training import BYTE_TIES

TEXTS = ["aé漢😀", "é", "漢字 ", "я я", "😀😁a"]


@st.composite
def cases(draw: st.DrawFn) -> tuple[WordTable, Recipe]:
    word = st.text(draw(st.sampled_from(TEXTS)), min_size=1, max_size=12)
    words = WordTable.from_counts(draw(st.dictionaries(word, st.integers(1, 5), min_size=1, max_size=8)))
    return words, Recipe.preset(
        "gpt2",
        whole_characters=True,
        merges=draw(st.integers(1, 40)),
        min_frequency=draw(st.integers(1, 3)),
        max_token_length=draw(st.none() | st.integers(2, 9)),
        ties=draw(st.sampled_from(BYTE_TIES)),
        interventions=draw(st.sampled_from([(), ("forbid:195+169@1",), ("forbid:97+97@2",)])),
    )


@pytest.mark.parametrize("learner", [PlainLearner, CompiledLearner])
@given(case=cases(), work=st.sampled_from([1, 2**60]))
def test_every_step_of_training_with_whole_characters_matches_the_specification(
    learner: type[PlainLearner], case: tuple[WordTable, Recipe], work: int
) -> None:
    words, recipe = case
    expected, alphabet = reference.train(words, recipe), Alphabet.of_bytes()
    made_learner, columns, end = learner(words, alphabet, recipe, None), Columns.with_room(recipe.merges or 0), ""
    while not end and made_learner.learned < len(columns.left):
        end = made_learner.learn(columns, len(columns.left), work)
    assert all_columns(History(recipe, alphabet, columns.first(made_learner.learned))) == all_columns(expected)
    texts = decoded(expected)[256:]
    assert all(is_whole(text) or is_part(text) for text in texts)


def is_whole(text: bytes) -> bool:
    try:
        return bool(text.decode())
    except UnicodeDecodeError:
        return False


def is_part(text: bytes) -> bool:
    """Return whether the bytes are a part of some character, but not the whole character."""
    if not 0x80 <= text[0] < 0xC0:
        behind = [bytes([0x80] * n) for n in range(1, 4)] + [b"\x90\x80\x80"]
        return any(is_whole(text + more) and len((text + more).decode()) == 1 for more in behind)
    return all(0x80 <= byte < 0xC0 for byte in text) and len(text) <= 3


@given(st.lists(st.binary(min_size=1, max_size=4), min_size=2, max_size=2))
def test_the_computed_number_of_missing_bytes_of_a_joined_token_matches_the_specification(texts: list[bytes]) -> None:
    def lacks(text: bytes) -> int | None:
        """Return the number of bytes that the token `text` lacks to form whole characters.

        The bytes are joined one by one. Return None if two parts may not be joined, so that no such token can exist.
        """
        total = 0
        for place, missing in enumerate(lacks_of([bytes([byte]) for byte in text])):
            if place and not may_be_joined(total, missing):
                return None
            total = total + missing if place else missing
        return total

    left, right = map(lacks, texts)
    if left is None or right is None:
        return
    tokens = reference.TokenBook(Alphabet.of_bytes())
    tokens.texts += texts
    assert may_be_joined(left, right) == reference.keeps_characters((256, 257), tokens)


def test_each_token_consists_of_whole_characters_or_is_a_part_of_one_character() -> None:
    text = "\n".join(line for lines in parallel_samples().values() for line in lines) * 2
    words = count_words(Corpus.from_texts([text]), Recipe.preset("gpt2"))
    mixture = Mixture(tuple(Group(name, ratio=Fraction(1)) for name in ("a", "b")))
    for preset, texts in (("gpt2", text), ("superbpe", text), ("parity", {"a": text, "b": text[:900]})):
        recipe = Recipe.preset(preset, merges=150, whole_characters=True)
        recipe = recipe.with_changes(mixture=mixture) if preset == "parity" else recipe
        tokens = decoded(bpe.train(texts, recipe).history)[256:]
        assert all(is_whole(token) or is_part(token) for token in tokens)
        assert any(len(token.decode()) > 1 and not token.isascii() for token in tokens if is_whole(token))
    plain = decoded(bpe.train(words, Recipe.preset("gpt2", merges=150)).history)[256:]
    assert not all(is_whole(token) or is_part(token) for token in plain), "without the choice there are such tokens"


def test_the_whole_characters_option_is_accepted_for_byte_level_bpe_only(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.txt").write_text("я я я да да\n" * 3, encoding="utf-8")
    assert run(["train", str(tmp_path / "a.txt"), "--whole-characters", "--merges", "4", "--quiet"]) == 0
    assert "<0xD1> + <0x8F> → я" in capsys.readouterr().out
    asked = ["train", str(tmp_path / "a.txt"), "--whole-characters", "--method", "unigram", "--vocab-size", "30"]
    assert run(asked) == 1
    assert "--whole-characters applies only to byte-pair encoding of bytes" in capsys.readouterr().err
    with pytest.raises(RecipeError, match="must be true or false"):
        Recipe(whole_characters=1)
