"""Downloading a data file: from http(s) addresses, of bounded size, and visible only when complete.

The received file is not trusted: the caller parses it and compares the content hash.
"""

import contextlib
import http.client
import sys
import time
import urllib.error
import urllib.request
import zipfile
from pathlib import Path
from typing import IO, Any
from urllib.parse import quote, urlsplit

from omkl import __version__
from omkl.data.reading.numbered import decoding
from omkl.data.reading.opening import LIMIT, SUFFIXES, environment, offline
from omkl.data.registry import DataFile, Link
from omkl.errors import OmklError, UserError
from omkl.files import replacing

ATTEMPTS = 3
TIMEOUT = 30.0  # seconds that a server may stall
BLOCK = 2**18


class NotFound(OmklError):
    """The server answered that there is no such file (404 or 410)."""


def fetch(file: DataFile, folder: Path, limit: int, archives: Path, nth: int = 0) -> Path:
    """Bring a data file into ``folder`` from the mirror (OMKL_MIRROR) if one is set, else from an address.

    ``limit`` bounds its bytes; ``archives`` keeps .zip archives for the files that share one; ``nth`` (from
    0) says which of its addresses, the last one where it has fewer.
    Raises OmklError with the answer of the server, UserError where the network is forbidden or no address is
    known.
    """
    mirror = environment("OMKL_MIRROR")
    way_out = "put the file into a folder of OMKL_DATA"
    if not (mirror or file.urls):
        raise UserError(f"{file.name}: no download address is known; {way_out}")
    if offline():
        raise UserError(f"{file.name}: OMKL_OFFLINE forbids the download; unset it, or {way_out}")
    if mirror:
        for suffix in ("", *SUFFIXES[:-1]):
            name = file.name + suffix
            with contextlib.suppress(NotFound):
                return download(f"{mirror.rstrip('/')}/{quote(name)}", folder / name, limit)
        raise NotFound(f"{file.name}: not at the mirror {mirror} under any of its usual names")
    return _from_link(file.urls[min(nth, len(file.urls) - 1)], folder / file.name, limit, archives)


def _from_link(link: Link, target: Path, limit: int, archives: Path) -> Path:
    if link.member is None:
        return download(link.url, target, limit)
    archive = archives / quote(urlsplit(link.url).path, safe="")
    if not archive.is_file():
        download(link.url, archive, LIMIT)
    with (
        decoding(archive, f"no readable member {link.member} of {link.url}", OmklError),
        zipfile.ZipFile(archive) as opened,
        opened.open(_member(opened, link.member)) as stream,
        replacing(target) as out,
    ):
        while data := stream.read(BLOCK):
            if out.tell() + len(data) > limit:
                raise OmklError(f"{link.url}: its member {link.member} holds more than {limit:,} bytes")
            out.write(data)
    return target


def _member(archive: zipfile.ZipFile, name: str) -> str:
    """Return the first member of this name, in whichever folder."""
    return next((other for other in archive.namelist() if f"/{other}".endswith(f"/{name}")), name)


def download(url: str, target: Path, limit: int) -> Path:
    """Download ``url`` to ``target``: a complete file or none, at most ``limit`` bytes.

    A broken download begins again, ATTEMPTS times. Raises NotFound for 404 and 410, OmklError for every other
    failure.
    """
    fault = ""
    if not url.lower().startswith(("http://", "https://")):
        raise UserError(f"{url}: only http and https addresses are downloaded; OMKL_DATA names folders")
    for attempt in range(ATTEMPTS):
        time.sleep(0.2 * attempt)
        try:
            with replacing(target) as file:
                _transfer(url, file, limit, target.name)
            return target
        except urllib.error.HTTPError as error:
            kind = NotFound if error.code in (404, 410) else OmklError
            raise kind(
                f"{url}: the server answered {error.code} {' '.join(str(error.reason).split())}"
            ) from error
        except (OSError, http.client.HTTPException, ValueError) as error:  # ValueError: such as http://[
            cause = getattr(error, "reason", error)
            fault = " ".join(str(cause).split()) or type(cause).__name__
            if not isinstance(cause, TimeoutError | ConnectionError | http.client.HTTPException):
                raise OmklError(f"{url}: {fault}") from error
    raise OmklError(f"{url}: {fault}, after {ATTEMPTS} attempts; try again later")


def _transfer(url: str, file: IO[bytes], limit: int, name: str) -> None:
    """Write the server's file. Raises ConnectionError, or OmklError where it is too large."""
    from tqdm import tqdm

    request = urllib.request.Request(url, headers={"User-Agent": f"omkl/{__version__}"})
    with urllib.request.urlopen(request, timeout=TIMEOUT) as answer:
        if answer.status != 200:
            raise OmklError(f"{url}: the server gave no file (status {answer.status}); try again later")
        length = answer.headers.get("Content-Length")
        have, total = 0, int(length) if length else None
        bar: dict[str, Any] = {"desc": f"downloading {name}", "total": total, "file": sys.stderr}
        with tqdm(**bar, unit="B", unit_scale=True, disable=None) as progress:
            while max(have, total or 0) <= limit and (data := answer.read1(BLOCK)):
                have += len(data)
                file.write(data)
                progress.update(len(data))
    if max(have, total or 0) > limit:
        raise OmklError(f"{url}: the answer is larger than the {limit:,} bytes that {name} can need")
    if total is not None and have != total:
        raise ConnectionError(f"it ended after {have:,} of {total:,} bytes")
