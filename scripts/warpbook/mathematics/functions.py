"""The functions to approximate, each transformed to be as smooth as possible on its interval."""

from mpmath import (
    besseli, besselj, bessely, cos, erf, erfc, exp, expm1, findroot, gamma, log, log1p, loggamma,
    mp, mpf, pi, sin, sinh, sqrt, tan, tanh, asin, atan, euler,
)


def even(f, limit):
    """Returns f as a function of its argument's square, with `limit` as the value at 0."""
    return lambda z: limit if z == 0 else f(sqrt(z))


def accurately(f):
    """Returns f computed with three times the digits, because it subtracts nearly equal numbers."""

    def careful(u):
        with mp.workdps(3 * mp.dps):
            return f(mpf(u))

    return careful


def log_tail(s):
    return (log((1 + s) / (1 - s)) - 2 * s) / s**3


def pow_tail(s):
    return (log((1 + s) / (1 - s)) - 2 * s - 2 * s**3 / 3) / s**5


def inverse_erfc(y):
    """Returns the x with erfc(x) = y."""
    if y > mpf("0.1"):
        return findroot(lambda x: erfc(x) - y, (1 - y) * sqrt(pi) / 2)
    guess = sqrt(-log(y * sqrt(pi) * sqrt(-log(y))))
    return findroot(lambda x: log(erfc(x)) - log(y), guess)


def inverse_erf_over(w):
    """Returns erfinv(x) / x for w = -log((1 - x)(1 + x))."""
    x = sqrt(-expm1(-w))
    y = exp(-w) / (1 + x)  # 1 - x
    return inverse_erfc(y) / x


def scaled_erfc(t):
    """Returns (1 + 2x) exp(x²) erfc(x) for t = (x - 4) / (x + 4)."""
    if t == 1:
        return 2 / sqrt(pi)
    x = 4 * (1 + t) / (1 - t)
    return (1 + 2 * x) * exp(x * x) * erfc(x)


def near_one(t):
    return -euler if t == 0 else loggamma(1 + t) / t


def near_two(t):
    return 1 - euler if t == 0 else loggamma(2 + t) / t


def stirling_rest(z):
    if z == 0:
        return mpf(1) / 12
    x = 1 / sqrt(z)
    return (loggamma(x) - ((x - 0.5) * (log(x) - 1) + (log(2 * pi) - 1) / 2)) * x


def stirling_factor(u):
    if u == 0:
        return mpf(1)
    x = 1 / u
    return exp(loggamma(x) - (x - 0.5) * log(x) + x) / sqrt(2 * pi)


def cylinder(kind, order):
    """Returns the Bessel function J or Y of an order."""
    return lambda x: (besselj if kind == "j" else bessely)(order, x)


# Approximate zeros of the Bessel functions below 10.
ZEROS = {
    ("j", 0): [2.4, 5.5, 8.7],
    ("j", 1): [3.8, 7.0],
    ("y", 0): [0.9, 4.0, 7.1],
    ("y", 1): [2.2, 5.4, 8.6],
}


def zero(kind, order, k):
    return findroot(cylinder(kind, order), ZEROS[kind, order][k])


def around_zero(kind, order, k):
    """Returns the function divided by the distance from its zero, as a function of that distance."""
    root = zero(kind, order, k)
    f = cylinder(kind, order)
    return lambda t: f(root + t) / t


def y0_rest(x):
    return bessely(0, x) - 2 / pi * log(x) * besselj(0, x)


def y1_rest(x):
    return (bessely(1, x) - 2 / pi * (log(x) * besselj(1, x) - 1 / x)) / x


def wave(order, part):
    """Returns P, or Q times x, of the asymptotic expansion J = sqrt(2/(πx)) (P cos χ - Q sin χ) with
    χ = x - π/4 - order π/2, as a function of 64/x²."""

    def f(u):
        if u == 0:
            return mpf(1) if part == "p" else mpf(4 * order**2 - 1) / 8
        x = 8 / sqrt(u)
        chi = x - pi / 4 - order * pi / 2
        size = sqrt(pi * x / 2)
        j, y = besselj(order, x), bessely(order, x)
        if part == "p":
            return size * (j * cos(chi) + y * sin(chi))
        return size * (y * cos(chi) - j * sin(chi)) * x

    return f


