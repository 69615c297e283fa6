//! Records against their schemas, `docs/records/*.schema.json`.

use std::fs;
use std::path::Path;

use jsonschema::Registry;
use serde_json::Value;

/// What the chapters' schemas share.
const COMMON: &str = "record.schema.json";

/// Where relative names of schemas count from.
const BASE: &str = "warpbook:/records/";

/// Fails with every violation where `record` is not as the chapter's schema says.
pub fn check(chapter: &str, record: &Value) {
    let schema = read(&format!("{chapter}.schema.json"));
    let validator = validator(&schema);
    let errors: Vec<String> = validator
        .iter_errors(record)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect();
    assert!(
        errors.is_empty(),
        "the record is not as docs/records/{chapter}.schema.json says:\n{}\n{record:#}",
        errors.join("\n")
    );
}

/// The chapter's schema, with the shared part at hand.
fn validator(schema: &Value) -> jsonschema::Validator {
    let registry = Registry::new()
        .add(format!("{BASE}{COMMON}"), read(COMMON))
        .and_then(|registry| registry.prepare())
        .expect("the shared schema is one");
    jsonschema::options()
        .with_base_uri(BASE)
        .with_registry(&registry)
        .build(schema)
        .expect("the chapter's schema is one")
}

/// A schema in `docs/records`.
fn read(file: &str) -> Value {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../docs/records");
    let path = folder.join(file);
    let shown = path.display();
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{shown}: {error}"));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{shown}: {error}"))
}
