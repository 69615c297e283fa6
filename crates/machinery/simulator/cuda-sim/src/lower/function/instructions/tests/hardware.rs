//! Tests of single instructions against the results of a GPU, bit for bit.

use super::harness::{TestForm, run};

#[test]
fn results_equal_an_h200s() {
    let mut compared = 0;
    let rows = include_str!("h200.txt")
        .lines()
        .filter(|line| !line.starts_with('#'));
    for line in rows {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [form, def, source, operands, "=", result] = words[..] else {
            panic!("not a row of the table: {line}");
        };
        let number = |text| u64::from_str_radix(text, 16).expect("hexadecimal");
        let written = TestForm {
            def_bytes: def.parse().ok(),
            use_bytes: source.parse().ok(),
            ..TestForm::from(form)
        };
        let row: Vec<u64> = operands.split(',').map(number).collect();
        let actual = run(written, &[row])[0][0];
        assert_eq!(actual, number(result), "{line}: here {actual:x}");
        compared += 1;
    }
    assert!(compared > 500, "the table was read: {compared} rows");
}
