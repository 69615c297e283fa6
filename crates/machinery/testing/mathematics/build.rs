//! Compiles the kernels that call each function to PTX.

fn main() {
    kernel_build::ptx_of_folder("mathematics");
}
