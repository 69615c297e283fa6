//! Programs that use the headers, and the expected output of their kernels.

use crate::compiler::{Compiler, include};
use sim_machine::{Launch, Machine, params};

/// Compares the kernel of a program for both sides with plain Rust.
pub fn everyday(compiler: &Compiler) {
    let mut machine = Machine::new(&compiler.ptx("everyday.cu"));
    let input: Vec<f32> = (0..256).map(|n| n as f32 * 0.5).collect();
    let (input_address, output_address) =
        (machine.buffer(&input), machine.buffer(&vec![0f32; 256]));
    let words = machine.buffer(&vec![0i32; 256]);
    let sum = machine.buffer(&[0f64]);
    let params = params![output_address, input_address, words, sum, 60i32];
    let outcome = machine.run("everyday", 1, 64, params);
    assert_eq!(
        String::from_utf8_lossy(&outcome.printed),
        "1 of everyday: 0.00\n"
    );
    // Copied in units of float4, up to n.
    let mut expected_copy = input;
    expected_copy[240..].fill(0.0);
    assert_eq!(machine.read::<f32>(output_address, 256), expected_copy);
    assert_eq!(machine.read::<f64>(sum, 1), [64.0 * 4.0]);
    let words: Vec<i32> = machine.read(words, 256);
    assert_eq!((words[200], words[201]), (63, 2));
    for i in 0..64i32 {
        assert_eq!(
            words[64 + i as usize],
            i * 0x0101_0101,
            "bytes of thread {i}"
        );
        let below = if i % 32 == 31 { i } else { i + 1 };
        let sums = [
            0xaaaa_aaaau32 as i32,
            below,
            i.count_ones() as i32,
            2,
            4,
            i + 6,
            60 * 60,
            1,
            1,
            3,
            5,
            0xff << (i % 32 / 8 * 8),
            i32::from(i < 32),
            1,
            3141,
            32,
        ];
        let total = sums.iter().fold(0i32, |total, word| {
            total.wrapping_mul(31).wrapping_add(*word)
        });
        assert_eq!(words[i as usize], total, "thread {i}");
    }
}

pub fn groups(compiler: &Compiler) {
    let mut machine = Machine::new(&compiler.ptx("groups.cu"));
    let input: Vec<i32> = (0..64).map(|n| n * 7 % 64).collect();
    let input_address = machine.buffer(&input);
    let output = machine.buffer(&vec![-1i32; 64 * 20]);
    machine.run("groups", 1, 64, params![input_address, output]);
    let actual: Vec<i32> = machine.read(output, 64 * 20);
    for i in 0..64 {
        let own_value = input[i];
        let warp: Vec<i32> = input[i / 32 * 32..][..32].to_vec();
        let tile: Vec<i32> = input[i / 8 * 8..][..8].to_vec();
        let lane = i % 32;
        let bits = |values: &[i32], predicate: &dyn Fn(i32) -> bool| {
            let bit = |(n, value): (usize, &i32)| i32::from(predicate(*value)) << n;
            values
                .iter()
                .enumerate()
                .map(bit)
                .fold(0, |all, bit| all | bit)
        };
        let count_matching =
            |predicate: &dyn Fn(i32) -> bool| warp.iter().filter(|v| predicate(**v)).count() as i32;
        let mut expected = vec![
            input[0] * 100 + 64,
            (i / 32) as i32 * 100 + 2,
            (i % 8) as i32 * 100 + (i % 32 / 8) as i32,
            tile.iter().sum(),
            *warp.iter().max().unwrap(),
            tile[..=i % 8].iter().sum(),
            warp[..lane].iter().sum(),
            bits(&tile, &|v| v & 1 == 1),
            tile[(i % 8) ^ 3] * 3 + tile[2],
            i32::from(tile.contains(&input[5])) + 2,
            bits(&warp, &|v| v % 3 == own_value % 3),
        ];
        let ones: Vec<i32> = warp.iter().copied().filter(|v| v % 3 == 1).collect();
        if own_value % 3 == 1 {
            let rank = ones.iter().position(|v| *v == own_value).unwrap();
            expected.extend([
                ones.len() as i32 * 100 + rank as i32,
                ones.iter().sum(),
                ones[1] * 1000 + ones[rank.saturating_sub(1)],
                2,
                rank as i32 + 1,
            ]);
        } else {
            expected.extend([-1; 5]);
        }
        expected.extend([
            (i % 16) as i32 * 100 + 16,
            count_matching(&|v| v % 3 == own_value % 3),
            i as i32,
            count_matching(&|v| v & 1 == own_value & 1),
        ]);
        assert_eq!(actual[20 * i..][..20], expected, "thread {i}");
    }
}

