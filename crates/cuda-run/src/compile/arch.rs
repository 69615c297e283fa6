//! Which GPUs kernels are compiled for.

use common::gpu::Capability;

/// A GPU architecture: the first clang that knows it, and the version of PTX that has it.
struct Known {
    sm: u32,
    clang: u32,
    ptx: u32,
}

const fn known(sm: u32, clang: u32, ptx: u32) -> Known {
    Known { sm, clang, ptx }
}

const KNOWN: [Known; 13] = [
    known(50, 14, 64),
    known(52, 14, 64),
    known(53, 14, 64),
    known(60, 14, 64),
    known(61, 14, 64),
    known(62, 14, 64),
    known(70, 14, 64),
    known(72, 14, 64),
    known(75, 14, 64),
    known(80, 14, 70),
    known(86, 14, 71),
    known(89, 16, 78),
    known(90, 16, 78),
];

/// An architecture that clang knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arch {
    sm: u32,
    ptx: u32,
}

impl Arch {
    /// The newest that a clang of this version knows and a GPU of this capability runs.
    pub fn newest(clang: &str, gpu: Capability) -> Result<Arch, String> {
        let Capability(major, minor) = gpu;
        let most = u32::try_from(10 * major + minor).unwrap_or_default();
        let fit = |known: &&Known| known.clang <= self::major(clang) && known.sm <= most;
        let found = KNOWN.iter().rev().find(fit);
        let found = found.ok_or_else(|| {
            format!("a GPU of compute capability {gpu} is older than all that clang {clang} compiles for")
        })?;
        Ok(Arch::from(found))
    }

    /// The one that `name` says: `sm_70`, `compute_70`. One that is older than any here is compiled for
    /// the oldest, which newer GPUs run as well.
    pub fn named(name: &str, clang: &str) -> Result<Arch, String> {
        let digits = name.strip_prefix("sm_").or(name.strip_prefix("compute_"));
        let number = digits.map(|digits| digits.trim_end_matches(['a', 'f']));
        let sm: u32 = number
            .and_then(|number| number.parse().ok())
            .ok_or_else(|| {
                format!("--arch {name}: a GPU architecture is written as sm_70 or compute_70")
            })?;
        let sm = sm.max(KNOWN[0].sm);
        let fits = |known: &&Known| known.clang <= major(clang);
        let found = KNOWN.iter().filter(fits).find(|known| known.sm == sm);
        let found = found.ok_or_else(|| {
            let names = KNOWN.iter().filter(fits);
            let names: Vec<String> = names.map(|known| format!("sm_{}", known.sm)).collect();
            format!(
                "--arch {name}: clang {clang} compiles for {}",
                names.join(", ")
            )
        })?;
        Ok(Arch::from(found))
    }

    /// Its name, `sm_70`.
    pub fn name(self) -> String {
        format!("sm_{}", self.sm)
    }

    /// The version of PTX as clang names the feature, `+ptx70`.
    pub fn feature(self) -> String {
        format!("+ptx{}", self.ptx)
    }
}

impl From<&Known> for Arch {
    fn from(known: &Known) -> Arch {
        Arch {
            sm: known.sm,
            ptx: known.ptx,
        }
    }
}

/// The first number of a version.
fn major(version: &str) -> u32 {
    let first = version.split('.').next().unwrap_or_default();
    first.parse().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_is_what_both_know() {
        let of = |clang, gpu| Arch::newest(clang, gpu).map(Arch::name);
        assert_eq!(of("14.0.6", Capability(9, 0)).unwrap(), "sm_86");
        assert_eq!(of("19.1.7", Capability(9, 0)).unwrap(), "sm_90");
        assert_eq!(of("14.0.6", Capability(5, 2)).unwrap(), "sm_52");
        assert!(
            of("14.0.6", Capability(1, 3))
                .unwrap_err()
                .contains("older than all")
        );
    }

    #[test]
    fn a_name_is_taken_if_clang_knows_it() {
        let of = |name| Arch::named(name, "14.0.6").map(|arch| (arch.name(), arch.feature()));
        let one = |name: &str, ptx: &str| (name.to_owned(), ptx.to_owned());
        assert_eq!(of("sm_70").unwrap(), one("sm_70", "+ptx64"));
        assert_eq!(of("compute_80").unwrap(), one("sm_80", "+ptx70"));
        assert_eq!(of("sm_35").unwrap(), one("sm_50", "+ptx64"));
        for bad in ["sm_90", "sm_71", "sm_", "70", "sm_-1"] {
            let why = of(bad).unwrap_err();
            assert!(why.starts_with(&format!("--arch {bad}: ")), "{why}");
        }
    }
}
