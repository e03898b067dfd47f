"""The registries of methods, formats, patterns and questions.

Each method, format, pattern or question is called a row. Some rows belong to the program, others to plug-ins.

A plug-in can be an installed package that names its rows by entry points:

    [project.entry-points."bpe_explorer.patterns"]
    lines = "my_package:LINES"

A plug-in can also be a Python file that is named with `--plugin`. It has a dictionary `METHODS`, `FORMATS`,
`PATTERNS` or `QUESTIONS`.

Rows that cannot be used are left out, and reported once. Packages are searched only for a name that the
program itself does not have, or when all names are listed.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, ItemsView, Iterator, KeysView, Mapping, ValuesView
from functools import partial
from importlib import util
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from bpe_core.errors import BpeError, plain
from bpe_core.support.former_names import find_former_names
from bpe_core.support.version import version_of

if TYPE_CHECKING:
    from types import ModuleType

Row = TypeVar("Row")

KINDS = ("methods", "formats", "patterns", "questions")
GROUP = "bpe_explorer."  # the group of entry points is this and a kind
LONGEST_CAUSE = 160  # characters
_FILES = "bpe_explorer_plugin_files"  # the package of the modules made from named files

_files: dict[str, ModuleType] = {}  # by the name of the file
_used: set[str] = set()  # the plug-ins that something was taken from
left_out: list[str] = []  # a sentence for each thing that could not be used


class Registry(dict[str, Row]):
    """A dictionary from name to row, for all rows of one kind, such as all formats.

    Some rows belong to the program, and others come from plug-ins. The function `convert` converts a plug-in's row that
    has an older form to the current form. Then the function `check` raises an exception if the row cannot be used.
    """

    def __init__(
        self,
        kind: str,
        own: dict[str, Row],
        check: Callable[[str, Row], object],
        convert: Callable[[Any], Row] | None = None,
    ) -> None:
        super().__init__(own)
        self._convert = convert
        self.kind = kind
        self._check = check
        self._brought: dict[str, Row] | None = None  # None: not searched yet
        self.sources: dict[str, str] = {}  # the plug-in of each row

    @property
    def own(self) -> Mapping[str, Row]:
        """Return the rows that belong to the program itself, as a dictionary from the name of each row."""
        return dict(super().items())

    @property
    def from_plugins(self) -> dict[str, Row]:
        """Return a dictionary from name to row, for the rows of plug-ins. The plug-ins are loaded at the first call."""
        if self._brought is None:
            self._brought = {}  # a plug-in may ask for names while it is loaded
            find_former_names()
            for name, source, load in (*_of_files(self.kind), *_of_packages(self.kind)):
                self._take(name, source, load)
        return self._brought

    def _take(self, name: str, source: str, load: Callable[[], Any]) -> None:
        assert self._brought is not None
        try:
            if super().__contains__(name) or name in self._brought:
                raise BpeError("another plug-in has the same name")
            row = load()
            row = row if self._convert is None else self._convert(row)
            self._check(name, row)
        except (Exception, SystemExit) as error:  # any exception of other people's code
            cause = plain(str(error) or type(error).__name__, LONGEST_CAUSE).rstrip(".")
            tell_left_out(f"The plug-in {name} ({self.kind}, from {source}) is left out: {cause}.")
        else:
            self._brought[name] = row
            self.sources[name] = source

    def __missing__(self, name: str) -> Row:
        row = self.from_plugins[name]
        self.use(name)
        return row

    def use(self, name: str) -> None:
        """Record that the row `name` was used. The function `used_plugins` lists the plug-ins of all used rows."""
        if name in self.sources:
            _used.add(self.sources[name])

    def __contains__(self, name: object) -> bool:
        return super().__contains__(name) or name in self.from_plugins

    def __iter__(self) -> Iterator[str]:
        yield from super().__iter__()
        yield from self.from_plugins  # searched only if the iteration goes on so far

    def get(self, name: str, default: Any = None) -> Any:
        """Return the row with this name. Return `default` if there is no such row."""
        try:
            return self[name]
        except KeyError:
            return default

    def keys(self) -> KeysView[str]:  # type: ignore[override]  # views of a dictionary hold only what is in it
        return KeysView(self)

    def items(self) -> ItemsView[str, Row]:  # type: ignore[override]
        """Return a view of the names and rows. The plug-ins are loaded first."""
        return {**dict(super().items()), **self.from_plugins}.items()

    def values(self) -> ValuesView[Row]:  # type: ignore[override]
        """Return a view of the rows, with the program's own rows first.

        Plug-ins are searched for only if a loop goes on after these rows.
        """
        return _Rows(self)

    def __bool__(self) -> bool:
        return bool(super().__len__() or self.from_plugins)

    def __len__(self) -> int:
        return super().__len__() + len(self.from_plugins)


class _Rows(ValuesView[Row]):
    def __init__(self, registry: Registry[Row]) -> None:
        super().__init__(registry)
        self._registry = registry

    def __iter__(self) -> Iterator[Row]:
        yield from self._registry.own.values()
        yield from self._registry.from_plugins.values()


def tell_left_out(sentence: str) -> None:
    left_out.append(plain(sentence))
    if sys.stderr is not None:
        sys.stderr.write(f"{left_out[-1]}\n")


def used_plugins() -> dict[str, str]:
    """Return the versions of the used plug-ins, as a dictionary from the name of each plug-in.

    A package has its own version. The version of a plug-in file is its SHA-256.
    """
    return {name: version_of_plugin(name) for name in sorted(_used)}


def version_of_plugin(name: str) -> str:
    """Return the version of the plug-in with this name: the version of a package, or the SHA-256 of a file.

    Return an empty string if the plug-in is missing.
    """
    if name not in _files:
        return version_of(name)
    from bpe_core.support.fingerprints import fingerprint_of  # rarely needed, and slow to import

    return fingerprint_of(_path(name))[1]


def _path(file: str) -> Path:
    return Path(str(_files[file].__file__)).absolute()


def plugin_arguments() -> list[str]:
    """Return the command-line arguments with which another process of the program loads the same plug-in files."""
    return [word for file in _files for word in (f"--plugin={_path(file)}", "--yes")]


def run_file(path: Path) -> None:
    """Run the code of a plug-in file, and register the methods, formats, patterns and questions that it defines."""
    find_former_names()
    name = f"{_FILES}.{path.stem}"
    spec = util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None or not path.is_file():
        raise BpeError(f"{path} is not a Python file; its name must end in .py.")
    module = sys.modules[name] = util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:  # any exception of other people's code
        del sys.modules[name]
        raise BpeError(f"The plug-in {path} cannot be used: {type(error).__name__}: {error}.") from error
    if not any(hasattr(module, kind.upper()) for kind in KINDS):
        raise BpeError(f"{path} is not a plug-in: it has none of {', '.join(map(str.upper, KINDS))}.")
    _files[path.name] = module


Found = tuple[str, str, Callable[[], Any]]  # a name, its origin, and a function that loads its row


def _of_files(kind: str) -> Iterator[Found]:
    for file, module in _files.items():
        for name, row in dict(getattr(module, kind.upper(), {})).items():
            yield name, file, partial(_as_it_is, row)


def _of_packages(kind: str) -> Iterator[Found]:
    if not _has_entry_points(f"{GROUP}{kind}".encode()):
        return
    from importlib import metadata  # takes half as long as NumPy

    for entry_point in metadata.entry_points(group=GROUP + kind):
        package = entry_point.dist.name if entry_point.dist is not None else "a package"
        is_module = not entry_point.attr  # such as those of questions
        yield entry_point.name, package, partial(_as_it_is, entry_point.module) if is_module else entry_point.load


def _as_it_is(row: Any) -> Any:
    return row


def _has_entry_points(group: bytes) -> bool:
    """Return whether an installed package has entry points in this group. The search takes a few milliseconds."""
    for folder in sys.path:
        try:
            if any(
                group in entry_points.read_bytes() for entry_points in Path(folder).glob("*.*-info/entry_points.txt")
            ):
                return True
        except OSError:
            continue  # it may not be readable
    return False
