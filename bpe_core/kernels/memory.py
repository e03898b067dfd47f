"""Operations that NumPy's indexing lacks.

They read or write several bytes at once, fetch memory ahead of its use, count bits, choose without a branch, and access
memory atomically for several threads.

Numba has no atomic access, but LLVM has. `claim`, `set_down`, `look_at`, `publish` and `look_up` have the memory orders
of C11's atomic operations, on every processor. On x86, LLVM compiles them to plain moves, and `claim` to a locked
instruction. On ARM, it uses `ldar`, `stlr`, `casal` or similar instructions.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bpe_core.kernels import stored_code
from bpe_core.kernels.jit import intrinsic, uses_numba

if stored_code.is_making() or uses_numba():  # no other process calls these functions
    from llvmlite import ir
    from numba import types
    from numba.core import cgutils


def _address(context: Any, builder: Any, kind: Any, array: Any, index: Any) -> Any:
    return builder.gep(cgutils.create_struct_proxy(kind)(context, builder, value=array).data, [index])


def _no_result() -> Any:
    """Return the LLVM constant that represents the result of a function without a result."""
    return ir.Constant(ir.IntType(64), 0)


@intrinsic
def load_eight(typing_context: Any, array: Any, index: Any) -> Any:
    """Read eight bytes of a byte array from `index` on as one little-endian number. The index is not checked."""
    if not isinstance(array, types.Array) or array.dtype != types.uint8:
        return None

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        place = _address(context, builder, signature.args[0], *arguments)
        return builder.load(builder.bitcast(place, ir.IntType(64).as_pointer()), align=1)

    return types.uint64(array, types.uint64), generate


@intrinsic
def store_eight(typing_context: Any, array: Any, index: Any, number: Any) -> Any:
    """Write a number as eight little-endian bytes into a byte array from `index` on. The index is not checked."""
    if not isinstance(array, types.Array) or array.dtype != types.uint8 or number != types.uint64:
        return None

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        place = _address(context, builder, signature.args[0], *arguments[:2])
        builder.store(arguments[2], builder.bitcast(place, ir.IntType(64).as_pointer()), align=1)
        return _no_result()

    return types.uint64(array, types.uint64, number), generate


@intrinsic
def copy_thirty_two(typing_context: Any, source: Any, index: Any, target: Any, place: Any) -> Any:
    """Copy 32 bytes of JSON text from one byte array into another. Return a number that describes them.

    Bit i is 1 if byte i is a quote, a backslash or a control character, and bit i + 32 is 1 if byte i is not ASCII.
    Neither index is checked.
    """
    if any(not isinstance(array, types.Array) or array.dtype != types.uint8 for array in (source, target)):
        return None

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        several = ir.VectorType(ir.IntType(8), 32)
        whole = ir.IntType(64)
        start = _address(context, builder, signature.args[0], *arguments[:2])
        to = _address(context, builder, signature.args[2], *arguments[2:])
        text = builder.load(builder.bitcast(start, several.as_pointer()), align=1)
        builder.store(text, builder.bitcast(to, several.as_pointer()), align=1)

        def compared(sign: str, byte: int) -> Any:
            return builder.icmp_unsigned(sign, text, ir.Constant(several, [byte] * 32))

        unusual = builder.or_(builder.or_(compared("==", 0x22), compared("==", 0x5C)), compared("<", 0x20))
        low, high = (
            builder.zext(builder.bitcast(bits, ir.IntType(32)), whole) for bits in (unusual, compared(">", 0x7F))
        )
        return builder.or_(low, builder.shl(high, whole(32)))

    return types.uint64(source, types.uint64, target, types.uint64), generate


@intrinsic
def prefetch(typing_context: Any, array: Any, index: Any) -> Any:
    """Begin to load an item of an array into the cache. The index may lie outside the array."""
    if not isinstance(array, types.Array):
        return None

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        byte, number = ir.IntType(8).as_pointer(), ir.IntType(32)
        place = builder.bitcast(_address(context, builder, signature.args[0], *arguments), byte)
        function = builder.module.declare_intrinsic(
            "llvm.prefetch", [byte], ir.FunctionType(ir.VoidType(), [byte, number, number, number])
        )
        builder.call(function, [place, number(0), number(3), number(1)])  # to read, into the nearest cache, data
        return _no_result()

    return types.uint64(array, types.uint64), generate


@intrinsic
def entry_in_eight(typing_context: Any, entries: Any, index: Any, key: Any, shift: Any) -> Any:
    """Return the entry, of eight from `index` on, whose bits from `shift` on are a key. Return 0 if there is none.

    No two of the entries may have the same key.
    """
    if not isinstance(entries, types.Array) or any(kind != types.uint64 for kind in (entries.dtype, key, shift)):
        return None

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        one, several = ir.IntType(64), ir.VectorType(ir.IntType(64), 8)
        place = _address(context, builder, signature.args[0], *arguments[:2])
        read = builder.load(builder.bitcast(place, several.as_pointer()), align=8)
        keys = builder.lshr(read, _repeated(builder, arguments[3], 8))
        equal = builder.icmp_unsigned("==", keys, _repeated(builder, arguments[2], 8))
        found = builder.select(equal, read, ir.Constant(several, [0] * 8))
        together = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(one, [several]), "llvm.vector.reduce.or.v8i64"
        )
        return builder.call(together, [found])

    return types.uint64(entries, types.uint64, key, shift), generate


@intrinsic
def lowest_of_sixteen(typing_context: Any, array: Any, index: Any) -> Any:
    """Return the lowest of 16 numbers from `index` on, times 64, plus the place of its first occurrence among them."""
    if not isinstance(array, types.Array) or array.dtype != types.int32:
        return None

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        several, one, whole = ir.VectorType(ir.IntType(32), 16), ir.IntType(32), ir.IntType(64)
        place = _address(context, builder, signature.args[0], *arguments)
        items = builder.load(builder.bitcast(place, several.as_pointer()), align=4)
        least = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(one, [several]), "llvm.vector.reduce.smin.v16i32"
        )
        lowest = builder.call(least, [items])
        equal = builder.icmp_signed("==", items, _repeated(builder, lowest, 16))
        bits = builder.zext(builder.bitcast(equal, ir.IntType(16)), whole)
        first = builder.cttz(bits, ir.Constant(ir.IntType(1), 1))
        return builder.or_(builder.shl(builder.sext(lowest, whole), whole(6)), first)

    return types.int64(array, types.uint64), generate


def _repeated(builder: Any, number: Any, times: int) -> Any:
    """Return a vector that holds a number several times."""
    several = ir.VectorType(number.type, times)
    alone = builder.insert_element(ir.Constant(several, ir.Undefined), number, ir.Constant(ir.IntType(32), 0))
    first = ir.Constant(ir.VectorType(ir.IntType(32), times), [0] * times)
    return builder.shuffle_vector(alone, ir.Constant(several, ir.Undefined), first)


def _of_bits(instruction: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    def count(typing_context: Any, number: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return instruction(builder, arguments[0])

        return (types.uint64(types.uint64), generate) if number == types.uint64 else None

    return count


# The number of ones among the bits of an unsigned number, and the number of zeros below the lowest one (64 for zero).
count_ones = intrinsic(_of_bits(lambda builder, number: builder.ctpop(number)))
trailing_zeros = intrinsic(_of_bits(lambda builder, number: builder.cttz(number, ir.Constant(ir.IntType(1), 0))))


@intrinsic
def chosen(typing_context: Any, condition: Any, if_true: Any, if_false: Any) -> Any:
    """Return one of two numbers without a branch.

    LLVM may compile an ordinary conditional expression to a branch, if one of the numbers is read from memory.
    """
    if condition != types.boolean or if_true != if_false or not isinstance(if_true, types.Number):
        return None

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        choice = builder.select(*arguments)
        choice.set_metadata("unpredictable", builder.module.add_metadata([]))
        return choice

    return if_true(condition, if_true, if_false), generate


def _has_eight_byte_items(array: Any, *numbers: Any) -> bool:
    """Return whether the items of an array have eight bytes, and all given numbers are unsigned and have 64 bits.

    Only such items are used, because every supported processor reads and writes eight bytes atomically.
    """
    return isinstance(array, types.Array) and array.dtype.bitwidth == 64 and set(numbers) <= {types.uint64}


def _stored(order: str) -> Callable[..., Any]:
    def store(typing_context: Any, array: Any, index: Any, value: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            place = _address(context, builder, signature.args[0], *arguments[:2])
            builder.store_atomic(arguments[2], place, order, 8)
            return _no_result()

        return (types.uint64(array, index, value), generate) if _has_eight_byte_items(array, index, value) else None

    return store


def _loaded(order: str) -> Callable[..., Any]:
    def load(typing_context: Any, array: Any, index: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return builder.load_atomic(_address(context, builder, signature.args[0], *arguments), order, 8)

        return (array.dtype(array, index), generate) if _has_eight_byte_items(array, index) else None

    return load


# Other threads may read or write the number at the same time. No thread ever reads a half-written number.
set_down = intrinsic(_stored("monotonic"))
look_at = intrinsic(_loaded("monotonic"))
# A thread that reads a published number also sees everything that the other thread wrote before.
publish = intrinsic(_stored("release"))
look_up = intrinsic(_loaded("acquire"))


@intrinsic
def claim(typing_context: Any, array: Any, index: Any, mark: Any) -> Any:
    """Write a mark into an item of an array if the item is zero.

    Return whether this thread wrote the mark. If several threads try to write a mark, only one of them succeeds.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        place = _address(context, builder, signature.args[0], *arguments[:2])
        exchanged = builder.cmpxchg(place, ir.Constant(ir.IntType(64), 0), arguments[2], "acq_rel", "acquire")
        return builder.extract_value(exchanged, 1)

    return (types.boolean(array, index, mark), generate) if _has_eight_byte_items(array, index, mark) else None
