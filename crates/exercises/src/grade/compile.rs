//! The step `compile`: clang makes PTX of the answer, and the PTX loads.

use std::path::Path;
use std::thread;

use anyhow::{Context as _, Result, anyhow};
use kernel_build::{Clang, Error, Level, Tree};

use super::{Answer, Failure, Stop, externs, includes};
use crate::data::Step;
use crate::lang::Lang;

/// What is made of an answer.
pub struct Builds {
    /// As it is counted and timed.
    pub optimised: String,
    /// With every load and store where it is written; none where the kernel is the course's own.
    pub as_written: Option<String>,
}

/// The answer as PTX, optimised and as it is written.
pub fn builds(answer: &Answer, clang: &Clang, lang: Lang) -> Result<Builds, Stop> {
    thread::scope(|scope| {
        let as_written = scope.spawn(|| compile(answer, Level::AsWritten, clang, lang));
        let optimised = compile(answer, Level::Optimised, clang, lang)?;
        let as_written = as_written.join();
        let as_written = as_written.map_err(|_| anyhow!("a compiler's thread has gone"))?;
        Ok(Builds {
            optimised,
            as_written: Some(as_written.map_err(|stop| only_optimised(stop, lang))?),
        })
    })
}

/// The answer as PTX.
pub fn compile(answer: &Answer, level: Level, clang: &Clang, lang: Lang) -> Result<String, Stop> {
    includes::verdict(&answer.text, lang)?;
    let tree = tree(lang)?;
    // Some editors begin a file with a byte-order mark, which says that it is in UTF-8, as it has to be.
    let text = answer.text.trim_start_matches('\u{feff}');
    match clang.compile_text_at(level, &tree, &answer.shown, text) {
        Ok(compiled) => Ok(externs::defined(&compiled.ptx)),
        Err(Error::Text {
            compiler, message, ..
        }) => Err(Stop::Failed(Failure::at(
            Step::Compile,
            say!(
                lang,
                "{} does not compile it. Begin with its first error: line, column, and a caret \
                 under the place.\n\n{}",
                "{} 未能编译通过。请从第一条错误看起：行号、列号，以及指向出错位置的箭头。\n\n{}";
                compiler, message.trim_end()
            ),
        ))),
        Err(error) => Err(Stop::Broken(error.into())),
    }
}

/// It compiles optimised, and not as it is written.
fn only_optimised(stop: Stop, lang: Lang) -> Stop {
    let Stop::Failed(failure) = stop else {
        return stop;
    };
    Stop::Failed(Failure::at(
        failure.step,
        say!(
            lang,
            "It compiles with optimisation, and not without (`-O0`), as the checks take it. An operand of \
             `asm` that has to be a constant, for example, has to be one as it is written: a number, a \
             macro or a parameter of a template.\n\n{}",
            "开启优化时可以编译，不优化（`-O0`）时却不行，而错误检查需要不优化的版本。例如，`asm` 中必须是常量的\
             操作数，写出来就得是常量：数字、宏或者模板参数。\n\n{}";
            failure.message
        ),
    ))
}

/// Files of the course's, which are not shown to anybody, as PTX.
pub fn ours<const MANY: usize>(
    texts: [&str; MANY],
    clang: &Clang,
    lang: Lang,
) -> Result<[String; MANY]> {
    let tree = tree(lang)?;
    let compile = |text| Ok(clang.compile_text(&tree, "ours.cu", text)?.ptx);
    let compiled: Result<Vec<String>> = thread::scope(|scope| {
        let threads = texts.map(|text| scope.spawn(move || compile(text)));
        let ended = threads.into_iter().map(thread::ScopedJoinHandle::join);
        ended
            .map(|ended| ended.map_err(|_| anyhow!("a compiler's thread has gone"))?)
            .collect()
    });
    compiled?.try_into().ok().context("as many as there were")
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
