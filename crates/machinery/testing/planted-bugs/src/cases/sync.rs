//! Cases in which some threads never reach a barrier or another collective instruction.

use super::same_plan;
use crate::plan::{Plan, floats, launch, uninit};

pub fn cases() -> Vec<(&'static str, Plan, Plan)> {
    let warp = || launch(1, 32, [floats(32).into(), uninit(128).into()]);

    vec![
        same_plan(
            "barrier-in-branch",
            launch(2, 128, [floats(256).into(), uninit(8).into()]),
        ),
        same_plan(
            "half-a-warp",
            launch(2, 64, [floats(128).into(), uninit(512).into()]),
        ),
        same_plan(
            "rounds-differ",
            launch(1, 64, [floats(33 * 64).into(), uninit(256).into()]),
        ),
        same_plan("shuffle-in-branch", warp()),
        same_plan("shuffle-mask", warp()),
        same_plan(
            "vote-after-return",
            launch(
                1,
                32,
                [
                    floats(20).into(),
                    4.0_f32.into(),
                    uninit(4).into(),
                    20.into(),
                ],
            ),
        ),
        same_plan("syncwarp-mask", warp()),
        same_plan(
            "barrier-count",
            launch(1, 64, [floats(64).into(), uninit(256).into(), 48.into()]),
        ),
    ]
}
