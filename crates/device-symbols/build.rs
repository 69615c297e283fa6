//! Compiles the kernels to PTX for `main.rs`.

fn main() {
    kernel_build::ptx("device-symbols");
}
