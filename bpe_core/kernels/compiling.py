"""Kernels become machine code: the one place that imports Numba.

Each kernel that Python calls gets an entry, a function of one row of numbers (see `calling.py`) that finds the arrays
in it. The entry and all that it calls become one object file. Kernels that only kernels call have no entry.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
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
_DATA, _SHAPE, _STRIDES = _HEAD, _HEAD + 16, _HEAD + 24  # where an array's object holds the addresses of these


def compiled(kernel: Kernel, kinds: str, arguments: tuple[Any, ...]) -> tuple[Made, bytes, int]:
    """What was made, its object file, and its address in this process."""
    with global_compiler_lock:
        entry = _Entry(kernel, arguments)
        result = entry.compiled()
        library, symbol = result.library, result.fndesc.llvm_func_name
        library.enable_object_caching()
        _refuse_strangers(kernel, library)
        address = library.get_pointer_to_function(symbol)
        code: bytes = library._get_compiled_object()
    _keep_alive.append(library)
    made = Made(kernel.name, kinds, ", ".join(entry.packing), len(entry.packing), entry.result, symbol)
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


class _Entry:
    """Writes the function that takes one row of numbers, hands the arguments on and puts the answer behind them."""

    def __init__(self, kernel: Kernel, arguments: tuple[Any, ...]) -> None:
        self.packing: list[str] = []
        self.result = ""
        self._names: dict[str, Any] = {"kernel": kernel, "number_at": _number_at, "put": _put}
        self._numbers: Iterator[int] = count()
        given = [self._argument(value, f"a[{place}]") for place, value in enumerate(arguments)]
        self._call = f"kernel({', '.join(given)})"
        self._types = tuple(map(_argument_type, arguments))
        self._kernel = kernel

    def compiled(self) -> Any:
        """As Numba gives it, with all that the entry calls."""
        answer = _type_of_kernel(self._kernel, None).dispatcher
        answer.compile(self._types)
        returned = answer.overloads[self._types].signature.return_type
        first = len(self.packing)
        lines = [f"found = {self._call}"]
        parts = list(returned) if isinstance(returned, types.BaseTuple) else [returned]
        if returned != types.none:
            names = ["found"] if len(parts) == 1 else [f"found[{place}]" for place in range(len(parts))]
            lines += [f"put(row, {first + place}, {name})" for place, name in enumerate(names)]
            self.result = ",".join(map(_letter, parts))
        exec("def entry(row):\n    " + "\n    ".join(lines), self._names)  # noqa: S102  # Numba wants a function, and takes it apart
        dispatcher = _dispatcher(self._names["entry"])
        dispatcher.compile((types.int64,))
        return dispatcher.overloads[(types.int64,)]

    def _argument(self, value: Any, path: str) -> str:
        """The expression of an argument; how to pack it is noted."""
        if isinstance(value, tuple):
            parts = ", ".join(self._argument(part, f"{path}[{place}]") for place, part in enumerate(value))
            return f"{self._named(type(value))}({parts})" if hasattr(value, "_fields") else f"({parts},)"
        place, kind = len(self.packing), _argument_type(value)
        if isinstance(kind, types.Array):
            self.packing.append(f"id({path})")
            return f"{self._named(_array_at(kind))}(row, {place})"
        if isinstance(kind, types.Float):
            self.packing.append(f"bits({path})")
            return f"{self._named(_float_at)}(row, {place})"
        self.packing.append(f"int({path})")
        if kind == types.boolean:
            return f"(number_at(row, {place}) != 0)"
        return f"{self._named(kind)}(number_at(row, {place}))"

    def _named(self, value: Any) -> str:
        name = f"name{next(self._numbers)}"
        self._names[name] = value
        return name


def _argument_type(value: Any) -> Any:
    """As Numba sees it, but that any array may be written to."""
    if isinstance(value, tuple):
        parts = tuple(map(_argument_type, value))
        if hasattr(value, "_fields"):
            return types.NamedTuple(parts, type(value))
        return types.Tuple(parts)
    kind = numba.typeof(value)
    return types.Array(kind.dtype, kind.ndim, kind.layout) if isinstance(kind, types.Array) else kind


def _letter(kind: Any) -> str:
    if kind == types.boolean:
        return "b"
    if isinstance(kind, types.Float):
        return "f"
    assert isinstance(kind, types.Integer), f"a kernel answers with {kind}"
    return "i" if kind.signed else "u"


def _place(builder: Any, row: Any, place: Any) -> Any:
    return builder.add(row, builder.mul(place, _WORD(8)))


def _load(builder: Any, address: Any, kind: Any = _WORD) -> Any:
    return builder.load(builder.inttoptr(address, kind.as_pointer()))


@intrinsic
def _number_at(typing_context: Any, row: Any, place: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return _load(builder, _place(builder, *arguments))

    return types.int64(types.int64, types.int64), generate


@intrinsic
def _float_at(typing_context: Any, row: Any, place: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return _load(builder, _place(builder, *arguments), ir.DoubleType())

    return types.float64(types.int64, types.int64), generate


@intrinsic
def _put(typing_context: Any, row: Any, place: Any, value: Any) -> Any:
    wide = types.float64 if isinstance(value, types.Float) else types.int64

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        row, place, number = arguments
        number = context.cast(builder, number, value, types.int64 if value == types.boolean else wide)
        address = builder.inttoptr(_place(builder, row, place), number.type.as_pointer())
        builder.store(number, address)
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, value), generate


def _array_at(kind: Any) -> Any:
    """Finds an array by the address of its Python object."""

    @intrinsic
    def array_at(typing_context: Any, row: Any, place: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            array = _load(builder, _place(builder, *arguments))
            shape, strides = (_load(builder, builder.add(array, _WORD(at))) for at in (_SHAPE, _STRIDES))
            item = context.get_data_type(kind.dtype)
            made = context.make_array(kind)(context, builder)
            populate_array(
                made,
                data=builder.inttoptr(_load(builder, builder.add(array, _WORD(_DATA))), item.as_pointer()),
                shape=_numbers(builder, shape, kind.ndim),
                strides=_numbers(builder, strides, kind.ndim),
                itemsize=_WORD(context.get_abi_sizeof(item)),
                meminfo=None,
            )
            return made._getvalue()

        return kind(types.int64, types.int64), generate

    return array_at


def _numbers(builder: Any, address: Any, wanted: int) -> Any:
    found = [_load(builder, builder.add(address, _WORD(8 * place))) for place in range(wanted)]
    return cgutils.pack_array(builder, found, ty=_WORD)
