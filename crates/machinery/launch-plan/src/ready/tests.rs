use super::*;
use crate::comment;
use crate::judge::judge;

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

fn read(file: &str, set: &[(&str, &str)]) -> Result<Ready, Mistake> {
    let text = comment::find(file)?.unwrap();
    let set: Vec<(String, String)> = set
        .iter()
        .map(|(a, b)| (a.to_string(), b.to_string()))
        .collect();
    Ready::read(&text, Path::new("."), &set)
}

fn floats(values: &[f32]) -> Vec<u8> {
    values
        .iter()
        .flat_map(|value| value.to_le_bytes())
        .collect()
}

#[test]
fn a_description_is_read() {
    let ready = read(ADD, &[]).unwrap();
    let [a, c] = &ready.buffers[..] else {
        panic!("{:?}", ready.buffers);
    };
    assert_eq!(a.start.as_deref().unwrap()[4..8], 1.0_f32.to_le_bytes());
    assert_eq!(c.start.as_deref().unwrap()[..4], (-1.0_f32).to_le_bytes());
    assert_eq!((c.print, c.line), (3, 14));
    let [launch] = &ready.launches[..] else {
        panic!("{:?}", ready.launches);
    };
    assert_eq!((launch.grid, launch.block), ([3, 1, 1], [4, 2, 1]));
    assert_eq!((launch.shared, launch.times, launch.line), (0, 1, 22));
    let mut structure = vec![1, 0, 0, 0, 0, 0, 0, 0];
    structure.extend(10.0_f64.to_le_bytes());
    let wanted = [
        Argument::Buffer(0),
        Argument::Buffer(1),
        Argument::Number(Value::Whole(10)),
        Argument::Number(Value::Float(0.5)),
        Argument::Structure(structure),
    ];
    assert_eq!(launch.arguments, wanted);
    let other = read(ADD, &[("n", "8 * 2")]).unwrap();
    assert_eq!((other.buffers[0].count, other.launches[0].grid[0]), (16, 4));
}

#[test]
fn results_are_judged() {
    let ready = read(ADD, &[("n", "4")]).unwrap();
    let c = &ready.buffers[1];
    let right = judge(c, &floats(&[0.5, 2.5, 4.5, 6.500_001]));
    assert_eq!(right.shown.unwrap(), "c: 0.5 2.5 4.5 …");
    assert_eq!(
        right.compared.unwrap().unwrap(),
        "c is equal to 2 * a[i] + 0.5"
    );
    let wrong = judge(c, &floats(&[0.5, 2.0, 4.5, f32::NAN]));
    assert_eq!(
        wrong.compared.unwrap().unwrap_err(),
        "c is not equal to 2 * a[i] + 0.5: 2 of 4 elements differ: c[1] is 2, not 2.5, c[3] is NaN, not 6.5"
    );
    assert_eq!(judge(&ready.buffers[0], &floats(&[0.0; 4])).compared, None);
}

#[test]
fn a_tolerance_is_what_the_description_says() {
    let near = ADD.replace("print = 3", "tolerance = { absolute = 1 }");
    let c = &read(&near, &[("n", "1")]).unwrap().buffers[1];
    assert!(judge(c, &floats(&[1.4])).compared.unwrap().is_ok());
    assert!(judge(c, &floats(&[1.6])).compared.unwrap().is_err());
    let whole = ADD.replace("\"f32\"", "\"i32\"");
    let c = &read(&whole, &[("n", "1")]).unwrap().buffers[1];
    assert!(judge(c, &0_i32.to_le_bytes()).compared.unwrap().is_ok());
    assert!(judge(c, &1_i32.to_le_bytes()).compared.unwrap().is_err());
}

#[test]
fn a_mistake_names_its_line() {
    for (from, to, line, said) in [
        ("n = 10", "n = ", 4, ""),
        ("kernel = \"add\"", "kernel = 3", 22, "string"),
        ("print = 3", "prints = 3", 18, "unknown field"),
        ("\"float\"", "\"flaot\"", 9, "no type flaot"),
        (
            "count = \"n\"\nfill = \"iota\"",
            "count = \"m\"",
            10,
            "count: there is no number m",
        ),
        ("\"iota\"", "\"itoa\"", 11, "fill: there is no number itoa"),
        (
            "\"iota\"",
            "{ random = { from = 3, to = 3 } }",
            11,
            "no number from 3",
        ),
        (
            "\"iota\"",
            "{ file = \"no-such-file\" }",
            11,
            "cannot read ./no-such-file",
        ),
        ("\"iota\"", "{ values = [] }", 11, "no value in the list"),
        ("2 * a[i]", "2 * b[i]", 19, "expect: there is no buffer b"),
        (
            "2 * a[i]",
            "2 * a[i + 1]",
            19,
            "a has 10 elements, and none is number 10",
        ),
        (
            "grid = \"blocks\"",
            "grid = 0",
            23,
            "whole numbers from 1 on",
        ),
        ("[4, 2]", "[1, 2, 3, 4]", 24, "up to three"),
        (
            "\"a\", \"c\"",
            "\"a\", \"d\"",
            25,
            "argument: there is no number d",
        ),
        (
            "{ u8 = 1 }",
            "{ u8 = 1, u16 = 2 }",
            25,
            "one type and its value",
        ),
        ("name = \"c\"", "name = \"a\"", 14, "two buffers a"),
        (
            "count = \"n\"\nfill = -1",
            "count = -1\nfill = -1",
            16,
            "whole number from 0 on",
        ),
        (
            "count = \"n\"\nfill = -1",
            "count = 9e9\nfill = -1",
            16,
            "whole number from 0 on",
        ),
        (
            "count = \"n\"\nfill = -1",
            "count = 99999999999\nfill = -1",
            16,
            "16 GiB",
        ),
    ] {
        assert!(ADD.contains(from), "{from}");
        let mistake = read(&ADD.replacen(from, to, 1), &[]).unwrap_err();
        assert_eq!(mistake.line, line, "{to}: {mistake}");
        assert!(mistake.what.contains(said), "{to}: {mistake}");
    }
    let none = read("/* cuda-run\n*/", &[]).unwrap_err();
    assert_eq!(
        none.to_string(),
        "line 1: the description has no [[launch]]"
    );
    let set = read(ADD, &[("m", "1")]).unwrap_err();
    assert_eq!(set.to_string(), "--set m: the description has no number m");
}

#[test]
fn files_are_filled_from_and_compared_with() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("in.bin"), floats(&[1.0, 2.0])).unwrap();
    let file = ADD
        .replace("\"iota\"", "{ file = \"in.bin\" }")
        .replace("\"2 * a[i] + 0.5\"", "{ file = \"in.bin\" }");
    let text = comment::find(&file).unwrap().unwrap();
    let set = |n: &str| [("n".to_owned(), n.to_owned())];
    let ready = Ready::read(&text, folder.path(), &set("2")).unwrap();
    assert_eq!(
        ready.buffers[0].start.as_deref().unwrap(),
        floats(&[1.0, 2.0])
    );
    let verdict = judge(&ready.buffers[1], &floats(&[1.0, 2.0]));
    assert_eq!(verdict.compared.unwrap().unwrap(), "c is equal to in.bin");
    let mistake = Ready::read(&text, folder.path(), &set("3")).unwrap_err();
    assert_eq!(mistake.line, 11);
    assert!(
        mistake.what.contains("has 8 bytes, and the buffer 12"),
        "{mistake}"
    );
}
