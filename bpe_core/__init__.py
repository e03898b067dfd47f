"""The engine: from text to words, merges and tokens. It does not depend on the window.

    corpus  ->  words  ->  trainer  ->  history  ->  study
    (text)      (distinct words     (steps,       (all questions: encode, why,
                 with counts)        one by one)   race, sizes, save ...)

    >>> import bpe_core as bpe
    >>> study = bpe.train(["low low lower newest widest"], "gpt2", merges=4, min_frequency=1)
    >>> study.encode("lowest"), bpe.ranks(study).columns["text"][:2]
    ([257, 259, 116], ['␣', 'e'])

To understand the algorithm, read `bpe_core/methods/bpe/reference.py` first. The file `__init__.pyi` lists the public
names, and each name is loaded when it is first used. Every question in `bpe_core/questions` is also a function.
"""

from __future__ import annotations

import ast
import sys
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

# Former names, and their replacements.
_FORMER = {
    "Tokenizer": ("bpe_core.studies.study", "as_study"),
    "open_table": ("bpe_core.studies.making", "open_study"),
    "write_history": ("bpe_core.studies.study", "save"),
}


@cache
def _homes() -> dict[str, tuple[str, str]]:
    """Return the home of each public name: the module that defines it, and its name in this module."""
    stub = ast.parse(Path(__file__).with_suffix(".pyi").read_text(encoding="utf-8"))
    imports = [node for node in stub.body if isinstance(node, ast.ImportFrom) and node.module]
    names = ((str(node.module), alias) for node in imports for alias in node.names if alias.name != "*")
    return {alias.asname or alias.name: (module, alias.name) for module, alias in names}


def __getattr__(name: str) -> Any:
    if name == "__all__":
        return sorted(_homes())
    if name == "__version__":
        return _version()
    if name == "tables":  # the former module of questions that were functions
        return sys.modules[__name__]
    home = _homes().get(name) or _FORMER.get(name)
    if home is not None:
        value = globals()[name] = getattr(import_module(home[0]), home[1])
        return value
    if name.startswith("_") or name not in import_module("bpe_core.questions").QUESTIONS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module("bpe_core.asking.functions"), name)


def _version() -> str:
    from bpe_core.support.version import PROGRAM, version_of

    return version_of(PROGRAM) or "not installed"


def __dir__() -> list[str]:
    return sorted({*globals(), "__version__", *_homes(), *import_module("bpe_core.questions").question_names()})
