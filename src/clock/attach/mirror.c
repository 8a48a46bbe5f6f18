/* SPDX-License-Identifier: MIT */
#include "mirror.h"

#include <errno.h>

#include "clock/page/publish.h"
#include "follow.h"
#include "plausible.h"
#include "by_cpu_shared.h"
#include "show.h"
#include "clock/line/lines.h"
#include "view.h"

#include <timebase/error.h>

/* A number that has not changed for so long: has the file been replaced? */
#define QUIET_NS 500000000
/* How often the path is looked up then. */
#define LOOK_UP_NS 100000000
/* A reader that is held up for a lease after each of these renewals follows the whole lines. */
#define READ_ATTEMPTS 2
#define NS_PER_SEC 1000000000

enum look { LOOK_SAME, LOOK_ANOTHER };

struct mirror *mirror_of(struct clock_cell *cell)
{
    return (struct mirror *)((char *)cell - offsetof(struct mirror, cell));
}

static bool has_passed(uint64_t ticks, uint64_t now_ticks)
{
    return (int64_t)(now_ticks - ticks) >= 0;
}

/* ---- the file */

/* Followers, who have no lock, read it as a word. */
static void set_mono_offset(struct mirror *mirror, int64_t ns)
{
    mirror->attachment.mono_offset_ns = ns;
    publish_word(&mirror->mono_offset, (uint64_t)ns);
}

static bool is_by_cpu(const struct timebase_page *page)
{
    return (page->incompatible & TIMEBASE_PAGE_CORRECTED_BY_CPU) != 0;
}

/* A clock that has shown lines stays with its counter: others may be reading. */
static int begin_table(struct mirror *mirror, const struct shared_file *file,
                       const struct timebase_page *copy)
{
    if (mirror->seq != 0 && mirror->is_corrected != is_by_cpu(copy))
        return TIMEBASE_E_UNSUPPORTED;
    if (mirror->is_corrected)
        return is_by_cpu(copy) ? by_cpu_shared_renew(file) : TIMEBASE_E_UNSUPPORTED;
    return is_by_cpu(copy) ? by_cpu_shared_begin(file) : TIMEBASE_OK;
}

/* With its table, if it has one; that of a page that is not followed is not kept. */
static int judge_page(struct mirror *mirror, const struct shared_file *file,
                      const struct timebase_page *copy, int64_t *mono_offset_ns)
{
    int error = begin_table(mirror, file, copy);
    if (error != TIMEBASE_OK)
        return error;
    error = plausible_page(copy, mono_offset_ns);
    if (error == TIMEBASE_OK)
        mirror->is_corrected = is_by_cpu(copy);
    else if (is_by_cpu(copy) && !mirror->is_corrected)
        by_cpu_shared_end();
    return error;
}

/* Look at the path: is another file there than the one we have, and a page? */
static int look_up(struct mirror *mirror, struct timebase_page *copy)
{
    struct shared_file file;
    int64_t mono_offset_ns = 0;
    int error = shared_file_open(&file, mirror->path, TIMEBASE_PAGE_FOLDER);
    if (error != TIMEBASE_OK)
        return error;
    bool is_same = shared_file_is_same(&file, &mirror->file) && shared_file_is_open(&mirror->file);
    if (is_same && mirror->seq != 0) {
        shared_file_close(&file);
        return LOOK_SAME;
    }
    error = shared_file_copy(&file, copy);
    if (error == TIMEBASE_OK)
        error = judge_page(mirror, &file, copy, &mono_offset_ns);
    if (error != TIMEBASE_OK) {
        shared_file_close(&file);
        return error;
    }
    shared_file_close(&mirror->file);
    mirror->file = file;
    mirror->attachment.openings++;
    set_mono_offset(mirror, mono_offset_ns);
    return LOOK_ANOTHER;
}

