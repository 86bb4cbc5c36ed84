"""CityHash64 of version 1.0. CatBoost identifies categories by its lower 32 bits."""

from __future__ import annotations

_MASK = (1 << 64) - 1
_K0, _K1, _K2, _K3 = 0xC3A5C85C97CB3127, 0xB492B66FBE98F273, 0x9AE16A3B2F90404F, 0xC949D7C7509E6557
_K_PAIR = 0x9DDFEA08EB382D69


def category_hash(text: bytes) -> int:
    """Return the lower 32 bits of the hash as a signed number, the form in CatBoost's exports.

    Examples
    --------
    >>> category_hash(b"a"), category_hash(b"1")
    (-805065478, 1121341681)
    """
    low = _hash(text) & 0xFFFFFFFF
    return low - (1 << 32) if low >> 31 else low


def _hash(s: bytes) -> int:
    if len(s) <= 16:
        return _up_to_16(s)
    if len(s) <= 32:
        return _up_to_32(s)
    return _up_to_64(s) if len(s) <= 64 else _long(s)


def _read(s: bytes, at: int, count: int = 8) -> int:
    return int.from_bytes(s[at : at + count], "little")


def _rotate(v: int, shift: int) -> int:
    v &= _MASK
    return (v >> shift | v << (64 - shift)) & _MASK


def _mix(v: int) -> int:
    v &= _MASK
    return v ^ (v >> 47)


def _pair(u: int, v: int) -> int:
    a = _mix((u ^ v) * _K_PAIR)
    return _mix((v ^ a) * _K_PAIR) * _K_PAIR & _MASK


def _up_to_16(s: bytes) -> int:
    n = len(s)
    if n > 8:
        a, b = _read(s, 0), _read(s, n - 8)
        return _pair(a, _rotate(b + n, n)) ^ b
    if n >= 4:
        return _pair(n + (_read(s, 0, 4) << 3), _read(s, n - 4, 4))
    if n > 0:
        y, z = s[0] + (s[n >> 1] << 8), n + (s[n - 1] << 2)
        return _mix(y * _K2 ^ z * _K3) * _K2 & _MASK
    return _K2


def _up_to_32(s: bytes) -> int:
    n = len(s)
    a, b, c, d = _read(s, 0) * _K1, _read(s, 8), _read(s, n - 8) * _K2, _read(s, n - 16) * _K0
    first = _rotate(a - b, 43) + _rotate(c, 30) + d
    return _pair(first & _MASK, (a + _rotate(b ^ _K3, 20) - c + n) & _MASK)


def _half(s: bytes, start: int, a: int, z: int) -> tuple[int, int]:
    """Return two hashes of 32 bytes from `start`; `a` and `z` are functions of the first and the last eight bytes."""
    b, c = _rotate(a + z, 52), _rotate(a, 37)
    a += _read(s, start + 8)
    c += _rotate(a, 7)
    a += _read(s, start + 16)
    return a + z, b + _rotate(a, 31) + c


def _up_to_64(s: bytes) -> int:
    n = len(s)
    v, w = _half(s, 0, _read(s, 0) + (n + _read(s, n - 16)) * _K0, _read(s, 24))
    x, y = _half(s, n - 32, _read(s, 16) + _read(s, n - 32), _read(s, n - 8))
    return _mix(_mix((v + y) * _K2 + (x + w) * _K0) * _K0 + w) * _K2 & _MASK


def _seeded(s: bytes, at: int, a: int, b: int) -> tuple[int, int]:
    """Return two hashes of 32 bytes with two seeds."""
    w, x, y, z = (_read(s, at + 8 * k) for k in range(4))
    a += w
    b = _rotate(b + a + z, 21)
    c = a
    a += x + y
    return (a + z) & _MASK, (b + _rotate(a, 44) + c) & _MASK


def _long(s: bytes) -> int:
    n = len(s)
    x, y, z = _read(s, 0), _read(s, n - 16) ^ _K1, _read(s, n - 56) ^ _K0
    v, w = _seeded(s, n - 64, n, y), _seeded(s, n - 32, n * _K1, _K0)
    z = (z + _mix(v[1]) * _K1) & _MASK
    x, y = _rotate(z + x, 39) * _K1, _rotate(y, 33) * _K1
    for at in range(0, (n - 1) & ~63, 64):
        x = _rotate(x + y + v[0] + _read(s, at + 16), 37) * _K1 & _MASK ^ w[1]
        y = _rotate(y + v[1] + _read(s, at + 48), 42) * _K1 & _MASK ^ v[0]
        z = _rotate(z ^ w[0], 33)
        v, w = _seeded(s, at, v[1] * _K1, x + w[0]), _seeded(s, at + 32, z + w[1], y)
        x, z = z, x
    return _pair((_pair(v[0], w[0]) + _mix(y) * _K1 + z) & _MASK, (_pair(v[1], w[1]) + x) & _MASK)
