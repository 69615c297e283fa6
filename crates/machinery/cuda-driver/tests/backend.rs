//! Who answers: `CUDA_BACKEND`, and what NVIDIA's library is like. Each case is a child process,
//! for the choice is made once in each: this test program again, with [`child`] alone.

extern crate cuda_driver as _;

use std::process::{Command, Output};

use cust::device::Device;
use cust::sys;

/// What the child found, line by line on stdout. Every case runs this.
#[test]
#[ignore = "the other tests run it in a process of its own"]
fn child() {
    let mut count = 0;
    // SAFETY: a number to write to.
    let early = unsafe { sys::cuDeviceGetCount(&mut count) };
    println!("before cuInit: {}", early as i32);
    assert_eq!(cuda_driver::backend(), None);

    // SAFETY: no flags.
    let init = unsafe { sys::cuInit(0) } as i32;
    println!("cuInit: {init}");
    // SAFETY: no flags.
    let again = unsafe { sys::cuInit(0) } as i32;
    assert_eq!(init, again);
    println!("backend: {:?}", cuda_driver::backend());
    if init != 0 {
        return;
    }
    println!("name: {}", Device::get_device(0).unwrap().name().unwrap());
    println!("version: {}", cust::CudaApiVersion::get().unwrap().major());
    // SAFETY: any handle may be named.
    let lacking = unsafe { sys::cuDestroyExternalMemory(std::ptr::null_mut()) } as i32;
    println!("cuDestroyExternalMemory: {lacking}");
}

/// Runs [`child`] with these environment variables, and none of ours besides.
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

/// The lines on stderr that are ours.
fn ours(stderr: &str) -> Vec<&str> {
    let lines = stderr.lines();
    lines
        .filter(|line| line.starts_with("warpbook: "))
        .collect()
}

#[track_caller]
fn assert_has(stdout: &str, line: &str) {
    // libtest leaves no line break before the first line of a test's output.
    let found = stdout.lines().any(|found| found.ends_with(line));
    assert!(found, "no line {line:?} in\n{stdout}");
}

#[test]
fn sim_forces_the_simulator_without_a_word() {
    let (stdout, stderr) = run(&[("CUDA_BACKEND", "sim")]);
    assert_has(&stdout, "before cuInit: 3");
    assert_has(&stdout, "cuInit: 0");
    assert_has(&stdout, "backend: Some(Simulator)");
    assert_has(&stdout, "name: NVIDIA H200 (simulated)");
    assert_has(&stdout, "version: 13");
    // What is not simulated says so, by its name.
    assert_has(&stdout, "cuDestroyExternalMemory: 801");
    let lines = ours(&stderr);
    assert_eq!(lines.len(), 1, "{stderr}");
    assert!(lines[0].contains("cuDestroyExternalMemory"), "{stderr}");
}

#[test]
fn an_unknown_backend_is_refused_with_the_known_ones() {
    let (stdout, stderr) = run(&[("CUDA_BACKEND", "cpu")]);
    assert_has(&stdout, "cuInit: 1");
    assert_has(&stdout, "backend: None");
    let lines = ours(&stderr);
    assert_eq!(lines.len(), 1, "{stderr}");
    for word in ["CUDA_BACKEND=cpu", "gpu", "sim"] {
        assert!(lines[0].contains(word), "{stderr}");
    }
}

#[test]
fn what_is_no_time_limit_is_refused() {
    for limit in ["soon", "-1", "0", "NaN", "inf"] {
        let settings = [("CUDA_BACKEND", "sim"), ("CUDA_SIM_TIME_LIMIT", limit)];
        let (stdout, stderr) = run(&settings);
        assert_has(&stdout, "cuInit: 1");
        assert!(ours(&stderr)[0].contains("CUDA_SIM_TIME_LIMIT"), "{stderr}");
    }
    for limit in ["2.5", "none"] {
        let settings = [("CUDA_BACKEND", "sim"), ("CUDA_SIM_TIME_LIMIT", limit)];
        assert_has(&run(&settings).0, "cuInit: 0");
    }
}

#[test]
fn a_check_that_is_none_is_refused_with_those_there_are() {
    for list in ["memory", "mem;race", "race,"] {
        let settings = [("CUDA_BACKEND", "sim"), ("CUDA_SIM_CHECK", list)];
        let (stdout, stderr) = run(&settings);
        assert_has(&stdout, "cuInit: 1");
        let line = ours(&stderr)[0];
        for part in [
            "CUDA_SIM_CHECK=",
            list,
            "mem, init, race, sync, leak and host",
        ] {
            assert!(line.contains(part), "{stderr}");
        }
    }
    for list in ["all", "mem,sync", ""] {
        let settings = [("CUDA_BACKEND", "sim"), ("CUDA_SIM_CHECK", list)];
        assert_has(&run(&settings).0, "cuInit: 0");
    }
}

#[test]
fn the_modelled_gpu_can_be_chosen_by_any_of_its_names() {
    for (name, answer) in [
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
        assert_has(&stdout, &format!("name: {answer}"));
        assert_eq!(
            ours(&stderr).len(),
            1,
            "only of cuDestroyExternalMemory:\n{stderr}"
        );
    }
}