/* look_up(), but no more often than every LOOK_UP_NS. */
static int look_up_again(struct mirror *mirror, uint64_t now_ticks, struct timebase_page *copy)
{
    if (!has_passed(mirror->look_up_ticks, now_ticks))
        return mirror->attachment.error;
    if (mirror->seq != 0)
        mirror->look_up_ticks = now_ticks + lines_ticks(&mirror->lines, LOOK_UP_NS);
    return look_up(mirror, copy);
}

static bool is_quiet(const struct mirror *mirror, uint64_t now_ticks)
{
    uint64_t quiet_ticks = lines_ticks(&mirror->lines, QUIET_NS);
    return has_passed(mirror->changed_ticks + quiet_ticks, now_ticks);
}

/* If the number has fallen, another writer has made the page: its lines are compared with the
 * clocks again. */
static int copy_another(struct mirror *mirror, uint64_t seq, struct timebase_page *copy)
{
    int64_t mono_offset_ns = mirror->attachment.mono_offset_ns;
    int error = shared_file_copy(&mirror->file, copy);
    if (error == TIMEBASE_OK)
        error = seq > mirror->seq ? plausible_lines(copy) : plausible_page(copy, &mono_offset_ns);
    if (error == TIMEBASE_OK)
        set_mono_offset(mirror, mono_offset_ns);
    return error == TIMEBASE_OK ? LOOK_ANOTHER : error;
}

/* The number of the page, and what has become of the corrections behind it. */
static int look_at_file(struct mirror *mirror, uint64_t *seq)
{
    int error = shared_file_seq(&mirror->file, seq);
    return error == TIMEBASE_OK && mirror->is_corrected ? by_cpu_shared_renew(&mirror->file) : error;
}

/* One system call while nothing has changed; two where ticks are corrected by CPU. Returns an enum
 * look, or an error. */
static int look(struct mirror *mirror, uint64_t now_ticks, struct timebase_page *copy)
{
    uint64_t seq;
    if (mirror->seq == 0)
        return look_up(mirror, copy);
    int result = look_at_file(mirror, &seq);
    if (result == TIMEBASE_OK && seq == mirror->seq)
        return is_quiet(mirror, now_ticks) ? look_up_again(mirror, now_ticks, copy) : LOOK_SAME;
    if (result == TIMEBASE_OK)
        result = copy_another(mirror, seq, copy);
    if (result < 0 && look_up_again(mirror, now_ticks, copy) == LOOK_ANOTHER)
        result = LOOK_ANOTHER;
    return result;
}

/* ---- the life of a look */

static void note_utc_step(struct mirror *mirror, const struct timebase_lines *lines)
{
    int64_t step_ns = (int64_t)((uint64_t)timebase_line_utc_offset_ns(&lines->after) -
                                (uint64_t)timebase_line_utc_offset_ns(&mirror->lines.after));
    if (mirror->seq != 0 && step_ns != 0)
        mirror->last_utc_step_ns = step_ns;
}

static void keep(struct mirror *mirror, const struct timebase_page *page, uint64_t now_ticks)
{
    const struct timebase_lines *lines = &page->copy[page->seq & 1];
    note_utc_step(mirror, lines);
    mirror->lines = *lines;
    mirror->refresh_ticks = page->refresh_ticks;
    mirror->seq = page->seq;
    mirror->counter_id = timebase_counter_id();
    mirror->changed_ticks = now_ticks;
    mirror->utc_step_count = page->utc_step_count;
    mirror->late_count = page->late_count;
    mirror->disruption_marker = page->disruption_marker;
    mirror->attachment.publications++;
}

/* The page is there, and its lines are not shown: that counts as a refusal, too. */
static void note_parting(struct mirror *mirror, int result)
{
    if (result != TIMEBASE_E_DISRUPTED || mirror->attachment.error != TIMEBASE_OK)
        return;
    mirror->attachment.refusals++;
    mirror->attachment.error = result;
}

static void promise(const struct mirror *mirror, struct timebase_line *line)
{
    line_set_status(line, moved_status(&mirror->moved, line_status(line)));
}

