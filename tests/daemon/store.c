/* SPDX-License-Identifier: MIT */
/* A publication on its way into a file: in which order, and what is there if it ends half-way. */
#include "cmocka_first.h"

#include <sys/mman.h>

#include "failing_writes.h"
#include "folder.h"
#include "daemon/store.h"

static int new_file(const struct timebase_page *page)
{
    char name[100];
    snprintf(name, sizeof(name), "%s/file", folder);
    int fd = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);
    writes_left = bytes_left = WRITES_SUCCEED;
    assert_int_equal(store_whole(fd, page), 0);
    return fd;
}

static struct timebase_page in_file(int fd)
{
    struct timebase_page page;
    assert_int_equal(pread(fd, &page, sizeof(page), 0), (ssize_t)sizeof(page));
    return page;
}

static void what_is_stored_is_the_page(void **state)
{
    struct timebase_page page = a_page();
    (void)state;
    int fd = new_file(&page);
    for (int i = 0; i < 10; i++) {
        struct timebase_page present = page;
        publish_on(&page);
        publish_count(&page.disruption_marker);
        assert_int_equal(store_publication(fd, &present, &page), 0);
        struct timebase_page file = in_file(fd);
        assert_memory_equal(&file, &page, sizeof(page));
    }
    close(fd);
}

/* Readers follow the number: as long as it is the old one, the old copy is untouched. */
static void whoever_dies_half_way_leaves_the_publication_before(void **state)
{
    struct timebase_page page = a_page();
    (void)state;
    const int copy_size = (int)sizeof(page.copy[0]), number_ends = copy_size + 16;
    const int all = number_ends + (int)(offsetof(struct timebase_page, copy) - 8);
    for (int dies_after = 0; dies_after <= all; dies_after++) {
        int fd = new_file(&page);
        struct timebase_page before = page, after = page;
        publish_on(&after);
        bytes_left = dies_after;
        int result = store_publication(fd, &before, &after);
        struct timebase_page file = in_file(fd);
        const struct timebase_page *shown = file.seq == before.seq ? &before : &after;
        assert_true((result == 0) == (dies_after == all));
        assert_true(file.seq == before.seq || dies_after > number_ends - 8);
        assert_true(file.seq == after.seq || dies_after < number_ends);
        /* Eight bytes are the number, whose lowest one names the copy. */
        size_t copy = file.seq & 1;
        assert_memory_equal(&file.copy[copy], &shown->copy[copy], sizeof(file.copy[copy]));
        assert_int_equal(timebase_page_validate(&file), 0);
        close(fd);
        if (dies_after % 100 == 99)
            publish_on(&page); /* either copy, in turn */
    }
}

/* While refresh_ticks changes, it suits the lines that the number names: the page is valid. */
static void no_lines_are_found_with_a_refresh_beyond_their_silence(void **state)
{
    (void)state;
    for (int grows = 0; grows < 2; grows++)
        for (int dies_after = 0; dies_after < 4; dies_after++) {
            struct timebase_page before = a_page(), after;
            before.copy[1].validity.silent_ticks = before.refresh_ticks + 1;
            after = before;
            publish_on(&after);
            after.refresh_ticks = grows ? before.refresh_ticks * 5 : before.refresh_ticks / 5;
            after.copy[0].validity.silent_ticks = after.refresh_ticks + 1;
            int fd = new_file(&before);
            writes_left = dies_after;
            assert_int_equal(store_publication(fd, &before, &after), -1);
            struct timebase_page file = in_file(fd);
            assert_int_equal(timebase_page_validate(&file), 0);
            assert_true(file.seq == (dies_after < 3 ? before.seq : after.seq));
            close(fd);
        }
}

/* A number that carries over bytes may be seen in part; the copy it names is whole all the same. */
static void a_number_half_written_names_a_whole_copy(void **state)
{
    static const uint64_t numbers[] = {0xff, 0x1ff, 0xffff, 0x1ffff, 0xfffe, 0x100};
    (void)state;
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        struct timebase_page page = a_page();
        page.seq = numbers[i];
        publish_on(&page);
        for (int cut = 1; cut < 8; cut++) {
            struct timebase_page before = page, after = page;
            publish_on(&after);
            int fd = new_file(&before);
            bytes_left = (int)sizeof(after.copy[0]) + 8 + cut;
            store_publication(fd, &before, &after);
            struct timebase_page file = in_file(fd);
            size_t copy = file.seq & 1;
            assert_true(memcmp(&file.copy[copy], &before.copy[copy], sizeof(file.copy[copy])) ==
                            0 ||
                        memcmp(&file.copy[copy], &after.copy[copy], sizeof(file.copy[copy])) == 0);
            close(fd);
        }
    }
}

static void short_writes_are_gone_on_with(void **state)
{
    struct timebase_page page = a_page();
    char name[100];
    (void)state;
    snprintf(name, sizeof(name), "%s/short", folder);
    int fd = open(name, O_RDWR | O_CREAT, 0600);
    writes_left = WRITES_SUCCEED;
    bytes_left = 100;
    assert_int_equal(store_whole(fd, &page), -1);
    assert_int_equal(errno, EIO);
    close(fd);
}

/* Who has it mapped sees what is written. */
static void mapped_readers_see_it(void **state)
{
    struct timebase_page page = a_page();
    struct timebase_instant instant;
    (void)state;
    int fd = new_file(&page);
    const struct timebase_page *mapped = mmap(NULL, sizeof(page), PROT_READ, MAP_SHARED, fd, 0);
    assert_ptr_not_equal(mapped, MAP_FAILED);
    struct timebase_page present = page;
    publish_on(&page);
    assert_int_equal(store_publication(fd, &present, &page), 0);
    assert_true(timebase_page_convert(mapped, 5000, &instant));
    assert_true(instant.mono_ns == 5000);
    assert_true(mapped->seq == page.seq);
    munmap((void *)(uintptr_t)mapped, sizeof(page));
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_stored_is_the_page),
        cmocka_unit_test(whoever_dies_half_way_leaves_the_publication_before),
        cmocka_unit_test(no_lines_are_found_with_a_refresh_beyond_their_silence),
        cmocka_unit_test(a_number_half_written_names_a_whole_copy),
        cmocka_unit_test(short_writes_are_gone_on_with),
        cmocka_unit_test(mapped_readers_see_it),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
