"""Kernels become machine code: the one place that imports Numba.

Each kernel that Python calls gets an entry, a function of one row of numbers (see `calling.py`) that finds the arrays
in it. The entry and all that it calls become one object file. Kernels that only kernels call have no entry.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import count
from typing import Any

import numba
from llvmlite import ir
from numba import types
from numba.core import cgutils, compiler
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import CPUDispatcher, cpu_target
from numba.core.typing.typeof import typeof_impl
from numba.extending import intrinsic
from numba.np.arrayobj import populate_array

from bpe_core.kernels.calling import Kernel, Made
from bpe_core.kernels.jit import Inlined, Intrinsic

# Without Numba's own memory management: kernels allocate nothing (a slice copied to a slice would), and the
# reference counts it keeps of every array that is handed from one kernel to another cost more than the work.
_OPTIONS = dict(nopython=True, nogil=True, error_model="numpy", _nrt=False)
_WORD = ir.IntType(64)
_HEAD = object.__basicsize__  # bytes of a Python object before what is its own
_ITEMS = tuple.__basicsize__  # before the addresses of what a tuple holds
_DATA, _SHAPE, _STRIDES = _HEAD, _HEAD + 16, _HEAD + 24  # where an array's object holds the addresses of these


def compiled(kernel: Kernel, kinds: str, arguments: tuple[Any, ...]) -> tuple[Made, bytes, int]:
    """What was made, its object file, and its address in this process."""
    with global_compiler_lock:
        given = tuple(map(_argument_type, arguments))
        entry = _dispatcher(_entry(kernel, given))
        entry.compile((types.int64,))
        result = entry.overloads[(types.int64,)]
        library, symbol = result.library, result.fndesc.llvm_func_name
        library.enable_object_caching()
        _refuse_strangers(kernel, library)
        address = library.get_pointer_to_function(symbol)
        code: bytes = library._get_compiled_object()
    _keep_alive.append(library)
    answer = _type_of_kernel(kernel, None).dispatcher.overloads[given].signature.return_type
    made = Made(kernel.name, kinds, "".join(map(_letters, given)), _letters(answer), symbol)
    return made, code, address


_keep_alive: list[Any] = []
# What the C library of every process has; Numba's own helpers are not there where machine code is loaded without it.
_EVERYWHERE = {"memset", "memcpy", "memmove", "log", "exp"}


def _refuse_strangers(kernel: Kernel, library: Any) -> None:
    """Machine code that calls what is not there would end the process."""
    library.finalize()
    for function in library._final_module.functions:
        name = function.name
        if function.is_declaration and not name.startswith("llvm.") and name not in _EVERYWHERE:
            raise NotImplementedError(f"The kernel {kernel.name} calls {name}, which only Numba has; write it out.")


# How Numba sees what the decorators made


def _dispatcher(function: Callable[..., Any]) -> CPUDispatcher:
    """Compiles a function for other kernels to call: its body alone, nothing that Python could call."""
    made = CPUDispatcher(function, locals={}, targetoptions=dict(_OPTIONS))

    def body(arguments: Any, result: Any) -> Any:
        flags = compiler.Flags()
        cpu_target.options.parse_as_flags(flags, dict(_OPTIONS))
        flags.no_compile = flags.no_cpython_wrapper = flags.no_cfunc_wrapper = True
        context = cpu_target.target_context
        found = compiler.compile_extra(
            cpu_target.typing_context, context, function, args=arguments, return_type=result, flags=flags, locals={}
        )
        key = object()  # what calls are told apart by; else it would be the function that Python calls
        context.insert_user_function(key, found.fndesc, [found.library])
        return found._replace(entry_point=key)

    made._compiler._compile_core = body
    made.add_overload = lambda found: made.overloads.__setitem__(tuple(found.signature.args), found)
    return made


_seen: dict[Any, Any] = {}  # the type of each, which is made once


@typeof_impl.register(Kernel)
@typeof_impl.register(Inlined)
def _type_of_kernel(value: Any, context: Any) -> Any:
    if value not in _seen:
        dispatcher = _dispatcher(value.py_func)
        _keep_alive.append(dispatcher)  # its type does not
        _seen[value] = types.Dispatcher(dispatcher)
    return _seen[value]


@typeof_impl.register(Intrinsic)
def _type_of_intrinsic(value: Intrinsic, context: Any) -> Any:
    if value not in _seen:
        made = intrinsic(value.py_func)
        _keep_alive.append(made)
        cpu_target.typing_context.refresh()  # which knows of it from now on
        _seen[value] = cpu_target.typing_context.resolve_value_type(made)
    return _seen[value]


# Entries


def _entry(kernel: Kernel, given: tuple[Any, ...]) -> Any:
    """A function of one row of numbers: hands on the arguments that it holds, and puts the answer behind them."""
    wanted = types.Tuple(given)
    places = sum(map(_places, given))

    @intrinsic
    def arguments_in(typing_context: Any, row: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            row, numbers = arguments[0], map(_WORD, count())
            return context.make_tuple(builder, wanted, [_found(context, builder, one, numbers, row) for one in given])

        return wanted(types.int64), generate

    @intrinsic
    def put(typing_context: Any, row: Any, answer: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            _put(context, builder, places, answer, *arguments)
            return context.get_dummy_value()

        return types.void(types.int64, answer), generate

    def entry(row):
        put(row, kernel(*arguments_in(row)))

    return entry


def _argument_type(value: Any) -> Any:
    """As Numba sees it, but that any array may be written to."""
    if isinstance(value, tuple):
        parts = tuple(map(_argument_type, value))
        return types.NamedTuple(parts, type(value)) if hasattr(value, "_fields") else types.Tuple(parts)
    kind = numba.typeof(value)
    return types.Array(kind.dtype, kind.ndim, kind.layout) if isinstance(kind, types.Array) else kind


def _letters(kind: Any) -> str:
    """How each number of the row comes from an argument, or becomes a part of the answer (see `calling.py`)."""
    if kind == types.none:
        return ""
    if isinstance(kind, types.BaseTuple):
        return "t" if _holds_arrays(kind) else "".join(map(_letters, kind))
    if isinstance(kind, types.Array):
        return "a"
    if kind == types.boolean:
        return "b"
    if isinstance(kind, types.Float):
        return "f"
    assert isinstance(kind, types.Integer), f"a kernel knows no {kind}"
    return "i" if kind.signed else "u"


def _holds_arrays(kind: Any) -> bool:
    return all(isinstance(part, types.Array) for part in kind)


def _places(kind: Any) -> int:
    return len(_letters(kind))


def _address(builder: Any, row: Any, place: Any, kind: Any) -> Any:
    return builder.inttoptr(builder.add(row, builder.mul(place, _WORD(8))), kind.as_pointer())


def _found(context: Any, builder: Any, kind: Any, places: Iterator[Any], row: Any) -> Any:
    """An argument from the next places of the row."""
    if isinstance(kind, types.BaseTuple) and _holds_arrays(kind):
        held = builder.load(_address(builder, row, next(places), _WORD))
        addresses = (_word_behind(builder, held, _ITEMS + 8 * place) for place in range(len(kind)))
        parts = [_array(context, builder, part, found) for part, found in zip(kind, addresses, strict=True)]
        return context.make_tuple(builder, kind, parts)
    if isinstance(kind, types.BaseTuple):
        parts = [_found(context, builder, part, places, row) for part in kind]
        return context.make_tuple(builder, kind, parts)
    if isinstance(kind, types.Float):
        number = builder.load(_address(builder, row, next(places), ir.DoubleType()))
        return context.cast(builder, number, types.float64, kind)
    number = builder.load(_address(builder, row, next(places), _WORD))
    if isinstance(kind, types.Array):
        return _array(context, builder, kind, number)
    return context.cast(builder, number, types.int64, kind)


def _put(context: Any, builder: Any, place: int, kind: Any, row: Any, answer: Any) -> None:
    """An answer, part by part, to the places of the row from one on."""
    if isinstance(kind, types.BaseTuple):
        for part, of_part in enumerate(kind):
            _put(context, builder, place + part, of_part, row, builder.extract_value(answer, part))
    elif kind != types.none:
        wide = types.float64 if isinstance(kind, types.Float) else types.int64
        number = context.cast(builder, answer, kind, wide)
        builder.store(number, _address(builder, row, _WORD(place), number.type))


def _array(context: Any, builder: Any, kind: Any, python_object: Any) -> Any:
    """An array, by the address of its Python object."""
    number = partial(_word_behind, builder)
    shape, strides = number(python_object, _SHAPE), number(python_object, _STRIDES)
    item = context.get_data_type(kind.dtype)
    made = context.make_array(kind)(context, builder)
    populate_array(
        made,
        data=builder.inttoptr(number(python_object, _DATA), item.as_pointer()),
        shape=cgutils.pack_array(builder, [number(shape, 8 * axis) for axis in range(kind.ndim)], ty=_WORD),
        strides=cgutils.pack_array(builder, [number(strides, 8 * axis) for axis in range(kind.ndim)], ty=_WORD),
        itemsize=_WORD(context.get_abi_sizeof(item)),
        meminfo=None,
    )
    return made._getvalue()


def _word_behind(builder: Any, address: Any, bytes: int) -> Any:
    return builder.load(builder.inttoptr(builder.add(address, _WORD(bytes)), _WORD.as_pointer()))
