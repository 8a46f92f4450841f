"""Symmetric matrices under rank-one updates, one for each kernel: recursive least squares, and its relatives.

An update P <- P - u u' and the next round's product P z each read all of P, which is larger than the caches
near the processor. So the update waits, and both are made in one pass over P's lower triangle: every learner
that keeps such matrices hands in the vector u that its last round left.
Throughout: P (m, n, n), of which only the lower triangle (in blocks of LANES) is kept; z, last (m, n), last_i
the u of the round before, 0 at the start.
"""

import math

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from omkl.engine.arith import fma
from omkl.engine.jit import compiled

LANES = 4  # rows of a pass, and columns that are computed together


@compiled
def gains(P, last, z, drift, keep):
    """g (m, n): P_i z_i of the matrices P_i <- P_i - last_i last_i' + drift I.

    keep: they replace P, and `last` must be replaced with them (see ``leave``); else P stays as it is, for
    rounds that are not learnt. Either way the bits are the same.
    """
    g = np.zeros(z.shape)
    for i in range(g.shape[0]):
        _product(P[i], last[i], z[i], g[i], drift, keep)
    return g


@compiled
def leave(last, g, v):
    """Leave the updates P_i <- P_i - g_i g_i' / v_i, v (m,) > 0, to the next call of ``gains``."""
    for i in range(v.size):
        u, own, root = last[i], g[i], math.sqrt(v[i])
        for j in range(u.size):
            u[j] = own[j] / root


@compiled
def _product(P, u, z, g, drift, keep):
    """One kernel's share: each element p_rj, j < r, counts in g_r and in g_j."""
    n = z.size
    whole = n - n % LANES
    for r in range(0, whole, LANES):
        if keep:
            _rows_kept(P, r, u, z, g)
        else:
            _rows(P, r, u, z, g)
    for r in range(whole, n):
        row = P[r]
        for j in range(r + 1):
            p = fma(-u[r], u[j], row[j])
            g[j] = fma(p, z[r], g[j])
            if j < r:
                g[r] = fma(p, z[j], g[r])
            if keep:
                row[j] = p
    for j in range(n):
        g[j] = fma(drift, z[j], g[j])
        if keep:
            P[j, j] += drift


def _row_products(keep):
    """Return the intrinsic behind ``_product`` for LANES rows at once.

    Left to LLVM's loop vectoriser, the sums over a row stay scalar, since their order would change. Here
    LANES partial sums of each row stay in registers, and are added in a fixed order.
    """

    @intrinsic
    def row_products(typingctx, P, r, u, z, g):
        """p_kj = P_kj - u_k u_j for rows k = r .. r + LANES - 1, j up to the block on the diagonal, which is
        whole: g_j += sum_k p_kj z_k, and g_k += sum_j p_kj z_j left of that block. keep: P_kj <- p_kj.
        """
        signature = types.void(P, r, u, z, g)

        def codegen(context, builder, signature, args):
            double, size, lane = ir.DoubleType(), ir.IntType(64), ir.IntType(32)
            vector = ir.VectorType(double, LANES)
            P, _, u, z, g = (
                context.make_array(kind)(context, builder, value) if isinstance(kind, types.Array) else value
                for kind, value in zip(signature.args, args, strict=True)
            )
            first, n = args[1], cgutils.unpack_tuple(builder, P.shape)[1]
            form = ir.FunctionType(vector, [vector] * 3)  # the builder's own fma takes no vectors
            fused = cgutils.get_or_insert_function(builder.module, form, f"llvm.fma.v{LANES}f64")

            def place(base, offset):
                return builder.bitcast(builder.gep(base, [offset]), vector.as_pointer())

            def load(base, offset):
                return builder.load(place(base, offset), align=8)

            def spread(base, offset, sign=lambda value: value):
                value = sign(builder.load(builder.gep(base, [offset])))
                one = builder.insert_element(vector(ir.Undefined), value, lane(0))
                return builder.shuffle_vector(one, vector(ir.Undefined), ir.VectorType(lane, LANES)(None))

            rows = [builder.add(first, size(k)) for k in range(LANES)]
            starts = [builder.mul(row, n) for row in rows]
            minus_u = [spread(u.data, row, builder.fneg) for row in rows]
            own_z = [spread(z.data, row) for row in rows]
            sums = [cgutils.alloca_once_value(builder, vector(None)) for _ in rows]

            def columns(j, left):
                u_j, z_j, g_j = load(u.data, j), load(z.data, j), load(g.data, j)
                for k in range(LANES):
                    at = builder.add(starts[k], j)
                    p = builder.call(fused, (minus_u[k], u_j, load(P.data, at)))
                    g_j = builder.call(fused, (p, own_z[k], g_j))
                    if left:
                        builder.store(builder.call(fused, (p, z_j, builder.load(sums[k]))), sums[k])
                    if keep:
                        builder.store(p, place(P.data, at), align=8)
                builder.store(g_j, place(g.data, j), align=8)

            with cgutils.for_range_slice(builder, size(0), first, size(LANES), size) as (j, _):
                columns(j, left=True)
            columns(first, left=False)
            for k in range(LANES):
                total = builder.load(builder.gep(g.data, [rows[k]]))
                for q in range(LANES):
                    total = builder.fadd(total, builder.extract_element(builder.load(sums[k]), lane(q)))
                builder.store(total, builder.gep(g.data, [rows[k]]))
            return context.get_dummy_value()

        return signature, codegen

    return row_products


_rows_kept, _rows = _row_products(True), _row_products(False)
