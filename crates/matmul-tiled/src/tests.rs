//! Tests that run the chapter with incorrect kernels and expect them to be detected. Each runs in its own
//! process, as an ignored test of this program, so that its output can be read.

use chapter::ladder::{self, Choice};
use chapter_test::{output_of, row};
use matmul_tiled::variant::{VARIANTS, Variant};

use super::*;

/// Runs the chapter like `main` with changed kernels and sizes that are not multiples of a tile and span
/// several, and fails unless the chapter fails.
fn fails(variants: &str, wrong: impl Fn(&str) -> String) {
    fails_at([19, 70, 35], variants, wrong);
}

/// Does the same with these sizes.
fn fails_at(sizes: [u32; 3], variants: &str, wrong: impl Fn(&str) -> String) {
    let [m, n, p] = sizes;
    let arguments = format!("matmul-tiled --m {m} --n {n} --p {p} --variant {variants}");
    let mut flags = Flags::parse_from(arguments.split_whitespace());
    let right = flags.variants();
    let changed = right.iter().map(|&&row| {
        let mut changed = row;
        changed.config.ptx = wrong(row.ptx).leak();
        changed
    });
    let changed = changed.collect::<Vec<_>>().leak();
    let all = right.iter().zip(&*changed);
    assert!(
        all.into_iter()
            .any(|(right, changed)| right.ptx != changed.ptx),
        "the kernels no longer contain the text to replace"
    );
    flags.variant = changed.iter().map(Choice::One).collect();
    assert_eq!(common::error::exit(run(&flags)), ExitCode::FAILURE);
}

/// Returns the kernels of the ladder, from the first one upwards.
fn rungs() -> Vec<&'static Variant> {
    ladder::select(VARIANTS, &[Choice::Ladder]).to_vec()
}

/// Changes the tiled kernels but not the pitched one.
fn tiled(ptx: &str, change: impl Fn(&str) -> String) -> String {
    if ptx.contains("mat_mul_pitched") {
        ptx.to_owned()
    } else {
        change(ptx)
    }
}

/// Removes the first or the second barrier of the kernels' loop.
fn without_barrier(ptx: &str, which: usize) -> String {
    let mut barriers = (0..2).cycle();
    let stays = |line: &&str| !line.contains("bar.sync") || barriers.next() != Some(which);
    ptx.lines().filter(stays).collect::<Vec<_>>().join("\n")
}

#[test]
#[ignore = "another test runs it in a process of its own"]
fn without_the_first_barrier() {
    fails("book", |ptx| without_barrier(ptx, 0));
}

#[test]
#[ignore = "another test runs it in a process of its own"]
fn without_the_second_barrier() {
    fails("book", |ptx| without_barrier(ptx, 1));
}

#[test]
fn both_barriers_are_needed() {
    for name in ["without_the_first_barrier", "without_the_second_barrier"] {
        let (table, notes) = output_of(name);
        assert!(row(&table, "pitched").contains(&"correct"), "{table}");
        for tiled in ["tiled 8", "tiled 16", "tiled 32"] {
            assert!(row(&table, tiled).contains(&"WRONG"), "{name}:\n{table}");
            // A wrong result has no speedup.
            assert!(row(&table, tiled).contains(&"–"), "{table}");
        }
        assert!(notes.contains("error: tiled 8: wrong result: "), "{notes}");
        assert!(notes.contains(" of 665 differ: row "), "{notes}");
    }
}

#[test]
#[ignore = "another test runs it in a process of its own"]
fn no_store() {
    fails("book", |ptx| {
        tiled(ptx, |ptx| ptx.replace("st.global.f32", "// st.global.f32"))
    });
}

#[test]
fn stale_results_of_the_previous_variant_are_detected() {
    let (table, notes) = output_of("no_store");
    assert!(row(&table, "pitched").contains(&"correct"), "{table}");
    assert!(row(&table, "tiled 16").contains(&"WRONG"), "{table}");
    let expected = "error: tiled 8: wrong result: 665 of 665 differ: row 0, column 0 is NaN";
    assert!(notes.contains(expected), "{notes}");
}

#[test]
#[ignore = "another test runs it in a process of its own"]
fn a_wrong_baseline() {
    fails("book", |ptx| {
        if ptx.contains("mat_mul_pitched") {
            ptx.replace("fma.rn.f32", "fma.rz.f32")
        } else {
            ptx.to_owned()
        }
    });
}

#[test]
fn nothing_is_compared_with_a_wrong_baseline() {
    let (table, notes) = output_of("a_wrong_baseline");
    assert!(row(&table, "pitched").contains(&"WRONG"), "{table}");
    assert!(row(&table, "tiled 16").contains(&"correct"), "{table}");
    assert!(row(&table, "tiled 16").contains(&"–"), "{table}");
    assert!(notes.contains("error: pitched: wrong result: "), "{notes}");
}

/// Threads beyond the edges of A and B load from there.
#[test]
#[ignore = "another test runs it in a process of its own"]
fn no_edges() {
    fails("book", |ptx| {
        tiled(ptx, |ptx| ptx.replace("setp.gt.u64", "setp.ne.u64"))
    });
}

#[test]
fn loads_past_the_edges_are_an_error() {
    let (table, notes) = output_of("no_edges");
    assert!(!table.contains("| pitched"), "{table}");
    let error = "error: mat_mul_tiled_8 failed: CUDA_ERROR_ILLEGAL_ADDRESS";
    assert!(notes.contains(error), "{notes}");
}

