//! Texels in sRGB, which a fetch converts to linear values before it filters them. All rules and numbers are those of an
//! NVIDIA H200 (driver 580.159.04); they give all of its results for 32,704 positions between random texels.

use crate::exec::image::{Channel, Texture};

/// The linear values of 8-bit values in 65536ths. They have 7 significant bits and differ from the standard's by up to
/// 0.6 %.
#[rustfmt::skip]
const LINEAR: [u32; 256] = [
    0, 20, 40, 60, 80, 100, 120, 140, 160, 180, 200, 220, 240, 264, 288, 312, 340, 368, 396, 428,
    460, 492, 524, 560, 600, 636, 676, 720, 760, 804, 852, 896, 944, 1000, 1048, 1104, 1160, 1216,
    1272, 1328, 1392, 1456, 1520, 1584, 1648, 1720, 1792, 1864, 1936, 2016, 2096, 2176, 2256, 2336,
    2416, 2496, 2592, 2688, 2768, 2864, 2960, 3056, 3152, 3264, 3360, 3456, 3584, 3680, 3776, 3904,
    4000, 4128, 4256, 4352, 4480, 4608, 4736, 4864, 4992, 5120, 5248, 5408, 5536, 5664, 5824, 5952,
    6112, 6240, 6400, 6560, 6688, 6848, 7008, 7168, 7328, 7488, 7680, 7808, 8000, 8192, 8320, 8512,
    8704, 8896, 9088, 9280, 9472, 9664, 9856, 10048, 10240, 10432, 10624, 10816, 11008, 11264,
    11456, 11648, 11904, 12096, 12288, 12544, 12736, 12992, 13184, 13440, 13696, 13888, 14144,
    14400, 14656, 14848, 15104, 15360, 15616, 15872, 16128, 16384, 16640, 16896, 17152, 17408,
    17664, 18048, 18304, 18560, 18816, 19072, 19456, 19712, 19968, 20224, 20608, 20864, 21120,
    21504, 21760, 22144, 22400, 22784, 23040, 23296, 23680, 24064, 24320, 24704, 24960, 25344,
    25600, 25984, 26368, 26752, 27008, 27392, 27776, 28032, 28416, 28800, 29184, 29568, 29952,
    30336, 30720, 30976, 31488, 31744, 32256, 32512, 33024, 33280, 33792, 34048, 34560, 35072,
    35328, 35840, 36096, 36608, 37120, 37376, 37888, 38400, 38656, 39168, 39680, 39936, 40448,
    40960, 41216, 41728, 42240, 42752, 43264, 43520, 44032, 44544, 45056, 45568, 45824, 46336,
    46848, 47360, 47872, 48384, 48896, 49408, 49920, 50432, 50944, 51456, 51968, 52480, 52992,
    53504, 54016, 54528, 55040, 55552, 56064, 56576, 57088, 57600, 58112, 58624, 59392, 59904,
    60416, 60928, 61440, 61952, 62464, 62976, 64000, 64512, 65024, 65536,
];

/// The units of the linear values, as powers of two, by the upper five bits of the 8-bit values.
const UNITS: [u8; 32] = [
    0, 1, 2, 2, 3, 3, 4, 4, 5, 5, 5, 5, 6, 6, 6, 6, 6, 7, 7, 7, 7, 7, 7, 8, 8, 8, 8, 8, 8, 8, 8, 9,
];

/// Returns true if a channel of a texture is in sRGB. The last of several channels is alpha, which is linear.
pub(super) fn applies(texture: &Texture, number: u32) -> bool {
    let colours = (texture.image.channels - 1).max(1);
    let is_normalized = texture.image.channel == Channel::U8 && !texture.reads_integers;
    texture.decodes_srgb && is_normalized && number < colours
}

/// Returns the conversion of texels that are filtered together: their linear values lose the bits below the unit of the
/// largest one.
pub(super) fn linear(texels: &[(i64, u32)]) -> impl Fn(u32) -> f32 {
    let unit = |&(_, value): &(i64, u32)| UNITS[(value >> 3 & 31) as usize];
    let unit = texels.iter().map(unit).max().unwrap_or(0);
    move |value| (LINEAR[(value & 0xff) as usize] >> unit << unit) as f32 / 65536.0
}

/// Returns the 8-bit value nearest to a linear value between 0 and 1.
pub(super) fn encoded(linear: f32) -> u32 {
    let part = match linear {
        ..=0.0031308 => 12.92 * linear,
        _ => 1.055 * linear.powf(1.0 / 2.4) - 0.055,
    };
    (255.0 * part).round() as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_near_those_of_the_standard() {
        for value in 0..=255 {
            let part = f64::from(value) / 255.0;
            let exact = match part {
                ..=0.04045 => part / 12.92,
                _ => ((part + 0.055) / 1.055).powf(2.4),
            };
            let linear = linear(&[(256, value)])(value);
            let error = (f64::from(linear) - exact).abs();
            assert!(error <= 0.006 * exact, "{value}: {error}");
            assert_eq!(encoded(exact as f32), value);
        }
        assert_eq!(linear(&[(256, 255)])(255), 1.0);
    }

    #[test]
    fn small_values_lose_bits_next_to_large_ones() {
        let linear = linear(&[(128, 1), (128, 66)]);
        assert_eq!(linear(66), 3584.0 / 65536.0);
        assert_eq!(linear(1), 0.0);
        assert_eq!(linear(31), 928.0 / 65536.0 - 32.0 / 65536.0);
    }
}
