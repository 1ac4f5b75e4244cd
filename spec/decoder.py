#!/usr/bin/env python3
"""A plain reader of endtable tables, written from FORMAT.md and small.md alone.

It is made to be read beside the specification and to check other readers, not
to be fast. It needs Python 3.9 and nothing else, except `lz4` and `zstandard`
(from PyPI) for the codecs of those names.

    decoder.py FILE info      what the table says of itself
    decoder.py FILE check     every rule of FORMAT.md, and the content's checksum
    decoder.py FILE dump      every record, one line each: number and values
    decoder.py FILE raw       the content in canonical form, as bytes
    decoder.py FILE get N     the record of number N

Exit codes: 0 done, 1 the file is bad, 2 the call is wrong, 3 the file needs a
codec, numbering or version that is not known here. Bad files give one line with
the rule that they break.
"""

import os
import struct
import sys
import zlib
from math import comb


class Corrupt(Exception):
    """The file breaks a rule of FORMAT.md."""

    def __init__(self, rule, message):
        super().__init__(f"corrupt: {message} [rule {rule}]")
        self.rule = rule


class Unsupported(Exception):
    """The file may be good, but needs what is not known here."""

    def __init__(self, message):
        super().__init__(f"unsupported: {message}")


def need(rule, right, message):
    if not right:
        raise Corrupt(rule, message)


# --- Primitives (FORMAT.md, sections 3 and 6.1) ------------------------------


def value_bytes(bits):
    return (bits + 7) // 8


class Cursor:
    """Reads little-endian primitives front to back; too few bytes break `rule`."""

    def __init__(self, data, rule):
        self.data, self.at, self.rule = data, 0, rule

    def take(self, n):
        left = len(self.data) - self.at
        need(self.rule, n <= left, f"{n} bytes expected, {left} left")
        self.at += n
        return self.data[self.at - n : self.at]

    def number(self, n):
        return int.from_bytes(self.take(n), "little")

    def signed(self, n):
        return int.from_bytes(self.take(n), "little", signed=True)

    def text(self, length_bytes):
        data = self.take(self.number(length_bytes))
        try:
            return data.decode("utf-8")
        except UnicodeDecodeError as error:
            raise Corrupt("S-2", str(error)) from None

    def name(self):
        return self.text(1)

    def properties(self):
        count = self.number(2)
        need("S-3", count <= 256, f"{count} properties")
        out = {}
        for _ in range(count):
            key = self.name()
            need("S-3", key not in out, f"property '{key}' twice")
            kind = self.number(1)
            need("S-4", kind <= 3, f"property '{key}' of type {kind}")
            if kind == 0:
                out[key] = self.number(8)
            elif kind == 1:
                out[key] = self.signed(8)
            elif kind == 2:
                out[key] = self.text(4)
            else:
                out[key] = self.take(self.number(4))
        return out

    def end(self):
        left = len(self.data) - self.at
        need(self.rule, left == 0, f"{left} bytes too many")


# --- Schema (section 6) ------------------------------------------------------

UNSIGNED, SIGNED, FLOAT = 0, 1, 2


class Field:
    def __init__(self, cursor):
        self.name = cursor.name()
        self.kind = cursor.number(1)
        self.bits = cursor.number(1)
        self.count = cursor.number(4)
        self.bias = cursor.signed(8)
        self.minimum = cursor.signed(8)
        self.maximum = cursor.signed(8)
        self.properties = cursor.properties()

    def check(self):
        need("S-10", self.kind <= 2, f"field '{self.name}' of kind {self.kind}")
        need("S-9", 1 <= self.bits <= 32 and self.count >= 1, f"field '{self.name}' is empty")
        if self.kind == FLOAT:
            plain = self.bits == 32 and self.bias == self.minimum == self.maximum == 0
            need("S-10", plain, f"field '{self.name}' is no plain float")
            return
        top = self.bias + 2**self.bits - 1
        ordered = self.bias <= self.minimum <= self.maximum <= top < 2**63
        sign = self.kind == SIGNED or self.minimum >= 0
        need("S-11", ordered and sign, f"field '{self.name}' has impossible bounds")

    def allows(self, raw):
        if raw >= 2**self.bits:
            return False
        return self.kind == FLOAT or self.minimum <= raw + self.bias <= self.maximum

    def value(self, raw):
        """What a raw value means, as a Python number."""
        if self.kind == FLOAT:
            return struct.unpack("<f", struct.pack("<I", raw))[0]
        return raw + self.bias


