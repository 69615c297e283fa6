//! Confinement on Linux: files by Landlock, system calls by seccomp.

mod filter;

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible as _, Ruleset,
    RulesetAttr as _, RulesetCreated, RulesetCreatedAttr as _, RulesetError, RulesetStatus, Scope,
    path_beneath_rules,
};

use crate::{Error, Rules};

/// Returns the reason if this system cannot enforce all rules.
pub fn unsupported_reason() -> Option<String> {
    if !available() {
        return Some(
            "this Linux has no Landlock (it needs version 5.13, and `landlock` in the kernel's \
             `lsm=`): a program's files cannot be restricted"
                .to_owned(),
        );
    }
    filter::unsupported_reason()
}

/// Restricts the files and system calls of this process.
pub fn confine(rules: &Rules) -> Result<(), Error> {
    if available() {
        restrict(rules).map_err(|error| Error::System(format!("Landlock: {error}")))?;
    }
    if filter::unsupported_reason().is_none() {
        filter::restrict(rules.processes)
            .map_err(|error| Error::System(format!("seccomp: {error}")))?;
    }
    Ok(())
}

/// Forbids this process to use files by name and to start programs.
pub fn forbid_named_files() -> Result<(), Error> {
    if filter::unsupported_reason().is_some() {
        return Ok(());
    }
    filter::forbid_named_files().map_err(|error| Error::System(format!("seccomp: {error}")))
}

/// Closes all files of this process except its standard input, output and error.
pub fn close_inherited_files() -> Result<(), Error> {
    // SAFETY: no value of this process owns one of these files yet, which the caller guarantees.
    let result = unsafe { libc::syscall(libc::SYS_close_range, 3, libc::c_uint::MAX, 0) };
    match result {
        0 => Ok(()),
        _ => {
            let error = std::io::Error::last_os_error();
            Err(Error::System(format!(
                "cannot close inherited files: {error}"
            )))
        }
    }
}

/// The newest Landlock version used; older kernels enforce the rules that they know.
const NEWEST: ABI = ABI::V10;

/// The device that any program may open, because it neither provides nor stores data.
const NULL_DEVICE: &str = "/dev/null";

/// Returns true if the kernel supports Landlock.
fn available() -> bool {
    with_required(|rules| rules.handle_access(AccessFs::from_all(ABI::V1))).is_ok()
}

/// Returns true if the kernel can block signals to processes outside the sandbox, which needs Linux 6.12.
fn restricts_signals() -> bool {
    with_required(|rules| rules.scope(Scope::Signal)).is_ok()
}

fn with_required(
    configure: impl FnOnce(Ruleset) -> Result<Ruleset, RulesetError>,
) -> Result<RulesetCreated, RulesetError> {
    configure(Ruleset::default().set_compatibility(CompatLevel::HardRequirement))?.create()
}

/// Restricts this thread and its children to the files of the rules, without network connections.
fn restrict(rules: &Rules) -> Result<(), RulesetError> {
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
