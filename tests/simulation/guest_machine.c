/* SPDX-License-Identifier: MIT */
/* What the daemon asks of the machine and of its disk, answered by the guest. */
#include <string.h>
#include <sys/timex.h>
#include <time.h>
#include <unistd.h>

#include <timebase/error.h>

#include "clock/counter/probe.h"
#include "clock/counter/readable.h"
#include "daemon/cpus_skew.h"
#include "daemon/cpus_table.h"
#include "daemon/page_file.h"
#include "daemon/wake.h"
#include "daemon/witness_verdict.h"
#include "guest.h"

#define KERNEL_TICK_NS (4 * MS)
#define STORE_NS (5 * US)

/* ---- counter and clocks -------------------------------------------------------------------- */

int64_t __wrap_counter_clock_ns(clockid_t id);
uint64_t __wrap_timebase_ticks_probe(void);
uint64_t __wrap_timebase_ticks_ordered_probe(void);
int __wrap_timebase_counter_id(void);
uint64_t __wrap_counter_measure_step(void);
int __wrap_clock_getres(clockid_t id, struct timespec *step);
int __wrap_adjtimex(struct timex *timex);

/* What a reading takes, before and after its moment; now and then something else runs. */
static void work(void)
{
    guest_pass(guest_random() < 0.005 ? (int64_t)guest_around(1e3, 100e3)
                                      : 8 + (int64_t)(guest_random() * 8));
}

static int64_t shown(clockid_t id)
{
    int64_t mono_ns = guest_mono_ns();
    switch (id) {
    case CLOCK_REALTIME:
        return mono_ns + guest.utc_offset_ns;
    case CLOCK_BOOTTIME:
        return mono_ns + guest.suspended_ns;
    case CLOCK_MONOTONIC_COARSE:
        return mono_ns - mono_ns % KERNEL_TICK_NS;
    case CLOCK_REALTIME_COARSE:
        return mono_ns - mono_ns % KERNEL_TICK_NS + guest.utc_offset_ns;
    default:
        return mono_ns;
    }
}

int64_t __wrap_counter_clock_ns(clockid_t id)
{
    work();
    int64_t ns = shown(id);
    work();
    return ns;
}

/* The inline readings come here as long as nobody has asked whether the processor's works. */
uint64_t __wrap_timebase_ticks_ordered_probe(void)
{
    work();
    return guest_ticks();
}

uint64_t __wrap_timebase_ticks_probe(void)
{
    return __wrap_timebase_ticks_ordered_probe();
}

int __wrap_timebase_counter_id(void)
{
    return TIMEBASE_COUNTER_X86_TSC;
}

uint64_t __wrap_counter_measure_step(void)
{
    return 1;
}

int __wrap_clock_getres(clockid_t id, struct timespec *step)
{
    (void)id;
    *step = (struct timespec){.tv_sec = 0, .tv_nsec = 1};
    return 0;
}

/* As chronyd -F 0 has it: all of a slew is in the frequency. */
int __wrap_adjtimex(struct timex *timex)
{
    bool is_known = guest.chronyd.has_polled && guest.chronyd.is_up;
    guest_pass(300);
    memset(timex, 0, sizeof(*timex));
    timex->tick = 1000000 / sysconf(_SC_CLK_TCK);
    timex->freq = (long)(chronyd_slew_ppm() * 65536);
    timex->status = STA_NANO | (is_known ? 0 : STA_UNSYNC);
    timex->maxerror = is_known ? (long)(guest.chronyd.root_delay_ns / 1000) : 16000000;
    return is_known ? TIME_OK : TIME_ERROR;
}

/* ---- what is known of the machine ----------------------------------------------------------- */

void __wrap_counter_ask_processor(struct counter_processor *processor);
void __wrap_counter_look_at_clocksource(struct counter_clocksource *seen, int64_t mono_ns,
                                        int64_t max_age_ns);
bool __wrap_witness_rtc_read(int64_t *sec);
void __wrap_cpus_measure(struct cpus_skew *cpus, int64_t mono_ns);
bool __wrap_cpus_measure_again(struct cpus_skew *cpus, int64_t mono_ns);
void __wrap_cpus_heed(struct cpus_skew *cpus, uint64_t disturbances);
void __wrap_cpus_close(struct cpus_skew *cpus);

void __wrap_counter_ask_processor(struct counter_processor *processor)
{
    processor->hypervisor = guest.kind != GUEST_IS_NONE;
}

