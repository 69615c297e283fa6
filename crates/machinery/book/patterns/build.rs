//! Compiles the traced kernels to PTX, or checks that their committed PTX is current.

fn main() {
    for kernel in [
        "patterns",
        "matmul-pitched",
        "matmul-tiled",
        "add-constant",
        "raytrace-const",
        "stencil-readonly",
    ] {
        kernel_build::ptx(kernel);
    }
    for ladder in [
        "matmul-pitched-ladder",
        "matmul-ladder",
        "add-constant-ladder",
        "raytrace-const-ladder",
        "stencil-readonly-ladder",
    ] {
        kernel_build::ptx_of_folder(ladder);
    }
}
