"""Tests of patterns that would fill the memory if they were compiled.

Such a pattern is refused before it is compiled, in every file and option.
"""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from bpe_core.errors import PatternError
from bpe_core.formats import write_history
from bpe_core.recipes.recipe import Recipe
from bpe_core.text.corpus import Corpus
from bpe_core.text.patterns import LARGEST, NAMED_PATTERNS, compile_custom, is_too_large
from tests.core.learning import train
from tests.limited import run_with_limits

BOMB = "(" * 9 + "a" + "{9})" * 9

TOO_LARGE = {
    "levels": BOMB,
    "without groups": "(?:" * 9 + "a" + "{9})" * 9,
    "at least once": "(?:" * 30 + "ab" + ")+" * 30,
    "possessive": "(?:" * 9 + "a" + "{9}+)" * 9,
    "lazy": "(?:" * 9 + "a" + "{9}?)" * 9,
    "open above": "(?:" * 9 + "a" + "{9,})" * 9,
    "side by side": "(?:a{999}b{999}){999}",
    "one count": "a{999999999}",
    "of no width": "(?:^){99999999}",
    "written with blanks": "(?x)" + "( " * 9 + "a" + " { 9 } )" * 9,
    "with a comment inside": "(?x)" + "(" * 9 + "a" + "{9#\n9})" * 9,
    "after a comment": "(?#()" + BOMB,
    "after a class with a bracket": "[]()]" + BOMB,
    "after a nested set": "(?V1)[[(]]" + BOMB,
    "after a named class": "[[:alpha:](]" + BOMB,
    "behind an approximate match": "(" * 9 + "a" + "{e<=0}{9})" * 9,
    "in a branch": f"x|y|{BOMB}|z",
    "in a lookahead": f"(?={BOMB})a",
    "many groups": "()" * 20_000,
}

HONEST = {
    **{name: pattern.expression for name, pattern in NAMED_PATTERNS.items()},
    "long words": r"\p{L}{1,10000}",
    "digits in groups": r"(?:\d{1,3})(?:,\d{3}){0,9}|\d{4,}",
    "with a parenthesis": r"\({9}|[({]{9}",
    "with blanks": r"(?x) \p{L}+  # letters" "\n" r" | (?: \p{N}{1,3} )+ | \s+",
    "side by side": "|".join(r"(?:[a-z]{2,9}x)+" for _ in range(100)),
}


@pytest.mark.parametrize("pattern", TOO_LARGE.values(), ids=TOO_LARGE)
def test_a_pattern_that_expands_beyond_the_size_limit_is_refused_in_time(pattern: str) -> None:
    started = time.process_time()
    assert is_too_large(pattern)
    with pytest.raises(PatternError, match="too large"):
        compile_custom(pattern)
    assert time.process_time() - started < 1


@pytest.mark.parametrize("pattern", HONEST.values(), ids=HONEST)
def test_an_ordinary_pattern_is_within_the_size_limit(pattern: str) -> None:
    assert not is_too_large(pattern)
    compile_custom(pattern)


@pytest.mark.parametrize("part", ["a", "(a)", r"[^\W_]", r"\R", r"\b", "(?i:ß)", "(?>a?b)"])
def test_the_largest_accepted_pattern_compiles_in_limited_memory_and_time(part: str) -> None:
    copies = next(copies for copies in range(LARGEST, 0, -100) if not is_too_large(f"(?:{part}){{{copies}}}"))
    code = f"import regex; regex.compile(r'(?:{part}){{{copies}}}')"
    done = run_with_limits("timeit", "-n1", "-r1", code, memory=400 * 2**20, seconds=3)
    assert done.returncode == 0, done.stderr


def test_a_hostile_pattern_in_a_recipe_or_a_table_is_refused(tmp_path: Path) -> None:
    text, recipe, table = (tmp_path / name for name in ("text.txt", "recipe.json", "tokenizer.json"))
    text.write_text("low lower lowest " * 9)
    recipe.write_text(json.dumps({"pattern": "custom", "custom_pattern": BOMB}))
    write_history(train(Corpus.from_texts([text.read_text()]), Recipe.preset("gpt2", merges=5)), table)
    content = json.loads(table.read_text())
    content["pre_tokenizer"] = {
        "type": "Sequence",
        "pretokenizers": [
            {"type": "Split", "pattern": {"Regex": BOMB}, "behavior": "Isolated", "invert": False},
            {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False},
        ],
    }
    table.write_text(json.dumps(content))
    for source in (["--regex", BOMB], ["--recipe", str(recipe)]):
        done = run_with_limits("bpe_core", "train", str(text), *source)
        assert (done.returncode, "too large" in done.stderr) == (1, True), (source, done.stderr)
    done = run_with_limits("bpe_core", "encode", "--merges", str(table), "low")
    assert done.returncode == 1, "without its pattern a table would cut texts otherwise, and nobody would know"
    assert done.stderr.startswith("bpe-explorer: ")
    assert "nested" in done.stderr
