/* SPDX-License-Identifier: MIT */
/* now: what time is it, and how sure is that? */
#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include <timebase.h>

#define NS_PER_SEC 1000000000

static void print_utc(int64_t utc_ns)
{
    char text[32];
    struct tm tm;
    time_t seconds = (time_t)(utc_ns / NS_PER_SEC);
    if (gmtime_r(&seconds, &tm) == NULL || strftime(text, sizeof(text), "%FT%T", &tm) == 0)
        snprintf(text, sizeof(text), "%" PRId64 " s", utc_ns / NS_PER_SEC);
    printf("UTC        %s.%09" PRId64 "\n", text, utc_ns % NS_PER_SEC);
}

int main(void)
{
    const timebase_clock *clock = timebase_clock_default();

    /* The short way: a number. */
    printf("ns since 1970-01-01: %" PRId64 "\n\n", timebase_utc_ns(clock));

    /* The long way: one tick of the counter, and everything it says. */
    struct timebase_instant now;
    timebase_now(clock, &now);
    print_utc(now.utc_ns);
    printf("           +/- %.3f us from the system clock\n", (double)now.maxerror_ns / 1e3);
    printf("           +/- %.3f ms from true UTC, as the system clock says of itself\n",
           (double)now.utc_maxerror_ns / 1e6);
    printf("monotonic  %" PRId64 " ns since boot\n", now.mono_ns);
    if (now.flags & TIMEBASE_LINE_TAI_VALID)
        printf("TAI        %" PRId64 " ns\n", timebase_tai_from_utc(now.utc_ns, now.flags));
    else
        printf("TAI        unknown: nobody has told the kernel the number of leap seconds\n");
    printf("counter    %s, tick %" PRIu64 "\n", timebase_counter_name(timebase_counter_id()),
           now.ticks);
    printf("status     %s\n", timebase_status_name((int)(now.flags & TIMEBASE_LINE_STATUS_MASK)));

    /* SYNCHRONIZED makes the second bound a promise, if it is not flagged as the kernel's word. */
    struct timebase_interval true_utc = timebase_interval_around(now.utc_ns, now.utc_maxerror_ns);
    if ((now.flags & (TIMEBASE_LINE_STATUS_MASK | TIMEBASE_LINE_ESTIMATE)) ==
        TIMEBASE_STATUS_SYNCHRONIZED)
        printf("true UTC lies within %" PRId64 " ns\n", true_utc.latest_ns - true_utc.earliest_ns);
    else
        printf("true UTC: nobody promises where it lies\n");
    return 0;
}
