//! Tests of the headers that CUDA programs include by their usual names (`kernels/include`): programs that use
//! them compile for both sides, and their kernels give the expected results on the simulator.
//!
//! These tests need a clang with the NVPTX target and a C++ library. Warpbook's tests must not need anything
//! but Rust, so without them these tests are ignored and print the reason. Each clang that is found runs all
//! tests.

mod compiler;
mod generators;
mod machine;
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
    ("an_everyday_program_compiles_and_runs", programs::everyday),
    ("groups_of_threads_work_together", programs::groups),
    ("all_blocks_of_a_grid_wait", programs::waiting),
    (
        "textures_and_surfaces_become_instructions",
        programs::images,
    ),
    ("half_and_bfloat16_are_as_on_an_h200", numbers::narrow),
    ("random_numbers_are_as_on_an_h200", numbers::random),
    ("mrg32k3a_is_as_defined", generators::mrg),
    (
        "poisson_numbers_have_their_probabilities",
        generators::poisson,
    ),
    ("most_and_least_of_words_and_halves", words::dpx),
    ("copies_go_past_the_registers", words::copies),
    ("the_next_number_is_told", words::neighbours),
    ("what_the_simulator_lacks_compiles", programs::not_simulated),
    ("headers_stand_alone_for_plain_c_and_cpp", programs::plain),
    ("each_header_compiles_by_itself", programs::each_header),
    ("a_mistake_is_told_where_it_is", programs::mistake),
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
