//! Additions of constants, from `kernels/add-constant.cu`.

use add_constant::pattern::{AccessPattern, NUM_VALUES};
use add_constant::{inputs, reference};
use launch_plan::{Element, Launch, ResolvedPlan};

use super::{OUTPUT, Scale, Workload, ints, number, output, plan, pointer, symbol};

/// Threads per block, as in the note.
const BLOCK: u32 = 1024;

/// The location of the values, which selects the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Values {
    Global,
    Constant,
}

/// Random inputs. The kernel adds one of the values to each.
pub struct Addition {
    pattern: AccessPattern,
    source: Values,
    inputs: Vec<i32>,
    values: Box<[i32; NUM_VALUES]>,
}

impl Addition {
    /// Builds the workload with the chapter's inputs.
    pub fn boxed(pattern: AccessPattern, source: Values, scale: Scale) -> Box<dyn Workload> {
        let sums = scale.pick([12_800, 12_800_000, 51_200_000, 204_800_000]);
        Box::new(Addition {
            pattern,
            source,
            inputs: inputs::random(sums, 2),
            values: Box::new(std::array::from_fn(|index| index as i32)),
        })
    }
}

impl Workload for Addition {
    fn size(&self) -> String {
        format!("{} sums", self.inputs.len())
    }

    fn ptx(&self) -> &'static str {
        include_str!("../../../../../../kernels/ptx/add-constant.ptx")
    }

    fn plan(&self, words: usize) -> ResolvedPlan {
        let blocks = (self.inputs.len() as u32).div_ceil(BLOCK);
        let shape = [[blocks, 1, 1], [BLOCK, 1, 1]];
        let output = output(Element::I32, words);
        let inputs = ints("inputs", &self.inputs);
        let sums = number(self.inputs.len() as u32);
        let pattern = number(self.pattern.number() as u32);
        match self.source {
            Values::Global => {
                let values = ints("values", &*self.values);
                let count = number(NUM_VALUES as u32);
                let pointers = [pointer(OUTPUT), pointer(1), pointer(2)];
                let arguments = [&pointers[..], &[sums, count, pattern]].concat();
                plan(
                    vec![output, inputs, values],
                    Launch::new("add_constant_global_memory", shape, arguments),
                )
            }
            Values::Constant => {
                let values = symbol(ints("const_values", &*self.values));
                let arguments = vec![pointer(OUTPUT), pointer(1), sums, pattern];
                plan(
                    vec![output, inputs, values],
                    Launch::new("add_constant_constant_memory", shape, arguments),
                )
            }
        }
    }

    fn expected(&self) -> Vec<u32> {
        let sums = reference::add_constant(&self.inputs, &self.values, BLOCK, self.pattern);
        sums.into_iter().map(i32::cast_unsigned).collect()
    }

    fn plain(&self, output: &mut [u32]) {
        let block = BLOCK as usize;
        let blocks = output.chunks_mut(block).zip(self.inputs.chunks(block));
        for (block_id, (sums, inputs)) in (0..).zip(blocks) {
            for (thread_id, (sum, input)) in (0..).zip(sums.iter_mut().zip(inputs)) {
                let index = self.pattern.index(block_id, thread_id);
                *sum = (input + self.values[index]).cast_unsigned();
            }
        }
    }
}
