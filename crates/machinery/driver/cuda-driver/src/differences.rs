//! Tests that compare documentation with code. The book's page on differences from hardware lists the
//! unsupported instructions, and a page of the records lists the unsupported functions; each list lies
//! between `<!-- lacking: NAME -->` and `<!-- end -->`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use cuda_sim::device::DeviceSpec;
use cuda_sim::lower::LoadError;
use cuda_sim::memory::global::Global;

use crate::functions::{DefaultStream, all, base_name};

fn path(name: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../..");
    root.join("docs").join(name)
}

fn page(name: &str) -> String {
    let path = path(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn pages() -> [String; 2] {
    ["en/differences.md", "zh/differences.md"].map(page)
}

/// Returns the text of the list `name` of the page.
fn list<'a>(page: &'a str, name: &str) -> &'a str {
    let (_, list) = page
        .split_once(&format!("<!-- lacking: {name} -->"))
        .expect("the list");
    list.split_once("<!-- end -->").expect("its end").0
}

/// Returns the code spans in the list `name` of the page.
fn listed<'a>(page: &'a str, name: &str) -> Vec<&'a str> {
    list(page, name).split('`').skip(1).step_by(2).collect()
}

/// Returns the functions by unversioned name, with true for those of which the simulator implements at least
/// one version.
fn functions() -> BTreeMap<&'static str, bool> {
    let mut functions = BTreeMap::new();
    for function in all() {
        *functions.entry(base_name(function.name())).or_default() |= function.simulated;
    }
    functions
}

/// With `UPDATE` in the environment, writes the list.
#[test]
fn unsupported_functions_are_listed() {
    let functions = functions().into_iter();
    let unsupported = functions.filter(|(_, simulated)| !simulated);
    let expected: String = unsupported
        .map(|(name, _)| format!("- `{name}`\n"))
        .collect();
    let name = "records/driver-functions.md";
    let page = page(name);
    let actual = list(&page, "functions");
    if std::env::var_os("UPDATE").is_some() {
        let updated = page.replace(actual, &format!("\n\n{expected}\n"));
        std::fs::write(path(name), updated).unwrap();
    } else {
        assert!(
            actual.trim() == expected.trim(),
            "{name} is out of date: run this test with UPDATE=1"
        );
    }
}

/// Exempts functions that are newer than the header's CUDA version, and per-thread variants.
#[test]
fn supported_functions_are_in_the_header() {
    const VERSION: u32 = 12080;
    let include = "../kernels/include";
    let files = [
        "cuda.h",
        "warpbook/driver_graphs.h",
        "warpbook/driver_others.h",
        "warpbook/driver_recent.h",
        "warpbook/driver_tensor_maps.h",
    ];
    let header: String = files
        .map(|file| page(&format!("{include}/{file}")))
        .concat();
    assert!(header.contains(&format!("#define CUDA_VERSION {VERSION}\n")));
    let required = all().filter(|entry| entry.simulated && entry.since <= VERSION);
    let required = required.filter(|entry| entry.default_stream == DefaultStream::Legacy);
    let missing: Vec<&str> = required
        .map(|function| function.name())
        .filter(|name| !header.contains(&format!(" {name}(")))
        .filter(|name| !header.contains(&format!("#define {name} ")))
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn listed_instructions_are_unsupported() {
    for page in pages() {
        let listed = listed(&page, "instructions");
        assert!(listed.len() > 10, "{listed:?}");
        for instruction in listed {
            let ptx = format!(
                ".version 9.0\n.target sm_90a\n.address_size 64\n.visible .entry k() {{ {instruction}; }}"
            );
            let loaded =
                cuda_sim::lower::load(&ptx, &DeviceSpec::h200(), &mut Global::new(1 << 20));
            match loaded.err() {
                Some(LoadError::UnknownInstruction { .. }) => {}
                other => panic!("`{instruction}`: {other:?}"),
            }
        }
    }
}

#[test]
fn languages_have_equal_lists_and_headings() {
    let [english, chinese] = pages();
    let name = "instructions";
    assert_eq!(listed(&english, name), listed(&chinese, name));
    let levels = |page: &str| -> Vec<usize> {
        let hashes = |line: &str| line.bytes().take_while(|&byte| byte == b'#').count();
        page.lines()
            .map(hashes)
            .filter(|&level| level > 0)
            .collect()
    };
    assert_eq!(levels(&english), levels(&chinese));
}
