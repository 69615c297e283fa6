//! What is told of a program that has ended: the summary, a profile, the record, checks, the log.

use serde_json::Value;

use crate::support::Runs;

#[test]
fn its_kernels_are_summed_up() {
    let run = Runs::new().run(&["--device", "gtx970"], "client::adds");
    run.says(
        0,
        &[
            "simulator: models an NVIDIA GeForce GTX 970",
            "| adds   |        2 |      1 |              32 |",
            "| bound by ",
            "| launching | modelled, NVIDIA GeForce GTX 970 |",
            "These times are a model's",
        ],
    );
    run.says_not(&["process ", "Checked", "Refused"]);
    assert!(run.stdout.contains("added\n"), "{run:#?}");
    let quiet = Runs::new().run(&["--quiet"], "client::adds");
    assert_eq!((quiet.code, quiet.stderr.as_str()), (0, ""));
}

#[test]
fn what_it_does_to_memory_is_shown() {
    let run = Runs::new().run(&["--profile=lines"], "client::adds");
    run.says(
        0,
        &[
            "| global load requests ",
            "|         2 |",
            "adds: bound by launching",
        ],
    );
}

#[test]
fn the_record_is_as_its_schema_says() {
    let runs = Runs::new();
    let run = runs.run(&["--json", "--check"], "client::adds");
    run.says(0, &["added"]);
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
    assert_eq!(record["arguments"][1], "client::adds");

    runs.run(&["--json=out.json"], "client::is_refused")
        .says(0, &[]);
    let record = std::fs::read_to_string(runs.path("out.json")).unwrap();
    let record: Value = serde_json::from_str(&record).unwrap();
    chapter_test::check_record("cuda-run", &record);
    assert_eq!(record["refused"].as_array().unwrap().len(), 1);
    assert_eq!(record["not_simulated"][0], "cuIpcOpenMemHandle_v2");
}

#[test]
fn a_mistake_is_an_error_where_it_was_looked_for() {
    let runs = Runs::new();
    runs.run(&["--check"], "client::adds").says(
        0,
        &["Checked (mem, init, race, sync, leak, host): nothing found."],
    );
    runs.run(&["--check=leak"], "client::only_starts").says(
        1,
        &[
            "Checked (leak): 1 mistake.",
            "usually: a cuMemFree that is missing",
        ],
    );
    runs.run(&[], "client::misses")
        .says(
            0,
            &[
                "illegal address",
                "in kernel misses",
                "No launch of the program",
            ],
        )
        .says_not(&["Checked"]);
    runs.run(&["--check=mem"], "client::misses")
        .says(1, &["Checked (mem): 1 mistake.", "in kernel misses"]);
    // Also where the environment looks for it.
    let mut command = runs.command(&[], "client::only_starts");
    command.env("CUDA_SIM_CHECK", "leak");
    runs.ended(command).says(1, &["Checked (leak): 1 mistake."]);
}

#[test]
fn what_was_refused_is_told_and_logged() {
    let runs = Runs::new();
    let run = runs.run(&["--log", "log.txt"], "client::is_refused");
    run.says(
        0,
        &[
            "The program launched no kernel.",
            "Not simulated: cuIpcOpenMemHandle_v2.",
            "Refused 2 times: line 3, column 1: expected",
        ],
    );
    let log = std::fs::read_to_string(runs.path("log.txt")).unwrap();
    for line in [
        "    cuModuleLoadData: 3\n",
        "    cuIpcOpenMemHandle_v2: 2\n",
        "    cuInit: 1\n",
        "  functions not simulated:\n    cuIpcOpenMemHandle_v2\n",
        "  modules refused:\n    line 3, column 1: expected",
    ] {
        assert!(log.contains(line), "{line} is not in {log}");
    }
}

#[test]
fn a_picture_is_drawn() {
    let runs = Runs::new();
    runs.run(&["--plot", "times"], "client::adds")
        .says(0, &["The plot: "]);
    assert!(runs.path("times.svg").is_file());
}

#[test]
fn a_program_that_has_nothing_to_do_with_the_device_is_told_so() {
    let runs = Runs::new();
    runs.run(&[], "client::does_nothing")
        .says(0, &["No process of the program has loaded libcuda.so.1"]);
    runs.run(&[], "client::only_starts")
        .says(0, &["The program launched no kernel."]);
}
