//! Checks the order of the source files.

#[test]
fn files_have_no_dependency_cycles() {
    layers::assert_no_cycles(env!("CARGO_MANIFEST_DIR"));
}
