"""Polynomial approximation by interpolation at Chebyshev nodes, where the maximum error is within a small factor
of the minimum."""

import struct

from mpmath import cos, mp, mpf, pi

# Accuracy of a polynomial in bits before its coefficients are rounded: the format's precision and a few more.
BITS = {"float": 28, "double": 57}


def interpolate(f, a, b, count):
    """Returns `count` coefficients in (u - centre) of the polynomial that interpolates f at Chebyshev nodes."""
    centre, half = (a + b) / 2, (b - a) / 2
    angles = [(2 * k + 1) * pi / (2 * count) for k in range(count)]
    values = [f(centre + half * cos(angle)) for angle in angles]
    series = [
        2 * sum(v * cos(j * angle) for v, angle in zip(values, angles)) / count for j in range(count)
    ]
    series[0] /= 2
    # Convert from Chebyshev polynomials to powers of the scaled argument.
    before, now = [mpf(1)], [mpf(0), mpf(1)]
    powers = [mpf(0)] * count
    for j, weight in enumerate(series):
        basis = before if j == 0 else now
        for k, c in enumerate(basis):
            powers[k] += weight * c
        if j > 0:
            following = [mpf(0)] + [2 * c for c in now]
            for k, c in enumerate(before):
                following[k] -= c
            before, now = now, following
    return [c / half**k for k, c in enumerate(powers)]


def horner(coefficients, x):
    result = mpf(0)
    for c in reversed(coefficients):
        result = result * x + c
    return result


def shifted(coefficients, by):
    """Returns the coefficients of the same polynomial in u + by."""
    result = list(coefficients)
    for k in range(len(result)):
        for j in range(len(result) - 2, k - 1, -1):
            result[j] += by * result[j + 1]
    return result


def fit(f, a, b, kind, about=None):
    """Returns the shortest polynomial in (u - about) that is accurate to the format's bits on a <= u <= b."""
    a, b = mpf(a), mpf(b)
    about = mpf(0) if about is None else mpf(about)
    goal = mpf(2) ** -BITS[kind]
    points = [a + (b - a) * (mpf(k) + mpf("0.37")) / 41 for k in range(41)]
    expected = [f(u) for u in points]
    low, high = 2, 64
    while low < high:
        count = (low + high) // 2
        candidate = interpolate(f, a, b, count)
        middle = (a + b) / 2
        worst = max(abs(horner(candidate, u - middle) / v - 1) for u, v in zip(points, expected))
        if worst <= goal:
            high = count
        else:
            low = count + 1
    best = interpolate(f, a, b, low)
    return shifted(best, about - (a + b) / 2)


def literal(value, kind):
    """Returns the nearest number of the format as a C++ literal with the fewest digits that round-trip."""
    nearest = float(value)
    if kind == "double":
        return repr(nearest)
    single = struct.unpack("f", struct.pack("f", nearest))[0]
    for digits in range(1, 10):
        text = f"{single:.{digits}g}"
        if struct.unpack("f", struct.pack("f", float(text)))[0] == single:
            break
    return text + ("f" if "." in text or "e" in text else ".0f")


mp.dps = 50
