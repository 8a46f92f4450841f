"""What a learner's arguments have, for type checkers and editors: fields, and methods with a summary of each.

Methods are compiled functions that stores.py, expansion.py, budgeted.py, gram_matrix.py, features.py and
stream.py add to the records at import, where no tool finds them. tests/engine/test_methods.py compares them
with these protocols.
"""

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Counts = NDArray[np.int64]
Flags = NDArray[np.bool_]


class Stream(Protocol):
    """The examples that arrive, in rounds t = 0 .. T - 1."""

    T: int
    order: Counts
    indptr: Counts
    indices: NDArray[np.int32]
    values: Array
    y: Array
    label: Any  # (T,) with more than two classes, else None

    def row(self, t: int) -> tuple[int, int]:
        """where round t's example begins and ends in `stream.indices` (its columns) and `stream.values`"""


class Store(Protocol):
    """All stores of examples: an Expansion E, a Budget B, Features F."""

    classes: Any  # of more than two classes what is seen of them, else None
    f: Array
    size: Counts

    def weighted_vote(self, w: Array, f: Array, c: Flags | None = None) -> float:
        """Σ wᵢ sign(fᵢ), of all classifiers or of those with c (m,) true; exactly 0 where they tie"""

    def weighted_output(self, w: Array, f: Array) -> float:
        """Σ wᵢ fᵢ"""

    def weighted_difference(self, other: "Store", w: Array, f: Array, g: Array, n: float) -> float:
        """Σ wᵢ (fᵢ − gᵢ / n), g (m,) the outputs of another store"""

    def mean_vote(self, f: Array) -> float:
        """the mean of sign(fᵢ)"""

    def mean_output(self, f: Array) -> float:
        """the mean of fᵢ"""

    def scaled(self, scale: Array, f: Array) -> Array:
        """scaleᵢ fᵢ (m,), to be combined"""

    def n_changed(self) -> float:
        """1, or 2 where a step changes two classes: ‖a κ(x, ·)‖² is this times a² κ(x, x)"""

    def margin_factor(self) -> float:
        """2, or 1 with more than two classes: the true class's score less its rival's is this times y f"""

    def direction(self, i: int, c: int, y: float) -> float:
        """what a step of size 1 of kernel i adds for class c: y, or 1, −1 and 0 with more than two classes"""

    def unite(self, f: Array) -> Array:
        """margins (m,) against the strongest rival of the combined scores, which all kernels then take"""

    def target(self, stream: Stream, t: int, c: int) -> float:
        """1 if the example is of class c, else −1; the label of two classes"""

    def note_excess(self, c: int, e: float) -> None:
        """note P − ½ of the probability P of class c against all others"""

    def margin_of_excesses(self, stream: Stream, t: int) -> float:
        """the excess noted; with more than two classes the margin of the probabilities"""


class Expansion(Store, Protocol):
    """m classifiers over one list of all stored examples."""

    n_sv: Counts

    def outputs(self, stream: Stream, t: int) -> Array:
        """f (m,), the outputs fᵢ(xₜ), or margins of more than two classes; the next call reuses the array"""

    def self_kernels(self, t: int) -> Array:
        """κᵢ(xₜ, xₜ) (m,) of the round of the last `outputs`"""

    def add(self, stream: Stream, t: int, a: Array) -> None:
        """store xₜ with coefficients a (m,); 0 leaves a kernel as it is"""

    def add_beside(self, E: "Expansion", stream: Stream, t: int, a: Array) -> None:
        """`add` for the classes that E's step changes"""

    def count_once(self) -> None:
        """count every stored vector once in #SV: all kernels share one list"""

    def count_twice(self, i: int) -> None:
        """count the last vector twice for kernel i"""

    def scale(self, i: int, c: float) -> None:
        """fᵢ ← c fᵢ, c > 0, in the coefficients (slow)"""

    def forget(self, i: int, last: int) -> None:
        """fᵢ ← 0, of a kernel whose coefficients are in the `last` vectors stored last"""

    def forget_all(self) -> None:
        """fᵢ ← 0 for all kernels; the room is free again"""

    def project(self, scale: Array, norm2: Array, R: float) -> None:
        """scaleᵢ fᵢ onto the ball of radius R, norm2 (m,) its squared norms"""

    def shrink(self, scale: Array, c: float, start: int, stop: int) -> None:
        """scaleᵢ ← c scaleᵢ for kernels start .. stop − 1"""


