//! Programs with several processes.

use crate::support::Workspace;

#[test]
fn each_active_process_has_its_own_report() {
    let workspace = Workspace::new();
    let run = workspace.run(&["--log", "log.txt"], "client::fork_children");
    run.assert_exit(0, &[]);
    let headings = run
        .stderr
        .lines()
        .filter(|line| line.starts_with("process "))
        .count();
    let rows = run
        .stderr
        .lines()
        .filter(|line| line.starts_with("| adds   |        1 |"))
        .count();
    assert_eq!((headings, rows), (2, 2), "{run:#?}");
    let log = std::fs::read_to_string(workspace.path("log.txt")).unwrap();
    assert_eq!(
        log.lines()
            .filter(|line| line.starts_with("process "))
            .count(),
        3,
        "{log}"
    );
}
