//! Compares dispatch strategies before one is built into the simulator:
//! `cargo bench -p sim-bench --bench dispatch`.
//!
//! A miniature simulator modelled on the real one (see its gangs, `exec/gang`): registers are rows of 32
//! lanes, a gang has eight warps, and an instruction is a call through a function pointer. It runs the same
//! 24 multiply-adds in different orders:
//!
//! - *an instruction for all warps*: executes an instruction for all warps before the next, as the simulator
//!   does;
//! - *warp by warp*: executes all instructions for one warp, then for the next;
//! - *pairs*: executes two instructions per call, so that the first result is still in a register when the
//!   second reads it.
//!
//! Each order is measured with AVX2 and with AVX-512 if the CPU has them. Criterion prints thread instructions
//! per second.

#[cfg(target_arch = "x86_64")]
mod small;

use criterion::{Criterion, criterion_group, criterion_main};

fn dispatch_strategies(criterion: &mut Criterion) {
    #[cfg(target_arch = "x86_64")]
    small::bench(criterion);
    #[cfg(not(target_arch = "x86_64"))]
    let _ = criterion;
}

criterion_group!(benches, dispatch_strategies);
criterion_main!(benches);
