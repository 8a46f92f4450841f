"""What is fuzzed, for scripts/fuzz.py (by the thousand) and tests/cli/test_fuzz.py (a few, under hypothesis).

A target makes an input from a source of random choices and tries it: it may be accepted, or refused with an
OmklError of one line. Anything else that comes out (a traceback, a hang, a MemoryError) is a finding.
"""

import traceback
import warnings
from pathlib import Path
from random import Random

from omkl.errors import OmklError

# Words of a target's inputs, between white space and escaped as in Python's bytes.
COMMON = r"""
    \x00 \n \x0d \x20 \x09 , : - + . # 0 1 _ " ' nan inf 1e999 -0 1_0 0x1 \xff\xfe \xef\xbb\xbf { } \xc3\xbc
    \xd9\xa3 \xe2\x80\xa8 null true [ ] 2147483648 1e308
"""


LONG = (b"9" * 400, b"9" * 5000, b"x" * 3000, b"[" * 3000, b'{"a":' * 3000)


def tokens_of(text: str) -> list[bytes]:
    """Return the words of a target as bytes."""
    return [word.encode().decode("unicode_escape").encode("latin-1") for word in text.split()]


def mutated(rng: Random, seeds: list[bytes], tokens: list[bytes]) -> bytes:
    """Return a seed after a few random edits: bytes changed, parts cut, doubled or moved, tokens put in."""
    data = bytearray(rng.choice(seeds))
    for _ in range(rng.choice((1, 1, 2, 3, 8))):
        at = rng.randrange(len(data) + 1)
        end = min(len(data), at + rng.choice((1, 1, 2, 4, 16, 64)))
        kind = rng.randrange(7)
        if kind == 0 and at < len(data):
            data[at] ^= 1 << rng.randrange(8)
        elif kind == 1:
            data[at:at] = rng.choice(tokens)
        elif kind == 2:
            data[at:end] = rng.choice(tokens)
        elif kind == 3:
            del data[at:end]
        elif kind == 4:
            data[at:at] = data[at:end] * rng.choice((1, 2, 50))
        elif kind == 5:
            data[at:] = rng.choice(seeds)[rng.randrange(at + 1) :]
        else:
            data[at:end] = rng.randbytes(rng.randrange(8))
    return bytes(data)


class Target:
    """One kind of input. ``attempt`` raises OmklError for what is refused; ``make`` draws a bytes input."""

    suffix = ""
    tokens = ""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.path = folder / f"input{self.suffix}"
        self.seeds = self.valid()
        self.words = [*tokens_of(COMMON + self.tokens), *LONG]

    def valid(self) -> list[bytes]:
        """Return inputs that are accepted, to begin from."""
        raise NotImplementedError

    def generated(self, rng: Random) -> bytes:
        """Return an input that is nearly right: parts of the format in random order."""
        return b"".join(rng.choice(self.words) for _ in range(rng.randrange(30)))

    def make(self, rng: Random) -> bytes:
        """Return an input: now a mutated valid one, now a generated one, now noise."""
        kind = rng.randrange(10)
        if kind == 0:
            return rng.randbytes(rng.randrange(120))
        return self.generated(rng) if kind < 5 else mutated(rng, self.seeds, self.words)

    def attempt(self, data: bytes) -> None:
        """Give the input to the code under test."""
        raise NotImplementedError

    def close(self) -> None:
        """Undo what the constructor changed."""


def targets() -> dict[str, type[Target]]:
    """Return the targets by name."""
    from support import fuzzing_conf as conf
    from support import fuzzing_data as data
    from support.fuzzing_models import Models

    kinds = (
        data.Libsvm,
        data.Csv,
        data.Tsv,
        data.Arff,
        data.Forms,
        data.Npz,
        data.Copy,
        data.Orders,
        data.Store,
    )
    kinds += (conf.Words, conf.Spec, conf.Config, conf.Registry, conf.Command, Models)
    return {kind.__name__.lower(): kind for kind in kinds}


def finding(target: Target, data: bytes) -> str | None:
    """Try one input; return what is wrong with how it was taken, None when all is well."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            target.attempt(data)
    except OmklError as error:
        said = str(error)
        if not said.strip() or "\n" in said:  # how long it may be, the command line sees to
            return f"{type(error).__name__} whose message is not one line: {said[:200]!r}"
    except (Exception, SystemExit) as error:
        place = traceback.extract_tb(error.__traceback__)
        inner = next((f for f in reversed(place) if "/omkl/" in f.filename), place[-1])
        return f"{type(error).__name__} at {Path(inner.filename).name}:{inner.lineno}: {str(error)[:200]}"
    return None
