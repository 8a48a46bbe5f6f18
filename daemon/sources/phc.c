/* SPDX-License-Identifier: MIT */
/* phc:/dev/ptpN[,error=TIME][,scale=tai|utc]: the argument, the device, and the claim. */
#include "phc.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/ptp_clock.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <timebase/error.h>
#include <timebase/page.h>

#include "clock/counter/readable.h"
#include "drivers.h"
#include "option.h"
#include "clock/reference/reference.h"
#include "saturate.h"

/* If nobody has said how wrong the device is, its error is taken for a millisecond, as an estimate.
 */
#define DEFAULT_ERROR_NS 1000000
/* Device and system clock are each read to the nanosecond. */
#define ROUNDING_NS 2
/* 2020: a device that shows less was never set, and is no claim. */
#define DEVICE_MIN_NS 1577836800000000000
#define SEC_NS 1000000000

enum { PATH_SIZE = 256 };

/* ---- what the system says ------------------------------------------------------------------ */

static int system_ioctl(int fd, unsigned long request, void *argument)
{
    return ioctl(fd, request, argument);
}

static bool system_tai_offset(int64_t *sec)
{
    struct reference_kernel said;
    reference_ask_kernel(&said);
    *sec = (int16_t)(said.flags >> TIMEBASE_LINE_TAI_SHIFT);
    return (said.flags & TIMEBASE_LINE_TAI_VALID) != 0;
}

const struct phc_calls phc_system_calls = {system_ioctl, counter_clock_ns, system_tai_offset,
                                           reference_utc_offset};

static int fail(struct phc *phc, int error, const char *reason)
{
    phc->reason = reason;
    return error;
}

/* ---- opening ------------------------------------------------------------------------------- */

static bool take_options(struct phc *phc, const char *options)
{
    struct decimal_field key, value;
    int more;
    while ((more = option_next(&options, &key, &value)) > 0) {
        if (option_is(&key, "error") && option_duration(&value, &phc->error_ns))
            phc->is_vouched_for = true;
        else if (option_is(&key, "scale") && option_is(&value, "tai"))
            phc->is_tai = true;
        else if (option_is(&key, "scale") && option_is(&value, "utc"))
            phc->is_tai = false;
        else
            return false;
    }
    return more == 0;
}

static int open_device(struct phc *phc, const char *path)
{
    struct ptp_clock_caps caps = {0};
    /* Without O_NONBLOCK a pipe of this name would hold us up. */
    phc->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (phc->fd < 0 && (errno == EACCES || errno == EPERM))
        return fail(phc, TIMEBASE_E_PERMISSION, "the PTP clock may not be opened");
    if (phc->fd < 0)
        return fail(phc, TIMEBASE_E_REFERENCE, "the PTP clock cannot be opened");
    if (phc->calls->ioctl(phc->fd, PTP_CLOCK_GETCAPS, &caps) != 0) {
        phc_close(phc);
        return fail(phc, TIMEBASE_E_UNSUPPORTED, "the device is not a PTP clock");
    }
    phc->method = caps.cross_timestamping ? PHC_PRECISE : PHC_EXTENDED;
    return TIMEBASE_OK;
}

int phc_open(struct phc *phc, const char *argument, const struct phc_calls *calls)
{
    char path[PATH_SIZE];
    const char *options;
    *phc = (struct phc){.calls = calls, .fd = -1, .is_tai = true, .error_ns = DEFAULT_ERROR_NS};
    if (argument == NULL || !option_place(argument, &options, path, sizeof(path)))
        return fail(phc, TIMEBASE_E_INVALID, "needs a device: phc:/dev/ptp0");
    if (!take_options(phc, options))
        return fail(phc, TIMEBASE_E_INVALID,
                    "not an option of phc: error=TIME, scale=tai, scale=utc");
    return open_device(phc, path);
}

void phc_close(struct phc *phc)
{
    if (phc->fd >= 0)
        close(phc->fd);
    phc->fd = -1;
}

/* ---- claiming ------------------------------------------------------------------------------ */

static int64_t middle(const struct phc_reading *reading)
{
    return reading->before_ns + (reading->after_ns - reading->before_ns) / 2;
}

static uint64_t half_width(const struct phc_reading *reading)
{
    return ((uint64_t)(reading->after_ns - reading->before_ns) + 1) / 2;
}

/* From the device's scale to UTC. */
static int to_utc(struct phc *phc, int64_t device_ns, int64_t *utc_ns, uint32_t *flags)
{
    int64_t tai_sec = 0;
    if (device_ns < DEVICE_MIN_NS)
        return fail(phc, TIMEBASE_E_REFERENCE, "the PTP clock has not been set");
    if (phc->is_tai && !phc->calls->tai_offset(&tai_sec))
        return fail(phc, TIMEBASE_E_REFERENCE,
                    "the PTP clock shows TAI, and nobody has told the kernel TAI - UTC");
    *utc_ns = device_ns - tai_sec * SEC_NS;
    *flags =
        phc->is_tai ? (uint32_t)tai_sec << TIMEBASE_LINE_TAI_SHIFT | TIMEBASE_LINE_TAI_VALID : 0;
    return TIMEBASE_OK;
}

int phc_claim(struct phc *phc, struct claim *claim)
{
    struct phc_reading reading;
    int64_t before_ns, after_ns, utc_ns;
    uint32_t flags;
    if (phc->calls->utc_offset(&before_ns) != TIMEBASE_OK)
        return fail(phc, TIMEBASE_E_REFERENCE, "the system clock cannot be read");
    int error = phc_read(phc, &reading);
    if (error == TIMEBASE_OK)
        error = to_utc(phc, reading.device_ns, &utc_ns, &flags);
    if (error != TIMEBASE_OK)
        return error;
    if (phc->calls->utc_offset(&after_ns) != TIMEBASE_OK || before_ns != after_ns)
        return fail(phc, TIMEBASE_E_BUSY, "the system clock was stepped meanwhile");
    phc->reason = NULL;
    *claim = (struct claim){
        .mono_ns = middle(&reading) - before_ns,
        .measured_ns = middle(&reading) - before_ns,
        .offset_ns = middle(&reading) - utc_ns,
        .error_ns = saturate_add(phc->error_ns, half_width(&reading) + ROUNDING_NS),
        .read_error_ns = half_width(&reading) + ROUNDING_NS,
        .flags = flags,
        .is_synchronized = phc->is_vouched_for,
        .is_slewed_by_others = true,
    };
    return TIMEBASE_OK;
}

/* ---- the table ----------------------------------------------------------------------------- */

static int open_phc(void *context, const char *argument)
{
    return phc_open((struct phc *)context, argument, &phc_system_calls);
}

static int claim_phc(void *context, struct claim *claim)
{
    return phc_claim((struct phc *)context, claim);
}

static void close_phc(void *context)
{
    phc_close((struct phc *)context);
}

const struct source_driver source_driver_phc = {
    .name = "phc",
    .is_witness = true,
    .context_size = sizeof(struct phc),
    .open = open_phc,
    .claim = claim_phc,
    .close = close_phc,
};
