//! Tests that run the chapter with incorrect kernels and expect them to be detected. Each runs in its own
//! process, as an ignored test of this program, so that its output can be read.

use chapter::ladder::Choice;
use chapter_test::output_of;
use raytrace_const::variant::VARIANTS;

use super::*;

/// Runs the chapter like `main`, but with `ptx`, in the current folder, and fails unless the chapter fails.
fn fails(ptx: &str) {
    assert_ne!(
        ptx, PTX,
        "the kernels no longer contain the text to replace"
    );
    let flags = Flags::parse_from(["raytrace-const", "--width", "40", "--height", "30"]);
    let result = run(&flags, ptx);
    assert_eq!(common::error::exit(result), ExitCode::FAILURE);
}

/// Does the same with a rung whose PTX is changed by `change`, and with the rungs before it.
fn rung_fails(name: &str, change: impl Fn(&str) -> String) {
    let words = ["raytrace-const", "--width", "40", "--height", "30"];
    let mut flags = Flags::parse_from(words);
    let rows = VARIANTS.iter().map(|row| {
        if row.name == name {
            let mut wrong = *row;
            wrong.config.ptx = change(row.ptx).leak();
            assert_ne!(
                wrong.ptx, row.ptx,
                "the rung no longer contains the text to replace"
            );
            Choice::One(Box::leak(Box::new(wrong)))
        } else {
            Choice::One(row)
        }
    });
    flags.variant = rows.collect();
    assert_eq!(common::error::exit(run(&flags, PTX)), ExitCode::FAILURE);
}

/// Half the brightness: 128.0 instead of 255.0.
#[test]
#[ignore = "another test runs it in a process of its own"]
fn a_dim_picture() {
    fails(&PTX.replace("0f437F0000", "0f43000000"));
}

#[test]
fn a_wrong_picture_is_saved_and_reported() {
    let folder = tempfile::tempdir().unwrap();
    let (table, notes) = chapter_test::run_child("tests::a_dim_picture", folder.path());
    assert!(table.contains("WRONG"), "{table}");
    // Nothing is compared with a wrong picture.
    assert!(!table.contains("| constant "), "{table}");
    let expected = "error: raytrace.png shows a wrong picture: global: wrong result: ";
    assert!(notes.contains(expected), "{notes}");

    let drawn = image::open(folder.path().join("raytrace.png")).unwrap();
    let flags = Flags::parse_from(["raytrace-const", "--width", "40", "--height", "30"]);
    let right = reference::render(&scene::random(&flags), flags.width, flags.height);
    assert_eq!((drawn.width(), drawn.height()), (40, 30));
    assert_ne!(
        drawn.into_rgba8().as_raw()[..],
        *right.pixels.as_flattened()
    );
}

#[test]
#[ignore = "another test runs it in a process of its own"]
fn an_unknown_instruction() {
    fails(&PTX.replacen("sqrt.rn.f32", "frobnicate.f32", 1));
}

#[test]
fn ptx_that_does_not_load_is_explained_once() {
    let (_, notes) = output_of("an_unknown_instruction");
    assert_eq!(notes.matches("frobnicate").count(), 1, "{notes}");
    assert!(
        notes.contains("error: the PTX does not load: CUDA_ERROR_INVALID_PTX"),
        "{notes}"
    );
}

/// Stores only the first row of a patch, so the other rows keep the poison.
#[test]
#[ignore = "another test runs it in a process of its own"]
fn a_rung_that_forgets_rows() {
    rung_fails("patches", |ptx| {
        let (first, others) = ptx.split_at(ptx.find("st.global.v4.u32").unwrap() + 1);
        first.to_owned() + &others.replace("st.global.v4.u32", "// st.global.v4.u32")
    });
}

#[test]
fn a_wrong_rung_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let name = "tests::a_rung_that_forgets_rows";
    let (table, notes) = chapter_test::run_child(name, folder.path());
    for right in ["unrolled", "outlines", "rows"] {
        let row = chapter_test::row(&table, right);
        assert_eq!(row.last(), Some(&"correct"), "{table}");
    }
    let row = chapter_test::row(&table, "patches");
    assert_eq!(row.last(), Some(&"WRONG"), "{table}");
    assert!(!table.contains("patches global"), "{table}");
    let expected = "error: raytrace.png shows a wrong picture: patches: wrong result: ";
    assert!(notes.contains(expected), "{notes}");
}

/// Selects the smaller of two numbers instead of the larger one, so the tested point is far from the nearest.
#[test]
#[ignore = "another test runs it in a process of its own"]
fn a_rung_with_the_wrong_point() {
    rung_fails("nearest point", |ptx| ptx.replace("max.f32", "min.f32"));
}

#[test]
fn lost_spheres_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    let name = "tests::a_rung_with_the_wrong_point";
    let (table, notes) = chapter_test::run_child(name, folder.path());
    let row = chapter_test::row(&table, "nearest point");
    assert_eq!(row.last(), Some(&"WRONG"), "{table}");
    let expected = "error: raytrace.png shows a wrong picture: nearest point: wrong result: ";
    assert!(notes.contains(expected), "{notes}");
}

/// A scene that is smaller in the ladder's `.cu` file than in the Rust code.
#[test]
#[ignore = "another test runs it in a process of its own"]
fn a_smaller_scene() {
    let change = |ptx: &str| ptx.replace("constant_scene[65280]", "constant_scene[65248]");
    rung_fails("outlines", change);
}

#[test]
fn size_mismatches_of_the_ladders_symbol_are_reported() {
    let (_, notes) = output_of("a_smaller_scene");
    let expected = "error: constant_scene has 65248 bytes in the .cu file and 65280 in the Rust";
    assert!(notes.contains(expected), "{notes}");
}

/// A symbol with one sphere fewer in the `.cu` file than in the Rust code.
#[test]
#[ignore = "another test runs it in a process of its own"]
fn a_smaller_symbol() {
    fails(&PTX.replace("constant_spheres[65536]", "constant_spheres[65504]"));
}

#[test]
fn symbol_size_mismatches_are_reported_with_both_sizes() {
    let (_, notes) = output_of("a_smaller_symbol");
    for part in [
        "error: constant_spheres has 65504 bytes",
        "and 65536 in the Rust code",
    ] {
        assert!(notes.contains(part), "{notes}");
    }
}
