//! The step `compile`: clang makes PTX of the answer, and the PTX loads.

use std::path::Path;

use anyhow::{Result, anyhow};
use kernel_build::{Clang, Error, Tree};

use super::{Answer, Failure, Stop, includes};
use crate::data::Step;
use crate::lang::Lang;

/// The answer as PTX.
pub fn compile(answer: &Answer, clang: &Clang, lang: Lang) -> Result<String, Stop> {
    includes::verdict(&answer.text, lang)?;
    let tree = tree(lang)?;
    match clang.compile_text(&tree, &answer.shown, &answer.text) {
        Ok(compiled) => Ok(compiled.ptx),
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

/// A file of the course's, which is not shown to anybody, as PTX.
pub fn ours(text: &str, clang: &Clang, lang: Lang) -> Result<String> {
    Ok(clang.compile_text(&tree(lang)?, "ours.cu", text)?.ptx)
}

/// The checkout, for its headers.
fn tree(lang: Lang) -> anyhow::Result<Tree> {
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
