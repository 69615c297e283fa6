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

/// The oldest GPUs a kernel is compiled for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arch {
    sm: u32,
    ptx: u32,
}

impl Arch {
    /// Any GPU since Maxwell, any driver since 2019: where a name says nothing.
    pub const OLDEST: Self = Self { sm: 52, ptx: 64 };

    /// The architecture in a kernel's name: `matmul.sm_80` is for sm_80, `matmul` for
    /// [`Arch::OLDEST`]. A dot in a name announces an architecture, and nothing else.
    pub fn of(kernel: &str) -> Result<Self, Error> {
        let file = kernel.rsplit('/').next().unwrap_or(kernel);
        let Some((_, ending)) = file.split_once('.') else {
            return Ok(Self::OLDEST);
        };
        KNOWN
            .into_iter()
            .map(|(sm, ptx)| Self { sm, ptx })
            .find(|arch| arch.name() == ending)
            .ok_or_else(|| Error::NoArch {
                name: kernel.to_owned(),
                ending: ending.to_owned(),
                known: KNOWN.map(|(sm, _)| format!(".sm_{sm}")).join(", "),
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

    /// Its number, 80 for sm_80.
    pub fn sm(self) -> u32 {
        self.sm
    }

    /// Its name, `sm_80`.
    pub fn name(self) -> String {
        format!("sm_{}", self.sm)
    }

    /// The version of PTX as clang names the feature, `+ptx70`.
    pub fn feature(self) -> String {
        format!("+ptx{}", self.ptx)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_kernel_says_for_which_gpus_it_is() {
        let of = |name| Arch::of(name).map(|arch| (arch.name(), arch.feature()));
        let arch = |name: &str, feature: &str| (name.to_owned(), feature.to_owned());
        assert_eq!(of("matmul").unwrap(), arch("sm_52", "+ptx64"));
        assert_eq!(of("a.b/matmul").unwrap(), arch("sm_52", "+ptx64"));
        assert_eq!(of("matmul.sm_75").unwrap(), arch("sm_75", "+ptx64"));
        assert_eq!(of("matmul/5.sm_80").unwrap(), arch("sm_80", "+ptx70"));
        assert_eq!(Arch::of("matmul").unwrap(), Arch::OLDEST);
    }

    #[test]
    fn other_endings_are_refused_with_those_there_are() {
        for ending in [
            "sm80", "sm_", "sm_080", "sm_50", "sm_99", "SM_80", "", "x.sm_80",
        ] {
            let message = Arch::of(&format!("matmul.{ending}"))
                .unwrap_err()
                .to_string();
            let expected = format!("kernels/matmul.{ending}.cu: .{ending} names no GPU");
            assert!(message.starts_with(&expected), "{message}");
            assert!(message.contains(".sm_52, "), "{message}");
            assert!(message.contains(".sm_80"), "{message}");
        }
    }
}
