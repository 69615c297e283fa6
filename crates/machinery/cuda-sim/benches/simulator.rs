//! How fast the simulator is: thread instructions a second on one core, the ray tracer beside the
//! same picture by a plain Rust loop, and what counting costs.
//!
//! `cargo bench -p cuda-sim`. Criterion prints elements a second: thread instructions, except
//! for the plain loop, whose elements are the thread instructions of the same picture.

use clap::Parser;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use cuda_sim::device::DeviceSpec;
use cuda_sim::exec::{Launch, Observe, Report, launch};
use cuda_sim::memory::global::Global;
use cuda_sim::program::Program;
use raytrace_const::flags::Flags;
use raytrace_const::{reference, scene};
use std::hint::black_box;
use std::sync::Arc;

const MATMUL: &str = include_str!("../../../../kernels/ptx/matmul-tiled.ptx");
const RAYTRACE: &str = include_str!("../../../../kernels/ptx/raytrace-const.ptx");

/// 1024 turns of a loop of fused multiply-adds, additions, shifts and logic, without memory.
const ARITHMETIC: &str = "
.version 6.4
.target sm_52
.address_size 64
.visible .entry arithmetic(.param .u64 out)
{
    .reg .pred %p;
    .reg .f32 %f<4>;
    .reg .b32 %r<6>;
    .reg .b64 %rd<3>;
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, 0;
    cvt.rn.f32.u32 %f1, %r1;
    mov.f32 %f2, 0f3F000000;
LOOP:
    fma.rn.f32 %f1, %f1, %f2, 0f3F800000;
    add.rn.f32 %f3, %f1, %f2;
    mul.rn.f32 %f2, %f3, 0f3E800000;
    shl.b32 %r3, %r1, 3;
    xor.b32 %r1, %r1, %r3;
    shr.u32 %r4, %r1, 5;
    add.s32 %r1, %r1, %r4;
    and.b32 %r5, %r1, 255;
    mad.lo.s32 %r1, %r5, %r5, %r1;
    add.s32 %r2, %r2, 1;
    setp.lt.u32 %p, %r2, 1024;
    @%p bra LOOP;
    ld.param.u64 %rd1, [out];
    mov.u32 %r3, %tid.x;
    mul.wide.u32 %rd2, %r3, 4;
    add.s64 %rd1, %rd1, %rd2;
    st.global.f32 [%rd1], %f1;
    st.global.u32 [%rd1+4096], %r1;
    ret;
}";

/// A loaded module and the memory behind it.
struct Machine {
    device: DeviceSpec,
    global: Global,
    program: Arc<Program>,
}

impl Machine {
    fn new(ptx: &str) -> Machine {
        let device = DeviceSpec::h200();
        let mut global = Global::new(1 << 30);
        let program = Program::load(ptx, &device, &mut global).expect("the module loads");
        Machine {
            device,
            global,
            program: Arc::new(program),
        }
    }

    fn upload(&mut self, bytes: &[u8]) -> u64 {
        let address = self
            .global
            .allocate(bytes.len() as u64)
            .expect("memory is free");
        let host = self.global.host(address, bytes.len() as u64);
        // SAFETY: the allocation above is as long as `bytes`.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), host.unwrap(), bytes.len()) };
        address
    }

    /// Launches on one core.
    fn run(
        &self,
        pool: &rayon::ThreadPool,
        kernel: &str,
        size: [[u32; 3]; 2],
        params: &[u8],
        observe: Observe,
    ) -> Report {
        let launch_config = Launch {
            kernel: self.program.kernel(kernel).expect("the kernel exists"),
            grid: size[0],
            block: size[1],
            dynamic_shared: 0,
            params,
            stack_limit: 1024,
            time_limit: None,
            threads: Some(pool),
            watch: None,
            observe,
        };
        launch(&self.program, &self.global, &self.device, &launch_config).expect("the kernel runs")
    }
}

