//! Kernels without a host program.

use libtest_mimic::Failed;
use serde_json::Value;

use crate::support::Folder;

pub fn described() -> Result<(), Failed> {
    let folder = Folder::new();
    let run = folder.run(&["--profile", "--check", "described.cu"]);
    run.says(
        0,
        &[
            "| add    |        1 |",
            "| global load requests ",
            "nothing found",
        ],
    )?;
    assert!(
        run.stdout.starts_with("c: ") && run.stdout.ends_with("c is equal to a[i] + b[i]\n"),
        "{run:#?}"
    );
    let run = folder.run(&["--set", "n=5000", "--json", "described.cu"]);
    let record: Value = serde_json::from_str(&run.stdout)?;
    assert_eq!(
        record["kernels"][0]["launch"]["grid"],
        serde_json::json!([20, 1, 1])
    );
    folder.write(
        "plan.toml",
        "[[launch]]\nkernel = \"k\"\ngrid = 1\nblock = 1\narguments = [3, 2.5]\n",
    );
    folder.write(
        "k.cu",
        "#include <stdio.h>\n__global__ void k(int n, float x) { printf(\"%d %g\\n\", n, x); }\n",
    );
    let run = folder.run(&["--plan", "plan.toml", "k.cu"]);
    run.says(0, &[])?;
    assert_eq!(run.stdout, "3 2.5\n");
    Ok(())
}

pub fn wrong() -> Result<(), Failed> {
    let folder = Folder::new();
    let text = std::fs::read_to_string(folder.path("described.cu"))?;
    folder.write(
        "wrong.cu",
        &text.replace("= a[i] + b[i];", "= a[i] - b[i];"),
    );
    folder
        .run(&["wrong.cu"])
        .says(1, &["error: c is not equal to a[i] + b[i]: "])?;
    let variable = text.replace("name = \"b\"", "symbol = true\nname = \"b\"");
    folder.write("variable.cu", &variable);
    folder.run(&["variable.cu"]).says(1, &["has no variable b"])
}

pub fn bad_description() -> Result<(), Failed> {
    let folder = Folder::new();
    let text = std::fs::read_to_string(folder.path("described.cu"))?;
    for (from, to, said) in [
        (
            "\"iota\"",
            "\"itoa\"",
            "bad.cu:11: fill: there is no number itoa",
        ),
        (
            "kernel = \"add\"",
            "kernel = \"ad\"",
            "bad.cu:27: the file has no kernel ad; there are add",
        ),
        (
            ", \"n\"]",
            "]",
            "bad.cu:27: add takes 4 arguments, and the description has 3",
        ),
        (
            "\"b\", \"c\", \"n\"",
            "\"b\", 1, \"c\"",
            "argument 4 of add is no pointer",
        ),
    ] {
        assert!(text.contains(from), "{from}");
        folder.write("bad.cu", &text.replacen(from, to, 1));
        folder.run(&["bad.cu"]).says(1, &[said])?;
    }
    folder
        .run(&["--set", "m=1", "described.cu"])
        .says(1, &["the description has no number m"])?;
    folder
        .run(&["described.cu", "--", "5"])
        .says(1, &["takes no arguments after --"])?;
    folder
        .run(&["--set", "n=1", "vector-add.cu"])
        .says(1, &["changes a number of a description, and there is none"])
}