/// A cooperative launch: no block passes the grid barrier before all have arrived.
pub fn waiting(compiler: &Compiler) {
    let mut machine = Machine::new(&compiler.ptx("groups.cu"));
    for (blocks, threads) in [(1u32, 32), (2, 33), (132, 64)] {
        let numbers = machine.buffer(&vec![0u32; blocks as usize]);
        let launch = Launch {
            cooperative: Some(machine.grid_barrier()),
            ..Launch::new("waiting", blocks, threads, params![numbers])
        };
        machine.launch(&launch).unwrap();
        let sum = (1..=blocks).fold(0, u32::wrapping_add);
        let expected = sum.wrapping_mul(blocks).wrapping_mul(blocks);
        let actual: Vec<u32> = machine.read(numbers, blocks as usize);
        assert_eq!(
            actual,
            vec![expected; blocks as usize],
            "{blocks} of {threads}"
        );
    }
}

/// Checks the generated instructions. The simulator's own tests cover their behaviour.
pub fn images(compiler: &Compiler) {
    let ptx = compiler.ptx("images.cu");
    for instruction in [
        "tex.1d.v4.f32.s32",
        "tex.1d.v4.f32.f32",
        "tex.2d.v4.f32.f32",
        "tex.2d.v4.u32.f32",
        "tex.2d.v4.s32.f32",
        "tex.3d.v4.f32.f32",
        "tex.level.1d.v4.f32.f32",
        "tex.level.2d.v4.f32.f32",
        "tex.level.3d.v4.f32.f32",
        "suld.b.2d.b32.trap",
        "suld.b.2d.b32.clamp",
        "suld.b.2d.b8.trap",
        "suld.b.1d.b16.trap",
        "suld.b.1d.v4.b32.trap",
        "sust.b.1d.b32.trap",
        "sust.b.2d.v4.b32.trap",
        "sust.b.2d.b8.trap",
        "sust.b.2d.v2.b32.zero",
        "sust.b.3d.b32.trap",
        "tex.a1d.v4.f32.f32",
        "tex.a2d.v4.f32.f32",
        "tex.cube.v4.f32.f32",
        "tex.acube.v4.f32.f32",
        "tex.level.a1d.v4.f32.f32",
        "tex.level.a2d.v4.f32.f32",
        "tex.level.cube.v4.f32.f32",
        "tex.level.acube.v4.f32.f32",
        "suld.b.a1d.b32.trap",
        "suld.b.a2d.b32.trap",
        "sust.b.a1d.v4.b32.trap",
        "sust.b.a2d.b16.trap",
        "sust.b.a2d.v2.b32.zero",
        "sust.b.a2d.b8.clamp",
    ] {
        assert!(ptx.contains(instruction), "no {instruction} in\n{ptx}");
    }
    // The simulator supports all of them.
    Machine::new(&ptx);
}

/// Instructions that the simulator lacks must still compile for a GPU.
pub fn not_simulated(compiler: &Compiler) {
    let ptx = compiler.ptx("not_simulated.cu");
    let instruction = "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64";
    assert!(ptx.contains(instruction), "no {instruction} in\n{ptx}");
}

/// Checks types and runtime calls in plain C and C++, without CUDA's keywords.
pub fn plain_c_and_cpp(compiler: &Compiler) {
    let c = "#include <cuda_runtime_api.h>\n#include <vector_types.h>\n#include <cuComplex.h>\n\
             int main(void) { float4 v = {1, 2, 3, 4}; dim3 d = {1, 2, 3}; return (int)v.x - (int)d.x; }\n";
    let cpp = "#include <cuda_runtime.h>\n#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n#include <cuComplex.h>\n\
               int main() { dim3 d(2); __half h = __float2half(1.5f); __nv_bfloat16 b(2.0f);\n\
               return int(float(h + h)) - 3 + int(make_float2(1, 2).x) - int(float(b)) + int(d.y); }\n";
    for (language, text) in [("c", c), ("c++", cpp)] {
        let result = compiler.compile_plain(language, text);
        let message = String::from_utf8_lossy(&result.stderr);
        assert!(result.status.success(), "{language}:\n{message}");
    }
}

