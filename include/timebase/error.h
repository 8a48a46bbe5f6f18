/* SPDX-License-Identifier: MIT */
/*
 * Errors. A function that can fail returns 0 or a positive value on success and one of these
 * negative values on failure; errno is neither read nor promised. The library never prints.
 */
#ifndef TIMEBASE_ERROR_H
#define TIMEBASE_ERROR_H

#include <timebase/attributes.h>

TIMEBASE_EXTERN_BEGIN

enum timebase_error {
    TIMEBASE_OK = 0,
    TIMEBASE_E_INVALID = -1,     /* an argument is null or out of its documented range */
    TIMEBASE_E_UNSUPPORTED = -2, /* this processor, kernel or build cannot do it */
    TIMEBASE_E_PERMISSION = -3,  /* the kernel or a sandbox refuses it */
    TIMEBASE_E_BUSY = -4,        /* another thread is doing it now; nothing was changed */
    TIMEBASE_E_STALE = -5,       /* not begun, over, or of another boot or machine */
    TIMEBASE_E_DISRUPTED = -6,   /* the counter stopped, jumped or went backwards */
    TIMEBASE_E_TORN = -7,        /* bounded retries found no consistent copy */
    TIMEBASE_E_FORMAT = -8,      /* not a timebase page, or not one of this layout version */
    TIMEBASE_E_REFERENCE = -9,   /* the reference clock could not be read */
    TIMEBASE_E_TIMEOUT = -10,    /* the deadline passed first */
    TIMEBASE_E_NOT_FOUND = -11,  /* there is no such file or folder */
    TIMEBASE_E_UNTRUSTED = -12,  /* others than root and this user could have written it */
    TIMEBASE_E_RESOURCE = -13,   /* no memory, no space on the disk, or the disk failed */
    TIMEBASE_E_ESTIMATE = -19,   /* nobody vouches for this bound: an estimate is no promise */
    /* Of timelines: */
    TIMEBASE_E_TOO_EARLY = -14, /* before the first line that is kept */
    TIMEBASE_E_TOO_LATE = -15,  /* after the last line could have been replaced */
    TIMEBASE_E_GAP = -16,       /* between two lines, where none is known */
    TIMEBASE_E_AMBIGUOUS = -17, /* it has more than one meaning: say which boot */
    TIMEBASE_E_NO_BOOT = -18,   /* nothing is known of that boot, or of any */
};

/*
 * A constant English sentence for a result of this library, without a full stop; never NULL.
 * Zero and positive values give "success", unknown values "unknown timebase error".
 */
TIMEBASE_API const char *timebase_strerror(int error);

TIMEBASE_EXTERN_END

#endif
