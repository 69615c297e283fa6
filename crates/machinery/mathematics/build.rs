//! Has the PTX ready of the kernels that call each function.

fn main() {
    kernel_build::ptx_of_folder("mathematics");
}
