//! Ring buffers of a trace instance, one file of pages per CPU.

use std::fs::{File, read_dir, write};
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags, open};

use crate::decoder::{Decoder, EventLayout, TraceEntry};
use crate::format::FormatError;
use crate::page::PageFormat;

/// Consuming read interface of a CPU's buffer.
const PIPE_NAME: &str = "trace_pipe_raw";

/// Buffer of a CPU.
struct Buffer {
    folder: PathBuf,
    cpu: u16,
    pipe: File,
}

/// Trace instance with open buffers.
pub(crate) struct Source<L> {
    instance: PathBuf,
    decoder: Decoder<L>,
    buffers: Vec<Buffer>,
    page: Vec<u8>,
}

impl<L: EventLayout> Source<L> {
    /// Open the buffers; `parse` makes the layout of each event from the text of its format.
    pub(crate) fn open<'a, K>(
        instance: &Path,
        events: impl IntoIterator<Item = (&'a str, K)>,
        parse: impl Fn(K, &str) -> Result<L, FormatError>,
    ) -> io::Result<Self> {
        let path = instance.join("events/header_page");
        let format = PageFormat::parse(&text(&path)?).map_err(|error| unusable(&path, &error))?;
        let layout = |(name, kind)| {
            let path = instance.join("events/block").join(name).join("format");
            parse(kind, &text(&path)?).map_err(|error| unusable(&path, &error))
        };
        let layouts = events.into_iter().map(layout).collect::<io::Result<_>>()?;
        let decoder = Decoder::new(format, layouts);
        Ok(Self {
            instance: instance.to_owned(),
            buffers: buffers(instance)?,
            page: vec![0; decoder.page_bytes()],
            decoder,
        })
    }

    /// Clear the buffers and start tracing.
    pub(crate) fn start_tracing(&self) -> io::Result<()> {
        // Opening it for writing clears the buffers and their counters.
        put(&self.instance.join("trace"), "")?;
        put(&self.instance.join("tracing_on"), "1")
    }

    /// Read all recorded entries; they are in time order per CPU only.
    pub(crate) fn drain(&mut self, entries: &mut Vec<TraceEntry<L::Event>>) -> io::Result<()> {
        for buffer in &mut self.buffers {
            let of = |error| io_error(&buffer.folder.join(PIPE_NAME), &error);
            while let Some(length) = read_page(&mut buffer.pipe, &mut self.page).map_err(of)? {
                let page = &self.page[..length];
                let decoded = self.decoder.decode(page, buffer.cpu, entries);
                decoded.map_err(|error| of(io::Error::new(ErrorKind::InvalidData, error)))?;
            }
        }
        Ok(())
    }

    /// Number of events lost since the start.
    pub(crate) fn lost_events(&self) -> io::Result<u64> {
        let stats = self
            .buffers
            .iter()
            .map(|buffer| buffer.folder.join("stats"));
        stats.map(|path| Ok(lost_events(&text(&path)?))).sum()
    }
}

/// Stop tracing; recorded events remain readable.
pub(crate) fn stop_tracing(instance: &Path) -> io::Result<()> {
    put(&instance.join("tracing_on"), "0")
}

/// Open the buffers of all CPUs.
fn buffers(instance: &Path) -> io::Result<Vec<Buffer>> {
    let path = instance.join("per_cpu");
    let found = read_dir(&path).map_err(|error| io_error(&path, &error))?;
    found.map(|entry| buffer(entry?.path())).collect()
}

fn buffer(folder: PathBuf) -> io::Result<Buffer> {
    let name = folder.file_name().and_then(|name| name.to_str());
    let cpu = name.and_then(|name| name.strip_prefix("cpu")?.parse().ok());
    let unnamed = || io::Error::new(ErrorKind::InvalidData, "its name is not cpuN");
    Ok(Buffer {
        cpu: cpu.ok_or_else(|| io_error(&folder, &unnamed()))?,
        pipe: pipe(&folder)?,
        folder,
    })
}

