//! Has the kernels' PTX ready for `src/variant.rs`: this chapter's, and the one they are compared
//! with.

fn main() {
    for kernel in [
        "matmul-pitched",
        "matmul-tiled",
        "matmul-ladder/1-columns",
        "matmul-ladder/2-squares",
        "matmul-ladder/3-vectors",
        "matmul-ladder/4-warp-tiles",
        "matmul-ladder/5-double-buffer",
        "matmul-ladder/6-async.sm_80",
        "matmul-ladder/7-even-shares.sm_80",
        "matmul-ladder/8-tensor-cores.sm_80",
    ] {
        kernel_build::ptx(kernel);
    }
}
