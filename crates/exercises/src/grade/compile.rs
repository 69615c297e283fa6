//! The step `compile`: clang compiles the submission to PTX, and the PTX is loaded. If that fails, the message adds advice
//! about undeclared names, and about an order of words that only nvcc accepts.

use std::ffi::OsStr;
use std::path::PathBuf;
use std::process::Command;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use std::{io, thread};

use anyhow::{Context as _, Result, anyhow};
use chapter::lang::{Lang, Text};
use confine::{Rules, system_libraries};
use cuda_driver::SourceLine;
use kernel_build::{Clang, Tree, install_command};
use untrusted::{Error, OptimizationLevel, Termination, UntrustedSource};

use super::{Failure, Grading, Stop, Submission, includes};
use crate::course::{self, Exercise};
use crate::data::Step;
use crate::process::Limits;

/// The file name of a submission during compilation; the student's file name may contain any characters.
pub const FILE_NAME: &str = chapter::chinese::SUBMISSION;

/// Returns true for a line of the submission itself, not of a header.
pub fn is_in_submission(source: &SourceLine) -> bool {
    source.file.as_deref() == Some(FILE_NAME) && source.line > 0
}

/// The maximum size of a file that the compiler writes, which is a list of headers.
const MAX_FILE_BYTES: u64 = 1 << 20;

/// The compiler of kernels and its limits.
#[derive(Clone)]
pub struct Compiler {
    /// The compiler itself.
    pub clang: Clang,
    /// The language of messages.
    pub lang: Lang,
    /// The folder for temporary files.
    pub scratch: PathBuf,
    pub limits: Limits,
    /// The minimum architecture, 80 for sm_80; `None` for any.
    pub architecture: Option<u32>,
}

/// The compiled forms of a submission.
pub struct Builds {
    /// Optimized PTX, which is counted and timed.
    pub optimised: String,
    /// Unoptimized PTX (`-O0`), in which every load and store is where it is written; `None` if the kernel is
    /// the course's own.
    pub as_written: Option<String>,
}

/// Compiles the submission with and without optimization.
pub fn compile_submission(submission: &Submission, grading: &Grading) -> Result<Builds, Stop> {
    let submission = &Submission {
        text: includes::replace_headers(&submission.text),
        display_name: submission.display_name.clone(),
    };
    includes::verdict(&submission.text)?;
    let compiler = Compiler::of(grading);
    match compiler.compile_twice(submission) {
        // Most submissions need few functions, which the compiler reads faster, and no recent GPU.
        Err(Stop::Failed(failure)) if is_reported(failure.message.get(Lang::En)) => {
            let architecture = Some(compiler.architecture.unwrap_or_default().max(ALL_FUNCTIONS));
            let text = includes::with_all_device_functions(FILE_NAME, &submission.text);
            let submission = Submission {
                text,
                ..submission.clone()
            };
            Compiler {
                architecture,
                ..compiler
            }
            .compile_twice(&submission)
        }
        result => result,
    }
}

/// The architecture for submissions that use functions which not all GPUs have, 80 for sm_80.
const ALL_FUNCTIONS: u32 = 80;

impl Compiler {
    /// Returns the compiler of a grading.
    pub fn of(grading: &Grading) -> Compiler {
        Compiler {
            clang: grading.clang.clone(),
            lang: grading.lang,
            scratch: grading.scratch.clone(),
            limits: grading.limits,
            architecture: grading.architecture,
        }
    }

    /// Compiles the submission with and without optimization, at the same time.
    fn compile_twice(&self, submission: &Submission) -> Result<Builds, Stop> {
        thread::scope(|scope| {
            let as_written =
                scope.spawn(|| self.compile(submission, OptimizationLevel::Unoptimized));
            let optimised = self.compile(submission, OptimizationLevel::Optimized)?;
            let as_written = as_written.join();
            let as_written = as_written.map_err(|_| anyhow!("a compiler thread panicked"))?;
            Ok(Builds {
                optimised,
                as_written: Some(as_written.map_err(only_optimised)?),
            })
        })
    }

