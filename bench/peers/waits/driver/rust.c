/* SPDX-License-Identifier: MIT
 *
 * The Rust peers: functions of ../rust, called as C.
 */
#define _GNU_SOURCE
#include "peer.h"

#include <stddef.h>
#include <time.h>

void rust_instant_take(void);
void rust_instant_keep(int64_t mono_ns);
void rust_thread_sleep(uint64_t ns);
void rust_spin_sleep(uint64_t ns);
void rust_spin_sleep_hint(uint64_t ns);
void rust_thread_sleep_until(int64_t mono_ns);
void rust_spin_sleep_until(int64_t mono_ns);
void rust_spin_sleep_hint_until(int64_t mono_ns);

static int64_t monotonic_ns(void)
{
    struct timespec now = {0, 0};

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

/* Rust's instants are opaque: one is taken between two readings of the clock below them, and the
 * narrowest such pair tells when it was. */
static const char *open_rust(int cpu)
{
    int64_t narrowest = INT64_MAX;

    (void)cpu;
    for (int i = 0; i < 10000; i++) {
        int64_t before = monotonic_ns();
        rust_instant_take();
        int64_t width = monotonic_ns() - before;
        if (width < narrowest) {
            narrowest = width;
            rust_instant_keep(before + width / 2);
        }
    }
    return NULL;
}

static void thread_sleep_until(const struct appointment *appointment)
{
    rust_thread_sleep_until(appointment->mono_ns);
    appointment->event(appointment->argument);
}

static void spin_sleep_until(const struct appointment *appointment)
{
    rust_spin_sleep_until(appointment->mono_ns);
    appointment->event(appointment->argument);
}

static void spin_sleep_hint_until(const struct appointment *appointment)
{
    rust_spin_sleep_hint_until(appointment->mono_ns);
    appointment->event(appointment->argument);
}

static const struct peer peers[] = {
    {"rust_thread_sleep", rust_thread_sleep, 0, thread_sleep_until},
    {"spin_sleep", rust_spin_sleep, 0, spin_sleep_until},
    {"spin_sleep_hint", rust_spin_sleep_hint, 0, spin_sleep_hint_until},
    {NULL, NULL, 0, NULL},
};

const struct group rust_group = {"Rust", open_rust, peers};
