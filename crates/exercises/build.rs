//! Which compiler answers in Rust are compiled with: the one that compiles the course.

fn main() {
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    println!("cargo:rustc-env=EXERCISES_RUSTC={rustc}");
    println!("cargo:rerun-if-changed=build.rs");
}
