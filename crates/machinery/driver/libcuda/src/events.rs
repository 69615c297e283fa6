//! Collection of events in this process, to be reported at its end or sent to `cuda-run`.

use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::path::Path;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use common::gpu::{Capability, Clock, GpuInfo};
use cuda_driver::device::DeviceSpec;
use cuda_driver::{Event as SimulatorEvent, active_checks, warn};
use summary::record::{Record, Run};
use summary::text::Order;
use summary::wire::{Event, EventWriter};
use summary::{EventLog, Summary, TextOptions};

use crate::exit;
use crate::settings::Settings;

/// Interval at which call counts are written while launches come. A process that ends without exit handlers,
/// by `_exit` or a crash, has written recent counts.
const CALLS_INTERVAL: Duration = Duration::from_millis(500);

/// The destination of events.
enum Sink {
    /// To `cuda-run`, with the time of the last call counts.
    CudaRun(EventWriter, Mutex<Option<Instant>>),
    /// To this process, which reports them at its end.
    Local(Box<Local>),
}

/// The events of this process, and the settings of its report.
struct Local {
    settings: Settings,
    gpu: GpuInfo,
    log: Mutex<EventLog>,
}

static SINK: OnceLock<Sink> = OnceLock::new();

/// Prepares the requested reports, before the simulator starts.
pub fn prepare(device: &'static DeviceSpec) -> Result<(), String> {
    cuda_driver::interrupt_launches_on_ctrl_c();
    let settings = Settings::from_env()?;
    if !settings.is_active() {
        return Ok(());
    }
    cuda_driver::profile(settings.needs_counters());
    if settings.events_folder.is_some() || settings.summary {
        cuda_driver::silence_findings();
    }
    let sink = SINK.get_or_init(|| create_sink(settings, device));
    cuda_driver::set_observer(Box::new(|event| receive(sink, &event)));
    exit::at_exit(report_at_exit);
    if let Sink::Local(_) = sink {
        exit::handle_signals();
    }
    Ok(())
}

/// Creates the sink that the settings select.
fn create_sink(settings: Settings, device: &DeviceSpec) -> Sink {
    let id = std::process::id();
    // If `cuda-run` has ended, its folder is gone; then this process reports what its settings request.
    let writer = settings.events_folder.as_ref();
    let writer = writer.and_then(|folder| EventWriter::create(&folder.join(id.to_string())).ok());
    if let Some(writer) = writer {
        writer.write(&Event::Process(process_name()));
        return Sink::CudaRun(writer, Mutex::new(None));
    }
    let (major, minor) = device.compute_capability;
    let version = cuda_driver::SIMULATED_VERSION;
    let gpu = GpuInfo {
        name: device.models.to_owned(),
        compute_capability: Capability(major as i32, minor as i32),
        driver: format!("{}.{}", version / 1000, version % 1000 / 10),
        time: Clock::Modelled,
    };
    Sink::Local(Box::new(Local {
        settings,
        gpu,
        log: Mutex::default(),
    }))
}

/// Handles one event of the simulator.
fn receive(sink: &Sink, event: &SimulatorEvent) {
    match sink {
        Sink::Local(local) => lock(&local.log).add(Event::from_simulator(event)),
        Sink::CudaRun(writer, last_calls) => {
            writer.write_simulator_event(event);
            let mut last_calls = lock(last_calls);
            if last_calls.is_none_or(|last| last.elapsed() >= CALLS_INTERVAL) {
                *last_calls = Some(Instant::now());
                writer.write(&Event::api_calls());
            }
        }
    }
}

/// Reports at the end of the program.
fn report_at_exit() {
    // The events of a forked child belong to its parent.
    if cuda_driver::in_child() {
        return;
    }
    match SINK.get() {
        None => {}
        Some(Sink::CudaRun(writer, _)) => writer.write(&Event::api_calls()),
        Some(Sink::Local(local)) => local.report(),
    }
}

impl Local {
    fn report(&self) {
        let summary = {
            let mut log = lock(&self.log);
            log.add(Event::api_calls());
            log.summary("cuMemFree")
        };
        let title = format!("process {}, {}", std::process::id(), process_name());
        if let Some(log) = &self.settings.log {
            append(log, &summary::log::text(&title, &summary));
        }
        if summary.is_idle() {
            return;
        }
        if let Some(json) = &self.settings.json {
            append(json, &self.record(&summary));
        }
        if self.settings.summary {
            let shown = TextOptions {
                profile: self.settings.profile,
                check: Some(active_checks()).filter(|checks| checks.enabled().next().is_some()),
                order: Order::Time,
                rerun_command: String::new(),
            };
            // In one write, because other processes may write to stderr at the same time.
            let message = format!(
                "\nwarpbook: {title}\n\n{}\n",
                summary.text(&shown, &self.gpu)
            );
            let _ = io::stderr().lock().write_all(message.as_bytes());
        }
    }

    fn record(&self, summary: &Summary) -> String {
        let mut arguments =
            std::env::args_os().map(|argument| argument.to_string_lossy().into_owned());
        let run = Run {
            program: arguments.next().into_iter().collect(),
            arguments: arguments.collect(),
            status: None,
            ended: None,
        };
        let checks = Some(active_checks()).filter(|checks| checks.enabled().next().is_some());
        let record = Record::new(&run, &self.gpu, (self.settings.profile, checks), summary);
        serde_json::to_string(&record).unwrap_or_default() + "\n"
    }
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

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
