//! Collection of events in a program that loads `libcuda.so.1`, to be reported at its end or sent to
//! `cuda-run`. The environment selects the reports.

use std::env::var_os;
use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use chapter::flags::Detail;
use common::gpu::{Capability, Clock, GpuInfo};
use cuda_driver::device::DeviceSpec;
use cuda_driver::{Checks, Event as SimulatorEvent, active_checks, warn};
use parking_lot::Mutex;

use crate::caller::name_calls;
use crate::exit;
use crate::failures::{Failures, Judgement};
use crate::record::{Record, Run};
use crate::summary::{Api, EventLog, Summary};
use crate::text::{Order, TextOptions};
use crate::wire::{Event, EventWriter};

/// Interval at which call counts are written while launches come. A process that ends without exit handlers,
/// by `_exit` or a crash, has written recent counts.
const CALLS_INTERVAL: Duration = Duration::from_millis(500);

/// The variable with which `cuda-run -- PROGRAM` names the folder for the events of the program's processes.
pub const EVENTS_VAR: &str = "CUDA_RUN_EVENTS";

/// The destination of events.
enum Sink {
    /// To `cuda-run`, with the time of the last call counts.
    CudaRun(Box<EventWriter>, Mutex<Option<Instant>>),
    /// To this process, which reports them at its end.
    Local(Box<Local>),
}

/// The events of this process, and the settings of its report.
struct Local {
    settings: Settings,
    log: Mutex<EventLog>,
    failures: Failures,
}

static SINK: OnceLock<Sink> = OnceLock::new();

/// The simulated GPU, if the simulator has started.
static GPU: OnceLock<GpuInfo> = OnceLock::new();

/// The recording that a C function has started, if any.
static RECORDING: Mutex<Option<Recording>> = Mutex::new(None);

/// The events since a recording started or was last taken.
#[derive(Default)]
struct Recording {
    log: EventLog,
    failures: Failures,
}

/// Starts recording the events of this process, or starts again. The simulator may start later.
pub fn start_recording() {
    // Work that was submitted earlier does not belong to the recording.
    cuda_driver::wait_for_pending_work();
    *RECORDING.lock() = Some(Recording::default());
    cuda_driver::profile(true);
    // The program that takes the recording reports its findings.
    cuda_driver::defer_findings();
    observe();
}

/// Waits for all submitted work, and returns the record in JSON of the events since the recording started or was last
/// taken; `None` if there is no recording. Recording continues.
pub fn take_recording() -> Option<String> {
    cuda_driver::wait_for_pending_work();
    let Recording { mut log, failures } = RECORDING.lock().as_mut().map(std::mem::take)?;
    for event in failures.events() {
        log.add(event);
    }
    let profile = Settings::from_env().map_or(None, |settings| settings.profile);
    Some(json(&log.summary("cuMemFree"), profile))
}

/// Prepares the reports that the environment requests, before the simulator starts.
///
/// # Errors
///
/// Fails if a variable has an invalid value.
pub fn report_at_exit(device: &'static DeviceSpec) -> Result<(), String> {
    if active_checks().any() {
        name_calls();
    }
    let settings = Settings::from_env()?;
    let _ = GPU.set(gpu_info(device));
    if settings.is_active() {
        start(settings);
    }
    cuda_driver::interrupt_launches_on_ctrl_c();
    cuda_driver::use_hardware_faults();
    Ok(())
}

/// Starts to collect what the settings request.
fn start(settings: Settings) {
    cuda_driver::profile(settings.needs_counters() || RECORDING.lock().is_some());
    if settings.events_folder.is_some() || settings.summary {
        cuda_driver::defer_findings();
    }
    let sink = SINK.get_or_init(|| create_sink(settings));
    observe();
    exit::at_exit(report);
    if let Sink::Local(_) = sink {
        exit::handle_signals();
    }
}

/// Makes the sink and the recording, if there are any, receive the simulator's events.
fn observe() {
    cuda_driver::set_observer(Box::new(|event| {
        if let Some(sink) = SINK.get() {
            receive(sink, &event);
        }
        if let Some(Recording { log, failures }) = &mut *RECORDING.lock()
            && let Some(event) = Event::from_simulator(&event, failures)
        {
            log.add(event);
        }
    }));
}

/// Creates the sink that the settings select.
fn create_sink(settings: Settings) -> Sink {
    let id = std::process::id();
    // If `cuda-run` has ended, its folder is gone; then this process reports what its settings request.
    let writer = settings.events_folder.as_ref().map(|folder| {
        let file = folder.join(id.to_string());
        EventWriter::create(&file, Judgement::Lenient)
    });
    if let Some(Ok(writer)) = writer {
        writer.write(&Event::Process(process_name()));
        return Sink::CudaRun(Box::new(writer), Mutex::new(None));
    }
    Sink::Local(Box::new(Local {
        settings,
        log: Mutex::default(),
        failures: Failures::default(),
    }))
}

fn gpu_info(device: &DeviceSpec) -> GpuInfo {
    let (major, minor) = device.compute_capability;
    let version = cuda_driver::SIMULATED_VERSION;
    GpuInfo {
        name: device.models.to_owned(),
        compute_capability: Capability(major as i32, minor as i32),
        driver: format!("{}.{}", version / 1000, version % 1000 / 10),
        time: Clock::Modelled,
    }
}

/// Handles one event of the simulator.
fn receive(sink: &Sink, event: &SimulatorEvent) {
    match sink {
        Sink::Local(local) => {
            if let Some(event) = Event::from_simulator(event, &local.failures) {
                local.log.lock().add(event);
            }
        }
        Sink::CudaRun(writer, last_calls) => {
            writer.write_simulator_event(event);
            let mut last_calls = last_calls.lock();
            if last_calls.is_none_or(|last| last.elapsed() >= CALLS_INTERVAL) {
                *last_calls = Some(Instant::now());
                writer.write(&Event::api_calls());
            }
        }
    }
}

