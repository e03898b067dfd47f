"""The round-trip check: a written file is read back, and both must cut thousands of words alike."""

from __future__ import annotations

from bpe_core.verification.checking import Verification, verify

__all__ = ["Verification", "verify"]
