//! Single instructions against the answers of a GPU, bit for bit.

use super::harness::{Written, run};

#[test]
fn as_an_h200_answers() {
    let mut compared = 0;
    let rows = include_str!("h200.txt")
        .lines()
        .filter(|line| !line.starts_with('#'));
    for line in rows {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [form, def, source, operands, "=", answer] = words[..] else {
            panic!("not a row of the table: {line}");
        };
        let number = |text| u64::from_str_radix(text, 16).expect("hexadecimal");
        let written = Written {
            def_bytes: def.parse().ok(),
            use_bytes: source.parse().ok(),
            ..Written::from(form)
        };
        let row: Vec<u64> = operands.split(',').map(number).collect();
        let ours = run(written, &[row])[0][0];
        assert_eq!(ours, number(answer), "{line}: here {ours:x}");
        compared += 1;
    }
    assert!(compared > 500, "the table was read: {compared} rows");
}
