//! Has the kernel's PTX ready for `main.rs`.

fn main() {
    kernel_build::ptx("new-chapter");
}
