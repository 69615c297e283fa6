//! A stand-in for `nvidia-smi`, which programs and scripts run to find out which GPUs there are. It lists the simulated
//! ones. `cuda-run -- PROGRAM` puts it on the PATH of the program.
//!
//! Flags and formats are those of NVIDIA's manual page of nvidia-smi.

use std::ffi::OsString;
use std::io::{self, ErrorKind, Write as _};
use std::path::Path;

use anyhow::{Context as _, Result, anyhow, bail};
use chapter::text::table;
use clap::Parser;
use common::error::{describe, note};
use cuda_driver::{
    SIMULATED_DRIVER, SIMULATED_VERSION, configured_devices, device_bus_id, device_memory,
    device_uuid_text,
};

/// The name under which this program acts as nvidia-smi.
pub const NAME: &str = "nvidia-smi";

/// Lists the GPUs that Warpbook simulates. A stand-in for NVIDIA's program with the flags that scripts use
#[derive(Parser)]
#[command(name = NAME)]
struct Flags {
    /// List the GPUs, one per line
    #[arg(short = 'L', long = "list-gpus")]
    list: bool,

    /// Print these properties, separated by commas; --help-query-gpu lists them
    #[arg(long, value_name = "PROPERTIES", requires = "format")]
    query_gpu: Option<String>,

    /// The format of --query-gpu: csv, csv,noheader or csv,noheader,nounits
    #[arg(long)]
    format: Option<String>,

    /// Show only the GPU with this index, UUID or bus address
    #[arg(short, long, value_name = "GPU")]
    id: Option<String>,

    /// List the properties that --query-gpu accepts
    #[arg(long)]
    help_query_gpu: bool,
}

/// A property of a GPU.
struct Property {
    /// The names that --query-gpu accepts. The first is in the header.
    names: &'static [&'static str],
    unit: &'static str,
    /// Returns the value without its unit. A property of hardware only has none.
    value: fn(&Gpu) -> Option<String>,
}

/// Makes a row of the table of properties.
const fn property(
    names: &'static [&'static str],
    unit: &'static str,
    value: fn(&Gpu) -> Option<String>,
) -> Property {
    Property { names, unit, value }
}

/// Returns no value: the property is one of hardware only.
fn unavailable(_: &Gpu) -> Option<String> {
    None
}

const PROPERTIES: &[Property] = &[
    property(&["index"], "", |gpu| Some(gpu.index.to_string())),
    property(&["name", "gpu_name"], "", |gpu| {
        Some(gpu.device.name.to_owned())
    }),
    property(&["uuid", "gpu_uuid"], "", |gpu| Some(gpu.uuid())),
    property(&["count"], "", |gpu| Some(gpu.count.to_string())),
    property(&["driver_version"], "", |_| {
        Some(SIMULATED_DRIVER.to_owned())
    }),
    property(&["pci.bus_id", "gpu_bus_id"], "", |gpu| Some(gpu.bus_id())),
    property(&["compute_cap"], "", |gpu| {
        let (major, minor) = gpu.device.compute_capability;
        Some(format!("{major}.{minor}"))
    }),
    property(&["memory.total"], "MiB", |gpu| {
        Some(mebibytes(gpu.memory().1))
    }),
    property(&["memory.used"], "MiB", |gpu| {
        let (free, total) = gpu.memory();
        Some(mebibytes(total - free))
    }),
    property(&["memory.free"], "MiB", |gpu| {
        Some(mebibytes(gpu.memory().0))
    }),
    property(&["clocks.sm", "clocks.current.sm"], "MHz", clock),
    property(
        &["clocks.gr", "clocks.current.graphics", "clocks.max.gr"],
        "MHz",
        clock,
    ),
    property(&["clocks.max.sm", "clocks.max.graphics"], "MHz", clock),
    property(
        &[
            "clocks.mem",
            "clocks.current.memory",
            "clocks.max.mem",
            "clocks.max.memory",
        ],
        "MHz",
        |gpu| Some((gpu.device.memory_clock_khz / 1000).to_string()),
    ),
    property(&["utilization.gpu"], "%", unavailable),
    property(&["utilization.memory"], "%", unavailable),
    property(&["temperature.gpu"], "", unavailable),
    property(&["power.draw"], "W", unavailable),
    property(&["power.limit"], "W", unavailable),
    property(&["fan.speed"], "%", unavailable),
    property(&["pstate"], "", unavailable),
    property(&["persistence_mode"], "", |_| Some("Disabled".to_owned())),
    property(&["display_mode"], "", |_| Some("Disabled".to_owned())),
    property(&["compute_mode"], "", |_| Some("Default".to_owned())),
    property(&["mig.mode.current"], "", unavailable),
];

fn clock(gpu: &Gpu) -> Option<String> {
    Some((gpu.device.clock_khz / 1000).to_string())
}

fn mebibytes(bytes: u64) -> String {
    (bytes >> 20).to_string()
}

/// A simulated GPU.
struct Gpu {
    index: u32,
    /// The number of GPUs.
    count: u32,
    device: &'static cuda_driver::device::DeviceSpec,
}

impl Gpu {
    fn uuid(&self) -> String {
        device_uuid_text(self.index)
    }

