// SPDX-License-Identifier: MIT
//! C's own inline readings, and C's idea of the structures, for comparison.

fn main() {
    println!("cargo::rerun-if-changed=c");
    println!("cargo::rerun-if-changed=../../../include");
    if std::env::var_os("CARGO_FEATURE_SYS").is_some() {
        cc::Build::new()
            .std("gnu11")
            .opt_level(2)
            .include("../../../include")
            .files(["c/inline.c", "c/layout.c"])
            .compile("conformance");
    }
}
