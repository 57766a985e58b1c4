/* Results files and journals: written whole or not at all, read back, and what becomes of damaged ones. */
#include "unit/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "record/journal.h"
#include "record/machine.h"
#include "unit/scratch.h"

static char folder[SCRATCH_MAX];

static const char *in_folder(const char *name)
{
    static char paths[4][SCRATCH_MAX + 32];
    static unsigned next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

static struct cell make_cell(const char *id, uint64_t *samples, size_t count)
{
    struct cell cell = {.id = (char *)(uintptr_t)id,
                        .backend = "cpu",
                        .samples_ns = samples,
                        .sample_count = count,
                        .median_ns = count > 0 ? samples[0] : 0};
    spec_init(&cell.spec);
    agreement_init(&cell.agreement);
    return cell;
}

static struct results make_results(void)
{
    struct results r = {0};
    struct err err = ERR_INIT;
    const char *argv[] = {"gpubench", "sweep", "a \"quoted\" name"};
    struct json *config = json_new_object();
    json_set_string(config, "name", "test");
    json_set_number(config, "sigma", 0.01);
    assert_true(machine_head(&r, 3, argv, config, &err));
    json_free(config);
    r.devices = mem_calloc(1, sizeof *r.devices, "devices", &err);
    r.device_count = 1;
    strcpy(r.devices[0].selector, "openmp");
    strcpy(r.devices[0].name, "CPU");
    return r;
}

static void write_text(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static char *read_text(const char *path)
{
    struct strbuf text = STRBUF_INIT;
    struct err err = ERR_INIT;
    assert_true(strbuf_add_file(&text, path, &err));
    return text.data;
}

static bool exists(const char *path)
{
    return access(path, F_OK) == 0;
}

static void test_save_and_load(void **state)
{
    (void)state;
    uint64_t samples[] = {5, 6, 7};
    struct results r = make_results(), back;
    struct err err = ERR_INIT;
    struct cell a = make_cell("cpu/1", samples, 3), b = make_cell("cpu/2", samples, 1);
    const char *path = in_folder("plain.json");
    assert_true(results_add(&r, &a, &err) && results_add(&r, &b, &err));
    assert_true(results_save(&r, path, false, &err));
    assert_false(exists(in_folder("plain.json.tmp")));
    assert_true(results_load(path, &back, &err));
    assert_int_equal(back.cell_count, 2);
    assert_false(back.partial);
    assert_string_equal(back.devices[0].name, "CPU");
    assert_int_equal(results_find(&back, "cpu/1")->sample_count, 3);
    assert_null(results_find(&back, "cpu/3"));
    assert_string_equal(json_string(json_at(json_get(back.head, "command"), 2)), "a \"quoted\" name");
    assert_string_equal(json_key(json_at(back.head, 0)), "schema");
    /* What was read is written the same. */
    assert_true(results_save(&back, in_folder("again.json"), false, &err));
    char *first = read_text(path), *second = read_text(in_folder("again.json"));
    assert_string_equal(first, second);
    assert_null(strstr(first, "nan"));
    free(first);
    free(second);
    results_fini(&r);
    results_fini(&back);
}

static void test_an_id_is_there_once(void **state)
{
    (void)state;
    uint64_t samples[] = {5, 6, 7};
    struct results r = make_results();
    struct err err = ERR_INIT;
    struct cell first = make_cell("cpu/1", samples, 0), second = make_cell("cpu/1", samples, 3);
    first.status = CELL_INTERRUPTED;
    assert_true(results_add(&r, &first, &err) && results_add(&r, &second, &err));
    assert_int_equal(r.cell_count, 1);
    assert_int_equal(r.cells[0].status, CELL_OK);
    results_fini(&r);
}

static void test_what_exists_is_not_overwritten(void **state)
{
    (void)state;
    struct results r = make_results();
    struct err err = ERR_INIT;
    const char *path = in_folder("mine.json");
    write_text(path, "mine");
    assert_false(results_save(&r, path, false, &err));
    assert_int_equal(err.code, ERR_IO);
    assert_non_null(strstr(err.text, "mine.json is not overwritten"));
    err_fini(&err);
    char *text = read_text(path);
    assert_string_equal(text, "mine");
    free(text);
    assert_true(results_save(&r, path, true, &err));
    text = read_text(path);
    assert_int_equal(text[0], '{');
    free(text);
    /* A folder in the way. */
    assert_int_equal(mkdir(in_folder("folder.json"), 0777), 0);
    assert_false(results_save(&r, in_folder("folder.json"), true, &err));
    assert_int_equal(err.code, ERR_IO);
    assert_false(exists(in_folder("folder.json.tmp")));
    err_fini(&err);
    results_fini(&r);
}

static void test_a_full_disk_leaves_nothing(void **state)
{
    (void)state;
    struct results r = make_results();
    struct err err = ERR_INIT;
    if (symlink("/dev/full", in_folder("full.json.tmp")) != 0)
        skip();
    assert_false(results_save(&r, in_folder("full.json"), false, &err));
    assert_int_equal(err.code, ERR_IO);
    assert_non_null(strstr(err.text, "No space left"));
    assert_false(exists(in_folder("full.json")));
    err_fini(&err);
    results_fini(&r);
}

static void test_default_path(void **state)
{
    (void)state;
    char path[SCRATCH_MAX * 2], next[SCRATCH_MAX * 2];
    struct err err = ERR_INIT;
    const char *dir = in_folder("new");
    assert_true(results_default_path(dir, "crossover", path, sizeof path, &err));
    assert_int_equal(strlen(path), strlen(dir) + strlen("/crossover-YYYYMMDDThhmmss.json"));
    /* The journal of a run in progress takes the name too. */
    strcpy(next, path);
    strcat(next, ".partial");
    write_text(next, "");
    assert_true(results_default_path(dir, "crossover", next, sizeof next, &err));
    assert_string_not_equal(next, path);
    assert_false(results_default_path(dir, "crossover", next, 10, &err));
    err_fini(&err);
}

static void refuse(const char *text, enum err_code code, const char *message)
{
    struct results r;
    struct err err = ERR_INIT;
    const char *path = in_folder("bad.json");
    char full[SCRATCH_MAX * 2];
    write_text(path, text);
    assert_false(results_load(path, &r, &err));
    snprintf(full, sizeof full, message, path);
    assert_string_equal(err.text, full);
    assert_int_equal(err.code, code);
    err_fini(&err);
}

static void test_what_is_no_results_file(void **state)
{
    (void)state;
    struct results r;
    struct err err = ERR_INIT;
    refuse("{}", ERR_CONFIG, "%s is not a gpubench results file: its \"schema\" is not \"gpubench-results\"");
    refuse("{\"schema\": \"gpubench-results\", \"version\": 7}", ERR_VERSION,
           "%s is of results version 7, and this gpubench reads version 1");
    refuse("{\"schema\": \"gpubench-results\", \"version\": 1}", ERR_CONFIG, "%s: $.cells must be an array");
    refuse("{\"schema\": \"gpubench-results\", \"version\": 1, \"devices\": [], \"cells\": [{\"id\": \"a\", "
           "\"backend\": "
           "\"b\", \"kind\": \"openmp\", \"status\": \"ok\", \"device\": 0, \"params\": {}}]}",
           ERR_CONFIG, "%s: cell \"a\": device 0 is not in the file");
#define CELL_A "{\"id\": \"a\", \"backend\": \"b\", \"kind\": \"openmp\", \"status\": \"skipped\", \"reason\": \"x\", " \
               "\"device\": 0, \"params\": {}}"
    refuse("{\"schema\": \"gpubench-results\", \"version\": 1, \"devices\": [{\"selector\": \"openmp\", "
           "\"backend\": \"openmp\"}], \"cells\": [" CELL_A ", " CELL_A "]}",
           ERR_CONFIG, "%s: $.cells[1]: cell \"a\" is there twice");
    assert_false(results_load(in_folder("none.json"), &r, &err));
    assert_int_equal(err.code, ERR_IO);
    err_fini(&err);
}

static void test_texts_command_no_terminal(void **state)
{
    static const char text[] =
        "{\"schema\": \"gpubench-results\", \"version\": 1, \"config\": {\"name\": \"a\\u001b[2Jb\\nc\"},"
        "\"devices\": [{\"selector\": \"openmp\", \"backend\": \"openmp\", \"name\": \"x\\u001b[31m\xc2\x9b "
        "y\"}],"
        "\"cells\": []}";
    struct results r;
    struct err err = ERR_INIT;

    (void)state;
    assert_true(results_parse(text, strlen(text), "r.json", &r, &err));
    assert_string_equal(r.devices[0].name, "x [31m  y");
    assert_string_equal(json_string(json_get(json_get(r.head, "config"), "name")), "a [2Jb c");
    results_fini(&r);
}

static void test_files_from_before_there_were_sources(void **state)
{
#define WITH_SCENE(kind)                                                                                     \
    "{\"schema\": \"gpubench-results\", \"version\": 1, \"config\": {\"scene\": {\"kind\": \"" kind "\"}}, "         \
    "\"devices\": [{\"selector\": \"openmp\", \"backend\": \"openmp\"}], \"cells\": [" CELL_A "]}"
    static const char *const texts[] = {WITH_SCENE("random"), WITH_SCENE("file")};
    static const enum scene_source want[] = {SOURCE_RANDOM, SOURCE_FILE};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct results r;
        struct err err = ERR_INIT;
        const char *path = in_folder("old.json");
        write_text(path, texts[i]);
        assert_true(results_load(path, &r, &err));
        assert_int_equal(r.cells[0].spec.source, want[i]);
        results_fini(&r);
    }
}

static void test_journal(void **state)
{
    (void)state;
    uint64_t samples[] = {5, 6, 7};
    struct results r = make_results(), back;
    struct journal *journal;
    struct err err = ERR_INIT;
    struct cell a = make_cell("cpu/1", samples, 3), b = make_cell("cpu/2", samples, 1);
    const char *path = in_folder("run.json.partial");
    assert_true(journal_create(path, &r, &journal, &err));
    assert_true(journal_add(journal, &a, false, &err));
    /* On disk at once, before it is closed. */
    assert_true(results_load(path, &back, &err));
    assert_true(back.partial);
    assert_int_equal(back.cell_count, 1);
    results_fini(&back);
    assert_true(journal_add(journal, &b, true, &err));
    struct journal *second;
    assert_false(journal_create(path, &r, &second, &err));
    assert_non_null(strstr(err.text, "is what an unfinished run left"));
    err_fini(&err);
    journal_close(journal, true);
    assert_true(results_load(path, &back, &err));
    assert_int_equal(back.cell_count, 2);
    assert_true(results_is_refined(&back, "cpu/2") && !results_is_refined(&back, "cpu/1"));
    assert_true(results_same_run(&back, &r, &err));
    results_fini(&back);
    results_fini(&r);
}

/* What passes measured and what the machine did comes back as a finished run has it. */
static void test_a_journal_of_passes(void **state)
{
    (void)state;
    uint64_t samples[] = {5, 6, 7}, ns;
    struct results r = make_results(), back;
    struct journal *journal;
    struct err err = ERR_INIT;
    struct cell a = make_cell("cpu/1", samples, 3), b = make_cell("cpu/2", samples, 1);
    const char *path = in_folder("passes.partial");
    struct json *record = json_new_object();
    json_set_string(record, "when", "before");
    json_set_u64(json_set_object(r.head, "passes"), "count", 3);
    assert_true(journal_create(path, &r, &journal, &err));
    assert_true(journal_add_environment(journal, record, &err));
    assert_true(journal_add_pass(journal, &a, 0, 11, &err));
    assert_true(journal_add_pass(journal, &b, 0, 0, &err)); /* not ok */
    json_set_string(record, "when", "between");
    assert_true(journal_add_environment(journal, record, &err));
    assert_true(journal_add_pass(journal, &a, 1, 12, &err));
    json_set_string(record, "when", "lost");
    assert_true(journal_add_environment(journal, record, &err)); /* no cell came after it */
    journal_close(journal, true);
    assert_true(results_load(path, &back, &err));
    assert_int_equal(back.cell_count, 2);
    const struct json *records = json_get(back.head, "environment"), *passes = json_get(back.head, "passes");
    assert_int_equal(json_count(records), 2);
    assert_string_equal(json_string(json_get(json_at(records, 1), "when")), "between");
    assert_true(json_u64(json_get(passes, "count"), &ns) && ns == 3);
    const struct json *medians = json_get(passes, "medians_ns");
    assert_int_equal(json_count(medians), 1);
    const struct json *list = json_get(medians, "cpu/1");
    assert_int_equal(json_count(list), 2);
    assert_true(json_u64(json_at(list, 0), &ns) && ns == 11);
    assert_true(json_u64(json_at(list, 1), &ns) && ns == 12);
    results_fini(&back);
    json_free(record);
    results_fini(&r);
}

static void test_a_journal_cut_short_is_gone_on_with(void **state)
{
    (void)state;
    uint64_t samples[] = {5, 6, 7};
    struct results r = make_results(), back;
    struct journal *journal;
    struct err err = ERR_INIT;
    struct cell a = make_cell("cpu/1", samples, 3), b = make_cell("cpu/2", samples, 1);
    const char *path = in_folder("cut.partial");
    assert_true(journal_create(path, &r, &journal, &err));
    assert_true(journal_add(journal, &a, false, &err));
    assert_true(journal_add(journal, &b, false, &err));
    journal_close(journal, true);
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(truncate(path, st.st_size - 20), 0);
    assert_true(results_load(path, &back, &err));
    assert_int_equal(back.cell_count, 1);
    results_fini(&back);
    assert_true(journal_reopen(path, &journal, &err));
    assert_true(journal_add(journal, &b, false, &err));
    journal_close(journal, true);
    assert_true(results_load(path, &back, &err));
    assert_int_equal(back.cell_count, 2);
    results_fini(&back);
    results_fini(&r);
}

static void test_a_journal_of_nothing_is_removed(void **state)
{
    (void)state;
    uint64_t samples[] = {5};
    struct results r = make_results();
    struct journal *journal;
    struct err err = ERR_INIT;
    struct cell a = make_cell("cpu/1", samples, 1);
    const char *path = in_folder("nothing.partial");
    assert_true(journal_create(path, &r, &journal, &err));
    journal_close(journal, true);
    assert_false(exists(path));
    assert_true(journal_create(path, &r, &journal, &err));
    assert_true(journal_add(journal, &a, false, &err));
    journal_close(journal, false);
    assert_false(exists(path));
    results_fini(&r);
}

static void test_another_run_is_not_gone_on_with(void **state)
{
    (void)state;
    struct results then = make_results(), now = make_results();
    struct err err = ERR_INIT;
    then.path = mem_strdup("x.partial", &err);
    assert_true(results_same_run(&then, &now, &err));
    /* A text of the config that was made plain when it was read. */
    json_set_string((struct json *)(uintptr_t)json_get(then.head, "config"), "comment", "a b");
    json_set_string((struct json *)(uintptr_t)json_get(now.head, "config"), "comment", "a\tb");
    assert_true(results_same_run(&then, &now, &err));
    strcpy(now.devices[0].driver_version, "2.0");
    assert_false(results_same_run(&then, &now, &err));
    assert_non_null(strstr(err.text, "another driver"));
    err_fini(&err);
    now.devices[0].driver_version[0] = '\0';
    json_free(now.head);
    now.head = json_new_object();
    struct json *config = json_set_object(now.head, "config");
    json_set_string(config, "name", "test");
    json_set_number(config, "sigma", 0.02);
    assert_false(results_same_run(&then, &now, &err));
    assert_string_equal(err.text, "x.partial was measured with another config: \"sigma\" has changed");
    err_fini(&err);
    results_fini(&then);
    results_fini(&now);
}

static int make_folder(void **state)
{
    (void)state;
    scratch_make(folder);
    return 0;
}

static int remove_folder(void **state)
{
    char command[SCRATCH_MAX + 8];
    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_save_and_load),
        cmocka_unit_test(test_an_id_is_there_once),
        cmocka_unit_test(test_what_exists_is_not_overwritten),
        cmocka_unit_test(test_a_full_disk_leaves_nothing),
        cmocka_unit_test(test_default_path),
        cmocka_unit_test(test_what_is_no_results_file),
        cmocka_unit_test(test_texts_command_no_terminal),
        cmocka_unit_test(test_files_from_before_there_were_sources),
        cmocka_unit_test(test_journal),
        cmocka_unit_test(test_a_journal_of_passes),
        cmocka_unit_test(test_a_journal_cut_short_is_gone_on_with),
        cmocka_unit_test(test_a_journal_of_nothing_is_removed),
        cmocka_unit_test(test_another_run_is_not_gone_on_with),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
