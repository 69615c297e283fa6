//! Restriction of file access to the listed files, by Landlock.

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible as _, Ruleset,
    RulesetAttr as _, RulesetCreated, RulesetCreatedAttr as _, RulesetError, RulesetStatus, Scope,
    path_beneath_rules,
};

use crate::Rules;

/// The newest Landlock version used; older kernels enforce the rules that they know.
const NEWEST: ABI = ABI::V10;

/// The device that any program may open, because it neither provides nor stores data.
const NULL_DEVICE: &str = "/dev/null";

/// Returns true if the kernel supports Landlock.
pub fn available() -> bool {
    with_required(|rules| rules.handle_access(AccessFs::from_all(ABI::V1))).is_ok()
}

/// Returns true if the kernel can block signals to processes outside the sandbox, which needs Linux 6.12.
pub fn restricts_signals() -> bool {
    with_required(|rules| rules.scope(Scope::Signal)).is_ok()
}

fn with_required(
    configure: impl FnOnce(Ruleset) -> Result<Ruleset, RulesetError>,
) -> Result<RulesetCreated, RulesetError> {
    configure(Ruleset::default().set_compatibility(CompatLevel::HardRequirement))?.create()
}

/// Restricts this thread and its children to the files of the rules, without network connections.
pub fn restrict(rules: &Rules) -> Result<(), RulesetError> {
    let read = AccessFs::ReadFile | AccessFs::ReadDir;
    let write = read | AccessFs::from_write(NEWEST) & !special_rights();
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
            [NULL_DEVICE],
            AccessFs::ReadFile | AccessFs::WriteFile,
        ))?
        .restrict_self()?;
    debug_assert_ne!(restricted.ruleset, RulesetStatus::NotEnforced);
    Ok(())
}

/// Returns the rights that no compiler needs: creating devices, named pipes and sockets, and device control.
fn special_rights() -> BitFlags<AccessFs> {
    AccessFs::MakeChar
        | AccessFs::MakeBlock
        | AccessFs::MakeSock
        | AccessFs::MakeFifo
        | AccessFs::IoctlDev
        | AccessFs::ResolveUnix
}