class Budget(Store, Protocol):
    """m classifiers of at most that many stored examples each, in slots of their own."""

    n_sv: Counts

    def outputs(self, stream: Stream, t: int) -> Array:
        """f (m,), the outputs fᵢ(xₜ), or margins of more than two classes; the next call reuses the array"""

    def output_again(self, t: int, i: int) -> float:
        """fᵢ(xₜ) after its coefficients changed"""

    def term_sums(self) -> Array:
        """(m, C) of the absolute values of the terms of the last outputs"""

    def rounded(self, f: Array, g: Array | None = None) -> Array:
        """f (m,), 0 where it is rounding relative to g (m, C), by default the `term_sums`"""

    def self_kernels(self, t: int) -> Array:
        """κᵢ(xₜ, xₜ) (m,) of the round of the last `outputs`"""

    def kernel_values(self, t: int) -> Array:
        """κᵢ(xₛ, xₜ) (slots, m) of every slot s with that round"""

    def budget(self) -> int:
        """how many slots a kernel may use"""

    def used(self, i: int) -> int:
        """how many slots kernel i uses, the number of its first empty slot"""

    def has_room(self, i: int) -> bool:
        """whether kernel i has an empty slot"""

    def slot_of(self, stream: Stream, t: int, i: int) -> int:
        """the slot of kernel i that holds xₜ already, −1 where none does"""

    def oldest_slot(self, i: int) -> int:
        """the slot that `add_over_oldest` takes next"""

    def ages(self, i: int) -> Counts:
        """(n,), smaller for older examples of kernel i, slot by slot"""

    def coefficients(self, i: int) -> Array:
        """kernel i's coefficients (n,) of two classes, to be written too"""

    def columns(self, i: int) -> Array:
        """kernel i's coefficients (n, C) of all classes, C = 1 for two of them"""

    def sizes(self, i: int) -> Array:
        """absolute coefficients (n,) of kernel i"""

    def own_kernels(self, i: int) -> Array:
        """κᵢ(xₛ, xₛ) (n,) of kernel i's slots"""

    def slots(self) -> tuple[Array, Array, Counts]:
        """absolute coefficients, κ(xₛ, xₛ) and ages (n, m) of all slots"""

    def add(self, stream: Stream, t: int, i: int, s: int, a: float) -> None:
        """store xₜ in slot s of kernel i with coefficient a"""

    def add_over_oldest(self, stream: Stream, t: int, i: int, a: float) -> None:
        """store xₜ in an empty slot of kernel i, or in place of its oldest example"""

    def remove(self, t: int, i: int, s: int) -> None:
        """empty slot s of kernel i; the last slot takes its number"""

    def held(self, s: int, i: int) -> Array:
        """a copy of slot s's coefficients (C,)"""

    def put_more(self, s: int, i: int, before: Array, share: float, whole: float) -> None:
        """add share / whole times `before` (C,) to slot s's coefficients"""

    def forget(self, i: int) -> None:
        """fᵢ ← 0; its examples stay"""

    def scale(self, i: int, c: float) -> None:
        """fᵢ ← c fᵢ"""

    def scale_all(self, c: float) -> None:
        """fᵢ ← c fᵢ for every kernel"""

    def gram(self, i: int) -> Array:
        """the Gram matrix (n, n) of kernel i's examples"""

    def gram_row(self, i: int, q: int) -> Array:
        """its row (n,) of slot q"""

    def move(self, i: int, c: float, d: Array) -> None:
        """fᵢ ← fᵢ + c Σ dₛ κᵢ(xₛ, ·), d (n,), for the round's class and less for its rival"""

    def move_column(self, i: int, k: int, c: float, d: Array) -> None:
        """the same for class k alone"""


class Features(Store, Protocol):
    """Random Fourier features of m kernels, with weights theta (C, m, 2D), C = 1 for two classes."""

    z: Array

    def lift(self, stream: Stream, t: int) -> Array:
        """z (m, 2D), the features of xₜ; the next call reuses the array"""

    def outputs(self, theta: Array, z: Array, stream: Stream, t: int) -> Array:
        """f (m,), θᵢ·zᵢ, or margins of more than two classes; theta is `{shape: [m, 2D], classes: true}`"""

    def descend(self, theta: Array, z: Array, eta: float, lam: float, slope: Array) -> None:
        """θᵢ ← (1 − η λ) θᵢ − η slopeᵢ zᵢ"""


class Trace(Protocol):
    """What happens in each round."""

    score: Array
    mistake: Flags
    further: Array  # (T, q), the measures that the learner declares
    class_scores: Any  # (T, C) with more than two classes, else None

    def record(
        self,
        t: int,
        score: float,
        y: float,
        store: Store | None = None,
        c: Flags | None = None,
        predicted: int = -1,
    ) -> None:
        """score the round; c (m,) says which classifiers were combined, if not all were"""
