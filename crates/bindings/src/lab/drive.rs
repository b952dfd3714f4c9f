//! Python classes `DriveModel` and `RunningDrive`, and function `serve_drive`.

use std::path::PathBuf;

use iostudy_drive::{Completion, Drive, Nanos, Operation, Parameters, Request};
use iostudy_drive_device::{Place, serve};
use pyo3::prelude::*;

use crate::errors::value_error;

/// Operation, first block, number of blocks, and nanoseconds that the host idles before it.
type HostRequest = (String, u64, u32, u64);

#[pyclass(frozen, module = "iostudy._native")]
pub struct DriveModel {
    parameters: Parameters,
}

impl DriveModel {
    pub const fn parameters(&self) -> &Parameters {
        &self.parameters
    }
}

#[pymethods]
impl DriveModel {
    #[new]
    fn new(parameters: &str) -> PyResult<Self> {
        let parameters = serde_json::from_str(parameters)
            .map_err(|reason| value_error(format!("parameters of a drive: {reason}")))?;
        Ok(Self { parameters })
    }

    fn blocks(&self) -> u64 {
        Drive::new(self.parameters.clone()).blocks()
    }

    fn start(&self) -> RunningDrive {
        RunningDrive {
            host: Host::new(Drive::new(self.parameters.clone())),
        }
    }

    fn replay(
        &self,
        py: Python<'_>,
        requests: Vec<HostRequest>,
        depth: usize,
    ) -> PyResult<Vec<u64>> {
        let times = self.start().run(py, requests, depth)?;
        Ok(times.iter().map(|(start, end)| end - start).collect())
    }
}

#[pyclass(module = "iostudy._native")]
pub struct RunningDrive {
    host: Host,
}

#[pymethods]
impl RunningDrive {
    fn run(
        &mut self,
        py: Python<'_>,
        requests: Vec<HostRequest>,
        depth: usize,
    ) -> PyResult<Vec<(u64, u64)>> {
        py.detach(|| self.host.run(&requests, depth))
            .map_err(value_error)
    }
}

/// A host that keeps requests in flight on a drive.
struct Host {
    drive: Drive,
    now: Nanos,
    /// Times of submission and completion of the current requests.
    times: Vec<(u64, u64)>,
}

impl Host {
    const fn new(drive: Drive) -> Self {
        Self {
            drive,
            now: 0,
            times: Vec::new(),
        }
    }

    fn run(&mut self, requests: &[HostRequest], depth: usize) -> Result<Vec<(u64, u64)>, String> {
        self.times = vec![(0, 0); requests.len()];
        for (index, (operation, block, blocks, idle)) in requests.iter().enumerate() {
            while self.drive.in_flight() >= depth {
                self.complete_one()?;
            }
            let request = Request {
                id: index as u64,
                operation: parse(operation)?,
                block: *block,
                blocks: *blocks,
                fua: operation == "fua",
            };
            self.now += idle;
            self.drive
                .submit(self.now, request)
                .map_err(|reason| format!("request {index}: {reason}"))?;
            self.times[index].0 = self.now;
        }
        while self.drive.in_flight() > 0 {
            self.complete_one()?;
        }
        Ok(std::mem::take(&mut self.times))
    }

    fn complete_one(&mut self) -> Result<(), String> {
        loop {
            let time = self.drive.next_event().ok_or("a request never completes")?;
            if let Some(Completion { at, id }) = self.drive.complete(time) {
                let id = usize::try_from(id).map_err(|reason| reason.to_string())?;
                self.times[id].1 = at;
                self.now = self.now.max(at);
                return Ok(());
            }
        }
    }
}

fn parse(operation: &str) -> Result<Operation, String> {
    match operation {
        "read" => Ok(Operation::Read),
        "write" | "fua" => Ok(Operation::Write),
        "flush" => Ok(Operation::Flush),
        other => Err(format!(
            "operation {other:?}; expected read, write, fua or flush"
        )),
    }
}

/// Serve a drive until its mount point is unmounted; `serving` is called once it is there.
#[pyfunction]
pub fn serve_drive(
    py: Python<'_>,
    parameters: &str,
    mount_point: PathBuf,
    socket: Option<PathBuf>,
    memory_limit: u64,
    serving: Py<PyAny>,
) -> PyResult<()> {
    let parameters: Parameters = serde_json::from_str(parameters)
        .map_err(|reason| value_error(format!("parameters of a drive: {reason}")))?;
    let place = Place {
        mount_point,
        socket,
        memory_limit,
    };
    let mut called = Ok(());
    let ended = py.detach(|| {
        let drive = Drive::new(parameters);
        serve(drive, &place, || {
            called = Python::attach(|py| serving.call0(py).map(|_| ()));
        })
    });
    called?;
    Ok(ended?)
}
