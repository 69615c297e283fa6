//! Accesses outside what was allocated, and such as are not aligned.
//!
//! Sizes are such that what follows an allocation is not the next one: allocations start at
//! multiples of 256 or 512 bytes, and most of these end before one.

use super::same;
use crate::plan::{Plan, floats, launch, list, room};

pub fn cases() -> Vec<(&'static str, Plan, Plan)> {
    // The notes' vectors: 100 floats by 4 blocks of 32.
    let vectors = |input, output, n: i32| launch(4, 32, [input, output, n.into()]);
    let symbol = launch(4, 32, [room(400).into(), 100.into()]);
    let data = |buffer| launch(4, 32, [buffer, 1.5_f32.into(), 100.into()]);
    let out = |bytes| launch(4, 32, [room(bytes).into(), 100.into()]);
    let input = || floats(100).into();
    let output = || room(400).into();

    vec![
        same(
            "no-bounds-check",
            launch(4, 32, [input(), input(), output(), 100.into()]),
        ),
        same("less-or-equal", vectors(input(), output(), 100)),
        same("halo-left", launch(2, 64, [input(), output(), 100.into()])),
        same("halo-right", vectors(input(), output(), 100)),
        same(
            "pitch-and-width",
            launch(
                1,
                32,
                [
                    floats(4 * 256).into(),
                    1024_u64.into(),
                    132_u64.into(),
                    4_u64.into(),
                    room(16).into(),
                ],
            ),
        ),
        same(
            "pitch-in-elements",
            launch(
                (13, 1),
                (8, 4),
                [room(4 * 512).into(), 512_u64.into(), 100.into(), 4.into()],
            ),
        ),
        same(
            "height-for-width",
            launch(
                (3, 5),
                (8, 8),
                [
                    floats(24 * 40).into(),
                    room(24 * 40 * 4).into(),
                    24.into(),
                    40.into(),
                ],
            ),
        ),
        same(
            "rows-and-columns",
            launch(
                (5, 5),
                (8, 8),
                [
                    floats(40 * 15).into(),
                    floats(15 * 24).into(),
                    room(40 * 24 * 4).into(),
                    40.into(),
                    24.into(),
                    15.into(),
                ],
            ),
        ),
        same(
            "ragged-tile",
            launch(
                (2, 2),
                (16, 16),
                [
                    floats(400).into(),
                    floats(400).into(),
                    room(1600).into(),
                    20.into(),
                ],
            ),
        ),
        same(
            "slice-pitch",
            launch(
                6,
                (32, 2),
                [
                    room(6 * 2 * 512).into(),
                    512_u64.into(),
                    24.into(),
                    2.into(),
                    6.into(),
                ],
            ),
        ),
        same(
            "int-overflow",
            launch(
                2,
                64,
                [
                    floats(100).into(),
                    (1_u64 << 31).into(),
                    ((1_u64 << 31) + 100).into(),
                    (1_i32 << 25).into(),
                ],
            ),
        ),
        same(
            "negative-remainder",
            launch(4, 32, [input(), output(), 100.into(), 3.into()]),
        ),
        same("unsigned-wrap", vectors(input(), output(), 100)),
        same(
            "misaligned-float4",
            vectors(floats(129).into(), room(128).into(), 32),
        ),
        same(
            "misaligned-record",
            vectors(floats(96).into(), room(256).into(), 32),
        ),
        same(
            "struct-stride",
            launch(4, 32, [floats(700).into(), 100.into(), output()]),
        ),
        same(
            "shared-overrun",
            launch(1, 256, [floats(258).into(), room(1032).into()]),
        ),
        same(
            "local-overrun",
            launch(
                7,
                32,
                [floats(200).into(), room(800).into(), 200.into(), 60.into()],
            ),
        ),
        same(
            "deep-recursion",
            launch(1, 1, [list(20_000).into(), room(4).into()]),
        ),
        same(
            "constant-overrun",
            launch(4, 32, [input(), output(), 100.into(), 5.into()]),
        ),
        (
            "dynamic-shared-forgotten",
            launch(2, 64, [floats(128).into()]),
            launch(2, 64, [floats(128).into()]).shared(256),
        ),
        (
            "stale-symbol",
            symbol.clone().symbol("table", floats(100).freed()),
            symbol.symbol("table", floats(100)),
        ),
        (
            "use-after-free",
            data(floats(100).freed().into()),
            data(input()),
        ),
        (
            "host-pointer",
            vectors(floats(100).on_host().into(), output(), 100),
            vectors(input(), output(), 100),
        ),
        (
            "null-pointer",
            vectors(input(), 0_u64.into(), 100),
            vectors(input(), output(), 100),
        ),
        ("sizeof-forgotten", out(100), out(400)),
    ]
}
