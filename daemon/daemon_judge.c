/* SPDX-License-Identifier: MIT */
/* What the daemon knows of the machine: whether it was disrupted, and what may be promised. */
#include "clock/counter/probe.h"
#include "clock/counter/readable.h"
#include "daemon_parts.h"
#include "guest.h"
#include "log.h"

/* The kernel does not tell when it changes its clocksource, so it is asked. */
#define CLOCKSOURCE_LOOK_NS INT64_C(4000000000)
/* A battery clock shows whole seconds, so more frequent looks would not tell more. */
#define RTC_LOOK_NS INT64_C(4000000000)

/* Looks on behalf of the reference, which puts the kernel's verdict on the counter into its
 * samples. */
static const struct counter_clocksource *look_at_clocksource(struct daemon *daemon, int64_t mono_ns)
{
    struct counter_clocksource *seen = &daemon->kernel.clocksource;
    counter_look_at_clocksource(seen, mono_ns, CLOCKSOURCE_LOOK_NS);
    return seen;
}

static bool is_given_up(const struct counter_clocksource *seen)
{
    return counter_judge_clocksource(timebase_counter_id(), seen->current, seen->available) ==
        COUNTER_OPINION_DISTRUSTS;
}

void daemon_judge_cpus(struct daemon *daemon, int64_t mono_ns)
{
    const struct skew *known = &daemon->cpus.skew;
    if (!is_given_up(look_at_clocksource(daemon, mono_ns)))
        return;
    bool is_corrected = cpus_table_begin(&daemon->table, &daemon->file, known, mono_ns);
    daemon->is_refused = !is_corrected && skew_is_certain(known);
}

bool daemon_judge_anew(const struct daemon *daemon)
{
    return daemon->table.cpus == NULL && !daemon->is_refused &&
        is_given_up(&daemon->kernel.clocksource) && skew_is_certain(&daemon->cpus.skew);
}

void daemon_judge_begin(struct daemon *daemon, int64_t mono_ns)
{
    struct counter_processor processor = {0};
    counter_ask_processor(&processor);
    daemon->witness.is_guest = guest_judge(processor.hypervisor);
    disturbance_start(&daemon->disturbance, timebase_counter_id(),
                      look_at_clocksource(daemon, mono_ns));
}

/* Since the machine was started; or nobody tells, as in a time namespace with one clock ahead. */
static bool has_slept(void)
{
    int64_t mono_ns = counter_clock_ns(CLOCK_MONOTONIC);
    int64_t boot_ns = counter_clock_ns(CLOCK_BOOTTIME);
    return mono_ns == INT64_MIN || boot_ns < mono_ns || discipline_was_asleep(mono_ns, boot_ns);
}

void daemon_judge_past(struct daemon *daemon, const struct timebase_page *page, bool is_taken_up,
                       int64_t mono_ns)
{
    struct witness_facts facts = daemon->witness;
    struct witness_past past = {.has_page = page != NULL, .is_taken_up = is_taken_up};
    if (page != NULL) {
        const uint32_t mask = TIMEBASE_LINE_STATUS_MASK | TIMEBASE_LINE_ESTIMATE;
        past.was_synchronized =
            (page->copy[page->seq & 1].after.flags & mask) == TIMEBASE_STATUS_SYNCHRONIZED;
        past.was_disrupted = page->disruption_marker != 0;
    }
    past.has_slept = has_slept();
    facts.never_moved = daemon->settings.never_moved;
    facts.kinds = witness_of_clocksource(daemon->kernel.clocksource.current);
    if (witness_past_is_known(&facts, &past))
        return;
    log_line(LOG_INFO, "nothing tells what befell this machine before: a reference is believed "
                       "when it has measured from now on");
    sources_disrupted(&daemon->sources, mono_ns);
}

