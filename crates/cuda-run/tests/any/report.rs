//! The report on a program: kernels, profile, record, findings and log.

use std::path::Path;

use serde_json::Value;

use crate::support::Workspace;

#[test]
fn kernels_are_listed_with_their_launches() {
    let run = Workspace::new().run(&["--device", "gtx970"], "client::increment");
    run.assert_exit(
        0,
        &[
            "simulator: models an NVIDIA GeForce GTX 970",
            "| adds   |        2 |      1 |                32 |",
            "| bound by ",
            "| launching |",
            "These times are modelled for the NVIDIA GeForce GTX 970;",
        ],
    );
    run.assert_not_on_stderr(&["process ", "Checked", "Rejected"]);
    assert!(run.stdout.contains("added\n"), "{run:#?}");
    let quiet = Workspace::new().run(&["--quiet"], "client::increment");
    assert_eq!((quiet.code, quiet.stderr.as_str()), (0, ""));
}

#[test]
fn a_profile_lists_memory_requests() {
    let run = Workspace::new().run(&["--profile=lines"], "client::increment");
    run.assert_exit(
        0,
        &[
            "| global load requests ",
            "|         2 |",
            "adds: bound by launching",
        ],
    );
}

#[test]
fn the_record_matches_its_schema() {
    let workspace = Workspace::new();
    let run = workspace.run(&["--json", "--check"], "client::increment");
    run.assert_exit(0, &["added"]);
    let record: Value = serde_json::from_str(&run.stdout).unwrap();
    chapter_test::check_record("cuda-run", &record);
    let kernel = &record["kernels"][0];
    assert_eq!(
        (&kernel["kernel"], &kernel["launches"]),
        (&"adds".into(), &2.into())
    );
    assert_eq!(
        kernel["counters"]["l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"],
        2
    );
    assert_eq!(record["arguments"][1], "client::increment");

    workspace
        .run(&["--json=out.json"], "client::load_invalid_module")
        .assert_exit(0, &[]);
    let record = std::fs::read_to_string(workspace.path("out.json")).unwrap();
    let record: Value = serde_json::from_str(&record).unwrap();
    chapter_test::check_record("cuda-run", &record);
    assert_eq!(record["refused"].as_array().unwrap().len(), 1);
    assert_eq!(record["not_simulated"][0], "cuMulticastCreate");
}

#[test]
fn a_finding_fails_the_run_only_if_checks_are_on() {
    let workspace = Workspace::new();
    workspace
        .run(&["--check"], "client::increment")
        .assert_exit(
            0,
            &["Checked (mem, init, race, sync, host, stream): no findings."],
        );
    // Libraries keep memory until the program exits, so leaks are checked only on request.
    workspace
        .run(&["--check"], "client::initialize_only")
        .assert_exit(0, &[]);
    workspace
        .run(&["--check=all"], "client::initialize_only")
        .assert_exit(1, &["1 finding."]);
    workspace
        .run(&["--check=leak"], "client::initialize_only")
        .assert_exit(
            1,
            &[
                "Checked (leak): 1 finding.",
                "likely cause: a missing call of cuMemFree",
            ],
        );
    workspace
        .run(&[], "client::store_out_of_bounds")
        .assert_exit(
            0,
            &[
                "illegal address",
                "in kernel misses",
                "No kernel launch completed",
            ],
        )
        .assert_not_on_stderr(&["Checked"]);
    workspace
        .run(&["--check=mem"], "client::store_out_of_bounds")
        .assert_exit(1, &["Checked (mem): 1 finding.", "in kernel misses"]);
    // The environment variable has the same effect as the flag.
    let mut command = workspace.command(&[], "client::initialize_only");
    command.env("CUDA_SIM_CHECK", "leak");
    workspace
        .output_of(command)
        .assert_exit(1, &["Checked (leak): 1 finding."]);
}

#[test]
fn rejected_modules_are_reported_and_logged() {
    let workspace = Workspace::new();
    let run = workspace.run(&["--log", "log.txt"], "client::load_invalid_module");
    run.assert_exit(
        0,
        &[
            "The program did not launch any kernels.",
            "Not simulated: cuMulticastCreate.",
            "Rejected 2 modules: line 3, column 1: expected",
        ],
    );
    let log = std::fs::read_to_string(workspace.path("log.txt")).unwrap();
    for line in [
        "    cuModuleLoadData: 3\n",
        "    cuMulticastCreate: 2\n",
        "    cuInit: 1\n",
        "  functions not simulated:\n    cuMulticastCreate\n",
        "  rejected modules:\n    line 3, column 1: expected",
    ] {
        assert!(log.contains(line), "{line} is not in {log}");
    }
}

/// A finding without a line of source is reported in all formats.
#[test]
fn findings_are_written_in_sarif_and_junit() {
    let workspace = Workspace::new();
    let files = ["--check=mem", "--sarif", "o.sarif", "--junit", "o.xml"];
    let run = workspace.run(&files, "client::store_out_of_bounds");
    run.assert_exit(1, &["Checked (mem): 1 finding.", "in kernel misses"]);
    let read = |file| std::fs::read_to_string(workspace.path(file)).unwrap();
    let sarif: Value = serde_json::from_str(&read("o.sarif")).unwrap();
    let results = sarif["runs"][0]["results"].as_array().unwrap();
    assert_eq!(
        (results.len(), &results[0]["ruleId"]),
        (1, &"out-of-bounds".into())
    );
    assert_eq!(
        results[0]["locations"][0]["logicalLocations"][0]["name"],
        "misses"
    );
    assert!(read("o.xml").contains("<failure type=\"out-of-bounds\""));
}

#[test]
fn a_plot_is_written() {
    let workspace = Workspace::new();
    workspace
        .run(&["--plot", "times"], "client::increment")
        .assert_exit(0, &["The plot: "]);
    assert!(workspace.path("times.svg").is_file());
}

#[test]
fn a_program_that_does_not_use_the_device_is_reported() {
    let workspace = Workspace::new();
    workspace
        .run(&[], "client::do_nothing")
        .assert_exit(0, &["No process of the program loaded libcuda.so.1"]);
    workspace
        .run(&[], "client::initialize_only")
        .assert_exit(0, &["The program did not launch any kernels."]);
}

#[test]
fn a_program_without_kernels_fails_on_request() {
    let workspace = Workspace::new();
    let flags = ["--check", "--require-kernels"];
    let run = workspace.run(&flags, "client::initialize_only");
    run.assert_exit(1, &["error: the program launched no kernel"]);
    workspace
        .run(&flags, "client::increment")
        .assert_exit(0, &[]);
    let mut command = workspace.clean_command(Path::new(env!("CARGO_BIN_EXE_cuda-run")));
    command.args(["--quiet", "--require-kernels", "--", "sh", "-c", ":"]);
    let run = workspace.output_of(command);
    run.assert_exit(1, &["Likely cause: it does not load libcuda.so.1"]);
}
