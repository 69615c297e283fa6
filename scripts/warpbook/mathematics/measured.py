"""The functions to test, with their domains and exact values. Special cases follow the CUDA Math API."""

import math
from dataclasses import dataclass, field
from typing import Callable

import mpmath as m
from mpmath import inf, mp, mpf, nan

from .functions import inverse_erfc

# Also needed for the constants below.
mp.dps = 60


@dataclass
class Function:
    name: str
    of: Callable
    # Start and end of each argument's range; integer arguments if both are integers.
    ranges: list
    # The value for special arguments; a function that returns None for ordinary ones.
    special: Callable = None
    extra: list = field(default_factory=list)
    # The largest magnitude of the special arguments in the test values.
    limit: float = math.inf

    @property
    def arity(self):
        return len(self.ranges[0])

    @property
    def has_integers(self):
        return any(isinstance(end, int) for r in self.ranges[0] for end in r)

    def at(self, *x):
        if self.special is not None:
            value = self.special(*x)
            if value is not None:
                return value
        if any(map(math.isnan, x)):
            return math.nan
        return self.of(*map(mpf, x))


def cases(at_zero=None, at_inf=None, at_minus_inf=None, domain=None, ends=None):
    """Returns the special cases of a function of one argument. `at_zero` "same" means the argument itself."""

    def special(x):
        if math.isnan(x):
            return math.nan
        if x == 0 and at_zero is not None:
            return x if at_zero == "same" else math.copysign(math.inf, x) if at_zero == "signed" else at_zero
        if ends and x in ends:
            return ends[x]
        if x == math.inf:
            return math.nan if at_inf is None else at_inf
        if x == -math.inf:
            return math.nan if at_minus_inf is None else at_minus_inf
        if domain and not domain[0] <= x <= domain[1]:
            return math.nan
        return None

    return special


INF, BIG, TINY = math.inf, 1.7e308, 1e-320
ALL = (-BIG, BIG)
UP = (TINY, BIG)


def log2(x):
    return m.log(x) / m.log(2)


def erf(x):
    return m.sign(x) if abs(x) > 100 else m.erf(x)


def erfc(x):
    if abs(x) > 100:
        return mpf(0) if x > 0 else mpf(2)
    return m.erfc(x)


def phi(x):
    return erfc(-x / m.sqrt(2)) / 2


def erfcx(x):
    if x > 1000:
        with mp.workdps(80):
            # The asymptotic series, which needs few terms here.
            z = 1 / (2 * x * x)
            return (1 - z + 3 * z**2 - 15 * z**3 + 105 * z**4 - 945 * z**5 + 10395 * z**6) / (x * m.sqrt(m.pi))
    if x < -30:
        return inf
    return m.exp(x * x) * m.erfc(x)


def erfinv(x):
    with mp.workdps(90):
        # Near 1, use the complement, which is exact for the argument.
        a = abs(x)
        value = inverse_erfc(1 - a) if a > mpf("0.9") else m.erfinv(a)
        return value if x > 0 else -value


def erfcinv(y):
    with mp.workdps(90):
        if y > 1:
            return -erfcinv(2 - y)
        return mpf(0) if y == 1 else inverse_erfc(y)


def gamma(x):
    if x > 200:
        return inf
    if x < -200:
        return mpf(0) if m.floor(x) % 2 == 0 else -mpf(10) ** -400
    return m.gamma(x)


def log_gamma(x):
    with mp.workdps(90):
        if x > 0:
            return m.loggamma(x)
        return m.log(m.pi / abs(x * m.sinpi(x))) - m.loggamma(-x)


def cylinder(f):
    def of(order, x=None):
        order, x = (f[1], order) if x is None else (int(order), x)
        with mp.workdps(80):
            return (m.besselj if f[0] == "j" else m.bessely)(order, x)

    return of


def bessel_i(order):
    return lambda x: (inf if x > 800 or (order == 0 and x < -800) else -inf) if abs(x) > 800 else m.besseli(order, x)


