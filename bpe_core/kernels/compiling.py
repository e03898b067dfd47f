"""The compiler of kernels. All code that depends on the way in which Numba makes machine code is in this module.

Each kernel that Python calls gets an entry: a `numba.cfunc` with one row of numbers as its argument (see `calling.py`).
llvmlite makes an object file from the LLVM code of the entry, which `inspect_llvm` returns. To let other kernels call
it, a kernel is registered with Numba's `overload`, which makes no wrapper for Python. Numba's reference counting is
switched off (`_nrt=False`, as `register_jitable` does), because kernels allocate no memory. With reference counting,
Numba would need a third more time to compile.

This module uses two functions that are not in Numba's manual: `populate_array` and the context's `make_tuple`. They
build the arguments from numbers. `numba.carray` can do this, too, but then tuples of forty arrays take minutes to
compile.

Therefore Numba's release is compared with the releases that this module is tested with. With any other release, and if
something fails here, `bpe_core.compiler` leaves kernels to Numba's own cache (see `jit.py`).
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from functools import cache, partial
from itertools import count
from typing import Any

import llvmlite
import numba
import numpy as np
from llvmlite import binding, ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic as intrinsic
from numba.extending import overload
from numba.np.arrayobj import populate_array

from bpe_core.kernels import calling, stored_code
from bpe_core.kernels.calling import Kernel
from bpe_core.kernels.dependencies import code_of_module, key_of
from bpe_core.kernels.stored_code import StoredKernel

TESTED = ((0, 66), (0, 68))  # the first and the last release of Numba, as `pyproject.toml` asks for them
if not TESTED[0] <= tuple(map(int, numba.__version__.split(".")[:2])) <= TESTED[1]:
    first, last = ("{}.{}".format(*version) for version in TESTED)
    raise ImportError(f"Machine code was tested with Numba {first} to {last}; this is {numba.__version__}.")

_OPTIONS = dict(nogil=True, error_model="numpy", _nrt=False)
_WORD = ir.IntType(64)
# Functions that every process has from its C library. Numba's helpers are missing if code is loaded without Numba.
_EVERYWHERE = {"memset", "memcpy", "memmove", "log", "exp"}

made: dict[tuple[str, str], StoredKernel] = {}  # machine code that this process or an earlier process made


class kernel(Kernel):  # noqa: N801  # a decorator
    """A decorator that makes a kernel, which is compiled at the first call with arguments of new types.

    After that, it is called in the same way as a kernel whose code was loaded from a file.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        overload(self, jit_options=_OPTIONS, strict=False)(lambda *arguments: function)  # for kernels that call it

    def _made(self, kinds: str, arguments: tuple[Any, ...]) -> StoredKernel:
        key = key_of(self.py_func, arguments, _compiler())
        code = made[self.name, kinds] = _made_before().get(key) or _compiled(self, arguments)._replace(key=key)
        return code

    def _has_one_kind(self) -> bool:
        return False


# Small functions are inlined, because a call that passes many arrays can cost more than the work of the function.
inlined = numba.njit(inline="always", **_OPTIONS)


_made_before = cache(stored_code.code_of_other_versions)


@cache
def _compiler() -> str:
    """Return a text that changes whenever all machine code must be compiled again.

    The text holds the versions of Numba, llvmlite and NumPy, the name of the processor, and the source of the modules
    that compile and call kernels.
    """
    versions = [f"{module.__name__} {module.__version__}" for module in (numba, llvmlite, np)]
    sources = map(code_of_module, (sys.modules[__name__], calling))
    return "\n".join([*versions, stored_code.processor(), *sources])


def _compiled(kernel: kernel, arguments: tuple[Any, ...]) -> StoredKernel:
    given = tuple(map(_argument_type, arguments))
    entry, answers = _entry(kernel, given)
    function = numba.cfunc(types.void(types.CPointer(types.int64)), **_OPTIONS)(entry)
    code = _object_file(kernel.name, function.inspect_llvm(), function.native_name)
    return StoredKernel(function.native_name, "".join(map(_letters, answers[-1:])), code)


def _argument_type(value: Any) -> Any:
    """Return the Numba type of a value. The type of an array is always writable, even if the array is read-only."""
    if isinstance(value, tuple):
        parts = tuple(map(_argument_type, value))
        return types.NamedTuple(parts, type(value)) if hasattr(value, "_fields") else types.Tuple(parts)
    kind = numba.typeof(value)
    if isinstance(value, float):
        return types.float64
    if not isinstance(kind, types.Array):
        return kind
    return types.Array(kind.dtype, kind.ndim, "C" if value.flags.c_contiguous else "A")


def _letters(kind: Any) -> str:
    if kind == types.none:
        return ""
    if isinstance(kind, types.BaseTuple):
        return "".join(map(_letters, kind))
    if kind == types.boolean:
        return "b"
    if isinstance(kind, types.Float):
        return "f"
    if not isinstance(kind, types.Integer):
        raise NotImplementedError(f"A kernel cannot answer with {kind}.")
    return "i" if kind.signed else "u"


# Entries


