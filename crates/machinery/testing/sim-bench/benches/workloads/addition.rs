//! Additions of constants, from `kernels/add-constant.cu`.

use add_constant::pattern::{AccessPattern, NUM_VALUES};
use add_constant::{inputs, reference};

use super::{Argument, Buffer, Scale, Workload};

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

    fn kernel(&self) -> &'static str {
        match self.source {
            Values::Global => "add_constant_global_memory",
            Values::Constant => "add_constant_constant_memory",
        }
    }

    fn shape(&self) -> [[u32; 3]; 2] {
        let blocks = (self.inputs.len() as u32).div_ceil(BLOCK);
        [[blocks, 1, 1], [BLOCK, 1, 1]]
    }

    fn arguments(&self) -> Vec<Argument<'_>> {
        let inputs = Argument::Input(Buffer::Ints(&self.inputs));
        let values = Argument::Input(Buffer::Ints(&*self.values));
        let sums = Argument::Word(self.inputs.len() as u32);
        let pattern = Argument::Word(self.pattern.number() as u32);
        let count = Argument::Word(NUM_VALUES as u32);
        match self.source {
            Values::Global => vec![Argument::Output, inputs, values, sums, count, pattern],
            Values::Constant => vec![Argument::Output, inputs, sums, pattern],
        }
    }

    fn symbol(&self) -> Option<(&'static str, Buffer<'_>)> {
        let values = Buffer::Ints(&*self.values);
        (self.source == Values::Constant).then_some(("const_values", values))
    }

    fn element(&self) -> &'static str {
        "int32"
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
