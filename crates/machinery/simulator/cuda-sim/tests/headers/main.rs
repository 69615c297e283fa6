//! Tests of the headers that CUDA programs include by their usual names (`kernels/include`): programs that use
//! them compile for both sides, and their kernels give the expected results on the simulator.
//!
//! These tests need a clang with the NVPTX target and a C++ library. Warpbook's tests must not need anything
//! but Rust, so without them these tests are ignored and print the reason. Each clang that is found runs all
//! tests.

mod compiler;
mod generators;
mod numbers;
mod programs;
mod words;

use std::process::ExitCode;

use compiler::Compiler;
use libtest_mimic::{Arguments, Completion, Trial};

/// A test that uses a compiler.
type Test = fn(&Compiler);

const TESTS: [(&str, Test); 16] = [
    ("tensor_cores_multiply_fragments", programs::matrices),
    ("everyday_program_compiles_and_runs", programs::everyday),
    ("cooperative_groups_are_correct", programs::groups),
    ("grid_sync_waits_for_all_blocks", programs::waiting),
    (
        "texture_and_surface_calls_become_instructions",
        programs::images,
    ),
    ("half_and_bfloat16_match_an_h200", numbers::narrow),
    ("random_numbers_match_an_h200", numbers::random),
    ("mrg32k3a_matches_its_definition", generators::mrg),
    (
        "poisson_numbers_have_their_probabilities",
        generators::poisson,
    ),
    ("dpx_functions_are_correct", words::dpx),
    ("pipeline_copies_are_correct", words::copies),
    ("nextafter_is_correct", words::neighbours),
    ("unsupported_instructions_compile", programs::not_simulated),
    (
        "headers_compile_as_plain_c_and_cpp",
        programs::plain_c_and_cpp,
    ),
    ("each_header_compiles_alone", programs::each_header),
    (
        "compile_error_names_the_programs_line",
        programs::compile_error,
    ),
];

fn main() -> ExitCode {
    let compilers = Compiler::all();
    let mut trials = Vec::new();
    for (name, test) in TESTS {
        if compilers.is_empty() {
            trials.push(Trial::ignorable_test(name, || {
                Ok(Completion::ignored_with(
                    "needs clang with the NVPTX target and a C++ library:  sudo apt-get install clang g++",
                ))
            }));
        }
        for compiler in &compilers {
            let compiler = compiler.clone();
            trials.push(Trial::test(
                format!("{}::{name}", compiler.name),
                move || {
                    test(&compiler);
                    Ok(())
                },
            ));
        }
    }
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}
