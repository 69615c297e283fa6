//! Compiles the kernels to PTX: the note's for `main.rs`, and the ladder's.

fn main() {
    kernel_build::ptx("matmul-pitched");
    kernel_build::ptx_of_folder("matmul-pitched-ladder");
}
