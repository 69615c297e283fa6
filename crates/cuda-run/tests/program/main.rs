//! Programs compiled and run through the real binary.

mod compiles;
mod described;
mod ends;
mod kernels;
mod notes;
#[path = "../shared/run.rs"]
mod run;
mod support;
mod told;

use std::process::ExitCode;

use libtest_mimic::{Arguments, Trial};
use support::with_clang;

fn main() -> ExitCode {
    let mut tests = vec![
        Trial::test(
            "flags that are not understood are refused",
            compiles::bad_flags,
        ),
        Trial::test(
            "without a compiler there is one message",
            compiles::no_clang,
        ),
        with_clang(
            "a mistake in a description names its line",
            described::bad_description,
        ),
        with_clang(
            "a kernel is launched by its description",
            described::described,
        ),
        with_clang(
            "what a description expects and is not so is an error",
            described::wrong,
        ),
    ];
    if cfg!(unix) {
        tests.extend([
            with_clang("a program runs, and is summed up", told::vector_add),
            with_clang("a program is compiled once", compiles::compiled_once),
            with_clang("a profile has the reader's own lines", told::profile),
            with_clang("the record is as its schema says", told::record),
            with_clang("mistakes are found, and are an error", told::check),
            with_clang("a picture is drawn", told::plot),
            with_clang(
                "a mistake in a program is told once, with its line",
                compiles::does_not_compile,
            ),
            with_clang("older ways of writing are warned of", compiles::lenient),
            with_clang(
                "kernels do what the source says, whatever the compiler",
                kernels::mended,
            ),
            with_clang(
                "a function that nobody has is named with its line",
                compiles::missing,
            ),
            with_clang(
                "a file without a main is told what to do",
                compiles::without_main,
            ),
            with_clang(
                "exit, _exit and a return are the program's status",
                ends::exits,
            ),
            with_clang("a program that crashes has its summary", ends::crashes),
            with_clang(
                "a program that never ends is ended at its limit",
                ends::never_ends,
            ),
            with_clang("a program may fork", ends::forks),
            with_clang("two programs at once do no harm", ends::two_at_once),
            with_clang("several files make one program", compiles::several_files),
            with_clang("a fault of a kernel is told", told::faults),
            with_clang(
                "launches that are alike are told of by a count",
                told::alike,
            ),
            with_clang(
                "what is written into a closed pipe ends it",
                ends::closed_pipe,
            ),
            with_clang("what the notes' listings include is there", notes::listings),
            with_clang(
                "kernels of several files are linked",
                kernels::linked_kernels,
            ),
            with_clang(
                "what no file defines is named",
                kernels::undefined_for_kernels,
            ),
            with_clang(
                "graphs are made, captured, launched and changed",
                kernels::graphs,
            ),
            with_clang("kernels take memory and give it back", kernels::heap),
            with_clang("kernels call virtual functions", kernels::virtual_functions),
            with_clang("layers and cubes are read as they were", kernels::layers),
            with_clang("a program uses several GPUs", kernels::devices),
            with_clang(
                "headers are known by NVIDIA's names for having been read",
                compiles::read_headers,
            ),
            with_clang(
                "small floats are 0 where nvcc's flag says so",
                kernels::flushed,
            ),
        ]);
        tests.extend(notes::all().into_iter().map(|file| {
            let name = file.file_stem().unwrap_or_default().to_string_lossy();
            let name = format!("the note's program: {name}");
            with_clang(name, move || notes::runs(&file))
        }));
    }
    #[cfg(target_os = "linux")]
    tests.push(with_clang(
        "headers that others wrote are read",
        compiles::headers_of_others,
    ));
    #[cfg(unix)]
    tests.push(with_clang(
        "Ctrl-C ends a program, which has its summary",
        ends::interrupted,
    ));
    libtest_mimic::run(&Arguments::from_args(), tests).exit_code()
}
