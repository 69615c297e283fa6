//! Exports the driver's functions of the program as dynamic symbols, so that the shared objects it loads find
//! them.

fn main() {
    if std::env::var_os("CARGO_CFG_UNIX").is_some() {
        println!("cargo:rustc-link-arg-bins=-rdynamic");
    }
    println!("cargo:rerun-if-changed=build.rs");
}
