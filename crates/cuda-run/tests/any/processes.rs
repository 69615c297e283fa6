//! Programs of several processes.

use crate::support::Runs;

#[test]
fn each_process_is_summed_up_by_itself_and_one_that_is_idle_not_at_all() {
    let runs = Runs::new();
    let run = runs.run(&["--log", "log.txt"], "client::forks");
    run.says(0, &[]);
    let heads = run
        .stderr
        .lines()
        .filter(|line| line.starts_with("process "))
        .count();
    let rows = run
        .stderr
        .lines()
        .filter(|line| line.starts_with("| adds   |        1 |"))
        .count();
    assert_eq!((heads, rows), (2, 2), "{run:#?}");
    let log = std::fs::read_to_string(runs.path("log.txt")).unwrap();
    assert_eq!(
        log.lines()
            .filter(|line| line.starts_with("process "))
            .count(),
        3,
        "{log}"
    );
}
