//! Divergent branches and loops, in the compiler's code layout.

use crate::harness::*;

const PTX: &str = include_str!("../../kernels/ptx/divergence.ptx");

/// Runs `kernel` over two blocks of every size, and compares each thread's word with `expected` of its
/// input.
fn compare(
    kernel: &str,
    inputs: impl Fn(usize) -> Vec<u32>,
    expected: impl Fn(u32, &[u32]) -> u32,
) {
    for block in BLOCK_SIZES {
        let count = 2 * block as usize;
        let input = inputs(count);
        let mut machine = Machine::new(PTX);
        let (out, source) = (machine.out::<u32>(count), machine.buffer(&input));
        machine.run(kernel, 2, block, params![out, source]);
        let expected: Vec<u32> = input.iter().map(|&x| expected(x, &input)).collect();
        assert_memory(
            &machine,
            out,
            &expected,
            format!("{kernel}, blocks of {block}"),
        );
    }
}

fn collatz(mut x: u32, max_steps: u32) -> u32 {
    let mut steps = 0;
    while x > 1 {
        if steps == max_steps {
            return 1000 + x;
        }
        x = if x & 1 == 1 { 3 * x + 1 } else { x / 2 };
        steps += 1;
    }
    steps
}

#[test]
fn nested_ifs_reconverge() {
    compare("nested_ifs", noise, |x, _| {
        let mut r = 1;
        if x & 1 != 0 {
            r += 10;
            if x & 2 != 0 {
                r *= 3;
                r = if x & 4 != 0 { r + 7 } else { r ^ 5 };
            } else {
                r = x.wrapping_add(r);
            }
            r = r.wrapping_add(100);
        } else if x & 2 != 0 {
            r += 20;
        } else if x & 4 != 0 {
            r += 30;
        } else {
            r += 40;
        }
        r.wrapping_add(1000)
    });
}

#[test]
fn lanes_leave_a_loop_in_different_iterations() {
    let inputs = |count| noise(count).into_iter().map(|x| x % 500).collect();
    compare("trip_counts", inputs, |x, _| collatz(x, u32::MAX));
}

#[test]
fn nested_breaks_and_continues_are_correct() {
    compare("nested_loops", noise, |x, _| {
        let mut sum = 0;
        for a in 0..x & 15 {
            if a == x >> 4 & 7 {
                continue;
            }
            for b in 0..9 {
                if x.wrapping_add(a + b) % 5 == 0 {
                    continue;
                }
                if a * b > x & 31 {
                    break;
                }
                sum += a * 16 + b;
            }
            if sum > 700 {
                break;
            }
        }
        sum
    });
}

#[test]
fn early_returns_are_correct() {
    for block in BLOCK_SIZES {
        let count = 3 * block;
        // The last block is partial, and in a second run all blocks are empty.
        for n in [count - block / 2, 0] {
            let input: Vec<u32> = noise(count as usize).into_iter().map(|x| x % 9).collect();
            let mut machine = Machine::new(PTX);
            let (out, source) = (machine.out::<u32>(count as usize), machine.buffer(&input));
            machine.run("early_return", 3, block, params![out, source, n]);
            let expected = input.iter().enumerate().map(|(i, &x)| match x {
                _ if i as u32 >= n => 0xa5a5_a5a5,
                x if x & 1 == 1 => 1,
                x if x > 5 => 2 + (0..5).sum::<u32>(),
                x => 52 + (0..x).sum::<u32>(),
            });
            let expected: Vec<u32> = expected.collect();
            assert_memory(&machine, out, &expected, format!("blocks of {block}"));
        }
    }
}

#[test]
fn switches_with_fallthrough_are_correct() {
    compare("switches", noise, |x, _| {
        let r = match x % 7 {
            0 => x.wrapping_add(3),
            1 => x.wrapping_mul(5) ^ 0x55,
            2 => x ^ 0x55,
            3 => (9 - 2) << 1,
            4 => x.wrapping_sub(2) << 1,
            5 => x << 1,
            _ => !x,
        };
        r.wrapping_add(1)
    });
}

#[test]
fn short_circuit_skips_second_operand() {
    for block in BLOCK_SIZES {
        let count = block as usize;
        // Half of the indices are far outside the array, where a read would fault.
        let input: Vec<u32> = noise(count)
            .into_iter()
            .map(|x| {
                if x & 4 == 0 {
                    x % block
                } else {
                    x | 0x4000_0000
                }
            })
            .collect();
        let mut machine = Machine::new(PTX);
        let (out, source) = (machine.out::<u32>(count), machine.buffer(&input));
        machine.run("short_circuit", 1, block, params![out, source, block]);
        let element = |x: u32| input.get(x as usize).copied();
        let expected: Vec<u32> = input
            .iter()
            .map(|&x| {
                let first = element(x).and_then(element).is_some_and(|y| y & 1 == 1);
                let second = element(x).is_none_or(|y| y & 2 == 2);
                u32::from(first) | u32::from(second) << 1
            })
            .collect();
        assert_memory(&machine, out, &expected, format!("blocks of {block}"));
    }
}

fn choose_steps(x: u32) -> u32 {
    match x % 3 {
        0 => collatz(x, 10),
        1 => 5 + collatz(x + 1, 3),
        _ => x,
    }
}

#[test]
fn lanes_diverge_inside_functions() {
    let inputs = |count| noise(count).into_iter().map(|x| x % 300).collect();
    compare("in_functions", inputs, |x, _| {
        let second = if x & 1 == 1 { choose_steps(x / 2) } else { 0 };
        (choose_steps(x) + second) * 2
    });
}

#[test]
fn threads_exit_inside_functions() {
    let inputs = |count| noise(count).into_iter().map(|x| x % 300).collect();
    compare("exit_in_function", inputs, |x, _| match x & 3 {
        3 => 7,
        2 => x + collatz(x, 5) + 100,
        _ => 103,
    });
}
