//! Reads of one open file: a read buffer, filled from one stream while reads are sequential.
//!
//! Every range that is requested from HDFS starts a new read of a block at a `DataNode`. So the stream
//! is kept while reads follow each other, and reads ahead by itself. The buffer has the rules of
//! Hadoop's fuse-dfs: another request that is smaller than the buffer fills it from the position of
//! the request, and one of its size or more bypasses it.

use std::sync::Arc;

use bytes::Bytes;
use futures::StreamExt;
use futures::stream::BoxStream;
use hdfs_native::file::FileReader;
use hdfs_native::{HdfsError, Result};

use crate::statistics::{Statistics, add};

/// A file of which ranges can be streamed.
pub trait Source {
    /// Bytes of the file.
    fn length(&self) -> usize;
    /// The `length` bytes from `offset` on, which are within the file.
    fn stream(&self, offset: usize, length: usize) -> BoxStream<'static, Result<Bytes>>;
}

impl Source for FileReader {
    fn length(&self) -> usize {
        self.file_length()
    }

    fn stream(&self, offset: usize, length: usize) -> BoxStream<'static, Result<Bytes>> {
        self.read_range_stream(offset, length).boxed()
    }
}

/// A stream up to `end`, and the first bytes of it, which were received and not used yet.
struct OpenStream {
    received: Bytes,
    rest: BoxStream<'static, Result<Bytes>>,
    end: usize,
}

/// Bytes of the file in memory, from `start` on.
#[derive(Default)]
struct Buffer {
    start: usize,
    bytes: Vec<u8>,
}

impl Buffer {
    fn end(&self) -> usize {
        self.start + self.bytes.len()
    }

    fn contains(&self, offset: usize, end: usize) -> bool {
        self.start <= offset && end <= self.end()
    }

    /// Let the buffer begin at `offset`, and keep the bytes that it has from there on.
    fn begin_at(&mut self, offset: usize) {
        if self.contains(offset, offset) {
            self.bytes.drain(..offset - self.start);
        } else {
            self.bytes.clear();
        }
        self.start = offset;
    }
}

/// The buffer and the stream of an open file.
pub struct Reader<S> {
    source: S,
    buffer_bytes: usize,
    buffer: Buffer,
    stream: Option<OpenStream>,
    /// Position of the stream, or the end of what was read last: a read from there is sequential.
    position: usize,
    statistics: Arc<Statistics>,
}

impl<S: Source> Reader<S> {
    /// A reader at the begin of the file.
    pub fn new(source: S, buffer_bytes: usize, statistics: Arc<Statistics>) -> Self {
        Self {
            source,
            buffer_bytes,
            buffer: Buffer::default(),
            stream: None,
            position: 0,
            statistics,
        }
    }

    /// Bytes of the file.
    pub fn length(&self) -> usize {
        self.source.length()
    }

    /// Read on from another source of the same file.
    pub fn replace_source(&mut self, source: S) {
        self.source = source;
        self.stream = None;
    }

    /// Receive the bytes of a request; `bytes` returns them.
    ///
    /// # Errors
    ///
    /// HDFS could not deliver them. What was received until then stays in the buffer.
    pub async fn receive(&mut self, offset: usize, size: usize) -> Result<()> {
        let end = self.end_of(offset, size);
        if offset >= end || self.buffer.contains(offset, end) {
            return Ok(());
        }
        let sequential = self.buffer.contains(offset, offset);
        let filled = if sequential {
            end
        } else {
            end.max(self.end_of(offset, self.buffer_bytes))
        };
        self.buffer.begin_at(offset);
        self.buffer.bytes.reserve_exact(filled - self.buffer.end());
        while self.buffer.end() < filled {
            let position = self.buffer.end();
            let received = self.receive_up_to(position, filled).await?;
            self.buffer.bytes.extend_from_slice(&received);
        }
        Ok(())
    }

    /// The bytes of a request that were received: fewer at the end of the file.
    pub fn bytes(&self, offset: usize, size: usize) -> &[u8] {
        let end = self.end_of(offset, size);
        if offset >= end {
            return &[];
        }
        &self.buffer.bytes[offset - self.buffer.start..end - self.buffer.start]
    }

    fn end_of(&self, offset: usize, size: usize) -> usize {
        offset.saturating_add(size).min(self.source.length())
    }

    /// The next bytes from `position` on, at least one and none beyond `end`.
    async fn receive_up_to(&mut self, position: usize, end: usize) -> Result<Bytes> {
        let mut stream = match self.stream.take() {
            Some(stream) if self.position == position => stream,
            _ => self.open(position, end),
        };
        while stream.received.is_empty() {
            stream.received = stream.rest.next().await.unwrap_or_else(|| {
                let reason = format!("the data end at {position}, before {end}");
                Err(HdfsError::DataTransferError(reason))
            })?;
        }
        let count = stream.received.len().min(end - position);
        let bytes = stream.received.split_to(count);
        self.position = position + count;
        self.stream = Some(stream).filter(|stream| self.position < stream.end);
        Ok(bytes)
    }

