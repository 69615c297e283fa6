//! Files, by Landlock: what is listed can be opened.

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible as _, Ruleset,
    RulesetAttr as _, RulesetCreated, RulesetCreatedAttr as _, RulesetError, RulesetStatus, Scope,
    path_beneath_rules,
};

use crate::Rules;

/// All that is asked for is of this version; a kernel that is older does what it can.
const NEWEST: ABI = ABI::V10;

/// What any program may open, since it tells and takes nothing.
const NOTHING: &str = "/dev/null";

/// Whether the kernel has it.
pub fn available() -> bool {
    required(|rules| rules.handle_access(AccessFs::from_all(ABI::V1))).is_ok()
}

/// Whether it keeps signals from processes outside: from Linux 6.12 on.
pub fn keeps_signals() -> bool {
    required(|rules| rules.scope(Scope::Signal)).is_ok()
}

fn required(
    ask: impl FnOnce(Ruleset) -> Result<Ruleset, RulesetError>,
) -> Result<RulesetCreated, RulesetError> {
    ask(Ruleset::default().set_compatibility(CompatLevel::HardRequirement))?.create()
}

/// Restricts this thread, and what it starts, to the files of the rules; no connection can be made.
pub fn restrict(rules: &Rules) -> Result<(), RulesetError> {
    let read = AccessFs::ReadFile | AccessFs::ReadDir;
    let write = read | AccessFs::from_write(NEWEST) & !unusual();
    let execute = read | AccessFs::Execute;
    let restricted = Ruleset::default()
        .handle_access(AccessFs::from_all(NEWEST))?
        .handle_access(AccessNet::from_all(NEWEST))?
        .scope(Scope::from_all(NEWEST))?
        .create()?
        .add_rules(path_beneath_rules(&rules.read, read))?
        .add_rules(path_beneath_rules(&rules.write, write))?
        .add_rules(path_beneath_rules(&rules.execute, execute))?
        .add_rules(path_beneath_rules(
            &rules.devices,
            AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::IoctlDev,
        ))?
        .add_rules(path_beneath_rules(
            [NOTHING],
            AccessFs::ReadFile | AccessFs::WriteFile,
        ))?
        .restrict_self()?;
    debug_assert_ne!(restricted.ruleset, RulesetStatus::NotEnforced);
    Ok(())
}

/// What no compiler makes or does: devices, pipes and sockets that have a name, and orders to devices.
fn unusual() -> BitFlags<AccessFs> {
    AccessFs::MakeChar
        | AccessFs::MakeBlock
        | AccessFs::MakeSock
        | AccessFs::MakeFifo
        | AccessFs::IoctlDev
        | AccessFs::ResolveUnix
}
