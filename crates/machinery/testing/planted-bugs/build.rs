//! Generates PTX for every kernel in `kernels/bugs`, and writes `sources.rs`, a list of the kernels with
//! their sources.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::{env, fs};

use kernel_build::Tree;

fn main() {
    if let Err(error) = list() {
        eprintln!("error: {error}");
        std::process::exit(1);
    }
}

fn list() -> Result<(), Box<dyn std::error::Error>> {
    let tree = Tree::find(&PathBuf::from(env::var("CARGO_MANIFEST_DIR")?))?;
    // Run again when a kernel is added, too.
    println!(
        "cargo:rerun-if-changed={}",
        tree.path("kernels/bugs").display()
    );
    let mut list = String::from("&[\n");
    for kernel in tree.kernels()? {
        let Some(name) = kernel.strip_prefix("bugs/") else {
            continue;
        };
        kernel_build::ptx(&kernel);
        let file = format!("kernels/{kernel}.cu");
        let path = tree.path(&file);
        let variable = kernel_build::variable(&kernel);
        writeln!(
            list,
            "Source {{ name: {name:?}, file: {file:?}, text: include_str!({path:?}), \
             ptx: include_str!(env!({variable:?})) }},"
        )?;
    }
    list.push(']');
    fs::write(PathBuf::from(env::var("OUT_DIR")?).join("sources.rs"), list)?;
    Ok(())
}
