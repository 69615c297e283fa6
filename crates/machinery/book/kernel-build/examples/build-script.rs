//! A complete build script of a chapter, except that the kernel's name is a command line argument, so that
//! tests can run it as cargo would.

fn main() {
    let name = std::env::args().nth(1).unwrap_or_default();
    kernel_build::ptx(&name);
}
