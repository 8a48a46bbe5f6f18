/* SPDX-License-Identifier: MIT */
/*
 * guest: a machine in virtual time on which the shipped daemon runs as it is: its loop, its drivers
 * for chronyd, the hypervisor's page and the kernel's clocks. What it asks of the machine is
 * answered here (guest_machine.c, guest_chronyd.c: the linker's --wrap); what it would write to disk
 * stays here, and outlives it.
 *
 * There is one at a time. True time is an integer of ns; counter and system clock go at their own
 * pace, and stand still when somebody stops the machine.
 */
#ifndef SIMULATION_GUEST_H
#define SIMULATION_GUEST_H

#include <stdbool.h>
#include <stdint.h>

#include <timebase/page.h>

#define US INT64_C(1000)
#define MS INT64_C(1000000)
#define SECOND INT64_C(1000000000)
#define GUEST_UTC_AT (INT64_C(1795000000) * SECOND)

enum guest_kind {
    GUEST_IS_NONE,         /* a machine of its own */
    GUEST_ON_TSC,          /* the kernel's clock is the counter: a stop stops both */
    GUEST_ON_KVM_CLOCK,    /* the kernel's clock goes on while the machine is stopped */
};

/* What is true of chronyd; guest_chronyd.c has what it says. */
struct guest_chronyd {
    bool is_up;
    bool has_polled; /* since it began */
    int64_t polled_ns;         /* true time */
    int64_t polled_mono_ns;    /* the system's clocks then */
    int64_t reference_time_ns; /* UTC, as it saw it */
    int64_t poll_ns;
    double left_ns;        /* CLOCK_REALTIME - UTC as it knows it now */
    double last_offset_ns; /* of the last measurement against what it knew */
    double drift_ppm;      /* pace of the system clock that it does not know */
    double skew_ppm;       /* what it says that this may be */
    double root_delay_ns;
    double next_root_delay_ns; /* from the next measurement on, as the next one */
    double next_skew_ppm;
    double slew_ppm; /* how fast it works off what is left */
    /* A question that is out: its number, and what it is answered when. */
    uint32_t sequence;
    int64_t answer_ns; /* true time; INT64_MAX: never */
    unsigned char answer[104];
    bool is_out;
    int64_t answer_polled_ns; /* polled_ns of what it says */
    int64_t heard_polled_ns;  /* of the newest that was heard */
};

/* A PTP clock: phc:/dev/null,scale=utc,error=... */
struct guest_ptp {
    bool is_up;
    int64_t off_ns;   /* it shows UTC and so much */
    int64_t heard_ns; /* true time at which it was read last */
    int64_t heard_mono_ns; /* the same, monotonic */
};

struct guest {
    uint64_t seed;
    int64_t now_ns;    /* true time since it began; true UTC is GUEST_UTC_AT more */
    long double ticks; /* the counter */
    double hz;
    long double mono_ns;
    int64_t utc_offset_ns; /* CLOCK_REALTIME - CLOCK_MONOTONIC */
    int64_t suspended_ns;
    enum guest_kind kind;
    bool is_given_up; /* the counter, by the kernel: its clock is another one */
    bool do_differ;   /* the counters of CPUs, for certain */
    unsigned lives, corrections; /* of daemons begun; of attempts to correct by CPU */
    bool has_rtc;
    int64_t rtc_read_ns; /* true time of the newest look at it */
    bool has_marker; /* the hypervisor's page is there */
    bool has_utc;    /* and tells UTC */
    uint64_t marker;
    uint32_t page_seq; /* of the hypervisor's page */
    int page_fd;       /* it; -1: there is none */
    struct guest_chronyd chronyd;
    struct guest_ptp ptp;
    bool is_clock_set; /* and the timer on it has not told yet */
    bool is_running;   /* the daemon */
    bool is_ending;    /* the daemon is told to */
    /* what is on disk */
    struct timebase_page page;
    bool has_page;
    uint64_t stores; /* by all daemons */
    uint64_t pages;  /* begun anew */
    bool is_disowned;
};

extern struct guest guest;

/* Called for each wait of the daemon: lets that time pass, as it likes, and returns its reasons. */
extern unsigned (*guest_wait)(uint64_t ns, int *fds, unsigned count);

void guest_begin(uint64_t seed, enum guest_kind kind);
void guest_end(void);

double guest_random(void);                     /* in [0, 1) */
double guest_between(double low, double high); /* evenly */
double guest_around(double low, double high);  /* evenly over the orders of magnitude */

/* Time passes, and chronyd does its work. */
void guest_pass(int64_t ns);

uint64_t guest_ticks(void);
int64_t guest_mono_ns(void);
int64_t guest_utc_ns(void); /* true */
double guest_realtime_error_ns(void); /* CLOCK_REALTIME - true UTC */

/* Stopped for so long, and gone on, here or elsewhere, where the counter's pace is another one. */
void guest_stop(int64_t ns, double pace_ppm);

/* Likewise, but the kernel's clock is put back together with the counter, whatever it is made of. */
void guest_stop_with_clock(int64_t ns);

enum guest_counter { GUEST_COUNTER_RUNS, GUEST_COUNTER_STANDS, GUEST_COUNTER_BEGINS_ANEW };

/* Asleep; CLOCK_REALTIME goes on by a battery clock that is off by error_ns afterwards. */
void guest_sleep(int64_t ns, enum guest_counter counter, int64_t error_ns);

void guest_jump(int64_t ticks);     /* the counter alone */
void guest_step(int64_t ns);        /* CLOCK_REALTIME, by somebody who tells chronyd */
void guest_write_hypervisors_page(void);

/* ---- chronyd ------------------------------------------------------------------------------- */

void chronyd_poll(void);    /* measures now */
void chronyd_restart(void); /* and has not measured yet */
/* How fast it slews CLOCK_REALTIME now, and for how long. */
double chronyd_slew_ppm(void);
int64_t chronyd_slewed_until_ns(void); /* true ns from now; INT64_MAX: not at all */
/* 25 bits of coefficient and 7 of exponent, as it tells them; seconds. For its own test. */
uint32_t chronyd_number(double value);

#endif