    fn bus_id(&self) -> String {
        format!("0000{}", device_bus_id(self.index)).to_uppercase()
    }

    /// Returns free and total memory in bytes.
    fn memory(&self) -> (u64, u64) {
        device_memory(self.device, self.count, self.index)
    }

    /// Returns true if `--id` selects this GPU.
    fn is_named(&self, id: &str) -> bool {
        let same = |other: &str| id.eq_ignore_ascii_case(other);
        same(&self.index.to_string()) || same(&self.uuid()) || same(&self.bus_id())
    }
}

/// Returns true if this program was called as nvidia-smi.
pub fn is_called(words: &[OsString]) -> bool {
    let name = words.first().map(Path::new).and_then(Path::file_name);
    name.is_some_and(|name| name == NAME)
}

/// Runs the stand-in for nvidia-smi and returns the exit status.
pub fn main(words: &[OsString]) -> i32 {
    let flags = Flags::parse_from(words);
    let written = |text: String| -> Result<()> {
        let mut stdout = io::stdout().lock();
        match stdout
            .write_all(text.as_bytes())
            .and_then(|()| stdout.flush())
        {
            // The reader, such as head, has exited.
            Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
            result => result.context("cannot write to standard output"),
        }
    };
    match report(&flags).and_then(written) {
        Ok(()) => 0,
        Err(error) => {
            note(format_args!("{NAME}: error: {}", describe(&error)));
            // NVIDIA's exit status for an invalid argument.
            2
        }
    }
}

/// Returns the output.
fn report(flags: &Flags) -> Result<String> {
    let (device, count) = configured_devices()
        .map_err(|_| anyhow!("the simulated GPUs are not configured correctly"))?;
    let gpus = (0..count).map(|index| Gpu {
        index,
        count,
        device,
    });
    let id = flags.id.as_deref();
    let gpus: Vec<Gpu> = gpus
        .filter(|gpu| id.is_none_or(|id| gpu.is_named(id)))
        .collect();
    if let (Some(id), true) = (id, gpus.is_empty()) {
        bail!(
            "there is no GPU {id}: use its index, 0 to {}, its UUID or its bus address",
            count - 1
        );
    }
    if flags.help_query_gpu {
        let names = PROPERTIES.iter().map(|property| property.names.join(", "));
        return Ok(names.map(|names| names + "\n").collect());
    }
    if let Some(names) = &flags.query_gpu {
        return query(&gpus, names, flags.format.as_deref().unwrap_or_default());
    }
    if flags.list {
        let lines = gpus.iter().map(|gpu| {
            format!(
                "GPU {}: {} (UUID: {})\n",
                gpu.index,
                gpu.device.name,
                gpu.uuid()
            )
        });
        return Ok(lines.collect());
    }
    Ok(overview(&gpus))
}

/// Returns the properties in CSV.
fn query(gpus: &[Gpu], names: &str, format: &str) -> Result<String> {
    let words: Vec<&str> = format.split(',').map(str::trim).collect();
    if !words.contains(&"csv") {
        bail!("--format={format} must contain csv");
    }
    if let Some(other) = words
        .iter()
        .find(|word| !["csv", "noheader", "nounits"].contains(word))
    {
        bail!("--format={format} contains {other}, which is not csv, noheader or nounits");
    }
    let units = !words.contains(&"nounits");
    let properties = names.split(',').map(|name| {
        let name = name.trim();
        let mut all = PROPERTIES.iter();
        all.find(|property| property.names.contains(&name))
            .ok_or_else(|| {
                anyhow!("Field \"{name}\" is not a valid field to query: see --help-query-gpu")
            })
    });
    let properties = properties.collect::<Result<Vec<&Property>>>()?;
    let header = properties.iter().map(|property| match property.unit {
        "" => property.names[0].to_owned(),
        unit => format!("{} [{unit}]", property.names[0]),
    });
    let rows = gpus.iter().map(|gpu| {
        let values =
            properties
                .iter()
                .map(|property| match ((property.value)(gpu), property.unit) {
                    (None, _) => "[N/A]".to_owned(),
                    (Some(value), unit) if units && !unit.is_empty() => format!("{value} {unit}"),
                    (Some(value), _) => value,
                });
        values.collect::<Vec<_>>()
    });
    let header = (!words.contains(&"noheader")).then(|| header.collect());
    let lines = header.into_iter().chain(rows);
    Ok(lines
        .map(|values: Vec<String>| values.join(", ") + "\n")
        .collect())
}

/// Returns a table of the GPUs.
fn overview(gpus: &[Gpu]) -> String {
    let cuda = format!(
        "{}.{}",
        SIMULATED_VERSION / 1000,
        SIMULATED_VERSION % 1000 / 10
    );
    let rows = gpus.iter().map(|gpu| {
        let (free, total) = gpu.memory();
        let used = format!("{} / {} MiB", mebibytes(total - free), mebibytes(total));
        vec![
            gpu.index.to_string(),
            gpu.device.name.to_owned(),
            gpu.bus_id(),
            used,
        ]
    });
    format!(
        "Simulated by Warpbook: driver {}, CUDA {cuda}. There is no NVIDIA GPU.\n\n{}\n",
        SIMULATED_DRIVER,
        table(&["GPU", "name", "bus", "memory used"], rows)
    )
}