def _entry(kernel: kernel, given: tuple[Any, ...]) -> tuple[Callable[[Any], None], list[Any]]:
    """Return a function that reads arguments from a row, calls the kernel, and writes the result into the row.

    Also return an empty list. When Numba compiles the function, it appends the type of the kernel's result to the list.
    """
    wanted = types.Tuple(given)
    places, answers = sum(map(_places, given)), []

    @intrinsic
    def arguments_in(typing_context: Any, row: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            words = _words(builder, arguments[0])
            return context.make_tuple(
                builder, wanted, [_argument_in(context, builder, argument, words) for argument in given]
            )

        return wanted(row), generate

    @intrinsic
    def put(typing_context: Any, row: Any, answer: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            _put(context, builder, answer, arguments[1], _words(builder, arguments[0], places))
            return context.get_dummy_value()

        answers.append(answer)
        return types.void(row, answer), generate

    def entry(row):
        put(row, kernel(*arguments_in(row)))

    return entry, answers


def _places(kind: Any) -> int:
    if isinstance(kind, types.BaseTuple):
        return 1 if _is_bundle(kind) else sum(map(_places, kind))
    if isinstance(kind, types.Array):
        return 1 + int(kind.ndim) * (1 if kind.layout == "C" else 2)
    return 1


def _is_bundle(kind: Any) -> bool:
    return hasattr(getattr(kind, "instance_class", None), "is_bundle")


def _words(builder: Any, row: Any, first: int = 0) -> Iterator[Callable[[Any], Any]]:
    """Yield a function for each item of `row`, beginning with the item `first`.

    The function takes an LLVM type. It returns a pointer to the item, and the pointer has this type.
    """
    for number in count(first):
        place = builder.gep(row, [_WORD(number)])
        yield partial(_as_pointer, builder, place)


def _as_pointer(builder: Any, place: Any, kind: Any) -> Any:
    return builder.bitcast(place, kind.as_pointer())


def _argument_in(context: Any, builder: Any, kind: Any, words: Iterator[Callable[[Any], Any]]) -> Any:
    if isinstance(kind, types.BaseTuple):
        if _is_bundle(kind):
            words = _words(builder, builder.inttoptr(builder.load(next(words)(_WORD)), _WORD.as_pointer()))
        return context.make_tuple(builder, kind, [_argument_in(context, builder, part, words) for part in kind])
    if isinstance(kind, types.Float):
        return context.cast(builder, builder.load(next(words)(ir.DoubleType())), types.float64, kind)
    if not isinstance(kind, types.Array):
        return context.cast(builder, builder.load(next(words)(_WORD)), types.int64, kind)
    address, *shape = (builder.load(next(words)(_WORD)) for _ in range(1 + kind.ndim))
    item = context.get_data_type(kind.dtype)
    strides = [_WORD(context.get_abi_sizeof(item))]
    if kind.layout == "C":
        for length in reversed(shape[1:]):
            strides.insert(0, builder.mul(strides[0], length))
    else:
        strides = [builder.load(next(words)(_WORD)) for _ in range(kind.ndim)]
    array = context.make_array(kind)(context, builder)
    populate_array(
        array,
        data=builder.inttoptr(address, item.as_pointer()),
        shape=cgutils.pack_array(builder, shape, ty=_WORD),
        strides=cgutils.pack_array(builder, strides, ty=_WORD),
        itemsize=_WORD(context.get_abi_sizeof(item)),
        meminfo=None,
    )
    return array._getvalue()


def _put(context: Any, builder: Any, kind: Any, answer: Any, words: Iterator[Callable[[Any], Any]]) -> None:
    if isinstance(kind, types.BaseTuple):
        for part, of_part in enumerate(kind):
            _put(context, builder, of_part, builder.extract_value(answer, part), words)
    elif kind != types.none:
        wide = types.float64 if isinstance(kind, types.Float) else types.int64
        number = context.cast(builder, answer, kind, wide)
        builder.store(number, next(words)(number.type))


# Object files


@cache
def _machine() -> Any:
    """Return LLVM's description of this processor, with the options that Numba uses."""
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    target = binding.Target.from_default_triple()
    relocation = "static" if target.name.startswith("x86") else "default"
    features = binding.get_host_cpu_features().flatten()
    return target.create_target_machine(
        cpu=binding.get_host_cpu_name(), features=features, opt=3, reloc=relocation, codemodel="jitdefault", jit=True
    )


def _object_file(name: str, text: str, symbol: str) -> bytes:
    """Return the machine code of an entry and of all functions that the entry calls."""
    # If no other code can call these functions, LLVM sees that none fails, and removes the code that reports errors.
    module = binding.parse_assembly(text)
    for part in (*module.functions, *module.global_variables):
        if not part.is_declaration and part.name != symbol:
            part.linkage = "internal"
    builder = binding.create_pass_builder(_machine(), binding.create_pipeline_tuning_options(speed_level=3))
    builder.getModulePassManager().run(module, builder)
    for function in module.functions:
        called = function.name
        if function.is_declaration and not called.startswith("llvm.") and called not in _EVERYWHERE:
            raise NotImplementedError(
                f"The kernel {name} calls {called}, which only Numba provides. Write the kernel without it."
            )
    code: bytes = _machine().emit_object(module)
    return code