    /// Compiles the submission to PTX.
    fn compile(&self, submission: &Submission, level: OptimizationLevel) -> Result<String, Stop> {
        let tree = tree(self.lang)?;
        let compiled = self.compile_text(&tree, FILE_NAME, &submission.text, level);
        compiled.map_err(|error| self.convert_error(error, submission))
    }

    /// Compiles one of the course's own files, which students never see, to PTX. Another author may have written the
    /// course, so it is confined like a submission.
    pub fn course_file(&self, text: &str) -> Result<String> {
        let level = OptimizationLevel::Optimized;
        Ok(self.compile_text(&tree(self.lang)?, "ours.cu", text, level)?)
    }

    fn compile_text(
        &self,
        tree: &Tree,
        name: &str,
        text: &str,
        optimization: OptimizationLevel,
    ) -> Result<String, Error> {
        let source = UntrustedSource {
            name,
            text,
            optimization,
            headers: &includes::HEADERS,
            architecture: self.architecture,
            scratch: &self.scratch,
            time_limit: Duration::from_secs(self.limits.cpu_seconds),
            command: &|program, read| self.start(program, read),
        };
        Ok(source.compile(&self.clang, tree)?.ptx)
    }

    /// Builds the compiler's command, confined to the files that it needs.
    fn start(&self, program: &OsStr, read: Vec<PathBuf>) -> io::Result<Command> {
        let limits = &self.limits;
        let rules = Rules {
            read,
            write: vec![self.scratch.clone()],
            execute: system_libraries(),
            memory: Some(limits.memory),
            file: MAX_FILE_BYTES,
            ..limits.rules()
        };
        rules.command(program)
    }

    /// Converts a compiler error to a failure of the submission or an internal error.
    fn convert_error(&self, error: Error, submission: &Submission) -> Stop {
        let explanation = |lang| self.explain(&error, submission, lang);
        match (explanation(Lang::En), explanation(Lang::Zh)) {
            (Some(en), Some(zh)) => Stop::Failed(Failure::at_step(Step::Compile, Text { en, zh })),
            _ => Stop::InternalError(error.into()),
        }
    }

    /// Explains an error to the student; `None` if the submission is not at fault.
    fn explain(&self, error: &Error, submission: &Submission, lang: Lang) -> Option<String> {
        Some(match error {
            Error::Text {
                compiler, message, ..
            } => {
                let explanation = localize!(
                    lang,
                    "{} cannot compile it. Start with the first error: line, column, and a caret \
                     under the location.\n\n{}",
                    "{} 未能编译通过。请从第一条错误看起：行号、列号，以及指向出错位置的箭头。\n\n{}";
                    compiler, first_errors(&with_display_name(message, &submission.display_name), lang)
                );
                match advice(message, lang) {
                    Some(advice) => format!("{explanation}\n\n{advice}"),
                    None => explanation,
                }
            }
            Error::Terminated {
                compiler, reason, ..
            } => self.explain_end(compiler, reason, lang),
            Error::ForbiddenFile { file } => localize!(
                lang,
                "Compiling it opened another file: {}. A submission may include only {}.",
                "编译时打开了其他文件：{}。答案只能包含 {}。";
                file, includes::HEADERS.join(", ")
            ),
            _ => return None,
        })
    }