class Column:
    def __init__(self, cursor):
        self.name = cursor.name()
        self.first = cursor.number(8)
        self.count = cursor.number(8)
        self.block_positions = cursor.number(4)
        self.codec = cursor.name()
        self.codec_version = cursor.number(2)
        self.codec_parameters = cursor.properties()
        self.fields = [Field(cursor) for _ in range(cursor.number(2))]
        self.elsewhere = [cursor.number(4) for _ in range(cursor.number(2))]

    def layout(self):
        """A field for each value of a record."""
        return [field for field in self.fields for _ in range(field.count)]

    def check(self, positions):
        size = self.block_positions
        need("S-6", 1 <= size <= 32768, f"blocks of {size} positions")
        need("S-7", self.first + self.count <= positions, "numbers behind the last position")
        need("S-8", 1 <= len(self.fields) <= 1024, f"{len(self.fields)} fields")
        for field in self.fields:
            field.check()
        self.width = sum(field.count for field in self.fields)
        need("S-8", self.width <= 65535, f"{self.width} values in a record")
        need("S-15", self.width * size <= 2**24, "too many values in a block")
        self.bits = [field.bits for field in self.layout()]
        whole = self.first == 0 and self.count == positions
        length = 0 if whole else self.width
        need("S-12", len(self.elsewhere) == length, "no fitting record for other numbers")
        allowed = all(f.allows(v) for f, v in zip(self.layout(), self.elsewhere))
        need("S-12", allowed, "the record for other numbers is out of bounds")

    # The block grid (section 7.1).

    def blocks(self):
        if self.count == 0:
            return 0
        last = self.first + self.count - 1
        return last // self.block_positions - self.first // self.block_positions + 1

    def block_of(self, number):
        return number // self.block_positions - self.first // self.block_positions

    def block_range(self, block):
        cell = self.first // self.block_positions + block
        start = max(cell * self.block_positions, self.first)
        end = min((cell + 1) * self.block_positions, self.first + self.count)
        return start, end

    # The block index (section 8).

    def parse_index(self, cursor):
        self.region_offset = cursor.number(8)
        self.region_bytes = cursor.number(8)
        self.bias = cursor.number(4)
        self.group_log2 = cursor.number(1)
        self.delta_bits = cursor.number(1)
        reserved = cursor.number(2)
        need("I-2", self.group_log2 <= 16 and self.delta_bits <= 28, "impossible index")
        need("I-3", reserved == 0, "reserved bytes of the index are not zero")
        groups = -(-self.blocks() // 2**self.group_log2)
        knots = cursor.take(8 * (groups + 1))
        self.knots = list(struct.unpack(f"<{groups + 1}Q", knots))
        need("I-6", self.knots == sorted(self.knots), "descending knots")
        self.deltas = cursor.take((self.blocks() * self.delta_bits + 7) // 8)

    def offset(self, block):
        if block == self.blocks():
            return self.region_bytes
        group, within = block >> self.group_log2, block & (2**self.group_log2 - 1)
        slope = (self.knots[group + 1] - self.knots[group]) >> self.group_log2
        delta = bits_at(self.deltas, block * self.delta_bits, self.delta_bits)
        return self.knots[group] + within * slope + delta - self.bias


def bits_at(data, bit, width):
    """A number of `width` bits at bit `bit` of a byte sequence."""
    first, last = bit // 8, (bit + width + 7) // 8
    return (int.from_bytes(data[first:last], "little") >> (bit % 8)) & (2**width - 1)


# --- Codecs (section 11): payload -> list of records -------------------------


def decode_stored(column, payload, count, _first, _describe):
    sizes = [value_bytes(bits) for bits in column.bits]
    need("B-3", len(payload) == count * sum(sizes), "wrong length of a block")
    cursor = Cursor(payload, "B-3")
    records = [[cursor.number(size) for size in sizes] for _ in range(count)]
    for record in records:
        for value, bits in zip(record, column.bits):
            need("B-4", value < 2**bits, f"value {value} has more than {bits} bits")
    return records


def decode_planes(column, planes, count):
    sizes = [value_bytes(bits) for bits in column.bits]
    need("B-3", len(planes) == count * sum(sizes), "wrong length of a block's planes")
    records = [[0] * column.width for _ in range(count)]
    at = 0
    for i, (size, bits) in enumerate(zip(sizes, column.bits)):
        before = 0
        for r in range(count):
            bytes_of_it = bytes(planes[at + k * count + r] for k in range(size))
            difference = int.from_bytes(bytes_of_it, "little")
            need("B-4", difference < 2**bits, f"a difference has more than {bits} bits")
            before = (before + difference) % 2**bits
            records[r][i] = before
        at += size * count
    return records


def decode_lz4(column, payload, count, _first, _describe):
    import lz4.block

    length = count * sum(value_bytes(bits) for bits in column.bits)
    try:
        planes = lz4.block.decompress(payload, uncompressed_size=length)
    except lz4.block.LZ4BlockError as error:
        raise Corrupt("B-5", f"LZ4 says: {error}") from None
    return decode_planes(column, planes, count)


def decode_zstd(column, payload, count, _first, _describe):
    import zstandard

    dictionary = column.codec_parameters.get("dictionary", b"")
    loaded = zstandard.ZstdCompressionDict(dictionary) if dictionary else None
    frame = zstandard.ZstdDecompressor(dict_data=loaded).decompressobj()
    try:
        planes = frame.decompress(payload)
    except zstandard.ZstdError as error:
        raise Corrupt("B-6", f"zstd says: {error}") from None
    need("B-6", frame.eof and not frame.unused_data, "the payload is not one frame")
    length = count * sum(value_bytes(bits) for bits in column.bits)
    need("B-6", len(planes) <= length, f"more than {length} bytes in the frame")
    return decode_planes(column, planes, count)


def decode_packed(column, payload, count, _first, _describe):
    cursor = Cursor(payload, "P-1")
    first, active = cursor.number(2), cursor.number(2)
    need("P-2", first + active <= column.width, "the table covers too many values")
    widths = list(cursor.take(active))
    base_bytes = max(value_bytes(bits) for bits in column.bits)
    bases = [cursor.number(base_bytes) for _ in range(active)]
    need("P-3", all(width <= 32 for width in widths), "a width of more than 32 bits")
    data = payload[cursor.at :]
    need("P-4", len(data) == (count * sum(widths) + 7) // 8, "wrong length of the records")
    records, bit = [], 0
    for _ in range(count):
        record = [0] * column.width
        for j, (width, base) in enumerate(zip(widths, bases)):
            value = base + bits_at(data, bit, width)
            bit += width
            need("P-5", value < 2 ** column.bits[first + j], f"value {value} is too large")
            record[first + j] = value
        records.append(record)
    return records


# --- Codec `small` (small.md) ------------------------------------------------


def clamp(x, low, high):
    return max(low, min(high, x))


def log2(x):
    return x.bit_length() - 1


def signed32(x):
    return (x + 2**31) % 2**32 - 2**31


class AliasTable:
    """A table of rANS: what each of its 4096 slots means (section 3)."""

    def __init__(self, frequencies):
        need("small-1", sum(frequencies) == 4096, "frequencies do not sum to 4096")
        self.frequencies, n = frequencies, len(frequencies)
        c = self.size = 4096 // n
        left, placed = list(frequencies), [0] * n
        small = [s for s in reversed(range(n)) if left[s] < c]
        large = [s for s in reversed(range(n)) if left[s] >= c]
        # For each bucket: its own share, own first index, other symbol, its first index.
        self.buckets = [None] * n
        while small:
            a, b = small.pop(), large[-1]
            self.buckets[a] = (left[a], placed[a], b, placed[b])
            placed[a] += left[a]
            placed[b] += c - left[a]
            left[b] -= c - left[a]
            left[a] = 0
            if left[b] < c:
                small.append(large.pop())
        for a in large:
            self.buckets[a] = (c, placed[a], a, 0)

    def slot(self, slot):
        bucket, low = divmod(slot, self.size)
        own, first, other, other_first = self.buckets[bucket]
        if low < own:
            return bucket, first + low
        return other, other_first + low - own


class Rans:
    def __init__(self, payload):
        need("RANS-3", len(payload) >= 4, "no room for the state")
        self.payload, self.state = payload, int.from_bytes(payload[:4], "little")
        self.at, self.raw_bits = 4, 0

    def symbol(self, table):
        symbol, index = table.slot(self.state % 4096)
        self.state = (table.frequencies[symbol] * (self.state >> 12) + index) % 2**32
        if self.state < 2**16:
            word = int.from_bytes(self.payload[self.at : self.at + 2], "little")
            self.state, self.at = self.state << 16 | word, self.at + 2
        return symbol

    def raw(self, n):
        value = 0
        for i in range(n):
            place = len(self.payload) - 1 - self.raw_bits // 8
            byte = self.payload[place] if place >= 0 else 0
            value |= (byte >> self.raw_bits % 8 & 1) << i
            self.raw_bits += 1
        return value

    def end(self):
        length = self.at + (self.raw_bits + 7) // 8
        whole = self.state == 2**16 and length == len(self.payload)
        need("RANS-4", whole, "the payload does not end with its last record")


BIN_FIRST = [0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 16, 24, 40, 72, 200]
BIN_BITS = [0] * 8 + [1, 1, 2, 3, 4, 5, 7, 32]


def half_log(x):
    """Twice the logarithm of a number, and the bit below its highest one."""
    return 2 * log2(x) + (x >> (log2(x) - 1) & 1 if x > 1 else 0)


def dynamic_class(magnitude):
    if magnitude < 4:
        return magnitude
    return half_log(magnitude) if magnitude < 16 else min(log2(magnitude) + 4, 14)


class SmallModel:
    """Section 2."""

    def __init__(self, column):
        data = column.codec_parameters.get("model")
        need("small-1", type(data) is bytes, "the codec has no model")
        c = Cursor(data, "small-1")
        flags = c.number(1)
        self.spread, has_total = bool(flags & 1), bool(flags & 2)
        self.kinds, self.classes = c.number(1), c.number(1)
        self.thresholds = [c.number(1) for _ in range(c.number(1))]
        self.total = c.number(4) if has_total else None
        self.anchoring = c.number(1)
        self.anchors, row = [], [0] * column.width
        for _ in range(c.number(4)):
            row = [before + self.varint(c) for before in row]
            self.anchors.append(row)
        self.anchors = self.anchors or [row]
        self.sets = [(c.number(2), c.number(1)) for _ in range(c.number(2))]
        groups = len(self.thresholds) + 1
        self.cells = [[self.cell(c, mask) for _ in range(groups)] for mask, _ in self.sets]
        self.keys = {}
        for _ in range(c.number(4)):
            key = c.number(4)
            self.keys[key] = c.number(2)
        self.clusters = []
        for _ in range(c.number(1)):
            shift = c.number(1)
            self.clusters.append((shift, AliasTable([c.number(2) for _ in range(32)])))
        self.contexts = [c.take(16) for _ in range(128)]
        self.modes = [AliasTable([c.number(2) for _ in range(4)]) for _ in range(4)]
        c.end()

    @staticmethod
    def varint(cursor):
        value, shift = 0, 0
        while True:
            byte = cursor.number(1)
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 128:
                break
        return value >> 1 if value % 2 == 0 else -(value + 1 >> 1)

    def cell(self, c, mask):
        others = max(bin(mask).count("1") - 1, 0)
        features = 6 + 3 * others if self.spread else 2 + others
        first, end = c.number(1), c.number(1)
        need("small-1", first <= end <= 16, "impossible lanes")
        weights = [[0] * 16 for _ in range(features)]
        for row in weights:
            row[first:end] = [c.signed(2) for _ in range(first, end)]
        feedback = [[0] * 4 for _ in range(16)]
        feedback[first:end] = [[c.signed(2) for _ in range(4)] for _ in range(first, end)]
        return weights, feedback, [c.signed(2) for _ in range(10)]


class SmallRow:
    """The values of a record or an anchor, with what later ones ask of it."""

    def __init__(self, values, magnitudes, model, bits):
        self.values, self.magnitudes = values, magnitudes
        self.first = next((i for i, v in enumerate(values) if v), 65535)
        mean = values[0] >> max(bits[0] - 8, 0)
        if model.spread:
            mean = sum(i * v for i, v in enumerate(values)) // max(sum(values), 1)
        self.mean = min(mean, 255)

    def __getitem__(self, i):
        return self.values[i] if 0 <= i < len(self.values) else 0

    def magnitude(self, i):
        return self.magnitudes[i] if 0 <= i < len(self.magnitudes) else 0


def decode_small(column, payload, count, first, describe):
    if not hasattr(column, "small_model"):
        column.small_model = SmallModel(column)
    model, width = column.small_model, column.width
    rans = Rans(payload)
    with_modes, free = rans.raw(1), rans.raw(1)
    total = None if free else model.total
    zeros, mode, rows, anchors = [0] * width, 0, [], []
    for slot in range(count):
        back, own_anchors, group_class = describe(first + slot)
        # References (section 4).
        available = {k for k in range(15) if k < len(back) and 0 < back[k] <= slot}
        if slot > 0 and 1 not in back[:15]:
            available.add(15)
        key = group_class << (model.kinds + 1) | (15 in available) << model.kinds
        key |= sum(1 << k for k in available if k < model.kinds)
        chosen = model.keys.get(key, 0)
        mask, margin = model.sets[chosen]
        kinds = [k for k in range(16) if mask >> k & 1]
        need("small-1", available.issuperset(kinds), "a set with references that are missing")
        places = [slot - (back[k] if k < 15 else 1) for k in kinds]
        own = min(own_anchors[model.anchoring], len(model.anchors) - 1)
        anchors.append(SmallRow(model.anchors[own], zeros, model, column.bits))
        references = [rows[place] for place in places]
        base = references[0] if references else anchors[slot]
        base_anchor = anchors[places[0]] if references else anchors[slot]
        group = sum(t <= base.mean for t in model.thresholds)
        if with_modes:
            mode = rans.symbol(model.modes[mode])
        if mode in (1, 2):
            need("small-2", mode == 1 or len(references) > 1, "a copy of nothing")
            source = base if mode == 1 else references[1]
            rows.append(SmallRow(source.values, zeros, model, column.bits))
            continue
        start = 0 if mode == 3 or not model.spread else min(base.first, width)
        start = max(start - margin, 0) if mode != 3 and model.spread else start
        values, magnitudes = decode_values(
            model,
            column.bits,
            model.cells[chosen][group],
            (base, references[1:], anchors[slot], base_anchor),
            references,
            (start, total),
            rans,
        )
        rows.append(SmallRow(values, magnitudes, model, column.bits))
    rans.end()
    return [row.values for row in rows]


def predict(model, narrow, cell, rows, references, i, lane):
    """P[i] and the static class (section 5)."""
    base, others, own, base_anchor = rows
    weights, _, scales = cell
    features = [-(base[i] >> 1), own[i] - base_anchor[i]]
    if model.spread:
        features += [base[i + d] - base[i] for d in (-1, 1, -2, 2)]
    for r in others:
        near = (-1, 0, 1) if model.spread else (0,)
        features += [r[i + d] - base[i + d] for d in near]
    if narrow:
        features = [clamp(f, -32768, 32767) for f in features]
    weighted = sum(w[lane] * f for w, f in zip(weights, features))
    if narrow:
        weighted = signed32(weighted)
    P = clamp(16 * base[i] + (weighted + 128 >> 8), -(2**36), 2**36)

    def lim(x):
        return clamp(x, 0, 32767)

    nothing = SmallRow([0], [0], model, [16])
    one, two = (references + [nothing, nothing])[:2]
    sums = [min(sum(r.magnitudes) >> 3, 65535) for r in (one, two)]
    p = lim(P >> 4)
    spread = lim(abs(base[i] - others[0][i]) >> 1) if others else 0
    features = [lim(one.magnitude(i)), lim(one.magnitude(i + 1)), lim(two.magnitude(i)), spread]
    features += [min(p, 16), min(p, 256), p >> 4, lim(sums[0]), lim(sums[1]), 16]
    D = max(signed32(sum(s * f for s, f in zip(scales, features))) >> 4, 1)
    zone = 0
    if model.spread:
        zone = 80 if base[i] == 0 else 40 if base[i + 1] == 0 else 0
    return P, zone + min(half_log(D), 39)


def decode_values(model, bits, cell, rows, references, extent, rans):
    """Section 6."""
    base, (start, total), width = rows[0], extent, len(bits)
    values, magnitudes = [0] * width, [0] * width
    narrow = all(b <= 16 for b in bits)
    window = min(max(base.mean - 7, 0), max(width - 16, 0)) if model.spread else None
    errors, error_sum, dynamic = [0, 0, 0], 0, 0
    rest = 2**32 - 1 if total is None else total
    for i in range(start, width):
        inside = window is None or window <= i < window + 16
        lane = i % 16 if window is None else i - window
        if inside:
            P, static = predict(model, narrow, cell, rows, references, i, lane)
            b = cell[1][lane]
            c = b[0] * errors[0] + b[1] * errors[1] + b[2] * errors[2] + b[3] * error_sum
            c >>= 12
        else:
            P, static, c = 16 * base[i], 120 + min(base[i].bit_length(), 7), 0
        shift, table = model.clusters[model.contexts[static][dynamic]]
        symbol = rans.symbol(table)
        low = BIN_FIRST[symbol // 2] << shift
        n = min(BIN_BITS[symbol // 2] + shift, 32)
        magnitude = low + rans.raw(n)
        residual = magnitude if symbol % 2 == 0 else -1 - magnitude
        most = min(2 ** bits[i] - 1, rest)
        v = clamp(P + c + 8 >> 4, 0, most) + residual
        need("small-3", 0 <= v <= most, f"a value of {v}, at most {most} expected")
        values[i], magnitudes[i] = v, min(abs(residual), 65535)
        error = 16 * v - P
        errors = [error] + errors[:2]
        error_sum += error if model.spread else 0
        middle = low + (2 ** min(n - 1, 30) if n > 0 else 0)
        dynamic = dynamic_class(min(middle, 2**32 - 1))
        if total is not None:
            rest -= v
            if rest == 0:
                break
    need("small-4", total is None or rest == 0, "values do not sum to what they all do")
    return values, magnitudes


# What the numberings tell of a number: distances, anchors, class (section 7).


def describe_flat(number):
    return [], (0, 0), 0


MOVES = [[0], [0, 0], [1], [0, 1], [2], [0, 2], [1, 2], [0, 1, 2], [0, 0, 0], [0, 0, 1], [1, 1]]
MOVES.append([0, 0, 1, 1])


def multiset_position(number, points, chequers):
    """Chequers on each point (FORMAT.md, 12.2)."""
    sums, most = [], chequers
    for k in range(points):
        while comb(most + points - 1 - k, points - k) > number:
            most -= 1
        number -= comb(most + points - 1 - k, points - k)
        sums.append(most)
    return [a - b for a, b in zip(sums, sums[1:] + [0])]


def multiset_number(counts):
    points, above, number = len(counts), 0, 0
    for k in reversed(range(points)):
        above += counts[k]
        number += comb(above + points - 1 - k, points - k)
    return number


def describe_multiset(number, points, chequers):
    counts = multiset_position(number, points, chequers)
    high = [p for p in range(points, 0, -1) for _ in range(counts[p - 1])][:3]
    high += [0] * (3 - len(high))
    back = []
    for moves in MOVES:
        h, now, distance = list(high), list(counts), 0
        for chequer in moves:
            q = h[chequer]
            if q == 0 or q < high[2]:
                distance = 0
                break
            a = sum(now[q - 1 :])
            distance += comb(a + points - 1 - q, points - q)
            now[q - 1] -= 1
            if q > 1:
                now[q - 2] += 1
            h[chequer] -= 1
        if distance in back or distance >= 2**16:
            distance = 0
        back.append(distance)
    pips = sum((i + 1) * c for i, c in enumerate(counts))
    high_anchor = 0
    if points > 6 and comb(points - 6 + chequers, chequers) <= 65536:
        high_anchor = multiset_number(counts[6:])
    return back, (pips, high_anchor), 1 if high[0] > 6 else 0


PAIR_KINDS = [(None, 0), (0, None), (0, 0), (None, 2), (None, 3), (2, None), (3, None), (0, 2)]
PAIR_KINDS += [(2, 0), (None, 1), (1, None), (2, 2), (None, 4), (4, None), (0, 3)]


def describe_pair(number, points, chequers):
    n = comb(points + chequers, chequers)
    us, us_anchors, _ = describe_multiset(number // n, points, chequers)
    them, them_anchors, _ = describe_multiset(number % n, points, chequers)
    back = []
    for ours, theirs in PAIR_KINDS:
        parts = [0 if ours is None else us[ours], 0 if theirs is None else them[theirs]]
        missing = (ours is not None and parts[0] == 0) or (theirs is not None and parts[1] == 0)
        distance = 0 if missing else parts[0] * n + parts[1]
        back.append(distance if distance < 2**16 else 0)
    most = points * chequers + 1
    anchor = us_anchors[0] * most + them_anchors[0] if most * most <= 65536 else 0
    return back, (anchor, 0), 0


CODECS = {
    ("stored", 1): decode_stored,
    ("lz4", 1): decode_lz4,
    ("zstd", 1): decode_zstd,
    ("packed", 1): decode_packed,
    ("small", 1): decode_small,
}


# --- Numberings (section 12): parameters -> length ---------------------------


def parameter(parameters, key, least, most):
    need("N-1", type(parameters.get(key)) is int and parameters[key] >= 0, f"no '{key}'")
    need("N-2", least <= parameters[key] <= most, f"'{key}' is {parameters[key]}")
    return parameters[key]


def length_of_flat(parameters):
    return parameter(parameters, "positions", 0, 2**64 - 1)


def length_of_multiset(parameters):
    points = parameter(parameters, "points", 1, 25)
    chequers = parameter(parameters, "chequers", 1, 15)
    return comb(points + chequers, chequers)


def length_of_pair(parameters):
    length = length_of_multiset(parameters) ** 2
    need("N-2", length < 2**64, "more than 2^64 positions")
    return length


# What is told of each number of a table whose columns have codec `small`.
DESCRIPTIONS = {"multiset": describe_multiset, "pair": describe_pair}

NUMBERINGS = {
    ("flat", 1): length_of_flat,
    ("multiset", 1): length_of_multiset,
    ("pair", 1): length_of_pair,
}


# --- The table ---------------------------------------------------------------

MAGIC = b"\x89ETB\r\n\x1a\n"
END_MAGIC = b"\x1aend.ETB"


class Table:
    def __init__(self, path):
        self.file = open(path, "rb")
        self.length = os.fstat(self.file.fileno()).st_size
        self.parse_header()
        self.parse_footer()
        schema = self.read(32, self.schema_bytes)
        index = self.read(self.index_offset, self.index_bytes)
        found = zlib.crc32(self.header + schema + index + self.footer[:32])
        need("F-6", found == self.crc32, "checksum of all that is not a block")
        self.parse_schema(schema)
        cursor, at = Cursor(index, "I-1"), 32 + self.schema_bytes
        for column in self.columns:
            column.parse_index(cursor)
            need("I-4", column.region_offset == at, "blocks overlap or leave gaps")
            at += column.region_bytes
            need("I-4", at <= self.index_offset, "blocks reach over the index")
        cursor.end()
        need("I-4", at == self.index_offset, "the blocks do not reach to the index")

    def read(self, offset, length):
        self.file.seek(offset)
        data = self.file.read(length)
        if len(data) != length:
            raise OSError(f"{length} bytes at {offset} cannot be read")
        return data

    def parse_header(self):
        self.header = self.read(0, min(32, self.length))
        need("H-2", len(self.header) < 8 or self.header[:8] == MAGIC, "not a table")
        need("H-1", self.length >= 80, f"{self.length} bytes are too few for a table")
        fields = struct.unpack("<8sHHHHQII", self.header)
        _, self.major, self.minor, needed, flags, self.positions, self.schema_bytes, crc = fields
        need("H-3", zlib.crc32(self.header[:28]) == crc, "checksum of the header")
        if self.major == 1:
            need("H-6", needed <= self.minor, "the least reader is newer than the file")
        if self.major != 1 or needed > 0:
            raise Unsupported(f"format {self.major}.{self.minor}, needs a reader of {needed}")
        if flags & 0xFF:
            raise Unsupported(f"header flags {flags:#x}")
        need("H-4", self.positions < 2**63, "too many positions")
        need("H-5", 80 + self.schema_bytes <= self.length, "the schema does not fit the file")

    def parse_footer(self):
        self.footer = self.read(self.length - 48, 48)
        fields = struct.unpack("<QQQIIII8s", self.footer)
        file_bytes, self.index_offset, self.index_bytes = fields[:3]
        self.content_crc32, zero, self.crc32, zero2, end = fields[3:]
        need("F-2", end == END_MAGIC, "no end mark: the file is truncated")
        need("F-3", file_bytes == self.length, f"{file_bytes} bytes stated, {self.length} found")
        need("F-4", zero == zero2 == 0, "reserved bytes of the footer are not zero")
        fits = self.index_offset >= 32 + self.schema_bytes
        fits = fits and self.index_offset + self.index_bytes + 48 == self.length
        need("F-5", fits, "the index does not fit the file")

    def parse_schema(self, schema):
        cursor = Cursor(schema, "S-1")
        self.properties = cursor.properties()
        self.numbering, self.numbering_version = cursor.name(), cursor.number(2)
        self.numbering_parameters = cursor.properties()
        self.columns = [Column(cursor) for _ in range(cursor.number(2))]
        cursor.end()
        need("S-5", 1 <= len(self.columns) <= 64, f"{len(self.columns)} columns")
        for column in self.columns:
            column.check(self.positions)
        width = sum(column.width for column in self.columns)
        need("S-8", width <= 65535, f"{width} values in a record")
        names = [column.name for column in self.columns]
        need("S-13", len(set(names)) == len(names), "a column's name twice")
        names = [field.name for column in self.columns for field in column.fields]
        need("S-13", len(set(names)) == len(names), "a field's name twice")
        length_of = NUMBERINGS.get((self.numbering, self.numbering_version))
        if length_of is None:
            raise Unsupported(f"numbering '{self.numbering}' version {self.numbering_version}")
        length = length_of(self.numbering_parameters)
        need("S-14", length == self.positions, f"{length} positions are numbered")
        for column in self.columns:
            if (column.codec, column.codec_version) not in CODECS:
                raise Unsupported(f"codec '{column.codec}' version {column.codec_version}")

    def describe(self, number):
        """What the numbering tells of a record (small.md, section 7)."""
        describe = DESCRIPTIONS.get(self.numbering)
        if describe is None:
            return describe_flat(number)
        points, chequers = (self.numbering_parameters[key] for key in ("points", "chequers"))
        return describe(number, points, chequers)

    def block(self, column, block):
        """The records of a block, as lists of raw values."""
        start, end = column.offset(block), column.offset(block + 1)
        need("I-5", 0 <= start < end <= column.region_bytes, f"no place for block {block}")
        need("B-2", end - start >= 4, f"block {block} is too short")
        longest = 16 * column.width * column.block_positions + 1024
        need("B-8", end - start <= longest, f"block {block} is too long")
        stored = self.read(column.region_offset + start, end - start)
        payload, crc = stored[:-4], int.from_bytes(stored[-4:], "little")
        need("B-1", zlib.crc32(payload) == crc, f"checksum of block {block} of '{column.name}'")
        first, last = column.block_range(block)
        decode = CODECS[column.codec, column.codec_version]
        return decode(column, payload, last - first, first, self.describe)

    def get(self, number):
        """The raw values of a record."""
        record = []
        for column in self.columns:
            if not column.first <= number < column.first + column.count:
                record += column.elsewhere
                continue
            block = column.block_of(number)
            start, _ = column.block_range(block)
            record += self.block(column, block)[number - start]
        return record

    def records(self):
        """All records in number order, each block decoded once."""
        held = [(0, 0, [])] * len(self.columns)
        for number in range(self.positions):
            record = []
            for i, column in enumerate(self.columns):
                if not column.first <= number < column.first + column.count:
                    record += column.elsewhere
                    continue
                start, end, block = held[i]
                if not start <= number < end:
                    start, end = column.block_range(column.block_of(number))
                    block = self.block(column, column.block_of(number))
                    held[i] = start, end, block
                record += block[number - start]
            yield record

    def layout(self):
        return [field for column in self.columns for field in column.layout()]

    def canonical(self, record):
        """A record's canonical form (section 10)."""
        sizes = [value_bytes(field.bits) for field in self.layout()]
        return b"".join(v.to_bytes(n, "little") for v, n in zip(record, sizes))

    def check(self):
        """Reads everything that the constructor did not."""
        crc, layout = 0, self.layout()
        for number, record in enumerate(self.records()):
            for field, raw in zip(layout, record):
                inside = field.allows(raw)
                need("B-7", inside, f"field '{field.name}' of record {number} out of bounds")
            crc = zlib.crc32(self.canonical(record), crc)
        need("F-7", crc == self.content_crc32, "checksum of the content")


# --- The program -------------------------------------------------------------


def info(table):
    print(f"format          {table.major}.{table.minor}")
    print(f"positions       {table.positions}")
    print(f"file_bytes      {table.length}")
    print(f"content_crc32   {table.content_crc32:08x}")
    for key, value in table.properties.items():
        print(f"{key:<15} {value}")
    print(f"numbering       {table.numbering} {table.numbering_version} {table.numbering_parameters}")
    for column in table.columns:
        print(f"column          {column.name}: {column.count} from {column.first}, ", end="")
        print(f"{column.codec} {column.codec_version}, blocks of {column.block_positions}")
        for field in column.fields:
            kind = ("unsigned", "signed", "float")[field.kind]
            print(f"  field         {field.name}: {field.count} x {kind} of {field.bits} bits, ", end="")
            print(f"{field.minimum} to {field.maximum} {field.properties}")


def line(table, number, record):
    values = (field.value(raw) for field, raw in zip(table.layout(), record))
    return f"{number} " + " ".join(str(value) for value in values)


def main(arguments):
    verbs = {"info": 2, "check": 2, "dump": 2, "raw": 2, "get": 3}
    if len(arguments) < 2 or verbs.get(arguments[1]) != len(arguments):
        print(__doc__, file=sys.stderr)
        return 2
    try:
        table, verb = Table(arguments[0]), arguments[1]
        if verb == "info":
            info(table)
        elif verb == "check":
            table.check()
            print(f"sound: {table.positions} positions, content {table.content_crc32:08x}")
        elif verb == "dump":
            for number, record in enumerate(table.records()):
                print(line(table, number, record))
        elif verb == "raw":
            for record in table.records():
                sys.stdout.buffer.write(table.canonical(record))
        else:
            number = int(arguments[2])
            if not 0 <= number < table.positions:
                raise ValueError(f"number {number} of 0 to {table.positions - 1}")
            print(line(table, number, table.get(number)))
    except (Corrupt, OSError) as error:
        print(f"{arguments[0]}: {error}", file=sys.stderr)
        return 1
    except (Unsupported, ImportError) as error:
        print(f"{arguments[0]}: {error}", file=sys.stderr)
        return 3
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
