//! Checks the dependencies between the crate's source files: see the crate [`layers`].

#[test]
fn files_have_no_dependency_cycles() {
    layers::assert_no_cycles(env!("CARGO_MANIFEST_DIR"));
}
