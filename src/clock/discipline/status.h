/* SPDX-License-Identifier: MIT */
/*
 * status: what readers are told of the clock, as a table of transitions. docs/bound.md has the
 * diagram. Pure, and without memory of its own.
 */
#ifndef DISCIPLINE_STATUS_H
#define DISCIPLINE_STATUS_H

#include <timebase/page.h>

/* What has just happened, the worst of it; each rules out those below. */
enum status_event {
    STATUS_NOTHING_KNOWN, /* no line can be drawn, or its bound cannot be told or is useless */
    STATUS_DISRUPTED,     /* the counter misbehaved in one of the last samples */
    STATUS_LOST,          /* no sample for ASSUME_LOST_NS */
    STATUS_MISSED,        /* no sample, but not for long */
    STATUS_ROUGH_UNSYNCHRONIZED, /* a sample; the slope is not known well yet, nor is UTC */
    STATUS_ROUGH,                /* a sample of a reference that follows UTC, and a rough slope */
    STATUS_UNSYNCHRONIZED,       /* a sample of a reference that does not follow UTC */
    STATUS_SYNCHRONIZED_ONCE,    /* of one that does, and did not in the sample before */
    STATUS_SYNCHRONIZED_AGAIN,   /* of one that does, and did */
    STATUS_EVENTS
};

/* The status after the event. */
enum timebase_status status_next(enum timebase_status present, enum status_event event);

#endif
