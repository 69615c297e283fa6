//! An arithmetic loop, which shows the simulator's speed without memory accesses.

use launch_plan::{Element, Launch, ResolvedPlan};
use multiversion::multiversion;

use super::{OUTPUT, Scale, Workload, output, plan, pointer};

/// Threads per block.
const BLOCK: u32 = 1024;

/// A loop with 1024 iterations of fused multiply-adds, additions, shifts and logic.
const PTX: &str = "
.version 6.4
.target sm_52
.address_size 64
.visible .entry arithmetic(.param .u64 out)
{
    .reg .pred %p;
    .reg .f32 %f<4>;
    .reg .b32 %r<8>;
    .reg .b64 %rd<3>;
    mov.u32 %r6, %tid.x;
    mov.u32 %r1, %r6;
    mov.u32 %r2, 0;
    cvt.rn.f32.u32 %f1, %r1;
    mov.f32 %f2, 0f3F000000;
LOOP:
    fma.rn.f32 %f1, %f1, %f2, 0f3F800000;
    add.rn.f32 %f3, %f1, %f2;
    mul.rn.f32 %f2, %f3, 0f3A800000;
    shl.b32 %r3, %r1, 3;
    xor.b32 %r1, %r1, %r3;
    shr.u32 %r4, %r1, 5;
    add.s32 %r1, %r1, %r4;
    and.b32 %r5, %r1, 255;
    mad.lo.s32 %r1, %r5, %r5, %r1;
    add.s32 %r2, %r2, 1;
    setp.lt.u32 %p, %r2, 1024;
    @%p bra LOOP;
    mov.b32 %r3, %f1;
    xor.b32 %r1, %r1, %r3;
    mov.u32 %r3, %ctaid.x;
    mad.lo.s32 %r6, %r3, 1024, %r6;
    ld.param.u64 %rd1, [out];
    mul.wide.u32 %rd2, %r6, 4;
    add.s64 %rd1, %rd1, %rd2;
    st.global.u32 [%rd1], %r1;
    ret;
}";

/// The loop, run by `blocks` blocks.
pub struct Arithmetic {
    blocks: u32,
}

impl Arithmetic {
    pub fn boxed(scale: Scale) -> Box<dyn Workload> {
        let blocks = scale.pick([1, 64, 256, 1024]);
        Box::new(Arithmetic { blocks })
    }
}

impl Workload for Arithmetic {
    fn size(&self) -> String {
        format!("{} × {BLOCK} threads", self.blocks)
    }

    fn ptx(&self) -> &'static str {
        PTX
    }

    fn plan(&self, words: usize) -> ResolvedPlan {
        let shape = [[self.blocks, 1, 1], [BLOCK, 1, 1]];
        plan(
            vec![output(Element::U32, words)],
            Launch::new("arithmetic", shape, vec![pointer(OUTPUT)]),
        )
    }

    fn expected(&self) -> Vec<u32> {
        // Every block computes the same values.
        let mut one = vec![0; BLOCK as usize];
        threads(&mut one);
        one.repeat(self.blocks as usize)
    }

    fn plain(&self, output: &mut [u32]) {
        output.chunks_mut(BLOCK as usize).for_each(threads);
    }
}

/// Computes one word per thread.
#[multiversion(targets("x86_64+avx2+fma"))]
fn threads(output: &mut [u32]) {
    for (tid, word) in (0_u32..).zip(output) {
        let (mut bits, mut x, mut y) = (tid, tid as f32, 0.5_f32);
        for _ in 0..1024 {
            x = x.mul_add(y, 1.0);
            y = (x + y) * (1.0 / 1024.0);
            bits ^= bits << 3;
            bits = bits.wrapping_add(bits >> 5);
            bits = bits.wrapping_add((bits & 255) * (bits & 255));
        }
        *word = bits ^ x.to_bits();
    }
}
