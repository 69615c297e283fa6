//! `wgmma`: products of a warpgroup compared with sums in plain Rust, in every layout of shared memory, and
//! rejected forms. The numbers are small integers, so that every sum is exact.

use crate::harness::*;
use std::fmt::Write as _;

use cuda_sim::device::DeviceSpec;
use cuda_sim::exec::FaultKind;
use cuda_sim::memory::global::Global;
use cuda_sim::model::Resource;

const ROWS: usize = 64;
const THREADS: usize = 128;
/// Bytes of each row that one instruction consumes.
const K_BYTES: usize = 32;

/// A matrix's layout in shared memory.
#[derive(Clone, Copy, Debug)]
enum Layout {
    /// K-major: rows of the given number of bytes, whose 16-byte chunks are swizzled. 16: not swizzled.
    Rows(usize),
    /// MN-major: columns of the given number of bytes.
    Columns(usize),
}

use Layout::{Columns, Rows};

const TF32: [Layout; 4] = [Rows(128), Rows(64), Rows(32), Rows(16)];

impl Layout {
    fn width(self) -> usize {
        match self {
            Rows(width) | Columns(width) => width,
        }
    }

    /// Returns the bytes of a row of the matrix.
    fn row_bytes(self) -> usize {
        match self {
            Rows(width) => width.max(K_BYTES),
            Columns(_) => K_BYTES,
        }
    }

    /// Returns the leading and the stride byte offset.
    fn offsets(self) -> [usize; 2] {
        match self {
            Rows(16) | Columns(16) => [128, 256],
            Rows(width) => [16, 8 * width],
            Columns(width) => [16 * width, 8 * width],
        }
    }

    fn descriptor(self, start: usize) -> u64 {
        let mode = match self.width() {
            128 => 1,
            64 => 2,
            32 => 3,
            _ => 0,
        };
        let [leading, stride] = self.offsets().map(|bytes| bytes as u64 >> 4);
        (start as u64 >> 4) | leading << 16 | stride << 32 | mode << 62
    }

    /// Returns the offset of byte `byte` of a row.
    fn byte_offset(self, row: usize, byte: usize) -> usize {
        let [leading, stride] = self.offsets();
        // The offset in a line of the swizzle pattern, given the line.
        let swizzled = |line: usize, offset: usize| {
            let swizzle = match self.width() {
                128 => line % 8,
                64 => line % 8 / 2,
                _ => line % 8 / 4,
            };
            line % 8 * self.width() + ((offset / 16) ^ swizzle) * 16 + offset % 16
        };
        let (k, half) = (byte / 2, byte % 2);
        match self {
            Rows(16) => row / 8 * stride + byte / 16 * leading + row % 8 * 16 + byte % 16,
            Columns(16) => row / 8 * stride + k / 8 * leading + k % 8 * 16 + row % 8 * 2 + half,
            Rows(_) => row / 8 * stride + swizzled(row, byte),
            Columns(width) => {
                let across = width / 2;
                let within = swizzled(k, row % across * 2 + half);
                row / across * leading + k / 8 * stride + within
            }
        }
    }
}

/// An element type.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Type {
    Tf32,
    F16,
    Bf16,
}

impl Type {
    fn name(self) -> &'static str {
        match self {
            Type::Tf32 => "tf32",
            Type::F16 => "f16",
            Type::Bf16 => "bf16",
        }
    }

    fn bytes(self) -> usize {
        if self == Type::Tf32 { 4 } else { 2 }
    }

    fn bits(self, value: f32) -> Vec<u8> {
        let bits = value.to_bits();
        let half = match self {
            // The tensor core ignores the low bits, so they may have any value.
            Type::Tf32 => return (bits | 0x1fff).to_le_bytes().into(),
            Type::Bf16 => bits >> 16,
            Type::F16 if value == 0.0 => 0,
            Type::F16 => (bits >> 16 & 0x8000) | ((bits & 0x7fff_ffff) - (112 << 23)) >> 13,
        };
        (half as u16).to_le_bytes().into()
    }
}

/// A product: its columns, element type, the layouts of A (`None` for registers) and of B, the scale-d
/// operand, and the signs of A and B.
#[derive(Clone, Copy, Debug)]
struct Case {
    columns: usize,
    ty: Type,
    a_layout: Option<Layout>,
    b_layout: Layout,
    adds: &'static str,
    signs: [i32; 2],
}