def power_special(x, y):
    try:
        if y == 0 or x == 1:
            return 1.0
        if math.isnan(x) or math.isnan(y):
            return math.nan
        if x == 0 or math.isinf(x) or math.isinf(y):
            odd = not math.isinf(y) and y == math.floor(y) and abs(y) < 2**53 and int(y) % 2 == 1
            if x == 0 and y < 0:
                return math.copysign(math.inf, x) if odd else math.inf
            return math.pow(x, y)
        if x < 0 and y != math.floor(y):
            return math.nan
    except OverflowError:
        pass
    return None


def power(x, y):
    sign = -1 if x < 0 and y % 2 == 1 else 1
    exponent = y * m.log(abs(x))
    if abs(exponent) > 800:
        return sign * (inf if exponent > 0 else mpf(10) ** -400)
    return sign * m.exp(exponent)


def exp(base_log):
    def of(x):
        if abs(x * base_log) > 800:
            return inf if x > 0 else mpf(0)
        return m.exp(x * base_log)

    return of


def length(inverse):
    def of(*x):
        if any(map(math.isinf, x)):
            return 0.0 if inverse else INF
        if any(map(math.isnan, x)):
            return math.nan
        squares = sum(mpf(v) ** 2 for v in x)
        if squares == 0:
            return INF if inverse else 0.0
        return 1 / m.sqrt(squares) if inverse else m.sqrt(squares)

    return of


def lengths(name, count):
    near, far = [(-9.0, 9.0)] * count, [ALL] * count
    # Also arguments so large that their squares overflow and so small that they underflow.
    small = [(-1e-300, 1e-300)] * count
    return [
        Function(name.format(""), None, [near, far, small], length(False)),
        Function(name.format("r"), None, [near, far, small], length(True)),
    ]


def clipped_hyperbolic(f, odd):
    def of(x):
        if abs(x) > 800:
            return -inf if odd and x < 0 else inf
        return f(x)

    return of


def turns(f):
    def special(x):
        if math.isnan(x) or math.isinf(x):
            return math.nan
        if f is m.sinpi and x == math.floor(x):
            return math.copysign(0.0, x)
        if f is m.cospi and x + 0.5 == math.floor(x + 0.5) and abs(x) < 2**52:
            return 0.0
        return None

    return special


def first_cases(order):
    return cases(at_zero=1.0 if order == 0 else "same", at_inf=0.0, at_minus_inf=0.0)


SECOND = cases(at_zero=-INF, at_inf=0.0, domain=(0, INF))
LOG = cases(at_zero=-INF, at_inf=INF, domain=(0, INF))


def atan2(y, x):
    return math.atan2(y, x) if 0 in (x, y) or math.isinf(x) or math.isinf(y) else None


HALF_PI_NEAR = [(k * math.pi / 2,) for k in (1, 2, 3, 7, 100, 10**6, 10**9 + 1, 2**40 + 1)] + [
    (6381956970095103.0 * 2.0**797,), (1e22,), (2.0**1023,)]

