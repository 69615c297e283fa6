//! The GPU architecture of a kernel, taken from its file's name, and the options that clang compiles it with.

use crate::error::Error;

/// Architectures that the pinned clang supports: `sm_NN` and the first PTX version that supports it, which
/// determines the oldest usable driver.
///
/// PTX 6.4 was released in 2019; no kernel requests an older version.
const SUPPORTED: [(u32, u32); 10] = [
    (52, 64),
    (53, 64),
    (60, 64),
    (61, 64),
    (62, 64),
    (70, 64),
    (72, 64),
    (75, 64),
    (80, 70),
    (86, 71),
];

/// Hopper with its architecture-specific features such as `wgmma`.
const HOPPER: &str = "sm_90a";

/// Macros that nvcc defines for Hopper, to replace those that clang defines for the older GPU.
const HOPPER_DEFINES: [&str; 3] = [
    "-U__CUDA_ARCH__",
    "-D__CUDA_ARCH__=900",
    "-D__CUDA_ARCH_FEAT_SM90_ALL=1",
];

/// A GPU architecture to compile for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arch {
    /// The architecture passed to clang.
    sm: u32,
    ptx: u32,
    /// True for [`HOPPER`], which the pinned clang does not support. PTX for older GPUs is valid for newer
    /// ones, and inline assembly is copied to it unchanged. clang therefore compiles for the newest GPU that
    /// it supports, and the PTX's header is replaced.
    hopper: bool,
}

impl Arch {
    /// All GPUs since Maxwell and all drivers since 2019; the default.
    pub const OLDEST: Self = Self::from_supported(SUPPORTED[0]);

    /// The architecture passed to clang for [`HOPPER`].
    const NEWEST: Self = Self::from_supported(SUPPORTED[SUPPORTED.len() - 1]);

    const fn from_supported((sm, ptx): (u32, u32)) -> Self {
        Self {
            sm,
            ptx,
            hopper: false,
        }
    }

    /// Returns the architecture in a kernel's name: sm_80 for `matmul.sm_80`, [`Arch::OLDEST`] for `matmul`. A
    /// dot in a name is always followed by an architecture.
    pub fn from_kernel_name(kernel: &str) -> Result<Self, Error> {
        let file = kernel.rsplit('/').next().unwrap_or(kernel);
        let Some((_, suffix)) = file.split_once('.') else {
            return Ok(Self::OLDEST);
        };
        let hopper = Self {
            hopper: true,
            ..Self::NEWEST
        };
        let archs = SUPPORTED.into_iter().map(Self::from_supported);
        let mut archs = archs.chain([hopper]);
        let known = archs.clone().map(|arch| format!(".{}", arch.name()));
        let arch = archs.find(|arch| arch.name() == suffix);
        arch.ok_or_else(|| Error::NoArch {
            name: kernel.to_owned(),
            suffix: suffix.to_owned(),
            known: known.collect::<Vec<_>>().join(", "),
        })
    }

    /// Returns the architecture with this number, 80 for sm_80, or [`Arch::OLDEST`] for `None`.
    ///
    /// # Errors
    ///
    /// Fails if the architecture is not supported, and lists the supported ones.
    pub fn from_sm(sm: Option<u32>) -> Result<Self, Error> {
        match sm {
            None => Ok(Self::OLDEST),
            Some(sm) => Self::from_kernel_name(&format!("kernel.sm_{sm}")),
        }
    }

    /// Returns the name, such as `sm_80`.
    pub fn name(self) -> String {
        if self.hopper {
            HOPPER.to_owned()
        } else {
            format!("sm_{}", self.sm)
        }
    }

    /// Chooses NVRTC's target, such as `90a`, from its architectures in ascending order. Returns `None` if
    /// all of them are too old.
    pub fn nvrtc_arch(self, numbers: &[u32]) -> Option<String> {
        if self.hopper {
            numbers.contains(&90).then(|| "90a".to_owned())
        } else {
            let number = numbers.iter().find(|&&sm| sm >= self.sm)?;
            Some(number.to_string())
        }
    }

    /// Returns clang's options: the GPU, the feature of the PTX version, and macros.
    fn options(self) -> Vec<String> {
        let mut options = vec![
            format!("--cuda-gpu-arch=sm_{}", self.sm),
            "-Xclang".to_owned(),
            "-target-feature".to_owned(),
            "-Xclang".to_owned(),
            format!("+ptx{}", self.ptx),
        ];
        if self.hopper {
            options.extend(HOPPER_DEFINES.map(str::to_owned));
        }
        options
    }

