//! Executes plans on the simulator's Rust API.

use std::path::Path;

use launch_plan::contents::verify;
use launch_plan::devices::Simulator;
use launch_plan::plan::find;
use launch_plan::{Argument, Execution, ResolvedPlan};

const PTX: &str = "
.version 7.0
.target sm_70
.address_size 64
.global .align 4 .u32 step = 3;
.visible .entry count(.param .align 8 .b8 pair[16]) {
    .reg .b32 %r<4>;
    .reg .b64 %d<3>;
    mov.u32 %r1, %tid.x;
    ld.param.u64 %d1, [pair];
    ld.param.u32 %r3, [pair+8];
    mad.wide.u32 %d2, %r1, 4, %d1;
    ld.global.u32 %r2, [%d2];
    mad.lo.u32 %r2, %r1, %r3, %r2;
    ld.global.u32 %r3, [step];
    add.u32 %r2, %r2, %r3;
    st.global.u32 [%d2], %r2;
    ret;
}
";

const PLAN: &str = r#"/* cuda-run
[[buffer]]
name = "counts"
type = "u32"
count = 32
fill = "i"
expect = "i + 2 * (5 * i + 7)"

[[buffer]]
name = "step"
type = "u32"
count = 1
symbol = true
fill = 7

[[launch]]
kernel = "count"
grid = 1
block = 32
times = 2
arguments = [[{ u64 = 0 }, { u32 = 5 }]]
*/"#;

fn plan() -> ResolvedPlan {
    let text = find(PLAN).unwrap().unwrap();
    let mut plan = ResolvedPlan::read(&text, Path::new(""), &[]).unwrap();
    let [Argument::Structure { pointers, .. }] = &mut plan.launches[0].arguments[..] else {
        panic!("{plan:?}");
    };
    pointers.push((0, 0));
    plan
}

fn device() -> Simulator {
    Simulator::load(PTX, 1 << 20).unwrap()
}

#[test]
fn buffers_variables_and_structures_reach_the_kernel() {
    let plan = plan();
    let mut execution = Execution::new(&plan, device()).unwrap();
    execution.run(&plan).unwrap();
    let [counts, step] = &plan.buffers[..] else {
        panic!("{plan:?}");
    };
    let verification = verify(counts, &execution.read(0, counts).unwrap());
    let expected = "counts is equal to i + 2 * (5 * i + 7)";
    assert_eq!(verification.comparison.unwrap().unwrap(), expected);
    assert_eq!(execution.read(1, step).unwrap(), [7, 0, 0, 0]);
    assert!(execution.device.report.is_some());
}

#[test]
fn errors_name_the_line_of_the_plan() {
    let mut plan = plan();
    plan.file = Some("count.cu".into());
    plan.launches[0].arguments = vec![Argument::Buffer {
        index: 0,
        offset: 0,
    }];
    let mut execution = Execution::new(&plan, device()).unwrap();
    let error = format!("{:#}", execution.run(&plan).unwrap_err());
    assert!(
        error.starts_with("count.cu:17: argument 1 of count is not a pointer"),
        "{error}"
    );
    plan.launches[0].arguments.clear();
    let error = format!("{:#}", execution.run(&plan).unwrap_err());
    assert!(error.contains("count takes 1 arguments"), "{error}");
    plan.buffers[1].name = "stride".to_owned();
    let error = Execution::new(&plan, device()).err().unwrap();
    assert!(format!("{error:#}").contains("no variable stride"));
}
