//! Has the kernels' PTX ready: the note's for `main.rs`, and those of the ladder.

fn main() {
    kernel_build::ptx("matmul-pitched");
    kernel_build::ptx_of_folder("matmul-pitched-ladder");
}
