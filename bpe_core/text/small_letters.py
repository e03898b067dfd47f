"""Small letters, each looked at alone, as the libraries of tokenizers know them: those that came lately, too.

>>> small("ΑΣ"), small("\\u1c89") == "\\u1c8a"
('ασ', True)
"""

from __future__ import annotations

# From which letter to which, and how far behind each its small one stands.
_LATER = (
    (0x1C89, 0x1C89, 1), (0xA7CB, 0xA7CB, 0x264 - 0xA7CB), (0xA7CC, 0xA7CC, 1), (0xA7CE, 0xA7CE, 1),
    (0xA7D2, 0xA7D2, 1), (0xA7D4, 0xA7D4, 1), (0xA7DA, 0xA7DA, 1), (0xA7DC, 0xA7DC, 0x19B - 0xA7DC),
    (0x10D50, 0x10D65, 0x20), (0x16EA0, 0x16EB8, 0x1B),
)  # fmt: skip
_ALONE = {first + i: chr(first + i + far) for first, last, far in _LATER for i in range(last - first + 1)}
_ALONE[ord("Σ")] = "σ"  # whether or not a word ends with it


def small(text: str) -> str:
    """The text with a small letter for each capital."""
    if not text.isascii() and not _ALONE.keys().isdisjoint(map(ord, set(text))):
        text = text.translate(_ALONE)
    return text.lower()
