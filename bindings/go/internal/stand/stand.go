// SPDX-License-Identifier: MIT

// Package stand tries the readers against what all languages are tried against, the C programs of
// bindings/conformance: a live writer, and files good and bad. It has tests alone; bindings/go/check
// says where the programs are.
package stand
