"""A small copy of the Hugging Face Hub for tests.

It consists of a server on this computer, and of a replacement for the package huggingface_hub.
"""

from __future__ import annotations

import hashlib
import json
import os
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

from tests.web_server import serving

COMMIT = "0123456789abcdef0123456789abcdef01234567"
Files = Mapping[str, bytes]


def put(name: str, files: Files, commit: str = COMMIT) -> Path:
    """Write files into the cache as the package huggingface_hub does. Return their folder."""
    repository = Path(os.environ["HF_HUB_CACHE"]) / f"models--{name.replace('/', '--')}"
    (repository / "refs").mkdir(parents=True, exist_ok=True)
    (repository / "refs" / "main").write_text(commit)
    place = repository / "snapshots" / commit
    place.mkdir(parents=True, exist_ok=True)
    for file, content in files.items():
        (place / file).write_bytes(content)
    return place


class FakeHub(ModuleType):
    """A replacement for the package huggingface_hub. It counts the requests, and makes no connection."""

    def __init__(self, repositories: Mapping[str, Files], licence: str = "mit", **card: str) -> None:
        super().__init__("huggingface_hub")
        self.repositories = repositories
        self.card = SimpleNamespace(license=licence, **card)
        self.asked = list[str]()
        self.downloaded = list[tuple[str, str]]()
        self.may_go_on = threading.Event()  # cleared by tests that look at a download under way
        self.may_go_on.set()

    def model_info(self, name: str, revision: str | None, files_metadata: bool) -> Any:
        assert files_metadata
        self.asked.append(name)
        if name not in self.repositories:
            raise OSError(f"404 Client Error: no {name}")
        siblings = [SimpleNamespace(rfilename=file, size=len(data)) for file, data in self.repositories[name].items()]
        return SimpleNamespace(siblings=siblings, card_data=self.card)

    def hf_hub_download(self, name: str, file: str, revision: str | None, tqdm_class: Any) -> str:
        data = self.repositories[name][file]
        half = len(data) // 2
        with tqdm_class(total=len(data), initial=0, unit="B") as bar:
            bar.update(half)
            self.may_go_on.wait()
            bar.update(len(data) - half)
        self.downloaded.append((name, file))
        return str(put(name, {file: data}) / file)


@contextmanager
def serve_hub(name: str, files: Files, licence: str) -> Iterator[tuple[str, list[str]]]:
    """Serve one model in the same way as the Hugging Face Hub.

    Yield the address of the server, and a list of the paths that were requested so far.
    """
    requested = list[str]()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_HEAD(self) -> None:
            self._answer(has_body=False)

        def do_GET(self) -> None:
            self._answer(has_body=True)

        def log_message(self, format: str, *args: Any) -> None:
            pass

        def _answer(self, *, has_body: bool) -> None:
            path = self.path.split("?")[0]
            requested.append(path)
            if path.startswith(f"/api/models/{name}"):
                siblings = [{"rfilename": file, "size": len(data)} for file, data in files.items()]
                facts = {"id": name, "modelId": name, "sha": COMMIT, "siblings": siblings, "tags": []}
                data = json.dumps(facts | {"cardData": {"license": licence}}).encode()
            else:
                data = files.get(path.rsplit("/", 1)[-1], b"")
            self.send_response(200 if data else 404)
            self.send_header("Content-Length", str(len(data)))
            self.send_header("ETag", f'"{hashlib.sha256(data).hexdigest()}"')
            self.send_header("X-Repo-Commit", COMMIT)
            self.end_headers()
            if has_body:
                self.wfile.write(data)

    with serving(Handler) as address:
        yield address, requested