void __wrap_counter_look_at_clocksource(struct counter_clocksource *seen, int64_t mono_ns,
                                        int64_t max_age_ns)
{
    (void)max_age_ns;
    bool is_on_kvm = guest.kind == GUEST_ON_KVM_CLOCK;
    strcpy(seen->current, guest.is_given_up ? "hpet" : is_on_kvm ? "kvm-clock" : "tsc");
    strcpy(seen->available, is_on_kvm ? "kvm-clock tsc acpi_pm" : "tsc acpi_pm");
    seen->looked_ns = mono_ns;
}

bool __wrap_witness_rtc_read(int64_t *sec)
{
    *sec = guest_utc_ns() / SECOND + 3600;
    guest.rtc_read_ns = guest.now_ns;
    return guest.has_rtc;
}

/* Two CPUs, of which all is known. */
void __wrap_cpus_measure(struct cpus_skew *cpus, int64_t mono_ns)
{
    (void)mono_ns;
    guest.lives++;
    cpus->skew.cpus = cpus->skew.measured_cpus = 2;
    cpus->skew.excludes_zero = guest.do_differ;
}

bool __wrap_cpus_measure_again(struct cpus_skew *cpus, int64_t mono_ns)
{
    (void)mono_ns;
    cpus->skew.excludes_zero = guest.do_differ;
    return false;
}

/* It has no instruction that names the CPU. */
bool __wrap_cpus_table_begin(struct cpus_table *table, struct page_file *file,
                             const struct skew *known, int64_t mono_ns);
bool __wrap_cpus_table_begin(struct cpus_table *table, struct page_file *file,
                             const struct skew *known, int64_t mono_ns)
{
    (void)table, (void)file, (void)known, (void)mono_ns;
    guest.corrections++;
    return false;
}

/* Nothing is forgotten. */
void __wrap_cpus_heed(struct cpus_skew *cpus, uint64_t disturbances)
{
    (void)cpus, (void)disturbances;
}

void __wrap_cpus_close(struct cpus_skew *cpus)
{
    (void)cpus;
}

/* ---- the page on disk ------------------------------------------------------------------------ */

int __wrap_page_file_open(struct page_file *file, const char *path, const char *user,
                          struct problem *problem);
int __wrap_page_file_adopt(struct page_file *file, struct timebase_page *page,
                           struct problem *problem);
void __wrap_page_file_disown(struct page_file *file);
int __wrap_page_file_store(struct page_file *file, const struct timebase_page *page,
                           enum page_file_event *event, struct problem *problem);
void __wrap_page_file_store_counts(struct page_file *file, const struct timebase_page *page);
void __wrap_page_file_close(struct page_file *file);

int __wrap_page_file_open(struct page_file *file, const char *path, const char *user,
                          struct problem *problem)
{
    (void)user, (void)problem;
    strncpy(file->path, path, sizeof(file->path) - 1);
    return 0;
}

int __wrap_page_file_adopt(struct page_file *file, struct timebase_page *page,
                           struct problem *problem)
{
    guest.is_disowned = false;
    if (!guest.has_page)
        return problem_set(problem, "%s: there is none", file->path);
    *page = guest.page;
    int error = timebase_page_validate(page);
    return error == TIMEBASE_OK ? 0 : problem_set(problem, "%s", timebase_strerror(error));
}

void __wrap_page_file_disown(struct page_file *file)
{
    (void)file;
    guest.is_disowned = true;
}

int __wrap_page_file_store(struct page_file *file, const struct timebase_page *page,
                           enum page_file_event *event, struct problem *problem)
{
    (void)file, (void)problem;
    guest_pass(STORE_NS);
    bool is_new = !guest.has_page || guest.is_disowned;
    *event = is_new ? PAGE_FILE_MADE : PAGE_FILE_AS_EXPECTED;
    guest.pages += is_new;
    guest.is_disowned = false;
    guest.has_page = true;
    guest.page = *page;
    guest.stores++;
    return 0;
}

void __wrap_page_file_store_counts(struct page_file *file, const struct timebase_page *page)
{
    (void)file;
    guest.page = *page;
}

void __wrap_page_file_close(struct page_file *file)
{
    (void)file;
}

/* ---- its waits ------------------------------------------------------------------------------- */

int __wrap_wake_open(struct wake *wake, struct problem *problem);
unsigned __wrap_wake_wait(struct wake *wake, uint64_t ns, int *fds, unsigned count);
void __wrap_wake_close(struct wake *wake);

int __wrap_wake_open(struct wake *wake, struct problem *problem)
{
    (void)wake, (void)problem;
    return 0;
}

unsigned __wrap_wake_wait(struct wake *wake, uint64_t ns, int *fds, unsigned count)
{
    (void)wake;
    return guest_wait(ns, fds, count);
}

void __wrap_wake_close(struct wake *wake)
{
    (void)wake;
}
