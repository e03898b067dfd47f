"""The round-trip check: a written file is read back, and both must cut thousands of words alike.

verify(data, format, history)    read back what was just written, and say whether it agrees
Verification                     what came out: how many words agree, or which do not
"""

from __future__ import annotations

from bpe_core.verification.checking import Verification, verify

__all__ = ["Verification", "verify"]
