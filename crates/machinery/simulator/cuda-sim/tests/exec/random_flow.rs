//! Random control-flow graphs: each lane of a warp must take the path that it takes when it runs alone.

use crate::harness::*;

const NODES: usize = 12;
const THREADS: u32 = 70;

/// A sequence of random numbers.
struct RandomNumbers(std::iter::Skip<std::vec::IntoIter<u32>>);

impl RandomNumbers {
    fn below(&mut self, bound: usize) -> usize {
        self.0.next().expect("out of random numbers") as usize / 16 % bound
    }
}

/// Returns the nodes of a function's body. Each changes the state (`%r1`, random; `%r3`, the result),
/// then branches to other nodes depending on the state. `%r2` counts down to the end.
fn nodes(random: &mut RandomNumbers, prefix: &str, functions: usize, exit: &str) -> String {
    let mut text = String::new();
    for node in 0..NODES {
        let mut target = || format!("{prefix}{}", random.below(NODES));
        let (a, b, c) = (target(), target(), target());
        let bits = random.below(20);
        text += &format!(
            "{prefix}{node}:
            sub.u32 %r2, %r2, 1;
            setp.eq.u32 %p1, %r2, 0;
            @%p1 bra {prefix}END;
            mad.lo.u32 %r1, %r1, 1664525, {};
            xor.b32 %r3, %r3, %r1;
            shr.u32 %r4, %r1, {};
            and.b32 %r4, %r4, 3;
            setp.lt.u32 %p2, %r4, {};\n",
            1013904223 + node,
            8 + bits,
            1 + random.below(3),
        );
        text += &match random.below(7) {
            0 => format!("@%p2 bra {a};\n"),
            1 => format!("@!%p2 bra {a};\nbra {b};\n"),
            2 => format!(
                "{prefix}T{node}: .branchtargets {a}, {b}, {c}, {a};
                brx.idx %r4, {prefix}T{node};\n"
            ),
            3 => format!("@%p2 add.u32 %r3, %r3, %r4;\n@!%p2 mov.u32 %r1, %r3;\nbra {a};\n"),
            4 if functions > 0 => format!(
                "{{ .param .b32 a; .param .b32 r;
                st.param.b32 [a], %r1;
                @%p2 call (r), f{}, (a);
                @%p2 ld.param.b32 %r1, [r]; }}\n",
                random.below(functions)
            ),
            5 => format!("setp.eq.u32 %p3, %r4, 3;\n@%p3 {exit};\n@%p2 bra {c};\n"),
            _ => format!("@%p2 bra {a};\nadd.u32 %r3, %r3, 7;\n@%p1 bra {b};\n"),
        };
    }
    text
}

const REGISTERS: &str = ".reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %d<4>;";

/// Returns a kernel with random control flow that calls functions with random control flow, some of which
/// exit the thread.
fn program(seed: usize) -> String {
    let numbers = noise(5000);
    let mut random = RandomNumbers(numbers.into_iter().skip(seed * 37));
    let mut text = ".version 7.0\n.target sm_80\n.address_size 64\n".to_owned();
    for f in 0..2 {
        let exit = if f == 0 { "ret" } else { "exit" };
        text += &format!(
            ".func (.param .b32 r) f{f}(.param .b32 a) {{
            {REGISTERS}
            ld.param.b32 %r1, [a];
            st.param.b32 [r], %r1;
            mov.u32 %r2, 9; mov.u32 %r3, {f};
            {}
            FEND: st.param.b32 [r], %r3;
            ret;
            }}\n",
            nodes(&mut random, "F", f, exit)
        );
    }
    text + &format!(
        ".visible .entry k(.param .u64 out, .param .u32 first) {{
        {REGISTERS}
        ld.param.u64 %d1, [out];
        ld.param.u32 %r5, [first];
        mov.u32 %r6, %tid.x;
        mad.wide.u32 %d2, %r6, 4, %d1;
        add.u32 %r1, %r5, %r6;
        mul.lo.u32 %r1, %r1, 0x9E3779B1;
        mov.u32 %r2, 60; mov.u32 %r3, 0;
        {}
        KEND: st.global.u32 [%d2], %r3;
        ret;
        }}\n",
        // Threads that exit early have stored an intermediate result.
        nodes(&mut random, "K", 2, "bra KEND")
            .replace("sub.u32 %r2", "st.global.u32 [%d2], %r3;\nsub.u32 %r2")
    )
}

#[test]
fn lanes_take_the_same_path_as_when_alone() {
    let (mut outputs, mut divergent_programs) = (std::collections::BTreeSet::new(), 0);
    for seed in 0..80 {
        let ptx = program(seed);
        let mut machine = Machine::new(&ptx);
        let warp_output = machine.out::<u32>(THREADS as usize);
        let report = machine.run("k", 1, THREADS, params![warp_output, 0u32]);
        let lane_output = machine.out::<u32>(THREADS as usize);
        for t in 0..THREADS {
            machine.run("k", 1, 1, params![lane_output + 4 * u64::from(t), t]);
        }
        let count = THREADS as usize;
        let actual = machine.read::<u32>(warp_output, count);
        assert_eq!(
            actual,
            machine.read::<u32>(lane_output, count),
            "seed {seed}:\n{ptx}"
        );
        divergent_programs += u32::from(report.counts.divergent_branches > 10);
        outputs.extend(actual);
    }
    assert!(
        divergent_programs > 60,
        "only {divergent_programs} programs diverge"
    );
    assert!(
        outputs.len() > 1000,
        "the programs hardly differ: {}",
        outputs.len()
    );
}
