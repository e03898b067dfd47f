"""Tests of the examples in docstrings.

One test runs all examples. If pytest collected them, each of its parallel processes would collect all of them, which is
slower.
"""

from __future__ import annotations

import doctest
from importlib import import_module

from tests.shared import ROOT


def test_examples_in_docstrings_give_the_printed_results() -> None:
    paths = [path for folder in ("app", "bpe_core", "resources") for path in sorted((ROOT / folder).rglob("*.py"))]
    with_examples = [path.relative_to(ROOT) for path in paths if ">>> " in path.read_text(encoding="utf-8")]
    names = [".".join(path.with_suffix("").parts).removesuffix(".__init__") for path in with_examples]
    finder, runner = doctest.DocTestFinder(), doctest.DocTestRunner(verbose=False)  # the runner prints the differences
    examples = [example for name in names for example in finder.find(import_module(name)) if example.examples]
    outcomes = {example.name: runner.run(example) for example in examples}
    assert sum(result.attempted for result in outcomes.values()) > 400
    assert [name for name, result in outcomes.items() if result.failed] == []
