"""What numba's loops do not compile to: sums and comparisons in vector registers, and prefetching.

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
#: Numbers in single precision that are compared at a time.
LANES = 16
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


def _place(context: Any, builder: Any, kind: Any, array: Any, start: Any) -> Any:
    """The address of the `LANES` numbers of an array of 32 bits each, from `start` on."""
    if kind.layout != "C":
        raise TypingError("expected an array that is contiguous")
    found = context.make_array(kind)(context, builder, array)
    vector = ir.VectorType(context.get_data_type(kind.dtype), LANES)
    return builder.bitcast(builder.gep(found.data, [start]), vector.as_pointer())


def _filled(builder: Any, value: Any) -> Any:
    """A vector of the same number."""
    return _shuffled(builder, builder.insert_element(_any(value), value, _INT32(0)), [0] * LANES)


def _pushed(builder: Any, vector: Any, first: Any) -> Any:
    """The numbers moved on by one place, the last one dropped, with a new first one."""
    moved = _shuffled(builder, vector, [0, *range(LANES - 1)])
    return builder.insert_element(moved, first, _INT32(0))


def _shuffled(builder: Any, vector: Any, order: list[int]) -> Any:
    return builder.shuffle_vector(vector, vector, ir.VectorType(_INT32, LANES)(order))


def _any(value: Any) -> Any:
    return ir.VectorType(value.type, LANES)(ir.Undefined)


def _as_bits(builder: Any, flags: Any) -> Any:
    """Flags as the bits of an integer, the first as the lowest one."""
    return builder.zext(builder.bitcast(flags, ir.IntType(LANES)), ir.IntType(64))


def _smaller_differences(typing: Any, left: Any, right: Any, start: Any, limit: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        places = (_place(context, builder, signature.args[k], given[k], given[2]) for k in (0, 1))
        left, right = (builder.load(place, align=4) for place in places)
        flags = builder.fcmp_ordered("<", builder.fsub(left, right), _filled(builder, given[3]))
        return _as_bits(builder, flags)

    return types.int64(left, right, types.intp, types.float32), generate


def _insert(
    typing: Any, values: Any, numbers: Any, start: Any, value: Any, number: Any, value_before: Any,
    number_before: Any,
) -> Any:  # fmt: skip
    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        start, value, number = given[2:5]
        fill = _filled(builder, value)
        places = [_place(context, builder, signature.args[k], given[k], start) for k in (0, 1)]
        own, own_numbers = (builder.load(place, align=4) for place in places)
        before = _pushed(builder, own, given[5])
        numbers_before = _pushed(builder, own_numbers, given[6])
        stays = builder.fcmp_ordered("<=", own, fill)
        is_later = builder.fcmp_ordered(">", before, fill)
        pairs = ((before, fill), (numbers_before, _filled(builder, number)))
        moved = [builder.select(is_later, *pair) for pair in pairs]
        for place, old, new in zip(places, (own, own_numbers), moved, strict=True):
            builder.store(builder.select(stays, old, new), place, align=4)
        return context.get_dummy_value()

    given = values, numbers, types.intp, types.float32, types.int32, types.float32, types.int32
    return types.void(*given), generate


def squared_gaps(lanes: int) -> Callable[..., float]:
    """A function that sums squared differences of two rows, `lanes` of their columns at a time.

    gaps(block, i, j, stop) is the sum over the columns before `stop`, a multiple of `lanes`.
    """

    def gaps(typing: Any, block: Any, i: Any, j: Any, stop: Any) -> Any:
        if block.layout != "C":
            raise TypingError("expected an array that is contiguous, row by row")
        return block.dtype(block, types.intp, types.intp, types.intp), _gaps_code(lanes)

    return intrinsic(gaps)


def _gaps_code(lanes: int) -> Callable[..., Any]:
    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        block = context.make_array(signature.args[0])(context, builder, given[0])
        number = context.get_data_type(signature.args[0].dtype)
        size, vector = context.get_abi_sizeof(number), ir.VectorType(number, lanes)
        width = cgutils.unpack_tuple(builder, block.shape)[1]
        starts = [builder.mul(row, width) for row in given[1:3]]
        total = cgutils.alloca_once_value(builder, vector([number(0.0)] * lanes))

        def part(start: Any, column: Any) -> Any:
            address = builder.gep(block.data, [builder.add(start, column)])
            return builder.load(builder.bitcast(address, vector.as_pointer()), align=size)

        step = width.type(lanes)
        with cgutils.for_range_slice(builder, width.type(0), given[3], step) as (column, _):
            gap = builder.fsub(*(part(start, column) for start in starts))
            builder.store(builder.fadd(builder.load(total), builder.fmul(gap, gap)), total)
        bits = "f32" if isinstance(number, ir.FloatType) else "f64"
        kind = ir.FunctionType(number, [number, vector])
        name = f"llvm.vector.reduce.fadd.v{lanes}{bits}"
        reduce = cgutils.get_or_insert_function(builder.module, kind, name)
        return builder.call(reduce, [number(0.0), builder.load(total)], fastmath=("reassoc",))

    return generate


def _lowest_bit(typing: Any, bits: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        return builder.cttz(given[0], ir.IntType(1)(1))

    return types.int64(types.int64), generate


#: smaller_differences(left, right, start, limit): of the `LANES` numbers from `start` on, the bits
#: k for which left[start + k] - right[start + k] < limit.
smaller_differences: Any = intrinsic(_smaller_differences)
#: insert(values, numbers, start, value, number, value_before, number_before): insert a value and
#: its number into the `LANES` sorted ones from `start` on, behind all that are not larger; the last
#: of them drops out. If all are larger, the larger of the value and of `value_before`, which stands
#: before them, is the new first one.
insert: Any = intrinsic(_insert)
#: lowest_bit(bits): the position of the lowest bit that is set; there must be one.
lowest_bit: Any = intrinsic(_lowest_bit)


def _prefetch_start(typing: Any, array: Any, row: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        _prefetch(builder, _row_and_size(context, builder, signature, given)[0], 1)
        return context.get_dummy_value()

    return types.void(array, types.intp), generate


def _prefetch_row(typing: Any, array: Any, row: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        first, size = _row_and_size(context, builder, signature, given)
        zero, line = size.type(0), size.type(_LINE)
        with cgutils.for_range_slice(builder, zero, size, line) as (offset, _):
            _prefetch(builder, builder.gep(first, [offset]), 1)
        return context.get_dummy_value()

    return types.void(array, types.intp), generate


def _row_and_size(context: Any, builder: Any, signature: Any, given: Any) -> tuple[Any, Any]:
    """The address of a row, and its number of bytes if the array is contiguous."""
    found = context.make_array(signature.args[0])(context, builder, given[0])
    size = cgutils.unpack_tuple(builder, found.strides)[0]
    first = builder.bitcast(found.data, ir.IntType(8).as_pointer())
    return builder.gep(first, [builder.mul(given[1], size)]), size


#: prefetch(array, row) asks for the cache line where a row begins, prefetch_row for all of a row of
#: a contiguous array.
prefetch: Any = intrinsic(_prefetch_start)
prefetch_row: Any = intrinsic(_prefetch_row)


def _prefetch(builder: Any, address: Any, size: int) -> None:
    """Ask for so many bytes from an address on."""
    byte = ir.IntType(8).as_pointer()
    kind = ir.FunctionType(ir.VoidType(), [byte, _INT32, _INT32, _INT32])
    ask = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch")
    first = builder.bitcast(address, byte)
    for offset in range(0, size, _LINE):
        read, all_levels, data = _INT32(0), _INT32(3), _INT32(1)
        builder.call(ask, [builder.gep(first, [_INT32(offset)]), read, all_levels, data])
