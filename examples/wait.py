# SPDX-License-Identifier: MIT
"""wait: begin at an instant, and see how well that went."""

import timebase
from timebase import WaitFlag

clock = timebase.default_clock()

# What the kernel refuses is left as it was; the waits are less punctual then. All of it is given
# back at the end of the block.
with timebase.Realtime() as realtime:
    for refusal in realtime.refused:
        print(f"no {refusal.name}: {refusal.reason}. {refusal.advice}")

    waiter = timebase.Waiter()  # after that: it learns the CPU that the thread is on
    learnt = waiter.describe()
    print(f"waits end by: {learnt.mechanism.name}, in steps of {learnt.instruction_ns:.2f} ns")

    for _ in range(50):  # and how long waking up takes, before it matters
        waiter.until_mono(clock.mono_ns() + 1_000_000, WaitFlag.SLEEP)

    for name, flags in [
        ("plain", WaitFlag.PLAIN),
        ("exact", WaitFlag(0)),
        ("never early", WaitFlag.NEVER_EARLY),
        ("sleeping", WaitFlag.SLEEP | WaitFlag.PREPARE),
    ]:
        results = [waiter.until_mono(clock.mono_ns() + 500_000, flags) for _ in range(200)]
        errors = sorted(abs(result.error_ns) for result in results)  # all of them
        late = sum(result.late for result in results)
        disturbed = sum(bool(result.disturbance) for result in results)
        print(
            f"{name:12} half within {errors[99]:.1f} ns, 9 of 10 within {errors[179]:.1f} ns; "
            f"{late} late, {disturbed} disturbed of {len(results)}"
        )

    # A second of UTC that is about to begin. Python's next line comes some 100 ns later.
    second = (clock.utc_ns() // 10**9 + 1) * 10**9
    result = waiter.until_utc(second, WaitFlag.SLEEP)
    print(f"{result.error_ns:+.1f} ns from the full second{', late' if result.late else ''}")
