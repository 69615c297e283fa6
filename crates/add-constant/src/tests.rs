//! The chapter with kernels that are wrong, each in a process of its own.

use chapter_test::{printed_by, rows};

use super::*;

/// Runs the chapter as `main` does, on `ptx`; it has to fail.
fn fails(ptx: &str, arguments: &str) {
    assert_ne!(ptx, PTX, "the kernels no longer have what is changed here");
    let words = arguments.split_whitespace();
    let flags = Flags::parse_from(["add-constant"].into_iter().chain(words));
    assert_eq!(common::error::exit(run(&flags, ptx)), ExitCode::FAILURE);
}

/// The check in the row of `variant` and `pattern`.
fn check<'a>(table: &'a str, variant: &str, pattern: &str) -> &'a str {
    let row =
        rows(table).find(|cells| cells.first() == Some(&variant) && cells.get(2) == Some(&pattern));
    let row = row.unwrap_or_else(|| panic!("no row for {variant}, {pattern} in\n{table}"));
    row[row.len() - 1]
}

#[test]
#[ignore = "another test runs it in a process of its own"]
fn another_magic_number() {
    fails(
        &PTX.replace(", 1357;", ", 1359;"),
        "--sums 1000 --block 100",
    );
}

#[test]
fn values_from_wrong_places_are_shown_and_an_error() {
    let (table, notes) = printed_by("another_magic_number");
    for memory in ["global", "constant"] {
        assert_eq!(check(&table, memory, "pseudo_random"), "WRONG", "{table}");
        assert_eq!(
            check(&table, memory, "one_access_per_warp"),
            "right",
            "{table}"
        );
    }
    assert_eq!(check(&table, "vector", "–"), "right", "{table}");
    // Thread 0 of each of the ten blocks reads value 0 either way.
    let wanted = "error: global is wrong: 990 of 1000 differ: sum 1 is ";
    assert!(notes.contains(wanted), "{notes}");
}

/// Four sums a thread, and none of those left over.
#[test]
#[ignore = "another test runs it in a process of its own"]
fn no_rest() {
    let rest = PTX.find("add_constant_vector(").unwrap();
    let (before, vector) = PTX.split_at(rest);
    let vector = vector.replacen(", 3;", ", 0;", 1);
    fails(
        &format!("{before}{vector}"),
        "--sums 18 --pattern pseudo_random",
    );
}

#[test]
fn sums_left_out_keep_the_poison() {
    let (table, notes) = printed_by("no_rest");
    assert_eq!(
        check(&table, "constant", "pseudo_random"),
        "right",
        "{table}"
    );
    assert_eq!(check(&table, "vector", "–"), "WRONG", "{table}");
    let wanted = "error: vector is wrong: 2 of 18 differ: sum 16 is -1 and should be ";
    assert!(notes.contains(wanted), "{notes}");
}

/// One value fewer in the `.cu` file than in the Rust code.
#[test]
#[ignore = "another test runs it in a process of its own"]
fn a_smaller_symbol() {
    fails(
        &PTX.replace("const_values[65536]", "const_values[65532]"),
        "--sums 1",
    );
}

#[test]
fn a_symbol_of_another_size_is_an_error_with_both_sizes() {
    let (_, notes) = printed_by("a_smaller_symbol");
    for part in [
        "error: const_values has 65532 bytes",
        "and 65536 in the Rust code",
    ] {
        assert!(notes.contains(part), "{notes}");
    }
}

/// Distinct addresses in constant memory that a launch over 100 warps asks for.
#[test]
#[ignore = "another test runs it in a process of its own"]
fn constant_addresses() {
    let gpu = Gpu::open().unwrap();
    let stream = &gpu.stream;
    let module = module::load(PTX).unwrap();
    let mut const_values = module::symbol::<[i32; NUM_VALUES]>(&module, c"const_values").unwrap();
    const_values.copy_from(&[0; NUM_VALUES]).unwrap();
    let constant = module.get_function("add_constant_constant_memory").unwrap();
    let inputs = DeviceBuffer::from_slice(&[0; 3200]).unwrap();
    let sums = DeviceBuffer::from_slice(&[0; 3200]).unwrap();
    for (pattern, addresses) in [
        (AccessPattern::OneAccessPerBlock, 1),
        (AccessPattern::OneAccessPerWarp, 1),
        (AccessPattern::OneAccessPerThread, 32),
        (AccessPattern::PseudoRandom, 32),
    ] {
        // SAFETY: the arguments are those of `add_constant_constant_memory` in the .cu file; there
        // are 3200 inputs and sums, and `NUM_VALUES` values in the symbol.
        unsafe {
            launch!(constant<<<25, 128, 0, stream>>>(
                sums.as_device_ptr(), inputs.as_device_ptr(), 3200_u32, pattern.number()
            ))
        }
        .unwrap();
        stream.synchronize().unwrap();
        let counters = common::counters::last_launch().unwrap();
        assert_eq!(counters.constant_load_requests, 100, "{pattern:?}");
        assert_eq!(counters.constant_addresses, 100 * addresses, "{pattern:?}");
    }
}

#[test]
fn constant_memory_is_asked_once_for_each_value_of_a_warp() {
    printed_by("constant_addresses");
}

/// One load and one store of 512 bytes a warp, which are 16 sectors.
#[test]
#[ignore = "another test runs it in a process of its own"]
fn one_run_to_count() {
    run(
        &Flags::parse_from(["add-constant", "pseudo_random", "64", "12800"]),
        PTX,
    )
    .unwrap();
    let counters = common::counters::last_launch().unwrap();
    assert_eq!(counters.global_load_requests, 100);
    assert_eq!(counters.global_load_sectors, 1600);
    assert_eq!(counters.global_store_requests, 100);
    assert_eq!(counters.global_store_sectors, 1600);
}

#[test]
fn a_vector_is_one_access() {
    printed_by("one_run_to_count");
}
