//! The libraries' C functions, called as a C program would, on the simulator, and compared with plain loops.

mod blas;
mod device;
mod fft;
mod light;
mod order;

use std::collections::BTreeSet;
use std::path::Path;

/// Returns the functions that a header declares: names before an opening parenthesis, in lines that are neither indented
/// nor start with `static`.
fn declared(name: &str) -> BTreeSet<String> {
    let include = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../../kernels/include");
    let source = std::fs::read_to_string(include.join(name)).unwrap();
    let lines = source
        .lines()
        .filter(|line| !line.starts_with([' ', '#', '/', '}']));
    let lines = lines.filter(|line| !line.starts_with("static") && !line.starts_with("typedef"));
    let heads = lines.filter_map(|line| line.split_once('(').map(|(head, _)| head));
    let names = heads.map(|head| {
        head.rsplit([' ', '*'])
            .next()
            .unwrap_or_default()
            .to_owned()
    });
    names.collect()
}

#[test]
fn headers_declare_exactly_the_functions_that_the_crate_defines() {
    let headers = [
        "cublas_api.h",
        "cublasLt.h",
        "cublasXt.h",
        "cufft.h",
        "cufftXt.h",
        "curand.h",
    ];
    let declared: BTreeSet<String> = headers.into_iter().flat_map(declared).collect();
    let defined: BTreeSet<String> = cuda_libraries::names().map(str::to_owned).collect();
    assert!(defined.len() > 300, "{}", defined.len());
    assert_eq!(declared, defined);
    assert_eq!(cuda_libraries::force_link(), defined.len());
}