    /// Explains that the compiler ended abnormally.
    fn explain_end(&self, compiler: &str, reason: &Termination, lang: Lang) -> String {
        let limits = &self.limits;
        let reason = match reason {
            Termination::TimedOut(time) => localize!(
                lang, "it did not finish within {} s", "{} 秒内没有结束"; time.as_secs()
            ),
            Termination::CpuTimeExceeded => localize!(
                lang,
                "it was killed after {} s of CPU time",
                "用去 {} 秒 CPU 时间后被终止";
                limits.cpu_seconds
            ),
            Termination::OutOfMemory => localize!(
                lang,
                "it needed more than {} GB of memory",
                "它需要的内存超过 {} GB";
                limits.memory >> 30
            ),
            Termination::OutputTooLong(bytes) => localize!(
                lang,
                "the PTX is longer than {} MB",
                "生成的 PTX 超过 {} MB";
                bytes >> 20
            ),
            // The remaining code has no instruction in the GPU's instruction set.
            Termination::Crashed(message) if message.contains("Cannot select") => {
                return localize!(
                    lang,
                    "{} found no GPU instruction for it{}. An atomic operation on constant memory \
                     is an example: constant memory is read-only.",
                    "{} 找不到对应的 GPU 指令{}。例如对常量内存的原子操作：常量内存是只读的。";
                    compiler, crash_line(message, lang)
                );
            }
            Termination::Crashed(message) => {
                localize!(lang, "it crashed ({})", "它崩溃了（{}）"; message)
            }
        };
        localize!(
            lang,
            "{} cannot finish compiling it: {}. Check the work that the compiler has to do: long \
             tables, nested templates and macros, loops in constants.",
            "{} 无法完成编译：{}。请检查编译器要做的工作：很长的表、嵌套的模板和宏、常量中的循环。";
            compiler, reason
        )
    }
}

/// Formats the line of the submission that a crash message names; empty if it names none.
fn crash_line(message: &str, lang: Lang) -> String {
    let line = message.split_once(&format!("{FILE_NAME}:"));
    let line = line.and_then(|(_, rest)| {
        rest.split(|character: char| !character.is_ascii_digit())
            .next()
    });
    match line {
        Some(line) if !line.is_empty() => localize!(lang, ", at line {}", "，位于第 {} 行"; line),
        _ => String::new(),
    }
}

/// Replaces the internal file name in a compiler's message by the submission's own.
fn with_display_name(message: &str, display_name: &str) -> String {
    message.replace(&format!("{FILE_NAME}:"), &format!("{display_name}:"))
}

/// Truncates a compiler's message to its first errors, because later ones often follow from them.
fn first_errors(message: &str, lang: Lang) -> String {
    const MAX_LINES: usize = 12;
    let message = message.trim_end();
    let lines: Vec<&str> = message.lines().collect();
    // Omit the compiler's error count, which is misleading when not all errors are shown.
    if lines.len() <= MAX_LINES {
        return message.to_owned();
    }
    let is_start = |line: &str| line.contains(": error: ") || line.contains(": warning: ");
    let end = (1..=MAX_LINES).rev().find(|&at| is_start(lines[at]));
    let first_errors = lines[..end.unwrap_or(MAX_LINES)].join("\n");
    let errors = |lines: &[&str]| {
        lines
            .iter()
            .filter(|line| line.contains(": error: "))
            .count()
    };
    let remaining = errors(&lines) - errors(&lines[..end.unwrap_or(MAX_LINES)]);
    match remaining {
        0 => first_errors,
        remaining => {
            localize!(lang, "{}\n… and {} more", "{}\n…… 另有 {} 条"; first_errors, remaining)
        }
    }
}

/// Explains that the submission compiles only with optimization.
fn only_optimised(stop: Stop) -> Stop {
    let Stop::Failed(failure) = stop else {
        return stop;
    };
    Stop::Failed(Failure::at_step(
        failure.step,
        Text::from_fn(|lang| {
            localize!(
                lang,
                "It compiles with optimization but not without (`-O0`), which the checks need. For \
                 example, an operand of `asm` that must be a constant has to be written as one: a \
                 number, a macro or a template parameter.\n\n{}",
                "开启优化时可以编译，不优化（`-O0`）时却不行，而错误检查需要不优化的版本。例如，\
                 `asm` 中必须是常量的操作数应直接写成常量：数字、宏或者模板参数。\n\n{}";
                failure.message.get(lang)
            )
        }),
    ))
}

