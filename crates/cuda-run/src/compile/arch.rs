//! GPU architectures that kernels can be compiled for.

use common::gpu::Capability;

/// A GPU architecture, the first version of clang that supports it, and the PTX version that it requires.
struct ArchSupport {
    sm: u32,
    clang: u32,
    ptx: u32,
}

const fn arch(sm: u32, clang: u32, ptx: u32) -> ArchSupport {
    ArchSupport { sm, clang, ptx }
}

const SUPPORTED: [ArchSupport; 13] = [
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
];

/// The number of the oldest architecture, which every version of clang supports.
pub const OLDEST_ARCH: u32 = SUPPORTED[0].sm;

/// Parses the name of an architecture, such as `sm_70` or `compute_70`. Returns its number.
pub fn arch_number(name: &str) -> Option<u32> {
    let digits = name.strip_prefix("sm_").or(name.strip_prefix("compute_"))?;
    digits.trim_end_matches(['a', 'f']).parse().ok()
}

/// A GPU architecture that clang supports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arch {
    sm: u32,
    ptx: u32,
}

impl Arch {
    /// Returns the newest architecture that this version of clang supports and a GPU of this capability runs.
    pub fn newest(clang: &str, gpu: Capability) -> Result<Arch, String> {
        let Capability(major, minor) = gpu;
        let max_sm = u32::try_from(10 * major + minor).unwrap_or_default();
        let is_supported =
            |arch: &&ArchSupport| arch.clang <= self::major(clang) && arch.sm <= max_sm;
        let arch = SUPPORTED.iter().rev().find(is_supported);
        let arch = arch.ok_or_else(|| {
            format!("a GPU of compute capability {gpu} is older than all architectures that clang {clang} supports")
        })?;
        Ok(Arch::from(arch))
    }

    /// Returns the architecture with this name: `sm_70`, `compute_70`. Architectures older than all supported
    /// ones are replaced by the oldest, whose PTX newer GPUs run too.
    pub fn named(name: &str, clang: &str) -> Result<Arch, String> {
        let sm = arch_number(name).ok_or_else(|| {
            format!("--arch {name}: expected a GPU architecture such as sm_70 or compute_70")
        })?;
        let sm = sm.max(OLDEST_ARCH);
        let is_supported = |arch: &&ArchSupport| arch.clang <= major(clang);
        let arch = SUPPORTED
            .iter()
            .filter(is_supported)
            .find(|arch| arch.sm == sm);
        let arch = arch.ok_or_else(|| {
            let names = SUPPORTED.iter().filter(is_supported);
            let names: Vec<String> = names.map(|arch| format!("sm_{}", arch.sm)).collect();
            format!("--arch {name}: clang {clang} supports {}", names.join(", "))
        })?;
        Ok(Arch::from(arch))
    }

    /// Returns the numbers of the architectures that this version of clang supports.
    #[cfg(unix)]
    pub fn supported(clang: &str) -> Vec<u32> {
        let supported = SUPPORTED.iter().filter(|arch| arch.clang <= major(clang));
        supported.map(|arch| arch.sm).collect()
    }

    /// Returns the name, such as `sm_70`.
    pub fn name(self) -> String {
        format!("sm_{}", self.sm)
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
            ptx: arch.ptx,
        }
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
        for invalid in ["sm_90", "sm_71", "sm_", "70", "sm_-1"] {
            let error = name_and_feature(invalid).unwrap_err();
            assert!(error.starts_with(&format!("--arch {invalid}: ")), "{error}");
        }
    }
}
