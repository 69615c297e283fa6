//! Selection of the backend by `CUDA_BACKEND` and the state of NVIDIA's library. The selection is made once
//! per process, so each case runs this test program again as a child process, with [`child`] alone.

#[macro_use]
mod support;

use std::process::{Command, Output};

use cust::device::Device;

/// Prints the selected backend, line by line on stdout. All cases run this.
#[test]
#[ignore = "run by the other tests in a separate process"]
fn child() {
    let mut count = 0;
    println!("before cuInit: {}", code!(cuDeviceGetCount(&mut count)));
    assert_eq!(cuda_driver::backend(), None);

    let init = code!(cuInit(0));
    println!("cuInit: {init}");
    calls! { cuInit(0) => init; }
    println!("backend: {:?}", cuda_driver::backend());
    if init != 0 {
        return;
    }
    println!("name: {}", Device::get_device(0).unwrap().name().unwrap());
    println!("version: {}", cust::CudaApiVersion::get().unwrap().major());
    let unsupported = code!(cuGraphExternalSemaphoresSignalNodeGetParams(
        std::ptr::null_mut(),
        std::ptr::null_mut()
    ));
    println!("cuGraphExternalSemaphoresSignalNodeGetParams: {unsupported}");
}

/// Runs [`child`] with these environment variables and no other CUDA variables.
fn run(settings: &[(&str, &str)]) -> (String, String) {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "child", "--ignored", "--nocapture"]);
    for name in [
        "CUDA_BACKEND",
        "CUDA_SIM_DEVICE",
        "CUDA_SIM_DEVICES",
        "CUDA_SIM_TIME_LIMIT",
        "CUDA_SIM_CHECK",
        "FAKE_CUDA",
    ] {
        command.env_remove(name);
    }
    let Output {
        status,
        stdout,
        stderr,
    } = command.envs(settings.iter().copied()).output().unwrap();
    let stdout = String::from_utf8(stdout).unwrap();
    let stderr = String::from_utf8(stderr).unwrap();
    assert!(status.success(), "{stdout}\n{stderr}");
    (stdout, stderr)
}

/// Returns Warpbook's lines on stderr.
fn warpbook_lines(stderr: &str) -> Vec<&str> {
    let lines = stderr.lines();
    lines
        .filter(|line| line.starts_with("warpbook: "))
        .collect()
}

/// Returns the only message.
#[track_caller]
fn only_message(stderr: &str) -> &str {
    let lines = warpbook_lines(stderr);
    assert_eq!(lines.len(), 1, "{stderr}");
    lines[0]
}

/// Asserts that the simulator does not start with this setting, for a reason with these parts.
#[track_caller]
fn assert_rejected(name: &str, value: &str, parts: &[&str]) {
    let (stdout, stderr) = run(&[("CUDA_BACKEND", "sim"), (name, value)]);
    assert_has(&stdout, "cuInit: 1");
    assert_has(&stdout, "backend: None");
    let message = only_message(&stderr);
    for part in parts {
        assert!(message.contains(part), "no {part} in {message}");
    }
}

/// Asserts that the simulator starts with this setting.
#[track_caller]
fn assert_accepted(name: &str, value: &str) {
    let (stdout, _) = run(&[("CUDA_BACKEND", "sim"), (name, value)]);
    assert_has(&stdout, "cuInit: 0");
    assert_has(&stdout, "backend: Some(Simulator)");
}

#[track_caller]
fn assert_has(stdout: &str, line: &str) {
    // libtest prints no line break before the first line of a test's output.
    let actual = stdout.lines().any(|actual| actual.ends_with(line));
    assert!(actual, "no line {line:?} in\n{stdout}");
}

#[test]
fn sim_selects_the_simulator_silently() {
    let (stdout, stderr) = run(&[("CUDA_BACKEND", "sim")]);
    assert_has(&stdout, "before cuInit: 3");
    assert_has(&stdout, "cuInit: 0");
    assert_has(&stdout, "backend: Some(Simulator)");
    assert_has(&stdout, "name: NVIDIA H200 (simulated)");
    assert_has(&stdout, "version: 13");
    // A function that is not simulated is reported by name.
    assert_has(&stdout, "cuGraphExternalSemaphoresSignalNodeGetParams: 801");
    assert!(only_message(&stderr).contains("cuGraphExternalSemaphoresSignalNodeGetParams"));
}

