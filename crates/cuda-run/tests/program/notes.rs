//! The notes' programs, and the headers that their listings include.

use std::path::{Path, PathBuf};

use libtest_mimic::Failed;

use crate::support::Workspace;

/// Returns the notes' programs.
pub fn programs() -> Vec<PathBuf> {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../kernels/notes");
    let files = std::fs::read_dir(workspace)
        .expect("the notes' programs")
        .flatten();
    let mut files: Vec<PathBuf> = files.map(|file| file.path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "cu"));
    files.sort();
    files
}

/// Runs a program that compares its result with the CPU's, with all checks on.
pub fn program_passes(file: &Path) -> Result<(), Failed> {
    let run = Workspace::new().run(&["--check", &file.to_string_lossy()]);
    run.assert_exit(0, &["no findings."])?;
    assert!(run.stdout.ends_with(": correct\n"), "{run:#?}");
    Ok(())
}

/// Compiles programs that use the headers as the notes' listings do.
pub fn listing_headers() -> Result<(), Failed> {
    let workspace = Workspace::new();
    let common = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../kernels/notes/common");
    let run = |text: &str| {
        workspace.write("listing.cu", text);
        workspace.run(&["--quiet", "-I", &common.to_string_lossy(), "listing.cu"])
    };
    let output = run(
        "#include \"../common/common.h\"\n#include \"cuda_call.h\"\n\
         int main() { int *p; CHECK(cudaMalloc(&p, 4);) CHECK(cudaDeviceSynchronize()); cc(cudaFree(p));\n\
         return seconds() < 1e9; }\n",
    );
    output.assert_exit(0, &[])?;
    for (include, call) in [
        ("../common/common.h", "CHECK(cudaSetDevice(7))"),
        ("cuda_call.h", "cc(cudaSetDevice(7))"),
        ("../common/book.h", "HANDLE_ERROR(cudaSetDevice(7))"),
        ("../common/book.h", "HANDLE_NULL(nullptr)"),
    ] {
        let text = format!("#include \"{include}\"\nint main()\n{{\n    {call};\n}}\n");
        run(&text).assert_exit(1, &["listing.cu:4: "])?;
    }
    // Two pixels, a red one above a blue one.
    let picture = run(
        "#include \"../common/book.h\"\n#include \"../common/cpu_bitmap.h\"\n\
         __global__ void draw(unsigned char *p) { p[4 * threadIdx.x + 2 - 2 * threadIdx.x] = 255; }\n\
         int main() { CPUBitmap map(1, 2); unsigned char *p; HANDLE_ERROR(cudaMalloc(&p, map.image_size()));\n\
         HANDLE_ERROR(cudaMemset(p, 0, map.image_size())); draw<<<1, 2>>>(p);\n\
         HANDLE_ERROR(cudaMemcpy(map.get_ptr(), p, map.image_size(), cudaMemcpyDeviceToHost));\n\
         map.display_and_exit(); }\n",
    );
    picture.assert_exit(0, &[])?;
    assert_eq!(picture.stdout, "the picture: bitmap.ppm\n");
    assert_eq!(
        std::fs::read(workspace.path("bitmap.ppm"))?,
        b"P6 1 2 255\n\xff\0\0\0\0\xff"
    );
    Ok(())
}
