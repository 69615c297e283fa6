//! Compiles the kernels to PTX: the note's for `main.rs`, and the ladder's.

fn main() {
    kernel_build::ptx("vector-add");
    kernel_build::ptx_of_folder("vector-add-ladder");
}
