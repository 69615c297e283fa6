//! The small machine, and its ways to run a program.

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput};

const LANES: usize = 32;
/// Of a gang.
const WARPS: usize = 8;
/// Registers of a warp.
const ROWS: usize = 16;
const INSTRUCTIONS: usize = 24;

#[derive(Clone, Copy)]
#[repr(align(128))]
struct Row([f32; LANES]);

/// The registers of a gang, and which of its warps run.
struct Machine {
    rows: [[Row; ROWS]; WARPS],
    first: usize,
    end: usize,
}

/// `d = a * b + c` twice: the second instruction of a pair, or another one that is not run.
#[derive(Clone, Copy)]
struct Inst {
    run: Handler,
    o: [[usize; 4]; 2],
}

/// # Safety
/// The CPU has what the handler was compiled for, and the operands are registers.
type Handler = unsafe fn(&mut Machine, &Inst);

/// A handler for one instruction, and one for two, with these instructions of the CPU.
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
    let [d, a, b, c] = inst.o[0];
    for rows in &mut machine.rows[machine.first..machine.end] {
        rows[d] = multiply_add(&rows[a], &rows[b], &rows[c]);
    }
}

#[inline(always)]
fn two(machine: &mut Machine, inst: &Inst) {
    let [[d, a, b, c], [e, _, f, g]] = inst.o;
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

/// Each instruction reads what the one before it wrote, as half of a kernel's do.
fn program(run: Handler) -> Vec<Inst> {
    let operands = |n: usize| [(n + 1) % ROWS, n % ROWS, (n + 5) % ROWS, (n + 9) % ROWS];
    let inst = |n: usize| Inst {
        run,
        o: [operands(n), operands(n + 1)],
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

    /// Runs every `step`th instruction, for all warps that run.
    fn run(&mut self, program: &[Inst], step: usize) {
        for inst in black_box(program).iter().step_by(step) {
            // SAFETY: the program was made for this CPU.
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

/// What the machine has in the end, which is the same whichever way it ran.
fn result(way: impl FnOnce(&mut Machine)) -> Vec<f32> {
    let mut machine = Machine::new();
    way(&mut machine);
    let rows = machine.rows.iter().flatten();
    rows.flat_map(|row| row.0).collect()
}

pub fn bench(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("ways");
    group.throughput(Throughput::Elements((INSTRUCTIONS * WARPS * LANES) as u64));
    let avx2 = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma");
    let avx512 = avx2 && is_x86_feature_detected!("avx512vl");
    let found: [(&str, bool, Handler, Handler); 2] = [
        ("AVX2", avx2, one_avx2, two_avx2),
        ("AVX-512", avx512, one_avx512, two_avx512),
    ];
    for (name, has, single, pair) in found {
        if !has {
            continue;
        }
        let (singles, pairs) = (program(single), program(pair));
        let wanted = result(|machine| machine.run(&singles, 1));
        assert_eq!(result(|machine| machine.warp_by_warp(&singles)), wanted);
        assert_eq!(result(|machine| machine.run(&pairs, 2)), wanted);
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
