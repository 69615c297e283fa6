//! Measurements beyond the note: the memory's limit, and the rungs towards it.

use std::collections::HashMap;

use anyhow::Result;
use chapter::{Chapter, Entry, launch, limit};
use common::module;
use common::timing::Measured;
use common::verify::{POISON, compare};
use cust::launch;
use cust::memory::{CopyDestination as _, DeviceBuffer};

use crate::addition::Addition;
use crate::flags::Flags;
use crate::pattern::{AccessPattern, NUM_VALUES};
use crate::reference;
use crate::variant::{self, Shape, Values};

/// The kernel that adds a constant, compiled to PTX.
const VECTOR_PTX: &str = include_str!(env!("ADD_CONSTANT_LADDER_VECTOR_PTX"));

/// The constant that it adds to every input.
const VECTOR_VALUE: i32 = 1357;

/// Lists the ideas of the selected rungs and measures a copy of as many bytes as each run moves, before the
/// note's kernels run. Does nothing if no rung was selected.
///
/// # Errors
///
/// Fails if CUDA reports an error.
pub fn prepare(flags: &Flags, chapter: &Chapter) -> Result<()> {
    if chapter.with_ladder(&flags.variants().supported_on(&chapter.gpu.info)) {
        let mut limits = HashMap::new();
        for sums in flags.sums() {
            let bytes = sums as usize * size_of::<i32>();
            limits.insert(sums, limit::copy_of(&chapter.gpu, chapter.repeat(), bytes));
        }
        chapter.limit_of(move |_, addition: &Addition| limits[&addition.sums].clone());
    }
    Ok(())
}

/// Runs each selected rung in the same pattern, after the note's kernels.
///
/// # Errors
///
/// Fails if CUDA reports an error, such as that of a failed kernel.
pub fn run(
    flags: &Flags,
    chapter: &Chapter,
    pattern: AccessPattern,
    values: &DeviceBuffer<i32>,
    inputs: &DeviceBuffer<i32>,
    sums: &mut DeviceBuffer<i32>,
    expected: &[i32],
) -> Result<()> {
    let (gpu, stream) = (&chapter.gpu, &chapter.gpu.stream);
    for rung in flags.variants().supported_on(&gpu.info).rungs() {
        let module = module::load(rung.ptx)?;
        if rung.values == Values::Constant {
            let mut host_values = [0; NUM_VALUES];
            values.copy_to(&mut host_values)?;
            module::symbol::<[i32; NUM_VALUES]>(&module, c"const_values")?
                .copy_from(&host_values)?;
        }
        let kernel = module.get_function(rung.kernel)?;
        let num_sums = expected.len() as u32;
        let Shape {
            grid,
            block,
            shared,
        } = variant::shape_of(gpu, &kernel, rung, num_sums, flags.block())?;
        sums.set_8(POISON)?;
        let measured = chapter.measure(rung.name, || {
            // SAFETY: the arguments match the parameters of all rungs' kernels; there are `num_sums` inputs
            // and sums and `NUM_VALUES` values, in allocations aligned to at least 16 bytes and in the
            // symbol.
            unsafe {
                launch!(kernel<<<grid, block, shared, stream>>>(
                    sums.as_device_ptr(), inputs.as_device_ptr(), values.as_device_ptr(),
                    num_sums, pattern.number()
                ))
            }
        })?;
        add(chapter, rung.name, Some(pattern), measured, sums, expected)?;
    }
    Ok(())
}

/// Runs `vector`, after all patterns: it moves the same bytes, 16 per thread, and adds a constant. Its time
/// is about the limit of the memory.
///
/// # Errors
///
/// Fails where [`run`] does.
pub fn vector(
    flags: &Flags,
    chapter: &Chapter,
    host_inputs: &[i32],
    inputs: &DeviceBuffer<i32>,
    sums: &mut DeviceBuffer<i32>,
) -> Result<()> {
    vector_of(VECTOR_PTX, flags, chapter, host_inputs, inputs, sums)
}

fn vector_of(
    ptx: &str,
    flags: &Flags,
    chapter: &Chapter,
    host_inputs: &[i32],
    inputs: &DeviceBuffer<i32>,
    sums: &mut DeviceBuffer<i32>,
) -> Result<()> {
    let stream = &chapter.gpu.stream;
    let module = module::load(ptx)?;
    let kernel = module.get_function("add_constant_vector")?;
    let num_sums = host_inputs.len() as u32;
    let threads = num_sums / 4 + num_sums % 4;
    let (grid, block) = launch::grid_1d(&chapter.gpu.device, threads, flags.block())?;
    sums.set_8(POISON)?;
    let measured = chapter.measure("vector", || {
        // SAFETY: the arguments match the parameters of `add_constant_vector`; there are `num_sums` inputs
        // and sums, in allocations aligned to at least 16 bytes.
        unsafe {
            launch!(kernel<<<grid, block, 0, stream>>>(
                sums.as_device_ptr(), inputs.as_device_ptr(), VECTOR_VALUE, num_sums
            ))
        }
    })?;
    let expected = reference::add_vector(host_inputs, VECTOR_VALUE);
    add(chapter, "vector", None, measured, sums, &expected)
}

/// Reads the sums back, compares them and adds the result to the report.
fn add(
    chapter: &Chapter,
    name: &str,
    pattern: Option<AccessPattern>,
    measured: Measured,
    sums: &DeviceBuffer<i32>,
    expected: &[i32],
) -> Result<()> {
    let check = compare(&sums.as_host_vec()?, expected, |actual, expected| {
        actual == expected
    });
    let verdict = check.verdict(|index| format!("sum {index}"));
    let addition = Addition::new(expected.len() as u32, pattern, &measured.timing);
    chapter.add(Entry::new(name, measured, verdict).with(|_| addition));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use chapter_test::{row, run_child};
    use clap::Parser as _;
    use common::error;
    use std::process::ExitCode;

    /// Four additions per thread, without the remaining ones.
    #[test]
    #[ignore = "another test runs it in a process of its own"]
    fn missing_remainder() {
        let ptx = VECTOR_PTX.replacen(", 3;", ", 0;", 1);
        assert_ne!(
            ptx, VECTOR_PTX,
            "the kernel no longer contains the text to replace"
        );
        let flags = Flags::parse_from(["add-constant", "--sums", "18"]);
        let run = || {
            let chapter = flags.open()?;
            let inputs = DeviceBuffer::from_slice(&[1; 18])?;
            let mut sums = DeviceBuffer::from_slice(&[0; 18])?;
            vector_of(&ptx, &flags, &chapter, &[1; 18], &inputs, &mut sums)?;
            flags.finish(&chapter)
        };
        assert_eq!(error::exit(run()), ExitCode::FAILURE);
    }

    #[test]
    fn missing_elements_keep_the_poison() {
        let (table, notes) = run_child("ladder::tests::missing_remainder", ".".as_ref());
        assert_eq!(row(&table, "vector").last(), Some(&"WRONG"), "{table}");
        let expected =
            "error: vector: wrong result: 2 of 18 differ: sum 16 is -1 and should be 1358";
        assert!(notes.contains(expected), "{notes}");
    }
}
