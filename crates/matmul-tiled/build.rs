//! Has the kernels' PTX ready for `src/variant.rs`: the note's, the one they are compared with, and
//! those of the ladder.

fn main() {
    kernel_build::ptx("matmul-pitched");
    kernel_build::ptx("matmul-tiled");
    kernel_build::ptx_of_folder("matmul-ladder");
}
