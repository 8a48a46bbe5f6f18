// SPDX-License-Identifier: MIT
//! Declarations of `libtimebase`, made from its headers by bindgen. What the headers have inline is
//! not here: the crate `timebase` has it in Rust.
#![no_std]
#![allow(non_camel_case_types, non_upper_case_globals, missing_docs)]

mod bindings;
pub use bindings::*;