#[test]
fn unknown_backends_are_rejected_with_a_list() {
    assert_rejected("CUDA_BACKEND", "cpu", &["CUDA_BACKEND=cpu", "gpu", "sim"]);
}

#[test]
fn invalid_time_limits_are_rejected() {
    for limit in ["soon", "-1", "0", "NaN", "inf"] {
        assert_rejected("CUDA_SIM_TIME_LIMIT", limit, &["CUDA_SIM_TIME_LIMIT"]);
    }
    for limit in ["2.5", "none"] {
        assert_accepted("CUDA_SIM_TIME_LIMIT", limit);
    }
}

#[test]
fn unknown_checks_are_rejected_with_a_list() {
    for list in ["memory", "mem;race", "race,"] {
        let names = "mem, init, race, sync, leak, host and stream";
        assert_rejected("CUDA_SIM_CHECK", list, &["CUDA_SIM_CHECK=", list, names]);
    }
    for list in ["all", "mem,sync", ""] {
        assert_accepted("CUDA_SIM_CHECK", list);
    }
}

#[test]
fn seeds_are_numbers() {
    for seed in ["random", "-1"] {
        assert_rejected("CUDA_SIM_SHUFFLE", seed, &["CUDA_SIM_SHUFFLE="]);
    }
    assert_accepted("CUDA_SIM_SHUFFLE", "7");
}

#[test]
fn gpu_models_are_selected_by_any_of_their_names() {
    for (name, device_name) in [
        ("rtx3090", "NVIDIA GeForce RTX 3090 (simulated)"),
        (
            "NVIDIA GeForce GTX 970",
            "NVIDIA GeForce GTX 970 (simulated)",
        ),
        ("Quadro-P2000", "NVIDIA Quadro P2000 (simulated)"),
        ("GTX 280", "NVIDIA GeForce GTX 280 (simulated)"),
        ("", "NVIDIA H200 (simulated)"),
    ] {
        let settings = [("CUDA_BACKEND", "sim"), ("CUDA_SIM_DEVICE", name)];
        let (stdout, stderr) = run(&settings);
        assert_has(&stdout, &format!("name: {device_name}"));
        // The message is about cuGraphExternalSemaphoresSignalNodeGetParams.
        only_message(&stderr);
    }
}

#[test]
fn unknown_gpu_models_are_rejected_with_a_list() {
    let names = cuda_driver::device::PRESETS.iter().map(|(short, _)| *short);
    let parts: Vec<&str> = names.chain(["CUDA_SIM_DEVICE=RTX 9090"]).collect();
    assert_rejected("CUDA_SIM_DEVICE", "RTX 9090", &parts);
}

#[test]
fn invalid_device_counts_are_rejected() {
    for count in ["0", "17", "-1", "two", "1.5"] {
        let expected = format!("CUDA_SIM_DEVICES={count} is not a number from 1 to 16");
        assert_rejected("CUDA_SIM_DEVICES", count, &[&expected]);
    }
}

#[test]
fn invalid_sample_settings_are_rejected() {
    for sample in ["", "none"] {
        assert_accepted("CUDA_SIM_SAMPLE", sample);
    }
    let expected = "CUDA_SIM_SAMPLE=half is not none";
    assert_rejected("CUDA_SIM_SAMPLE", "half", &[expected]);
}

#[test]
fn invalid_compilation_settings_are_rejected() {
    for mode in ["never", "always", "auto"] {
        assert_accepted("CUDA_SIM_COMPILE", mode);
    }
    let expected = "CUDA_SIM_COMPILE=sometimes is not never, always or auto";
    assert_rejected("CUDA_SIM_COMPILE", "sometimes", &[expected]);
}

