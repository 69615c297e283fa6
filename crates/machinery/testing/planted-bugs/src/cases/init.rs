//! Cases that read uninitialized memory.

use super::same_plan;
use crate::plan::Argument::SameAs;
use crate::plan::{Plan, floats, integers, launch, pitched_rows, uninit, zeros};

pub fn cases() -> Vec<(&'static str, Plan, Plan)> {
    let matrix = |n: u16| -> [_; 4] {
        let output = uninit(4 * usize::from(n * n)).into();
        [
            floats(n * n).into(),
            floats(n * n).into(),
            output,
            i32::from(n).into(),
        ]
    };
    let vectors = |input, output| launch(4, 32, [input, output, 100.into()]);
    let sums_of = |blocks: i32| launch(1, 64, [SameAs(1), uninit(4).into(), blocks.into()]);
    let counts = |counts| launch(4, 64, [integers(250).into(), counts, 250.into(), 64.into()]);
    let two = |second| {
        launch(
            4,
            32,
            [floats(100).into(), second, uninit(400).into(), 100.into()],
        )
    };

    vec![
        same_plan(
            "tile-corner",
            launch(
                (2, 2),
                (16, 16),
                [floats(1024).into(), uninit(4096).into(), 32.into()],
            ),
        ),
        same_plan(
            "tile-halo",
            launch(2, 64, [floats(136).into(), uninit(512).into()]),
        ),
        same_plan("ragged-tile-unset", launch((1, 1), (16, 16), matrix(10))),
        same_plan(
            "bins-not-zeroed",
            launch(4, 64, [integers(250).into(), zeros(256).into(), 250.into()]),
        ),
        same_plan(
            "warp-sums",
            launch(2, 128, [floats(256).into(), uninit(8).into()]),
        ),
        same_plan(
            "early-return",
            launch(
                2,
                64,
                [
                    floats(100).into(),
                    floats(64).into(),
                    uninit(400).into(),
                    100.into(),
                ],
            ),
        ),
        same_plan(
            "idle-blocks",
            launch(8, 64, [floats(300).into(), uninit(32).into(), 300.into()])
                .then(sums_of(8).kernel("sum_of_sums")),
        ),
        same_plan(
            "padding-summed",
            launch(
                1,
                32,
                [
                    pitched_rows(4, 100, 512).into(),
                    512_u64.into(),
                    100_u64.into(),
                    4_u64.into(),
                    uninit(16).into(),
                ],
            ),
        ),
        (
            "never-zeroed",
            vectors(floats(100).into(), uninit(400).into()),
            vectors(floats(100).into(), zeros(400).into()),
        ),
        (
            "half-zeroed",
            counts(uninit(256).zeroed(64).into()),
            counts(zeros(256).into()),
        ),
        (
            "copy-forgotten",
            two(uninit(400).into()),
            two(floats(100).into()),
        ),
        (
            "short-copy",
            vectors(floats(100).truncated(100).into(), uninit(400).into()),
            vectors(floats(100).into(), uninit(400).into()),
        ),
    ]
}
