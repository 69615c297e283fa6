//! Detection of the host CPU's vector instructions.
//!
//! On x86-64, lane loops are compiled twice: for any CPU, and for AVX2 with fused multiply-add. Without the
//! second version, a fused multiply-add would be a library call and everything would run at a tenth of the
//! speed. The version is chosen when a module is loaded, so execution needs no test.

use std::sync::OnceLock;

/// An instruction set for which lane loops are compiled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cpu {
    /// The target's baseline: correct everywhere, but slower on x86-64.
    Baseline,
    /// x86-64 with AVX2, FMA and BMI.
    Avx2,
}

impl Cpu {
    /// Returns true if lane loops use vector registers. Gang handlers exist only for such loops. The baseline
    /// loops of x86-64 process one lane at a time, because almost every CPU has AVX2 and a second vectorized
    /// version would take time to compile.
    pub fn is_wide(self) -> bool {
        self == Cpu::Avx2 || cfg!(not(target_arch = "x86_64"))
    }

    /// Returns the best instruction set of this machine. `CUDA_SIM_CPU=baseline` selects the baseline.
    pub fn detect() -> Cpu {
        static DETECTED: OnceLock<Cpu> = OnceLock::new();
        *DETECTED.get_or_init(|| {
            if std::env::var_os("CUDA_SIM_CPU").is_some_and(|value| value == "baseline") {
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