impl Case {
    /// Returns a product like that of the ladder's kernel, with B in the given layout.
    fn tf32(columns: usize, b_layout: Layout) -> Case {
        Case {
            columns,
            ty: Type::Tf32,
            a_layout: None,
            b_layout,
            adds: "%p1",
            signs: [1, 1],
        }
    }

    /// Returns the elements per row that one instruction consumes.
    fn k(&self) -> usize {
        K_BYTES / self.ty.bytes()
    }

    /// Returns the instructions per row.
    fn steps(&self) -> usize {
        let bytes = |layout: Layout| layout.row_bytes() / K_BYTES;
        // Registers hold the fragment of one instruction.
        match self.a_layout {
            None => 1,
            Some(a_layout) => bytes(a_layout).min(bytes(self.b_layout)),
        }
    }

    fn instruction(&self, step: usize) -> String {
        let k = self.k();
        let (columns, ty) = (self.columns, self.ty.name());
        let registers: Vec<String> = (0..columns / 2).map(|n| format!("%f{n}")).collect();
        let (a_layout, trans) = match self.a_layout {
            None => ("{%r1, %r2, %r3, %r4}", ""),
            Some(Columns(_)) => ("%d1", ", 1"),
            Some(Rows(_)) => ("%d1", ", 0"),
        };
        let trans = match (self.ty, self.b_layout) {
            (Type::Tf32, _) => String::new(),
            (_, Columns(_)) => format!("{trans}, 1"),
            (_, Rows(_)) => format!("{trans}, 0"),
        };
        let adds = if step > 0 { "1" } else { self.adds };
        let [a, b] = self.signs;
        format!(
            "wgmma.mma_async.sync.aligned.m64n{columns}k{k}.f32.{ty}.{ty} {{{}}}, {a_layout}, %d2, {adds}, {a}, {b}{trans};",
            registers.join(", ")
        )
    }

    /// Returns a kernel that loads both matrices to shared memory and multiplies.
    fn kernel(&self, b_start: usize, shared: usize) -> String {
        let columns = self.columns;
        let mut body = format!(
            ".shared .align 1024 .b8 tile[{shared}];
    .reg .f32 %f<{}>; .reg .b64 %from, %to; .reg .b32 %n;
    mov.u32 %n, %t; mov.u64 %to, tile;
    FILL: mad.wide.u32 %from, %n, 4, %out; ld.global.b32 %r9, [%from];
    mad.wide.u32 %d3, %n, 4, %to; st.shared.b32 [%d3], %r9;
    add.u32 %n, %n, {THREADS}; setp.lt.u32 %p2, %n, {}; @%p2 bra FILL;
    fence.proxy.async.shared::cta;
    bar.sync 0;
    mad.wide.u32 %mine, %t, 16, %out;
    ld.global.v4.b32 {{%r1, %r2, %r3, %r4}}, [%mine+{shared}];
    mad.wide.u32 %mine, %t, {}, %out;\n",
            columns / 2,
            shared / 4,
            columns * 2,
        );
        let results = shared + THREADS * 16;
        for n in 0..columns / 2 {
            writeln!(body, "ld.global.f32 %f{n}, [%mine+{}];", results + 4 * n).unwrap();
        }
        body += "setp.eq.u32 %p1, 0, 0;\nwgmma.fence.sync.aligned;\n";
        for step in 0..self.steps() {
            let descriptor = |layout: Layout, start| layout.descriptor(start + step * K_BYTES);
            let a_layout = self.a_layout.map_or(0, |a_layout| descriptor(a_layout, 0));
            let b_layout = descriptor(self.b_layout, b_start);
            // The tile is the only shared variable, so its address is zero.
            writeln!(body, "mov.u64 %d1, {a_layout}; mov.u64 %d2, {b_layout};").unwrap();
            body += &self.instruction(step);
        }
        body += "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n";
        for n in 0..columns / 2 {
            writeln!(body, "st.global.f32 [%mine+{}], %f{n};", results + 4 * n).unwrap();
        }
        for_hopper(&module_of("", &body))
    }

