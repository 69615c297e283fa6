//! Memory of the host's that it uses too soon.

use crate::plan::{Back, Plan, floats, launch, room};

pub fn cases() -> Vec<(&'static str, Plan, Plan)> {
    let square = launch(4, 32, [floats(100).into(), room(400).into(), 100.into()]);
    vec![(
        "read-too-soon",
        square.clone().back(1, Back::ReadBeforeWaiting),
        square.back(1, Back::ReadAfterWaiting),
    )]
}
