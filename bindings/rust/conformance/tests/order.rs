// SPDX-License-Identifier: MIT
//! The order of docs/proof.md in the compiled code: the load of seq, what keeps the counter's read
//! behind it, the read, what keeps the last look at seq behind the lines, and that look.

use std::process::Command;

/// The disassembly of one function, addresses and bytes left out. Its code's name has a dot before
/// it on big-endian Power, where the name itself is that of a descriptor.
fn disassembly(function: &str) -> Vec<String> {
    let objdump = std::env::var("TIMEBASE_OBJDUMP").unwrap_or_else(|_| "objdump".into());
    let binary = env!("CARGO_BIN_EXE_order");
    let output = Command::new(&objdump)
        .args(["-d", "--no-show-raw-insn", binary])
        .output()
        .unwrap_or_else(|why| panic!("{objdump}: {why}"));
    let text = String::from_utf8(output.stdout).expect("text");
    let heads = [format!("<{function}>:"), format!("<.{function}>:")];
    let lines: Vec<String> = text
        .lines()
        .skip_while(|line| !heads.iter().any(|head| line.ends_with(head)))
        .skip(1)
        .take_while(|line| !line.is_empty())
        .filter_map(|line| line.trim().split_once(":\t"))
        .map(|(_, instruction)| instruction.split_whitespace().collect::<Vec<_>>().join(" "))
        .collect();
    assert!(!lines.is_empty(), "no {function} in {binary}");
    lines
}

/// Are the words of a pattern in the instruction, one after the other? SEQ stands for an operand,
/// whole: what is before it ends another.
fn matches(line: &str, pattern: &str, seq: &str) -> bool {
    let line = format!("{line} ");
    let mut rest = &line[..];
    pattern.split("..").all(|word| {
        let at = if word == "SEQ" {
            let is_operand = |at: &usize| rest[..*at].ends_with([' ', ',']);
            rest.match_indices(seq).map(|(at, _)| at).find(is_operand)
        } else {
            rest.find(word)
        };
        rest = at.map_or("", |at| &rest[at + 1..]);
        at.is_some()
    })
}

/// Where an instruction looks, as an operand: "(%rdi)", "[x0]", "0(a0)".
fn place(line: &str) -> Option<&str> {
    let bracket = line.find(['(', '['])?;
    let from = line[..bracket].rfind([' ', ',']).map_or(0, |at| at + 1);
    let to = bracket + line[bracket..].find([')', ']'])?;
    Some(&line[from..=to])
}

/// Does each of the patterns match an instruction, in this order? SEQ stands for the place that the
/// first of them looks at: that of the page's number, its first word.
fn find(function: &str, patterns: &[&str]) {
    let lines = disassembly(function);
    let mut rest = lines.iter();
    let mut seq = "";
    for pattern in patterns {
        let Some(line) = rest.find(|line| matches(line, pattern, seq)) else {
            let all = lines.join("\n");
            panic!("{function}: no `{pattern}` in its place of {patterns:?}, {seq}:\n{all}");
        };
        if seq.is_empty() {
            seq = place(line).unwrap_or_default();
        }
    }
}

/// None of these instructions may be in the function.
fn lacks(function: &str, patterns: &[&str]) {
    let lines = disassembly(function);
    for pattern in patterns {
        assert!(!lines.iter().any(|line| line.contains(pattern)), "{function}: {pattern}");
    }
}

struct Order {
    /// The load of seq with acquire order.
    first: &'static [&'static str],
    counter: &'static [&'static str],
    /// The fence, and the last look.
    last: &'static [&'static str],
    /// What an unordered reading lacks.
    ordering: &'static [&'static str],
}

#[cfg(target_arch = "x86_64")]
const ORDER: Order = Order {
    // Loads are not reordered with loads: no fence but the compiler's.
    first: &["mov (%r"],
    counter: &["rdtscp"],
    last: &["SEQ"],
    ordering: &["rdtscp", "lfence", "mfence"],
};

/// The lower half of seq, which is all of it there. Too few registers keep its place in one: the
/// last look is found by its comparison alone.
#[cfg(target_arch = "x86")]
const ORDER: Order = Order {
    first: &["mov ..(%e", "test %e"],
    counter: &["rdtscp"],
    last: &["cmp"],
    ordering: &["rdtscp", "lfence", "mfence"],
};

#[cfg(target_arch = "aarch64")]
const ORDER: Order = Order {
    first: &["lda"],
    counter: &["dsb ishld", "isb", "mrs x..cntvct_el0"],
    last: &["dmb ishld", "ldr x..SEQ"],
    ordering: &["dsb", "isb"],
};

#[cfg(target_arch = "powerpc64")]
const ORDER: Order = Order {
    // A load, a branch that depends on it, isync: acquire.
    first: &["ld r", "cmp", "bne", "isync"],
    counter: &["sync", "isync", "mf"],
    last: &["lwsync", "ld r..SEQ"],
    ordering: &["hwsync"],
};

#[cfg(target_arch = "riscv64")]
const ORDER: Order = Order {
    first: &["ld ", "fence r,rw"],
    counter: &["fence r,i", "rdtime"],
    last: &["fence r,rw", "ld ..SEQ"],
    ordering: &["fence r,i"],
};

#[cfg(target_arch = "s390x")]
const ORDER: Order =
    Order { first: &["ltg "], counter: &["stck "], last: &["g ..SEQ"], ordering: &["stck "] };

#[test]
fn of_a_reading_of_now() {
    for function in ["order_utc_ns", "order_now"] {
        find(function, &[ORDER.first, ORDER.counter, ORDER.last].concat());
    }
    find("order_ticks_ordered", ORDER.counter);
}

#[test]
fn of_a_conversion() {
    find("order_at", &[ORDER.first, ORDER.last].concat());
}

#[test]
fn an_unordered_reading_is_not_ordered() {
    lacks("order_utc_ns_unordered", ORDER.ordering);
}
