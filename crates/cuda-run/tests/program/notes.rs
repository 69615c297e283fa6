//! The notes' programs, and what their listings include.

use std::path::{Path, PathBuf};

use libtest_mimic::Failed;

use crate::support::Folder;

/// The notes' programs.
pub fn all() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../kernels/notes");
    let files = std::fs::read_dir(folder)
        .expect("the notes' programs")
        .flatten();
    let mut files: Vec<PathBuf> = files.map(|file| file.path()).collect();
    files.retain(|file| file.extension().is_some_and(|ending| ending == "cu"));
    files.sort();
    files
}

/// It compares its result with the CPU's itself, and does nothing wrong besides.
pub fn runs(file: &Path) -> Result<(), Failed> {
    let run = Folder::new().run(&["--check", &file.to_string_lossy()]);
    run.says(0, &["nothing found."])?;
    assert!(run.stdout.ends_with(": right\n"), "{run:#?}");
    Ok(())
}

/// The headers that the notes' listings include, in the ways they are used there.
pub fn listings() -> Result<(), Failed> {
    let folder = Folder::new();
    let common = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../kernels/notes/common");
    let run = |text: &str| {
        folder.write("listing.cu", text);
        folder.run(&["--quiet", "-I", &common.to_string_lossy(), "listing.cu"])
    };
    let right = run(
        "#include \"../common/common.h\"\n#include \"cuda_call.h\"\n\
         int main() { int *p; CHECK(cudaMalloc(&p, 4);) CHECK(cudaDeviceSynchronize()); cc(cudaFree(p));\n\
         return seconds() < 1e9; }\n",
    );
    right.says(0, &[])?;
    for (include, call) in [
        ("../common/common.h", "CHECK(cudaSetDevice(7))"),
        ("cuda_call.h", "cc(cudaSetDevice(7))"),
        ("../common/book.h", "HANDLE_ERROR(cudaSetDevice(7))"),
        ("../common/book.h", "HANDLE_NULL(nullptr)"),
    ] {
        let text = format!("#include \"{include}\"\nint main()\n{{\n    {call};\n}}\n");
        run(&text).says(1, &["listing.cu:4: "])?;
    }
    // Two pixels above one another: red over blue.
    let picture = run(
        "#include \"../common/book.h\"\n#include \"../common/cpu_bitmap.h\"\n\
         __global__ void draw(unsigned char *p) { p[4 * threadIdx.x + 2 - 2 * threadIdx.x] = 255; }\n\
         int main() { CPUBitmap map(1, 2); unsigned char *p; HANDLE_ERROR(cudaMalloc(&p, map.image_size()));\n\
         HANDLE_ERROR(cudaMemset(p, 0, map.image_size())); draw<<<1, 2>>>(p);\n\
         HANDLE_ERROR(cudaMemcpy(map.get_ptr(), p, map.image_size(), cudaMemcpyDeviceToHost));\n\
         map.display_and_exit(); }\n",
    );
    picture.says(0, &[])?;
    assert_eq!(picture.stdout, "the picture: bitmap.ppm\n");
    assert_eq!(
        std::fs::read(folder.path("bitmap.ppm"))?,
        b"P6 1 2 255\n\xff\0\0\0\0\xff"
    );
    Ok(())
}
