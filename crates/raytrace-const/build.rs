//! Has the kernels' PTX ready for `main.rs`: the book's, and the ladder's.

fn main() {
    kernel_build::ptx("raytrace-const");
    kernel_build::ptx("raytrace-ladder");
}
