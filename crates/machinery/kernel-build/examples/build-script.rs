//! A chapter's build script, all of it. The kernel's name comes from the command line
//! here, so that the tests can run it as cargo would.

fn main() {
    let name = std::env::args().nth(1).unwrap_or_default();
    kernel_build::ptx(&name);
}