/* After a move the lines are still shown, so that time does not step, but they promise less. */
static struct timebase_lines promised(const struct mirror *mirror,
                                      const struct timebase_lines *lines)
{
    struct timebase_lines out = *lines;
    promise(mirror, &out.before);
    promise(mirror, &out.slew);
    promise(mirror, &out.after);
    return out;
}

static int show_copied(struct mirror *mirror, const struct timebase_page *copy, uint64_t now_ticks)
{
    moved_note_page(&mirror->moved, copy->disruption_marker, copy->vmclock_marker);
    struct timebase_lines lines = promised(mirror, &copy->copy[copy->seq & 1]);
    int result = show_lines(mirror, &lines, copy->refresh_ticks, now_ticks);
    if (result == TIMEBASE_E_BUSY)
        mirror->seq = ~copy->seq; /* to be copied again */
    else
        keep(mirror, copy, now_ticks);
    return result;
}

static int show_kept(struct mirror *mirror, uint64_t now_ticks)
{
    struct timebase_lines lines = promised(mirror, &mirror->lines);
    return show_lines(mirror, &lines, mirror->refresh_ticks, now_ticks);
}

static void forget(struct mirror *mirror)
{
    publish_clear(&mirror->whole);
    __atomic_store_n(&mirror->follow, FOLLOW_OPEN, __ATOMIC_RELEASE);
    mirror->seq = 0;
}

/* Lines over another counter than the process has by now: it was selected, or is corrected since. */
static void forget_if_of_another(struct mirror *mirror)
{
    if (mirror->seq == 0 || mirror->counter_id == timebase_counter_id())
        return;
    publish_clear(&mirror->cell.page);
    publish_clear(&mirror->cell.shadow);
    forget(mirror);
}

/*
 * The lease runs from before the look, *now_ticks: lines that are published later begin no sooner
 * than a lease after it. Where the look has begun to correct the counter, it is taken once more.
 */
static int look_now(struct mirror *mirror, uint64_t *now_ticks, struct timebase_page *copy)
{
    int counter_id = timebase_counter_id();
    *now_ticks = timebase_ticks_ordered();
    moved_look(&mirror->moved);
    int result = look(mirror, *now_ticks, copy);
    if (result != LOOK_ANOTHER || counter_id == timebase_counter_id())
        return result;
    *now_ticks = timebase_ticks_ordered();
    return copy_another(mirror, copy->seq, copy);
}

/* If there is nothing to copy, the present lines go on. */
static int renew(struct mirror *mirror)
{
    struct timebase_page copy;
    uint64_t now_ticks;
    forget_if_of_another(mirror);
    int result = look_now(mirror, &now_ticks, &copy);
    mirror->attachment.renewals++;
    mirror->attachment.refusals += result < 0;
    mirror->attachment.error = result < 0 ? result : TIMEBASE_OK;
    if (result == LOOK_SAME)
        moved_note_same(&mirror->moved);
    if (result == LOOK_ANOTHER) {
        result = show_copied(mirror, &copy, now_ticks);
    } else if (mirror->seq != 0) {
        int shown = show_kept(mirror, now_ticks);
        result = result < 0 ? result : shown;
    }
    note_parting(mirror, result);
    if (mirror->seq != 0)
        mirror->lease_ticks = now_ticks + lines_ticks(&mirror->lines, TIMEBASE_PAGE_LEASE_NS);
    return result;
}

static int maintain(struct clock_cell *cell)
{
    struct mirror *mirror = mirror_of(cell);
    int saved_errno = errno;
    int error = renew(mirror);
    errno = saved_errno;
    return error;
}

/* ---- readers */

/* Counts a rescue only after the end of the lease: if a line ended within the lease, nobody was
 * late. */
static void count_rescue(struct clock_cell *cell)
{
    int maintenance = __atomic_load_n(&cell->maintenance, __ATOMIC_RELAXED);
    if (maintenance == TIMEBASE_MAINTENANCE_MANUAL &&
        has_passed(mirror_of(cell)->lease_ticks, timebase_ticks_ordered()))
        cell->statistics.rescues++;
}

