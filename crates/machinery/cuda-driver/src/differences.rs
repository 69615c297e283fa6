//! The book's page on what differs from hardware lists functions and instructions that the simulator
//! lacks. These tests compare its lists, in both languages, with the code. In the page a list stands
//! between `<!-- lacking: NAME -->` and `<!-- end -->`.

use std::path::Path;

use cuda_sim::device::DeviceSpec;
use cuda_sim::lower::LoadError;
use cuda_sim::memory::global::Global;

use crate::functions::SIMULATED;

fn page(language: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
    let path = root.join("docs").join(language).join("differences.md");
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn pages() -> [String; 2] {
    ["en", "zh"].map(page)
}

/// The code spans in the list `name` of the page.
fn listed<'a>(page: &'a str, name: &str) -> Vec<&'a str> {
    let (_, list) = page
        .split_once(&format!("<!-- lacking: {name} -->"))
        .expect("the list");
    let (list, _) = list.split_once("<!-- end -->").expect("its end");
    list.split('`').skip(1).step_by(2).collect()
}

/// Whether a line of the page's list means `function`. The page leaves the version (`_v2`) out, and
/// `cuGraph…` means all functions that begin so.
fn names(listed: &str, function: &str) -> bool {
    let function = function.strip_suffix("_v2").unwrap_or(function);
    match listed.strip_suffix('…') {
        Some(beginning) => function.starts_with(beginning),
        None => function == listed,
    }
}

#[test]
fn the_page_lists_the_functions_that_are_not_simulated_and_no_others() {
    for page in pages() {
        let listed = listed(&page, "functions");
        for (function, simulated) in SIMULATED {
            let found = listed.iter().any(|one| names(one, function));
            assert_ne!(found, *simulated, "{function}");
        }
        for one in listed {
            let known = SIMULATED.iter().any(|(function, _)| names(one, function));
            assert!(known, "`{one}` is no function");
        }
    }
}

#[test]
fn the_page_lists_instructions_that_are_not_simulated() {
    for page in pages() {
        let listed = listed(&page, "instructions");
        assert!(listed.len() > 20, "{listed:?}");
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
fn both_languages_have_the_same_lists_and_as_many_headings() {
    let [english, chinese] = pages();
    for name in ["functions", "instructions"] {
        assert_eq!(listed(&english, name), listed(&chinese, name), "{name}");
    }
    let levels = |page: &str| -> Vec<usize> {
        let hashes = |line: &str| line.bytes().take_while(|&byte| byte == b'#').count();
        page.lines()
            .map(hashes)
            .filter(|&level| level > 0)
            .collect()
    };
    assert_eq!(levels(&english), levels(&chinese));
}
