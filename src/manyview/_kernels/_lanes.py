"""What numba's loops do not compile to: sums in vector registers, and prefetching.

Kernels on graphs look up rows that lie anywhere in memory. They spend most of their time waiting
for them, unless rows are asked for some edges ahead.
"""

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.errors import TypingError
from numba.extending import intrinsic

#: Edges ahead of which rows are prefetched: about as many as a core can wait for at a time.
AHEAD = 24
_LINE = 64  # bytes of a cache line
_INT32 = ir.IntType(32)


def row_adder(lanes: int) -> Callable[..., None]:
    """A function that computes a weighted sum of rows, `lanes` of their columns.

    add(indices, weights, start, stop, block, column, out) writes the sum of
    weights[e] * block[indices[e]] over the edges from start to stop, from `column` on, to the
    beginning of the vector `out`. Even and odd edges are added up separately: then an addition need
    not wait for the one before.
    """

    def add(
        typing: Any, indices: Any, weights: Any, start: Any, stop: Any, block: Any, column: Any,
        out: Any,
    ) -> Any:  # fmt: skip
        if not indices.layout == weights.layout == block.layout == out.layout == "C":
            raise TypingError("expected arrays that are contiguous, row by row")
        given = indices, weights, types.intp, types.intp, block, types.intp, out
        return types.void(*given), _adder_code(lanes)

    return intrinsic(add)


def _adder_code(lanes: int) -> Callable[..., Any]:
    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        indices, weights, block, out = (
            context.make_array(signature.args[k])(context, builder, given[k]) for k in (0, 1, 4, 6)
        )
        start, stop, column = given[2], given[3], given[5]
        number = context.get_data_type(signature.args[4].dtype)
        size, vector = context.get_abi_sizeof(number), ir.VectorType(number, lanes)
        width = cgutils.unpack_tuple(builder, block.shape)[1]
        last = builder.sub(indices.nitems, start.type(1))
        zero = vector([number(0.0)] * lanes)
        sums = [cgutils.alloca_once_value(builder, zero) for _ in range(2)]

        def row_of(edge: Any) -> Any:
            """The address of the row that an edge leads to."""
            row = builder.load(builder.gep(indices.data, [edge]))
            row = row if row.type == width.type else builder.sext(row, width.type)
            return builder.gep(block.data, [builder.add(builder.mul(row, width), column)])

        def add_edge(edge: Any, total: Any) -> None:
            ahead = builder.add(edge, edge.type(AHEAD))
            ahead = builder.select(builder.icmp_signed("<", ahead, last), ahead, last)
            _prefetch(builder, row_of(ahead), lanes * size)
            weight = builder.load(builder.gep(weights.data, [edge]))
            if weight.type != number:
                is_wider = isinstance(number, ir.DoubleType)
                weight = (builder.fpext if is_wider else builder.fptrunc)(weight, number)
            any_ = vector(ir.Undefined)
            factor = builder.insert_element(any_, weight, _INT32(0))
            factor = builder.shuffle_vector(factor, any_, ir.VectorType(_INT32, lanes)([0] * lanes))
            row = builder.load(builder.bitcast(row_of(edge), vector.as_pointer()), align=size)
            term = builder.fmul(factor, row)
            builder.store(builder.fadd(builder.load(total), term), total)

        two = start.type(2)
        paired = builder.sub(stop, builder.srem(builder.sub(stop, start), two))
        with cgutils.for_range_slice(builder, start, paired, two) as (edge, _):
            add_edge(edge, sums[0])
            add_edge(builder.add(edge, edge.type(1)), sums[1])
        with builder.if_then(builder.icmp_signed("<", paired, stop)):
            add_edge(paired, sums[0])
        place = builder.bitcast(out.data, vector.as_pointer())
        builder.store(builder.fadd(*map(builder.load, sums)), place, align=size)
        return context.get_dummy_value()

    return generate


def _prefetch_row(typing: Any, array: Any, row: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        found = context.make_array(signature.args[0])(context, builder, given[0])
        bytes_per_row = cgutils.unpack_tuple(builder, found.strides)[0]
        first = builder.bitcast(found.data, ir.IntType(8).as_pointer())
        _prefetch(builder, builder.gep(first, [builder.mul(given[1], bytes_per_row)]), 1)
        return context.get_dummy_value()

    return types.void(array, types.intp), generate


#: prefetch(array, row) asks for the cache line where a row begins.
prefetch: Any = intrinsic(_prefetch_row)


def _prefetch(builder: Any, address: Any, size: int) -> None:
    """Ask for so many bytes from an address on."""
    byte = ir.IntType(8).as_pointer()
    kind = ir.FunctionType(ir.VoidType(), [byte, _INT32, _INT32, _INT32])
    ask = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch")
    first = builder.bitcast(address, byte)
    for offset in range(0, size, _LINE):
        read, all_levels, data = _INT32(0), _INT32(3), _INT32(1)
        builder.call(ask, [builder.gep(first, [_INT32(offset)]), read, all_levels, data])
