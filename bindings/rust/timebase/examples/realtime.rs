// SPDX-License-Identifier: MIT
//! realtime: what does the kernel grant a punctual thread, and what is to be done about the rest?

use timebase::{Error, Realtime, RealtimeRequest};

fn main() -> Result<(), Error> {
    let realtime = Realtime::acquire(&RealtimeRequest::default())?;
    for granted in realtime.granted().iter() {
        println!("granted  {}", granted.name());
    }
    for refusal in realtime.refused() {
        let setting = refusal.setting;
        println!("refused  {}: {}\n         {}", setting.name(), refusal.reason, setting.advice());
    }
    // ... the punctual part: whatever was refused, it runs, only less punctually ...
    realtime.release()?;
    println!("given back: all");
    Ok(())
}
