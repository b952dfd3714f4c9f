//! Reads a file of HDFS by hdfs-native alone: the peer of `benches.hdfs_mount`.
//!
//! `direct FILESYSTEM PATH` reads it once in order; `direct FILESYSTEM PATH SIZE OFFSET...` reads
//! ranges. It prints the seconds of each as a line.

use std::env;
use std::error::Error;
use std::time::Instant;

use futures::StreamExt;
use hdfs_native::ClientBuilder;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [filesystem, path, ranges @ ..] = arguments.as_slice() else {
        return Err("usage: direct FILESYSTEM PATH [SIZE OFFSET...]".into());
    };
    let client = ClientBuilder::new().with_url(filesystem).build()?;
    let file = client.read(path).await?;
    let Some((size, offsets)) = ranges.split_first() else {
        let begin = Instant::now();
        let mut stream = Box::pin(file.read_range_stream(0, file.file_length()));
        while let Some(bytes) = stream.next().await {
            bytes?;
        }
        println!("{}", begin.elapsed().as_secs_f64());
        return Ok(());
    };
    for offset in offsets {
        let begin = Instant::now();
        file.read_range(offset.parse()?, size.parse()?).await?;
        println!("{}", begin.elapsed().as_secs_f64());
    }
    Ok(())
}