/// The first branch runs on machines with a GPU, the second elsewhere.
#[test]
fn backend_matches_this_machine() {
    let (stdout, stderr) = run(&[]);
    let (forced, forced_stderr) = run(&[("CUDA_BACKEND", "gpu")]);
    if stdout.contains("backend: Some(Gpu)") {
        assert_eq!(warpbook_lines(&stderr), [""; 0]);
        assert_has(&forced, "backend: Some(Gpu)");
    } else {
        assert_has(&stdout, "backend: Some(Simulator)");
        let message = warpbook_lines(&stderr)[0];
        assert!(
            message.contains("no NVIDIA GPU (") && message.contains("simulator"),
            "{message}"
        );
        assert_has(&forced, "backend: None");
        assert!(only_message(&forced_stderr).contains("CUDA_BACKEND=gpu"));
    }
}

/// Cases that need an NVIDIA library with a certain behaviour; they compile a fake one.
#[cfg(target_os = "linux")]
mod fake {
    use std::path::{Path, PathBuf};
    use std::sync::OnceLock;

    use super::*;

    /// Returns the folder of the fake `libcuda.so.1`, which is compiled once.
    fn library() -> &'static Path {
        static FOLDER: OnceLock<PathBuf> = OnceLock::new();
        FOLDER.get_or_init(|| {
            let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("fake");
            std::fs::create_dir_all(&folder).unwrap();
            let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fake/libcuda.rs");
            let compiled = Command::new("rustc")
                .args(["--edition", "2024", "--crate-type", "cdylib", "-o"])
                .args([folder.join("libcuda.so.1"), source])
                .status()
                .unwrap();
            assert!(compiled.success());
            folder
        })
    }

    fn run_with(behaviour: &str, settings: &[(&str, &str)]) -> (String, String) {
        let path = library().to_str().unwrap();
        let fake = [("LD_LIBRARY_PATH", path), ("FAKE_CUDA", behaviour)];
        run(&[&fake, settings].concat())
    }

    #[test]
    fn a_gpu_is_used_and_missing_functions_are_reported() {
        for settings in [&[][..], &[("CUDA_BACKEND", "gpu")]] {
            let (stdout, stderr) = run_with("gpu", settings);
            assert_has(&stdout, "before cuInit: 3");
            assert_has(&stdout, "backend: Some(Gpu)");
            assert_has(&stdout, "name: Fake GPU");
            assert_has(&stdout, "version: 9");
            assert_has(&stdout, "cuGraphExternalSemaphoresSignalNodeGetParams: 801");
            let message = only_message(&stderr);
            assert!(
                message.contains("lacks cuGraphExternalSemaphoresSignalNodeGetParams"),
                "{message}"
            );
        }
    }

    #[test]
    fn a_gpu_is_used_despite_simulator_settings() {
        for device in ["rtx3090", "no such GPU"] {
            let (stdout, _) = run_with("gpu", &[("CUDA_SIM_DEVICE", device)]);
            assert_has(&stdout, "name: Fake GPU");
        }
    }

    #[test]
    fn fallback_message_names_the_simulated_gpu() {
        let (_, stderr) = run_with("empty", &[("CUDA_SIM_DEVICE", "gtx970")]);
        let line = warpbook_lines(&stderr)[0];
        assert!(
            line.contains("(NVIDIA GeForce GTX 970, modelled)"),
            "{line}"
        );
    }

    #[test]
    fn sim_takes_precedence_over_a_gpu() {
        let (stdout, _) = run_with("gpu", &[("CUDA_BACKEND", "sim")]);
        assert_has(&stdout, "backend: Some(Simulator)");
    }

    #[test]
    fn a_library_without_a_gpu_falls_back_or_reports_the_reason() {
        let cases = [
            ("stub", 34, "CUDA_ERROR_STUB_LIBRARY"),
            ("empty", 100, "finds no GPU"),
        ];
        for (behaviour, code, reason) in cases {
            let (stdout, stderr) = run_with(behaviour, &[]);
            assert_has(&stdout, "backend: Some(Simulator)");
            assert!(warpbook_lines(&stderr)[0].contains(reason), "{stderr}");
            let (stdout, stderr) = run_with(behaviour, &[("CUDA_BACKEND", "gpu")]);
            assert_has(&stdout, &format!("cuInit: {code}"));
            assert!(warpbook_lines(&stderr)[0].contains(reason), "{stderr}");
        }
    }
}
