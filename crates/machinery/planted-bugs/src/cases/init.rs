//! Reads of what nobody wrote.

use super::same;
use crate::plan::Argument::Again;
use crate::plan::{Plan, floats, launch, numbers, room, rows, zeros};

pub fn cases() -> Vec<(&'static str, Plan, Plan)> {
    let matrix = |n: u16| -> [_; 4] {
        let output = room(4 * usize::from(n * n)).into();
        [
            floats(n * n).into(),
            floats(n * n).into(),
            output,
            i32::from(n).into(),
        ]
    };
    let vectors = |input, output| launch(4, 32, [input, output, 100.into()]);
    let sums_of = |blocks: i32| launch(1, 64, [Again(1), room(4).into(), blocks.into()]);
    let counts = |counts| launch(4, 64, [numbers(250).into(), counts, 250.into(), 64.into()]);
    let two = |second| {
        launch(
            4,
            32,
            [floats(100).into(), second, room(400).into(), 100.into()],
        )
    };

    vec![
        same(
            "tile-corner",
            launch(
                (2, 2),
                (16, 16),
                [floats(1024).into(), room(4096).into(), 32.into()],
            ),
        ),
        same(
            "tile-halo",
            launch(2, 64, [floats(136).into(), room(512).into()]),
        ),
        same("ragged-tile-unset", launch((1, 1), (16, 16), matrix(10))),
        same(
            "bins-not-zeroed",
            launch(4, 64, [numbers(250).into(), zeros(256).into(), 250.into()]),
        ),
        same(
            "warp-sums",
            launch(2, 128, [floats(256).into(), room(8).into()]),
        ),
        same(
            "early-return",
            launch(
                2,
                64,
                [
                    floats(100).into(),
                    floats(64).into(),
                    room(400).into(),
                    100.into(),
                ],
            ),
        ),
        same(
            "idle-blocks",
            launch(8, 64, [floats(300).into(), room(32).into(), 300.into()])
                .then(sums_of(8).of("sum_of_sums")),
        ),
        same(
            "padding-summed",
            launch(
                1,
                32,
                [
                    rows(4, 100, 512).into(),
                    512_u64.into(),
                    100_u64.into(),
                    4_u64.into(),
                    room(16).into(),
                ],
            ),
        ),
        (
            "never-zeroed",
            vectors(floats(100).into(), room(400).into()),
            vectors(floats(100).into(), zeros(400).into()),
        ),
        (
            "half-zeroed",
            counts(room(256).zeroed(64).into()),
            counts(zeros(256).into()),
        ),
        (
            "copy-forgotten",
            two(room(400).into()),
            two(floats(100).into()),
        ),
        (
            "short-copy",
            vectors(floats(100).cut(100).into(), room(400).into()),
            vectors(floats(100).into(), room(400).into()),
        ),
    ]
}
