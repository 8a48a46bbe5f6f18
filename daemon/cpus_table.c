/* SPDX-License-Identifier: MIT */
#include "cpus_table.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <timebase/counter.h>
#include <timebase/error.h>

#include "log.h"
#include "sync/correct.h"
#include "sync/handle.h"

/* So often at most, until a difference is certain or each CPU is known to agree. */
#define MEASUREMENTS 8
/* After a failure, and while there is a CPU that has no lines yet. */
#define AGAIN_NS INT64_C(1000000000)
/* A round of measuring: others wait for this loop. */
#define ROUND_NS 3000000
/* So long without a renewal a drift is anybody's guess. */
#define STALE_NS INT64_C(30000000000)

/* ---- is it needed? ------------------------------------------------------------------------- */

/* Beside load a CPU may be out of reach for a while. */
static bool do_differ(timebase_cpus *cpus, const struct skew *known)
{
    struct skew skew = *known;
    for (int i = 0; i < MEASUREMENTS && !skew_is_certain(&skew) && skew.measured_cpus < skew.cpus; i++) {
        if (timebase_cpus_measure(cpus) != TIMEBASE_OK)
            return false;
        skew_of_map(&cpus->map, &skew);
    }
    return skew_is_certain(&skew);
}

/* ---- the image ----------------------------------------------------------------------------- */

static struct by_cpu_file_copy *copy_at(struct by_cpu_file_head *image, uint64_t seq)
{
    return (struct by_cpu_file_copy *)(void *)((char *)image +
                                               by_cpu_file_copy_at(image->cpus, seq));
}

static bool make_image(struct cpus_table *table, unsigned cpus)
{
    table->image = calloc(1, by_cpu_file_size(cpus));
    table->next = calloc(1, by_cpu_file_copy_size(cpus));
    if (table->image == NULL || table->next == NULL)
        return false;
    table->image->magic = BY_CPU_FILE_MAGIC;
    table->image->cpus = cpus;
    return true;
}

static void free_image(struct cpus_table *table)
{
    free(table->image);
    free(table->next);
    table->image = NULL;
    table->next = NULL;
}

/* What a reader would refuse is not published: it would be a fault of ours. */
static bool fill(struct cpus_table *table)
{
    const struct by_cpu_table *present = counter_correction();
    const struct by_cpu_copy *from = &present->copy[present->seq & 1];
    size_t size = by_cpu_file_copy_size(table->image->cpus);
    table->next->anchor = from->anchor;
    table->next->spread_ticks = present->spread_ticks;
    memcpy(table->next->entries, from->entries, size - sizeof(*table->next));
    if (!by_cpu_file_is_sound(table->image, table->next))
        return false;
    table->image->seq++;
    memcpy(copy_at(table->image, table->image->seq), table->next, size);
    return true;
}

/* ---- the table of the daemon before --------------------------------------------------------- */

static bool read_image(struct cpus_table *table, const struct page_file *file)
{
    struct by_cpu_file_head head;
    if (!page_file_read_behind(file, &head, sizeof(head)) ||
        by_cpu_file_judge(&head) != TIMEBASE_OK || !make_image(table, head.cpus))
        return false;
    return page_file_read_behind(file, table->image, by_cpu_file_size(head.cpus)) &&
        memcmp(table->image, &head, sizeof(head)) == 0 &&
        by_cpu_file_is_sound(&head, copy_at(table->image, head.seq));
}

static bool adopt(struct cpus_table *table, const struct page_file *file)
{
    if (read_image(table, file) &&
        correct_adopt(table->cpus, table->image, copy_at(table->image, table->image->seq)))
        return true;
    free_image(table);
    return false;
}

/* ---- its life ------------------------------------------------------------------------------ */

static bool have_all_lines(const timebase_cpus *cpus)
{
    const struct by_cpu_table *present = counter_correction();
    const struct by_cpu_entry *entries = present->copy[present->seq & 1].entries;
    for (unsigned i = 0; i < cpus->map.count; i++)
        if ((unsigned)cpus->map.cpus[i].number < present->cpus &&
            entries[cpus->map.cpus[i].number].is_known == 0)
            return false;
    return true;
}

/* Since the file was told last. */
static bool is_published(const struct cpus_table *table)
{
    return counter_correction() != NULL && counter_correction()->seq != table->stored;
}

static void tell_contradictions(struct cpus_table *table)
{
    uint64_t contradictions = cpus_table_contradictions(table);
    if (contradictions == table->contradictions_told)
        return;
    log_line(LOG_WARNING,
             "corrected readings of CPUs have contradicted their order (%" PRIu64
             " so far): counters were set, or stood still; they are read from the kernel's clock",
             contradictions);
    table->contradictions_told = contradictions;
}

