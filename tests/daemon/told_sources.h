/* SPDX-License-Identifier: MIT */
/* told_sources: the daemon's own code asks sources that say what a test tells them to. */
#ifndef TEST_TOLD_SOURCES_H
#define TEST_TOLD_SOURCES_H

#include "daemon/sources/sources.h"
#include "told_source.h"

#define MS INT64_C(1000000)
#define SECOND INT64_C(1000000000)
#define KERNEL_ERROR (16 * SECOND)

static struct sources sources;

/* So many sources, "told:0" and so on; each claims 0 +/- 1 ms now. */
static inline void set_up(unsigned count, int64_t mono_ns)
{
    struct settings settings;
    struct problem problem;
    static const char *const names[] = {"told:0", "told:1", "told:2"};
    memset(told_sources, 0, sizeof(told_sources));
    settings_default(&settings);
    for (unsigned i = 0; i < count; i++) {
        assert_int_equal(settings_set(&settings, SETTINGS_KEY_REFERENCE, names[i], 6, &problem), 0);
        told_sources[i].claim =
            (struct claim){.mono_ns = mono_ns, .error_ns = MS, .is_synchronized = true};
    }
    sources_set_up(&sources, &settings);
}

static inline struct discipline_sample apply_at(int64_t mono_ns)
{
    struct discipline_sample sample = {
        .mono_ns = mono_ns, .maxerror_ns = KERNEL_ERROR, .is_synchronized = true};
    sources_apply(&sources, &sample);
    return sample;
}

#endif
