/* SPDX-License-Identifier: MIT */
/*
 * What the firmware takes away unasked: system management interrupts. Intel counts them; on any
 * machine a loop that only reads the counter sees the gaps.
 */
#include <timebase/counter.h>

#include "command_line.h"
#include "json.h"
#include "machine.h"
#include "msr.h"
#include "ports.h"

enum { GAPS_KEPT = 16, RAISED = 8, SMI_PORT = 0xb2 };

struct gaps {
    uint64_t longest[GAPS_KEPT]; /* ticks, the longest first */
    uint64_t count;
};

static void keep(struct gaps *gaps, uint64_t ticks)
{
    int place = GAPS_KEPT;
    gaps->count++;
    for (; place > 0 && gaps->longest[place - 1] < ticks; place--)
        if (place < GAPS_KEPT)
            gaps->longest[place] = gaps->longest[place - 1];
    if (place < GAPS_KEPT)
        gaps->longest[place] = ticks;
}

/* On request, and for emulators alone: what a board makes of this port is its own affair. */
static void raise(const struct machine *machine)
{
    if (machine->is_emulated && command_line_has("fault", "smi"))
        for (int i = 0; i < RAISED; i++)
            port_write(SMI_PORT, 0);
}

static void watch(const struct machine *machine, double ns, uint64_t limit, struct gaps *gaps)
{
    uint64_t last = timebase_ticks(), end = last + machine_ticks(machine, ns);
    raise(machine);
    while ((int64_t)(end - last) > 0) {
        uint64_t now = timebase_ticks();
        if (now - last > limit)
            keep(gaps, now - last);
        last = now;
    }
}

void experiment_smi(struct machine *machine)
{
    struct gaps gaps = {{0}, 0};
    double ns = machine->is_quick ? 1e7 : 1e10;
    uint64_t before = 0, after = 0, limit = machine_ticks(machine, 1000);
    bool counts = machine->processor.has_smi_count && msr_try_read(MSR_SMI_COUNT, &before);
    watch(machine, ns, limit, &gaps);
    counts = counts && msr_try_read(MSR_SMI_COUNT, &after);
    json_begin("smi");
    json_unsigned("watched_ns", (uint64_t)ns);
    json_bool("counted", counts);
    json_unsigned("smis", after - before);
    json_unsigned("gap_limit_ticks", limit);
    json_unsigned("gaps", gaps.count);
    json_bool("shown", !machine->is_emulated);
    json_list("longest_ticks");
    for (unsigned i = 0; i < GAPS_KEPT && i < gaps.count; i++)
        json_item((int64_t)gaps.longest[i]);
    json_list_end();
    json_end();
}
