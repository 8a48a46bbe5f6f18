/* SPDX-License-Identifier: MIT */
#include "wake.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "log.h"

/*
 * Later than CLOCK_REALTIME can be set to: else the timer would expire again and again, and the
 * loop would never sleep. The year 2250; 2037 where time_t has 32 bits.
 */
#define FAR_AWAY (sizeof(time_t) > 4 ? (time_t)INT64_C(8835984000) : (time_t)2145830400)

/* Signals, and the timer on the clock. */
enum { OWN_FDS = 2 };

static void watch_clock(struct wake *wake)
{
    struct itimerspec far = {.it_value = {.tv_sec = FAR_AWAY}};
    if (wake->clock_fd >= 0 &&
        timerfd_settime(wake->clock_fd, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &far, NULL) ==
            0)
        return;
    log_line(LOG_WARNING,
             "no timer that notices a clock being set: %s: steps are seen at the next sample",
             strerror(errno));
    if (wake->clock_fd >= 0)
        close(wake->clock_fd);
    wake->clock_fd = -1;
}

int wake_open(struct wake *wake, struct problem *problem)
{
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGHUP);
    wake->clock_fd = -1;
    sigprocmask(SIG_BLOCK, &signals, NULL);
    /* A file at its limit or a lost connection is an error, and does not end the daemon. */
    signal(SIGXFSZ, SIG_IGN);
    signal(SIGPIPE, SIG_IGN);
    wake->signal_fd = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
    if (wake->signal_fd < 0)
        return problem_set(problem, "cannot wait for signals: %s: allow signalfd4",
                           strerror(errno));
    wake->clock_fd = timerfd_create(CLOCK_REALTIME, TFD_CLOEXEC | TFD_NONBLOCK);
    watch_clock(wake);
    return 0;
}

static unsigned read_signals(struct wake *wake)
{
    struct signalfd_siginfo info;
    unsigned reasons = 0;
    while (read(wake->signal_fd, &info, sizeof(info)) == (ssize_t)sizeof(info))
        reasons |= info.ssi_signo == SIGHUP ? WAKE_RELOAD : WAKE_END;
    return reasons;
}

static unsigned read_clock(struct wake *wake)
{
    uint64_t expirations;
    bool is_set = read(wake->clock_fd, &expirations, sizeof(expirations)) < 0 && errno == ECANCELED;
    watch_clock(wake);
    return is_set ? WAKE_CLOCK_SET : 0;
}

/* An error of a descriptor is news too: its source says what is wrong when it is asked. */
static unsigned keep_readable(const struct pollfd *polled, int *fds, unsigned count)
{
    unsigned reasons = 0;
    for (unsigned i = 0; i < count; i++) {
        if (polled[i].revents == 0)
            fds[i] = -1;
        else
            reasons = WAKE_NEWS;
    }
    return reasons;
}

unsigned wake_wait(struct wake *wake, uint64_t ns, int *fds, unsigned count)
{
    struct pollfd polled[OWN_FDS + SETTINGS_SOURCES] = {{.fd = wake->signal_fd, .events = POLLIN},
                                                        {.fd = wake->clock_fd, .events = POLLIN}};
    struct timespec wait = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
    unsigned reasons = 0;
    for (unsigned i = 0; i < count; i++)
        polled[OWN_FDS + i] = (struct pollfd){.fd = fds[i], .events = POLLIN};
    int ready = ppoll(polled, OWN_FDS + count, &wait, NULL);
    if (ready > 0 && polled[0].revents != 0)
        reasons |= read_signals(wake);
    if (ready > 0 && polled[1].revents != 0)
        reasons |= read_clock(wake);
    /* If ppoll() was interrupted or failed, it has told nothing of the descriptors. */
    for (unsigned i = 0; i < count && ready <= 0; i++)
        polled[OWN_FDS + i].revents = 0;
    reasons |= keep_readable(&polled[OWN_FDS], fds, count);
    return reasons != 0 ? reasons : WAKE_TIME;
}

void wake_close(struct wake *wake)
{
    close(wake->signal_fd);
    if (wake->clock_fd >= 0)
        close(wake->clock_fd);
}
