/* SPDX-License-Identifier: MIT */
/*
 * timeline: converts ticks of the past. A timeline is a folder in which the daemon keeps every line
 * that it has published. A tick of the past is converted by the lines that readers followed then:
 * to the same nanosecond, with the same flags and both bounds.
 *
 *     timebase_timeline *timeline;
 *     if (timebase_timeline_open(&timeline, "/var/lib/timebase/timeline") == 0) {
 *         struct timebase_instant instant;
 *         int error = timebase_timeline_at(timeline, NULL, ticks, &instant);
 *         if (error == 0)
 *             ... instant.utc_ns +/- instant.utc_maxerror_ns ...
 *         else
 *             ... timebase_strerror(error): before the first line, in a gap, of another boot ...
 *         timebase_timeline_close(timeline);
 *     }
 *
 * A tick whose meaning is not known is refused with the reason; the reader does not guess. Each
 * boot of a machine counts through the same ticks again: if the folder has several boots, the
 * caller may have to say which one is meant.
 *
 * A reader may be open while the daemon goes on writing: it sees what is added and what is dropped.
 * Damaged or hostile files do no harm: each record has a checksum and is validated, no file is
 * mapped, no link is followed.
 *
 * Cost: some 0.1 µs if the tick is near the one before it; else a search of some µs, which grows
 * with the logarithm of the number of records (bench/timeline.py).
 *
 * Threads: a handle belongs to one thread at a time; handles are independent of each other.
 * Signals: these functions allocate and read files, so none is for a signal handler.
 *
 * spec/timeline.md is the specification of the files.
 */
#ifndef TIMEBASE_TIMELINE_H
#define TIMEBASE_TIMELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <timebase/attributes.h>
#include <timebase/error.h>
#include <timebase/page.h>

TIMEBASE_EXTERN_BEGIN

#define TIMEBASE_BOOT_ID_SIZE 16

typedef struct timebase_timeline timebase_timeline;

/* Why there is no line for some ticks. */
enum timebase_timeline_reason {
    TIMEBASE_TIMELINE_KILLED = 1,     /* a writer was killed: lines may be missing */
    TIMEBASE_TIMELINE_DISRUPTED = 2,  /* the counter was disrupted: older lines end there */
    TIMEBASE_TIMELINE_ENDED = 3,      /* a writer ended in good order, the next began anew */
    TIMEBASE_TIMELINE_LOST = 4,       /* lines could not be written: the disk was full or failed */
    TIMEBASE_TIMELINE_UNREADABLE = 5, /* records are damaged, or a segment is missing */
};

/* What the folder holds of one boot and counter. */
struct timebase_timeline_boot {
    uint8_t id[16];       /* of /proc/sys/kernel/random/boot_id, in the order of its text */
    int32_t counter_id;   /* enum timebase_counter_id: whose ticks these are */
    uint32_t gap_count;   /* stretches in between that cannot be converted */
    uint64_t first_ticks; /* the first and the last tick that can be */
    uint64_t last_ticks;
    int64_t first_utc_ns; /* and when they were */
    int64_t last_utc_ns;
};

/* Ticks of one boot for which there is no line: from the first one to before the last. */
struct timebase_timeline_gap {
    uint8_t boot[16];
    int32_t counter_id;
    int32_t reason; /* enum timebase_timeline_reason */
    uint64_t from_ticks;
    uint64_t to_ticks;
    int64_t from_utc_ns; /* UTC at the last tick before the gap, and at the first one after it */
    int64_t to_utc_ns;
};

/* Bytes of a segment that are no record and so are passed over: torn by a crash, or damaged. */
struct timebase_timeline_damage {
    uint32_t segment; /* number of the file: 00000007.tbl is 7 */
    uint32_t reserved;
    uint64_t offset;
    uint64_t size;
};

