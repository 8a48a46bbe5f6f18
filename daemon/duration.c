/* SPDX-License-Identifier: MIT */
#include "duration.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>

static const struct {
    uint64_t ns;
    const char *name;
} units[] = {{1000000000, "s"}, {1000000, "ms"}, {1000, "us"}};

/* Below this many of a unit, a tenth of it is shown too. */
#define WHOLE_FROM 100

static uint64_t divide_up(uint64_t value, uint64_t by)
{
    return value / by + (value % by != 0);
}

static struct duration show(const char *sign, uint64_t size)
{
    struct duration shown;
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        if (size < units[i].ns)
            continue;
        uint64_t tenths = divide_up(size, units[i].ns / 10);
        if (tenths < 10 * WHOLE_FROM)
            snprintf(shown.text, sizeof(shown.text), "%s%" PRIu64 ".%" PRIu64 " %s", sign,
                     tenths / 10, tenths % 10, units[i].name);
        else
            snprintf(shown.text, sizeof(shown.text), "%s%" PRIu64 " %s", sign,
                     divide_up(size, units[i].ns), units[i].name);
        return shown;
    }
    snprintf(shown.text, sizeof(shown.text), "%s%" PRIu64 " ns", sign, size);
    return shown;
}

struct duration duration_of(int64_t ns)
{
    return ns < 0 ? show("-", -(uint64_t)ns) : show("", (uint64_t)ns);
}

struct duration duration_of_bound(uint64_t ns)
{
    return show("", ns);
}