    /// Runs the product on integers and compares the results.
    fn check(&self) {
        let (k, steps) = (self.k(), self.steps());
        let integer = |word: u32, max: u32| (word % (2 * max + 1)) as f32 - max as f32;
        let numbers = noise((ROWS + self.columns) * k * steps);
        let numbers: Vec<f32> = numbers.into_iter().map(|word| integer(word, 7)).collect();
        let (a, b) = numbers.split_at(ROWS * k * steps);
        let addend = noise(ROWS * self.columns).into_iter();
        let addend: Vec<f32> = addend.map(|word| integer(word >> 8, 100)).collect();

        // Shared memory has A, then B.
        let a_bytes = self.a_layout.map_or(0, |layout| ROWS * layout.row_bytes());
        let b_start = a_bytes.next_multiple_of(1024);
        let b_bytes = self.columns * self.b_layout.row_bytes();
        let b_bytes = match self.b_layout {
            // Round up to whole swizzle patterns.
            Columns(width) => b_bytes.next_multiple_of(K_BYTES * width / 2),
            Rows(_) => b_bytes,
        };
        let shared = (b_start + b_bytes).next_multiple_of(512);
        let mut memory = vec![0; shared];
        let mut store = |layout: Layout, start: usize, row: usize, k: usize, value: f32| {
            for (n, byte) in self.ty.bits(value).into_iter().enumerate() {
                let offset = layout.byte_offset(row, k * self.ty.bytes() + n);
                memory[start + offset] = byte;
            }
        };
        let row_elements = k * steps;
        for (n, &value) in a.iter().enumerate() {
            if let Some(a_layout) = self.a_layout {
                store(a_layout, 0, n / row_elements, n % row_elements, value);
            }
        }
        for (n, &value) in b.iter().enumerate() {
            let (row, k) = (n / row_elements, n % row_elements);
            store(self.b_layout, b_start, row, k, value);
        }

        // The registers of A, then the accumulators, as in the PTX ISA's figures.
        for thread in 0..THREADS {
            let (warp, lane) = (thread / 32, thread % 32);
            for register in 0..4 {
                let row = 16 * warp + lane / 4 + register % 2 * 8;
                let elements_per_register = 4 / self.ty.bytes();
                let k = register / 2 * 4 * elements_per_register + lane % 4 * elements_per_register;
                for part in 0..elements_per_register {
                    memory.extend(self.ty.bits(a[row * row_elements + k + part]));
                }
            }
        }
        let accumulator = |thread: usize, n: usize| {
            let (warp, lane) = (thread / 32, thread % 32);
            let row = 16 * warp + lane / 4 + n % 4 / 2 * 8;
            (row, n / 4 * 8 + lane % 4 * 2 + n % 2)
        };
        let results = self.columns / 2;
        for thread in 0..THREADS {
            for n in 0..results {
                let (row, column) = accumulator(thread, n);
                memory.extend(addend[row * self.columns + column].to_le_bytes());
            }
        }

        let mut machine = Machine::new(&self.kernel(b_start, shared));
        let buffer = machine.buffer(&memory);
        machine.run("k", 1, THREADS as u32, params![buffer]);
        let actual: Vec<f32> =
            machine.read(buffer + (shared + THREADS * 16) as u64, THREADS * results);
        let sign = (self.signs[0] * self.signs[1]) as f32;
        for thread in 0..THREADS {
            for n in 0..results {
                let (row, column) = accumulator(thread, n);
                let products = (0..row_elements)
                    .map(|k| a[row * row_elements + k] * b[column * row_elements + k]);
                let initial = match self.adds {
                    "0" | "!%p1" => 0.0,
                    _ => addend[row * self.columns + column],
                };
                let expected = initial + sign * products.sum::<f32>();
                let actual = actual[thread * results + n];
                assert_eq!(actual, expected, "{self:?}: row {row}, column {column}");
            }
        }
    }
}

/// Changes the harness's module to the only target that has these instructions.
pub fn for_hopper(ptx: &str) -> String {
    ptx.replace(".version 7.0", ".version 8.0")
        .replace("sm_80", "sm_90a")
}

#[test]
fn b_is_read_in_every_layout() {
    for layout in TF32 {
        for columns in [8, 24, 128, 256] {
            Case::tf32(columns, layout).check();
        }
    }
}