FUNCTIONS = [
    Function("exp", exp(1), [[(-745.0, 710.0)], [(-1.0, 1.0)], [(-30.0, 30.0)]], cases(1.0, INF, 0.0), [(709.78,), (-745.1,), (-720.5,)]),
    Function("exp2", exp(m.log(2)), [[(-1075.0, 1024.0)], [(-1.0, 1.0)]], cases(1.0, INF, 0.0), [(-1074.5,), (1023.99,), (10.0,), (-1060.3,)]),
    Function("exp10", exp(m.log(10)), [[(-324.0, 308.3)], [(-1.0, 1.0)]], cases(1.0, INF, 0.0), [(3.0,), (22.0,), (-320.4,)]),
    Function("expm1", lambda x: inf if x > 800 else mpf(-1) if x < -800 else m.expm1(x), [[(-40.0, 710.0)], [(-1.0, 1.0)], [(-3.0, 3.0)]], cases("same", INF, -1.0)),
    Function("log", m.log, [[UP], [(0.5, 2.0)], [(0.99, 1.01)]], LOG),
    Function("log2", log2, [[UP], [(0.5, 2.0)], [(0.99, 1.01)]], LOG, [(2.0**k,) for k in (-1074, -1, 3, 1023)]),
    Function("log10", lambda x: m.log(x) / m.log(10), [[UP], [(0.5, 2.0)], [(0.99, 1.01)]], LOG, [(10.0**k,) for k in (2, 15, 22)]),
    Function("log1p", lambda x: m.log1p(x), [[(TINY, BIG)], [(-0.999, 3.0)], [(-0.5, 1.0)]], cases("same", INF, None, (-1, INF), {-1.0: -INF})),
    Function("sinh", clipped_hyperbolic(m.sinh, True), [[(-711.0, 711.0)], [(-2.0, 2.0)]], cases("same", INF, -INF), [(710.4,)]),
    Function("cosh", clipped_hyperbolic(m.cosh, False), [[(-711.0, 711.0)], [(-2.0, 2.0)]], cases(1.0, INF, INF), [(710.4,)]),
    Function("tanh", lambda x: m.sign(x) if abs(x) > 100 else m.tanh(x), [[(-23.0, 23.0)], [(-2.0, 2.0)]], cases("same", 1.0, -1.0)),
    Function("asinh", m.asinh, [[ALL], [(-3.0, 3.0)]], cases("same", INF, -INF)),
    Function("acosh", m.acosh, [[(1.0, BIG)], [(1.0, 3.0)]], cases(None, INF, None, (1, INF))),
    Function("atanh", m.atanh, [[(-1.0, 1.0)]], cases("same", None, None, (-1, 1), {1.0: INF, -1.0: -INF})),
    Function("sqrt", m.sqrt, [[UP]], cases("same", INF, None, (0, INF))),
    Function("rsqrt", lambda x: 1 / m.sqrt(x), [[UP], [(0.5, 4.0)]], cases("signed", 0.0, None, (0, INF))),
    Function("cbrt", lambda x: m.cbrt(x) if x > 0 else -m.cbrt(-x), [[ALL], [(1.0, 8.0)]], cases("same", INF, -INF)),
    Function("rcbrt", lambda x: 1 / (m.cbrt(x) if x > 0 else -m.cbrt(-x)), [[ALL], [(1.0, 8.0)]], cases("signed", 0.0, -0.0)),
    Function("pow", power, [[(0.0, 10.0), (-300.0, 300.0)], [UP, (-20.0, 20.0)], [(0.9, 1.1), (-7000.0, 7000.0)], [(-9.0, 9.0), (-40, 40)], [(0.999999, 1.000001), (-6e8, 6e8)]], power_special),
    *lengths("{}hypot", 2), *lengths("{}norm3d", 3), *lengths("{}norm4d", 4),
    Function("sin", m.sin, [[(-7.0, 7.0)], [ALL], [(-1e6, 1e6)]], cases("same"), HALF_PI_NEAR),
    Function("cos", m.cos, [[(-7.0, 7.0)], [ALL], [(-1e6, 1e6)]], cases(1.0), HALF_PI_NEAR),
    Function("tan", m.tan, [[(-7.0, 7.0)], [ALL], [(-1e6, 1e6)]], cases("same"), HALF_PI_NEAR),
    Function("sinpi", m.sinpi, [[(-2.0, 2.0)], [(-1e6, 1e6)]], turns(m.sinpi), [(0.25,), (2.0**52 + 1,), (1e300,), (-1.5,)]),
    Function("cospi", m.cospi, [[(-2.0, 2.0)], [(-1e6, 1e6)]], turns(m.cospi), [(0.25,), (2.0**52 + 1,), (1e300,), (-1.5,)]),
    Function("asin", m.asin, [[(-1.0, 1.0)]], cases("same", None, None, (-1, 1))),
    Function("acos", m.acos, [[(-1.0, 1.0)]], cases(None, None, None, (-1, 1), {1.0: 0.0})),
    Function("atan", m.atan, [[ALL], [(-3.0, 3.0)]], cases("same", math.pi / 2, -math.pi / 2)),
    Function("atan2", m.atan2, [[(-9.0, 9.0), (-9.0, 9.0)], [ALL, ALL]], atan2),
    Function("erf", erf, [[(-6.5, 6.5)], [(-1.0, 1.0)]], cases("same", 1.0, -1.0)),
    Function("erfc", erfc, [[(-6.0, 27.3)], [(-2.0, 3.0)]], cases(1.0, 0.0, 2.0), [(26.6,), (27.2,)]),
    Function("erfcx", erfcx, [[(-26.0, 10.0)], [(0.0, 3.0)], [(1.0, 1e30)]], cases(1.0, 0.0, INF)),
    Function("erfinv", erfinv, [[(-1.0, 1.0)], [(0.99, 0.9999999999999999)]], cases("same", None, None, (-1, 1), {1.0: INF, -1.0: -INF}), [(1 - 2.0**-k,) for k in range(2, 54, 3)]),
    Function("erfcinv", erfcinv, [[(TINY, 2.0)], [(1e-300, 1e-10)], [(0.5, 1.5)]], cases(INF, None, None, (0, 2), {2.0: -INF, 1.0: 0.0})),
    Function("normcdf", phi, [[(-38.4, 9.0)], [(-3.0, 3.0)]], cases(None, 1.0, 0.0), [(-37.7,), (-38.3,)]),
    Function("normcdfinv", lambda y: -m.sqrt(2) * erfcinv(2 * y), [[(TINY, 1.0)], [(1e-300, 1e-10)], [(0.3, 0.7)]], cases(-INF, None, None, (0, 1), {1.0: INF, 0.5: 0.0})),
    Function("lgamma", log_gamma, [[(TINY, 20.0)], [(0.5, 3.0)], [(1.0, 1e300)], [(-2.2, -0.0001)]], cases(INF, INF, INF, None, {-1.0: INF, 1.0: 0.0, 2.0: 0.0, -1.7976931348623157e308: INF})),
    Function("tgamma", gamma, [[(0.0, 172.0)], [(-9.0, 9.0)], [(-185.0, -9.0)]], cases("signed", INF, None, None, {-1.0: nan, -2.0: nan, -1.7976931348623157e308: nan})),
    *(Function(f"{k}{n}", cylinder((k, n)), [[(0.0, 8.0)], [(1e-9, 8.0)]], first_cases(n) if k == "j" else SECOND, NEAR, 8.0)
      for k, n, NEAR in (
          ("j", 0, [(2.404825557695773,), (5.520078110286311,), (2.5,), (-3.0,)]),
          ("j", 1, [(3.8317059702075125,), (7.015586669815619,), (2.5,), (-3.0,)]),
          ("y", 0, [(0.8935769662791675,), (3.957678419314858,), (7.086051060301773,)]),
          ("y", 1, [(2.197141326031017,), (5.429681040794135,), (2.5,)]),
      )),
    *(Function(f"{k}{n}_far", cylinder((k, n)), [[(8.0, 100.0)], [(8.0, 1e6)]], limit=0.0) for k in "jy" for n in (0, 1)),
    Function("cyl_bessel_i0", bessel_i(0), [[(-712.0, 712.0)], [(-9.0, 9.0)]], cases(1.0, INF, INF)),
    Function("cyl_bessel_i1", bessel_i(1), [[(-712.0, 712.0)], [(-9.0, 9.0)]], cases("same", INF, -INF)),
    Function("jn", cylinder(("j", None)), [[(2, 128), (0.1, 300.0)], [(2, 12), (0.1, 30.0)], [(128, 128), (1.0, 1000.0)]]),
    Function("yn", cylinder(("y", None)), [[(2, 50), (80.0, 300.0)], [(2, 12), (20.0, 40.0)]]),
]
for function in FUNCTIONS:
    if function.of is None:
        function.of = length(function.name.startswith("r"))
