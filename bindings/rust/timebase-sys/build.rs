// SPDX-License-Identifier: MIT
//! Finds libtimebase by pkg-config, or compiles the C that this package brings along.

use std::path::{Path, PathBuf};

/// The parts that make up the library for its users.
const PARTS: [&str; 3] = ["clock", "timeline", "timing"];

fn is_installed() -> bool {
    if std::env::var_os("CARGO_FEATURE_VENDORED").is_some() {
        return false;
    }
    let version = std::env::var("CARGO_PKG_VERSION").expect("cargo sets it");
    match pkg_config::Config::new().atleast_version(&version).probe("timebase") {
        Ok(_) => true,
        Err(why) => {
            println!(
                "cargo::warning=libtimebase is compiled from this package's sources ({})",
                first_line(&why)
            );
            false
        }
    }
}

fn first_line(why: &pkg_config::Error) -> String {
    why.to_string().lines().find(|line| !line.is_empty()).unwrap_or("pkg-config").to_owned()
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    let entries =
        std::fs::read_dir(folder).unwrap_or_else(|why| panic!("{}: {why}", folder.display()));
    for entry in entries {
        let path = entry.expect("a folder's entry").path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "c" || extension == "S") {
            found.push(path);
        }
    }
}

fn compile() {
    let mut found = Vec::new();
    for part in PARTS {
        sources(&Path::new("c/src").join(part), &mut found);
    }
    found.sort();
    let mut build = cc::Build::new();
    if std::env::var("CARGO_CFG_TARGET_POINTER_WIDTH").as_deref() == Ok("32") {
        build.define("_TIME_BITS", "64").define("_FILE_OFFSET_BITS", "64");
    }
    build
        .std("gnu11")
        .include("c/include")
        .include("c/src")
        .flag("-fvisibility=hidden")
        .opt_level(2)
        .files(&found)
        .compile("timebase");
    println!("cargo::rerun-if-changed=c/src");
    println!("cargo::rerun-if-changed=c/include");
    println!(
        "cargo::metadata=include={}",
        Path::new("c/include").canonicalize().expect("the headers").display()
    );
}

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=TIMEBASE_NO_PKG_CONFIG");
    if !is_installed() {
        compile();
    }
}
