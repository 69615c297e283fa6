//! Linker arguments of the shared library.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let system = std::env::var("CARGO_CFG_TARGET_OS").unwrap_or_default();
    if system == "linux" {
        for argument in [
            // The name that programs are linked against, and by which the loader recognizes a loaded library.
            "-soname,libcuda.so.1",
            // Functions of this library call each other even if the program defines functions of the same
            // names.
            "-Bsymbolic",
            // The library's threads may still run when a program closes it, so it is never unloaded.
            "-z,nodelete",
        ] {
            println!("cargo::rustc-cdylib-link-arg=-Wl,{argument}");
        }
    }
}
