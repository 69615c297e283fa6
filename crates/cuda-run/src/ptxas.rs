//! A stand-in for NVIDIA's assembler, for programs that assemble PTX before they load it. It passes the PTX
//! through unchanged, because the simulator loads PTX. `cuda-run -- PROGRAM` sets the variables that make
//! programs use it.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail, ensure};
use common::error::{describe, note};

/// The name under which this program acts as the assembler.
pub const NAME: &str = "ptxas";

/// The version output. Triton parses the release; CUDA 12.8 is the last that it accepts for GPUs before
/// Blackwell.
const VERSION: &str = "ptxas: Warpbook's stand-in for NVIDIA's assembler, which passes PTX through\n\
                       Cuda compilation tools, release 12.8, V12.8.0";

/// Flags whose value is the next argument unless it follows `=`.
const WITH_VALUE: [&str; 10] = [
    "-o",
    "--output-file",
    "-arch",
    "--gpu-name",
    "-O",
    "--opt-level",
    "-m",
    "--machine",
    "-maxrregcount",
    "--maxrregcount",
];

/// Returns true if this program was called as the assembler.
pub fn is_called(words: &[OsString]) -> bool {
    let name = words.first().map(Path::new).and_then(Path::file_name);
    name.is_some_and(|name| name == NAME)
}

/// Assembles according to the arguments and returns the exit status.
pub fn main(words: &[OsString]) -> i32 {
    match assemble(&words[1..]) {
        Ok(()) => 0,
        Err(error) => {
            note(format_args!("ptxas: error: {}", describe(&error)));
            1
        }
    }
}

fn assemble(words: &[OsString]) -> Result<()> {
    let mut from = None;
    let mut to = PathBuf::from("elf.o");
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let text = word.to_string_lossy();
        let (flag, joined) = match text.split_once('=') {
            Some((flag, value)) => (flag, Some(value.to_owned())),
            None => (&*text, None),
        };
        match flag {
            "--version" | "-V" => {
                println!("{VERSION}");
                return Ok(());
            }
            "-o" | "--output-file" => {
                let next = || words.next().map(|next| next.to_string_lossy().into_owned());
                to = joined
                    .or_else(next)
                    .context("-o requires a file name")?
                    .into();
            }
            // All other flags affect only the machine code, which is not generated.
            flag if WITH_VALUE.contains(&flag) && joined.is_none() => {
                words
                    .next()
                    .with_context(|| format!("{flag} requires a value"))?;
            }
            flag if flag.starts_with('-') && flag.len() > 1 => {}
            _ if from.is_some() => bail!("only one input file is supported"),
            _ => from = Some(PathBuf::from(word)),
        }
    }
    let from = from.context("no input file given")?;
    let ptx =
        fs::read_to_string(&from).with_context(|| format!("cannot read {}", from.display()))?;
    let is_ptx = ptx
        .lines()
        .any(|line| line.trim_start().starts_with(".version"));
    ensure!(
        is_ptx,
        "{} is not PTX: it has no .version directive",
        from.display()
    );
    fs::write(&to, ptx).with_context(|| format!("cannot write {}", to.display()))
}
