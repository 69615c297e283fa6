//! What happens in this process is gathered, or told to `cuda-run`.

use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::path::Path;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use common::gpu::{Capability, Clock, GpuInfo};
use cuda_driver::device::DeviceSpec;
use cuda_driver::{Event, checking, say};
use summary::record::{Record, Run};
use summary::text::Order;
use summary::wire::{Teller, Told};
use summary::{Gathered, Shown, Summary};

use crate::end;
use crate::settings::Settings;

/// How often the counts of calls are told while launches come. A process that ends without a word, by `_exit`
/// or by a crash, has told them lately.
const OFTEN: Duration = Duration::from_millis(500);

/// Who is told.
enum Ear {
    /// `cuda-run`.
    Teller(Teller, Mutex<Option<Instant>>),
    /// This process, which tells it at its end.
    Own(Box<Own>),
}

struct Own {
    settings: Settings,
    gpu: GpuInfo,
    gathered: Mutex<Gathered>,
}

static EAR: OnceLock<Ear> = OnceLock::new();

/// Gets ready for what the environment asks for, before the simulator is switched on.
pub fn prepare(device: &'static DeviceSpec) -> Result<(), String> {
    cuda_driver::end_launches_at_ctrl_c();
    let settings = Settings::read()?;
    if !settings.ask() {
        return Ok(());
    }
    cuda_driver::profile(settings.counts());
    if settings.told.is_some() || settings.summary {
        cuda_driver::check_quietly();
    }
    let ear = EAR.get_or_init(|| ear(settings, device));
    cuda_driver::observe(Box::new(|event| hear(ear, &event)));
    end::at_exit(ended);
    if let Ear::Own(_) = ear {
        end::at_signals();
    }
    Ok(())
}

fn ear(settings: Settings, device: &DeviceSpec) -> Ear {
    let id = std::process::id();
    // Where the command is gone the folder is too: then it is told here, if it is to be told at all.
    let teller = settings.told.as_ref();
    let teller = teller.and_then(|folder| Teller::create(&folder.join(id.to_string())).ok());
    if let Some(teller) = teller {
        teller.tell(&Told::Process(who()));
        return Ear::Teller(teller, Mutex::new(None));
    }
    let (major, minor) = device.compute_capability;
    let version = cuda_driver::SIMULATED_VERSION;
    let gpu = GpuInfo {
        name: device.models.to_owned(),
        compute_capability: Capability(major as i32, minor as i32),
        driver: format!("{}.{}", version / 1000, version % 1000 / 10),
        time: Clock::Modelled,
    };
    Ear::Own(Box::new(Own {
        settings,
        gpu,
        gathered: Mutex::default(),
    }))
}

fn hear(ear: &Ear, event: &Event) {
    match ear {
        Ear::Own(own) => lock(&own.gathered).add(Told::of(event)),
        Ear::Teller(teller, counted) => {
            teller.tell_event(event);
            let mut counted = lock(counted);
            if counted.is_none_or(|last| last.elapsed() >= OFTEN) {
                *counted = Some(Instant::now());
                teller.tell(&Told::calls());
            }
        }
    }
}

/// The program ends.
fn ended() {
    // What a child of `fork` was given is its parent's.
    if cuda_driver::in_child() {
        return;
    }
    match EAR.get() {
        None => {}
        Some(Ear::Teller(teller, _)) => teller.tell(&Told::calls()),
        Some(Ear::Own(own)) => own.tell(),
    }
}

impl Own {
    fn tell(&self) {
        let summary = {
            let mut gathered = lock(&self.gathered);
            gathered.add(Told::calls());
            gathered.summary("cuMemFree")
        };
        let who = format!("process {}, {}", std::process::id(), who());
        if let Some(log) = &self.settings.log {
            append(log, &summary::log::text(&who, &summary));
        }
        if summary.is_idle() {
            return;
        }
        if let Some(json) = &self.settings.json {
            append(json, &self.record(&summary));
        }
        if self.settings.summary {
            let shown = Shown {
                profile: self.settings.profile,
                check: Some(checking()).filter(|checks| checks.on().next().is_some()),
                order: Order::Time,
                again: String::new(),
            };
            // In one piece, as far as the system lets it: other processes may write there too.
            let text = format!("\nwarpbook: {who}\n\n{}\n", summary.text(&shown, &self.gpu));
            let _ = io::stderr().lock().write_all(text.as_bytes());
        }
    }

    fn record(&self, summary: &Summary) -> String {
        let mut words = std::env::args_os().map(|word| word.to_string_lossy().into_owned());
        let run = Run {
            program: words.next().into_iter().collect(),
            arguments: words.collect(),
            status: None,
            ended: None,
        };
        let checks = Some(checking()).filter(|checks| checks.on().next().is_some());
        let record = Record::new(&run, &self.gpu, (self.settings.profile, checks), summary);
        serde_json::to_string(&record).unwrap_or_default() + "\n"
    }
}

/// What the process is called.
fn who() -> String {
    let own = std::env::current_exe().ok();
    let name = own.as_deref().and_then(Path::file_name);
    name.map_or_else(
        || "a program".to_owned(),
        |name| name.to_string_lossy().into_owned(),
    )
}

/// Adds to a file, in one piece.
fn append(file: &Path, text: &str) {
    let written = OpenOptions::new().append(true).create(true).open(file);
    if let Err(error) = written.and_then(|mut to| to.write_all(text.as_bytes())) {
        say(format_args!("{}: {error}", file.display()));
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
