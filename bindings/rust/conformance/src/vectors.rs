// SPDX-License-Identifier: MIT
//! The vectors of spec/page.md and spec/timeline.md.

use serde::{Deserialize, Deserializer};
use std::path::PathBuf;

#[derive(Deserialize)]
struct File<V> {
    vectors: Vec<V>,
}

#[derive(Deserialize)]
pub struct Vector {
    pub name: String,
    pub endian: String,
    #[serde(deserialize_with = "hex")]
    pub page_hex: Vec<u8>,
    #[serde(deserialize_with = "text_or_number")]
    pub valid: String,
    pub reads: Vec<Read>,
    pub inverse: Vec<Inverse>,
}

#[derive(Deserialize)]
pub struct Read {
    #[serde(deserialize_with = "number")]
    pub ticks: u64,
    #[serde(deserialize_with = "number")]
    pub mono_ns: i64,
    #[serde(deserialize_with = "number")]
    pub utc_ns: i64,
    #[serde(deserialize_with = "number")]
    pub tai_ns: i64,
    #[serde(deserialize_with = "number")]
    pub maxerror_ns: u64,
    #[serde(deserialize_with = "number")]
    pub utc_maxerror_ns: u64,
    #[serde(deserialize_with = "number")]
    pub esterror_ns: u64,
    pub flags: u32,
    pub is_current: bool,
}

#[derive(Deserialize)]
pub struct Inverse {
    pub mono_ns: Option<String>,
    pub utc_ns: Option<String>,
    #[serde(deserialize_with = "number")]
    pub ticks: u64,
}

#[derive(Deserialize)]
pub struct TimelineVector {
    pub name: String,
    pub segments: Vec<Segment>,
    pub reads: Vec<TimelineRead>,
}

#[derive(Deserialize)]
pub struct Segment {
    pub name: String,
    #[serde(deserialize_with = "hex")]
    pub hex: Vec<u8>,
}

#[derive(Deserialize)]
pub struct TimelineRead {
    pub boot: Option<String>,
    #[serde(deserialize_with = "number")]
    pub ticks: u64,
    pub error: Option<String>,
    pub mono_ns: Option<String>,
    pub utc_ns: Option<String>,
    pub maxerror_ns: Option<String>,
    pub utc_maxerror_ns: Option<String>,
    pub flags: Option<u32>,
}

pub fn bytes_of(text: &str) -> Vec<u8> {
    (0..text.len() / 2)
        .map(|at| u8::from_str_radix(&text[2 * at..2 * at + 2], 16).expect("hexadecimal"))
        .collect()
}

fn hex<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<u8>, D::Error> {
    Ok(bytes_of(&String::deserialize(from)?))
}

fn number<'de, D: Deserializer<'de>, N: std::str::FromStr>(from: D) -> Result<N, D::Error> {
    let text = String::deserialize(from)?;
    text.parse().map_err(|_| serde::de::Error::custom(format!("no number: {text}")))
}

fn text_or_number<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    Ok(match serde_json::Value::deserialize(from)? {
        serde_json::Value::String(text) => text,
        other => other.to_string(),
    })
}

fn load<V: for<'de> Deserialize<'de>>(path: PathBuf) -> Vec<V> {
    let text = std::fs::read_to_string(&path).expect("a vector file");
    let file: File<V> =
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    file.vectors
}

fn folder() -> PathBuf {
    crate::stand::root().join("spec/vectors")
}

/// All vectors of pages, file by file.
pub fn pages() -> Vec<Vector> {
    let files = std::fs::read_dir(folder()).expect("spec/vectors");
    let mut paths: Vec<_> = files.map(|file| file.expect("a file").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    paths.retain(|path| path.file_stem().is_some_and(|stem| stem != "timeline"));
    paths.sort();
    paths.into_iter().flat_map(load).collect()
}

/// All vectors of timelines.
pub fn timelines() -> Vec<TimelineVector> {
    load(folder().join("timeline.json"))
}
