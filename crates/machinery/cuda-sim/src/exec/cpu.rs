//! Which vector instructions this CPU has, found once.
//!
//! On x86-64 lane loops are compiled twice: for any CPU, and for AVX2 with fused multiply-add. Without
//! the second a fused multiply-add is a library call on x86-64 and everything runs at a tenth of the
//! speed. The choice is made when a module is loaded, so that running costs no test.

use std::sync::OnceLock;

/// An instruction set that lane loops are compiled for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cpu {
    /// Whatever the target guarantees: always right, on x86-64 slower.
    Baseline,
    /// x86-64 with AVX2, FMA and BMI.
    Avx2,
}

impl Cpu {
    /// Whether it takes the lane loops for wide registers, which exist for gangs of warps as well. On
    /// x86-64 the plain ones do not, and take the lanes one by one: almost no CPU is without AVX2,
    /// and all forms take their time to compile.
    pub fn is_wide(self) -> bool {
        self == Cpu::Avx2 || cfg!(not(target_arch = "x86_64"))
    }

    /// The best this machine runs. `CUDA_SIM_CPU=baseline` keeps to the plain loops.
    pub fn detect() -> Cpu {
        static FOUND: OnceLock<Cpu> = OnceLock::new();
        *FOUND.get_or_init(|| {
            if std::env::var_os("CUDA_SIM_CPU").is_some_and(|wish| wish == "baseline") {
                return Cpu::Baseline;
            }
            #[cfg(target_arch = "x86_64")]
            if is_x86_feature_detected!("avx2")
                && is_x86_feature_detected!("fma")
                && is_x86_feature_detected!("bmi1")
                && is_x86_feature_detected!("bmi2")
                && is_x86_feature_detected!("lzcnt")
                && is_x86_feature_detected!("popcnt")
            {
                return Cpu::Avx2;
            }
            Cpu::Baseline
        })
    }
}
