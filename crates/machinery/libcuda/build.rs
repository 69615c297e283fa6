//! What the linker has to know of the library.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let system = std::env::var("CARGO_CFG_TARGET_OS").unwrap_or_default();
    if system == "linux" {
        for argument in [
            // The name that programs are linked to, and by which they find a library that is loaded already.
            "-soname,libcuda.so.1",
            // A program may define functions of these names itself: those here call each other nevertheless.
            "-Bsymbolic",
            // Its threads may still run when a program closes it: it stays, as it is.
            "-z,nodelete",
        ] {
            println!("cargo::rustc-cdylib-link-arg=-Wl,{argument}");
        }
    }
}
