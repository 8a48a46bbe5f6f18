/* SPDX-License-Identifier: MIT */
/*
 * cpus_table: where the CPUs' counters differ, and the kernel has given them up, the daemon reads
 * them corrected by CPU, as any process can (timebase/cpus.h), and lays its table behind the page,
 * so that all readers of the page see the same ticks (clock/counter/by_cpu_file.h).
 *
 *     cpus_table_begin    before the first sample: from then on ticks are corrected, or never
 *     cpus_table_store    when the page's file is there, or is to be made
 *     cpus_table_renew    when it is due
 *
 * Where the counters agree nothing of this happens, and the page is the same as without it.
 */
#ifndef DAEMON_CPUS_TABLE_H
#define DAEMON_CPUS_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include <timebase/cpus.h>

#include "clock/counter/by_cpu_file.h"
#include "clock/discipline/discipline.h"
#include "page_file.h"
#include "sync/skew.h"

struct cpus_table {
    timebase_cpus *cpus;             /* NULL: nothing is corrected */
    struct by_cpu_file_head *image;  /* the table as the file has it, or shall have it */
    struct by_cpu_file_copy *next;   /* its next publication, while that is judged */
    int64_t due_ns;                  /* monotonic: the next renewal, */
    int64_t renewed_ns;              /* the last one that succeeded */
    int64_t retry_ns;                /* some CPU has no lines yet: once more then */
    uint32_t stored;                 /* the publication that the file has */
    uint64_t contradictions_told;    /* the log has so many */
    uint64_t disturbances;           /* as cpus_table_heed() was told last */
    bool is_failing;                 /* the log has it */
};

/*
 * For a counter that the kernel has given up. Only a difference that is certain is corrected; of CPUs
 * that are not known yet it is found out in some milliseconds each. To begin takes half a second.
 * Goes on from the table that a daemon before has left in the file. False: nothing has changed;
 * where counters differ all the same, the log says why.
 */
bool cpus_table_begin(struct cpus_table *table, struct page_file *file, const struct skew *known,
                      int64_t mono_ns);

/* Brings what is in force to the file, or to the image that it will be made from. */
void cpus_table_store(struct cpus_table *table, struct page_file *file);

/* If it is due: a round of some milliseconds, of a measurement or of a look at readings. */
void cpus_table_renew(struct cpus_table *table, struct page_file *file, int64_t mono_ns);

/* So many sleeps and disruptions have been seen. If they are more than before, it is due. */
void cpus_table_heed(struct cpus_table *table, uint64_t disturbances, int64_t mono_ns);

/* So often a corrected reading has contradicted its order. */
uint64_t cpus_table_contradictions(const struct cpus_table *table);

/* So many CPUs have lines, the reference among them; 0: nothing is corrected. */
unsigned cpus_table_count(const struct cpus_table *table);

/* Puts the spread of the corrected counters into a sample. Nothing is promised of UTC by a table
 * that cannot be renewed. */
void cpus_table_apply(const struct cpus_table *table, struct discipline_sample *sample);

/* The table stays in the file: readers go on with it to the end of its lines. */
void cpus_table_close(struct cpus_table *table);

#endif
