//! A miniature simulator, and the dispatch strategies to compare.

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput};

const LANES: usize = 32;
/// Warps per gang.
const WARPS: usize = 8;
/// Registers per warp.
const ROWS: usize = 16;
const INSTRUCTIONS: usize = 24;

#[derive(Clone, Copy)]
#[repr(align(128))]
struct Row([f32; LANES]);

/// The registers of a gang, and the range of its warps that run.
struct Machine {
    rows: [[Row; ROWS]; WARPS],
    first: usize,
    end: usize,
}

/// `d = a * b + c` twice. Single handlers execute only the first operation.
#[derive(Clone, Copy)]
struct Inst {
    run: Handler,
    operands: [[usize; 4]; 2],
}

/// # Safety
/// The CPU must support the features that the handler was compiled for.
type Handler = unsafe fn(&mut Machine, &Inst);

/// Defines a handler for one instruction and one for a pair, compiled with the given CPU features.
macro_rules! handlers {
    ($one:ident, $two:ident, $features:literal) => {
        #[target_feature(enable = $features)]
        unsafe fn $one(machine: &mut Machine, inst: &Inst) {
            one(machine, inst);
        }

        #[target_feature(enable = $features)]
        unsafe fn $two(machine: &mut Machine, inst: &Inst) {
            two(machine, inst);
        }
    };
}
handlers!(one_avx2, two_avx2, "avx2,fma");
handlers!(one_avx512, two_avx512, "avx512f,avx512vl,avx2,fma");

#[inline(always)]
fn one(machine: &mut Machine, inst: &Inst) {
    let [d, a, b, c] = inst.operands[0];
    for rows in &mut machine.rows[machine.first..machine.end] {
        rows[d] = multiply_add(&rows[a], &rows[b], &rows[c]);
    }
}

#[inline(always)]
fn two(machine: &mut Machine, inst: &Inst) {
    let [[d, a, b, c], [e, _, f, g]] = inst.operands;
    for rows in &mut machine.rows[machine.first..machine.end] {
        let first = multiply_add(&rows[a], &rows[b], &rows[c]);
        rows[d] = first;
        rows[e] = multiply_add(&first, &rows[f], &rows[g]);
    }
}

#[inline(always)]
fn multiply_add(a: &Row, b: &Row, c: &Row) -> Row {
    let mut d = Row([0.0; LANES]);
    for lane in 0..LANES {
        d.0[lane] = a.0[lane].mul_add(b.0[lane], c.0[lane]);
    }
    d
}

/// Builds the program. Each instruction reads the previous one's result, as half of a kernel's do.
fn program(run: Handler) -> Vec<Inst> {
    let operands = |n: usize| [(n + 1) % ROWS, n % ROWS, (n + 5) % ROWS, (n + 9) % ROWS];
    let inst = |n: usize| Inst {
        run,
        operands: [operands(n), operands(n + 1)],
    };
    (0..INSTRUCTIONS).map(inst).collect()
}

impl Machine {
    fn new() -> Box<Machine> {
        Box::new(Machine {
            rows: [[Row([0.5; LANES]); ROWS]; WARPS],
            first: 0,
            end: WARPS,
        })
    }

    /// Runs every `step`th instruction for the current range of warps.
    fn run(&mut self, program: &[Inst], step: usize) {
        for inst in black_box(program).iter().step_by(step) {
            // SAFETY: `bench` builds a program only from handlers whose CPU features it has detected.
            unsafe { (inst.run)(self, inst) };
        }
    }

    fn warp_by_warp(&mut self, program: &[Inst]) {
        for warp in 0..WARPS {
            (self.first, self.end) = (warp, warp + 1);
            self.run(program, 1);
        }
        (self.first, self.end) = (0, WARPS);
    }
}

/// Returns the final registers, which must not depend on the dispatch strategy.
fn final_registers(strategy: impl FnOnce(&mut Machine)) -> Vec<f32> {
    let mut machine = Machine::new();
    strategy(&mut machine);
    let rows = machine.rows.iter().flatten();
    rows.flat_map(|row| row.0).collect()
}

pub fn bench(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("dispatch");
    group.throughput(Throughput::Elements((INSTRUCTIONS * WARPS * LANES) as u64));
    let avx2 = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma");
    let avx512 = avx2 && is_x86_feature_detected!("avx512vl");
    let variants: [(&str, bool, Handler, Handler); 2] = [
        ("AVX2", avx2, one_avx2, two_avx2),
        ("AVX-512", avx512, one_avx512, two_avx512),
    ];
    for (name, is_available, single, pair) in variants {
        if !is_available {
            continue;
        }
        let (singles, pairs) = (program(single), program(pair));
        let expected = final_registers(|machine| machine.run(&singles, 1));
        assert_eq!(
            final_registers(|machine| machine.warp_by_warp(&singles)),
            expected
        );
        assert_eq!(final_registers(|machine| machine.run(&pairs, 2)), expected);
        let mut machine = Machine::new();
        group.bench_function(
            BenchmarkId::new("an instruction for all warps", name),
            |b| {
                b.iter(|| machine.run(&singles, 1));
            },
        );
        group.bench_function(BenchmarkId::new("warp by warp", name), |b| {
            b.iter(|| machine.warp_by_warp(&singles));
        });
        group.bench_function(BenchmarkId::new("pairs", name), |b| {
            b.iter(|| machine.run(&pairs, 2));
        });
    }
    group.finish();
}
