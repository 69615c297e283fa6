//! Has the kernels' PTX ready for `main.rs`.

fn main() {
    kernel_build::ptx("stencil-readonly");
}
