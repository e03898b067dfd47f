"""A property of Qt is set by a call.

Given as a keyword (`QTimer(parent, interval=50)`) PySide looks it up by a name whose first letter it writes large or
small as the language does: in a Turkish locale no property with an i is found, and the window does not open.
"""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.shared import ROOT


def keywords_given_to_qt(source: str) -> list[str]:
    tree = ast.parse(source)
    imports = (node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom))
    qt = {
        alias.asname or alias.name
        for node in imports
        if (node.module or "").startswith("PySide6")
        for alias in node.names
    }
    return [
        ast.unparse(node)
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in qt and node.keywords
    ]


@pytest.mark.parametrize("path", sorted((ROOT / "app").rglob("*.py")), ids=lambda path: str(path.relative_to(ROOT)))
def test_no_property_is_given_as_a_keyword(path: Path) -> None:
    assert keywords_given_to_qt(path.read_text(encoding="utf-8")) == []


def test_the_check_itself_sees_one() -> None:
    assert keywords_given_to_qt("from PySide6.QtCore import QTimer\nQTimer(None, interval=50)") != []
