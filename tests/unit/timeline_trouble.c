/* SPDX-License-Identifier: MIT */
/* A full disk, a writer killed at any moment, a reader meanwhile: nothing that was there is lost.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "../repeats.h"
#include "timelines.h"

#define KILLS 100
#define LEASE_MAX_TICKS 65000000 /* somewhat more than 20 ms at 3 GHz */

/* Publications that are not written, because they cannot be. */
static void live_unwritten(struct scene *scene, struct timeline_writer *timeline,
                           unsigned publications)
{
    for (unsigned i = 0; i < publications; i++) {
        scene_wait(scene);
        assert_true(scene_publish(scene));
        assert_int_equal(timeline_writer_append(timeline, &scene->lines, scene->published_ticks),
                         TIMEBASE_E_RESOURCE);
    }
}

/* Before and after the gap all is as it was; the gap begins with the first line that is missing. */
static void assert_gap_alone(const struct folder *folder, const struct readings *readings,
                             uint64_t from, uint64_t to)
{
    timebase_timeline *reader = reader_open(folder);
    struct timebase_timeline_gap gap;
    for (size_t i = 0; i + 1 < readings->count; i++)
        assert_reading(reader, &readings->items[i]);
    assert_true(timebase_timeline_gaps(reader, &gap, 1) == 1);
    assert_int_equal(gap.reason, TIMEBASE_TIMELINE_LOST);
    assert_true(gap.from_ticks == from && gap.to_ticks == to);
    assert_true(timebase_timeline_damages(reader, NULL, 0) == 0);
    timebase_timeline_close(reader);
}

static void limit_files(rlim_t size)
{
    struct rlimit limit = {size, RLIM_INFINITY};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* At every length of the last record but whole: what was half written is taken back. */
static void a_record_that_does_not_fit_is_taken_back_and_its_gap_marked(void **state)
{
    (void)state;
    signal(SIGXFSZ, SIG_IGN);
    for (unsigned bytes = 0; bytes < RECORD_SIZE; bytes += 3) {
        struct folder folder = folder_new();
        struct scene scene = scene_new(0, 0x5555555555555555u);
        struct timeline_writer timeline;
        struct readings readings = {0};
        assert_int_equal(
            timeline_writer_open_boot(&timeline, folder.path, SIZE_MAX_BYTES, 1, boot_a), 0);
        scene_live(&scene, &timeline, &readings, 10);
        uint64_t size = timeline_writer_size(&timeline);
        limit_files(size + bytes);
        live_unwritten(&scene, &timeline, 1);
        uint64_t from = scene.published_ticks;
        live_unwritten(&scene, &timeline, 3);
        assert_true(timeline_writer_size(&timeline) == size);
        limit_files(RLIM_INFINITY);
        size_t second = readings.count;
        scene_live(&scene, &timeline, &readings, 10);
        timeline_writer_close(&timeline);
        assert_gap_alone(&folder, &readings, from, readings.items[second].ticks);
        free(readings.items);
        folder_remove(&folder);
    }
}

/* Also when the first segment cannot even be begun: no file is left over. */
static void a_segment_that_does_not_fit_leaves_no_file(void **state)
{
    struct folder folder = folder_new();
    struct scene scene = scene_new(0, 0x5555555555555555u);
    struct timeline_writer timeline;
    char path[96];
    (void)state;
    assert_int_equal(timeline_writer_open_boot(&timeline, folder.path, SIZE_MAX_BYTES, 1, boot_a),
                     0);
    while (!scene_publish(&scene))
        scene_wait(&scene);
    limit_files(200);
    live_unwritten(&scene, &timeline, 3);
    limit_files(RLIM_INFINITY);
    file_path(&folder, 1, path);
    assert_int_equal(access(path, F_OK), -1);
    scene_append(&scene, &timeline, 3);
    assert_int_equal(access(path, F_OK), 0);
    timeline_writer_close(&timeline);
    folder_remove(&folder);
}

/*
 * The writer before may have published what it did not write, so its last line holds for a lease,
 * and not up to the first line that this one could not write.
 */
static void assert_lost_by_the_second(struct log *log)
{
    struct timebase_timeline_gap gap;
    uint64_t last = log->scene.published_ticks;
    log_begin(log, boot_a);
    limit_files(timeline_writer_size(&log->timeline));
    live_unwritten(&log->scene, &log->timeline, 3);
    limit_files(RLIM_INFINITY);
    size_t second = log->readings.count;
    log_live(log, 10);
    timebase_timeline *reader = reader_open(&log->folder);
    assert_true(timebase_timeline_gaps(reader, &gap, 1) == 1);
    assert_int_equal(gap.reason, TIMEBASE_TIMELINE_LOST);
    assert_true(gap.from_ticks > last && gap.from_ticks - last <= LEASE_MAX_TICKS);
    assert_true(gap.to_ticks == log->readings.items[second].ticks);
    assert_int_equal(error_at(reader, gap.from_ticks), TIMEBASE_E_GAP);
    timebase_timeline_close(reader);
}

static void what_a_writer_cannot_write_at_its_begin_is_lost(void **state)
{
    (void)state;
    signal(SIGXFSZ, SIG_IGN);
    for (int is_killed = 0; is_killed < 2; is_killed++) {
        struct log log = log_open();
        /* Of all ticks 0 is the next but a quarter, modulo 2^64: ahead of these, and not behind. */
        if (is_killed)
            log.scene.line.origin_ticks = log.scene.line.now_ticks = UINT64_MAX / 4 * 3;
        log_live(&log, 10);
        if (!is_killed)
            assert_int_equal(timeline_writer_mark(&log.timeline, TIMELINE_MARK_END), 0);
        timeline_writer_close(&log.timeline);
        assert_lost_by_the_second(&log);
        log_close(&log);
    }
}

static void a_full_disk_costs_what_did_not_fit_and_no_more(void **state)
{
    struct folder folder = folder_new();
    (void)state;
    /* A name space of its own, so that nothing stays mounted whatever happens. */
    if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("tmpfs", folder.path, "tmpfs", 0, "size=64k") != 0) {
        print_message("skipped: may not mount a small file system\n");
        rmdir(folder.path);
        skip();
    }
    struct scene scene = scene_new(0, 0x5555555555555555u);
    struct timeline_writer timeline;
    struct readings readings = {0};
    char path[96];
    snprintf(path, sizeof(path), "%s/hog", folder.path);
    assert_int_equal(timeline_writer_open_boot(&timeline, folder.path, SIZE_MAX_BYTES, 1, boot_a),
                     0);
    scene_live(&scene, &timeline, &readings, 10);
    int hog = open(path, O_CREAT | O_WRONLY, 0600);
    char page[4096] = {1};
    while (write(hog, page, sizeof(page)) > 0)
        continue;
    for (;;) { /* what is left of the segment's last block */
        scene_wait(&scene);
        assert_true(scene_publish(&scene));
        if (timeline_writer_append(&timeline, &scene.lines, scene.published_ticks) != 0)
            break;
        scene_read(&scene, &readings, 2);
    }
    uint64_t from = scene.published_ticks;
    live_unwritten(&scene, &timeline, 5);
    close(hog);
    assert_int_equal(unlink(path), 0);
    size_t second = readings.count;
    scene_live(&scene, &timeline, &readings, 10);
    timeline_writer_close(&timeline);
    assert_gap_alone(&folder, &readings, from, readings.items[second].ticks);
    free(readings.items);
    assert_int_equal(umount2(folder.path, MNT_DETACH), 0);
    rmdir(folder.path);
}

