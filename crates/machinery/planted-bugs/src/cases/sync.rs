//! Barriers, and other instructions of several threads, to which not all of them come.

use super::same;
use crate::plan::{Plan, floats, launch, room};

pub fn cases() -> Vec<(&'static str, Plan, Plan)> {
    let warp = || launch(1, 32, [floats(32).into(), room(128).into()]);

    vec![
        same(
            "barrier-in-branch",
            launch(2, 128, [floats(256).into(), room(8).into()]),
        ),
        same(
            "half-a-warp",
            launch(2, 64, [floats(128).into(), room(512).into()]),
        ),
        same(
            "rounds-differ",
            launch(1, 64, [floats(33 * 64).into(), room(256).into()]),
        ),
        same("shuffle-in-branch", warp()),
        same("shuffle-mask", warp()),
        same(
            "vote-after-return",
            launch(
                1,
                32,
                [floats(20).into(), 4.0_f32.into(), room(4).into(), 20.into()],
            ),
        ),
        same("syncwarp-mask", warp()),
        same(
            "barrier-count",
            launch(1, 64, [floats(64).into(), room(256).into(), 48.into()]),
        ),
    ]
}
