//! Instructions that exist but are not simulated: the compute capability each needs.
//!
//! Source: the "Target ISA Notes" of the PTX ISA's instruction pages.

/// The capability times ten, for the instructions whose users would ask.
pub fn of(mnemonic: &str) -> Option<u32> {
    Some(match mnemonic {
        "wmma" => 70,
        "mma" => 70,
        "ldmatrix" => 75,
        "cp" => 80,
        "mbarrier" | "createpolicy" => 80,
        "stmatrix"
        | "mapa"
        | "getctarank"
        | "setmaxnreg"
        | "griddepcontrol"
        | "multimem"
        | "clusterlaunchcontrol" => 90,
        "wgmma" => 90,
        "tcgen05" => 100,
        "tex" | "tld4" | "txq" | "suld" | "sust" | "sured" | "suq" => 20,
        "vadd" | "vsub" | "vabsdiff" | "vmin" | "vmax" | "vshl" | "vshr" | "vmad" | "vset" => 20,
        "vadd2" | "vsub2" | "vavrg2" | "vadd4" | "vsub4" | "vavrg4" => 30,
        "alloca" | "stacksave" | "stackrestore" => 52,
        _ => return None,
    })
}
