//! Compiles the kernels to PTX for `src/variant.rs`: the note's, the pitched one, and the ladder's.

fn main() {
    kernel_build::ptx("matmul-pitched");
    kernel_build::ptx("matmul-tiled");
    kernel_build::ptx_of_folder("matmul-ladder");
}
