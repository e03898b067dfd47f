"""What tests of written files share."""

from __future__ import annotations

import pytest

from bpe_core.verification import checking


@pytest.fixture
def fewer_words(monkeypatch: pytest.MonkeyPatch) -> None:
    """A written file is checked with a tenth of the made words; the hard texts, and one's own, are all there still."""
    monkeypatch.setattr(checking, "WANTED_WORDS", checking.WANTED_WORDS // 10)
