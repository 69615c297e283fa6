//! Tests of resolved plans: buffers, arguments, comparisons, tolerances, and the lines that errors name.

use super::*;
use crate::contents::verify;
use crate::plan::{find, json_to_toml};

const ADD: &str = r#"// Adds.
/* cuda-run
[numbers]
n = 10
blocks = "(n + 3) / 4"

[[buffer]]
name = "a"
type = "float"
count = "n"
fill = "iota"

[[buffer]]
name = "c"
type = "f32"
count = "n"
fill = -1
print = 3
expect = "2 * a[i] + 0.5"

[[launch]]
kernel = "add"
grid = "blocks"
block = [4, 2]
arguments = ["a", "c", "n", 0.5, [{ u8 = 1 }, { f64 = "n" }]]
*/
"#;

fn read(file: &str, set: &[(&str, &str)]) -> Result<ResolvedPlan, PlanError> {
    let text = find(file)?.unwrap();
    let set: Vec<(String, String)> = set
        .iter()
        .map(|(a, b)| (a.to_string(), b.to_string()))
        .collect();
    ResolvedPlan::read(&text, Path::new("."), &set)
}

fn floats(values: &[f32]) -> Vec<u8> {
    values
        .iter()
        .flat_map(|value| value.to_le_bytes())
        .collect()
}

#[test]
fn a_plan_is_resolved() {
    let plan = read(ADD, &[]).unwrap();
    let [a, c] = &plan.buffers[..] else {
        panic!("{:?}", plan.buffers);
    };
    assert_eq!(a.initial.as_deref().unwrap()[4..8], 1.0_f32.to_le_bytes());
    assert_eq!(c.initial.as_deref().unwrap()[..4], (-1.0_f32).to_le_bytes());
    assert_eq!((c.print, c.line), (3, 14));
    let [launch] = &plan.launches[..] else {
        panic!("{:?}", plan.launches);
    };
    assert_eq!((launch.grid, launch.block), ([3, 1, 1], [4, 2, 1]));
    assert_eq!((launch.shared, launch.times, launch.line), (0, 1, 22));
    let mut structure = vec![1, 0, 0, 0, 0, 0, 0, 0];
    structure.extend(10.0_f64.to_le_bytes());
    let expected = [
        Argument::Buffer {
            index: 0,
            offset: 0,
        },
        Argument::Buffer {
            index: 1,
            offset: 0,
        },
        Argument::Number(Value::Integer(10)),
        Argument::Number(Value::Float(0.5)),
        Argument::Structure {
            bytes: structure,
            pointers: Vec::new(),
        },
    ];
    assert_eq!(launch.arguments, expected);
    let other = read(ADD, &[("n", "8 * 2")]).unwrap();
    assert_eq!((other.buffers[0].count, other.launches[0].grid[0]), (16, 4));
}

#[test]
fn results_are_compared() {
    let plan = read(ADD, &[("n", "4")]).unwrap();
    let c = &plan.buffers[1];
    let correct = verify(c, &floats(&[0.5, 2.5, 4.5, 6.500_001]));
    assert_eq!(correct.printed.unwrap(), "c: 0.5 2.5 4.5 …");
    assert_eq!(
        correct.comparison.unwrap().unwrap(),
        "c is equal to 2 * a[i] + 0.5"
    );
    let incorrect = verify(c, &floats(&[0.5, 2.0, 4.5, f32::NAN]));
    assert_eq!(
        incorrect.comparison.unwrap().unwrap_err(),
        "c is not equal to 2 * a[i] + 0.5: 2 of 4 elements differ: c[1] is 2, expected 2.5, c[3] is NaN, expected 6.5"
    );
    assert_eq!(
        verify(&plan.buffers[0], &floats(&[0.0; 4])).comparison,
        None
    );
}

#[test]
fn the_plans_tolerance_applies() {
    let tolerant = ADD.replace("print = 3", "tolerance = { absolute = 1 }");
    let c = &read(&tolerant, &[("n", "1")]).unwrap().buffers[1];
    assert!(verify(c, &floats(&[1.4])).comparison.unwrap().is_ok());
    assert!(verify(c, &floats(&[1.6])).comparison.unwrap().is_err());
    let integers = ADD.replace("\"f32\"", "\"i32\"");
    let c = &read(&integers, &[("n", "1")]).unwrap().buffers[1];
    assert!(verify(c, &0_i32.to_le_bytes()).comparison.unwrap().is_ok());
    assert!(verify(c, &1_i32.to_le_bytes()).comparison.unwrap().is_err());
}