    /// A stream up to the end of the file for a sequential read, else up to `end`.
    fn open(&self, position: usize, end: usize) -> OpenStream {
        let end = if position == self.position {
            self.source.length()
        } else {
            end
        };
        add(&self.statistics.streams, 1);
        OpenStream {
            received: Bytes::new(),
            rest: self.source.stream(position, end - position),
            end,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::sync::atomic::Ordering;

    use futures::executor::block_on;
    use futures::stream;

    use super::*;

    const LENGTH: usize = 10_000;
    const PACKET: usize = 64;

    /// A file of known bytes. Its streams fail `failures` times in all.
    #[derive(Default)]
    struct Fake {
        failures: Cell<usize>,
    }

    fn byte(position: usize) -> u8 {
        u8::try_from(position * 7 % 251).unwrap()
    }

    fn expected(offset: usize, size: usize) -> Vec<u8> {
        (offset..(offset + size).min(LENGTH)).map(byte).collect()
    }

    impl Source for Fake {
        fn length(&self) -> usize {
            LENGTH
        }

        fn stream(&self, offset: usize, length: usize) -> BoxStream<'static, Result<Bytes>> {
            let bytes = expected(offset, length);
            let mut packets: Vec<Result<Bytes>> = bytes
                .chunks(PACKET)
                .map(|packet| Ok(Bytes::copy_from_slice(packet)))
                .collect();
            if self.failures.get() > 0 {
                self.failures.set(self.failures.get() - 1);
                packets.truncate(2);
                packets.push(Err(HdfsError::ChecksumError));
            }
            stream::iter(packets).boxed()
        }
    }

    fn reader(buffer_bytes: usize) -> Reader<Fake> {
        Reader::new(Fake::default(), buffer_bytes, Arc::default())
    }

    fn read(reader: &mut Reader<Fake>, offset: usize, size: usize) {
        block_on(reader.receive(offset, size)).unwrap();
        assert_eq!(reader.bytes(offset, size), expected(offset, size));
    }

    fn streams(reader: &Reader<Fake>) -> u64 {
        reader.statistics.streams.load(Ordering::Relaxed)
    }

    #[test]
    fn sequential_reads_share_one_stream() {
        for buffer_bytes in [1, 100, 128, 1000, 3 * LENGTH] {
            let mut reader = reader(buffer_bytes);
            for offset in (0..LENGTH).step_by(128) {
                read(&mut reader, offset, 128);
            }
            assert_eq!(streams(&reader), 1, "buffer of {buffer_bytes}");
        }
    }

    #[test]
    fn a_sequential_read_waits_for_its_own_bytes_only() {
        let mut reader = reader(1000);
        for offset in (0..2000).step_by(100) {
            read(&mut reader, offset, 100);
            assert_eq!(reader.buffer.bytes.len(), 100);
        }
    }

    #[test]
    fn a_random_read_requests_its_buffer_and_no_more() {
        let mut reader = reader(1000);
        read(&mut reader, 5000, 100);
        assert_eq!(reader.buffer.bytes.len(), 1000);
        read(&mut reader, 5900, 100);
        assert_eq!(streams(&reader), 1);
        read(&mut reader, 2000, 100);
        assert_eq!(streams(&reader), 2);
    }

    #[test]
    fn reads_that_become_sequential_get_a_stream_of_their_own() {
        let mut reader = reader(1);
        for offset in (4000..8000).step_by(200) {
            read(&mut reader, offset, 200);
        }
        assert_eq!(
            streams(&reader),
            2,
            "the first range, and the rest of the file"
        );
    }

    #[test]
    fn a_request_of_the_size_of_the_buffer_bypasses_it() {
        let mut reader = reader(1000);
        read(&mut reader, 5000, 1000);
        read(&mut reader, 1000, 3000);
        assert_eq!(reader.buffer.bytes.len(), 3000);
    }

    #[test]
    fn a_request_across_the_end_of_the_buffer_receives_only_the_rest() {
        let mut reader = reader(1000);
        read(&mut reader, 0, 600);
        read(&mut reader, 600, 600);
        assert_eq!(streams(&reader), 1);
        assert_eq!((reader.buffer.start, reader.buffer.bytes.len()), (600, 600));
    }

    #[test]
    fn reads_at_and_beyond_the_end_are_short() {
        let mut reader = reader(1000);
        read(&mut reader, LENGTH - 10, 100);
        assert_eq!(reader.bytes(LENGTH - 10, 100).len(), 10);
        read(&mut reader, LENGTH, 100);
        read(&mut reader, usize::MAX, 100);
        assert_eq!(streams(&reader), 1);
    }

    #[test]
    fn a_failed_read_is_repeated_from_where_it_failed() {
        let mut reader = reader(1000);
        reader.source.failures.set(1);
        assert!(block_on(reader.receive(0, 500)).is_err());
        assert_eq!(reader.buffer.bytes.len(), 2 * PACKET);
        reader.replace_source(Fake::default());
        read(&mut reader, 0, 500);
        assert_eq!(streams(&reader), 2);
    }
}
