"""Tests that the scanner tables stored with the machine code equal tables made from the patterns."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from bpe_core.kernels import stored_code, stored_tables
from bpe_core.kernels.stored_tables import named_table, read, written
from bpe_core.text.patterns import NAMED_PATTERNS
from bpe_core.text.scanner import ScanTable, table_for

needs_machine_code = pytest.mark.skipif(
    not stored_code.is_stored(stored_code.ENCODING), reason="there is no machine code"
)


@pytest.fixture(autouse=True)
def nothing_in_memory() -> Iterator[None]:
    named_table.cache_clear()
    yield
    named_table.cache_clear()


def assert_equal(table: ScanTable, expected: ScanTable | None) -> None:
    assert expected is not None
    for column in ("entries", "kind_of_code_point"):
        ours, theirs = getattr(table, column), getattr(expected, column)
        assert ours.dtype == theirs.dtype
        assert np.array_equal(ours, theirs)
    assert (table.kinds, table.drops_blanks) == (expected.kinds, expected.drops_blanks)


@pytest.mark.parametrize("pattern", NAMED_PATTERNS)
def test_a_stored_scan_table_is_read_back_unchanged(pattern: str) -> None:
    expected = table_for(pattern)
    assert expected is not None
    assert_equal(read(written(expected)), expected)


@needs_machine_code
def test_scan_tables_of_all_named_patterns_are_stored_in_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored_tables, "table_for", lambda *wanted, **how: pytest.fail(f"made anew: {wanted} {how}"))
    tables = {pattern: named_table(pattern, "line", older=True) for pattern in NAMED_PATTERNS}
    assert_equal(tables["bert"], table_for("bert", "line", older=True))


def test_a_scan_table_is_computed_again_after_the_version_of_regex_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("regex.__version__", "another")
    made: list[str] = []

    def make(pattern: str, unit: str, *, older: bool) -> ScanTable | None:
        made.append(pattern)
        return table_for(pattern, unit, older=older)

    monkeypatch.setattr(stored_tables, "table_for", make)
    assert_equal(named_table("whitespace"), table_for("whitespace"))
    assert made == ["whitespace"]
