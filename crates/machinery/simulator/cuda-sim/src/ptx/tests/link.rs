//! Tests of linking.

use crate::ptx::{LinkError, link, parse};

const HEAD: &str = ".version 6.4\n.target sm_52\n.address_size 64\n";

fn linked(bodies: &[&str]) -> Result<String, LinkError> {
    let texts = bodies.iter().enumerate();
    let texts = texts.map(|(i, body)| (format!("m{i}"), format!("{HEAD}{body}")));
    link(&texts.collect::<Vec<_>>(), |name| name == "vprintf")
}

/// Returns the numbers of variables and functions of a text.
fn parse_owned(text: &str) -> (usize, usize) {
    let module = parse(text).unwrap();
    (module.variables.len(), module.functions.len())
}

/// Returns the names that the linked text defines, in order.
fn defines(bodies: &[&str]) -> Vec<String> {
    let text = linked(bodies).unwrap();
    let module = parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let functions = module.functions.iter().filter(|first| first.body.is_some());
    let functions = functions.map(|first| first.name);
    let variables = module.variables.iter().map(|first| first.name);
    variables.chain(functions).map(str::to_owned).collect()
}

#[test]
fn external_declarations_resolve_to_definitions() {
    let names = defines(&[
        ".extern .global .u32 count; .extern .func (.param .b32 r) twice(.param .b32 a);
         .visible .entry k() { ret; }",
        ".visible .global .u32 count = 5;
         .visible .func (.param .b32 r) twice(.param .b32 a) { ret; }",
    ]);
    assert_eq!(names, ["count", "k", "twice"]);
}

#[test]
fn clashing_local_names_are_renamed() {
    let body = ".global .u32 own[2] = {1, 2}; .func helper() { ret; }";
    let first = format!("{body} .visible .entry a() {{ mov.u64 %rd1, own; call helper; }}");
    let second = format!("{body} .visible .entry b() {{ mov.u64 %rd1, own; call helper; }}");
    let text = linked(&[&first, &second]).unwrap();
    assert_eq!(text.matches("own$module0").count(), 2, "{text}");
    assert_eq!(text.matches("helper$module1").count(), 2, "{text}");
    let names = defines(&[&first, &second]).join(" ");
    let expected = "own$module0 own$module1 helper$module0 a helper$module1 b";
    assert_eq!(names, expected);
    // A name that only one module has is not renamed.
    assert_eq!(defines(&[&first, ".visible .entry b() { ret; }"])[0], "own");
}

#[test]
fn strong_definitions_override_weak_ones_and_clash() {
    let weak = ".weak .global .u32 v = 1;";
    let strong = ".visible .global .u32 v = 2;";
    for order in [[weak, strong], [strong, weak]] {
        let text = linked(&order).unwrap();
        assert!(text.contains("v = 2") && !text.contains("v = 1"), "{text}");
    }
    assert!(linked(&[weak, weak]).unwrap().contains("v = 1"));
    let duplicate = linked(&[strong, strong]).unwrap_err();
    let message = "error   : Multiple definition of 'v' in 'm1', first defined in 'm0'";
    assert_eq!(duplicate.to_string(), message);
}

#[test]
fn undefined_names_and_syntax_errors_are_reported() {
    let undefined = linked(&[".extern .global .u32 v;", ""]).unwrap_err();
    let message = "error   : Undefined reference to 'v' in 'm0'";
    assert_eq!(undefined.to_string(), message);
    let calls = ".extern .func f(); .extern .func vprintf(); .extern .global .u32 v;
        .visible .entry k() { call f; call vprintf; ret; }";
    let message = "error   : Undefined reference to 'f' in 'm0'\n\
        error   : Undefined reference to 'v' in 'm0'";
    assert_eq!(linked(&[calls]).unwrap_err().to_string(), message);
    let syntax = linked(&["", "oops"]).unwrap_err();
    assert!(syntax.to_string().starts_with("m1: line 4"), "{syntax}");
    let empty = parse_owned(&linked(&[]).unwrap());
    assert_eq!(empty, (0, 0));
}

#[test]
fn source_files_are_renumbered() {
    let unit = ".file 1 \"a.cu\"\n.visible .entry NAME() { .loc 1 5 3\n ret; }
        .section .debug_str { .b8 0 }";
    let (first, second) = (unit.replace("NAME", "a"), unit.replace("NAME", "b"));
    let text = linked(&[&first, &second.replace("a.cu", "b.cu")]).unwrap();
    for part in [
        ".file 1 \"a.cu\"",
        ".loc 1 5 3",
        ".file 3 \"b.cu\"",
        ".loc 3 5 3",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    assert!(!text.contains("debug_str"), "{text}");
    let alone = linked(&[&first]).unwrap();
    assert_eq!(alone, format!("{HEAD}{first}"));
}

#[test]
fn newest_version_and_target_are_used() {
    let text = |version: &str, target: &str| {
        let text = format!(".version {version}\n.target {target}\n.address_size 64\n");
        (target.to_owned(), text)
    };
    let linked = link(&[text("7.8", "sm_52"), text("6.4", "sm_80")], |_| false).unwrap();
    let head = ".version 7.8\n.target sm_80\n";
    assert!(linked.starts_with(head), "{linked}");
}

/// Dynamic shared memory is declared by all modules and defined once.
#[test]
fn dynamic_shared_memory_is_merged() {
    let both = ".extern .shared .b8 tile[];";
    assert_eq!(defines(&[both, both]), ["tile"]);
}

#[test]
fn prototypes_of_functions_defined_in_the_same_module_are_dropped() {
    let text = linked(&[
        ".extern .func f(.param .u64 a);\n.visible .entry k() { ret; }",
        ".visible .func f(.param .u64 a);\n.visible .func f(.param .u64 a)\n{ ret; }",
    ])
    .expect("the modules were not linked");
    assert_eq!(text.matches(".func f").count(), 1, "{text}");
    assert!(text.contains(".func f(.param .u64 a)\n{ ret; }"), "{text}");
}
