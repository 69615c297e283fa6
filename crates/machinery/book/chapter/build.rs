//! Compiles the kernel of `limit.rs`, which measures the hardware's arithmetic rate.

fn main() {
    kernel_build::ptx("limits");
}
