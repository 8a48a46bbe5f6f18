/* SPDX-License-Identifier: MIT */
#include "guest.h"

#include <math.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "daemon/sources/vmclock.h"

struct guest guest;
unsigned (*guest_wait)(uint64_t ns, int *fds, unsigned count);

double guest_random(void)
{
    /* splitmix64 (Vigna): every seed is a good one. */
    uint64_t z = guest.seed += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (double)((z ^ (z >> 31)) >> 11) / 9007199254740992.0;
}

double guest_between(double low, double high)
{
    return low + (high - low) * guest_random();
}

double guest_around(double low, double high)
{
    return low * pow(high / low, guest_random());
}

void guest_begin(uint64_t seed, enum guest_kind kind)
{
    static const struct guest none;
    guest = none;
    guest.seed = seed;
    guest.kind = kind;
    guest.hz = 2600007800.0;
    guest.ticks = 1e12L;
    guest.mono_ns = 5000e9L;
    guest.utc_offset_ns = GUEST_UTC_AT - 5000 * SECOND;
    guest.page_fd = -1;
    guest.marker = 1;
    guest.chronyd.is_up = true;
    guest.chronyd.heard_polled_ns = INT64_MIN;
    guest.ptp.heard_ns = INT64_MIN;
    guest.chronyd.poll_ns = 16 * SECOND;
    guest.chronyd.next_skew_ppm = 0.1;
    guest.chronyd.next_root_delay_ns = 1e6;
    guest.chronyd.slew_ppm = 240;
}

void guest_end(void)
{
    if (guest.page_fd >= 0)
        close(guest.page_fd);
    guest.page_fd = -1;
}

/* ---- time ---------------------------------------------------------------------------------- */

/* Rounded down. With floorl() the worlds took twice as long. */
static int64_t whole(long double number)
{
    int64_t towards_zero = (int64_t)number;
    return towards_zero - ((long double)towards_zero > number);
}

uint64_t guest_ticks(void)
{
    return (uint64_t)whole(guest.ticks);
}

int64_t guest_mono_ns(void)
{
    return whole(guest.mono_ns);
}

int64_t guest_utc_ns(void)
{
    return GUEST_UTC_AT + guest.now_ns;
}

double guest_realtime_error_ns(void)
{
    int64_t ahead_ns = guest.utc_offset_ns - guest_utc_ns();
    return (double)(guest.mono_ns + ahead_ns);
}

static void run(int64_t ns)
{
    double slew_ppm = chronyd_slew_ppm();
    guest.now_ns += ns;
    guest.ticks += (long double)ns * guest.hz * 1e-9L;
    guest.mono_ns += (long double)ns * (1 + (guest.chronyd.drift_ppm + slew_ppm) * 1e-6L);
    guest.chronyd.left_ns += (double)ns * slew_ppm * 1e-6;
}

static int64_t earlier(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

void guest_pass(int64_t ns)
{
    int64_t until_ns = guest.now_ns + ns;
    while (guest.now_ns < until_ns) {
        struct guest_chronyd *chronyd = &guest.chronyd;
        int64_t left_ns = until_ns - guest.now_ns;
        int64_t poll_ns = chronyd->is_up
            ? chronyd->polled_mono_ns + chronyd->poll_ns - guest_mono_ns()
            : INT64_MAX;
        if (poll_ns <= 0)
            chronyd_poll();
        else
            run(earlier(earlier(left_ns, poll_ns), chronyd_slewed_until_ns()));
    }
}

/* ---- what befalls it ----------------------------------------------------------------------- */

void guest_stop(int64_t ns, double pace_ppm)
{
    guest.now_ns += ns;
    guest.hz *= 1 + pace_ppm * 1e-6;
    guest.marker++;
    if (guest.kind != GUEST_ON_TSC)
        guest.mono_ns += ns;
    guest_write_hypervisors_page();
}

void guest_stop_with_clock(int64_t ns)
{
    guest.now_ns += ns;
    guest.marker++;
    guest_write_hypervisors_page();
}

void guest_sleep(int64_t ns, enum guest_counter counter, int64_t error_ns)
{
    guest.now_ns += ns;
    guest.suspended_ns += ns;
    guest.utc_offset_ns += ns + error_ns;
    guest.is_clock_set = true;
    if (counter == GUEST_COUNTER_RUNS)
        guest.ticks += (long double)ns * guest.hz * 1e-9L;
    else if (counter == GUEST_COUNTER_BEGINS_ANEW)
        guest.ticks = 1e9L;
    guest_write_hypervisors_page();
}

void guest_jump(int64_t ticks)
{
    guest.ticks += ticks;
    guest_write_hypervisors_page();
}

void guest_step(int64_t ns)
{
    guest.utc_offset_ns += ns;
    guest.chronyd.left_ns += (double)ns;
    guest.is_clock_set = true;
}

/* ---- the hypervisor's page ----------------------------------------------------------------- */

static void put(unsigned char *bytes, unsigned at, unsigned width, uint64_t value)
{
    for (unsigned i = 0; i < width; i++, value >>= 8)
        bytes[at + i] = (unsigned char)value;
}

/* Right to a microsecond, and to a part in 10^8 of the counter's pace. */
static void put_utc(unsigned char *bytes)
{
    long double period = 18446744073709551616.0L / (long double)guest.hz;
    uint64_t flags = VMCLOCK_TIME_MAXERROR_VALID | VMCLOCK_PERIOD_MAXERROR_VALID;
    int64_t utc_ns = guest_utc_ns();
    put(bytes, 0x18, 8, flags);
    put(bytes, 0x22, 1, VMCLOCK_SYNCHRONIZED);
    put(bytes, 0x28, 8, guest_ticks());
    put(bytes, 0x30, 8, (uint64_t)period);
    put(bytes, 0x40, 8, (uint64_t)(period * 1e-8L));
    put(bytes, 0x48, 8, (uint64_t)(utc_ns / SECOND));
    put(bytes, 0x50, 8, (uint64_t)(utc_ns % SECOND) * 18446744073u);
    put(bytes, 0x60, 8, 1000);
}

void guest_write_hypervisors_page(void)
{
    unsigned char bytes[VMCLOCK_SIZE] = {0};
    if (!guest.has_marker)
        return;
    if (guest.page_fd < 0)
        guest.page_fd = memfd_create("vmclock", MFD_CLOEXEC);
    guest.page_seq += 2;
    put(bytes, 0x00, 4, VMCLOCK_MAGIC);
    put(bytes, 0x04, 4, VMCLOCK_SIZE);
    put(bytes, 0x08, 2, VMCLOCK_VERSION);
    put(bytes, 0x0a, 1, TIMEBASE_COUNTER_X86_TSC);
    put(bytes, 0x0c, 4, guest.page_seq);
    put(bytes, 0x10, 8, guest.marker);
    if (guest.has_utc)
        put_utc(bytes);
    ssize_t written = pwrite(guest.page_fd, bytes, sizeof(bytes), 0);
    (void)written; /* else the source says that it cannot be read */
}
