"""Fits a polynomial to a function: through its values at Chebyshev's points, where the largest error is
within a small factor of the smallest that is possible."""

import struct

from mpmath import cos, mp, mpf, pi

# Bits that the polynomial is right to before its coefficients are rounded: what the format has, and some more.
BITS = {"float": 28, "double": 57}


def interpolate(f, a, b, count):
    """Coefficients in (u - centre) of the polynomial with `count` coefficients through f at Chebyshev's points."""
    centre, half = (a + b) / 2, (b - a) / 2
    angles = [(2 * k + 1) * pi / (2 * count) for k in range(count)]
    values = [f(centre + half * cos(angle)) for angle in angles]
    series = [
        2 * sum(v * cos(j * angle) for v, angle in zip(values, angles)) / count for j in range(count)
    ]
    series[0] /= 2
    # From Chebyshev's polynomials to powers of the scaled argument.
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
    """The same polynomial in u + by."""
    result = list(coefficients)
    for k in range(len(result)):
        for j in range(len(result) - 2, k - 1, -1):
            result[j] += by * result[j + 1]
    return result


def fit(f, a, b, kind, about=None):
    """The shortest polynomial in (u - about) that is right to the format's bits, over a <= u <= b."""
    a, b = mpf(a), mpf(b)
    about = mpf(0) if about is None else mpf(about)
    goal = mpf(2) ** -BITS[kind]
    points = [a + (b - a) * (mpf(k) + mpf("0.37")) / 41 for k in range(41)]
    wanted = [f(u) for u in points]
    low, high = 2, 64
    while low < high:
        count = (low + high) // 2
        found = interpolate(f, a, b, count)
        middle = (a + b) / 2
        worst = max(abs(horner(found, u - middle) / v - 1) for u, v in zip(points, wanted))
        if worst <= goal:
            high = count
        else:
            low = count + 1
    found = interpolate(f, a, b, low)
    return shifted(found, about - (a + b) / 2)


def literal(value, kind):
    """The nearest number of the format, as C++ writes it, with as few digits as give it back."""
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
