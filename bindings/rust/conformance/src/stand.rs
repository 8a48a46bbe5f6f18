// SPDX-License-Identifier: MIT
//! The programs of bindings/conformance, and a folder for what they make.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// The project's root.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..").canonicalize().expect("the project")
}

/// `writer` or `pages`, as bindings/rust/check has built it for this machine.
pub fn program(name: &str) -> Command {
    let folder = std::env::var("TIMEBASE_CONFORMANCE").expect("bindings/rust/check sets it");
    let mut command = match std::env::var("TIMEBASE_RUNNER") {
        Ok(runner) if !runner.is_empty() => {
            let mut words = runner.split_whitespace();
            let mut command = Command::new(words.next().expect("a word"));
            command.args(words);
            command.arg(Path::new(&folder).join(name));
            command
        }
        _ => Command::new(Path::new(&folder).join(name)),
    };
    command.stdin(Stdio::null());
    command
}

/// QEMU gives its guests the host's counter by a plain read, which no fence of theirs can order: two
/// threads' readings cannot be compared there (tests/emulated.h).
pub fn is_emulated() -> bool {
    std::env::var("TIMEBASE_RUNNER").is_ok_and(|runner| !runner.is_empty())
}

/// How many readings a torture test makes.
pub fn reads() -> u64 {
    let text = std::env::var("TIMEBASE_TEST_READS").unwrap_or_else(|_| "4000000".into());
    text.parse().expect("TIMEBASE_TEST_READS is a number")
}

/// A folder that nobody else may write; removed at the end.
pub struct Folder(pub PathBuf);

impl Folder {
    pub fn new(name: &str) -> Self {
        use std::os::unix::fs::PermissionsExt;
        let path =
            std::env::temp_dir().join(format!("timebase-rust-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir(&path).expect("a folder");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o700)).expect("its mode");
        Self(path)
    }

    /// All files of `pages`.
    pub fn with_pages(name: &str) -> Self {
        let folder = Self::new(name);
        folder.make_pages();
        folder
    }

    pub fn make_pages(&self) {
        let status = program("pages").arg(&self.0).status().expect("pages runs");
        assert!(status.success());
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A writer at work; ended when dropped.
pub struct Writer(Child);

impl Writer {
    pub fn start(path: &Path, is_broken: bool) -> Self {
        let mut command = program("writer");
        if is_broken {
            command.arg("--broken");
        }
        command.arg(path).arg("300").stdout(Stdio::piped());
        let mut child = command.spawn().expect("writer runs");
        let mut line = String::new();
        let output = child.stdout.as_mut().expect("a pipe");
        BufReader::new(output).read_line(&mut line).expect("its first line");
        assert_eq!(line, "publishing\n");
        Self(child)
    }

    pub fn has_ended(&mut self) -> bool {
        self.0.try_wait().expect("its state").is_some()
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