fn one_core() -> rayon::ThreadPool {
    rayon::ThreadPoolBuilder::new()
        .num_threads(1)
        .build()
        .expect("a thread starts")
}

fn arithmetic(criterion: &mut Criterion) {
    let pool = one_core();
    let mut machine = Machine::new(ARITHMETIC);
    let params = machine.upload(&[0; 8192]).to_le_bytes();
    let size = [[64, 1, 1], [1024, 1, 1]];
    let report = machine.run(&pool, "arithmetic", size, &params, Observe::Sample);
    let mut group = criterion.benchmark_group("arithmetic loop");
    group.throughput(Throughput::Elements(
        report.counts.thread_instructions(&machine.program),
    ));
    group.bench_function("simulator", |bench| {
        bench.iter(|| machine.run(&pool, "arithmetic", size, &params, Observe::Sample));
    });
    group.finish();
}

fn ray_tracer(criterion: &mut Criterion) {
    let pool = one_core();
    let flags = Flags::parse_from(["raytrace-const"]);
    let spheres = scene::random(&flags);
    let (width, height) = (flags.width, flags.height);
    let bytes: Vec<u8> = spheres
        .iter()
        .flat_map(|s| [s.r, s.b, s.g, s.radius, s.x, s.y, s.z])
        .flat_map(f32::to_le_bytes)
        .collect();
    let mut machine = Machine::new(RAYTRACE);
    let on_device = machine.upload(&bytes);
    let image = machine.upload(&vec![0; width as usize * height as usize * 4]);
    let mut params = on_device.to_le_bytes().to_vec();
    params.extend((spheres.len() as u64).to_le_bytes());
    params.extend(image.to_le_bytes());
    params.extend(width.to_le_bytes());
    params.extend(height.to_le_bytes());
    let size = [[width.div_ceil(16), height.div_ceil(16), 1], [16, 16, 1]];

    let report = machine.run(&pool, "raytrace_global", size, &params, Observe::Sample);
    let mut group = criterion.benchmark_group("ray tracer 1024x1024, 20 spheres");
    group.throughput(Throughput::Elements(
        report.counts.thread_instructions(&machine.program),
    ));
    group.bench_function("simulator, raytrace_global", |bench| {
        bench.iter(|| machine.run(&pool, "raytrace_global", size, &params, Observe::Sample));
    });
    group.bench_function("plain Rust loop", |bench| {
        bench.iter(|| black_box(reference::render(black_box(&spheres), width, height)));
    });
    group.finish();
}

/// What counting costs, on kernels that do little else than access memory: nothing counted, as
/// much as every launch is for its modelled time, and everything line by line.
fn counting(criterion: &mut Criterion) {
    let pool = one_core();
    let mut machine = Machine::new(MATMUL);
    let size = 256u64;
    let floats = vec![0; 4 * (size * size) as usize];
    let mut params = Vec::new();
    for _ in 0..3 {
        // The kernel's `Matrix`: rows, columns, where it lies, floats from row to row.
        let at = machine.upload(&floats);
        params.extend(
            [size, size, at, size]
                .into_iter()
                .flat_map(u64::to_le_bytes),
        );
    }
    let blocks = [size as u32 / 16, size as u32 / 16, 1];
    let mut group = criterion.benchmark_group("counting, tiled product of 256x256");
    for (name, observe) in [
        ("nothing", Observe::Nothing),
        ("a sample", Observe::Sample),
        ("everything", Observe::Everything),
    ] {
        group.bench_function(name, |bench| {
            let size = [blocks, [16, 16, 1]];
            bench.iter(|| machine.run(&pool, "mat_mul_tiled_16", size, &params, observe));
        });
    }
    group.finish();
}

criterion_group! {
    name = simulator;
    config = Criterion::default().sample_size(20);
    targets = arithmetic, ray_tracer, counting
}
criterion_main!(simulator);
