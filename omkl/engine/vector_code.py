"""What the engine's hand-written vector code shares: arrays and vectors of LANES numbers in LLVM's words."""

from typing import Any

import llvmlite.binding
from llvmlite import ir
from numba import config, types
from numba.core import cgutils

LANES = 8  # rows are padded to a multiple of this, so that vector loops leave no remainder
VECTOR = ir.VectorType(ir.DoubleType(), LANES)
SIZE = ir.IntType(64)


def numbers_in_registers(features: str) -> int:
    """Return how many numbers the vector registers of a processor hold; features: as LLVM writes them."""
    known = features.split(",")
    if "+avx512f" in known:
        return 32 * 8
    return 16 * 4 if "+avx" in known else 32 * 2 if "+neon" in known else 16 * 2


# What stays in registers from one step of a loop to the next must leave room for what the step itself needs.
_settings: Any = config
ROOM = numbers_in_registers(_settings.CPU_FEATURES or llvmlite.binding.get_host_cpu_features().flatten())
LARGE = ROOM > 8 * LANES


def arrays_of(context: Any, builder: Any, signature: Any, args: Any) -> list[Any]:
    """Return an intrinsic's arguments, with the arrays opened."""
    return [
        context.make_array(kind)(context, builder, value) if isinstance(kind, types.Array) else value
        for kind, value in zip(signature.args, args, strict=True)
    ]


def pointer_to(builder: Any, array: Any, *index: Any) -> Any:
    """Return a pointer to this element of a C-contiguous array."""
    sides, at = cgutils.unpack_tuple(builder, array.shape), index[0]
    for side, own in zip(sides[1:], index[1:], strict=True):
        at = builder.add(builder.mul(at, side), own)
    return builder.gep(array.data, [at])


def vector_at(builder: Any, array: Any, *index: Any, kind: Any = VECTOR) -> Any:
    """Return a pointer to LANES numbers of a C-contiguous array, from this element on; kind: their vector."""
    return builder.bitcast(pointer_to(builder, array, *index), kind.as_pointer())


def spread(builder: Any, value: Any, width: int = LANES) -> Any:
    """Return a vector whose lanes all hold this number."""
    lane, kind = ir.IntType(32), ir.VectorType(value.type, width)
    one = builder.insert_element(kind(ir.Undefined), value, lane(0))
    return builder.shuffle_vector(one, kind(ir.Undefined), ir.VectorType(lane, width)(None))