#[test]
fn a_is_read_in_every_layout() {
    for a_layout in TF32 {
        for b_layout in TF32 {
            let case = Case::tf32(24, b_layout);
            let a_layout = Some(a_layout);
            Case { a_layout, ..case }.check();
        }
    }
}

#[test]
fn scale_operands_select_accumulation_and_signs() {
    for adds in ["%p1", "!%p1", "0", "1"] {
        for signs in [[1, 1], [-1, 1], [1, -1], [-1, -1]] {
            for (ty, a_layout) in [
                (Type::Tf32, None),
                (Type::Tf32, Some(Rows(128))),
                (Type::F16, None),
                (Type::Bf16, Some(Rows(64))),
            ] {
                Case {
                    ty,
                    a_layout,
                    adds,
                    signs,
                    ..Case::tf32(16, Rows(128))
                }
                .check();
            }
        }
    }
}

#[test]
fn sixteen_bit_matrices_may_be_k_or_mn_major() {
    let layouts = TF32.into_iter().chain([128, 64, 32, 16].map(Columns));
    for ty in [Type::F16, Type::Bf16] {
        for layout in layouts.clone() {
            let case = Case::tf32(80, layout);
            let case = Case { ty, ..case };
            case.check();
            for a_layout in [Rows(32)].into_iter().chain([128, 64, 32, 16].map(Columns)) {
                let a_layout = Some(a_layout);
                Case { a_layout, ..case }.check();
            }
        }
    }
}

/// Returns a kernel with the smallest product and its descriptors in `%d1` and `%d2`.
fn smallest(initial: &str, after: &str) -> String {
    for_hopper(&module_of(
        "",
        &format!(
            ".shared .align 1024 .b8 tile[1024];
    .reg .f32 %f<8>;
    mov.u64 %d1, {first}; mov.u64 %d2, {first};
    mov.f32 %f0, 0f00000000; mov.f32 %f1, %f0; mov.f32 %f2, %f0; mov.f32 %f3, %f0;
    mov.u32 %r1, 0; mov.u32 %r2, 0; mov.u32 %r3, 0; mov.u32 %r4, 0;
    {initial}
    {SMALLEST}
    {after}
    st.global.f32 [%mine], %f0;",
            first = Rows(128).descriptor(0)
        ),
    ))
}

const SMALLEST: &str = "wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32 {%f0, %f1, %f2, %f3}, {%r1, %r2, %r3, %r4}, %d2, 0, 1, 1;";
const FENCE: &str = "wgmma.fence.sync.aligned;";
const WAIT: &str = "wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;";

/// Returns the fault of [`smallest`] in a block of `threads` threads, if any.
fn fault_of(initial: &str, after: &str, threads: u32) -> Option<FaultKind> {
    fault_in(1, initial, after, threads)
}

fn fault_in(blocks: u32, initial: &str, after: &str, threads: u32) -> Option<FaultKind> {
    let mut machine = Machine::new(&smallest(initial, after));
    let out = machine.out::<u32>(threads as usize);
    let outcome = machine.launch(&Launch::new("k", blocks, threads, params![out]));
    outcome.err().map(|fault_of| fault_of.kind)
}

fn assert_fault_contains(fault_of: Option<FaultKind>, expected: &str) {
    let text = fault_of.expect("the kernel did not fault").to_string();
    assert!(text.contains(expected), "{text}");
}

#[test]
fn missing_fence_commit_or_wait_faults() {
    assert_eq!(fault_of(FENCE, WAIT, 128), None);
    assert_eq!(fault_of(FENCE, WAIT, 256), None);
    assert_fault_contains(fault_of("", WAIT, 128), "no `wgmma.fence` comes before");
    let commit = "wgmma.commit_group.sync.aligned;";
    for after in [
        "",
        commit,
        "wgmma.wait_group.sync.aligned 0;",
        "wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 1;",
    ] {
        let message = "a thread exits without waiting for its matrix multiplications";
        assert_fault_contains(fault_of(FENCE, after, 128), message);
    }
    // A group without products counts as a group, and need not be waited for.
    let extra_group = format!("{commit} {commit} wgmma.wait_group.sync.aligned 1; {commit}");
    assert_eq!(fault_of(FENCE, &extra_group, 128), None);
}

