/* SPDX-License-Identifier: MIT */
/*
 * vmclock:/dev/vmclock0. The page is read, not mapped: a file in its place that is cut short is
 * then a short read, never SIGBUS. (Linux' driver copies it for the read, and waits for an update
 * in progress.) Two copies with the same even number, with the counter's reading between them,
 * belong together.
 */
#include "vmclock.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <timebase/counter.h>
#include <timebase/error.h>

#include "clock/counter/readable.h"
#include "drivers.h"
#include "saturate.h"
#include "clock/reference/reference.h"

enum { COPY_ATTEMPTS = 20, BRACKETS = 5 };

struct vmclock_context {
    const char *reason;
    int fd;
    bool is_device;   /* and not a file in its place, which is always readable */
    bool is_notified; /* the last attempt read a page, and changes of it are notified */
    bool has_page;
    struct vmclock page; /* of the last answer */
};

static int fail(struct vmclock_context *context, int error, const char *reason)
{
    context->reason = reason;
    return error;
}

static int open_vmclock(void *opaque, const char *argument)
{
    struct vmclock_context *context = (struct vmclock_context *)opaque;
    const char *path = argument != NULL ? argument : "/dev/vmclock0";
    *context = (struct vmclock_context){.fd = -1};
    context->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (context->fd < 0 && (errno == EACCES || errno == EPERM))
        return fail(context, TIMEBASE_E_PERMISSION, "the vmclock device may not be opened");
    if (context->fd < 0)
        return fail(context, TIMEBASE_E_REFERENCE, "the vmclock device cannot be opened");
    struct stat status;
    context->is_device = fstat(context->fd, &status) == 0 && S_ISCHR(status.st_mode);
    return TIMEBASE_OK;
}

static int read_page(struct vmclock_context *context, struct vmclock *clock)
{
    unsigned char bytes[VMCLOCK_SIZE];
    ssize_t got;
    do {
        got = pread(context->fd, bytes, sizeof(bytes), 0);
    } while (got < 0 && errno == EINTR);
    if (got < 0)
        return fail(context, TIMEBASE_E_REFERENCE, "the vmclock device cannot be read");
    if (vmclock_parse(bytes, (size_t)got, clock) != TIMEBASE_OK)
        return fail(context, TIMEBASE_E_FORMAT, "the file is not a vmclock page, or too short");
    return TIMEBASE_OK;
}

/* The narrowest of some brackets: a tick, the clock, a tick. */
static int look(struct vmclock_moment *moment)
{
    uint64_t narrowest = UINT64_MAX;
    if (reference_utc_offset(&moment->utc_offset_ns) != TIMEBASE_OK)
        return TIMEBASE_E_REFERENCE;
    moment->counter_id = timebase_counter_id();
    for (int i = 0; i < BRACKETS; i++) {
        uint64_t before = timebase_ticks_ordered();
        int64_t mono_ns = counter_clock_ns(CLOCK_MONOTONIC);
        uint64_t width = timebase_ticks_ordered() - before;
        if (mono_ns == INT64_MIN)
            return TIMEBASE_E_REFERENCE;
        if (width < narrowest) {
            narrowest = width;
            moment->ticks = before + width / 2;
            moment->error_ticks = width - width / 2;
            moment->mono_ns = mono_ns;
        }
    }
    return TIMEBASE_OK;
}

/* A correction by the hypervisor since the last answer says nothing of the system clock's pace. */
static int answer(struct vmclock_context *context, const struct vmclock *clock,
                  const struct vmclock_moment *moment, struct claim *claim)
{
    int error = vmclock_claim(clock, moment, claim, &context->reason);
    if (error == TIMEBASE_OK && context->has_page && clock->seq != context->page.seq)
        claim->read_error_ns = saturate_add(claim->read_error_ns,
                                            vmclock_step_ns(&context->page, clock, moment->ticks));
    context->page = *clock;
    context->has_page = true;
    context->is_notified = context->is_device && (clock->flags & VMCLOCK_NOTIFICATION_PRESENT);
    return error;
}

static int claim_vmclock(void *opaque, struct claim *claim)
{
    struct vmclock_context *context = (struct vmclock_context *)opaque;
    struct vmclock clock, again;
    struct vmclock_moment moment;
    context->is_notified = false;
    for (int i = 0; i < COPY_ATTEMPTS; i++) {
        int error = read_page(context, &clock);
        if (error == TIMEBASE_OK && look(&moment) != TIMEBASE_OK)
            error = fail(context, TIMEBASE_E_REFERENCE, "the system clock cannot be read");
        if (error == TIMEBASE_OK)
            error = read_page(context, &again);
        if (error != TIMEBASE_OK)
            return error;
        if (clock.seq == again.seq && (clock.seq & 1) == 0)
            return answer(context, &clock, &moment, claim);
    }
    return fail(context, TIMEBASE_E_TORN, "the hypervisor did not end an update of its page");
}

/*
 * If the hypervisor notifies Linux' driver of a change, poll() reports the device as readable until
 * this descriptor has read the new page. A page that cannot be read would leave the device readable
 * for ever. So then the source is asked when it is due, and the descriptor is not polled.
 */
static int fd_vmclock(const void *opaque)
{
    const struct vmclock_context *context = (const struct vmclock_context *)opaque;
    return context->is_notified ? context->fd : -1;
}

static void close_vmclock(void *opaque)
{
    struct vmclock_context *context = (struct vmclock_context *)opaque;
    if (context->fd >= 0)
        close(context->fd);
    context->fd = -1;
}

const struct source_driver source_driver_vmclock = {
    .name = "vmclock",
    .is_witness = true,
    .context_size = sizeof(struct vmclock_context),
    .open = open_vmclock,
    .claim = claim_vmclock,
    .fd = fd_vmclock,
    .close = close_vmclock,
};
