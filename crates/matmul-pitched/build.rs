//! Has the kernels' PTX ready for `main.rs`.

fn main() {
    kernel_build::ptx("matmul-pitched");
    kernel_build::ptx("matmul-pitched-ladder");
}