/// The first block's warps run one by one, those of the others as gangs.
#[test]
fn missing_fence_commit_or_wait_faults_in_gangs() {
    let first = "mov.u32 %r5, %ctaid.x; setp.eq.u32 %p1, %r5, 0; @%p1";
    assert_eq!(fault_in(3, FENCE, WAIT, 256), None);
    let unfenced = fault_in(3, &format!("{first} {FENCE}"), WAIT, 256);
    assert_fault_contains(unfenced, "no `wgmma.fence` comes before");
    let commit = "wgmma.commit_group.sync.aligned;";
    let wait = format!("{commit} {first} wgmma.wait_group.sync.aligned 0;");
    assert_fault_contains(fault_in(3, FENCE, &wait, 256), "exits without waiting");
    let other = "mov.u32 %r5, %ctaid.x; setp.ne.u32 %p1, %r5, 0;";
    let out_of_bounds = format!("{other} @%p1 mov.u64 %d2, {};", Rows(128).descriptor(1024));
    let out_of_bounds = fault_in(3, &format!("{out_of_bounds} {FENCE}"), WAIT, 256);
    assert_fault_contains(out_of_bounds, "outside every shared memory");
    let incomplete_warp = format!("{other} setp.lt.and.u32 %p1, %t, 32, %p1; @%p1 ret; {FENCE}");
    let incomplete_warp = fault_in(3, &incomplete_warp, WAIT, 256);
    assert_eq!(incomplete_warp, Some(FaultKind::WarpgroupIncomplete));
}

#[test]
fn incomplete_warpgroup_faults() {
    for threads in [32, 96, 127, 160] {
        let actual = fault_of(FENCE, WAIT, threads);
        assert_eq!(actual, Some(FaultKind::WarpgroupIncomplete), "{threads}");
    }
    // One of its warps, or a part of one, exits before, or branches around the product.
    for initial in [
        "setp.lt.u32 %p1, %t, 32; @%p1 ret;",
        "setp.ge.u32 %p1, %t, 96; @%p1 ret;",
        "setp.eq.u32 %p1, %t, 64; @%p1 ret;",
    ] {
        let actual = fault_of(&format!("{initial} {FENCE}"), WAIT, 128);
        assert_eq!(actual, Some(FaultKind::WarpgroupIncomplete), "{initial}");
    }
    for warp in [0, 3] {
        let guarded = format!("setp.eq.u32 %p1, %r5, {warp}; @!%p1 {SMALLEST}");
        let initial = format!("shr.u32 %r5, %t, 5; {FENCE} {guarded}");
        let actual = fault_of(&initial, WAIT, 128);
        assert_eq!(actual, Some(FaultKind::WarpgroupIncomplete), "{warp}");
    }
}

#[test]
fn invalid_descriptors_fault() {
    let misplaced = "start at a multiple of 8 of its rows";
    let outside = "read of 16 bytes at 0x400, outside every shared memory";
    for (width, start, bits, expected) in [
        (128, 128, 0, misplaced),
        (64, 64, 0, misplaced),
        (32, 32, 0, misplaced),
        (128, 0, 1 << 49, "a base offset is not simulated"),
        (128, 1024, 0, outside),
        (16, 800, 0, outside),
    ] {
        let descriptor = Rows(width).descriptor(start) | bits;
        let initial = format!("mov.u64 %d2, {descriptor}; {FENCE}");
        assert_fault_contains(fault_of(&initial, WAIT, 128), expected);
    }
    for (width, start) in [(128, 96), (64, 512 + 32), (32, 768), (16, 768)] {
        let descriptor = Rows(width).descriptor(start);
        let initial = format!("mov.u64 %d2, {descriptor}; {FENCE}");
        assert_eq!(fault_of(&initial, WAIT, 128), None, "{width}");
    }
    let divergent_descriptors = format!("cvt.u64.u32 %d3, %t; add.u64 %d2, %d2, %d3; {FENCE}");
    let fault = fault_of(&divergent_descriptors, WAIT, 128);
    assert_fault_contains(fault, "different descriptors of one matrix");
}

