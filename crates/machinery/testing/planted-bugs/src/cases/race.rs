//! Race cases: two unordered accesses to one location, at least one of them a write, between the threads
//! of a block in shared memory or between blocks in global memory.

use super::same_plan;
use crate::plan::{Plan, floats, integers, launch, uninit, zeros};

pub fn cases() -> Vec<(&'static str, Plan, Plan)> {
    let histogram = || {
        launch(
            2,
            128,
            [integers(250).into(), zeros(256).into(), 250.into()],
        )
    };
    let blocks = |threads: u32| {
        let bytes = 8 * threads as usize;
        launch(
            2,
            threads,
            [floats(2 * threads as u16).into(), uninit(bytes).into()],
        )
    };

    vec![
        same_plan("load-without-barrier", launch(2, 256, [floats(512).into()])),
        same_plan(
            "next-tile-too-soon",
            launch(
                (2, 2),
                (16, 16),
                [
                    floats(1024).into(),
                    floats(1024).into(),
                    uninit(4096).into(),
                    32.into(),
                ],
            ),
        ),
        same_plan(
            "chunk-too-soon",
            launch(
                1,
                64,
                [
                    floats(256).into(),
                    128.into(),
                    floats(64).into(),
                    uninit(256).into(),
                ],
            ),
        ),
        same_plan(
            "double-buffer",
            launch(1, 128, [floats(512).into(), uninit(512).into(), 4.into()]),
        ),
        same_plan("reduction-without-barrier", blocks(256)),
        same_plan("scan-in-place", blocks(128)),
        same_plan("smooth-in-place", launch(2, 128, [floats(256).into()])),
        same_plan(
            "transpose-in-place",
            launch(1, (16, 16), [floats(256).into()]),
        ),
        same_plan("histogram-without-atomics", histogram()),
        same_plan("zeroed-too-late", histogram()),
        same_plan("broadcast", blocks(128)),
        same_plan(
            "one-flag",
            launch(
                2,
                128,
                [floats(256).into(), 40.0_f32.into(), uninit(8).into()],
            ),
        ),
        same_plan("warp-without-syncwarp", blocks(64)),
        same_plan(
            "wrong-named-barrier",
            launch(1, 128, [floats(64).into(), uninit(256).into()]),
        ),
        same_plan("async-without-wait.sm_80", blocks(128)),
        same_plan(
            "sum-without-atomics",
            launch(8, 32, [floats(256).into(), zeros(4).into()]),
        ),
        (
            "stencil-in-place",
            launch(4, 32, [floats(100).into(), 100.into()]),
            launch(4, 32, [floats(100).into(), uninit(400).into(), 100.into()]),
        ),
        same_plan(
            "last-block",
            launch(
                8,
                32,
                [floats(256).into(), uninit(32).into(), uninit(4).into()],
            ),
        ),
    ]
}
