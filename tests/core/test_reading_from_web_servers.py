"""Tests of reading from web servers that redirect, fail, or send less than the file. Each failure is reported.

No redirection to a local file is followed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from importlib.util import find_spec
from pathlib import Path

import pytest

from bpe_core.errors import CorpusError
from bpe_core.text.corpus import Corpus
from tests.web_server import serving

pytestmark = pytest.mark.skipif(find_spec("aiohttp") is None, reason="the package aiohttp is not installed")

TEXT = "low lower lowest\n" * 100


class Answers(BaseHTTPRequestHandler):
    """A handler of requests whose answer depends on the path. For example, `/302-round` leads to itself again."""

    secret = ""  # the path of a local file

    def do_GET(self) -> None:
        self._answer(with_body=True)

    def do_HEAD(self) -> None:
        self._answer(with_body=False)

    def _answer(self, *, with_body: bool) -> None:
        status = int(self.path.strip("/").split("-")[0])
        if status == 206:
            self._send_part(with_body=with_body)
            return
        self.send_response(status)
        places = {"/302-there": "/200", "/302-round": "/302-round", "/302-file": f"file://{self.secret}"}
        if status == 302:
            self.send_header("Location", places[self.path])
        content = TEXT.encode()
        sent = content[: len(content) // 2] if self.path.endswith("-short") else content
        wrong = {"/200-long": len(content) // 2, "/200-minus": -5, "/200-word": "many"}
        if not with_body:
            wrong["/200-head"] = len(content) // 2
        if status == 200:
            self.send_header("Content-Length", str(wrong.get(self.path, len(content))))
        else:
            sent = b""
            self.send_header("Content-Length", "0")
        self.end_headers()
        if with_body:
            self.wfile.write(sent)

    def _send_part(self, *, with_body: bool) -> None:
        """Announce half of the text, or all of it for `/206-whole`.

        Answer a request for a range as asked, and any other request with what was announced.
        """
        content = TEXT.encode()
        begin, end = 0, len(content) if self.path == "/206-whole" else len(content) // 2
        if with_body and (asked := re.match(r"bytes=(\d+)-(\d+)", self.headers.get("Range", ""))):
            begin, end = int(asked[1]), min(int(asked[2]) + 1, len(content))
        self.send_response(206 if with_body else 200)
        self.send_header("Content-Length", str(end - begin))
        if self.path in ("/206-stream", "/206-whole"):
            self.send_header("Accept-Ranges", "none")
        if with_body:
            self.send_header("Content-Range", f"bytes {begin}-{end - 1}/{len(content)}")
        self.end_headers()
        if with_body:
            self.wfile.write(content[begin:end])

    def log_message(self, format: str, *arguments: object) -> None:
        """Suppress the log of the server."""


@pytest.fixture
def server(tmp_path: Path) -> Iterator[str]:
    secret = tmp_path / "secret.txt"
    secret.write_text("a secret of this computer")
    Answers.secret = str(secret)
    with serving(Answers) as address:
        yield address


def read(address: str) -> str:
    return "".join(Corpus.from_files(address).documents())


@pytest.mark.parametrize("path", ["/200", "/302-there", "/206-whole"])
def test_a_text_is_read_from_a_web_server_after_a_redirection_or_as_a_part_with_all_bytes(
    path: str, server: str
) -> None:
    assert read(server + path) == TEXT


@pytest.mark.parametrize(
    ("path", "sentence"),
    [
        ("/404", "{address} does not exist."),
        ("/410", "{address} does not exist."),
        ("/500", "{address} could not be read: the server answered 500, which is an error of the server;"),
        ("/503", "{address} could not be read: the server answered 503, which is an error of the server;"),
        ("/403", "{address} could not be read: the server answered 403; sign in to the site, if needed."),
        ("/429", "the server answered 429; it gets too many requests, so try again later."),
        ("/418", "the server answered 418; check the address."),
        ("/302-round", "{address} could not be read: the server redirects the address again and again; ask its owner."),
        ("/200-short", "the server sent less data than announced"),
        ("/200-head", "could be read only up to byte 850: the server announced 850 bytes, but the file is longer."),
        ("/206-ranges", "could be read only up to byte 850: the server announced 850 bytes, but the file is longer."),
        ("/206-stream", "the server sent only a part of the file, although the whole file was requested."),
        *((f"/200-{kind}", "the server sent an answer that is not valid HTTP") for kind in ("minus", "word")),
    ],
)  # fmt: skip
def test_failures_of_a_web_server_are_reported(path: str, sentence: str, server: str) -> None:
    with pytest.raises(CorpusError) as caught:
        read(server + path)
    assert sentence.format(address=server + path) in str(caught.value)


def test_a_response_body_longer_than_announced_is_reported_or_read_up_to_the_announced_length(server: str) -> None:
    """Bytes beyond the length are noticed only if they come before the client closes the connection."""
    try:
        text = read(f"{server}/200-long")
    except CorpusError as error:
        text = str(error)
    assert text == TEXT[: len(TEXT) // 2] or "the server sent an answer that is not valid HTTP" in text


def test_a_redirection_of_a_web_server_to_a_local_file_is_not_followed(server: str) -> None:
    with pytest.raises(CorpusError) as caught:
        read(f"{server}/302-file")
    assert f"redirects the address to file://{Answers.secret}, which is not a web address" in str(caught.value)


def test_a_web_server_that_cannot_be_reached_is_reported() -> None:
    with pytest.raises(CorpusError, match=r"could not be read: the server could not be reached: Cannot connect"):
        read("http://127.0.0.1:9/a.txt")