#[test]
fn a_gpu_that_cannot_be_modelled_is_refused_with_those_that_can() {
    let settings = [("CUDA_BACKEND", "sim"), ("CUDA_SIM_DEVICE", "RTX 9090")];
    let (stdout, stderr) = run(&settings);
    assert_has(&stdout, "cuInit: 1");
    assert_has(&stdout, "backend: None");
    let lines = ours(&stderr);
    assert_eq!(lines.len(), 1, "{stderr}");
    assert!(lines[0].contains("CUDA_SIM_DEVICE=RTX 9090"), "{stderr}");
    for (short, _) in &cuda_driver::device::PRESETS {
        assert!(lines[0].contains(short), "no {short} in {stderr}");
    }
}

#[test]
fn a_number_of_devices_that_there_cannot_be_is_refused() {
    for count in ["0", "17", "-1", "two", "1.5"] {
        let settings = [("CUDA_BACKEND", "sim"), ("CUDA_SIM_DEVICES", count)];
        let (stdout, stderr) = run(&settings);
        assert_has(&stdout, "cuInit: 1");
        let lines = ours(&stderr);
        assert_eq!(lines.len(), 1, "{stderr}");
        let expected = format!("CUDA_SIM_DEVICES={count} is no number of GPUs from 1 to 16");
        assert!(lines[0].contains(&expected), "{stderr}");
    }
}

#[test]
fn a_sample_is_there_or_none() {
    let with = |sample| run(&[("CUDA_BACKEND", "sim"), ("CUDA_SIM_SAMPLE", sample)]);
    for sample in ["", "none"] {
        assert_has(&with(sample).0, "backend: Some(Simulator)");
    }
    let (stdout, stderr) = with("half");
    assert_has(&stdout, "cuInit: 1");
    let lines = ours(&stderr);
    assert_eq!(lines.len(), 1, "{stderr}");
    assert!(
        lines[0].contains("CUDA_SIM_SAMPLE=half is not none"),
        "{stderr}"
    );
}

/// On a machine with a GPU the first branch of each is taken, elsewhere the second.
#[test]
fn this_machine_is_taken_as_it_is() {
    let (stdout, stderr) = run(&[]);
    let (forced, forced_stderr) = run(&[("CUDA_BACKEND", "gpu")]);
    if stdout.contains("backend: Some(Gpu)") {
        assert_eq!(ours(&stderr), [""; 0]);
        assert_has(&forced, "backend: Some(Gpu)");
    } else {
        assert_has(&stdout, "backend: Some(Simulator)");
        let why = ours(&stderr)[0];
        assert!(
            why.contains("no NVIDIA GPU (") && why.contains("simulator"),
            "{why}"
        );
        assert_has(&forced, "backend: None");
        let lines = ours(&forced_stderr);
        assert_eq!(lines.len(), 1, "{forced_stderr}");
        assert!(lines[0].contains("CUDA_BACKEND=gpu"), "{}", lines[0]);
    }
}

/// The cases that need an NVIDIA library of a certain kind, with one made for the purpose.
#[cfg(target_os = "linux")]
mod fake {
    use std::path::{Path, PathBuf};
    use std::sync::OnceLock;

    use super::*;

    /// The folder of the fake `libcuda.so.1`, compiled once.
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
    fn a_gpu_is_used_and_what_its_library_lacks_is_said() {
        for settings in [&[][..], &[("CUDA_BACKEND", "gpu")]] {
            let (stdout, stderr) = run_with("gpu", settings);
            assert_has(&stdout, "before cuInit: 3");
            assert_has(&stdout, "backend: Some(Gpu)");
            assert_has(&stdout, "name: Fake GPU");
            assert_has(&stdout, "version: 9");
            assert_has(&stdout, "cuDestroyExternalMemory: 801");
            let lines = ours(&stderr);
            assert_eq!(lines.len(), 1, "{stderr}");
            assert!(lines[0].contains("no cuDestroyExternalMemory"), "{stderr}");
        }
    }

    #[test]
    fn a_gpu_is_used_whatever_would_be_modelled() {
        for device in ["rtx3090", "no such GPU"] {
            let (stdout, _) = run_with("gpu", &[("CUDA_SIM_DEVICE", device)]);
            assert_has(&stdout, "name: Fake GPU");
        }
    }

    #[test]
    fn the_line_that_gives_way_names_the_modelled_gpu() {
        let (_, stderr) = run_with("empty", &[("CUDA_SIM_DEVICE", "gtx970")]);
        let line = ours(&stderr)[0];
        assert!(
            line.contains("(NVIDIA GeForce GTX 970, modelled)"),
            "{line}"
        );
    }

    #[test]
    fn sim_wins_over_a_gpu() {
        let (stdout, _) = run_with("gpu", &[("CUDA_BACKEND", "sim")]);
        assert_has(&stdout, "backend: Some(Simulator)");
    }

    #[test]
    fn a_library_without_a_gpu_gives_way_or_its_reason() {
        let cases = [
            ("stub", 34, "CUDA_ERROR_STUB_LIBRARY"),
            ("empty", 100, "finds no GPU"),
        ];
        for (behaviour, code, reason) in cases {
            let (stdout, stderr) = run_with(behaviour, &[]);
            assert_has(&stdout, "backend: Some(Simulator)");
            assert!(ours(&stderr)[0].contains(reason), "{stderr}");
            let (stdout, stderr) = run_with(behaviour, &[("CUDA_BACKEND", "gpu")]);
            assert_has(&stdout, &format!("cuInit: {code}"));
            assert!(ours(&stderr)[0].contains(reason), "{stderr}");
        }
    }
}