/* A CPU without lines is tried again before others are due. */
static int correct(struct cpus_table *table, int64_t mono_ns)
{
    int64_t again_ns = AGAIN_NS;
    uint64_t renewed = table->cpus->renewals;
    if (mono_ns >= table->retry_ns) {
        correct_doubt(table->cpus);
        table->retry_ns = INT64_MAX;
    }
    int result = correct_for(table->cpus, ROUND_NS, &again_ns);
    if (result == TIMEBASE_CPUS_AGREE) /* by the kernel, which has come back to this counter */
        result = TIMEBASE_E_REFERENCE;
    table->due_ns = mono_ns + (again_ns < AGAIN_NS ? again_ns : AGAIN_NS);
    if (table->cpus->renewals != renewed) {
        table->renewed_ns = mono_ns;
        table->retry_ns = have_all_lines(table->cpus) ? INT64_MAX : mono_ns + AGAIN_NS;
    }
    tell_contradictions(table);
    return result;
}

static bool give_up(struct cpus_table *table)
{
    free_image(table);
    timebase_cpus_close(table->cpus);
    table->cpus = NULL;
    return false;
}

/* The page's file is made by this many CPUs, and those of the daemon before may be others. */
static bool fit_image(struct cpus_table *table)
{
    unsigned cpus = counter_correction()->cpus;
    if (table->image != NULL && table->image->cpus != cpus)
        free_image(table);
    if (table->image == NULL && !make_image(table, cpus))
        return false;
    if (table->image->seq == 0)
        table->image->reference_cpu = (uint32_t)table->cpus->reference_cpu;
    return true;
}

bool cpus_table_begin(struct cpus_table *table, struct page_file *file, const struct skew *known,
                      int64_t mono_ns)
{
    if (timebase_cpus_open(&table->cpus) != TIMEBASE_OK)
        return false;
    if (!do_differ(table->cpus, known))
        return give_up(table);
    bool is_adopted = adopt(table, file);
    int error = correct(table, mono_ns);
    if (error == TIMEBASE_OK && !fit_image(table)) {
        timebase_counter_select((int)TIMEBASE_ARCH_COUNTER);
        error = TIMEBASE_E_RESOURCE;
    }
    if (error != TIMEBASE_OK) {
        log_line(LOG_WARNING, "the counters of CPUs differ, and are not corrected: %s",
                 timebase_strerror(error));
        return give_up(table);
    }
    page_file_lay_behind(file, table->image, by_cpu_file_size(table->image->cpus));
    log_line(LOG_INFO,
             "the counters of CPUs differ, and the kernel has given them up: ticks are corrected by "
             "CPU from now on%s",
             is_adopted ? ", as by the daemon before" : "");
    return true;
}

void cpus_table_store(struct cpus_table *table, struct page_file *file)
{
    struct problem problem;
    const size_t head_size = sizeof(*table->image);
    table->stored = counter_correction()->seq;
    if (!fill(table)) {
        log_line(LOG_ERROR, "corrections by CPU that no reader would take are not published");
        return;
    }
    size_t at = by_cpu_file_copy_at(table->image->cpus, table->image->seq);
    size_t size = by_cpu_file_copy_size(table->image->cpus);
    if (page_file_store_behind(file, at, size, &problem) != 0 ||
        page_file_store_behind(file, 0, head_size, &problem) != 0)
        log_line(LOG_ERROR, "%s; the file is made anew", problem.text);
}

static void tell(struct cpus_table *table, int error)
{
    if (table->is_failing == (error != TIMEBASE_OK))
        return;
    table->is_failing = error != TIMEBASE_OK;
    if (table->is_failing)
        log_line(LOG_WARNING,
                 "the corrections by CPU cannot be renewed (%s): their CPUs are read from the "
                 "kernel's clock when they end; if this stays, restart timebased",
                 timebase_strerror(error));
    else
        log_line(LOG_INFO, "the corrections by CPU are renewed again");
}

void cpus_table_renew(struct cpus_table *table, struct page_file *file, int64_t mono_ns)
{
    if (table->cpus == NULL || mono_ns < table->due_ns)
        return;
    int error = correct(table, mono_ns);
    tell(table, error);
    if (is_published(table))
        cpus_table_store(table, file);
}

void cpus_table_heed(struct cpus_table *table, uint64_t disturbances, int64_t mono_ns)
{
    if (table->cpus != NULL && disturbances != table->disturbances) {
        correct_doubt(table->cpus);
        table->due_ns = mono_ns;
    }
    table->disturbances = disturbances;
}

uint64_t cpus_table_contradictions(const struct cpus_table *table)
{
    return table->cpus != NULL ? table->cpus->contradictions : 0;
}

unsigned cpus_table_count(const struct cpus_table *table)
{
    unsigned count = 0;
    if (table->cpus == NULL)
        return 0;
    for (unsigned i = 0; i < table->image->cpus; i++)
        count += table->next->entries[i].is_known != 0;
    return count;
}

void cpus_table_apply(const struct cpus_table *table, struct discipline_sample *sample)
{
    sample->spread_ticks = counter_spread();
    if (sample->mono_ns - table->renewed_ns > STALE_NS)
        sample->is_synchronized = false;
}

void cpus_table_close(struct cpus_table *table)
{
    timebase_cpus_close(table->cpus);
    free_image(table);
}
