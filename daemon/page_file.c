/* SPDX-License-Identifier: MIT */
#include "page_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <timebase/error.h>

#include "clock/page/validate.h"
#include "store.h"
#include "privileges.h"

enum { FOLDER_MODE = 0755, PAGE_MODE = 0644 };

/* ---- the folder ---------------------------------------------------------------------------- */

/* The page's name within its folder. */
static const char *name_of(const struct page_file *file)
{
    return strrchr(file->path, '/') + 1;
}

static int name_parts(struct page_file *file, const char *path, struct problem *problem)
{
    size_t length = strlen(path);
    const char *slash = strrchr(path, '/');
    /* The longest name beside the page is PAGE.lock. */
    if (slash == NULL || length + sizeof(".lock") > SETTINGS_PATH)
        return problem_set(problem, "%s: no path of a page: choose a shorter one with a folder",
                           path);
    memcpy(file->path, path, length + 1);
    size_t folder = slash == path ? 1 : (size_t)(slash - path);
    memcpy(file->folder, path, folder);
    file->folder[folder] = '\0';
    stpcpy(stpcpy(file->lock_name, name_of(file)), ".lock");
    stpcpy(stpcpy(file->aside_name, name_of(file)), ".new");
    return 0;
}

static int open_folder(struct page_file *file, struct problem *problem)
{
    if (mkdir(file->folder, FOLDER_MODE) == 0)
        file->is_folder_made = true;
    else if (errno != EEXIST)
        return problem_of_file(problem, "cannot make the folder", file->folder, errno);
    file->folder_fd = open(file->folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (file->folder_fd < 0)
        return problem_of_file(problem, "cannot open the folder", file->folder, errno);
    /* Others may read, whatever the umask is. A folder that was there stays as it is. */
    if (file->is_folder_made && fchmod(file->folder_fd, FOLDER_MODE) != 0)
        return problem_of_file(problem, "cannot open up the folder", file->folder, errno);
    return 0;
}

static void close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

int page_file_open(struct page_file *file, const char *path, const char *user,
                   struct problem *problem)
{
    static const struct page_file none = {.folder_fd = -1, .fd = -1, .lock = {.fd = -1}};
    *file = none;
    if (name_parts(file, path, problem) != 0)
        return -1;
    if (open_folder(file, problem) == 0 &&
        privileges_drop(user, file->folder_fd, file->is_folder_made, problem) == 0 &&
        lock_take(&file->lock, file->folder_fd, file->lock_name, file->path, problem) == 0)
        return 0;
    page_file_close(file);
    return -1;
}

void page_file_close(struct page_file *file)
{
    close_fd(&file->fd);
    lock_release(&file->lock);
    close_fd(&file->folder_fd);
}

/* ---- the page that is there ---------------------------------------------------------------- */

/* All of these bytes; false if there are fewer, or they cannot be read. */
static bool read_bytes(int fd, void *to, size_t size, size_t at)
{
    char *bytes = to;
    size_t length = 0;
    while (length < size) {
        ssize_t got = pread(fd, bytes + length, size - length, (off_t)(at + length));
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        length += (size_t)got;
    }
    return true;
}

static bool read_page(int fd, struct timebase_page *page)
{
    return read_bytes(fd, page, sizeof(*page), 0);
}

/* Judged before the size: a page of another version has another size, and the version is the cause.
 */
static int examine_version(int fd, const char *path, struct problem *problem)
{
    struct timebase_page page = {0};
    const size_t head_size = offsetof(struct timebase_page, disruption_marker);
    if (pread(fd, &page, head_size, 0) != (ssize_t)head_size || page.magic != TIMEBASE_PAGE_MAGIC ||
        page.version == TIMEBASE_PAGE_VERSION)
        return 0;
    return problem_set(problem,
                       "%s: a page of version %u, and this timebased keeps version %u: programs of "
                       "another version must be upgraded, or they refuse it",
                       path, page.version, TIMEBASE_PAGE_VERSION);
}

static off_t size_of(const struct page_file *file)
{
    return (off_t)(TIMEBASE_PAGE_SIZE + file->behind_size);
}

static int examine_size(const struct page_file *file, off_t size, struct problem *problem)
{
    if (size == size_of(file))
        return 0;
    return problem_set(problem, "%s: %lld bytes long instead of %lld", file->path, (long long)size,
                       (long long)size_of(file));
}

/* Refuses a file that somebody else may have written. */
static int examine_owner(int fd, const char *path, struct stat *status, struct problem *problem)
{
    if (fstat(fd, status) != 0)
        return problem_of_file(problem, "cannot look at", path, errno);
    if (!S_ISREG(status->st_mode))
        return problem_set(problem, "%s: no regular file", path);
    if (status->st_uid != geteuid())
        return problem_set(problem, "%s: belongs to user %lu", path,
                           (unsigned long)status->st_uid);
    if ((status->st_mode & 0022) != 0)
        return problem_set(problem, "%s: others can write to it (mode %04o)", path,
                           (unsigned)status->st_mode & 07777);
    return 0;
}

static int examine_file(const struct page_file *file, struct problem *problem)
{
    struct stat status;
    if (examine_owner(file->fd, file->path, &status, problem) != 0 ||
        examine_version(file->fd, file->path, problem) != 0)
        return -1;
    return examine_size(file, status.st_size, problem);
}

static int examine_page(const struct page_file *file, const struct timebase_page *page,
                        struct problem *problem)
{
    uint32_t understood = file->behind_size > 0 ? TIMEBASE_PAGE_CORRECTED_BY_CPU : 0;
    int error = validate_page(page, understood);
    if (error != TIMEBASE_OK)
        return problem_set(problem, "%s: %s", file->path, timebase_strerror(error));
    if (page->counter_id != (uint32_t)timebase_counter_id())
        return problem_set(problem, "%s: of counter %u, ours is %d", file->path, page->counter_id,
                           timebase_counter_id());
    if (!file->lock.is_same_boot)
        return problem_set(problem, "%s: from before the machine was started", file->path);
    return 0;
}

static int open_page(const struct page_file *file)
{
    return openat(file->folder_fd, name_of(file), O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
}

int page_file_adopt(struct page_file *file, struct timebase_page *page, struct problem *problem)
{
    file->fd = open_page(file);
    if (file->fd < 0 && errno == ENOENT)
        return problem_set(problem, "%s: there is none", file->path);
    if (file->fd < 0)
        return problem_of_file(problem, "cannot open", file->path, errno);
    if (examine_file(file, problem) == 0) {
        if (!read_page(file->fd, page))
            problem_set(problem, "%s: could not be read", file->path);
        else if (examine_page(file, page, problem) == 0 && fchmod(file->fd, PAGE_MODE) == 0) {
            file->image = *page;
            return 0;
        }
    }
    page_file_disown(file);
    return -1;
}

void page_file_disown(struct page_file *file)
{
    close_fd(&file->fd);
}

/* ---- what lies behind it ------------------------------------------------------------------- */

void page_file_lay_behind(struct page_file *file, const void *bytes, size_t size)
{
    file->behind = bytes;
    file->behind_size = size;
}

bool page_file_read_behind(const struct page_file *file, void *bytes, size_t size)
{
    struct problem problem;
    struct stat status;
    int fd = file->lock.is_same_boot ? open_page(file) : -1;
    bool is_read = fd >= 0 && examine_owner(fd, file->path, &status, &problem) == 0 &&
        read_bytes(fd, bytes, size, TIMEBASE_PAGE_SIZE);
    close_fd(&fd);
    return is_read;
}

int page_file_store_behind(struct page_file *file, size_t at, size_t size, struct problem *problem)
{
    if (file->fd < 0 || store_behind(file->fd, file->behind, at, size) == 0)
        return 0;
    problem_of_file(problem, "cannot write to", file->path, errno);
    page_file_disown(file);
    return -1;
}

/* Some kilobytes, with hundreds of CPUs. */
static bool is_behind_as_it_shall_be(const struct page_file *file)
{
    char bytes[4096];
    for (size_t at = 0, size; at < file->behind_size; at += size) {
        size = file->behind_size - at < sizeof(bytes) ? file->behind_size - at : sizeof(bytes);
        if (!read_bytes(file->fd, bytes, size, TIMEBASE_PAGE_SIZE + at) ||
            memcmp(bytes, (const char *)file->behind + at, size) != 0)
            return false;
    }
    return true;
}

/* ---- making it ------------------------------------------------------------------------------ */

/* Completes the file aside, then gives it the name; readers of the old file keep it whole. */
static int make(struct page_file *file, const struct timebase_page *page, struct problem *problem)
{
    unlinkat(file->folder_fd, file->aside_name, 0); /* left by a daemon that was killed here */
    int fd = openat(file->folder_fd, file->aside_name,
                    O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, PAGE_MODE);
    if (fd < 0)
        return problem_of_file(problem, "cannot make", file->path, errno);
    if (fchmod(fd, PAGE_MODE) != 0 || store_whole(fd, page) != 0 ||
        store_behind(fd, file->behind, 0, file->behind_size) != 0 ||
        renameat(file->folder_fd, file->aside_name, file->folder_fd, name_of(file)) != 0) {
        problem_of_file(problem, "cannot make", file->path, errno);
        unlinkat(file->folder_fd, file->aside_name, 0);
        close(fd);
        return -1;
    }
    close_fd(&file->fd);
    file->fd = fd;
    return 0;
}

/* If somebody removed the folder, and the lock with it, makes both anew. */
static int reopen_folder(struct page_file *file, struct problem *problem)
{
    if (lock_is_held(&file->lock, file->folder_fd, file->lock_name))
        return 0;
    struct page_file again;
    if (page_file_open(&again, file->path, "", problem) != 0)
        return -1;
    page_file_lay_behind(&again, file->behind, file->behind_size);
    page_file_close(file);
    *file = again;
    return 0;
}

/* ---- each publication ---------------------------------------------------------------------- */

static enum page_file_event look(const struct page_file *file)
{
    struct stat ours, named;
    struct timebase_page now;
    if (file->fd < 0)
        return PAGE_FILE_MADE;
    if (fstat(file->fd, &ours) != 0 || ours.st_size != size_of(file))
        return PAGE_FILE_SHRUNK;
    if (fstatat(file->folder_fd, name_of(file), &named, AT_SYMLINK_NOFOLLOW) != 0 ||
        ours.st_dev != named.st_dev || ours.st_ino != named.st_ino)
        return PAGE_FILE_REPLACED;
    if (!read_page(file->fd, &now) || memcmp(&now, &file->image, sizeof(now)) != 0 ||
        !is_behind_as_it_shall_be(file))
        return PAGE_FILE_CHANGED;
    return PAGE_FILE_AS_EXPECTED;
}

int page_file_store(struct page_file *file, const struct timebase_page *page,
                    enum page_file_event *event, struct problem *problem)
{
    *event = look(file);
    if (*event == PAGE_FILE_AS_EXPECTED) {
        if (store_publication(file->fd, &file->image, page) != 0) {
            problem_of_file(problem, "cannot write to", file->path, errno);
            page_file_disown(file); /* nobody knows how much of it is there */
            return -1;
        }
    } else if (reopen_folder(file, problem) != 0 || make(file, page, problem) != 0) {
        return -1;
    }
    file->image = *page;
    return 0;
}

void page_file_store_counts(struct page_file *file, const struct timebase_page *page)
{
    if (file->fd < 0)
        return;
    if (store_counts(file->fd, page) == 0)
        file->image = *page;
    else
        page_file_disown(file);
}

const char *page_file_event_text(enum page_file_event event)
{
    static const char *const texts[] = {
        [PAGE_FILE_AS_EXPECTED] = "as expected",
        [PAGE_FILE_MADE] = "made",
        [PAGE_FILE_SHRUNK] = "had been given another size",
        [PAGE_FILE_REPLACED] = "had been removed or replaced",
        [PAGE_FILE_CHANGED] = "had been written to by somebody else",
    };
    return texts[event];
}
