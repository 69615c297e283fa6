//! Has the kernels' PTX ready: the note's for `main.rs`, and those of the ladder.

fn main() {
    kernel_build::ptx("stencil-readonly");
    kernel_build::ptx_of_folder("stencil-readonly-ladder");
}