#[test]
#[ignore = "another test runs it in a process of its own"]
fn an_unknown_instruction() {
    fails("book", |ptx| {
        tiled(ptx, |ptx| ptx.replacen("bar.sync", "frobnicate", 1))
    });
}

#[test]
fn ptx_that_does_not_load_is_explained_once() {
    let (_, notes) = output_of("an_unknown_instruction");
    assert_eq!(notes.matches("frobnicate").count(), 1, "{notes}");
    let error = "error: the PTX does not load: CUDA_ERROR_INVALID_PTX";
    assert!(notes.contains(error), "{notes}");
}

#[test]
#[ignore = "another test runs it in a process of its own"]
fn another_name() {
    fails("book", |ptx| {
        tiled(ptx, |ptx| ptx.replace("mat_mul_tiled_16", "mat_mul"))
    });
}

#[test]
fn missing_kernels_are_reported() {
    let (_, notes) = output_of("another_name");
    let error = "error: cannot find the kernel mat_mul_tiled_16: CUDA_ERROR_NOT_FOUND";
    assert!(notes.contains(error), "{notes}");
}

#[test]
#[ignore = "another test runs it in a process of its own"]
fn rungs_without_the_first_barrier() {
    fails("columns,squares,vectors,warp-tiles", |ptx| {
        without_barrier(ptx, 0)
    });
}

#[test]
#[ignore = "another test runs it in a process of its own"]
fn rungs_without_a_barrier() {
    fails(
        "columns,squares,vectors,warp-tiles,double-buffer,async,even-shares,split-k,tensor-cores,\
         warpgroups",
        |ptx| ptx.replace("bar.sync", "// bar.sync"),
    );
}

#[test]
fn rungs_need_their_barriers() {
    for name in ["rungs_without_the_first_barrier", "rungs_without_a_barrier"] {
        let (table, notes) = output_of(name);
        assert!(row(&table, "columns").contains(&"WRONG"), "{table}");
        assert!(notes.contains("error: columns: wrong result: "), "{notes}");
    }
    let (table, _) = output_of("rungs_without_a_barrier");
    for rung in &rungs()[3..] {
        assert!(row(&table, rung.name).contains(&"WRONG"), "{table}");
    }
}

#[test]
#[ignore = "another test runs it in a process of its own"]
fn missing_waits() {
    fails("async,even-shares,split-k,tensor-cores,warpgroups", |ptx| {
        ptx.replace("cp.async.wait_group", "// cp.async.wait_group")
    });
}

#[test]
fn asynchronous_copies_must_be_waited_for() {
    let (table, _) = output_of("missing_waits");
    for rung in [
        "async",
        "even shares",
        "split k",
        "tensor cores",
        "warpgroups",
    ] {
        assert!(row(&table, rung).contains(&"WRONG"), "{table}");
    }
}

/// Blocks start from zero instead of another block's partial sums.
#[test]
#[ignore = "another test runs it in a process of its own"]
fn partial_tiles_ignored() {
    fails_at([2176, 20, 2048], "async,even-shares", |ptx| {
        let lines = ptx
            .lines()
            .map(|line| match line.trim().strip_prefix("ld.f32") {
                Some(load) => {
                    let to = load.split(',').next().unwrap_or_default();
                    format!("mov.f32 {to}, 0f00000000;")
                }
                None => line.to_owned(),
            });
        lines.collect::<Vec<_>>().join("\n")
    });
}

#[test]
fn partial_tiles_must_be_continued() {
    let (table, notes) = output_of("partial_tiles_ignored");
    assert!(row(&table, "async").contains(&"correct"), "{table}");
    assert!(row(&table, "even shares").contains(&"WRONG"), "{table}");
    assert!(
        notes.contains("error: even shares: wrong result: "),
        "{notes}"
    );
}

/// Tensor cores truncate factors that were not rounded before.
#[test]
#[ignore = "another test runs it in a process of its own"]
fn factors_not_rounded() {
    fails("tensor-cores", |ptx| ptx.replace(", 4096;", ", 0;"));
}

/// Eight products are left out, of elements in the corner of a warp's tile of 80x64.
#[test]
#[ignore = "another test runs it in a process of its own"]
fn products_left_out() {
    fails_at([80, 70, 64], "tensor-cores", |ptx| {
        let (before, last) = ptx.rsplit_once("mma.sync").unwrap_or_default();
        format!("{before}// mma.sync{last}")
    });
}

#[test]
fn tensor_cores_are_verified_within_their_precision() {
    for name in ["factors_not_rounded", "products_left_out"] {
        let (table, notes) = output_of(name);
        assert!(row(&table, "tensor cores").contains(&"WRONG"), "{table}");
        assert!(
            notes.contains("error: tensor cores: wrong result: "),
            "{notes}"
        );
        assert!(notes.contains(" ± "), "{notes}");
    }
}

#[test]
#[ignore = "another test runs it in a process of its own"]
fn rungs_that_store_nothing() {
    fails("ladder", |ptx| {
        tiled(ptx, |ptx| ptx.replace("st.global", "// st.global"))
    });
}

#[test]
fn stale_results_of_the_previous_rung_are_detected() {
    let (table, _) = output_of("rungs_that_store_nothing");
    assert!(row(&table, "pitched").contains(&"correct"), "{table}");
    for rung in &rungs()[1..] {
        assert!(row(&table, rung.name).contains(&"WRONG"), "{table}");
    }
}
