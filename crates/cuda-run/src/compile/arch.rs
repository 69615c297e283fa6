//! GPU architectures that kernels can be compiled for.

use common::gpu::Capability;

/// A GPU architecture, the first version of clang that supports it, and the PTX version that it requires.
#[derive(Clone, Copy)]
struct ArchSupport {
    sm: u32,
    /// True for an architecture with the features that only its own GPUs have, such as `sm_90a`.
    is_specific: bool,
    clang: u32,
    ptx: u32,
}

const fn arch(sm: u32, clang: u32, ptx: u32) -> ArchSupport {
    ArchSupport {
        sm,
        is_specific: false,
        clang,
        ptx,
    }
}

const SUPPORTED: [ArchSupport; 14] = [
    arch(50, 14, 64),
    arch(52, 14, 64),
    arch(53, 14, 64),
    arch(60, 14, 64),
    arch(61, 14, 64),
    arch(62, 14, 64),
    arch(70, 14, 64),
    arch(72, 14, 64),
    arch(75, 14, 64),
    arch(80, 14, 70),
    arch(86, 14, 71),
    arch(89, 16, 78),
    arch(90, 16, 78),
    ArchSupport {
        is_specific: true,
        ..arch(90, 18, 80)
    },
];

/// The number of the oldest architecture, which every version of clang supports.
pub const OLDEST_ARCH: u32 = SUPPORTED[0].sm;

/// The name of the first architecture with clusters of blocks and bulk copies.
pub const HOPPER: &str = "sm_90";

/// Parses the name of an architecture, such as `sm_70`, `compute_70` or `sm_90a`. Returns its number.
pub fn arch_number(name: &str) -> Option<u32> {
    let digits = name.strip_prefix("sm_").or(name.strip_prefix("compute_"))?;
    digits.trim_end_matches(['a', 'f']).parse().ok()
}

/// Returns the next step for a user whose clang lacks something that this version has.
fn newer_clang(version: u32) -> String {
    let install = match version {
        ..=19 if cfg!(target_os = "linux") => ", such as with \"sudo apt-get install clang-19\",",
        _ => "",
    };
    format!(
        "Install clang {version} or newer{install} and select it with the environment variable KERNEL_CLANG, such as \
         KERNEL_CLANG=clang-19"
    )
}

/// A GPU architecture that clang supports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arch {
    sm: u32,
    is_specific: bool,
    ptx: u32,
}

impl Arch {
    /// Returns the newest architecture that this version of clang supports and a GPU of this capability runs, without
    /// the features that only this GPU has.
    pub fn newest(clang: &str, gpu: Capability) -> Result<Arch, String> {
        let Capability(major, minor) = gpu;
        let max_sm = u32::try_from(10 * major + minor).unwrap_or_default();
        let is_suitable = |arch: &&ArchSupport| {
            arch.is_supported_by(clang) && arch.sm <= max_sm && !arch.is_specific
        };
        let arch = SUPPORTED.iter().rev().find(is_suitable);
        let arch = arch.ok_or_else(|| {
            format!("a GPU of compute capability {gpu} is older than all architectures that clang {clang} supports")
        })?;
        Ok(Arch::from(arch))
    }

    /// Returns the architecture with this name: `sm_70`, `compute_70`, `sm_90a`. Architectures older than all
    /// supported ones are replaced by the oldest, whose PTX newer GPUs run too.
    pub fn named(name: &str, clang: &str) -> Result<Arch, String> {
        let sm = arch_number(name).ok_or_else(|| {
            format!("--arch {name}: expected a GPU architecture such as sm_70 or compute_70")
        })?;
        let (sm, is_specific) = (sm.max(OLDEST_ARCH), name.ends_with('a'));
        match ArchSupport::find(sm, is_specific) {
            Some(arch) if arch.is_supported_by(clang) => Ok(Arch::from(arch)),
            Some(_) => Err(format!("--arch {name}: {}", Arch::advice(name, clang))),
            None => {
                let names = SUPPORTED.iter().filter(|arch| arch.is_supported_by(clang));
                let names: Vec<String> = names.map(|arch| Arch::from(arch).name()).collect();
                Err(format!(
                    "--arch {name}: clang {clang} supports {}",
                    names.join(", ")
                ))
            }
        }
    }

    /// Returns the numbers of the architectures that this version of clang supports.
    #[cfg(unix)]
    pub fn supported(clang: &str) -> Vec<u32> {
        let supported = SUPPORTED
            .iter()
            .filter(|arch| arch.is_supported_by(clang) && !arch.is_specific);
        supported.map(|arch| arch.sm).collect()
    }

    /// Returns the name, such as `sm_70` or `sm_90a`.
    pub fn name(self) -> String {
        let suffix = if self.is_specific { "a" } else { "" };
        format!("sm_{}{suffix}", self.sm)
    }

