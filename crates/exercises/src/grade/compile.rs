//! The step `compile`: clang makes PTX of the answer, and the PTX loads.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Result, anyhow};
use confine::{Rules, system_libraries};
use kernel_build::{Clang, Ended, Error, Tree};

use super::{Answer, Failure, Grading, Stop, includes};
use crate::data::Step;
use crate::lang::Lang;

/// What an answer is called while it is compiled: its own name may have any characters.
pub const NAME: &str = "answer.cu";

/// The longest file that the compiler writes: a list of headers.
const FILE: u64 = 1 << 20;

/// The answer as PTX.
pub fn compile(answer: &Answer, grading: &Grading) -> Result<String, Stop> {
    let lang = grading.lang;
    includes::verdict(&answer.text, lang)?;
    let tree = tree(lang)?;
    let compiled = grading.clang.compile_answer(
        &tree,
        &kernel_build::Answer {
            name: NAME,
            text: &answer.text,
            headers: &includes::HEADERS,
            scratch: &grading.scratch,
            time: Duration::from_secs(grading.limits.computing),
            start: &|program, read| start(program, read, grading),
        },
    );
    match compiled {
        Ok(compiled) => Ok(compiled.ptx),
        Err(error) => Err(stop(error, answer, grading)),
    }
}

/// The compiler, confined to what it has to open.
fn start(program: &OsStr, read: Vec<PathBuf>, grading: &Grading) -> io::Result<Command> {
    let limits = &grading.limits;
    let rules = Rules {
        read,
        write: vec![grading.scratch.clone()],
        execute: system_libraries(),
        memory: Some(limits.memory),
        file: FILE,
        ..limits.rules()
    };
    rules.command(program)
}

/// Why there is no PTX.
fn stop(error: Error, answer: &Answer, grading: &Grading) -> Stop {
    let lang = grading.lang;
    let message = match error {
        Error::Text {
            compiler, message, ..
        } => say!(
            lang,
            "{} does not compile it. Begin with its first error: line, column, and a caret \
             under the place.\n\n{}",
            "{} 未能编译通过。请从第一条错误看起：行号、列号，以及指向出错位置的箭头。\n\n{}";
            compiler, renamed(&message, &answer.shown).trim_end()
        ),
        Error::Ended { compiler, why, .. } => ended(&compiler, &why, grading),
        Error::Opened { file } => say!(
            lang,
            "To compile it, another file was opened: {}. An answer may include {}, and no other file.",
            "编译时打开了其他文件：{}。答案只能包含 {}，不能包含其他文件。";
            file, includes::HEADERS.join(", ")
        ),
        error => return Stop::Broken(error.into()),
    };
    Stop::Failed(Failure::at(Step::Compile, message))
}

/// The compiler's message with the answer's own name.
fn renamed(message: &str, shown: &str) -> String {
    message.replace(&format!("{NAME}:"), &format!("{shown}:"))
}

/// What became of a compiler that has not said what is wrong.
fn ended(compiler: &str, why: &Ended, grading: &Grading) -> String {
    let lang = grading.lang;
    let limits = &grading.limits;
    let why = match why {
        Ended::Late(time) => say!(
            lang, "it did not end within {} s", "{} 秒内没有结束"; time.as_secs()
        ),
        Ended::Computing => say!(
            lang,
            "it was ended after {} s of computing",
            "计算 {} 秒后被终止";
            limits.computing
        ),
        Ended::Memory => say!(
            lang,
            "it asked for more than {} GB of memory",
            "它申请的内存超过 {} GB";
            limits.memory >> 30
        ),
        Ended::Long(bytes) => say!(
            lang,
            "the PTX is longer than {} MB",
            "生成的 PTX 超过 {} MB";
            bytes >> 20
        ),
        Ended::Crashed(how) => say!(lang, "it crashed ({})", "它崩溃了（{}）"; how),
    };
    say!(
        lang,
        "{} does not come to an end with it: {}. Look at what it has to work out: long tables, templates \
         and macros that contain themselves many times, loops in constants.",
        "{} 无法完成编译：{}。请检查需要编译器计算的内容：很长的表、层层展开的模板和宏、常量中的循环。";
        compiler, why
    )
}

/// A file of the course's own as PTX.
pub fn ours(text: &str, clang: &Clang, lang: Lang) -> Result<String> {
    Ok(clang.compile_text(&tree(lang)?, "ours.cu", text)?.ptx)
}

/// Files and folders that the compiler reads, beside the system's libraries.
pub fn files(clang: &Clang, lang: Lang) -> Result<Vec<PathBuf>> {
    Ok(clang.files(&tree(lang)?, &includes::HEADERS))
}

/// The checkout, for its headers.
fn tree(lang: Lang) -> Result<Tree> {
    Tree::find(Path::new(env!("CARGO_MANIFEST_DIR"))).map_err(|error| {
        anyhow!(say!(
            lang,
            "the course's files are gone ({}): build it again where they are now",
            "找不到课程的文件（{}）：请在其现在所在的位置重新构建";
            error
        ))
    })
}

/// The PTX compiles, and the GPU does not take it.
pub fn not_loaded(error: &anyhow::Error, lang: Lang) -> Stop {
    Stop::Failed(Failure::at(
        Step::Compile,
        say!(
            lang,
            "It compiles, and the GPU does not load it: {:#}. Often it declares more shared or \
             constant memory than there is, or calls a function that is only declared.",
            "编译通过了，但 GPU 无法加载：{:#}。常见的原因：声明的共享内存或常量内存超过上限，\
             或者调用了只有声明、没有定义的函数。";
            error
        ),
    ))
}
