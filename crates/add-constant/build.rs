//! Compiles the kernels to PTX: the note's for `main.rs`, and the ladder's.

fn main() {
    kernel_build::ptx("add-constant");
    kernel_build::ptx_of_folder("add-constant-ladder");
}
