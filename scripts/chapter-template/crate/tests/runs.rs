//! Tests that run the real program on the simulator and check its tables, records and exit status.

use chapter_test::row;

chapter_test::chapter! {
    "new-chapter";
    checks_have_no_findings: check_finds_nothing("--count 1000");
}

#[test]
fn sizes_that_blocks_divide_and_that_they_do_not() {
    for arguments in [
        "--count 1",
        "--count 1000 --block 96",
        "--count 4096 --factor -0.1",
    ] {
        let table = chapter().run(arguments).stdout;
        let last = row(&table, "scale").pop();
        assert_eq!(last, Some("correct"), "{arguments}");
    }
}

#[test]
fn the_record_contains_the_inputs() {
    let record = chapter().record("--count 1000");
    assert_eq!(record["inputs"]["count"], 1000);
    assert_eq!(record["results"][0]["verified"], true);
}
