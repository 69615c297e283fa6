//! Cases with out-of-bounds or misaligned accesses.
//!
//! The sizes are chosen so that the byte after an allocation does not belong to the next one:
//! allocations start at multiples of 256 or 512 bytes, and most of these end before one.

use super::same_plan;
use crate::plan::{Plan, floats, launch, linked_list, uninit};

pub fn cases() -> Vec<(&'static str, Plan, Plan)> {
    // The vectors of the CUDA notes: 100 floats in 4 blocks of 32 threads.
    let vectors = |input, output, n: i32| launch(4, 32, [input, output, n.into()]);
    let symbol = launch(4, 32, [uninit(400).into(), 100.into()]);
    let data = |buffer| launch(4, 32, [buffer, 1.5_f32.into(), 100.into()]);
    let out = |bytes| launch(4, 32, [uninit(bytes).into(), 100.into()]);
    let input = || floats(100).into();
    let output = || uninit(400).into();

    vec![
        same_plan(
            "no-bounds-check",
            launch(4, 32, [input(), input(), output(), 100.into()]),
        ),
        same_plan("less-or-equal", vectors(input(), output(), 100)),
        same_plan("halo-left", launch(2, 64, [input(), output(), 100.into()])),
        same_plan("halo-right", vectors(input(), output(), 100)),
        same_plan(
            "pitch-and-width",
            launch(
                1,
                32,
                [
                    floats(4 * 256).into(),
                    1024_u64.into(),
                    132_u64.into(),
                    4_u64.into(),
                    uninit(16).into(),
                ],
            ),
        ),
        same_plan(
            "pitch-in-elements",
            launch(
                (13, 1),
                (8, 4),
                [uninit(4 * 512).into(), 512_u64.into(), 100.into(), 4.into()],
            ),
        ),
        same_plan(
            "height-for-width",
            launch(
                (3, 5),
                (8, 8),
                [
                    floats(24 * 40).into(),
                    uninit(24 * 40 * 4).into(),
                    24.into(),
                    40.into(),
                ],
            ),
        ),
        same_plan(
            "rows-and-columns",
            launch(
                (5, 5),
                (8, 8),
                [
                    floats(40 * 15).into(),
                    floats(15 * 24).into(),
                    uninit(40 * 24 * 4).into(),
                    40.into(),
                    24.into(),
                    15.into(),
                ],
            ),
        ),
        same_plan(
            "ragged-tile",
            launch(
                (2, 2),
                (16, 16),
                [
                    floats(400).into(),
                    floats(400).into(),
                    uninit(1600).into(),
                    20.into(),
                ],
            ),
        ),
        same_plan(
            "slice-pitch",
            launch(
                6,
                (32, 2),
                [
                    uninit(6 * 2 * 512).into(),
                    512_u64.into(),
                    24.into(),
                    2.into(),
                    6.into(),
                ],
            ),
        ),
        same_plan(
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
        same_plan(
            "negative-remainder",
            launch(4, 32, [input(), output(), 100.into(), 3.into()]),
        ),
        same_plan("unsigned-wrap", vectors(input(), output(), 100)),
        same_plan(
            "misaligned-float4",
            vectors(floats(129).into(), uninit(128).into(), 32),
        ),
        same_plan(
            "misaligned-record",
            vectors(floats(96).into(), uninit(256).into(), 32),
        ),
        same_plan(
            "struct-stride",
            launch(4, 32, [floats(700).into(), 100.into(), output()]),
        ),
        same_plan(
            "shared-overrun",
            launch(1, 256, [floats(258).into(), uninit(1032).into()]),
        ),
        same_plan(
            "local-overrun",
            launch(
                7,
                32,
                [
                    floats(200).into(),
                    uninit(800).into(),
                    200.into(),
                    60.into(),
                ],
            ),
        ),
        same_plan(
            "deep-recursion",
            launch(1, 1, [linked_list(20_000).into(), uninit(4).into()]),
        ),
        same_plan(
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