static void help_renew(struct clock_cell *cell)
{
    struct clock_hold hold;
    if (!cell_try_lock(cell, &hold)) {
        cell_await_unlock(cell);
        return;
    }
    count_rescue(cell);
    maintain(cell);
    cell_unlock(cell, &hold);
}

static void read_attached(struct clock_cell *cell, struct timebase_instant *out)
{
    for (int attempt = 0; attempt < READ_ATTEMPTS; attempt++) {
        if (cell_read_current(cell, out))
            return;
        help_renew(cell);
    }
    if (!cell_read_current(cell, out))
        follow_lines(mirror_of(cell), out);
}

/*
 * Lines copied within the last lease are right for every tick up to now. Older ones have to be
 * judged, as for a reading.
 */
static struct timebase_page *lines_attached(struct clock_cell *cell, struct timebase_page *own)
{
    struct mirror *mirror = mirror_of(cell);
    struct timebase_instant now;
    read_attached(cell, &now);
    if (!cell_read_current(cell, &now) && follow_judge(mirror, own))
        return own;
    return &mirror->whole;
}

/* ---- the rest of the kind */

/* Nothing was copied, and an attached clock has nothing else to draw lines by. */
static void draw_nothing(struct clock_cell *cell, struct timebase_page *page)
{
    (void)cell;
    (void)page;
}

/*
 * The pages are whole by their protocol; the words beside them may be a mixture of two copies.
 * seq becomes a number that is hardly the file's, so that the next look copies the file.
 * FOLLOW_BOTH assumes that others have followed the lines, and the kernel's clocks, up to now.
 */
static void mend(struct clock_cell *cell)
{
    struct mirror *mirror = mirror_of(cell);
    bool has_lines = publish_read_back(&mirror->whole, &mirror->lines);
    mirror->seq = has_lines ? 1 : 0;
    __atomic_store_n(&mirror->follow, FOLLOW_BOTH, __ATOMIC_RELEASE);
    mirror->changed_ticks = mirror->look_up_ticks = timebase_ticks_ordered();
}

static void restart(struct clock_cell *cell)
{
    forget(mirror_of(cell));
}

static void describe(struct clock_cell *cell, struct timebase_statistics *out)
{
    const struct mirror *mirror = mirror_of(cell);
    struct timebase_lines lines;
    out->samples = mirror->attachment.renewals;
    out->publications = mirror->attachment.publications;
    out->reference_failures = mirror->attachment.refusals;
    out->late_publications = mirror->late_count;
    out->utc_steps = mirror->utc_step_count;
    out->last_utc_step_ns = mirror->last_utc_step_ns;
    out->counter_jumps = mirror->disruption_marker;
    if (!publish_read_back(&mirror->whole, &lines))
        return;
    struct fixed error = {0, (uint64_t)lines.after.drift_rate << 32};
    out->frequency_hz = lines_ticks(&lines, NS_PER_SEC);
    out->frequency_error_ppb = (uint64_t)fixed_times(error, out->frequency_hz).ns + 1;
}

const struct clock_kind clock_attached = {
    .read = read_attached,
    .lines = lines_attached,
    .draw = draw_nothing,
    .maintain = maintain,
    .mend = mend,
    .restart = restart,
    .describe = describe,
};

void mirror_begin(struct mirror *mirror, const char *path)
{
    publish_begin(&mirror->whole, timebase_counter_id());
    publish_begin(&mirror->cell.page, (int)TIMEBASE_ARCH_COUNTER);
    publish_begin(&mirror->cell.shadow, TIMEBASE_COUNTER_OS);
    mirror->cell.kind = &clock_attached;
    mirror->file.fd = -1;
    mirror->path = path;
    mirror->look_up_ticks = timebase_ticks_ordered();
}