/// Reports at the end of the program.
fn report() {
    // The events of a forked child belong to its parent.
    if cuda_driver::in_child() {
        return;
    }
    match SINK.get() {
        None => {}
        Some(Sink::CudaRun(writer, _)) => writer.finish(),
        Some(Sink::Local(local)) => local.report(),
    }
}

impl Local {
    fn report(&self) {
        let summary = {
            let mut log = self.log.lock();
            self.failures
                .events()
                .into_iter()
                .for_each(|event| log.add(event));
            log.add(Event::api_calls());
            log.summary("cuMemFree")
        };
        let title = format!("process {}, {}", std::process::id(), process_name());
        if let Some(log) = &self.settings.log {
            append(log, &summary.log(&title));
        }
        if summary.is_idle() {
            return;
        }
        if let Some(json) = &self.settings.json {
            let record = self::json(&summary, self.settings.profile);
            append(json, &(record + "\n"));
        }
        if self.settings.summary
            && let Some(gpu) = GPU.get()
        {
            let shown = TextOptions {
                profile: self.settings.profile,
                check: enabled_checks(),
                api: Api::Ignored,
                order: Order::Time,
                rerun_command: String::new(),
            };
            // In one write, because other processes may write to stderr at the same time.
            let message = format!("\nwarpbook: {title}\n\n{}\n", summary.text(&shown, gpu));
            let _ = io::stderr().lock().write_all(message.as_bytes());
        }
    }
}

/// Returns a record of this process as one line of JSON.
fn json(summary: &Summary, profile: Option<Detail>) -> String {
    let mut arguments = std::env::args_os().map(|argument| argument.to_string_lossy().into_owned());
    let run = Run {
        program: vec![arguments.next().unwrap_or_else(process_name)],
        arguments: arguments.collect(),
        status: None,
        ended: None,
    };
    let checks = enabled_checks();
    let problems = summary.problems(checks.is_some(), Api::Ignored, None);
    let record = Record::new(&run, GPU.get(), (profile, checks), summary, &problems);
    serde_json::to_string(&record).unwrap_or_default()
}

/// Returns the simulator's checks, or `None` if none is enabled.
fn enabled_checks() -> Option<Checks> {
    Some(active_checks()).filter(|checks| checks.enabled().next().is_some())
}

/// Returns the name of this process's program.
fn process_name() -> String {
    let executable = std::env::current_exe().ok();
    let name = executable.as_deref().and_then(Path::file_name);
    name.map_or_else(
        || "a program".to_owned(),
        |name| name.to_string_lossy().into_owned(),
    )
}

/// Appends text to a file in one write.
fn append(file: &Path, text: &str) {
    let written = OpenOptions::new().append(true).create(true).open(file);
    if let Err(error) = written.and_then(|mut to| to.write_all(text.as_bytes())) {
        warn(format_args!("{}: {error}", file.display()));
    }
}

/// The reports to produce at the end of the program.
#[derive(Debug, Default, PartialEq)]
struct Settings {
    /// The folder in which each process writes a file of events, which `cuda-run` reads and reports: [`EVENTS_VAR`].
    events_folder: Option<PathBuf>,
    /// True to print a summary on stderr.
    summary: bool,
    profile: Option<Detail>,
    json: Option<PathBuf>,
    log: Option<PathBuf>,
}

impl Settings {
    /// Reads the settings from the environment.
    ///
    /// # Errors
    ///
    /// Fails if a variable has an invalid value.
    fn from_env() -> Result<Self, String> {
        Self::parse(|name| {
            let value = var_os(name).filter(|value| !value.is_empty());
            value
                .map(|value| {
                    value
                        .into_string()
                        .map_err(|_| format!("{name} is not valid UTF-8"))
                })
                .transpose()
        })
    }

    fn parse(value: impl Fn(&str) -> Result<Option<String>, String>) -> Result<Self, String> {
        let file = |name| {
            let path = value(name)?.map(|path| std::path::absolute(&path).unwrap_or(path.into()));
            match path.as_deref().and_then(Path::parent) {
                Some(folder) if !folder.is_dir() => {
                    Err(format!("{name}: there is no folder {}", folder.display()))
                }
                _ => Ok(path),
            }
        };
        let profile = match value("CUDA_SIM_PROFILE")?.as_deref() {
            None => None,
            Some("summary") => Some(Detail::Summary),
            Some("lines") => Some(Detail::Lines),
            Some(other) => {
                return Err(format!(
                    "CUDA_SIM_PROFILE={other} is neither summary nor lines"
                ));
            }
        };
        let summary = match value("CUDA_SIM_SUMMARY")?.as_deref() {
            None | Some("0") => false,
            Some("1") => true,
            Some(other) => return Err(format!("CUDA_SIM_SUMMARY={other} is neither 1 nor 0")),
        };
        Ok(Settings {
            events_folder: value(EVENTS_VAR)?.map(PathBuf::from),
            summary: summary || profile.is_some(),
            profile,
            json: file("CUDA_SIM_JSON")?,
            log: file("CUDA_SIM_LOG")?,
        })
    }

    /// Returns true if launches must collect all counters.
    fn needs_counters(&self) -> bool {
        self.profile.is_some() || self.json.is_some()
    }

    /// Returns true if any report is requested.
    fn is_active(&self) -> bool {
        *self != Settings::default()
    }
}
