#include "unit/made.h"

static void make(struct table *t)
{
    table_init(t, "made");
    table_title(t, "CPU time / device time    random_scenes");
    table_note(t, "device: H200 [0:0 ptx]");
    table_column(t, ALIGN_RIGHT, KEEP_ALWAYS, "size");
    table_column(t, ALIGN_LEFT, 10, "call\nms");
    table_row(t);
    table_put(t, MARK_NONE, NAN, "64²");
    table_put(t, MARK_WINNER, 1.5, "1.50|x");
    table_row(t);
    table_put(t, MARK_NONE, NAN, "%s", "");
    table_put(t, MARK_NONE, NAN, "1.2 / 0.8 ms");
    table_row(t);
    table_put(t, MARK_NONE, NAN, "96²");
    table_put(t, MARK_NONE, 2, "2");
    table_foot(t, "H200 wins everywhere measured");
    table_foot(t, "  why so, of the line above");
}

static void test_lines_and_fields(void **state)
{
    struct table t;
    struct strbuf sb = STRBUF_INIT;
    struct err err = ERR_INIT;
    (void)state;
    make(&t);
    assert_true(table_write_markdown(&t, &sb, &err));
    assert_string_equal(strbuf_str(&sb), "**CPU time / device time · random\\_scenes**\n"
                                         "\n"
                                         "- device: H200 \\[0:0 ptx]\n"
                                         "\n"
                                         "| size | call ms |\n"
                                         "|---:|:---|\n"
                                         "| 64² | **1.50\\|x**<br>1.2 / 0.8 ms |\n"
                                         "| 96² | 2 |\n"
                                         "\n"
                                         "- H200 wins everywhere measured\n"
                                         "  - why so, of the line above\n"
                                         "\n");
    strbuf_reset(&sb);
    assert_true(table_write_text(&t, 80, false, &sb, &err));
    assert_non_null(strstr(strbuf_str(&sb), "\nH200 wins everywhere measured\n  why so, of the line above\n"));
    strbuf_fini(&sb);
    table_fini(&t);
}

static void test_json_reads_back(void **state)
{
    struct table t[2];
    struct strbuf sb = STRBUF_INIT;
    struct err err = ERR_INIT;
    (void)state;
    make(&t[0]);
    table_init(&t[1], "empty");
    assert_true(tables_write_json(&(struct table_run){NULL, t, 2}, 1, &sb, &err));
    struct json *root = json_parse(strbuf_str(&sb), sb.len, "tables", &err);
    assert_non_null(root);
    const struct json *tables = json_get(root, "tables");
    assert_int_equal(json_count(tables), 2);
    const struct json *first = json_at(tables, 0), *field = json_at(json_at(json_get(first, "rows"), 0), 1);
    assert_string_equal(json_string(json_get(first, "name")), "made");
    assert_string_equal(json_string(json_get(field, "text")), "1.50|x");
    assert_float_equal(json_number(json_get(field, "value")), 1.5, 0);
    assert_string_equal(json_string(json_get(field, "mark")), "winner");
    assert_int_equal(json_type(json_get(json_at(json_at(json_get(first, "rows"), 0), 0), "value")),
                     JSON_NULL);
    assert_int_equal(json_count(json_get(json_at(tables, 1), "rows")), 0);
    json_free(root);
    strbuf_fini(&sb);
    table_fini(&t[0]);
    table_fini(&t[1]);
}

/* Fields of a line of CSV, quotes minded. */
static size_t fields_of(const char *line)
{
    size_t fields = 1;
    bool quoted = false;

    for (; *line && *line != '\n'; line++) {
        quoted ^= *line == '"';
        fields += *line == ',' && !quoted;
    }
    return fields;
}

static void test_csv_has_one_header_and_as_many_fields_in_every_row(void **state)
{
    struct results r;
    struct strbuf sb = STRBUF_INIT, empty = STRBUF_INIT;
    struct err err = ERR_INIT;
    (void)state;
    made_init(&r);
    assert_true(results_write_csv(&(struct table_run){.results = &r}, 1, &empty, &err));
    made_cell(&r, "cpu", MADE_CPU, 64, 32, 131000, 7);
    r.cells[0].ci95_ns[0] = 130000;
    r.cells[0].ci95_ns[1] = 132000;
    made_cell(&r, "device", MADE_GPU, 96, 32, 233000, 2)->spec.height = 64;
    made_phases(&r.cells[1], 240000);
    made_fail(made_cell(&r, "device", MADE_GPU, 96, 128, 1, 1), CELL_FAILED, "a \"driver\", or so\nit seems");
    r.cells[2].agreement.value[AGREE_IMAGE] = INFINITY;
    assert_true(results_write_csv(&(struct table_run){.results = &r}, 1, &sb, &err));
    const char *text = strbuf_str(&sb);
    assert_int_equal(strncmp(text, strbuf_str(&empty), empty.len), 0);
    assert_string_equal(
        strbuf_str(&empty),
        "run,created,id,backend,device,mode,width,height,triangles,batch,sigma,source,call,upstream,variant,"
        "threads,strategy,reduction,dispatch,loss,pool,images,workgroup,status,reason,quantity,unit,"
        "value,low,high,samples\n");
    assert_non_null(strstr(text,
                           ",,,cpu,AMD EPYC 7B13 64-Core Processor,gradient,64,64,32,16,0.01,random,,false,fast,0,"
                           ",,,,,,,ok,,median,ns,131000,130000,132000,7\n"));
    assert_non_null(strstr(text,
                           ",,,device,NVIDIA H200,gradient,96,64,32,16,0.01,random,loader,false,,,fused,ordered,"
                           "batched,device,on,device,0,ok,,dispatch,ns,168000,,,\n"));
    assert_non_null(strstr(text, "failed,\"a \"\"driver\"\", or so\nit seems\",median,ns,,,,\n"));
    assert_non_null(strstr(text, ",error_image,,,,,\n"));
    assert_null(strstr(text, "inf"));
    size_t want = fields_of(text);
    for (const char *line = text; line && *line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL)
        if (!strstr(line, "or so\nit") || strstr(line, "or so\nit") > strchr(line, '\n'))
            if (strncmp(line, "it seems", 8) != 0)
                assert_int_equal(fields_of(line), want);
    strbuf_fini(&sb);
    strbuf_fini(&empty);
    made_fini(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines_and_fields),
        cmocka_unit_test(test_json_reads_back),
        cmocka_unit_test(test_csv_has_one_header_and_as_many_fields_in_every_row),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
