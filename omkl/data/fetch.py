"""Downloading a data file: over http(s) only, resumed, of bounded size, and visible only when complete.

What arrives is not trusted: the caller parses it and compares the content hash.
"""

import contextlib
import http.client
import json
import os
import shutil
import sys
import time
import urllib.error
import urllib.request
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn
from urllib.parse import quote, urlsplit

from omkl import __version__
from omkl.data.files import SUFFIXES, find_in, offline, size_limit
from omkl.data.forms import DataFile, Link
from omkl.data.parse import decoding
from omkl.data.watch import SLOWEST, Watch
from omkl.errors import OmklError, UserError, show
from omkl.files import replacing
from omkl.paths import given

TIMEOUT = 30.0  # seconds without a byte
ATTEMPTS = 3
BLOCK = 2**18


class NotFound(OmklError):
    """The server answered that there is no such file (404 or 410)."""


class _Broken(Exception):
    """The connection ended early or stalled. What arrived is kept, and the next attempt continues there."""


class _SameScheme(urllib.request.HTTPRedirectHandler):
    """Follow redirects within http(s); only http -> https may change the scheme."""

    def redirect_request(self, req, fp, code, msg, headers, newurl):
        old, new = urlsplit(req.full_url).scheme, urlsplit(newurl).scheme
        if new != old and (old, new) != ("http", "https"):
            raise OmklError(f"{req.full_url}: refused the redirect from {old} to {new} ({newurl})")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def timeout() -> float:
    """Return the seconds that a server may stall: OMKL_TIMEOUT, else 30."""
    text = os.environ.get("OMKL_TIMEOUT", "").strip()
    try:
        seconds = float(text) if text else TIMEOUT
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < 1e6:
        raise UserError(f"OMKL_TIMEOUT={text!r} is not a positive number of seconds")
    return seconds


def fetch(file: DataFile, folder: Path, limit: int, archives: Path) -> Path:
    """Bring a data file into ``folder`` from the mirror (OMKL_MIRROR) if one is set, else from its links.

    ``limit`` bounds its bytes; ``archives`` keeps .zip archives for the files that share one.
    Raises OmklError with the answer of each address, UserError where the network is forbidden or no address
    is known.
    """
    if mirror := os.environ.get("OMKL_MIRROR", "").strip():
        return _from_mirror(file, folder, limit, mirror)
    if not file.links:
        raise UserError(
            f"{file.name}: no address to download it from is known; put the file into a folder of OMKL_DATA"
        )
    _check_online(file.name)
    failures = []
    for link in file.links:
        try:
            return _from_link(link, folder / file.name, limit, archives)
        except UserError:
            raise
        except OmklError as error:
            failures.append(str(error))
    raise OmklError(f"{file.name}: not downloaded:\n  " + "\n  ".join(failures))


def _check_online(name: str) -> None:
    if offline():
        raise UserError(
            f"{name}: OMKL_OFFLINE forbids the download; unset it, or put the file into a folder of OMKL_DATA"
        )


def _from_mirror(file: DataFile, folder: Path, limit: int, mirror: str) -> Path:
    if urlsplit(mirror).scheme not in ("http", "https"):
        source = given(mirror, "OMKL_MIRROR=")
        if not source.is_dir():
            raise UserError(f"OMKL_MIRROR={mirror!r} is neither an http(s) URL nor a folder")
        path = find_in(source, file.name)
        if path is None:
            raise NotFound(f"{file.name}: not in the mirror {source}")
        with replacing(folder / path.name) as target, open(path, "rb") as stream:
            shutil.copyfileobj(stream, target)
        return folder / path.name
    _check_online(file.name)
    for suffix in ("", *SUFFIXES[:-1]):
        name = file.name + suffix
        with contextlib.suppress(NotFound):
            return download(f"{mirror.rstrip('/')}/{quote(name)}", folder / name, limit)
    raise NotFound(f"{file.name}: not at the mirror {mirror} under any of its usual names")


def _from_link(link: Link, target: Path, limit: int, archives: Path) -> Path:
    if link.member is None:
        return download(link.url, target, limit)
    archive = archives / quote(urlsplit(link.url).path, safe="")
    if not archive.is_file():
        download(link.url, archive, size_limit())
    told = decoding(archive, f"no readable member {link.member} of {link.url}", OmklError)
    try:
        with (
            told,
            zipfile.ZipFile(archive) as opened,
            opened.open(link.member) as stream,
            replacing(target) as out,
        ):
            copied = 0
            while data := stream.read(BLOCK):
                copied += len(data)
                if copied > limit:
                    raise OmklError(f"{link.url}: its member {link.member} holds more than {limit:,} bytes")
                out.write(data)
    except OmklError:
        archive.unlink()
        raise
    return target


