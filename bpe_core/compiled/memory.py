"""Reading several bytes of an array at once, which NumPy's indexing cannot say."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

if TYPE_CHECKING:

    def load_eight(array: Any, index: Any) -> Any: ...

else:

    @intrinsic
    def load_eight(typing_context: Any, array: Any, index: Any) -> Any:
        """The eight bytes of a byte array from `index` on as one little-endian number; nothing is checked."""
        if not isinstance(array, types.Array) or array.dtype != types.uint8:
            return None

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            cells = context.make_array(signature.args[0])(context, builder, arguments[0]).data
            place = builder.bitcast(builder.gep(cells, [arguments[1]]), ir.IntType(64).as_pointer())
            return builder.load(place, align=1)

        return types.uint64(array, types.uint64), generate
