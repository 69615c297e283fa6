//! Tests on all GPUs that the simulator can model.

use chapter_test::Chapter;

const SMALL: &str = "--width 64 --height 48";

fn on(gpu: &str) -> Chapter {
    let chapter = Chapter::new(env!("CARGO_BIN_EXE_raytrace-const"));
    chapter.with_env("CUDA_SIM_DEVICE", gpu)
}

#[test]
fn all_gpus_draw_the_same_picture_in_different_times() {
    let mut times = Vec::new();
    for (gpu, name, capability) in [
        ("h200", "NVIDIA H200", "9.0"),
        ("rtx3090", "NVIDIA GeForce RTX 3090", "8.6"),
        ("gtx970", "NVIDIA GeForce GTX 970", "5.2"),
        ("p2000", "NVIDIA Quadro P2000", "6.1"),
        ("gtx280", "NVIDIA GeForce GTX 280", "1.3"),
    ] {
        let record = on(gpu).record("--width 256 --height 256");
        assert_eq!(record["gpu"]["name"], name);
        assert_eq!(record["gpu"]["compute_capability"], capability);
        assert_eq!(record["gpu"]["time"], "modelled");
        for result in record["results"].as_array().unwrap() {
            assert_eq!(result["verified"], true, "{gpu}");
        }
        times.push(record["results"][0]["median_ms"].as_f64().unwrap());
    }
    let (h200, others) = times.split_first().unwrap();
    assert!(others.iter().all(|time| time > h200), "{times:?}");
}

#[test]
fn too_old_gpus_are_reported() {
    let too_old = "the real GPU is too old for these kernels";
    let run = on("gtx280").run(SMALL);
    let line = "simulator: models an NVIDIA GeForce GTX 280, compute capability 1.3";
    run.notes(&[line, too_old]);
    let run = on("gtx970").run(SMALL);
    assert!(!run.stderr.contains(too_old), "{}", run.stderr);
}
