//! Has the kernels' PTX ready for `main.rs`: this chapter's, and the one it is compared with.

fn main() {
    kernel_build::ptx("matmul-pitched");
    kernel_build::ptx("matmul-tiled");
}
