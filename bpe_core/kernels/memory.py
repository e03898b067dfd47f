"""What NumPy's indexing cannot say: reading eight bytes at once, having memory
fetched ahead of its use, counting bits, and choosing without a branch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bpe_core.kernels.jit import Intrinsic

if TYPE_CHECKING:

    def load_eight(array: Any, index: Any) -> Any: ...

    def prefetch(array: Any, index: Any) -> None: ...

    def trailing_zeros(number: Any) -> Any: ...

    def count_ones(number: Any) -> Any: ...

    def chosen(condition: Any, one: Any, other: Any) -> Any: ...

else:

    @Intrinsic
    def load_eight(typing_context: Any, array: Any, index: Any) -> Any:
        """The eight bytes of a byte array from `index` on as one little-endian number; nothing is checked."""
        from llvmlite import ir
        from numba import types

        if not isinstance(array, types.Array) or array.dtype != types.uint8:
            return None

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            cells = context.make_array(signature.args[0])(context, builder, arguments[0]).data
            place = builder.bitcast(builder.gep(cells, [arguments[1]]), ir.IntType(64).as_pointer())
            return builder.load(place, align=1)

        return types.uint64(array, types.uint64), generate

    @Intrinsic
    def prefetch(typing_context: Any, array: Any, index: Any) -> Any:
        """Begin to bring an item of an array into the cache; the index may lie outside."""
        from llvmlite import ir
        from numba import types

        if not isinstance(array, types.Array):
            return None

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            cells = context.make_array(signature.args[0])(context, builder, arguments[0]).data
            byte = ir.IntType(8).as_pointer()
            place = builder.bitcast(builder.gep(cells, [arguments[1]]), byte)
            number = ir.IntType(32)
            function = builder.module.declare_intrinsic(
                "llvm.prefetch", [byte], ir.FunctionType(ir.VoidType(), [byte, number, number, number])
            )
            builder.call(function, [place, number(0), number(3), number(1)])  # to read, into the nearest cache, data
            return context.get_dummy_value()

        return types.void(array, types.uint64), generate

    @Intrinsic
    def trailing_zeros(typing_context: Any, number: Any) -> Any:
        """How many bits of an unsigned number are zero below the lowest that is not; 64 if all are."""
        from llvmlite import ir
        from numba import types

        if number != types.uint64:
            return None

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 0))

        return types.uint64(types.uint64), generate

    @Intrinsic
    def count_ones(typing_context: Any, number: Any) -> Any:
        """How many bits of an unsigned number are one."""
        from numba import types

        if number != types.uint64:
            return None

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return builder.ctpop(arguments[0])

        return types.uint64(types.uint64), generate

    @Intrinsic
    def chosen(typing_context: Any, condition: Any, one: Any, other: Any) -> Any:
        """One number or the other of the same kind, where nobody can foresee which: without being told so, LLVM
        makes a branch of it as soon as one of them is read from memory."""
        from numba import types

        if condition != types.boolean or one != other or not isinstance(one, types.Number):
            return None

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            found = builder.select(*arguments)
            found.set_metadata("unpredictable", builder.module.add_metadata([]))
            return found

        return one(condition, one, other), generate
