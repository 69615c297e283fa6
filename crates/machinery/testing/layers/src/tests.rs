//! Tests of the source reader, on small crates that violate the rules.

use crate::source::Source;
use std::collections::BTreeMap;

/// Reads a crate of the given files, `(path, text)`.
fn parse_crate(files: &[(&str, &str)]) -> Source {
    let files: BTreeMap<&str, &str> = files.iter().copied().collect();
    Source::read("lib.rs", &|path| {
        files.get(path).map(|text| (*text).to_owned())
    })
}

/// Returns the violations in a file of module `low`, whose layer precedes that of `high` and also contains
/// `other`.
fn violations_in(text: &str) -> Vec<String> {
    let source = parse_crate(&[
        ("lib.rs", "mod low; mod other; mod high;"),
        ("low/mod.rs", "mod inner;"),
        ("low/inner.rs", text),
        ("other.rs", "pub struct Thing;"),
        ("high.rs", "pub use crate::other::Thing; pub struct Top;"),
    ]);
    source.layer_violations(&[&["low", "other"], &["high"]])
}

#[test]
fn violations_are_reported_with_their_line() {
    let expected = "low/inner.rs:2 names high::Top: high is in layer 2 (high), after low in layer 1 \
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
        assert_eq!(violations_in(text), [expected], "{text}");
    }
    let same_layer = "low/inner.rs:1 names other::Thing: other is in layer 1 (low, other), next to low in \
                  layer 1 (low, other)";
    assert_eq!(violations_in("use crate::other::Thing;"), [same_layer]);
    // A re-export counts as the module that defines the item.
    assert_eq!(violations_in("use crate::high::Thing;").len(), 1);
}

#[test]
fn tests_comments_and_other_crates_are_ignored() {
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
        assert_eq!(violations_in(text), [""; 0], "{text}");
    }
}

#[test]
fn unassigned_and_missing_modules_are_reported() {
    let source = parse_crate(&[
        ("lib.rs", "mod one; mod two;"),
        ("one.rs", ""),
        ("two.rs", ""),
    ]);
    assert_eq!(
        source.layer_violations(&[&["one"], &["three"]]),
        [
            "module two of lib.rs is in no layer",
            "module three of a layer is not in lib.rs"
        ]
    );
}

/// Returns the steps of the cycles in a module with these files.
fn cycles_in(files: &[(&str, &str)]) -> Vec<Vec<String>> {
    let files = [&[("lib.rs", "mod parent;")], files].concat();
    let cycles = parse_crate(&files).cycles().into_iter();
    cycles.map(|cycle| cycle.steps).collect()
}

#[test]
fn cycles_of_files_are_found() {
    let parent = "mod a; mod b; mod c; pub use b::B;";
    let actual = cycles_in(&[
        ("parent/mod.rs", parent),
        ("parent/a.rs", "\nuse super::b::B; pub struct A;"),
        ("parent/b.rs", "fn f() { call!(super::a::A) } pub struct B;"),
        ("parent/c.rs", "use super::a::A; use super::b::B;"),
    ]);
    let expected = [
        "parent/a.rs:2 names parent::b::B",
        "parent/b.rs:1 names parent::a::A",
    ];
    assert_eq!(actual, [expected]);
    // Through a re-export, and over three files.
    let actual = cycles_in(&[
        ("parent/mod.rs", parent),
        ("parent/a.rs", "use crate::parent::B; pub struct A;"),
        (
            "parent/b.rs",
            "use super::c; pub struct B; fn f() -> c::C {}",
        ),
        ("parent/c.rs", "use super::a::A; pub struct C;"),
    ]);
    assert_eq!((actual.len(), actual[0].len()), (1, 3), "{actual:?}");
    // Through the path of the module itself.
    let actual = cycles_in(&[
        ("parent/mod.rs", parent),
        (
            "parent/a.rs",
            "use crate::parent; fn f() -> parent::B {} pub struct A;",
        ),
        ("parent/b.rs", "use super::a::A; pub struct B;"),
        ("parent/c.rs", ""),
    ]);
    assert_eq!(actual.len(), 1, "{actual:?}");
}

#[test]
fn family_may_name_itself_and_counts_as_one() {
    let family = [
        ("parent/mod.rs", "mod family; mod c;"),
        (
            "parent/family/mod.rs",
            "mod child; use child::Child; pub struct Head;",
        ),
    ];
    let child = "use super::Head; use crate::parent::c::C; pub struct Child;";
    let files = |child, c| {
        [
            &family[..],
            &[("parent/family/child.rs", child), ("parent/c.rs", c)],
        ]
        .concat()
    };
    assert_eq!(cycles_in(&files(child, "pub struct C;")), [[""; 0]; 0]);
    // The child needs `c`, which needs the child's parent.
    let actual = cycles_in(&files(child, "use super::family::Head; pub struct C;"));
    assert_eq!(actual.len(), 1, "{actual:?}");
    // Siblings are no family.
    let actual = cycles_in(&[
        ("parent.rs", "mod family;"),
        ("parent/family.rs", "mod a; mod b;"),
        ("parent/family/a.rs", "use super::b::B; pub struct A;"),
        ("parent/family/b.rs", "use super::a::A; pub struct B;"),
    ]);
    assert_eq!(actual.len(), 1, "{actual:?}");
}

#[test]
fn imports_of_inline_modules_are_separate() {
    let actual = cycles_in(&[
        ("parent/mod.rs", "mod a; mod b; pub struct Thing;"),
        (
            "parent/a.rs",
            "pub struct A; mod inline { use super::A; use super::super::b::B as C; fn f() -> C::D {} }",
        ),
        (
            "parent/b.rs",
            "pub struct B; use self::inline::Alias; mod inline { pub use crate::parent::a::A as Alias; }",
        ),
    ]);
    assert_eq!((actual.len(), actual[0].len()), (1, 2), "{actual:?}");
}
