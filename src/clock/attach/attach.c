/* SPDX-License-Identifier: MIT */
/* attach: to the page that another process publishes. */
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "mirror.h"
#include "by_cpu_shared.h"
#include "clock/line/lines.h"
#include "view.h"

#include <timebase/error.h>

/*
 * A mirror is a mapping of its own: page-aligned, zeroed, taken without a lock, given back whole.
 */
static size_t size_of(const char *path)
{
    return sizeof(struct mirror) + strlen(path) + 1;
}

static struct mirror *make(const char *path)
{
    void *memory =
        mmap(NULL, size_of(path), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return NULL;
    struct mirror *mirror = (struct mirror *)memory;
    char *own_path = (char *)memory + sizeof(*mirror);
    strcpy(own_path, path);
    mirror_begin(mirror, own_path);
    moved_open(&mirror->moved, WITNESS_DEVICE);
    return mirror;
}

static void destroy(struct mirror *mirror)
{
    if (mirror->is_corrected)
        by_cpu_shared_end();
    shared_file_close(&mirror->file);
    moved_close(&mirror->moved);
    munmap(mirror, size_of(mirror->path));
}

/* The path is looked up again later, perhaps from another folder. */
static int make_absolute(const char *path, char *absolute, size_t size)
{
    size_t length = 0;
    if (path[0] == '\0')
        return TIMEBASE_E_INVALID;
    if (path[0] != '/') {
        if (getcwd(absolute, size) == NULL)
            return errno == ERANGE ? TIMEBASE_E_INVALID : TIMEBASE_E_NOT_FOUND;
        length = strlen(absolute);
        absolute[length++] = '/';
    }
    if (length + strlen(path) >= size)
        return TIMEBASE_E_INVALID;
    strcpy(absolute + length, path);
    return TIMEBASE_OK;
}

static int attach(timebase_clock **out, const char *path)
{
    char absolute[PATH_MAX];
    int error = make_absolute(path, absolute, sizeof(absolute));
    if (error != TIMEBASE_OK)
        return error;
    struct mirror *mirror = make(absolute);
    if (mirror == NULL)
        return TIMEBASE_E_PERMISSION;
    error = timebase_clock_maintain(cell_handle(&mirror->cell));
    if (error != TIMEBASE_OK) {
        destroy(mirror);
        return error;
    }
    *out = (timebase_clock *)(void *)&mirror->cell.page;
    return TIMEBASE_OK;
}

TIMEBASE_API int timebase_clock_attach(timebase_clock **out, const char *path)
{
    if (out == NULL)
        return TIMEBASE_E_INVALID;
    int saved_errno = errno;
    *out = NULL;
    int error = attach(out, path == NULL ? TIMEBASE_PAGE_PATH : path);
    errno = saved_errno;
    return error;
}

TIMEBASE_API int timebase_clock_attach_or_default(timebase_clock **out, const char *path)
{
    int error = timebase_clock_attach(out, path);
    if (error != TIMEBASE_OK && out != NULL)
        *out = (timebase_clock *)(uintptr_t)timebase_clock_default();
    return error;
}

static bool is_attached(const timebase_clock *clock)
{
    return cell_of(clock)->kind == &clock_attached;
}

TIMEBASE_API void timebase_clock_detach(timebase_clock *clock)
{
    int saved_errno = errno;
    if (clock != NULL && is_attached(clock))
        destroy(mirror_of(cell_of(clock)));
    errno = saved_errno;
}

TIMEBASE_API int timebase_clock_attachment(const timebase_clock *clock,
                                           struct timebase_attachment *out)
{
    static const struct timebase_attachment nothing;
    if (clock == NULL || out == NULL)
        return TIMEBASE_E_INVALID;
    *out = nothing;
    if (!is_attached(clock))
        return TIMEBASE_OK;
    struct clock_cell *cell = cell_of(clock);
    struct clock_hold hold;
    if (!cell_lock(cell, &hold))
        return TIMEBASE_E_BUSY;
    const struct mirror *mirror = mirror_of(cell);
    cell->kind->maintain(cell);
    *out = mirror->attachment;
    out->seq = mirror->seq;
    out->age_ns =
        lines_elapsed_ns(&mirror->lines, timebase_ticks_ordered() - mirror->lines.slew.start_ticks);
    cell_unlock(cell, &hold);
    return TIMEBASE_OK;
}
