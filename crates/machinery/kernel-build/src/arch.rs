//! Which GPUs a kernel is compiled for: its file's name says so.

use crate::Error;

/// What clang is told of a GPU architecture: `sm_NN`, and the oldest version of PTX
/// that knows it, which decides how old a driver may be.
///
/// 6.4 is of 2019; no kernel asks for older. Newer architectures than these the
/// pinned clang does not compile for.
const KNOWN: [(u32, u32); 10] = [
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

/// Hopper with what Hopper alone has: `wgmma` and its like.
const HOPPER: &str = "sm_90a";

/// What a Hopper kernel defines in nvcc, in place of what clang defines for the GPU it is told of.
const HOPPER_DEFINES: [&str; 3] = [
    "-U__CUDA_ARCH__",
    "-D__CUDA_ARCH__=900",
    "-D__CUDA_ARCH_FEAT_SM90_ALL=1",
];

/// What a kernel is compiled for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arch {
    /// What clang is told.
    sm: u32,
    ptx: u32,
    /// It is for [`HOPPER`]. The pinned clang does not know it. But PTX for older GPUs is right for newer
    /// ones, and `asm` in a kernel goes into it as it is: so clang compiles for the newest GPU that it knows,
    /// and the PTX's header is written anew.
    hopper: bool,
}

impl Arch {
    /// Any GPU since Maxwell, any driver since 2019: where a name says nothing.
    pub const OLDEST: Self = Self::of_known(KNOWN[0]);

    /// What clang is told for [`HOPPER`].
    const NEWEST: Self = Self::of_known(KNOWN[KNOWN.len() - 1]);

    const fn of_known((sm, ptx): (u32, u32)) -> Self {
        Self {
            sm,
            ptx,
            hopper: false,
        }
    }

    /// The architecture in a kernel's name: `matmul.sm_80` is for sm_80, `matmul` for
    /// [`Arch::OLDEST`]. A dot in a name announces an architecture, and nothing else.
    pub fn of(kernel: &str) -> Result<Self, Error> {
        let file = kernel.rsplit('/').next().unwrap_or(kernel);
        let Some((_, ending)) = file.split_once('.') else {
            return Ok(Self::OLDEST);
        };
        let hopper = Self {
            hopper: true,
            ..Self::NEWEST
        };
        let all = KNOWN.into_iter().map(Self::of_known).chain([hopper]);
        all.clone()
            .find(|arch| arch.name() == ending)
            .ok_or_else(|| Error::NoArch {
                name: kernel.to_owned(),
                ending: ending.to_owned(),
                known: all
                    .map(|arch| format!(".{}", arch.name()))
                    .collect::<Vec<_>>()
                    .join(", "),
            })
    }

    /// That of a number, 80 for sm_80; [`Arch::OLDEST`] where there is none.
    ///
    /// # Errors
    ///
    /// Where there is none of this number, with those that there are.
    pub fn numbered(sm: Option<u32>) -> Result<Self, Error> {
        match sm {
            None => Ok(Self::OLDEST),
            Some(sm) => Self::of(&format!("answer.sm_{sm}")),
        }
    }

    /// Its name, `sm_80`.
    pub fn name(self) -> String {
        match self.hopper {
            true => HOPPER.to_owned(),
            false => format!("sm_{}", self.sm),
        }
    }

    /// Which of these GPUs, by number, the oldest first, NVRTC is to compile for: `90a`. None where all of them
    /// are too old.
    pub fn virtual_of(self, numbers: &[u32]) -> Option<String> {
        match self.hopper {
            true => numbers.contains(&90).then(|| "90a".to_owned()),
            false => {
                let number = numbers.iter().find(|&&sm| sm >= self.sm)?;
                Some(number.to_string())
            }
        }
    }

    /// What clang is told of it: the GPU, the version of PTX by clang's own name, and what is defined.
    pub fn options(self) -> Vec<String> {
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

    /// The line of a PTX header that stands in place of this one of clang's, where it is another.
    pub fn header(self, line: &str) -> Option<String> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_kernel_says_for_which_gpus_it_is() {
        let of = |name| Arch::of(name).map(|arch| (arch.name(), arch.options()[4].clone()));
        let arch = |name: &str, feature: &str| (name.to_owned(), feature.to_owned());
        assert_eq!(of("matmul").unwrap(), arch("sm_52", "+ptx64"));
        assert_eq!(of("a.b/matmul").unwrap(), arch("sm_52", "+ptx64"));
        assert_eq!(of("matmul.sm_75").unwrap(), arch("sm_75", "+ptx64"));
        assert_eq!(of("matmul/5.sm_80").unwrap(), arch("sm_80", "+ptx70"));
        assert_eq!(of("matmul/9.sm_90a").unwrap(), arch("sm_90a", "+ptx71"));
        assert_eq!(Arch::of("matmul").unwrap(), Arch::OLDEST);
    }

    #[test]
    fn a_hopper_kernel_has_a_header_of_its_own() {
        let hopper = Arch::of("matmul.sm_90a").unwrap();
        let header = |line| hopper.header(line);
        assert_eq!(header(".version 7.1").as_deref(), Some(".version 8.0"));
        assert_eq!(header(".target sm_86").as_deref(), Some(".target sm_90a"));
        assert_eq!(header(".address_size 64"), None);
        assert_eq!(header(""), None);
        assert_eq!(Arch::NEWEST.header(".version 7.1"), None);
    }

    #[test]
    fn nvrtc_compiles_for_the_oldest_gpu_that_will_do() {
        let numbers = [52, 75, 90, 100];
        for (name, chosen) in [
            ("a", Some("52")),
            ("a.sm_80", Some("90")),
            ("a.sm_90a", Some("90a")),
        ] {
            let found = Arch::of(name).unwrap().virtual_of(&numbers);
            assert_eq!(found.as_deref(), chosen, "{name}");
        }
        let hopper = Arch::of("a.sm_90a").unwrap();
        assert_eq!(hopper.virtual_of(&[75, 100]), None);
        assert_eq!(Arch::NEWEST.virtual_of(&[75, 80]), None);
    }

    #[test]
    fn other_endings_are_refused_with_those_there_are() {
        for ending in [
            "sm80", "sm_", "sm_080", "sm_50", "sm_90", "sm_99", "SM_80", "", "x.sm_80",
        ] {
            let message = Arch::of(&format!("matmul.{ending}"))
                .unwrap_err()
                .to_string();
            let expected = format!("kernels/matmul.{ending}.cu: .{ending} names no GPU");
            assert!(message.starts_with(&expected), "{message}");
            assert!(message.contains(".sm_52, "), "{message}");
            assert!(message.contains(".sm_80, .sm_86, .sm_90a"), "{message}");
        }
    }
}
