//! Records the sysroot of the compiler that builds the course, with which Rust submissions are compiled. The
//! sysroot identifies the compiler, because `rustc` may be a wrapper that selects one of several.

use std::env;
use std::process::Command;

fn main() {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc).args(["--print", "sysroot"]).output();
    let folder = output.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    println!(
        "cargo:rustc-env=EXERCISES_SYSROOT={}",
        folder.unwrap_or_default()
    );
    println!("cargo:rerun-if-changed=build.rs");
}
