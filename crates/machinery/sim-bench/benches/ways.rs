//! What other ways to run instructions would give, before one is built: `cargo bench -p sim-bench --bench ways`.
//!
//! A small machine as the simulator's (see `exec/together` there): registers are rows of 32 lanes, a gang is eight
//! warps, an instruction is a call through a pointer. It runs the same 24 multiply-adds
//!
//! - *an instruction for all warps*: the next one only then, as the simulator does;
//! - *warp by warp*: all instructions for one warp, then for the next;
//! - *pairs*: two instructions a call, whose first result is still in a register when the second wants it;
//!
//! each with AVX2 and with AVX-512, on CPUs that have them. Criterion prints thread instructions a second.

#[cfg(target_arch = "x86_64")]
mod small;

use criterion::{Criterion, criterion_group, criterion_main};

fn ways(criterion: &mut Criterion) {
    #[cfg(target_arch = "x86_64")]
    small::bench(criterion);
    #[cfg(not(target_arch = "x86_64"))]
    let _ = criterion;
}

criterion_group!(benches, ways);
criterion_main!(benches);
