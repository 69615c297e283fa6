//! Tests of the source reader, on small crates that violate the rules.

use crate::source::Source;
use std::collections::BTreeMap;

/// Reads a crate of the given files, `(path, text)`.
fn made_up(files: &[(&str, &str)]) -> Source {
    let files: BTreeMap<&str, &str> = files.iter().copied().collect();
    Source::read(&|path| files.get(path).map(|text| (*text).to_owned()))
}

/// Returns the violations in a file of module `low`, whose layer precedes that of `high` and also contains
/// `other`.
fn wrong_with(text: &str) -> Vec<String> {
    let source = made_up(&[
        ("lib.rs", "mod low; mod other; mod high;"),
        ("low/mod.rs", "mod inner;"),
        ("low/inner.rs", text),
        ("other.rs", "pub struct Thing;"),
        ("high.rs", "pub use crate::other::Thing; pub struct Top;"),
    ]);
    source.against_layers(&[&["low", "other"], &["high"]])
}

#[test]
fn what_is_named_against_the_order_is_told_with_its_line() {
    let wanted = "low/inner.rs:2 names high::Top: high is in layer 2 (high), after low in layer 1 \
                  (low, other)";
    for text in [
        "\nuse crate::high::Top;\nfn f() { Top::new() }",
        "\nuse crate::{high::{Top as Other}};",
        "\nuse super::super::high::Top;",
        "\nfn f() -> crate::high::Top {}",
        "\nimpl crate::high::Top for u32 {}",
        "fn f() {\n    use crate::high::Top;\n}",
        "fn f() { call!(1,\n (x.y + [crate::high::Top])) }",
        "macro_rules! m { () => {\n $crate::high::Top } }",
        "#[derive(\ncrate::high::Top)] struct S;",
        "#[cfg(any(test, unix))]\nuse crate::high::Top;",
    ] {
        assert_eq!(wrong_with(text), [wanted], "{text}");
    }
    let beside = "low/inner.rs:1 names other::Thing: other is in layer 1 (low, other), beside low in \
                  layer 1 (low, other)";
    assert_eq!(wrong_with("use crate::other::Thing;"), [beside]);
    // A re-export counts as the module that defines the item.
    assert_eq!(wrong_with("use crate::high::Thing;").len(), 1);
}

#[test]
fn tests_comments_and_other_crates_do_not_count() {
    for text in [
        "// use crate::high::Top;",
        "/// Like [`crate::high::Top`].\nstruct S;",
        "#[cfg(test)] use crate::high::Top;",
        "#[cfg(all(test, unix))] fn f() { crate::high::Top }",
        "#[cfg(test)] mod tests { use crate::high::Top; }",
        "#[cfg(test)] mod is_not_looked_for;",
        "#[test] fn f() { crate::high::Top }",
        "struct S; impl S { #[cfg(test)] fn f() { crate::high::Top } }",
        "use high::Top; fn f() { ::crate_of::high::Top; call!(::high::Top, \"crate::high::Top\") }",
        "use super::inner; use self::S as T; pub(in crate::low) struct S;",
    ] {
        assert_eq!(wrong_with(text), [""; 0], "{text}");
    }
}

#[test]
fn a_room_in_no_layer_and_a_layer_without_its_room_are_told() {
    let source = made_up(&[
        ("lib.rs", "mod one; mod two;"),
        ("one.rs", ""),
        ("two.rs", ""),
    ]);
    assert_eq!(
        source.against_layers(&[&["one"], &["three"]]),
        [
            "lib.rs has the room two, which is in no layer",
            "lib.rs has no room three, which is in a layer"
        ]
    );
}

/// Returns the steps of the cycles in a module with these files.
fn circles_in(files: &[(&str, &str)]) -> Vec<Vec<String>> {
    let files = [&[("lib.rs", "mod room;")], files].concat();
    let circles = made_up(&files).circles().into_iter();
    circles.map(|circle| circle.steps).collect()
}

#[test]
fn circles_of_files_are_found() {
    let room = "mod a; mod b; mod c; pub use b::B;";
    let found = circles_in(&[
        ("room/mod.rs", room),
        ("room/a.rs", "\nuse super::b::B; pub struct A;"),
        ("room/b.rs", "fn f() { call!(super::a::A) } pub struct B;"),
        ("room/c.rs", "use super::a::A; use super::b::B;"),
    ]);
    let wanted = [
        "room/a.rs:2 names room::b::B",
        "room/b.rs:1 names room::a::A",
    ];
    assert_eq!(found, [wanted]);
    // Through a re-export, and over three files.
    let found = circles_in(&[
        ("room/mod.rs", room),
        ("room/a.rs", "use crate::room::B; pub struct A;"),
        ("room/b.rs", "use super::c; pub struct B; fn f() -> c::C {}"),
        ("room/c.rs", "use super::a::A; pub struct C;"),
    ]);
    assert_eq!((found.len(), found[0].len()), (1, 3), "{found:?}");
    // Through the path of the module itself.
    let found = circles_in(&[
        ("room/mod.rs", room),
        (
            "room/a.rs",
            "use crate::room; fn f() -> room::B {} pub struct A;",
        ),
        ("room/b.rs", "use super::a::A; pub struct B;"),
        ("room/c.rs", ""),
    ]);
    assert_eq!(found.len(), 1, "{found:?}");
}

#[test]
fn a_family_may_know_itself_and_counts_as_one() {
    let family = [
        ("room/mod.rs", "mod family; mod c;"),
        (
            "room/family/mod.rs",
            "mod child; use child::Child; pub struct Head;",
        ),
    ];
    let child = "use super::Head; use crate::room::c::C; pub struct Child;";
    let files = |child, c| {
        [
            &family[..],
            &[("room/family/child.rs", child), ("room/c.rs", c)],
        ]
        .concat()
    };
    assert_eq!(circles_in(&files(child, "pub struct C;")), [[""; 0]; 0]);
    // The child needs `c`, which needs the child's parent.
    let found = circles_in(&files(child, "use super::family::Head; pub struct C;"));
    assert_eq!(found.len(), 1, "{found:?}");
    // Siblings are no family.
    let found = circles_in(&[
        ("room.rs", "mod family;"),
        ("room/family.rs", "mod a; mod b;"),
        ("room/family/a.rs", "use super::b::B; pub struct A;"),
        ("room/family/b.rs", "use super::a::A; pub struct B;"),
    ]);
    assert_eq!(found.len(), 1, "{found:?}");
}
