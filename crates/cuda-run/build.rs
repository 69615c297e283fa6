//! Has the linker list the CUDA functions that this program defines where the programs that it loads find
//! them: among its own dynamic symbols.

fn main() {
    if std::env::var_os("CARGO_CFG_UNIX").is_some() {
        println!("cargo:rustc-link-arg-bins=-rdynamic");
    }
    println!("cargo:rerun-if-changed=build.rs");
}