def growing(order):
    """Returns the Bessel function I divided by its growth, exp(x)/sqrt(x), as a function of 8/x."""

    def f(u):
        if u == 0:
            return 1 / sqrt(2 * pi)
        x = 8 / u
        return besseli(order, x) * exp(-x) * sqrt(x)

    return f


def bessel(kind, order, name):
    """Returns the pieces of J or Y below 8, each as name, function, start, end and expansion point."""
    pieces = []
    if kind == "j" and order == 0:
        pieces.append((f"{name}_start", even(lambda x: besselj(0, x), mpf(1)), 0, mpf("2.89"), None))
    elif kind == "j":
        pieces.append((f"{name}_start", even(lambda x: besselj(1, x) / x, mpf(1) / 2), 0, mpf("5.29"), None))
    elif order == 0:
        limit = 2 / pi * (euler - log(2))
        pieces.append((f"{name}_start", even(y0_rest, limit), 0, mpf("0.36"), None))
    else:
        limit = (2 * euler - 1 - 2 * log(2)) / (2 * pi)
        pieces.append((f"{name}_start", even(y1_rest, limit), 0, mpf("1.44"), None))
    for index, (start, end, which) in enumerate(PIECES[kind, order]):
        root = zero(kind, order, which)
        about = round(float((mpf(start) + mpf(end)) / 2 - root), 1)
        pieces.append((f"{name}_{index}", around_zero(kind, order, which), mpf(start) - root, mpf(end) - root, about))
    return pieces


# Start and end of each piece, and the index of the zero around which it is expanded.
PIECES = {
    ("j", 0): [("1.7", "4", 0), ("4", "7.1", 1), ("7.1", "8", 2)],
    ("j", 1): [("2.3", "5.4", 0), ("5.4", "8", 1)],
    ("y", 0): [("0.6", "1.2", 0), ("1.2", "2.4", 0), ("2.4", "5.5", 1), ("5.5", "8", 2)],
    ("y", 1): [("1.2", "2.6", 0), ("2.6", "4", 0), ("4", "7", 1), ("7", "8", 2)],
}


