//! SARIF 2.1.0, the Static Analysis Results Interchange Format of OASIS, which code scanning reads.

use std::fs;

use cuda_driver::CallSite;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use telemetry::{Problem, Rule};

use super::{Report, SourceRoot, uri};

const SCHEMA: &str =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

/// The identifier of the source root, relative to which paths are.
const SOURCE_ROOT: &str = "%SRCROOT%";

/// Returns the log, with one run.
pub fn log(report: &Report) -> Value {
    let root = SourceRoot::new();
    let rules = Rule::all();
    let main_file = main_file(report);
    let results = report.problems.iter();
    let results: Vec<Value> = results
        .map(|problem| result(problem, &rules, &root, main_file.as_ref()))
        .collect();
    let rules: Vec<Value> = rules.iter().map(descriptor).collect();
    json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "columnKind": "unicodeCodePoints",
            "tool": { "driver": {
                "name": "cuda-run",
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": rules,
            } },
            "invocations": [{
                "executionSuccessful": report.run.status.is_some() && report.run.ended.is_none(),
                "exitCode": report.status,
            }],
            "originalUriBaseIds": {
                SOURCE_ROOT: { "description": { "text": "The root of the source tree." } },
            },
            "results": results,
        }],
    })
}

fn descriptor(rule: &Rule) -> Value {
    json!({
        "id": rule.name,
        "shortDescription": { "text": rule.title },
        "fullDescription": { "text": format!("{}. {}", rule.title, rule.help) },
        "help": { "text": rule.help },
    })
}

/// Converts a problem. Without a line of its own it is reported in the program's main file, because code scanning
/// ignores results without a location.
fn result(
    problem: &Problem,
    rules: &[Rule],
    root: &SourceRoot,
    main_file: Option<&CallSite>,
) -> Value {
    let location = problem.location.as_ref().or(main_file);
    let mut place = json!({});
    if let Some(location) = location {
        place["physicalLocation"] = physical(location, root);
    }
    if let Some(column) = problem.column {
        place["physicalLocation"]["region"]["startColumn"] = json!(column);
    }
    if let Some(kernel) = &problem.kernel {
        place["logicalLocations"] = json!([{ "name": kernel, "kind": "function" }]);
    }
    let mut result = json!({
        "ruleId": problem.kind,
        "level": problem.severity.name(),
        "message": { "text": problem.message },
        "locations": [place],
        "occurrenceCount": problem.count,
        "partialFingerprints": { "lineHash/v1": fingerprint(problem, root) },
        "properties": { "check": problem.check },
    });
    if let Some(index) = rules.iter().position(|rule| rule.name == problem.kind) {
        result["ruleIndex"] = json!(index);
    }
    if let Some(cause) = &problem.cause {
        result["properties"]["cause"] = json!(cause);
    }
    let related = problem.related.iter().zip(1..).map(|(related, id)| {
        json!({
            "id": id,
            "message": { "text": related.message },
            "physicalLocation": physical(&related.location, root),
        })
    });
    let related: Vec<Value> = related.collect();
    if !related.is_empty() {
        result["relatedLocations"] = json!(related);
    }
    result
}

fn physical(location: &CallSite, root: &SourceRoot) -> Value {
    let path = root.relative(&location.file);
    let uri = uri(&path);
    let artifact = if uri.starts_with("file:") {
        json!({ "uri": uri })
    } else {
        json!({ "uri": uri, "uriBaseId": SOURCE_ROOT })
    };
    json!({
        "artifactLocation": artifact,
        "region": { "startLine": location.line },
    })
}

/// Returns the start of the program's first file, or of the first argument that is one, such as a script.
fn main_file(report: &Report) -> Option<CallSite> {
    let files = report.flags.files.iter();
    let files = files.map(|file| file.display().to_string());
    let arguments = report.run.program.iter().chain(&report.run.arguments);
    let arguments = arguments.filter(|word| fs::metadata(word).is_ok_and(|file| file.is_file()));
    let file = files.chain(arguments.cloned()).next()?;
    Some(CallSite { file, line: 1 })
}

/// Returns a hash that identifies a problem in later versions of its file, in which its line may have moved.
fn fingerprint(problem: &Problem, root: &SourceRoot) -> String {
    let location = problem.location.as_ref();
    let file = location.map(|location| root.relative(&location.file));
    let text = location.and_then(|location| {
        let text = fs::read(&location.file).ok()?;
        let text = String::from_utf8_lossy(&text).into_owned();
        let line = text.lines().nth(location.line.checked_sub(1)? as usize)?;
        Some(line.trim().to_owned())
    });
    let parts = [
        Some(problem.kind.clone()),
        problem.kernel.clone(),
        file,
        text,
    ];
    let key = parts.map(Option::unwrap_or_default).join("\n");
    let hash = Sha256::digest(key);
    hash[..8].iter().map(|byte| format!("{byte:02x}")).collect()
}