def download(url: str, target: Path, limit: int) -> Path:
    """Download ``url`` to ``target``: a complete file or none, at most ``limit`` bytes.

    A broken download continues where it broke, here and in a later call, from the ``.part`` file next to the
    target. The server must confirm that its file is still the same, else the download starts again.
    Raises NotFound for 404 and 410, OmklError for every other failure.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name(target.name + ".part")
    for attempt in range(1, ATTEMPTS + 1):
        try:
            _transfer(url, part, limit, target.name)
            break
        except _Broken as error:
            if attempt == ATTEMPTS:
                tried = f"after {ATTEMPTS} attempts; run the same command again to continue"
                raise OmklError(f"{url}: {error}, {tried}") from error
            time.sleep(0.2 * attempt)
    with open(part, "rb+") as file:
        os.fsync(file.fileno())
    os.replace(part, target)
    _state(part).unlink(missing_ok=True)
    return target


def _transfer(url: str, part: Path, limit: int, name: str) -> None:
    """Download the rest of the server's file into the part file."""
    from tqdm import tqdm

    have, validator = _resume_point(url, part)
    request = urllib.request.Request(url, headers={"User-Agent": f"omkl/{__version__}"})
    if have:
        request.add_header("Range", f"bytes={have}-")
        request.add_header("If-Range", validator)
    with (
        Watch(timeout()) as watch,
        _failures_told(url, part, watch),
        _opener(watch).open(request, timeout=timeout()) as answer,
    ):
        have, total = _agree(answer, have, validator, part, url)
        if total is not None and total > limit:
            _refuse(part, f"{url}: {total:,} bytes offered, more than the {limit:,} that {name} can need")
        bar = {"desc": f"downloading {name}", "total": total, "initial": have, "file": sys.stderr}
        bar |= {"unit": "B", "unit_scale": True, "disable": None}
        with open(part, "ab" if have else "wb") as file, tqdm(**bar) as progress:
            while data := answer.read1(BLOCK):
                have += len(data)
                watch.count += len(data)
                if have > limit:
                    _refuse(part, f"{url}: more than the {limit:,} bytes that {name} can need")
                file.write(data)
                progress.update(len(data))
    if total is not None and have != total:
        raise _Broken(f"the connection ended after {have:,} of {total:,} bytes")


def _opener(watch: Watch) -> urllib.request.OpenerDirector:
    """Return an opener for http and https only; build_opener would add file: and ftp:."""
    opener, request = urllib.request.OpenerDirector(), urllib.request
    kinds = (request.ProxyHandler, request.UnknownHandler, _SameScheme)
    kinds += (request.HTTPDefaultErrorHandler, request.HTTPErrorProcessor)
    for handler in (*watch.handlers(), *(kind() for kind in kinds)):
        opener.add_handler(handler)
    return opener


@contextlib.contextmanager
def _failures_told(url: str, part: Path, watch: Watch) -> Iterator[None]:
    """Turn errors of the network into _Broken (worth another attempt) or OmklError (final)."""
    try:
        try:
            yield
        finally:
            if watch.slow:  # this may look like a short answer, or like another error
                raise _Broken(f"less than {SLOWEST} bytes a second for {watch.seconds:g} s")
    except urllib.error.HTTPError as error:
        if error.code == 416:  # our part is longer than the file, which is another one
            part.unlink(missing_ok=True)
            raise _Broken("the server's file has changed") from error
        kind = NotFound if error.code in (404, 410) else OmklError
        reason = " ".join(str(error.reason).split())
        raise kind(f"{url}: the server answered {error.code} {reason}") from error
    except TimeoutError as error:
        raise _Broken(f"no data for {timeout():g} s") from error
    except urllib.error.URLError as error:
        if isinstance(error.reason, TimeoutError | ConnectionError):
            raise _Broken(f"no connection: {error.reason}") from error
        raise OmklError(f"{url}: {error.reason}") from error
    except (ConnectionError, http.client.HTTPException) as error:
        raise _Broken(f"the connection broke: {error!r}") from error
    except ValueError as error:  # such as a redirect to http://[
        raise OmklError(f"{url}: invalid answer of the server: {error}") from error
    except OSError as error:
        raise OmklError(f"{url} to {part}: {error.strerror or error}") from error


def _refuse(part: Path, message: str) -> NoReturn:
    part.unlink(missing_ok=True)
    _state(part).unlink(missing_ok=True)
    raise OmklError(message)


def _agree(answer, have: int, validator: str, part: Path, url: str) -> tuple[int, int | None]:
    """Return (bytes of the part file to keep, total or None), and note what identifies the server's file."""
    headers = answer.headers
    if answer.status == 206:
        if _validator(headers) not in ("", validator):
            part.unlink(missing_ok=True)
            raise _Broken("the server's file has changed")
        start, _, total = headers.get("Content-Range", "").removeprefix("bytes ").partition("/")
        if start.partition("-")[0] != str(have) or not _is_count(total):
            part.unlink(missing_ok=True)
            raise _Broken(f"the server sent another range than requested ({headers.get('Content-Range')!r})")
        return have, int(total)
    if answer.status != 200:
        raise OmklError(f"{url}: the server answered {answer.status}, which carries no file")
    part.unlink(missing_ok=True)  # before the new state is noted: never old bytes under a new validator
    _state(part).write_text(json.dumps({"url": url, "validator": _validator(headers)}))
    length = headers.get("Content-Length", "")
    if length and not _is_count(length):
        raise OmklError(f"{url}: the server announced an impossible size: {show(length)}")
    return 0, int(length) if length else None


def _is_count(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) < 20


def _resume_point(url: str, part: Path) -> tuple[int, str]:
    """Return how many bytes of this url we have, and the server's validator of them; (0, "") at first."""
    try:
        state = json.loads(_state(part).read_text())
        size = part.stat().st_size
    except (OSError, ValueError):
        return 0, ""
    usable = isinstance(state, dict) and state.get("url") == url and state.get("validator")
    return (size, state["validator"]) if usable and size else (0, "")


def _validator(headers) -> str:
    """Return what identifies the server's version of a file: a strong ETag, else its last change."""
    etag = headers.get("ETag", "")
    return etag if etag and not etag.startswith("W/") else headers.get("Last-Modified", "")


def _state(part: Path) -> Path:
    return part.with_name(part.name + ".json")