#[test]
fn invalid_forms_are_rejected_with_their_line() {
    let product = "wgmma.mma_async.sync.aligned";
    let four = "{%f0, %f1, %f2, %f3}";
    for (instruction, expected) in [
        (format!("{product}.m64n12k8.f32.tf32.tf32 {four}, %d1, %d2, 1, 1, 1;"), "N a multiple of 8 up to 256, but not `m64n12k8`"),
        (format!("{product}.m64n264k8.f32.tf32.tf32 {four}, %d1, %d2, 1, 1, 1;"), "but not `m64n264k8`"),
        (format!("{product}.m64n0k8.f32.tf32.tf32 {four}, %d1, %d2, 1, 1, 1;"), "but not `m64n0k8`"),
        (format!("{product}.m64n8k16.f32.tf32.tf32 {four}, %d1, %d2, 1, 1, 1;"), "but not `m64n8k16`"),
        (format!("{product}.m64n8k8.f32.tf32.tf32 {four}, %d1, %d2, 1, 1;"), "takes the result, two matrices"),
        (format!("{product}.m64n8k16.f32.f16.f16 {four}, %d1, %d2, 1, 1, 1;"), "takes the result, two matrices"),
        (format!("{product}.m64n8k8.f32.tf32.tf32 {four}, %d1;"), "takes the result, two matrices"),
        (format!("{product}.m64n16k8.f32.tf32.tf32 {four}, %d1, %d2, 1, 1, 1;"), "expected a vector of 8 registers, found 4"),
        (format!("{product}.m64n8k8.f32.tf32.tf32 {four}, {{%r1, %r2}}, %d2, 1, 1, 1;"), "a vector of 4 registers, found 2"),
        (format!("{product}.m64n8k8.f32.tf32.tf32 {four}, %d1, %r1, 1, 1, 1;"), "64 bits wide"),
        (format!("{product}.m64n8k8.f32.tf32.tf32 {four}, %d1, %d2, %r1, 1, 1;"), "a predicate"),
        (format!("{product}.m64n8k8.f32.tf32.tf32 {four}, %d1, %d2, 1, 2, 1;"), "must be literals: here 1 or -1"),
        (format!("{product}.m64n8k16.f32.f16.f16 {four}, %d1, %d2, 1, 1, 1, 0, %r1;"), "must be literals: here 0 or 1"),
        (
            format!("{product}.m64n8k8.f32.tf32.tf32 {four}, %d1, %d2, 2, 1, 1;"),
            "must be literals: here 0 or 1",
        ),
        ("wgmma.wait_group.sync.aligned %r1;".into(), "takes a literal number of groups"),
        ("wgmma.wait_group.sync.aligned -1;".into(), "takes a literal number of groups"),
        ("wgmma.fence.sync.aligned 1;".into(), "takes no operands"),
        (format!("{product}.m64n8k16.f16.f16.f16 {{%r1, %r2}}, %d1, %d2, 1, 1, 1, 0, 0;"), "is not simulated"),
        (format!("{product}.m64n8k32.f32.e4m3.e4m3 {four}, %d1, %d2, 1, 1, 1;"), "is not simulated"),
        ("wgmma.mma_async.sp.sync.aligned.m64n8k16.f32.tf32.tf32 %f0, %d1, %d2, %r1, 0, 1, 1, 1;".into(), "is not simulated"),
        ("wgmma.fence.aligned;".into(), "is not simulated"),
        ("fence.proxy.async.shared;".into(), "is not simulated"),
    ] {
        let ptx = smallest(&instruction, "");
        assert_load_error_at(&ptx, &instruction, expected);
    }
}

#[test]
fn wgmma_requires_an_sm_90a_module_and_hopper() {
    let module = smallest(FENCE, WAIT);
    for target in ["sm_90", "sm_80", "sm_100a"] {
        let expected = format!("requires `.target sm_90a`, but the module's target is {target}");
        let module = module.replace(".version 8.0", ".version 8.6");
        assert_load_error(&module.replace("sm_90a", target), &expected);
    }
    let older = module.replace(".version 8.0", ".version 7.8");
    assert_load_error(&older, "requires `.version 8.0` or newer");
    let older = module_of("", "fence.proxy.async;");
    assert_load_error(&older, "requires `.target sm_90` or newer");
    for device in ["rtx3090", "gtx970"] {
        let device = DeviceSpec::named(device).expect("no such preset");
        let loaded = cuda_sim::lower::load(&module, device, &mut Global::new(1 << 20));
        let message = loaded.err().expect("the module was loaded").to_string();
        assert!(message.contains("the module is for sm_90a"), "{message}");
    }
}

