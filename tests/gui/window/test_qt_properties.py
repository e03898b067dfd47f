"""Tests that the code sets Qt properties with methods, and not with keyword arguments.

For a keyword, as in `QTimer(parent, interval=50)`, PySide changes the case of the first letter by the rules of the
desktop's language. In a Turkish locale, this fails for names that begin with an i, and the window would not open.
"""

from __future__ import annotations

import ast

from tests.shared import ROOT


def keywords_given_to_qt(source: str) -> list[str]:
    if "PySide6" not in source:
        return []
    nodes = list(ast.walk(ast.parse(source)))
    imports = (node for node in nodes if isinstance(node, ast.ImportFrom))
    qt = {
        alias.asname or alias.name
        for node in imports
        if (node.module or "").startswith("PySide6")
        for alias in node.names
    }
    return [
        ast.unparse(node)
        for node in nodes
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in qt and node.keywords
    ]


def test_no_qt_property_is_passed_as_a_keyword_argument() -> None:
    sources = {path: path.read_text(encoding="utf-8") for path in (ROOT / "app").rglob("*.py")}
    assert len(sources) > 150
    keywords = {path: keywords_given_to_qt(source) for path, source in sources.items()}
    assert {path: given for path, given in keywords.items() if given} == {}


def test_the_check_of_qt_properties_reports_a_property_passed_as_a_keyword() -> None:
    assert keywords_given_to_qt("from PySide6.QtCore import QTimer\nQTimer(None, interval=50)") != []
