//! cuRAND's numbers, compared with those of NVIDIA's library on an H200. Bits and uniform numbers are equal; the others
//! differ in the last digits, because they are computed with other logarithms, sines and cosines.

use std::collections::HashMap;

use cuda_libraries::curand::*;

/// The tolerance of single and double precision, relative to numbers above 1 and absolute below.
const TOLERANCES: [f64; 2] = [5e-6, 1e-14];

/// A case of the recording: its settings, and the bits of some elements.
struct Case<'a> {
    generator: &'a str,
    function: &'a str,
    settings: HashMap<&'a str, f64>,
    elements: Vec<(usize, u64)>,
}

impl<'a> Case<'a> {
    /// Parses a line such as `xorwow bits n=20010 seed=1234 | 0:25398ed5 1:d1f61a9a`.
    fn parse(line: &'a str) -> Self {
        let (name, elements) = line.split_once(" | ").expect("a name and elements");
        let mut words = name.split(' ');
        let mut word = || words.next().expect("a word");
        let (generator, function) = (word(), word());
        let settings = words.map(|word| {
            let (name, value) = word.split_once('=').expect("a setting");
            (name, value.parse().expect("a number"))
        });
        let elements = elements.split(' ').map(|element| {
            let (index, bits) = element.split_once(':').expect("an index");
            let bits = u64::from_str_radix(bits, 16).expect("bits");
            (index.parse().expect("an index"), bits)
        });
        Case {
            generator,
            function,
            settings: settings.collect(),
            elements: elements.collect(),
        }
    }

    fn setting(&self, name: &str) -> Option<u64> {
        self.settings.get(name).map(|&value| value as u64)
    }

    /// Generates the numbers, each in eight bytes.
    fn generate(&self) -> Vec<u64> {
        let kind = match self.generator {
            "xorwow" => 101,
            "mrg32k3a" => 121,
            "philox" => 161,
            "sobol32" => 201,
            "sobol64" => 203,
            other => panic!("{other}"),
        };
        let n = self.setting("n").expect("a number of elements") as usize;
        let mut generator = 0;
        let check = |status| assert_eq!(status, 0);
        let settings = ["seed", "offset", "ordering", "dimensions"].map(|name| self.setting(name));
        // SAFETY: the handle is writable, and the functions validate it.
        unsafe {
            check(curandCreateGeneratorHost(&mut generator, kind));
            if let Some(seed) = settings[0] {
                // A seed of more than 53 bits is not exact in a double.
                let seed = if seed > 1 << 53 {
                    0x123_4567_89ab_cdef
                } else {
                    seed
                };
                check(curandSetPseudoRandomGeneratorSeed(generator, seed));
            }
            if let Some(offset) = settings[1] {
                check(curandSetGeneratorOffset(generator, offset));
            }
            if let Some(ordering) = settings[2] {
                check(curandSetGeneratorOrdering(generator, ordering as i32));
            }
            if let Some(dimensions) = settings[3] {
                check(curandSetQuasiRandomGeneratorDimensions(
                    generator,
                    dimensions as u32,
                ));
            }
        }
        if let Some(earlier) = self.setting("earlier_bits") {
            self.call("bits", generator, earlier as usize);
        }
        if let Some(earlier) = self.setting("earlier") {
            self.call(self.function, generator, earlier as usize);
        }
        let numbers = self.call(self.function, generator, n);
        // SAFETY: the function validates the handle.
        check(unsafe { curandDestroyGenerator(generator) });
        numbers
    }

    fn call(&self, function: &str, generator: usize, n: usize) -> Vec<u64> {
        let mean = self.settings.get("mean").copied().unwrap_or_default();
        let (mut words, mut longs) = (vec![0_u32; n], vec![0_u64; n]);
        let (word, long) = (words.as_mut_ptr(), longs.as_mut_ptr());
        let single = mean as f32;
        // SAFETY: both arrays have `n` elements, of the size of the numbers.
        let (status, is_long) = unsafe {
            match function {
                "bits" if self.generator == "sobol64" => {
                    (curandGenerateLongLong(generator, long, n), true)
                }
                "bits" => (curandGenerate(generator, word, n), false),
                "uniform" => (curandGenerateUniform(generator, word.cast(), n), false),
                "uniform_double" => (curandGenerateUniformDouble(generator, long.cast(), n), true),
                "normal" => (
                    curandGenerateNormal(generator, word.cast(), n, single, 2.0),
                    false,
                ),
                "normal_double" => (
                    curandGenerateNormalDouble(generator, long.cast(), n, mean, 2.0),
                    true,
                ),
                "log_normal" => (
                    curandGenerateLogNormal(generator, word.cast(), n, single, 0.5),
                    false,
                ),
                "log_normal_double" => (
                    curandGenerateLogNormalDouble(generator, long.cast(), n, mean, 0.5),
                    true,
                ),
                other => panic!("{other}"),
            }
        };
        assert_eq!(status, 0);
        if is_long {
            longs
        } else {
            words.into_iter().map(u64::from).collect()
        }
    }

    /// Returns true if an element is within the tolerance.
    fn is_equal(&self, actual: u64, expected: u64) -> bool {
        if !self.function.contains("normal") {
            return actual == expected;
        }
        let is_double = self.function.ends_with("double");
        let value = |bits: u64| match is_double {
            true => f64::from_bits(bits),
            false => f32::from_bits(bits as u32).into(),
        };
        let (actual, expected) = (value(actual), value(expected));
        let tolerance = TOLERANCES[usize::from(is_double)];
        (actual - expected).abs() <= tolerance * expected.abs().max(1.0)
    }
}

#[test]
fn recorded_settings_give_the_numbers_of_an_h200() {
    // SAFETY: no other thread of this test's process runs yet.
    unsafe { std::env::set_var("CUDA_BACKEND", "sim") };
    let recording = include_str!("curand-h200.txt");
    let lines = recording.lines().filter(|line| !line.starts_with('#'));
    let mut count = 0;
    for line in lines {
        let case = Case::parse(line);
        let numbers = case.generate();
        for &(index, expected) in &case.elements {
            let actual = numbers[index];
            let name = line.split(" | ").next().unwrap_or_default();
            assert!(
                case.is_equal(actual, expected),
                "{name}: element {index} is {actual:x}, expected {expected:x}"
            );
            count += 1;
        }
    }
    assert!(count > 3000, "{count} elements");
}
