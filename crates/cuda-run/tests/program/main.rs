//! Programs compiled and run by the real binary.

mod causes;
mod cccl;
mod compiles;
mod dynamic;
mod exits;
mod failures;
mod formats;
mod hopper;
mod kernels;
mod libraries;
mod mistakes;
mod notes;
mod plan;
mod report;
#[path = "../shared/run.rs"]
mod run;
mod streams;
mod support;

use std::process::ExitCode;

use libtest_mimic::{Arguments, Trial};
use support::with_clang;

/// Creates tests that need clang.
macro_rules! with_clang {
    ($($name:literal => $test:path,)*) => {
        [$(with_clang($name, $test)),*]
    };
}

fn main() -> ExitCode {
    let mut tests = Vec::from(with_clang! {
        "an error in a launch plan names its line" => plan::invalid_plan,
        "a kernel is launched by its launch plan" => plan::launch_by_plan,
        "a result that differs from the launch plan is an error" => plan::mismatch,
    });
    tests.extend([
        Trial::test(
            "unknown and unsupported flags are rejected",
            compiles::invalid_flags,
        ),
        Trial::test(
            "a missing compiler is one error message",
            compiles::missing_clang,
        ),
    ]);
    if cfg!(unix) {
        tests.extend(with_clang! {
            "a program runs and its launches are reported" => report::launches_are_listed,
            "a second run uses the cache" => compiles::second_run_uses_the_cache,
            "the version is printed" => report::version,
            "a profile lists the program's source lines" => report::profile,
            "the record matches its schema" => report::record,
            "a script that starts cuda-run several times has one record" => report::record_of_a_script,
            "a profile lists NVTX ranges by domain" => report::nvtx_ranges,
            "findings fail the run" => report::check,
            "all formats contain the same problems" => formats::same_problems,
            "faults and wrong results are problems without checks" => formats::problems_without_checks,
            "all formats are empty without problems" => formats::no_problems,
            "invalid destinations are reported first" => formats::destinations,
            "compile errors are problems in all formats" => formats::compile_errors,
            "the reason for which a program is not run is a problem in all formats" => formats::programs_not_run,
            "checks that saw only part of a kernel are skipped" => formats::interrupted_checks,
            "values of flags and source files are not confused" => formats::values_and_sources,
            "a plot is written" => report::plot,
            "a compile error is reported once with its line" => compiles::compile_errors,
            "deprecated syntax is accepted with a warning" => compiles::deprecated_syntax_is_accepted,
            "a program may define variables with the names of driver functions" => compiles::own_variables,
            "what nvcc accepts is compiled" => compiles::nvcc_dialect,
            "cuCtxCreate has the parameters of CUDA 12 or 13" => compiles::context_of_cuda_13,
            "sign tests are correct with every clang" => kernels::sign_test,
            "lanes may pass undefined values to shuffles" => kernels::undefined_arguments,
            "an undefined function is reported with its line" => compiles::undefined_functions,
            "kernels compiled by NVRTC run, and its errors are in the log" => compiles::runtime_compilation,
            "a missing header of a library names the library and the next step" => compiles::missing_libraries,
            "a file without a main is an error with advice" => compiles::missing_main,
            "an uncaught exception says what it is, and dlopen finds the driver" => exits::exceptions_and_loaded_driver,
            "exit, _exit and return set the exit status" => exits::exit_statuses,
            "destructors of global objects free memory before leaks are reported" => exits::destructors,
            "a program that crashes has a report" => exits::crashes,
            "signals and the program's status take precedence over findings" => exits::precedence,
            "the time limit stops an endless program" => exits::time_limit,
            "a program may fork" => exits::forks,
            "a signal terminates a child that forked during a launch" => exits::forked_child_is_terminated,
            "concurrent runs do not interfere" => exits::two_at_once,
            "several files are linked to one program" => compiles::several_files,
            "ignored errors are reported with their lines and reasons" => failures::ignored_errors,
            "failed launches of one line are listed by kernel" => failures::launches_of_one_line,
            "errors that the program fetches are not reported" => failures::handled_errors,
            "kernels that do not load fail a checked run" => failures::kernels_that_do_not_load,
            "a kernel's fault is reported" => report::faults_are_reported,
            "accesses that a GPU does not detect are reported" => report::undetected_accesses_are_reported,
            "with checks, a fault is reported once" => report::checked_faults_are_reported_once,
            "checks that saw only part of a program fail" => report::incomplete_checks_fail,
            "races of copies of one source line are one finding" => report::findings_of_copied_lines_are_grouped,
            "a pitch used as a number of elements is named" => causes::pitch,
            "reads of rows that no copy wrote name the pitch" => causes::rows_not_copied,
            "an index past the end of managed memory is no host pointer" => causes::managed_memory,
            "arrays in shared memory are named" => causes::shared_arrays,
            "with checks, allocations have the line of their call" => causes::allocations,
            "copies of results that no kernel wrote are reported" => causes::results_not_written,
            "results of kernels that do not load are not reported" => causes::results_of_kernels_that_do_not_load,
            "padding is not reported as an unwritten result" => causes::padding_is_no_result,
            "input that nothing reads is reported on request" => causes::unused_input,
            "input that is read is not reported" => causes::used_input,
            "textures of unwritten arrays and ignored address modes are reported" => causes::textures,
            "padding may be copied, but not used" => causes::copies_of_padding,
            "arrays of different types that overlap are named" => causes::overlapping_arrays,
            "elements of a surface are written by kernels" => causes::surfaces,
            "reads of unwritten faces of a cube map are reported" => causes::cube_maps,
            "a second free names the first" => failures::repeated_frees,
            "managed variables are the same on the host and the device" => kernels::managed_variables,
            "a constant address of a managed variable is an error with advice" => compiles::managed_addresses,
            "linear memory has no texture filter" => kernels::linear_textures,
            "a program may define __globaltimer" => compiles::global_timer,
            "several extern arrays in shared memory are reported" => causes::extern_arrays,
            "reads of memory that was set byte by byte are reported" => causes::byte_fills,
            "races with atomics and flags are told apart" => causes::races_with_atomics,
            "races between streams name both calls" => streams::races,
            "accesses of the host to memory in use" => streams::host_accesses,
            "ordered streams are not reported" => streams::ordered_streams,
            "an access to freed memory names cudaFreeAsync" => streams::freed_memory,
            "a seed shuffles streams" => streams::shuffled_streams,
            "the page lists the mistakes" => mistakes::page,
            "identical launches are counted" => report::identical_launches_are_counted,
            "a closed pipe ends the program" => exits::closed_pipe,
            "the headers that the notes' listings include exist" => notes::listing_headers,
            "kernels of several files are linked" => kernels::device_linking,
            "undefined device functions and variables are reported" => kernels::undefined_device_symbols,
            "clusters of blocks share their memory" => hopper::clusters,
            "kernels have the cluster size of __cluster_dims__" => hopper::cluster_dims,
            "an old clang names the version that code for newer GPUs needs" => hopper::old_clang,
            "kernels use the features of one architecture" => hopper::features_of_one_architecture,
            "a wait for missing bytes and a missing wait name the barrier" => hopper::missing_bytes,
            "graphs are created, captured, launched and updated" => kernels::graphs,
            "kernels allocate and free memory" => kernels::heap,
            "kernels call virtual functions" => kernels::virtual_functions,
            "layered textures and cubemaps match the recording" => kernels::layered_textures,
            "cuRAND generates the same numbers on host and device" => kernels::random_numbers,
            "a program uses several GPUs" => kernels::devices,
            "launches by kernels run and are counted" => dynamic::launches_by_kernels,
            "kernels that wait for their launches see the results" => dynamic::device_synchronization,
            "kernels launch kernels of other files if linked" => dynamic::linked_launches,
            "conditional nodes run their graphs by values that kernels set" => dynamic::conditional_nodes,
            "calls of cuBLAS are computed and reported" => libraries::cublas,
            "invalid operands of library calls are findings" => libraries::checked_calls,
            "cuBLASXt multiplies matrices of the host and the device" => libraries::cublas_xt,
            "calls of cuFFT are computed and reported" => libraries::cufft,
            "headers of libraries compile without calls and in C" => libraries::headers,
            "headers define NVIDIA's include guards" => compiles::header_guards,
            "nvcc's flags flush denormals to zero" => kernels::flush_denormals,
            "conversions to powers of two round and saturate as requested" => kernels::powers_of_two,
        });
        tests.extend(cccl::tests());
        tests.extend(mistakes::programs().into_iter().map(|file| {
            let name = file.file_stem().unwrap_or_default().to_string_lossy();
            let name = format!("the mistake: {name}");
            with_clang(name, move || mistakes::is_diagnosed(&file))
        }));
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
    tests.extend(with_clang! {
        "a terminal shows the progress of a program after five seconds" => exits::status_line,
        "Ctrl-C stops a program, which has a report" => exits::interrupted,
        "Ctrl-C in an endless kernel lists the lines of its threads" => exits::interrupted_kernel,
    });
    libtest_mimic::run(&Arguments::from_args(), tests).exit_code()
}
