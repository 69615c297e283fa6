//! Has the PTX ready of the kernels that are traced.

fn main() {
    for kernel in [
        "patterns",
        "matmul-tiled",
        "add-constant",
        "raytrace-const",
        "stencil-readonly",
    ] {
        kernel_build::ptx(kernel);
    }
}