/* What has been thrown away under the writer is noticed, and what follows is kept. */
static void a_segment_removed_under_the_writer_is_a_gap(void **state)
{
    struct log log = log_open();
    char path[96];
    (void)state;
    log_live(&log, 10);
    file_path(&log.folder, 1, path);
    assert_int_equal(unlink(path), 0);
    size_t second = log.readings.count;
    log_live(&log, 10);
    timebase_timeline *reader = reader_open(&log.folder);
    for (size_t i = second; i + 1 < log.readings.count; i++)
        assert_reading(reader, &log.readings.items[i]);
    assert_int_equal(error_at(reader, log.readings.items[0].ticks), TIMEBASE_E_TOO_EARLY);
    timebase_timeline_close(reader);
    log_close(&log);
}

struct shared {
    volatile uint64_t appended;        /* publications that were acknowledged */
    volatile uint64_t published_ticks; /* of the last of them; on 32 bits one access, too */
};

static uint64_t last_published(const struct shared *shared)
{
    return __atomic_load_n(&shared->published_ticks, __ATOMIC_RELAXED);
}

/* Small segments, so that many of the kills fall into their beginnings and ends. */
static void write_until_killed(const struct folder *folder, struct scene scene,
                               struct shared *shared)
{
    struct timeline_writer timeline;
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* a failed test leaves nobody behind */
    if (timeline_writer_open_boot(&timeline, folder->path, 8 * TIMELINE_SIZE_MIN, 1, boot_a) != 0)
        _exit(1);
    for (;;) {
        scene_wait(&scene);
        if (!scene_publish(&scene))
            continue;
        if (timeline_writer_append(&timeline, &scene.lines, scene.published_ticks) != 0)
            _exit(2);
        __atomic_store_n(&shared->published_ticks, scene.published_ticks, __ATOMIC_RELAXED);
        __atomic_store_n(&shared->appended, shared->appended + 1, __ATOMIC_RELEASE);
    }
}

