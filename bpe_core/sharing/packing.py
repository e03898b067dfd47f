r"""The packing of a JSON value with large arrays of numbers, so that it takes little room in a page.

In the JSON text, each array is replaced by a reference. The bytes of all arrays follow the text. In an array, the
lowest bytes of all numbers come first, then the next bytes, and so on. The result is compressed by deflate. The script
`resources/share/unpack.js` reads it.

    >>> import base64, zlib
    >>> zlib.decompress(base64.b64decode(pack({"left": np.array([7, 9])})))[4:]
    b'{"left":{"array":0,"length":2,"width":1}}\x07\t'
"""

from __future__ import annotations

import base64
import json
import zlib
from typing import Any

import numpy as np
import numpy.typing as npt

from bpe_core.errors import TooLarge
from bpe_core.support.wording import count_text

MOST = 48_000_000  # characters of a page that a phone still opens


def pack(value: Any) -> str:
    arrays: list[bytes] = []
    text = json.dumps(_with_references(value, arrays), ensure_ascii=True, separators=(",", ":")).encode()
    data = zlib.compress(len(text).to_bytes(4, "little") + text + b"".join(arrays), 9)
    if 4 * len(data) // 3 > MOST:
        raise TooLarge(
            f"The page would have {count_text(4 * len(data) // 3, 'byte')}, which is too many for a browser. Share a "
            "smaller vocabulary."
        )
    return base64.b64encode(data).decode()


def _with_references(value: Any, arrays: list[bytes]) -> Any:
    if isinstance(value, dict):
        return {key: _with_references(entry, arrays) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_with_references(entry, arrays) for entry in value]
    if not isinstance(value, np.ndarray):
        return value
    reference: dict[str, Any] = {"array": sum(map(len, arrays)), "length": len(value)}
    if value.dtype.kind == "f":
        reference |= {"width": 4, "real": True}
        arrays.append(_planes(value.astype("<f4").view("<u4"), 4))
        return reference
    numbers = value.astype(np.int64)
    if numbers.min(initial=0) < 0:
        reference["signed"] = True
        numbers = np.where(numbers < 0, -2 * numbers - 1, 2 * numbers)
    reference["width"] = max(1, (int(numbers.max(initial=0)).bit_length() + 7) // 8)
    arrays.append(_planes(numbers, reference["width"]))
    return reference


def _planes(numbers: npt.NDArray[Any], width: int) -> bytes:
    columns = numbers.astype("<u8").view(np.uint8).reshape(len(numbers), 8)
    return columns[:, :width].T.tobytes()