    /// Returns the replacement of a line in the PTX header, or `None` to keep clang's.
    pub fn header_line(self, line: &str) -> Option<String> {
        if !self.hopper {
            return None;
        }
        match line.split_ascii_whitespace().next()? {
            ".version" => Some(".version 8.0".to_owned()),
            ".target" => Some(format!(".target {HOPPER}")),
            _ => None,
        }
    }
}

/// Returns clang's options for a kernel. clang runs in the checkout's root.
pub fn compile_options(arch: Arch) -> Vec<String> {
    let input_options = [
        "-x",
        "cuda",
        "--cuda-device-only",
        // Neither the CUDA Toolkit's headers nor its device library. The path keeps clang from finding a
        // toolkit and adopting its PTX version or its limits on GPUs.
        "-nocudainc",
        "-nocudalib",
        "--cuda-path=kernels",
        // Neither this machine's headers nor its type sizes, so that all hosts generate the same PTX.
        "-nostdlibinc",
        "--target=x86_64-unknown-linux-gnu",
        "-Ikernels",
    ];
    let output_options = [
        "-O3",
        // Line information for the profiler and the sanitizer, with file names relative to the root.
        "-gline-directives-only",
        "-fdebug-compilation-dir=.",
        "-Wall",
        "-S",
        "-o-",
    ];
    let before = input_options.map(str::to_owned).into_iter();
    let after = output_options.map(str::to_owned);
    before.chain(arch.options()).chain(after).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_name_selects_the_architecture() {
        for (kernel, name, feature) in [
            ("matmul", "sm_52", "+ptx64"),
            ("a.b/matmul", "sm_52", "+ptx64"),
            ("matmul.sm_75", "sm_75", "+ptx64"),
            ("matmul/5.sm_80", "sm_80", "+ptx70"),
            ("matmul/9.sm_90a", "sm_90a", "+ptx71"),
        ] {
            let arch = Arch::from_kernel_name(kernel).unwrap();
            assert_eq!(
                (arch.name().as_str(), arch.options()[4].as_str()),
                (name, feature)
            );
        }
        assert_eq!(Arch::from_kernel_name("matmul").unwrap(), Arch::OLDEST);
    }

    #[test]
    fn hopper_kernels_have_their_own_ptx_header() {
        let hopper = Arch::from_kernel_name("matmul.sm_90a").unwrap();
        let header_line = |line| hopper.header_line(line);
        assert_eq!(header_line(".version 7.1").as_deref(), Some(".version 8.0"));
        assert_eq!(
            header_line(".target sm_86").as_deref(),
            Some(".target sm_90a")
        );
        assert_eq!(header_line(".address_size 64"), None);
        assert_eq!(header_line(""), None);
        assert_eq!(Arch::NEWEST.header_line(".version 7.1"), None);
    }

    #[test]
    fn nvrtc_targets_the_oldest_suitable_architecture() {
        let numbers = [52, 75, 90, 100];
        for (name, expected) in [
            ("a", Some("52")),
            ("a.sm_80", Some("90")),
            ("a.sm_90a", Some("90a")),
        ] {
            let actual = Arch::from_kernel_name(name).unwrap().nvrtc_arch(&numbers);
            assert_eq!(actual.as_deref(), expected, "{name}");
        }
        let hopper = Arch::from_kernel_name("a.sm_90a").unwrap();
        assert_eq!(hopper.nvrtc_arch(&[75, 100]), None);
        assert_eq!(Arch::NEWEST.nvrtc_arch(&[75, 80]), None);
    }

    #[test]
    fn unknown_suffixes_are_rejected_with_the_known_ones() {
        for suffix in [
            "sm80", "sm_", "sm_080", "sm_50", "sm_90", "sm_99", "SM_80", "", "x.sm_80",
        ] {
            let message = Arch::from_kernel_name(&format!("matmul.{suffix}"))
                .unwrap_err()
                .to_string();
            let expected = format!(
                "kernels/matmul.{suffix}.cu: .{suffix} is not a supported GPU architecture"
            );
            assert!(message.starts_with(&expected), "{message}");
            assert!(message.contains(".sm_52, "), "{message}");
            assert!(message.contains(".sm_80, .sm_86, .sm_90a"), "{message}");
        }
    }
}
