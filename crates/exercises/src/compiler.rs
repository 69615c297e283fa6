//! The compiler for submissions.

use anyhow::{Result, anyhow};
use kernel_build::{Clang, install_command};

use crate::lang::Lang;

/// Finds the clang that compiles kernels.
///
/// # Errors
///
/// Fails if there is none; the message explains how to install it.
pub fn find(lang: Lang) -> Result<Clang> {
    Clang::find().map_err(|error| {
        anyhow!(localize!(
            lang,
            "no clang to compile your kernels with ({}). Install it:  {}",
            "没有可用来编译核函数的 clang（{}）。请安装：  {}";
            error, install_command()
        ))
    })
}
