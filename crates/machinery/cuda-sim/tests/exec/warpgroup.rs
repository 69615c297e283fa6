//! `wgmma`: products of a warpgroup compared with sums in plain Rust, in every layout of shared memory, and
//! rejected forms. The numbers are small integers, so that every sum is exact.

use std::fmt::Write as _;

use crate::harness::{Machine, load_error, module_of, noise};
use crate::params;
use cuda_sim::device::DeviceSpec;
use cuda_sim::exec::FaultKind;
use cuda_sim::memory::global::Global;
use cuda_sim::model::Resource;

const ROWS: usize = 64;
const THREADS: usize = 128;
/// Bytes of each row that one instruction consumes.
const DEEP: usize = 32;

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
            Rows(width) => width.max(DEEP),
            Columns(_) => DEEP,
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
    fn place(self, row: usize, byte: usize) -> usize {
        let [leading, stride] = self.offsets();
        // The offset in a line of the swizzle pattern, given the line.
        let swizzled = |line: usize, at: usize| {
            let turned = match self.width() {
                128 => line % 8,
                64 => line % 8 / 2,
                _ => line % 8 / 4,
            };
            line % 8 * self.width() + ((at / 16) ^ turned) * 16 + at % 16
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
    first: Option<Layout>,
    second: Layout,
    adds: &'static str,
    signs: [i32; 2],
}

impl Case {
    /// Returns a product like that of the ladder's kernel, with B in the given layout.
    fn tf32(columns: usize, second: Layout) -> Case {
        Case {
            columns,
            ty: Type::Tf32,
            first: None,
            second,
            adds: "%p1",
            signs: [1, 1],
        }
    }

    /// Returns the elements per row that one instruction consumes.
    fn deep(&self) -> usize {
        DEEP / self.ty.bytes()
    }

    /// Returns the instructions per row.
    fn steps(&self) -> usize {
        let bytes = |layout: Layout| layout.row_bytes() / DEEP;
        // Registers hold the fragment of one instruction.
        match self.first {
            None => 1,
            Some(first) => bytes(first).min(bytes(self.second)),
        }
    }

    fn instruction(&self, step: usize) -> String {
        let deep = self.deep();
        let (columns, ty) = (self.columns, self.ty.name());
        let registers: Vec<String> = (0..columns / 2).map(|n| format!("%f{n}")).collect();
        let (first, trans) = match self.first {
            None => ("{%r1, %r2, %r3, %r4}", ""),
            Some(Columns(_)) => ("%d1", ", 1"),
            Some(Rows(_)) => ("%d1", ", 0"),
        };
        let trans = match (self.ty, self.second) {
            (Type::Tf32, _) => String::new(),
            (_, Columns(_)) => format!("{trans}, 1"),
            (_, Rows(_)) => format!("{trans}, 0"),
        };
        let adds = if step > 0 { "1" } else { self.adds };
        let [a, b] = self.signs;
        format!(
            "wgmma.mma_async.sync.aligned.m64n{columns}k{deep}.f32.{ty}.{ty} {{{}}}, {first}, %d2, {adds}, {a}, {b}{trans};",
            registers.join(", ")
        )
    }

    /// Returns a kernel that loads both matrices to shared memory and multiplies.
    fn kernel(&self, first_bytes: usize, shared: usize) -> String {
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
            let descriptor = |layout: Layout, start| layout.descriptor(start + step * DEEP);
            let first = self.first.map_or(0, |first| descriptor(first, 0));
            let second = descriptor(self.second, first_bytes);
            // The tile is the only shared variable, so its address is zero.
            writeln!(body, "mov.u64 %d1, {first}; mov.u64 %d2, {second};").unwrap();
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
        let (deep, steps) = (self.deep(), self.steps());
        let whole = |word: u32, most: u32| (word % (2 * most + 1)) as f32 - most as f32;
        let numbers = noise((ROWS + self.columns) * deep * steps);
        let numbers: Vec<f32> = numbers.into_iter().map(|word| whole(word, 7)).collect();
        let (a, b) = numbers.split_at(ROWS * deep * steps);
        let added: Vec<f32> = noise(ROWS * self.columns)
            .into_iter()
            .map(|word| whole(word >> 8, 100))
            .collect();

        // Shared memory has A, then B.
        let first_rows = self.first.map_or(0, |layout| ROWS * layout.row_bytes());
        let first_bytes = first_rows.next_multiple_of(1024);
        let second_bytes = self.columns * self.second.row_bytes();
        let second_bytes = match self.second {
            // Round up to whole swizzle patterns.
            Columns(width) => second_bytes.next_multiple_of(DEEP * width / 2),
            Rows(_) => second_bytes,
        };
        let shared = (first_bytes + second_bytes).next_multiple_of(512);
        let mut memory = vec![0; shared];
        let mut put = |layout: Layout, start: usize, row: usize, k: usize, value: f32| {
            for (n, byte) in self.ty.bits(value).into_iter().enumerate() {
                let at = layout.place(row, k * self.ty.bytes() + n);
                memory[start + at] = byte;
            }
        };
        let all = deep * steps;
        for (n, &value) in a.iter().enumerate() {
            if let Some(first) = self.first {
                put(first, 0, n / all, n % all, value);
            }
        }
        for (n, &value) in b.iter().enumerate() {
            put(self.second, first_bytes, n / all, n % all, value);
        }

        // The registers of A, then the accumulators, as in the PTX ISA's figures.
        for thread in 0..THREADS {
            let (warp, lane) = (thread / 32, thread % 32);
            for register in 0..4 {
                let row = 16 * warp + lane / 4 + register % 2 * 8;
                let each = 4 / self.ty.bytes();
                let k = register / 2 * 4 * each + lane % 4 * each;
                for part in 0..each {
                    memory.extend(self.ty.bits(a[row * all + k + part]));
                }
            }
        }
        let place = |thread: usize, n: usize| {
            let (warp, lane) = (thread / 32, thread % 32);
            let row = 16 * warp + lane / 4 + n % 4 / 2 * 8;
            (row, n / 4 * 8 + lane % 4 * 2 + n % 2)
        };
        let results = self.columns / 2;
        for thread in 0..THREADS {
            for n in 0..results {
                let (row, column) = place(thread, n);
                memory.extend(added[row * self.columns + column].to_le_bytes());
            }
        }

        let mut machine = Machine::new(&self.kernel(first_bytes, shared));
        let buffer = machine.buffer(&memory);
        machine.run("k", 1, THREADS as u32, params![buffer]);
        let found: Vec<f32> =
            machine.read(buffer + (shared + THREADS * 16) as u64, THREADS * results);
        let sign = (self.signs[0] * self.signs[1]) as f32;
        for thread in 0..THREADS {
            for n in 0..results {
                let (row, column) = place(thread, n);
                let products = (0..all).map(|k| a[row * all + k] * b[column * all + k]);
                let before = match self.adds {
                    "0" | "!%p1" => 0.0,
                    _ => added[row * self.columns + column],
                };
                let wanted = before + sign * products.sum::<f32>();
                let found = found[thread * results + n];
                assert_eq!(found, wanted, "{self:?}: row {row}, column {column}");
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
fn the_second_matrix_is_read_in_every_layout() {
    for layout in TF32 {
        for columns in [8, 24, 128, 256] {
            Case::tf32(columns, layout).check();
        }
    }
}

#[test]
fn so_is_the_first_a_part_of_a_row_after_the_other() {
    for first in TF32 {
        for second in TF32 {
            Case {
                first: Some(first),
                ..Case::tf32(24, second)
            }
            .check();
        }
    }
}

#[test]
fn sums_are_added_or_not_and_have_their_signs() {
    for adds in ["%p1", "!%p1", "0", "1"] {
        for signs in [[1, 1], [-1, 1], [1, -1], [-1, -1]] {
            for (ty, first) in [
                (Type::Tf32, None),
                (Type::Tf32, Some(Rows(128))),
                (Type::F16, None),
                (Type::Bf16, Some(Rows(64))),
            ] {
                Case {
                    ty,
                    first,
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
fn matrices_of_16_bit_elements_may_lie_by_rows_or_by_columns() {
    let layouts = TF32.into_iter().chain([128, 64, 32, 16].map(Columns));
    for ty in [Type::F16, Type::Bf16] {
        for layout in layouts.clone() {
            let case = Case {
                ty,
                ..Case::tf32(80, layout)
            };
            case.check();
            for first in [
                Rows(32),
                Columns(128),
                Columns(64),
                Columns(32),
                Columns(16),
            ] {
                Case {
                    first: Some(first),
                    ..case
                }
                .check();
            }
        }
    }
}

/// Returns a kernel with the smallest product and its descriptors in `%d1` and `%d2`.
fn smallest(before: &str, after: &str) -> String {
    for_hopper(&module_of(
        "",
        &format!(
            ".shared .align 1024 .b8 tile[1024];
    .reg .f32 %f<8>;
    mov.u64 %d1, {first}; mov.u64 %d2, {first};
    mov.f32 %f0, 0f00000000; mov.f32 %f1, %f0; mov.f32 %f2, %f0; mov.f32 %f3, %f0;
    mov.u32 %r1, 0; mov.u32 %r2, 0; mov.u32 %r3, 0; mov.u32 %r4, 0;
    {before}
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
fn fault(before: &str, after: &str, threads: u32) -> Option<FaultKind> {
    fault_in(1, before, after, threads)
}

fn fault_in(blocks: u32, before: &str, after: &str, threads: u32) -> Option<FaultKind> {
    let mut machine = Machine::new(&smallest(before, after));
    let out = machine.out::<u32>(threads as usize);
    let outcome = machine.launch("k", blocks, threads, params![out]);
    outcome.err().map(|fault| fault.kind)
}

fn assert_says(fault: Option<FaultKind>, wanted: &str) {
    let text = fault.expect("a fault").to_string();
    assert!(text.contains(wanted), "{text}");
}

#[test]
fn what_a_kernel_has_to_say_around_its_products_is_demanded() {
    assert_eq!(fault(FENCE, WAIT, 128), None);
    assert_eq!(fault(FENCE, WAIT, 256), None);
    assert_says(fault("", WAIT, 128), "no `wgmma.fence` comes before");
    let commit = "wgmma.commit_group.sync.aligned;";
    for after in [
        "",
        commit,
        "wgmma.wait_group.sync.aligned 0;",
        "wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 1;",
    ] {
        let message = "a thread ends and has not waited for its products";
        assert_says(fault(FENCE, after, 128), message);
    }
    // A group without products counts as a group, and need not be waited for.
    let one_more = format!("{commit} {commit} wgmma.wait_group.sync.aligned 1; {commit}");
    assert_eq!(fault(FENCE, &one_more, 128), None);
}

/// The first block's warps run one by one, those of the others as gangs.
#[test]
fn so_it_is_of_warps_in_step() {
    let first = "mov.u32 %r5, %ctaid.x; setp.eq.u32 %p1, %r5, 0; @%p1";
    assert_eq!(fault_in(3, FENCE, WAIT, 256), None);
    let unfenced = fault_in(3, &format!("{first} {FENCE}"), WAIT, 256);
    assert_says(unfenced, "no `wgmma.fence` comes before");
    let commit = "wgmma.commit_group.sync.aligned;";
    let wait = format!("{commit} {first} wgmma.wait_group.sync.aligned 0;");
    assert_says(fault_in(3, FENCE, &wait, 256), "has not waited");
    let other = "mov.u32 %r5, %ctaid.x; setp.ne.u32 %p1, %r5, 0;";
    let outside = format!("{other} @%p1 mov.u64 %d2, {};", Rows(128).descriptor(1024));
    let outside = fault_in(3, &format!("{outside} {FENCE}"), WAIT, 256);
    assert_says(outside, "outside every shared memory");
    let incomplete = format!("{other} setp.lt.and.u32 %p1, %t, 32, %p1; @%p1 ret; {FENCE}");
    let incomplete = fault_in(3, &incomplete, WAIT, 256);
    assert_eq!(incomplete, Some(FaultKind::WarpgroupIncomplete));
}

#[test]
fn a_warpgroup_has_all_of_its_threads() {
    for threads in [32, 96, 127, 160] {
        let found = fault(FENCE, WAIT, threads);
        assert_eq!(found, Some(FaultKind::WarpgroupIncomplete), "{threads}");
    }
    // One of its warps, or a part of one, exits before, or branches around the product.
    for before in [
        "setp.lt.u32 %p1, %t, 32; @%p1 ret;",
        "setp.ge.u32 %p1, %t, 96; @%p1 ret;",
        "setp.eq.u32 %p1, %t, 64; @%p1 ret;",
    ] {
        let found = fault(&format!("{before} {FENCE}"), WAIT, 128);
        assert_eq!(found, Some(FaultKind::WarpgroupIncomplete), "{before}");
    }
    for warp in [0, 3] {
        let around = format!("setp.eq.u32 %p1, %r5, {warp}; @!%p1 {SMALLEST}");
        let before = format!("shr.u32 %r5, %t, 5; {FENCE} {around}");
        let found = fault(&before, WAIT, 128);
        assert_eq!(found, Some(FaultKind::WarpgroupIncomplete), "{warp}");
    }
}

#[test]
fn descriptors_that_mean_nothing_are_refused() {
    for (descriptor, wanted) in [
        (
            Rows(128).descriptor(128),
            "begin at a multiple of 8 of its rows",
        ),
        (
            Rows(64).descriptor(64),
            "begin at a multiple of 8 of its rows",
        ),
        (
            Rows(32).descriptor(32),
            "begin at a multiple of 8 of its rows",
        ),
        (
            Rows(128).descriptor(0) | 1 << 49,
            "a base offset is not simulated",
        ),
        (
            Rows(128).descriptor(1024),
            "read of 16 bytes at 0x400, outside every shared memory",
        ),
        (
            Rows(16).descriptor(800),
            "read of 16 bytes at 0x400, outside every shared memory",
        ),
    ] {
        let before = format!("mov.u64 %d2, {descriptor}; {FENCE}");
        assert_says(fault(&before, WAIT, 128), wanted);
    }
    for (width, start) in [(128, 96), (64, 512 + 32), (32, 768), (16, 768)] {
        let descriptor = Rows(width).descriptor(start);
        let before = format!("mov.u64 %d2, {descriptor}; {FENCE}");
        assert_eq!(fault(&before, WAIT, 128), None, "{width}");
    }
    let each_its_own = format!("cvt.u64.u32 %d3, %t; add.u64 %d2, %d2, %d3; {FENCE}");
    assert_says(
        fault(&each_its_own, WAIT, 128),
        "different descriptors of one matrix",
    );
}

#[test]
fn what_is_wrong_is_refused_on_its_line() {
    let product = "wgmma.mma_async.sync.aligned";
    let four = "{%f0, %f1, %f2, %f3}";
    for (instruction, wanted) in [
        (format!("{product}.m64n12k8.f32.tf32.tf32 {four}, %d1, %d2, 1, 1, 1;"), "N a multiple of 8 up to 256: there is no `m64n12k8`"),
        (format!("{product}.m64n264k8.f32.tf32.tf32 {four}, %d1, %d2, 1, 1, 1;"), "there is no `m64n264k8`"),
        (format!("{product}.m64n0k8.f32.tf32.tf32 {four}, %d1, %d2, 1, 1, 1;"), "there is no `m64n0k8`"),
        (format!("{product}.m64n8k16.f32.tf32.tf32 {four}, %d1, %d2, 1, 1, 1;"), "there is no `m64n8k16`"),
        (format!("{product}.m64n8k8.f32.tf32.tf32 {four}, %d1, %d2, 1, 1;"), "takes the result, two matrices"),
        (format!("{product}.m64n8k16.f32.f16.f16 {four}, %d1, %d2, 1, 1, 1;"), "takes the result, two matrices"),
        (format!("{product}.m64n8k8.f32.tf32.tf32 {four}, %d1;"), "takes the result, two matrices"),
        (format!("{product}.m64n16k8.f32.tf32.tf32 {four}, %d1, %d2, 1, 1, 1;"), "a vector of 4 registers stands where the instruction wants 8"),
        (format!("{product}.m64n8k8.f32.tf32.tf32 {four}, {{%r1, %r2}}, %d2, 1, 1, 1;"), "a vector of 2 registers"),
        (format!("{product}.m64n8k8.f32.tf32.tf32 {four}, %d1, %r1, 1, 1, 1;"), "64 bits wide"),
        (format!("{product}.m64n8k8.f32.tf32.tf32 {four}, %d1, %d2, %r1, 1, 1;"), "a predicate"),
        (format!("{product}.m64n8k8.f32.tf32.tf32 {four}, %d1, %d2, 1, 2, 1;"), "stand literals: here 1 or -1"),
        (format!("{product}.m64n8k16.f32.f16.f16 {four}, %d1, %d2, 1, 1, 1, 0, %r1;"), "stand literals: here 0 or 1"),
        (
            format!("{product}.m64n8k8.f32.tf32.tf32 {four}, %d1, %d2, 2, 1, 1;"),
            "stand literals: here 0 or 1",
        ),
        ("wgmma.wait_group.sync.aligned %r1;".into(), "takes a number of groups, a literal"),
        ("wgmma.wait_group.sync.aligned -1;".into(), "takes a number of groups, a literal"),
        ("wgmma.fence.sync.aligned 1;".into(), "takes no operands"),
        (format!("{product}.m64n8k16.f16.f16.f16 {{%r1, %r2}}, %d1, %d2, 1, 1, 1, 0, 0;"), "is not simulated"),
        (format!("{product}.m64n8k32.f32.e4m3.e4m3 {four}, %d1, %d2, 1, 1, 1;"), "is not simulated"),
        ("wgmma.mma_async.sp.sync.aligned.m64n8k16.f32.tf32.tf32 %f0, %d1, %d2, %r1, 0, 1, 1, 1;".into(), "is not simulated"),
        ("wgmma.fence.aligned;".into(), "is not simulated"),
        ("fence.proxy.async.shared;".into(), "is not simulated"),
    ] {
        let ptx = smallest(&instruction, "");
        let line = ptx.lines().position(|line| line.contains(&instruction));
        let line = line.expect("a line") + 1;
        let message = load_error(&ptx).to_string();
        assert!(message.starts_with(&format!("line {line}: ")), "{message}");
        assert!(message.contains(wanted), "{message}");
    }
}

#[test]
fn only_modules_for_hopper_have_them_and_only_hopper_loads_these() {
    let right = smallest(FENCE, WAIT);
    for target in ["sm_90", "sm_80", "sm_100a"] {
        let message = load_error(&right.replace("sm_90a", target)).to_string();
        let wanted = format!("requires `.target sm_90a`, but the module's target is {target}");
        assert!(message.contains(&wanted), "{message}");
    }
    let message = load_error(&right.replace(".version 8.0", ".version 7.8")).to_string();
    assert!(
        message.contains("requires `.version 8.0` or newer"),
        "{message}"
    );
    let message = load_error(&module_of("", "fence.proxy.async;")).to_string();
    assert!(
        message.contains("requires `.target sm_90` or newer"),
        "{message}"
    );
    for device in ["rtx3090", "gtx970"] {
        let device = DeviceSpec::named(device).expect("a preset");
        let loaded = cuda_sim::lower::load(&right, device, &mut Global::new(1 << 20));
        let message = loaded.err().expect("refused").to_string();
        assert!(message.contains("the module is for sm_90a"), "{message}");
    }
}

#[test]
fn proxy_fences_do_nothing_here() {
    let fences = ["", ".global", ".shared::cta", ".shared::cluster"];
    let fences: String = fences
        .map(|of| format!("fence.proxy.async{of};\n"))
        .concat();
    assert_eq!(fault(&format!("{fences}{FENCE}"), WAIT, 128), None);
}

#[test]
fn products_are_counted_once_for_each_warp() {
    let mut machine = Machine::profiling(&smallest(FENCE, WAIT));
    let out = machine.out::<u32>(3 * 256);
    let report = machine.run("k", 3, 256, params![out]);
    let profile = report.profile.expect("a profile");
    let counted = |name| profile.metric(name);
    assert_eq!(
        counted("smsp__inst_executed_pipe_tensor_op_hmma.sum"),
        Some(3 * 8)
    );
    assert_eq!(counted("smsp__inst_executed_op_shared_ld.sum"), Some(0));
    let wavefronts = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum";
    assert_eq!(counted(wavefronts), Some(0));
}

#[test]
fn a_compiled_kernel_multiplies_tile_after_tile() {
    const COLUMNS: usize = 256;
    let depth = 96;
    let mut machine = Machine::new(include_str!("../../kernels/ptx/products.sm_90a.ptx"));
    machine.dynamic_shared = (COLUMNS * 128) as u32;
    let numbers = noise((ROWS + COLUMNS) * depth);
    let numbers: Vec<f32> = numbers
        .into_iter()
        .map(|word| (word % 17) as f32 - 8.0)
        .collect();
    let (a, b) = numbers.split_at(ROWS * depth);
    let (first, second) = (machine.buffer(a), machine.buffer(b));
    // Enough blocks that some of them run as gangs.
    let blocks = 5;
    let out = machine.out::<f32>(blocks * ROWS * COLUMNS);
    let params = params![first, second, out, depth as u32];
    machine.run("product", blocks as u32, 128, params);
    let found: Vec<f32> = machine.read(out, blocks * ROWS * COLUMNS);
    for (n, found) in found.into_iter().enumerate() {
        let (row, column) = (n / COLUMNS % ROWS, n % COLUMNS);
        let products = (0..depth).map(|k| a[row * depth + k] * b[column * depth + k]);
        assert_eq!(found, products.sum::<f32>(), "row {row}, column {column}");
    }
}

#[test]
fn products_take_the_time_of_the_tensor_cores() {
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
    let time = machine.run("k", 132, 256, params![out]).time;
    // 64 x 256 x 8 multiply-adds at 1024 per cycle, for two warpgroups.
    let expected = 2.0 * 100.0 * 128.0 / f64::from(machine.device.clock_khz);
    let parts = time.parts.iter();
    let found = parts.filter(|part| part.resource == Resource::Arithmetic);
    let found: f64 = found.map(|part| part.milliseconds).sum();
    assert!((found / expected - 1.0).abs() < 0.01, "{found}, {expected}");
    assert!(time.milliseconds >= found);
}
