//! Programs compiled and run by the real binary.

mod compiles;
mod exits;
mod kernels;
mod notes;
mod plan;
mod report;
#[path = "../shared/run.rs"]
mod run;
mod support;

use std::process::ExitCode;

use libtest_mimic::{Arguments, Trial};
use support::with_clang;

fn main() -> ExitCode {
    let mut tests = vec![
        Trial::test(
            "unknown and unsupported flags are rejected",
            compiles::invalid_flags,
        ),
        Trial::test(
            "a missing compiler is one error message",
            compiles::missing_clang,
        ),
        with_clang(
            "an error in a launch plan names its line",
            plan::invalid_plan,
        ),
        with_clang(
            "a kernel is launched by its launch plan",
            plan::launch_by_plan,
        ),
        with_clang(
            "a result that differs from the launch plan is an error",
            plan::mismatch,
        ),
    ];
    if cfg!(unix) {
        tests.extend([
            with_clang(
                "a program runs and its launches are reported",
                report::launches_are_listed,
            ),
            with_clang(
                "a second run uses the cache",
                compiles::second_run_uses_the_cache,
            ),
            with_clang(
                "a profile lists the program's source lines",
                report::profile,
            ),
            with_clang("the record matches its schema", report::record),
            with_clang("findings fail the run", report::check),
            with_clang("a plot is written", report::plot),
            with_clang(
                "a compile error is reported once with its line",
                compiles::compile_errors,
            ),
            with_clang(
                "deprecated syntax is accepted with a warning",
                compiles::deprecated_syntax_is_accepted,
            ),
            with_clang(
                "sign tests are correct with every clang",
                kernels::sign_test,
            ),
            with_clang(
                "an undefined function is reported with its line",
                compiles::undefined_functions,
            ),
            with_clang(
                "a file without a main is an error with advice",
                compiles::missing_main,
            ),
            with_clang(
                "exit, _exit and return set the exit status",
                exits::exit_statuses,
            ),
            with_clang("a program that crashes has a report", exits::crashes),
            with_clang("the time limit stops an endless program", exits::time_limit),
            with_clang("a program may fork", exits::forks),
            with_clang("concurrent runs do not interfere", exits::two_at_once),
            with_clang(
                "several files are linked to one program",
                compiles::several_files,
            ),
            with_clang("a kernel's fault is reported", report::faults_are_reported),
            with_clang(
                "identical launches are counted",
                report::identical_launches_are_counted,
            ),
            with_clang("a closed pipe ends the program", exits::closed_pipe),
            with_clang(
                "the headers that the notes' listings include exist",
                notes::listing_headers,
            ),
            with_clang(
                "kernels of several files are linked",
                kernels::device_linking,
            ),
            with_clang(
                "undefined device functions and variables are reported",
                kernels::undefined_device_symbols,
            ),
            with_clang(
                "graphs are created, captured, launched and updated",
                kernels::graphs,
            ),
            with_clang("kernels allocate and free memory", kernels::heap),
            with_clang("kernels call virtual functions", kernels::virtual_functions),
            with_clang(
                "layered textures and cubemaps match the recording",
                kernels::layered_textures,
            ),
            with_clang("a program uses several GPUs", kernels::devices),
            with_clang(
                "headers define NVIDIA's include guards",
                compiles::header_guards,
            ),
            with_clang(
                "nvcc's flags flush denormals to zero",
                kernels::flush_denormals,
            ),
        ]);
        tests.extend(notes::programs().into_iter().map(|file| {
            let name = file.file_stem().unwrap_or_default().to_string_lossy();
            let name = format!("the note's program: {name}");
            with_clang(name, move || notes::program_passes(&file))
        }));
    }
    #[cfg(target_os = "linux")]
    tests.push(with_clang(
        "third-party headers compile",
        compiles::third_party_headers,
    ));
    #[cfg(unix)]
    tests.push(with_clang(
        "Ctrl-C stops a program, which has a report",
        exits::interrupted,
    ));
    libtest_mimic::run(&Arguments::from_args(), tests).exit_code()
}
