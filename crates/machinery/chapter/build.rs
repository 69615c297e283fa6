//! Has the kernel that measures the hardware's limit ready for `limit.rs`.

fn main() {
    kernel_build::ptx("limits");
}
