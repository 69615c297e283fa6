//! Instructions that exist but are not simulated, so that the error can name their requirements. Unsupported
//! variants of simulated instructions are listed next to those.

use super::entry::{Entry, not_simulated, ptx};

pub const ENTRIES: &[Entry] = &[
    // Textures and surfaces.
    not_simulated("istypep", ptx(4, 0).sm(30)),
    // Video instructions.
    not_simulated("vabsdiff", ptx(2, 0).sm(20)),
    not_simulated("vadd", ptx(2, 0).sm(20)),
    not_simulated("vmad", ptx(2, 0).sm(20)),
    not_simulated("vmax", ptx(2, 0).sm(20)),
    not_simulated("vmin", ptx(2, 0).sm(20)),
    not_simulated("vset", ptx(2, 0).sm(20)),
    not_simulated("vshl", ptx(2, 0).sm(20)),
    not_simulated("vsub", ptx(2, 0).sm(20)),
    not_simulated("vadd2", ptx(3, 0).sm(30)),
    not_simulated("vavrg2", ptx(3, 0).sm(30)),
    not_simulated("vsub2", ptx(3, 0).sm(30)),
    not_simulated("vadd4", ptx(3, 0).sm(30)),
    not_simulated("vavrg4", ptx(3, 0).sm(30)),
    not_simulated("vsub4", ptx(3, 0).sm(30)),
    // The stack.
    not_simulated("alloca", ptx(7, 3).sm(52)),
    not_simulated("stackrestore", ptx(7, 3).sm(52)),
    not_simulated("stacksave", ptx(7, 3).sm(52)),
    // Matrices.
    not_simulated("movmatrix", ptx(7, 8).sm(75)),
    not_simulated("setmaxnreg", ptx(8, 0).sm(90)),
    not_simulated("tcgen05", ptx(8, 6).sm(100)),
    // Memory.
    not_simulated("cp.async.bulk", ptx(8, 0).sm(90)),
    not_simulated("cp.reduce", ptx(8, 0).sm(90)),
    not_simulated("multimem", ptx(8, 1).sm(90)),
    not_simulated("tensormap", ptx(8, 3).sm(90)),
    // Clusters of blocks.
    not_simulated("barrier.cluster", ptx(7, 8).sm(90)),
    not_simulated("clusterlaunchcontrol", ptx(8, 6).sm(100)),
    not_simulated("getctarank", ptx(7, 8).sm(90)),
    not_simulated("mapa", ptx(7, 8).sm(90)),
];
