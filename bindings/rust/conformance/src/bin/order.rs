// SPDX-License-Identifier: MIT
//! The readings by name, so that a test can look at what was compiled of them. Run, it prints one.

use timebase::{Page, Reading};

#[no_mangle]
#[inline(never)]
pub fn order_ticks_ordered() -> u64 {
    timebase::ticks_ordered()
}

#[no_mangle]
#[inline(never)]
pub fn order_utc_ns(page: &Page) -> Option<i64> {
    page.utc_ns()
}

#[no_mangle]
#[inline(never)]
pub fn order_now(page: &Page) -> Option<Reading> {
    page.now()
}

#[no_mangle]
#[inline(never)]
pub fn order_at(page: &Page, ticks: u64) -> Option<Reading> {
    page.at(ticks)
}

#[no_mangle]
#[inline(never)]
pub fn order_utc_ns_unordered(page: &Page) -> Option<i64> {
    page.utc_ns_unordered()
}

fn main() {
    let page = Page::default();
    let seen =
        (order_utc_ns(&page), order_utc_ns_unordered(&page), order_now(&page), order_at(&page, 1));
    println!("{} {seen:?}", order_ticks_ordered());
}
