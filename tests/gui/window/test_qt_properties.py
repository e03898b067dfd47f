"""A property of Qt is set by a call.

Given as a keyword (`QTimer(parent, interval=50)`) PySide looks it up by a name whose first letter it writes large or
small as the language does: in a Turkish locale no property with an i is found, and the window does not open.
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
    found = {path: keywords_given_to_qt(source) for path, source in sources.items()}
    assert {path: given for path, given in found.items() if given} == {}


def test_the_check_of_qt_properties_reports_a_property_passed_as_a_keyword() -> None:
    assert keywords_given_to_qt("from PySide6.QtCore import QTimer\nQTimer(None, interval=50)") != []