static struct shared *share(void)
{
    void *memory = mmap(NULL, sizeof(struct shared), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(memory != MAP_FAILED);
    return memory;
}

/* kill -9 at random instants: all that was acknowledged is there, at most one end is torn. */
static void a_killed_writer_loses_nothing_it_had_acknowledged(void **state)
{
    struct folder folder = folder_new();
    struct scene scene = scene_new(0, 0x5555555555555555u);
    struct shared *shared = share();
    (void)state;
    for (int i = 0; i < repeats(KILLS); i++) {
        uint64_t enough = shared->appended + 1 + dice_below(&scene.dice, 50);
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0)
            write_until_killed(&folder, scene, shared);
        while (__atomic_load_n(&shared->appended, __ATOMIC_ACQUIRE) < enough)
            sched_yield();
        for (uint64_t spin = dice_below(&scene.dice, 20000); spin > 0; spin--)
            __asm__ __volatile__("");
        kill(child, SIGKILL);
        int status;
        assert_true(waitpid(child, &status, 0) == child && WIFSIGNALED(status));
        timebase_timeline *reader = reader_open(&folder);
        assert_int_equal(error_at(reader, last_published(shared)), 0);
        struct timebase_timeline_damage damage;
        assert_true(timebase_timeline_damages(reader, &damage, 1) <= i + 1);
        timebase_timeline_close(reader);
        scene.line.now_ticks = last_published(shared); /* the next one lives later */
        simulated_wait(&scene.line, 3600 * 1000 * MS);
    }
    munmap(shared, sizeof(*shared));
    folder_remove(&folder);
}

/* So many publications later the newest of before is still there: they do not fill the folder. */
#define KEPT_AT_LEAST (TIMELINE_SIZE_MIN / RECORD_SIZE)

/*
 * The newest is there unless its reader was held up while the writer filled the folder anew; what
 * is older may be gone at any moment. Whether it was there.
 */
static bool read_one(timebase_timeline *reader, struct shared *shared, uint64_t back)
{
    struct timebase_instant got;
    uint64_t before = __atomic_load_n(&shared->appended, __ATOMIC_ACQUIRE);
    int error = timebase_timeline_at(reader, NULL, last_published(shared) - back, &got);
    uint64_t meanwhile = __atomic_load_n(&shared->appended, __ATOMIC_ACQUIRE) - before;
    bool may_be_gone = back > 0 || meanwhile >= KEPT_AT_LEAST;
    if (error != 0 && error != TIMEBASE_E_TOO_EARLY)
        print_error("%s: %llu back, %llu appended meanwhile\n", timebase_strerror(error),
                    (unsigned long long)back, (unsigned long long)meanwhile);
    assert_true(error == 0 || (may_be_gone && error == TIMEBASE_E_TOO_EARLY));
    return error == 0;
}

/* A reader in another process, of a writer in full swing that drops segments, too. */
static void a_reader_meanwhile_gets_the_same_or_a_reason(void **state)
{
    struct folder folder = folder_new();
    struct scene scene = scene_new(0, 0x5555555555555555u);
    struct shared *shared = share();
    unsigned converted = 0;
    (void)state;
    pid_t child = fork();
    if (child == 0)
        write_until_killed(&folder, scene, shared);
    while (__atomic_load_n(&shared->appended, __ATOMIC_ACQUIRE) < 10)
        sched_yield();
    timebase_timeline *reader = reader_open(&folder);
    for (int i = 0; i < repeats(20000); i++)
        converted +=
            read_one(reader, shared,
                     dice_below(&scene.dice, 2) ? 0 : dice_below(&scene.dice, 3000000000000));
    assert_true(converted > 0);
    assert_true(timebase_timeline_gaps(reader, NULL, 0) == 0);
    timebase_timeline_close(reader);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    munmap(shared, sizeof(*shared));
    folder_remove(&folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_record_that_does_not_fit_is_taken_back_and_its_gap_marked),
        cmocka_unit_test(a_segment_that_does_not_fit_leaves_no_file),
        cmocka_unit_test(what_a_writer_cannot_write_at_its_begin_is_lost),
        cmocka_unit_test(a_segment_removed_under_the_writer_is_a_gap),
        cmocka_unit_test(a_killed_writer_loses_nothing_it_had_acknowledged),
        cmocka_unit_test(a_reader_meanwhile_gets_the_same_or_a_reason),
        cmocka_unit_test(a_full_disk_costs_what_did_not_fit_and_no_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