/// Finds the clang that compiles kernels.
///
/// # Errors
///
/// Fails if there is none; the message explains how to install it.
pub fn find_compiler(lang: Lang) -> Result<Clang> {
    Clang::find().map_err(|error| {
        anyhow!(localize!(
            lang,
            "no clang to compile your kernels with ({}). Install it:  {}",
            "没有可用来编译核函数的 clang（{}）。请安装：  {}";
            error, install_command()
        ))
    })
}

/// The course's own files of an exercise, each compiled when it is first needed.
pub struct CourseFiles {
    start: CourseFile,
    solution: CourseFile,
    compiler: Compiler,
}

/// A file's text, and its PTX once it is compiled.
struct CourseFile {
    text: String,
    ptx: Mutex<Option<String>>,
}

impl CourseFiles {
    /// Describes the files of this exercise.
    pub fn new(exercise: &Exercise, grading: &Grading) -> CourseFiles {
        let file = |text: &str| CourseFile {
            text: text.to_owned(),
            ptx: Mutex::default(),
        };
        CourseFiles {
            start: file(exercise.start()),
            solution: file(exercise.solution()),
            compiler: Compiler::of(grading),
        }
    }

    /// Returns the start file's PTX.
    pub fn start(&self) -> Result<String> {
        self.ptx(&self.start)
    }

    /// Returns the solution's PTX.
    pub fn solution(&self) -> Result<String> {
        self.ptx(&self.solution)
    }

    fn ptx(&self, file: &CourseFile) -> Result<String> {
        let mut ptx = file.ptx.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(ptx) = &*ptx {
            return Ok(ptx.clone());
        }
        let compiled = self.compiler.course_file(&file.text)?;
        Ok(ptx.insert(compiled).clone())
    }
}

/// Returns the files and folders that the compiler reads, apart from system libraries.
pub fn compiler_files(clang: &Clang, lang: Lang) -> Result<Vec<PathBuf>> {
    Ok(untrusted::required_files(
        clang,
        &tree(lang)?,
        &includes::HEADERS,
    )?)
}

/// Opens the files that contain the headers.
fn tree(lang: Lang) -> Result<Tree> {
    course::tree().with_context(|| {
        localize!(
            lang,
            "the course's files are missing: rebuild the course in its current folder",
            "找不到课程的文件：请在其现在所在的位置重新构建"
        )
    })
}

/// Reports PTX that compiles but does not load.
pub fn not_loaded(error: &anyhow::Error) -> Stop {
    Stop::Failed(Failure::at_step(
        Step::Compile,
        text!(
            "It compiles, but the GPU does not load it: {:#}. Often it declares more shared or \
             constant memory than available, or calls a function that is declared but not \
             defined.",
            "编译通过了，但 GPU 无法加载：{:#}。常见的原因：声明的共享内存或常量内存超过上限，\
             或者调用了只有声明、没有定义的函数。";
            error
        ),
    ))
}