/// Open so that reading does not wait for more.
fn pipe(buffer: &Path) -> io::Result<File> {
    let path = buffer.join(PIPE_NAME);
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let opened = open(&path, flags, Mode::empty()).map_err(io::Error::from);
    Ok(opened.map_err(|error| io_error(&path, &error))?.into())
}

/// Read a page, possibly partial; `None` if it is empty.
fn read_page(pipe: &mut File, page: &mut [u8]) -> io::Result<Option<usize>> {
    loop {
        match pipe.read(page) {
            Ok(0) => return Ok(None),
            Ok(length) => return Ok(Some(length)),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(None),
            Err(error) => return Err(error),
        }
    }
}

/// Sum of the loss counters in `per_cpu/*/stats`.
fn lost_events(stats: &str) -> u64 {
    const LOSS_COUNTERS: [&str; 3] = ["overrun", "commit overrun", "dropped events"];
    let counted = stats.lines().filter_map(|line| line.split_once(": "));
    counted
        .filter(|(name, _)| LOSS_COUNTERS.contains(name))
        .filter_map(|(_, count)| count.trim().parse::<u64>().ok())
        .sum()
}

/// Read a file. The buffer holds a whole `header_page`, whose second read returns nothing.
fn text(path: &Path) -> io::Result<String> {
    const USUAL: usize = 16 << 10;
    let of = |error| io_error(path, &error);
    let mut file = File::open(path).map_err(of)?;
    let (mut bytes, mut length) = (vec![0; USUAL], 0);
    loop {
        match file.read(&mut bytes[length..]).map_err(of)? {
            0 => break,
            more => length += more,
        }
        if length == bytes.len() {
            bytes.resize(2 * length, 0);
        }
    }
    Ok(String::from_utf8_lossy(&bytes[..length]).into_owned())
}

fn put(path: &Path, value: &str) -> io::Result<()> {
    write(path, value).map_err(|error| io_error(path, &error))
}

fn io_error(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

fn unusable(path: &Path, error: &FormatError) -> io::Error {
    let message = format!("{}: {error}", path.display());
    io::Error::new(ErrorKind::InvalidData, message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Layout;

    #[test]
    fn a_damaged_page_is_reported_with_its_buffer() {
        let buffer = tempfile::tempdir().unwrap();
        let page = [&[0; 8][..], &64_u64.to_ne_bytes(), &[0; 10]].concat(); // 10 of 64
        write(buffer.path().join(PIPE_NAME), page).unwrap();
        let header = include_str!("../tests/recorded/header_page");
        let mut source = Source {
            instance: PathBuf::new(),
            decoder: Decoder::new(PageFormat::parse(header).unwrap(), Vec::<Layout>::new()),
            buffers: vec![Buffer {
                folder: buffer.path().to_owned(),
                cpu: 0,
                pipe: pipe(buffer.path()).unwrap(),
            }],
            page: vec![0; 4096],
        };
        let error = source.drain(&mut Vec::new()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidData);
        let message = error.to_string();
        assert!(
            message.contains(PIPE_NAME) && message.contains("damaged"),
            "{message}"
        );
    }

    #[test]
    fn a_text_of_any_length_is_read_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("format");
        for length in [0, 1, 16 << 10, (16 << 10) + 1, 100_000] {
            write(&path, "x".repeat(length)).unwrap();
            assert_eq!(text(&path).unwrap().len(), length);
        }
    }

    #[test]
    fn every_way_to_lose_an_event_counts() {
        let stats = "entries: 12\noverrun: 100\ncommit overrun: 20\nbytes: 4000\n\
            oldest event ts:  1122.362062\nnow ts:  1122.362062\ndropped events: 3\n\
            read events: 7\n";
        assert_eq!(lost_events(stats), 123);
    }
}