#[test]
fn an_error_names_its_line() {
    for (from, slot, line, message) in [
        ("n = 10", "n = ", 4, ""),
        ("kernel = \"add\"", "kernel = 3", 22, "string"),
        ("print = 3", "prints = 3", 18, "unknown field"),
        ("\"float\"", "\"flaot\"", 9, "unknown type flaot"),
        (
            "count = \"n\"\nfill = \"iota\"",
            "count = \"m\"",
            10,
            "count: undefined number m",
        ),
        ("\"iota\"", "\"itoa\"", 11, "fill: undefined number itoa"),
        (
            "\"iota\"",
            "{ random = { from = 3, to = 3 } }",
            11,
            "the range from 3",
        ),
        (
            "\"iota\"",
            "{ file = \"no-such-file\" }",
            11,
            "cannot read ./no-such-file",
        ),
        ("\"iota\"", "{ values = [] }", 11, "list of values is empty"),
        ("2 * a[i]", "2 * b[i]", 19, "expect: undefined buffer b"),
        (
            "2 * a[i]",
            "2 * a[i + 1]",
            19,
            "index 10 is out of range: a has 10 elements",
        ),
        ("grid = \"blocks\"", "grid = 0", 23, "positive integers"),
        ("[4, 2]", "[1, 2, 3, 4]", 24, "one to three"),
        (
            "\"a\", \"c\"",
            "\"a\", \"d\"",
            25,
            "argument: undefined number d",
        ),
        (
            "{ u8 = 1 }",
            "{ u8 = 1, u16 = 2 }",
            25,
            "one type and its value",
        ),
        (
            "name = \"c\"",
            "name = \"a\"",
            14,
            "two buffers are named a",
        ),
        (
            "count = \"n\"\nfill = -1",
            "count = -1\nfill = -1",
            16,
            "non-negative integer",
        ),
        (
            "count = \"n\"\nfill = -1",
            "count = 9e9\nfill = -1",
            16,
            "non-negative integer",
        ),
        (
            "count = \"n\"\nfill = -1",
            "count = 99999999999\nfill = -1",
            16,
            "16 GiB",
        ),
    ] {
        assert!(ADD.contains(from), "{from}");
        let error = read(&ADD.replacen(from, slot, 1), &[]).unwrap_err();
        assert_eq!(error.line, line, "{slot}: {error}");
        assert!(error.message.contains(message), "{slot}: {error}");
    }
    let error = read("/* cuda-run\n*/", &[]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "line 1: the launch plan has no [[launch]]"
    );
    let set = read(ADD, &[("m", "1")]).unwrap_err();
    assert_eq!(
        set.to_string(),
        "--set m: the launch plan defines no number m"
    );
}

#[test]
fn files_supply_initial_and_expected_values() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("in.bin"), floats(&[1.0, 2.0])).unwrap();
    let file = ADD
        .replace("\"iota\"", "{ file = \"in.bin\" }")
        .replace("\"2 * a[i] + 0.5\"", "{ file = \"in.bin\" }");
    let text = find(&file).unwrap().unwrap();
    let set = |n: &str| [("n".to_owned(), n.to_owned())];
    let plan = ResolvedPlan::read(&text, directory.path(), &set("2")).unwrap();
    assert_eq!(
        plan.buffers[0].initial.as_deref().unwrap(),
        floats(&[1.0, 2.0])
    );
    let verdict = verify(&plan.buffers[1], &floats(&[1.0, 2.0]));
    assert_eq!(verdict.comparison.unwrap().unwrap(), "c is equal to in.bin");
    let error = ResolvedPlan::read(&text, directory.path(), &set("3")).unwrap_err();
    assert_eq!(error.line, 11);
    assert!(
        error
            .message
            .contains("has 8 bytes, but the buffer needs 12"),
        "{error}"
    );
}

#[test]
fn hashes_are_below_the_limit_and_depend_on_the_seed() {
    let bytes_with_seed = |seed| {
        let fill = format!("fill = \"hash({seed}, i) % 7\"");
        let plan = ADD
            .replace("\"float\"", "\"u16\"")
            .replace("fill = \"iota\"", &fill);
        let mut plan = read(&plan, &[("n", "1000")]).unwrap();
        plan.buffers.swap_remove(0).initial.unwrap()
    };
    let bytes = bytes_with_seed(1);
    assert_eq!(bytes.len(), 2000);
    let low = bytes.iter().step_by(2);
    let counts = (0..8).map(|n| low.clone().filter(|&&byte| byte == n).count());
    let counts: Vec<usize> = counts.collect();
    assert!(
        counts[..7].iter().all(|&n| n > 100) && counts[7] == 0,
        "{counts:?}"
    );
    assert!(bytes.iter().skip(1).step_by(2).all(|&byte| byte == 0));
    assert_ne!(bytes, bytes_with_seed(2));
}

#[test]
fn a_buffer_without_a_fill_is_zeroed() {
    let plan = ADD
        .replace("\"float\"", "\"f64\"")
        .replace("fill = \"iota\"", "");
    let plan = read(&plan, &[("n", "3")]).unwrap();
    assert_eq!(plan.buffers[0].initial.as_deref(), Some(&[0; 24][..]));
}

#[test]
fn a_plan_in_json_equals_the_plan_in_toml() {
    let json = r#"{
        "numbers": {"n": 10, "blocks": "(n + 3) / 4"},
        "buffer": [
            {"name": "a", "type": "float", "count": "n", "fill": "iota"},
            {"name": "c", "type": "f32", "count": "n", "fill": {"random": {"seed": 3, "to": 2.5}}}
        ],
        "launch": [{"kernel": "add", "grid": "blocks", "block": [4, 2],
            "arguments": ["a", "c", "n", 0.5, [{"u8": 1}, {"f64": "n"}]]}]
    }"#;
    let toml = ADD.replace("fill = -1", "fill = { random = { seed = 3, to = 2.5 } }");
    let expected = read(&toml, &[]).unwrap();
    let text = json_to_toml(json).unwrap();
    let text = Text {
        text: &text,
        lines_before: 0,
    };
    let plan = ResolvedPlan::read(&text, Path::new("."), &[]).unwrap();
    let contents = |plan: &ResolvedPlan| -> Vec<_> {
        let buffers = plan.buffers.iter();
        buffers.map(|buffer| buffer.initial.clone()).collect()
    };
    assert_eq!(contents(&plan), contents(&expected));
    let (launch, expected) = (&plan.launches[0], &expected.launches[0]);
    assert_eq!(launch.arguments, expected.arguments);
    assert_eq!((launch.grid, launch.block), (expected.grid, expected.block));
    assert_eq!(json_to_toml("{\n]").unwrap_err().line, 2);
}
