//! Cases in which the host uses its memory before work in a stream is done with it.

use crate::plan::{Plan, Readback, floats, launch, uninit};

pub fn cases() -> Vec<(&'static str, Plan, Plan)> {
    let square = launch(4, 32, [floats(100).into(), uninit(400).into(), 100.into()]);
    vec![(
        "read-too-soon",
        square.clone().read_back(1, Readback::BeforeSync),
        square.read_back(1, Readback::AfterSync),
    )]
}
