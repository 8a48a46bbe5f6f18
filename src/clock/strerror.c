/* SPDX-License-Identifier: MIT */
#include <timebase/error.h>

TIMEBASE_API const char *timebase_strerror(int error)
{
    if (error >= 0)
        return "success";
    switch (error) {
    case TIMEBASE_E_INVALID:
        return "an argument is null or out of its range";
    case TIMEBASE_E_UNSUPPORTED:
        return "this processor, kernel or build cannot do it";
    case TIMEBASE_E_PERMISSION:
        return "the kernel or a sandbox refuses it";
    case TIMEBASE_E_BUSY:
        return "another thread is doing it now, nothing was changed";
    case TIMEBASE_E_STALE:
        return "nothing in it is of now: it has not begun, is over, or of another boot or machine";
    case TIMEBASE_E_DISRUPTED:
        return "the counter stopped, jumped or went backwards";
    case TIMEBASE_E_TORN:
        return "no consistent copy found within the bounded retries";
    case TIMEBASE_E_FORMAT:
        return "not a timebase page of this layout version";
    case TIMEBASE_E_REFERENCE:
        return "the reference clock could not be read";
    case TIMEBASE_E_TIMEOUT:
        return "the deadline passed first";
    case TIMEBASE_E_NOT_FOUND:
        return "there is no such file or folder, does its writer run?";
    case TIMEBASE_E_UNTRUSTED:
        return "a link, no regular file, or others than root and this user may change it";
    case TIMEBASE_E_RESOURCE:
        return "no memory or disk space is left, or the disk failed";
    case TIMEBASE_E_ESTIMATE:
        return "the bound is an estimate, nobody promises it";
    case TIMEBASE_E_TOO_EARLY:
        return "it lies before the first line that is kept";
    case TIMEBASE_E_TOO_LATE:
        return "it lies after the last line that is known";
    case TIMEBASE_E_GAP:
        return "it lies in a gap of the timeline";
    case TIMEBASE_E_AMBIGUOUS:
        return "it has more than one meaning here, say of which boot it is";
    case TIMEBASE_E_NO_BOOT:
        return "the timeline knows nothing of this boot, or of any";
    default:
        return "unknown timebase error";
    }
}