/*
 * Open the timeline in a folder. An empty folder is a timeline without boots. Returns 0,
 * TIMEBASE_E_INVALID, TIMEBASE_E_NOT_FOUND, TIMEBASE_E_PERMISSION, TIMEBASE_E_FORMAT if the path is
 * no folder, or its files are of another version or no segments, or TIMEBASE_E_RESOURCE; *out is
 * then NULL.
 */
TIMEBASE_API int timebase_timeline_open(timebase_timeline **out, const char *folder);

/* Ignores NULL. */
TIMEBASE_API void timebase_timeline_close(timebase_timeline *timeline);

/*
 * What a tick meant. boot is one of the folder's 16-byte ids, or NULL for whichever boot showed
 * this tick. Returns 0, or leaves *out alone and returns
 *
 *     TIMEBASE_E_TOO_EARLY  before the first line that is kept
 *     TIMEBASE_E_TOO_LATE   after the last line of the boot could have been replaced
 *     TIMEBASE_E_GAP        in a gap: timebase_timeline_gaps() has the reason
 *     TIMEBASE_E_AMBIGUOUS  several boots showed it, or the newest may yet: say which boot. If the
 *                           boot is named, its counter went back and showed it twice
 *     TIMEBASE_E_NO_BOOT    nothing is known of this boot, or of any
 *     TIMEBASE_E_FORMAT     the folder has come to hold a segment of another version
 *     TIMEBASE_E_INVALID, TIMEBASE_E_PERMISSION, TIMEBASE_E_RESOURCE
 */
TIMEBASE_API int timebase_timeline_at(timebase_timeline *timeline, const uint8_t *boot,
                                      uint64_t ticks, struct timebase_instant *out);

/*
 * The same for an array: results[i] is what timebase_timeline_at() returned for ticks[i], and
 * out[i] is zeros where that is not 0. Fastest if the ticks are sorted. Returns how many were
 * converted, as a number of at least 0, or TIMEBASE_E_INVALID.
 */
TIMEBASE_API int64_t timebase_timeline_at_many(timebase_timeline *timeline, const uint8_t *boot,
                                               const uint64_t *ticks, size_t count,
                                               struct timebase_instant *out, int32_t *results);

/*
 * The inverse: the first tick at which UTC was utc_ns or later. If UTC was stepped back and passed
 * utc_ns twice without a gap, the result is either tick. If there is a gap in between, or two boots
 * showed it, TIMEBASE_E_AMBIGUOUS. Errors as above.
 */
TIMEBASE_API int timebase_timeline_ticks_at_utc(timebase_timeline *timeline, const uint8_t *boot,
                                                int64_t utc_ns, uint64_t *ticks);

/*
 * Convert ticks after the end of the newest boot by its last lines, as a page does whose writer has
 * stopped. The bound grows; it holds only if nothing has been published or disrupted since, which
 * the reader cannot know. Off at first.
 */
TIMEBASE_API void timebase_timeline_set_drawing_on(timebase_timeline *timeline, bool drawing_on);

/*
 * What there is, oldest first: up to `room` of them are stored. Return how many there are, which
 * may be more, or TIMEBASE_E_INVALID, or, if the folder can no longer be read,
 * TIMEBASE_E_PERMISSION, TIMEBASE_E_FORMAT or TIMEBASE_E_RESOURCE. The next call looks again.
 */
TIMEBASE_API int64_t timebase_timeline_boots(timebase_timeline *timeline,
                                             struct timebase_timeline_boot *boots, size_t room);
TIMEBASE_API int64_t timebase_timeline_gaps(timebase_timeline *timeline,
                                            struct timebase_timeline_gap *gaps, size_t room);
TIMEBASE_API int64_t timebase_timeline_damages(timebase_timeline *timeline,
                                               struct timebase_timeline_damage *damages,
                                               size_t room);

/* Names for people: "disrupted". Constant text, never NULL. */
TIMEBASE_API const char *timebase_timeline_reason_name(int reason);

TIMEBASE_EXTERN_END

#endif
