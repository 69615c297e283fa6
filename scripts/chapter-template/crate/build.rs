//! Compiles the kernel to PTX for `main.rs`.

fn main() {
    kernel_build::ptx("new-chapter");
}
