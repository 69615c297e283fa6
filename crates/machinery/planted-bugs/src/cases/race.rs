//! Two accesses to one place, one of them at least a write, and nothing that puts them in order:
//! in shared memory between the threads of a block, in global memory between blocks.

use super::same;
use crate::plan::{Plan, floats, launch, numbers, room, zeros};

pub fn cases() -> Vec<(&'static str, Plan, Plan)> {
    let histogram = || launch(2, 128, [numbers(250).into(), zeros(256).into(), 250.into()]);
    let blocks = |threads: u32| {
        let bytes = 8 * threads as usize;
        launch(
            2,
            threads,
            [floats(2 * threads as u16).into(), room(bytes).into()],
        )
    };

    vec![
        same("load-without-barrier", launch(2, 256, [floats(512).into()])),
        same(
            "next-tile-too-soon",
            launch(
                (2, 2),
                (16, 16),
                [
                    floats(1024).into(),
                    floats(1024).into(),
                    room(4096).into(),
                    32.into(),
                ],
            ),
        ),
        same(
            "chunk-too-soon",
            launch(
                1,
                64,
                [
                    floats(256).into(),
                    128.into(),
                    floats(64).into(),
                    room(256).into(),
                ],
            ),
        ),
        same(
            "double-buffer",
            launch(1, 128, [floats(512).into(), room(512).into(), 4.into()]),
        ),
        same("reduction-without-barrier", blocks(256)),
        same("scan-in-place", blocks(128)),
        same("smooth-in-place", launch(2, 128, [floats(256).into()])),
        same(
            "transpose-in-place",
            launch(1, (16, 16), [floats(256).into()]),
        ),
        same("histogram-without-atomics", histogram()),
        same("zeroed-too-late", histogram()),
        same("broadcast", blocks(128)),
        same(
            "one-flag",
            launch(
                2,
                128,
                [floats(256).into(), 40.0_f32.into(), room(8).into()],
            ),
        ),
        same("warp-without-syncwarp", blocks(64)),
        same(
            "wrong-named-barrier",
            launch(1, 128, [floats(64).into(), room(256).into()]),
        ),
        same("async-without-wait.sm_80", blocks(128)),
        same(
            "sum-without-atomics",
            launch(8, 32, [floats(256).into(), zeros(4).into()]),
        ),
        (
            "stencil-in-place",
            launch(4, 32, [floats(100).into(), 100.into()]),
            launch(4, 32, [floats(100).into(), room(400).into(), 100.into()]),
        ),
        same(
            "last-block",
            launch(8, 32, [floats(256).into(), room(32).into(), room(4).into()]),
        ),
    ]
}
