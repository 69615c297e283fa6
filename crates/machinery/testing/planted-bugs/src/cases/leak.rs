//! Cases in which memory is never freed.

use crate::plan::{Buffer, Plan, floats, launch, uninit};

pub fn cases() -> Vec<(&'static str, Plan, Plan)> {
    let square = |result: Buffer| launch(4, 32, [floats(100).into(), result.into(), 100.into()]);
    let step = |scratch: Buffer| launch(4, 32, [scratch.into(), 100.into()]);
    let steps = |first: fn() -> Buffer| {
        let three = step(first()).then(step(first())).then(step(first()));
        three.then(step(uninit(400)))
    };
    let lookup = |values| launch(4, 32, [uninit(400).into(), 100.into()]).symbol("lookup", values);

    vec![
        (
            "leak-result",
            square(uninit(400).leaked()),
            square(uninit(400)),
        ),
        (
            "leak-in-loop",
            steps(|| uninit(400).leaked()),
            steps(|| uninit(400)),
        ),
        (
            "leak-pointed-to",
            lookup(floats(100).leaked()),
            lookup(floats(100)),
        ),
    ]
}
