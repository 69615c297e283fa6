//! Opening and finishing the chapter: input that is too large is refused here, before anything is allocated.

use anyhow::{Context as _, Result, bail};
use chapter::Chapter;
use chapter::localize;
use chapter::memory::{self, Footprint};

use crate::flags::Flags;
use crate::ladder;
use crate::picture::{self, Pixel};
use crate::scene::{ConstantBank, ConstantScene, GROUP, Outline, Sphere, Surface};

/// Text under the table, before the picture's name.
const FOOTER: &str = "\
    All threads of a warp read the same sphere at the same time, which constant memory broadcasts.\n\
    The benefit depends on the loop: compare `constant`, which computes each address, with \
    `unrolled`, where\naddresses are known at compile time.";

const FOOTER_ZH: &str = "\
    线程束的所有线程同时读取同一个球体，常量内存把它广播给所有线程。\n\
    收益取决于循环：请比较每次都要计算地址的 `constant` 与地址在编译时已知的 `unrolled`。";

/// Maximum number of pixels: the kernels index them with a 32-bit `int`.
const MAX_PIXELS: u64 = i32::MAX as u64;

impl Flags {
    /// Opens the GPU or the simulator and checks the limits. For the ladder it also measures the hardware's
    /// limit.
    ///
    /// # Errors
    ///
    /// Fails if the picture cannot be saved, the input exceeds a limit, or CUDA does not start.
    pub fn open(&self) -> Result<Chapter> {
        picture::require_writable(&self.out)?;
        spheres_fit(self)?;
        let chapter = Chapter::open("raytrace-const", &self.common, self.inputs(), "global")?;
        for variant in self.variants() {
            ladder::grid(&chapter, self, variant)?;
        }
        memory::require(&chapter.gpu, "this picture", memory_footprint(self))?;
        pixels_count(self)?;
        ladder::prepare(self, &chapter)?;
        Ok(chapter)
    }

    /// Prints the results and returns the outcome of the run.
    ///
    /// # Errors
    ///
    /// Fails if a picture is wrong, or a check found an error.
    pub fn finish(&self, chapter: &Chapter) -> Result<()> {
        let out = self.out.display();
        let lang = chapter.lang();
        let footer = lang.pick(FOOTER, FOOTER_ZH);
        chapter.print(&localize!(lang, "{}\nThe picture: {}", "{}\n图片：{}"; footer, out))?;
        let shown = || format!("{out} shows a wrong picture");
        chapter.verdict().with_context(shown)
    }
}

/// Refuses more spheres than fit into the constant memory of a selected variant.
fn spheres_fit(flags: &Flags) -> Result<()> {
    let capacities = flags.variants().into_iter().map(|variant| variant.capacity);
    let max_spheres = capacities.min().unwrap_or(usize::MAX);
    if flags.spheres as usize > max_spheres {
        bail!(
            "--spheres {} is too many: the 64 KB of constant memory hold {} spheres of 28 bytes \
             (--variant constant), {} aligned ones of 32 (--variant unrolled), or {} in groups \
             (the ladder's); use at most {max_spheres}, or kernels without this limit: \
             --variant global,patches-global,patches-tiles",
            flags.spheres,
            ConstantBank::PACKED,
            ConstantBank::ALIGNED,
            ConstantScene::SPHERES,
        );
    }
    Ok(())
}

/// Returns the bytes of the spheres and the picture: one picture and the spheres in both layouts on the GPU;
/// the reference, the copy read back and its PNG, which is rarely larger, on the host.
fn memory_footprint(flags: &Flags) -> Footprint {
    // Cannot overflow: sides and spheres are at most 2^30.
    let picture = pixels(flags) * size_of::<Pixel>() as u64;
    let spheres = u64::from(flags.spheres);
    let grouped = spheres.next_multiple_of(GROUP as u64);
    let spheres = spheres * size_of::<Sphere>() as u64
        + grouped * (size_of::<Outline>() + size_of::<Surface>()) as u64;
    Footprint {
        device: picture + spheres,
        host: 3 * picture + spheres,
    }
}

/// Refuses a picture with more pixels than the kernels can index.
fn pixels_count(flags: &Flags) -> Result<()> {
    let pixels = pixels(flags);
    if pixels > MAX_PIXELS {
        bail!(
            "a picture of {}x{} has {pixels} pixels, and the kernels support at most {MAX_PIXELS}; \
             use a smaller --width or --height",
            flags.width,
            flags.height,
        );
    }
    Ok(())
}

fn pixels(flags: &Flags) -> u64 {
    u64::from(flags.width) * u64::from(flags.height)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser as _;

    fn flags(arguments: &str) -> Flags {
        let words = arguments.split_whitespace();
        Flags::try_parse_from(["raytrace-const"].into_iter().chain(words)).unwrap()
    }

    #[test]
    fn each_variant_has_its_capacity() {
        for (variant, max_spheres) in [
            ("constant", 2340),
            ("unrolled", 2048),
            ("book", 2048),
            ("culled", 2040),
            ("ladder", 2040),
        ] {
            let fit = |spheres: u32| {
                spheres_fit(&flags(&format!("--variant {variant} --spheres {spheres}")))
            };
            assert!(fit(max_spheres).is_ok());
            let error = fit(max_spheres + 1).unwrap_err().to_string();
            assert!(error.contains(&format!("at most {max_spheres}")), "{error}");
        }
        for variant in ["global", "patches-global", "patches-tiles"] {
            let many = format!("--variant {variant} --spheres 1000000");
            assert!(spheres_fit(&flags(&many)).is_ok());
        }
    }

    #[test]
    fn memory_is_counted_without_overflow() {
        let footprint = memory_footprint(&flags("--width 17 --height 13 --spheres 2"));
        let spheres = 2 * 28 + 20 * 32;
        assert_eq!(footprint.device, 17 * 13 * 4 + spheres);
        assert_eq!(footprint.host, 3 * 17 * 13 * 4 + spheres);
        let largest = "--width 1073741824 --height 1073741824 --spheres 1073741824";
        let footprint = memory_footprint(&flags(largest));
        assert_eq!(footprint.host, 12 * (1 << 60) + 60 * (1 << 30) + 32 * 16);
    }

    #[test]
    fn pixel_counts_fit_into_an_int() {
        assert!(pixels_count(&flags("--width 46340 --height 46340")).is_ok());
        let error = pixels_count(&flags("--width 46341 --height 46341")).unwrap_err();
        assert!(error.to_string().contains("2147488281 pixels"), "{error}");
    }
}
