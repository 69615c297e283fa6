//! Has the kernels' PTX ready: the note's for `main.rs`, and those of the ladder.

fn main() {
    kernel_build::ptx("raytrace-const");
    kernel_build::ptx_of_folder("raytrace-const-ladder");
}
