// SPDX-License-Identifier: MIT

//! Start-up of clock-bound's client on the synthetic segment. There is no daemon, so an error of
//! this clock would be an error of `clock_bound_segment`: none is asked for.

#[path = "../probe.rs"]
mod probe;

fn main() {
    let path =
        std::env::var("PEERS_CLOCK_BOUND_SEGMENT").expect("PEERS_CLOCK_BOUND_SEGMENT is not set");
    let mut client =
        clock_bound::Client::new_with_path(&path).expect("clock-bound: open the segment");
    probe::run(libc::CLOCK_REALTIME, false, || {
        let earliest = client.now().expect("clock-bound: now").earliest;
        earliest.tv_sec() * 1_000_000_000 + earliest.tv_nsec()
    });
}