/// Compiles each header alone, for both sides.
pub fn each_header(compiler: &Compiler) {
    let mut names: Vec<String> = ["", "crt/", "cooperative_groups/"]
        .into_iter()
        .flat_map(|folder| {
            let entries =
                std::fs::read_dir(include().join(folder)).expect("cannot list the headers");
            entries.filter_map(move |entry| {
                let name = entry.ok()?.file_name().into_string().ok()?;
                name.ends_with(".h").then(|| format!("{folder}{name}"))
            })
        })
        .collect();
    names.sort();
    assert!(names.len() > 40, "{names:?}");
    let text: String = names
        .iter()
        .map(|name| format!("#include <{name}>\n"))
        .collect();
    // Each of these first, and then all headers.
    for side in ["host", "device"] {
        for name in [
            "curand_kernel.h",
            "cooperative_groups/scan.h",
            "cuda_bf16.h",
            "surface_functions.h",
        ] {
            let result = compiler.compile(side, &format!("#include <{name}>\n{text}"));
            let message = String::from_utf8_lossy(&result.stderr);
            assert!(result.status.success(), "{name} for the {side}:\n{message}");
        }
    }
}

/// A compile error must give the program's line, not a header's.
pub fn compile_error(compiler: &Compiler) {
    let text = "__global__ void k(float *p) {\n    p[0] = warpShuffle(p[1]);\n}\n";
    let result = compiler.compile("device", text);
    let message = String::from_utf8_lossy(&result.stderr);
    assert!(!result.status.success());
    assert!(
        message.contains("<stdin>:2:12: error: use of undeclared identifier 'warpShuffle'"),
        "{message}"
    );
}

/// Tests tensor cores through fragments, with integers so small that every type represents the sums exactly.
pub fn matrices(compiler: &Compiler) {
    let mut machine = Machine::new(&compiler.ptx("matrices.cu"));
    let input: Vec<i32> = (0..1536).map(|n| (n * n / 7 + n) % 5 - 2).collect();
    let input_address = machine.buffer(&input);
    let output = machine.buffer(&vec![0i32; 6 * 512]);
    machine.run("matrices", 1, 32, params![input_address, output]);
    let actual: Vec<i32> = machine.read(output, 6 * 512);
    // Rows, columns, length of the sum, and whether A and B are in row-major order.
    let cases = [
        (16, 16, 16, true, true),
        (16, 16, 16, false, false),
        (32, 8, 16, true, false),
        (16, 16, 16, false, true),
        (8, 32, 16, true, false),
        (8, 32, 16, true, true),
    ];
    for (number, (m, n, k, a_rows, b_rows)) in cases.into_iter().enumerate() {
        let a = |row: usize, i: usize| input[if a_rows { row * k + i } else { i * m + row }];
        let b = |i: usize, column: usize| {
            input[512
                + if b_rows {
                    i * n + column
                } else {
                    column * k + i
                }]
        };
        for row in 0..m {
            for column in 0..n {
                let sum: i32 = (0..k).map(|i| a(row, i) * b(i, column)).sum();
                let index = row * n + column;
                let expected = sum + input[1024 + index];
                assert_eq!(
                    actual[512 * number + index],
                    expected,
                    "kind {number}: {row}, {column}"
                );
            }
        }
    }

    let a: Vec<f32> = (0..128).map(|n| (n % 11) as f32 * 0.25).collect();
    let b: Vec<f32> = (0..128).map(|n| (n % 7) as f32 - 3.0).collect();
    let (a_at, b_at) = (machine.buffer(&a), machine.buffer(&b));
    let output = machine.buffer(&vec![0f32; 256]);
    machine.run("matrices_of_tf32", 1, 32, params![a_at, b_at, output]);
    let actual: Vec<f32> = machine.read(output, 256);
    for (index, actual) in actual.iter().enumerate() {
        let (row, column) = (index / 16, index % 16);
        let sum: f32 = (0..8).map(|i| a[row * 8 + i] * b[i * 16 + column]).sum();
        assert_eq!(*actual, sum, "{row}, {column}");
    }

    // Programs store to fragments' registers with `ldmatrix`.
    let halves: Vec<u16> = (0..256).map(|n| 0x3c00 + n).collect();
    let halves = machine.buffer(&halves);
    let output = machine.buffer(&vec![0u32; 32 * 8 * 4]);
    machine.run("matrix_registers", 1, 32, params![halves, output]);
    let registers: Vec<u32> = machine.read(output, 32 * 8 * 4);
    for (index, pair) in registers.chunks(2).enumerate() {
        assert_eq!(
            pair[0],
            pair[1],
            "lane {}, register {}",
            index / 16,
            index / 2 % 8
        );
    }
}
