//! Has the kernels' PTX ready: the note's for `main.rs`, and that of the ladder.

fn main() {
    kernel_build::ptx("vector-add");
    kernel_build::ptx_of_folder("vector-add-ladder");
}
