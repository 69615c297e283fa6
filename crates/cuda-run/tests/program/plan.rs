//! Kernels without a host program, launched by a launch plan.

use libtest_mimic::Failed;
use serde_json::Value;

use crate::support::Workspace;

pub fn launch_by_plan() -> Result<(), Failed> {
    let workspace = Workspace::new();
    let run = workspace.run(&["--profile", "--check", "described.cu"]);
    run.assert_exit(
        0,
        &[
            "| add    |        1 |",
            "| global load requests ",
            "no findings",
        ],
    )?;
    assert!(
        run.stdout.starts_with("c: ") && run.stdout.ends_with("c is equal to a[i] + b[i]\n"),
        "{run:#?}"
    );
    let run = workspace.run(&["--set", "n=5000", "--json", "described.cu"]);
    let record: Value = serde_json::from_str(&run.stdout)?;
    assert_eq!(
        record["kernels"][0]["launch"]["grid"],
        serde_json::json!([20, 1, 1])
    );
    workspace.write(
        "plan.toml",
        "[[launch]]\nkernel = \"k\"\ngrid = 1\nblock = 1\narguments = [3, 2.5]\n",
    );
    workspace.write(
        "k.cu",
        "#include <stdio.h>\n__global__ void k(int n, float x) { printf(\"%d %g\\n\", n, x); }\n",
    );
    let run = workspace.run(&["--plan", "plan.toml", "k.cu"]);
    run.assert_exit(0, &[])?;
    assert_eq!(run.stdout, "3 2.5\n");
    Ok(())
}

pub fn mismatch() -> Result<(), Failed> {
    let workspace = Workspace::new();
    let source = std::fs::read_to_string(workspace.path("described.cu"))?;
    workspace.write(
        "wrong.cu",
        &source.replace("= a[i] + b[i];", "= a[i] - b[i];"),
    );
    workspace
        .run(&["wrong.cu"])
        .assert_exit(1, &["error: c is not equal to a[i] + b[i]: "])?;
    let with_symbol = source.replace("name = \"b\"", "symbol = true\nname = \"b\"");
    workspace.write("variable.cu", &with_symbol);
    workspace
        .run(&["variable.cu"])
        .assert_exit(1, &["variable b that a kernel uses"])
}

pub fn invalid_plan() -> Result<(), Failed> {
    let workspace = Workspace::new();
    let source = std::fs::read_to_string(workspace.path("described.cu"))?;
    for (old, new, error) in [
        (
            "\"iota\"",
            "\"itoa\"",
            "bad.cu:11: fill: undefined number itoa",
        ),
        (
            "kernel = \"add\"",
            "kernel = \"ad\"",
            "bad.cu:27: the file has no kernel ad; its kernels are add",
        ),
        (
            ", \"n\"]",
            "]",
            "bad.cu:27: add takes 4 arguments, but the launch plan passes 3",
        ),
        (
            "\"b\", \"c\", \"n\"",
            "\"b\", 1, \"c\"",
            "argument 4 of add is not a pointer",
        ),
    ] {
        assert!(source.contains(old), "{old}");
        workspace.write("bad.cu", &source.replacen(old, new, 1));
        workspace.run(&["bad.cu"]).assert_exit(1, &[error])?;
    }
    workspace
        .run(&["--set", "m=1", "described.cu"])
        .assert_exit(1, &["the launch plan defines no number m"])?;
    workspace
        .run(&["described.cu", "--", "5"])
        .assert_exit(1, &["takes no arguments after --"])?;
    workspace
        .run(&["--set", "n=1", "vector-add.cu"])
        .assert_exit(
            1,
            &["overrides a number of a launch plan, but there is none"],
        )
}