    /// Returns true if GPUs of this architecture have clusters of blocks and bulk copies.
    pub fn has_clusters(self) -> bool {
        self.sm >= 90
    }

    /// Returns the next step for a user whose kernels need the architecture with this name instead of the one that they
    /// are compiled for.
    pub fn advice(name: &str, clang: &str) -> String {
        let number = arch_number(name).unwrap_or_default();
        match ArchSupport::find(number, name.ends_with('a')) {
            Some(arch) if !arch.is_supported_by(clang) => format!(
                "clang {clang} does not support {name}. {}",
                newer_clang(arch.clang)
            ),
            _ => format!("Compile the kernels with --arch {name}"),
        }
    }

    /// Returns the definition of nvcc's macro for the architectures of a program. CUB's namespaces contain it.
    pub fn list_macro(self) -> String {
        format!("-D__CUDA_ARCH_LIST__={}0", self.sm)
    }

    /// Returns clang's name of the PTX version's feature, such as `+ptx70`.
    pub fn feature(self) -> String {
        format!("+ptx{}", self.ptx)
    }
}

impl From<&ArchSupport> for Arch {
    fn from(arch: &ArchSupport) -> Arch {
        Arch {
            sm: arch.sm,
            is_specific: arch.is_specific,
            ptx: arch.ptx,
        }
    }
}

impl ArchSupport {
    /// Returns the architecture with this number, with or without the features that only its own GPUs have.
    fn find(sm: u32, is_specific: bool) -> Option<&'static ArchSupport> {
        let mut known = SUPPORTED.iter();
        known.find(|arch| (arch.sm, arch.is_specific) == (sm, is_specific))
    }

    fn is_supported_by(&self, clang: &str) -> bool {
        self.clang <= major(clang)
    }
}

/// Returns the major version.
fn major(version: &str) -> u32 {
    let first = version.split('.').next().unwrap_or_default();
    first.parse().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_arch_is_supported_by_clang_and_gpu() {
        let arch_name = |clang, gpu| Arch::newest(clang, gpu).map(Arch::name);
        assert_eq!(arch_name("14.0.6", Capability(9, 0)).unwrap(), "sm_86");
        assert_eq!(arch_name("19.1.7", Capability(9, 0)).unwrap(), "sm_90");
        assert_eq!(arch_name("14.0.6", Capability(5, 2)).unwrap(), "sm_52");
        assert!(
            arch_name("14.0.6", Capability(1, 3))
                .unwrap_err()
                .contains("older than all architectures")
        );
    }

    #[test]
    fn a_name_is_accepted_if_clang_supports_it() {
        let name_and_feature =
            |name| Arch::named(name, "14.0.6").map(|arch| (arch.name(), arch.feature()));
        let pair = |name: &str, ptx: &str| (name.to_owned(), ptx.to_owned());
        assert_eq!(name_and_feature("sm_70").unwrap(), pair("sm_70", "+ptx64"));
        assert_eq!(
            name_and_feature("compute_80").unwrap(),
            pair("sm_80", "+ptx70")
        );
        assert_eq!(name_and_feature("sm_35").unwrap(), pair("sm_50", "+ptx64"));
        for invalid in ["sm_90", "sm_71", "sm_", "70", "sm_-1", "sm_80a"] {
            let error = name_and_feature(invalid).unwrap_err();
            assert!(error.starts_with(&format!("--arch {invalid}: ")), "{error}");
        }
        assert!(
            name_and_feature("sm_71")
                .unwrap_err()
                .ends_with("sm_80, sm_86")
        );
    }

    #[test]
    fn features_of_one_architecture_need_clang_18() {
        let arch = |clang| Arch::named("sm_90a", clang);
        let supported = arch("19.1.7").unwrap();
        assert_eq!(
            (supported.name(), supported.feature()),
            ("sm_90a".to_owned(), "+ptx80".to_owned())
        );
        for clang in ["14.0.6", "17.0.1"] {
            let error = arch(clang).unwrap_err();
            for part in [
                &format!("clang {clang} does not support"),
                "clang 18 or newer",
                "KERNEL_CLANG=clang-19",
            ] {
                assert!(error.contains(part), "{error}");
            }
        }
        assert_eq!(Arch::supported("19.1.7").last(), Some(&90));
    }

    #[test]
    fn the_next_step_depends_on_clang() {
        let advice = Arch::advice("sm_90", "14.0.6");
        assert!(advice.contains("clang 16 or newer"), "{advice}");
        assert_eq!(
            Arch::advice("sm_90", "19.1.7"),
            "Compile the kernels with --arch sm_90"
        );
    }
}