/* Has it parted from CLOCK_BOOTTIME since the last look? The next one is compared with this. */
static bool has_rtc_parted(struct daemon *daemon, int64_t mono_ns, int64_t boot_ns)
{
    int64_t sec;
    daemon->rtc_looked_ns = mono_ns;
    daemon->is_rtc_there = witness_rtc_read(&sec);
    return daemon->is_rtc_there && witness_rtc_parted(&daemon->rtc, sec, boot_ns);
}

/*
 * In a guest the kernel's clock may have stood still together with the counter. The battery clock
 * goes on in a sleep; so does CLOCK_BOOTTIME, and the sample tells of that.
 */
static void look_at_rtc(struct daemon *daemon, int64_t mono_ns)
{
    int64_t boot_ns = counter_clock_ns(CLOCK_BOOTTIME);
    if (daemon->witness.is_guest <= 0 || mono_ns - daemon->rtc_looked_ns < RTC_LOOK_NS ||
        !has_rtc_parted(daemon, mono_ns, boot_ns))
        return;
    log_line(LOG_WARNING, "the battery clock and the kernel's have parted: this machine has stood "
                          "still, or one of them was set");
    shared_clock_disrupt(&daemon->shared);
}

/* Whatever the battery clock shows by now was told with that, and is not to be told again. */
void daemon_judge_told(struct daemon *daemon, int64_t since_ns)
{
    if (daemon->is_rtc_there && daemon->sources.disrupted_ns >= since_ns)
        has_rtc_parted(daemon, since_ns, counter_clock_ns(CLOCK_BOOTTIME));
}

void daemon_judge_machine(struct daemon *daemon, int64_t mono_ns)
{
    if (disturbance_stalled(&daemon->disturbance, daemon->due_ns, mono_ns))
        sources_forget(&daemon->sources, mono_ns);
    look_at_rtc(daemon, mono_ns);
    if (disturbance_clocksource_changed(&daemon->disturbance,
                                        look_at_clocksource(daemon, mono_ns)))
        shared_clock_disrupt(&daemon->shared);
}

static void tell_witness(struct daemon *daemon, enum witness_verdict verdict)
{
    char names[64];
    if (daemon->is_witness_told && verdict == daemon->witness_verdict)
        return;
    daemon->is_witness_told = true;
    daemon->witness_verdict = verdict;
    if (verdict == WITNESS_MISSING)
        log_line(LOG_WARNING,
                 "nothing would tell if this guest were stopped, moved or restored: it is not "
                 "called SYNCHRONIZED. Follow a reference with a clock of its own (chrony, phc, "
                 "vmclock), or set never_moved = yes if that cannot happen");
    else if (verdict == WITNESS_NEVER_NEEDED)
        log_line(LOG_INFO, "never_moved = yes: this guest is taken for one that is not moved");
    else if (verdict == WITNESS_PRESENT)
        log_line(LOG_INFO, "a move of this guest would be told by: %s",
                 witness_names(daemon->witness.kinds, names, sizeof(names)));
}

void daemon_judge_sample(struct daemon *daemon, struct discipline_sample *sample)
{
    const struct counter_clocksource *seen = &daemon->kernel.clocksource;
    struct witness_facts *facts = &daemon->witness;
    bool is_vouched_for =
        counter_judge_clocksource(timebase_counter_id(), seen->current, seen->available) ==
        COUNTER_OPINION_TRUSTS;
    if (daemon->table.cpus != NULL)
        cpus_table_apply(&daemon->table, sample);
    else
        cpus_apply(&daemon->cpus, cpus_judge(&daemon->cpus, is_vouched_for), sample);
    facts->never_moved = daemon->settings.never_moved;
    facts->kinds = witness_of_sources(&daemon->sources, sample->mono_ns) |
        witness_of_clocksource(seen->current) |
        (daemon->is_rtc_there ? WITNESS_RTC : 0);
    enum witness_verdict verdict = witness_verdict(facts);
    witness_apply(verdict, sample);
    tell_witness(daemon, verdict);
}