#[test]
fn proxy_fences_are_no_ops() {
    let fences = ["", ".global", ".shared::cta", ".shared::cluster"];
    let fences = fences
        .map(|space| format!("fence.proxy.async{space};\n"))
        .concat();
    assert_eq!(fault_of(&format!("{fences}{FENCE}"), WAIT, 128), None);
}

#[test]
fn wgmma_is_counted_once_per_warp() {
    let mut machine = Machine::profiling(&smallest(FENCE, WAIT));
    let out = machine.out::<u32>(3 * 256);
    let report = machine.run("k", 3, 256, params![out]);
    let profile = record(&report).profile.as_ref();
    let profile = profile.expect("the launch has no profile");
    let counted = |name| profile.metric(name);
    let products = "smsp__inst_executed_pipe_tensor_op_hmma.sum";
    assert_eq!(counted(products), Some(3 * 8));
    assert_eq!(counted("smsp__inst_executed_op_shared_ld.sum"), Some(0));
    let wavefronts = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum";
    assert_eq!(counted(wavefronts), Some(0));
}

#[test]
fn compiled_kernel_accumulates_over_tiles() {
    const COLUMNS: usize = 256;
    let depth = 96;
    let mut machine = Machine::new(include_str!("../../kernels/ptx/products.sm_90a.ptx"));
    let numbers = noise((ROWS + COLUMNS) * depth);
    let numbers = numbers.into_iter().map(|word| (word % 17) as f32 - 8.0);
    let numbers: Vec<f32> = numbers.collect();
    let (a, b) = numbers.split_at(ROWS * depth);
    let (first, second) = (machine.buffer(a), machine.buffer(b));
    // Enough blocks that some of them run as gangs.
    let blocks = 5;
    let out = machine.out::<f32>(blocks * ROWS * COLUMNS);
    let params = params![first, second, out, depth as u32];
    let launch = Launch::new("product", blocks as u32, 128, params);
    let shared = (COLUMNS * 128) as u32;
    machine.launch(&launch.shared(shared)).unwrap();
    let actual: Vec<f32> = machine.read(out, blocks * ROWS * COLUMNS);
    for (n, actual) in actual.into_iter().enumerate() {
        let (row, column) = (n / COLUMNS % ROWS, n % COLUMNS);
        let products = (0..depth).map(|k| a[row * depth + k] * b[column * depth + k]);
        assert_eq!(actual, products.sum::<f32>(), "row {row}, column {column}");
    }
}

#[test]
fn wgmma_time_matches_the_tensor_core_rate() {
    let registers: Vec<String> = (0..128).map(|n| format!("%f{n}")).collect();
    let body = format!(
        ".shared .align 1024 .b8 tile[32768];
    .reg .f32 %f<128>;
    mov.u64 %d2, {}; mov.u32 %r9, 0;
    wgmma.fence.sync.aligned;
    LOOP: wgmma.mma_async.sync.aligned.m64n256k8.f32.tf32.tf32 {{{}}}, %d2, %d2, 1, 1, 1;
    wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;
    add.u32 %r9, %r9, 1; setp.lt.u32 %p1, %r9, 100; @%p1 bra LOOP;",
        Rows(128).descriptor(0),
        registers.join(", ")
    );
    let mut machine = Machine::new(&for_hopper(&module_of("", &body)));
    let out = machine.out::<u32>(1);
    let time = machine.record("k", 132, 256, params![out]).time;
    // 64 x 256 x 8 multiply-adds at 1024 per cycle, for two warpgroups.
    let expected = 2.0 * 100.0 * 128.0 / f64::from(machine.device.clock_khz);
    let parts = time.resources.iter();
    let actual = parts.filter(|part| part.resource == Resource::Arithmetic);
    let actual: f64 = actual.map(|part| part.milliseconds).sum();
    let error = actual / expected - 1.0;
    assert!(error.abs() < 0.01, "{actual}, {expected}");
    assert!(time.milliseconds >= actual);
}
