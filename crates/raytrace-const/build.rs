//! Compiles the kernels to PTX: the note's for `main.rs`, and the ladder's.

fn main() {
    kernel_build::ptx("raytrace-const");
    kernel_build::ptx_of_folder("raytrace-const-ladder");
}
