"""The tests of privacy. The program opens no network connection, and no file can make it run code."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.core.tables_on_disk import write_every_kind
from tests.e2e.network_monitor import HEARD
from tests.shared import ROOT

SOURCES = sorted(path for folder in ("app", "bpe_core", "resources") for path in (ROOT / folder).rglob("*.py"))

# Modules that reach out, and modules that turn what they read into code.
FORBIDDEN_MODULES = {
    *("socket", "ssl", "http", "urllib.request", "ftplib", "smtplib", "telnetlib", "xmlrpc", "socketserver"),
    *("asyncio", "webbrowser", "requests", "urllib3", "PySide6.QtNetwork", "PySide6.QtWebSockets"),
    *("fsspec", "s3fs", "gcsfs", "adlfs", "aiohttp", "huggingface_hub", "bpe_core.text.reading.remote"),
    *("pickle", "cPickle", "_pickle", "shelve", "marshal", "dill", "joblib", "cloudpickle"),
    *("code", "codeop", "runpy"),
}
ALLOWED = {
    "app/system/application.py": ["imports socket"],  # for a pair of sockets within the process
    "bpe_core/building.py": ["imports runpy"],  # for this project's own version, while a wheel is built
    "bpe_core/following/server.py": ["imports socket"],  # for readers on this computer, if a person names a port
    # The only ways to other computers: tokenizers that a person asks for by their names, and addresses that a person
    # names for texts or counts.
    "bpe_core/formats/hugging_face_cache.py": ["imports huggingface_hub"],
    "bpe_core/counting/runs.py": ["imports bpe_core.text.reading.remote.RemotePlace"] * 2,  # once for its type alone
    "bpe_core/text/reading/files.py": ["imports bpe_core.text.reading.remote.remote_texts"],
    "bpe_core/text/reading/remote.py": ["imports fsspec"],
}
FORBIDDEN_CALLS = {"eval", "exec", "compile", "__import__", "load_extension", "enable_load_extension"}


def test_source_code_opens_no_network_connection_and_runs_no_text_as_code() -> None:
    assert len(SOURCES) > 100
    lines_by_path = {path: list(violations(ast.parse(path.read_text(encoding="utf-8")))) for path in SOURCES}
    assert {path.relative_to(ROOT).as_posix(): lines for path, lines in lines_by_path.items() if lines} == ALLOWED


def violations(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        for name in imported_names(node):
            parts = name.split(".")
            if any(".".join(parts[: i + 1]) in FORBIDDEN_MODULES for i in range(len(parts))):
                yield f"imports {name}"
        if isinstance(node, ast.Call):
            yield from forbidden_call(node)


def imported_names(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        return [f"{node.module}.{alias.name}" for alias in node.names]
    return []


def forbidden_call(call: ast.Call) -> Iterator[str]:
    function, line = call.func, f"line {call.lineno}: "
    if isinstance(function, ast.Name) and function.id in FORBIDDEN_CALLS:
        yield f"{line}{function.id}()"
    if isinstance(function, ast.Attribute) and function.attr in {"load_extension", "enable_load_extension"}:
        yield f"{line}{function.attr}()"
    for keyword in call.keywords:
        is_off = isinstance(keyword.value, ast.Constant) and not keyword.value.value
        if keyword.arg in ("allow_pickle", "shell") and not is_off:
            yield f"{line}{keyword.arg}"
    is_load = isinstance(function, ast.Attribute) and function.attr == "load"
    loads_arrays = is_load and ast.unparse(function) in ("np.load", "numpy.load")
    if loads_arrays and "allow_pickle" not in {key.arg for key in call.keywords}:
        yield f"{line}np.load() without allow_pickle=False"


@pytest.mark.parametrize(
    "line",
    [
        "import socket",
        "import urllib.request as net",
        "from urllib import request",
        "from PySide6 import QtNetwork",
        "from PySide6.QtNetwork import QTcpSocket",
        "import pickle",
        "from concurrent import futures; eval('1')",
        "connection.enable_load_extension(True)",
        "np.load(path)",
        "np.load(path, allow_pickle=True)",
        "subprocess.run(line, shell=True)",
    ],
)
def test_the_privacy_check_reports_a_line_that_uses_the_network(line: str) -> None:
    assert list(violations(ast.parse(line)))


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads what Linux writes in /proc")
def test_the_network_monitor_of_the_tests_reports_an_opened_connection() -> None:
    """The long test with random actions needs a monitor that finds every network connection."""
    script = (
        "from tests.e2e.network_monitor import listen, network_sockets\n"
        "listen()\n"
        "assert network_sockets() == []\n"
        "import socket\n"
        "one = socket.create_server(('127.0.0.1', 0))\n"
        "assert len(network_sockets()) == 1, network_sockets()\n"
        "socket.getaddrinfo('127.0.0.1', 80)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert f"{HEARD} socket.bind" in done.stderr
    assert f"{HEARD} socket.getaddrinfo" in done.stderr


def test_network_modules_are_loaded_only_when_a_user_gives_an_address(tmp_path: Path) -> None:
    """Without an address, the program reads files of every kind but loads no module that could reach
    another computer.
    """
    kinds = {name.split("#")[0]: field for name, field in write_every_kind(tmp_path, ["low lower", "lowest"]).items()}
    script = (
        "import sys\n"
        "from tests.e2e.network_monitor import listen, network_sockets\n"
        "listen()\n"
        "from bpe_core import Corpus, CorpusError\n"
        f"for name, field in {kinds!r}.items():\n"
        f"    assert len(list(Corpus.from_files({str(tmp_path)!r} + '/' + name, field=field).chunks())) == 2\n"
        "assert 'pyarrow' in sys.modules\n"
        "assert not {'fsspec', 'bpe_core.text.reading.remote', 'ftplib'} & set(sys.modules)\n"
        "assert network_sockets() == []\n"
        "sys.stderr.write('and now\\n')\n"
        "try:\n"
        "    Corpus.from_files('ftp://127.0.0.1:9/a.txt')\n"
        "except CorpusError as error:\n"
        "    assert str(error).startswith('ftp://127.0.0.1:9/a.txt could not be read: ')\n"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    before, after = done.stderr.split("and now")
    assert HEARD not in before
    assert f"{HEARD} socket.connect" in after