def families():
    """Returns each file's polynomials: name, description, function, start, end and expansion point."""
    half_log2 = log(2) / 2 + mpf("0.001")
    eighth = (pi / 4 + mpf("0.001")) ** 2
    return {
        "exp": [
            ("exp_tail", "(exp(r) - 1 - r) / r²", accurately(lambda r: (exp(r) - 1 - r) / r**2), -half_log2, half_log2, None),
            ("expm1_tail", "(exp(x) - 1 - x) / x²", accurately(lambda x: (exp(x) - 1 - x) / x**2), -mpf("0.501"), mpf("0.501"), None),
            ("sinh_tail", "(sinh(x) - x) / x³, of x²", even(accurately(lambda x: (sinh(x) - x) / x**3), mpf(1) / 6), 0, 1, None),
            ("tanh_tail", "(tanh(x) - x) / x³, of x²", even(accurately(lambda x: (tanh(x) - x) / x**3), -mpf(1) / 3), 0, mpf("0.36"), None),
        ],
        "log": [
            ("log_tail", "(log((1 + s) / (1 - s)) - 2s) / s³, of s²", even(accurately(log_tail), mpf(2) / 3), 0, mpf("0.0415"), None),
            ("pow_tail", "(log((1 + s) / (1 - s)) - 2s - 2/3 s³) / s⁵, of s²", even(accurately(pow_tail), mpf(2) / 5), 0, mpf("0.0415"), None),
            ("log1p_tail", "(log(1 + f) - f) / f²", accurately(lambda f: (log1p(f) - f) / f**2), -mpf("0.3334"), mpf("0.3334"), None),
        ],
        "trigonometric": [
            ("sin_tail", "(sin(r) - r) / r³, of r²", even(accurately(lambda x: (sin(x) - x) / x**3), -mpf(1) / 6), 0, eighth, None),
            ("cos_tail", "(cos(r) - 1 + r²/2) / r⁴, of r²", even(accurately(lambda x: (cos(x) - 1 + x * x / 2) / x**4), mpf(1) / 24), 0, eighth, None),
            ("tan_tail", "(tan(r) - r) / r³, of r²", even(accurately(lambda x: (tan(x) - x) / x**3), mpf(1) / 3), 0, eighth, None),
            ("sinpi_tail", "(sin(πr) - πr) / r³, of r²", even(accurately(lambda x: (sin(pi * x) - pi * x) / x**3), -(pi**3) / 6), 0, mpf(1) / 16, None),
            ("cospi_tail", "(cos(πr) - 1) / r², of r²", even(accurately(lambda x: (cos(pi * x) - 1) / x**2), -(pi**2) / 2), 0, mpf(1) / 16, None),
            ("asin_tail", "(asin(x) - x) / x³, of x²", even(accurately(lambda x: (asin(x) - x) / x**3), mpf(1) / 6), 0, mpf("0.2501"), None),
            ("atan_tail", "(atan(x) - x) / x³, of x²", even(accurately(lambda x: (atan(x) - x) / x**3), -mpf(1) / 3), 0, 1, None),
        ],
        "error": [
            ("erf_start", "erf(x) / x - 1, of x²", even(lambda x: erf(x) / x - 1, 2 / sqrt(pi) - 1), 0, 1, None),
            ("erfcx_all", "(1 + 2x) exp(x²) erfc(x), of (x - 4) / (x + 4)", scaled_erfc, -1, 1, None),
            ("erfinv_start", "erfinv(x) / x, of x²", even(lambda x: inverse_erfc(1 - x) / x, sqrt(pi) / 2), 0, mpf("0.4"), None),
            ("erfinv_inner", "erfinv(x) / x, of w = -log(1 - x²)", inverse_erf_over, mpf("0.49"), mpf("2.6"), 1.5),
            ("erfinv_middle", "erfinv(x) / x, of the same", inverse_erf_over, mpf("2.4"), mpf("6.25"), 4.25),
            ("erfinv_outer", "erfinv(x) / x, of sqrt(w)", lambda s: inverse_erf_over(s * s), mpf("2.5"), 4, 3),
            ("erfinv_far", "erfinv(x) / x / sqrt(w), of 1 / sqrt(w)", lambda r: inverse_erf_over(1 / r**2) * r, FAR, mpf("0.25"), 0.125),
        ],
        "gamma": [
            ("lgamma_one", "lgamma(1 + t) / t", near_one, -mpf("0.3"), mpf("0.7"), 0.25),
            ("lgamma_two", "lgamma(2 + t) / t", near_two, -mpf("0.3"), mpf("0.75"), 0.25),
            ("lgamma_three", "lgamma(x), of x - 3.625", lambda t: loggamma(t + 3.625), -mpf("0.875"), mpf("0.875"), None),
            ("lgamma_six", "lgamma(x), of x - 6.25", lambda t: loggamma(t + 6.25), -mpf("1.75"), mpf("1.75"), None),
            ("lgamma_stirling", "what Stirling's series adds to lgamma(x), times x, of 1/x²", accurately(stirling_rest), 0, mpf(1) / 64, None),
            ("gamma_two", "gamma(2 + t)", lambda t: gamma(2 + t), -mpf("0.5"), mpf("0.5"), None),
            ("gamma_stirling", "gamma(x) / (sqrt(2π) x^(x - 1/2) exp(-x)), of 1/x", stirling_factor, 0, mpf(1) / 6, None),
        ],
        "bessel_j": [
            (name, "see bessel.h", f, a, b, about)
            for order in (0, 1)
            for name, f, a, b, about in bessel("j", order, f"j{order}")
        ],
        "bessel_y": [
            (name, "see bessel.h", f, a, b, about)
            for order in (0, 1)
            for name, f, a, b, about in bessel("y", order, f"y{order}")
        ],
        "bessel_far": [
            (f"wave{order}_{part}", "far from 0, of 64/x²", wave(order, part), 0, 1, None)
            for order in (0, 1)
            for part in ("p", "q")
        ]
        + [
            ("i0_start", "I0(x), of x²", even(lambda x: besseli(0, x), mpf(1)), 0, 64, None),
            ("i1_start", "I1(x) / x, of x²", even(lambda x: besseli(1, x) / x, mpf(1) / 2), 0, 64, None),
            ("i0_far", "I0(x) sqrt(x) / exp(x), of 8/x", growing(0), 0, 1, 0.5),
            ("i1_far", "I1(x) sqrt(x) / exp(x), of 8/x", growing(1), 0, 1, 0.5),
        ],
    }


# 1/sqrt(w) for the smallest positive double.
FAR = mpf("0.0366")
