//! Modules that are linked, and those that are not.

use crate::ptx::{LinkError, link, parse};

const HEAD: &str = ".version 6.4\n.target sm_52\n.address_size 64\n";

fn linked(bodies: &[&str]) -> Result<String, LinkError> {
    let texts = bodies.iter().enumerate();
    let texts = texts.map(|(i, body)| (format!("m{i}"), format!("{HEAD}{body}")));
    link(&texts.collect::<Vec<_>>())
}

/// The names that the linked text defines, in order.
fn defines(bodies: &[&str]) -> Vec<String> {
    let text = linked(bodies).unwrap();
    let module = parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let functions = module.functions.iter();
    let functions = functions
        .filter(|global_name| global_name.body.is_some())
        .map(|global_name| global_name.name);
    let variables = module.variables.iter().map(|global_name| global_name.name);
    variables.chain(functions).map(str::to_owned).collect()
}

#[test]
fn what_is_declared_in_one_and_defined_in_another_is_one() {
    let names = defines(&[
        ".extern .global .u32 count; .extern .func (.param .b32 r) twice(.param .b32 a);
         .visible .entry k() { ret; }",
        ".visible .global .u32 count = 5;
         .visible .func (.param .b32 r) twice(.param .b32 a) { ret; }",
    ]);
    assert_eq!(names, ["count", "k", "twice"]);
}

#[test]
fn names_of_ones_own_stay_apart() {
    let body = ".global .u32 own[2] = {1, 2}; .func helper() { ret; }";
    let global_name = format!("{body} .visible .entry a() {{ mov.u64 %rd1, own; call helper; }}");
    let two = format!("{body} .visible .entry b() {{ mov.u64 %rd1, own; call helper; }}");
    let text = linked(&[&global_name, &two]).unwrap();
    assert_eq!(text.matches("own$module0").count(), 2, "{text}");
    assert_eq!(text.matches("helper$module1").count(), 2, "{text}");
    assert_eq!(
        defines(&[&global_name, &two]),
        [
            "own$module0",
            "own$module1",
            "helper$module0",
            "a",
            "helper$module1",
            "b"
        ]
    );
    // A name that only one module has stays as it is.
    assert_eq!(defines(&[&global_name, ".visible .entry b() { ret; }"])[0], "own");
}

#[test]
fn weak_definitions_give_way_and_strong_ones_clash() {
    let weak = ".weak .global .u32 v = 1;";
    let strong = ".visible .global .u32 v = 2;";
    for order in [[weak, strong], [strong, weak]] {
        let text = linked(&order).unwrap();
        assert!(text.contains("v = 2") && !text.contains("v = 1"), "{text}");
    }
    assert!(linked(&[weak, weak]).unwrap().contains("v = 1"));
    let twice = linked(&[strong, strong]).unwrap_err();
    assert_eq!(twice.to_string(), "`v` is defined in m0 and in m1");
}

#[test]
fn what_is_nowhere_or_no_ptx_is_an_error() {
    let nowhere = linked(&[".extern .global .u32 v;", ""]).unwrap_err();
    assert!(nowhere.to_string().contains("m0 takes `v`"), "{nowhere}");
    let wrong = linked(&["", "oops"]).unwrap_err();
    assert!(wrong.to_string().starts_with("m1: line 4"), "{wrong}");
    assert_eq!(link(&[]), Err(LinkError::NoModules));
}

#[test]
fn source_files_have_numbers_of_their_own() {
    let unit = ".file 1 \"a.cu\"\n.visible .entry NAME() { .loc 1 5 3\n ret; }
        .section .debug_str { .b8 0 }";
    let (global_name, two) = (unit.replace("NAME", "a"), unit.replace("NAME", "b"));
    let text = linked(&[&global_name, &two.replace("a.cu", "b.cu")]).unwrap();
    assert!(
        text.contains(".file 1 \"a.cu\"") && text.contains(".loc 1 5 3"),
        "{text}"
    );
    assert!(
        text.contains(".file 3 \"b.cu\"") && text.contains(".loc 3 5 3"),
        "{text}"
    );
    assert!(!text.contains("debug_str"), "{text}");
    assert_eq!(
        linked(&[&global_name]).unwrap(),
        format!("{HEAD}{global_name}"),
        "alone as it is"
    );
}

#[test]
fn the_newest_version_and_target_count() {
    let text = |version: &str, target: &str| {
        let text = format!(".version {version}\n.target {target}\n.address_size 64\n");
        (target.to_owned(), text)
    };
    let linked = link(&[text("7.8", "sm_52"), text("6.4", "sm_80")]).unwrap();
    assert!(
        linked.starts_with(".version 7.8\n.target sm_80\n"),
        "{linked}"
    );
}

/// Shared memory that is sized at launch is declared everywhere and is one.
#[test]
fn dynamic_shared_memory_is_one() {
    let both = ".extern .shared .b8 tile[];";
    assert_eq!(defines(&[both, both]), ["tile"]);
}
