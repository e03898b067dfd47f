"""Tests that a plug-in for an older version is found, trains and encodes as before."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from bpe_core.errors import BpeError
from bpe_core.methods.kit.method import Method
from tests.shared import ROOT

CHAINS = """
from dataclasses import replace

from bpe_core.learning.bpe.method import METHOD as BPE
from bpe_core.learning.bpe.method import PlainLearner
from bpe_core.learning.methods import Way
from bpe_core.recipes.methods import Listed


class ChainLearner(PlainLearner):
    def _may_join(self, pair):
        return min(self._lengths[pair[0]], self._lengths[pair[1]]) == 1 and super()._may_join(pair)


METHOD = replace(BPE, plain=Way(ChainLearner, bytes_a_cell=160), compiled=None)
METHODS = {"chains": Listed("Chains", "Joins the pair that occurs most, of which one side is a base symbol.", __name__)}
"""
USED = """
import sys, warnings
from pathlib import Path
from typing import Any
from bpe_core.support.plugins import run_file
run_file(Path(sys.argv[1]))
import bpe_core as bpe
study = bpe.train(["anna sees anna and otto, level by level " * 9], "gpt2", method="chains", merges=12)
print(study.history.recipe.method, len(study.history), all(min(pair) < 256 for pair in study.history.pairs()))
print(len(bpe.why(study, text="anna").table))
"""


def test_a_plug_in_file_written_for_an_older_version_still_works(tmp_path: Path) -> None:
    (tmp_path / "my_chains.py").write_text(CHAINS, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-W", "ignore::DeprecationWarning", "-c", USED, str(tmp_path / "my_chains.py")],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        env=os.environ | {"PYTHONUTF8": "1"},
    )
    assert done.returncode == 0, done.stderr
    first, why = done.stdout.splitlines()[:2]
    assert first == "chains 12 True"
    assert why


def test_importing_a_module_by_its_former_name_causes_a_warning_that_gives_the_new_name() -> None:
    from bpe_core.support.former_names import find_former_names

    find_former_names()
    sys.modules.pop("bpe_core.recipes.methods", None)
    with pytest.warns(DeprecationWarning, match=r"bpe_core\.recipes\.methods is bpe_core\.methods\.kit\.former now"):
        former = import_module("bpe_core.recipes.methods")
    with pytest.warns(DeprecationWarning, match="FormerEntry now"):
        assert former.Listed is former.FormerEntry


def test_a_renamed_class_is_found_by_its_former_name_with_a_warning() -> None:
    parts = import_module("bpe_core.recipes.parts")
    with pytest.warns(DeprecationWarning, match="LearningChoices now"):
        assert parts.Learning is parts.LearningChoices
    with pytest.raises(AttributeError, match="no attribute 'Teaching'"):
        parts.Teaching  # noqa: B018  # asking for it is the test


def test_the_former_name_of_a_python_method_of_errors_works_with_a_deprecation_warning() -> None:
    error: Any = BpeError("The plan is empty.")
    with pytest.warns(DeprecationWarning, match=r"BpeError\.say_of is called BpeError\.name_subject now"):
        error.say_of("plan.toml")
    assert str(error) == "plan.toml: The plan is empty."


@pytest.mark.parametrize(
    ("former", "new"),
    [("told_of", "choices_in_words"), ("settled", "implied_choices"), ("readings", "possible_histories")],
)
def test_plug_in_methods_can_still_use_former_function_names(former: str, new: str) -> None:
    with pytest.warns(DeprecationWarning, match=rf"Older\.{former} is called {new} now"):
        older = type("Older", (Method,), {former: lambda self, history: "answer"})()
    assert getattr(older, new)(None) == "answer"
    method = Method()
    with pytest.warns(DeprecationWarning, match=rf"Method\.{former} is called Method\.{new} now"):
        assert getattr(method, former) == getattr(method, new)
