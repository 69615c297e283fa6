//! Has the kernels' PTX ready: the note's for `main.rs`, and those of the ladder.

fn main() {
    kernel_build::ptx("add-constant");
    kernel_build::ptx_of_folder("add-constant-ladder");
}