/// Names separated by spaces, and their replacement in English and Chinese.
type Replacement = (&'static str, &'static str, &'static str);

/// Names that the course lacks, with replacements.
const REPLACEMENTS: [Replacement; 1] = [("swap", "a third variable", "借助第三个变量交换")];

/// Returns true if a compiler's message reports an undeclared name, or a function that older GPUs lack.
fn is_reported(message: &str) -> bool {
    let is_missing = |line: &str| {
        undeclared_name(line).is_some()
            || line.contains("no matching function for call to 'atomic")
            || line.contains("asynchronous copies need sm_80")
    };
    message.lines().any(is_missing)
}

/// Returns advice about the first undeclared name in a compiler's message, about `alignas` in the wrong place, about a union
/// of vectors, or about a host function; `None` if there is none of them.
pub fn advice(message: &str, lang: Lang) -> Option<String> {
    advice_on_name(message, lang)
        .or_else(|| advice_on_alignment(message, lang))
        .or_else(|| advice_on_union(message, lang))
        .or_else(|| advice_on_host_function(message, lang))
}

/// Returns advice if a union that contains a vector type, such as `float4`, is assigned, which clang's vector types do not
/// allow.
fn advice_on_union(message: &str, lang: Lang) -> Option<String> {
    let is_reported = message.contains("copy assignment operator is implicitly deleted");
    is_reported.then(|| {
        localize!(
            lang,
            "A union with a member of type `float4`, `int4` and the like cannot be assigned in this course, because \
             these types have an operator of their own. Assign the member: `to.four = from.four`.",
            "在本课程中，含有 `float4`、`int4` 等成员的联合体（union）不能整体赋值，因为这些类型有自己的赋值运算符。\
             请给成员赋值：`to.four = from.four`。"
        )
    })
}

/// Returns advice if a host function, such as a `main` of the student's, calls a device function or launches a kernel.
fn advice_on_host_function(message: &str, lang: Lang) -> Option<String> {
    let is_reported = message.contains("call to __device__ function from __host__ function")
        || message.contains("reference to __global__ function")
        || message.contains("call to __global__ function");
    is_reported.then(|| {
        localize!(
            lang,
            "Your file contains only kernels and the functions that they call, which are marked `__device__`. Delete \
             `main` and other host functions, or put them between `#ifdef MY_TEST` and `#endif`.",
            "你的文件只写核函数和它们调用的函数，后者要标上 `__device__`。请删去 `main` 和其他主机端函数，\
             或者把它们放在 `#ifdef MY_TEST` 和 `#endif` 之间。"
        )
    })
}

/// Returns advice if clang rejects `alignas` after `__shared__`, which is an attribute to clang and a keyword to nvcc.
fn advice_on_alignment(message: &str, lang: Lang) -> Option<String> {
    let mut lines = message.lines();
    lines.find(|line| line.contains("error: an attribute list cannot appear here"))?;
    let is_aligned = lines.next().is_some_and(|line| line.contains("alignas"));
    is_aligned.then(|| {
        localize!(
            lang,
            "clang, unlike nvcc, requires `alignas` before `__shared__`, `__constant__` and `__device__`: \
             `alignas(16) __shared__ float …`.",
            "与 nvcc 不同，clang 要求把 `alignas` 写在 `__shared__`、`__constant__` 和 `__device__` 之前：\
             `alignas(16) __shared__ float …`。"
        )
    })
}

/// Returns advice about the first undeclared name in a compiler's message; `None` if there is none.
fn advice_on_name(message: &str, lang: Lang) -> Option<String> {
    let name = message.lines().find_map(undeclared_name)?;
    let is_named = |names: &str| names.split(' ').any(|replaced| replaced == name);
    let replacement = REPLACEMENTS.iter().find(|(names, ..)| is_named(names));
    if let Some(instead) = replacement.map(|(_, en, zh)| lang.pick(*en, *zh)) {
        return Some(localize!(
            lang,
            "`{}` is not available in this course. Use instead: {}.",
            "本课程没有 `{}`。可以改用：{}。";
            name, instead
        ));
    }
    if name == "cuda" {
        return Some(localize!(
            lang,
            "CUDA's C++ library (`cuda::…`) is not available in this course. Use `__pipeline_memcpy_async` or \
             `cooperative_groups::memcpy_async` for copies, and atomic functions for `cuda::atomic`.",
            "本课程不提供 CUDA 的 C++ 库（`cuda::…`）。复制请用 `__pipeline_memcpy_async` 或 \
             `cooperative_groups::memcpy_async`，代替 `cuda::atomic` 请用原子函数。"
        ));
    }
    if name.starts_with("cuda")
        || name.starts_with("cu") && name.chars().nth(2).is_some_and(char::is_uppercase)
    {
        return Some(localize!(
            lang,
            "`{}` belongs to the host's side. The course's program allocates, copies, launches and waits: \
             your file contains only kernels and the functions that they call.",
            "`{}` 属于主机端。内存分配、复制、启动和等待都由课程的程序完成：你的文件只写核函数和它们调用的函数。";
            name
        ));
    }
    if ["cooperative_groups", "cg"].contains(&name) {
        return Some(localize!(
            lang,
            "Groups of threads need `#include <cooperative_groups.h>` and \
             `namespace cg = cooperative_groups;` before their first use.",
            "使用协作组之前，要先写 `#include <cooperative_groups.h>` 和 `namespace cg = cooperative_groups;`。"
        ));
    }
    if name == "std" {
        return Some(localize!(
            lang,
            "There is no C++ standard library in a kernel. `min`, `max`, `sqrtf`, `fabsf` and \
             similar functions, and types such as `uint32_t`, are available without `std::`.",
            "核函数里没有 C++ 标准库。`min`、`max`、`sqrtf`、`fabsf` 等函数和 `uint32_t` 等类型不加 `std::` 就能用。"
        ));
    }
    Some(localize!(
        lang,
        "`{}` is not declared. Is it a typing error, or declared further down? Available from \
         CUDA: threadIdx and the other built-in variables, __syncthreads, atomics, shuffles and \
         votes with _sync, __ldg, vector types, printf, assert, and all mathematics; \
         `#include <cooperative_groups.h>` declares groups of threads.",
        "`{}` 没有声明。是不是写错了，或者声明在后面？这里提供的 CUDA 功能有：threadIdx 等内建变量、__syncthreads、\
         原子操作、带 _sync 的洗牌和表决函数、__ldg、向量类型、printf、assert，以及全部数学函数；\
         协作组要用 `#include <cooperative_groups.h>`。";
        name
    ))
}

/// Returns the undeclared name that a line of clang's message reports.
fn undeclared_name(line: &str) -> Option<&str> {
    let (_, error) = line.split_once("error: ")?;
    let is_missing = ["no member named", "no type named"]
        .iter()
        .any(|start| error.starts_with(start));
    if is_missing && error.contains("in namespace 'std'") {
        return Some("std");
    }
    let prefixes = ["use of undeclared identifier '", "unknown type name '"];
    let rest = prefixes
        .iter()
        .find_map(|prefix| error.strip_prefix(prefix))?;
    let (name, _) = rest.split_once('\'')?;
    Some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn undeclared_names_have_replacements() {
        let advice_for =
            |error: &str| advice(&format!("a.cu:3:5: error: {error}\n    code\n"), Lang::En);
        for (error, expected) in [
            (
                "use of undeclared identifier 'swap'",
                "Use instead: a third variable.",
            ),
            (
                "use of undeclared identifier 'cg'; did you mean 'cb'?",
                "`#include <cooperative_groups.h>`",
            ),
            (
                "use of undeclared identifier 'cudaMalloc'",
                "belongs to the host's side",
            ),
            (
                "no member named 'min' in namespace 'std'; did you mean simply 'min'?",
                "without `std::`",
            ),
            ("use of undeclared identifier 'std'", "without `std::`"),
            (
                "use of undeclared identifier 'cuda'",
                "`cooperative_groups::memcpy_async`",
            ),
            (
                "use of undeclared identifier 'cg'",
                "`namespace cg = cooperative_groups;`",
            ),
            (
                "object of type 'Words' cannot be assigned because its copy assignment operator is implicitly deleted",
                "`to.four = from.four`",
            ),
            (
                "reference to __global__ function 'scale' in __host__ function",
                "`#ifdef MY_TEST`",
            ),
            (
                "use of undeclared identifier 'tread'",
                "`tread` is not declared.",
            ),
        ] {
            let advice = advice_for(error).unwrap_or_default();
            assert!(advice.contains(expected), "{error}: {advice}");
        }
        assert_eq!(advice_for("expected ';' after expression"), None);
    }

    #[test]
    fn alignas_after_shared_gets_advice() {
        let message =
            |code| format!("a.cu:7:16: error: an attribute list cannot appear here\n{code}\n");
        let advice_for = |code| advice(&message(code), Lang::En);
        let advice =
            advice_for("    __shared__ alignas(16) float tile[2][128];").unwrap_or_default();
        assert!(
            advice.contains("`alignas(16) __shared__ float …`"),
            "{advice}"
        );
        assert_eq!(advice_for("    int [[unused]] x;"), None);
    }
}
