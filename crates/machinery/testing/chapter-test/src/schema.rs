//! Validation of records against their schemas, `docs/records/*.schema.json`.

use std::fs;
use std::path::Path;

use boon::{Compiler, Schemas};
use serde_json::Value;

/// The schema that all chapters share.
const COMMON: &str = "record.schema.json";

/// Base URL of relative schema names.
const BASE: &str = "warpbook:/records/";

/// Panics with all violations if `record` does not match the chapter's schema.
pub fn check(chapter: &str, record: &Value) {
    let schema_file = format!("{chapter}.schema.json");
    let mut compiler = Compiler::new();
    let mut schemas = Schemas::new();
    for file in [COMMON, &schema_file] {
        let added = compiler.add_resource(&format!("{BASE}{file}"), read(file));
        added.expect("the schema's address is a URL");
    }
    let schema = compiler.compile(&format!("{BASE}{schema_file}"), &mut schemas);
    let schema = schema.unwrap_or_else(|error| panic!("docs/records/{schema_file}: {error:#}"));
    if let Err(error) = schemas.validate(record, schema) {
        panic!("the record does not match docs/records/{schema_file}:\n{error:#}\n{record:#}");
    }
}

/// Reads a schema from `docs/records`.
fn read(file: &str) -> Value {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../../docs/records");
    let path = folder.join(file);
    let shown = path.display();
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{shown}: {error}"));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{shown}: {error}"))
}
