"""Randomness, in one place: which numbers a repetition draws (docs/numbers.md).

A permutation depends on the base seed, the data's content and the repetition, never on the learner,
so that every learner sees the same stream. A learner's own draws depend on that permutation and on
the learner's name, never on its hyperparameters.
"""

import hashlib


def derive(*parts: object) -> int:
    """Return a 128-bit seed hashed from the parts' text, the same on every machine."""
    text = "\x1f".join(str(part) for part in parts)
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:16], "little")


def permutation_seed(base: int, content_hash: str, rep: int) -> int:
    """Seed of repetition ``rep``'s permutation of the data with this content hash."""
    return derive("permutation", base, content_hash, rep)


def halves_seed(content_hash: str) -> int:
    """Seed of the two halves of the data with this content hash, the same for all repetitions."""
    return derive("halves", content_hash)


def tuning_seed(base: int) -> int:
    """Base seed of the permutations on which settings are chosen: far from any that a user would give."""
    return derive("tuning", base) % 2**53


def learner_seed(permutation: int, learner: str) -> int:
    """Seed of the learner's own randomness on one permutation."""
    return derive("learner", permutation, learner)
