#include "unit/made.h"

/* Elements that have no end. */
static bool is_void(const char *name)
{
    return strcmp(name, "meta") == 0 || strcmp(name, "!DOCTYPE") == 0;
}

/* Every element that is opened is closed, in order; returns how many there were. */
static size_t check_elements(const char *html)
{
    char open[64][16];
    size_t depth = 0, seen = 0;

    for (const char *at = strchr(html, '<'); at; at = strchr(at + 1, '<')) {
        bool end = at[1] == '/';
        const char *name = at + 1 + end, *close = strchr(at, '>');
        size_t len = strcspn(name, " />\n");
        char text[16];
        assert_non_null(close);
        assert_true(len > 0 && len < sizeof(text));
        memcpy(text, name, len);
        text[len] = '\0';
        if (end) {
            assert_true(depth > 0);
            assert_string_equal(text, open[--depth]);
        } else if (close[-1] != '/' && !is_void(text)) {
            assert_true(depth < 64);
            strcpy(open[depth++], text);
        }
        seen++;
    }
    assert_int_equal(depth, 0);
    return seen;
}

static char *page_of(const struct results *r, const char *kind)
{
    struct table *tables = NULL;
    struct strbuf sb = STRBUF_INIT;
    struct err err = ERR_INIT;
    size_t count = 0;

    if (kind)
        assert_true(table_kind_find(kind)->make(r, &tables, &count, &err));
    assert_true(results_write_html(&(struct table_run){r, tables, count}, 1, &sb, &err));
    tables_free(tables, count);
    check_elements(sb.data);
    assert_null(strstr(sb.data, "nan"));
    assert_null(strstr(sb.data, "inf"));
    assert_null(strstr(sb.data, "http")); /* nothing is loaded from elsewhere */
    assert_null(strstr(sb.data, "<script"));
    return sb.data;
}

static void expect_in(const char *html, const char *text)
{
    if (!strstr(html, text))
        fail_msg("not in the page: %s", text);
}

static void test_the_whole_page(void **state)
{
    struct results r;
    (void)state;
    made_init(&r);
    made_crossover(&r, MADE_GPU, 20);
    for (size_t i = 1; i < r.cell_count; i += 2)
        made_phases(&r.cells[i], r.cells[i].median_ns);
    r.cells[0].samples_ns[3] *= 9;
    made_fail(&r.cells[3], CELL_WRONG, "vertices 3.1e-2 & more than <allowed>");
    struct json *command = json_set_array(r.head, "command");
    json_add_string(command, "gpubench");
    json_add_string(command, "it's <mine>.json");
    char *html = page_of(&r, "crossover");
    expect_in(html, "<p class=\"verdict\">H200 wins 7 of 8 points, up to 3.9 times as fast; CPU 1, up to "
                    "1.76 times as fast."
                    "<span class=\"note\">NVIDIA H200 [0:0 ptx], fused + ordered, call: loader · gradient, batch "
                    "16, sigma 0.01, random scenes</span></p>");
    expect_in(html,
              "<p class=\"note\">AMD EPYC 7B13 64-Core Processor [openmp avx2], 2 threads, "
              "NVIDIA H200 [ocl:0:0 ptx]");
    expect_in(html, "wrong: vertices 3.1e-2 &amp; more than &lt;allowed&gt;</li>");
    expect_in(html, "<td class=\"h1\"><b>0.56 <i>[0.56,0.57]</i></b><small>CPU</small></td>");
    expect_in(html, "<td class=\"hx\">wrong</td>");
    expect_in(html, "<caption>the device's own time (by events: no interval)</caption>");
    expect_in(html, "aria-label=\"heat map, the device's own time: NVIDIA H200 [0:0 ptx], fused + ordered, call: "
                    "loader; gradient, batch");
    expect_in(html, "<td class=\"h3\"><b>1.13</b><small>H200</small></td>");
    expect_in(html,
              "<td class=\"loser\">0.56 [0.56,0.57] CPU</td>"); /* the table has the heat map's figures */
    expect_in(html, "<title>upload: 46.6 us, 20 %</title>");
    expect_in(html, ">upload 20 %</text>");
    expect_in(html, ">64²: 85 [83,85]</text>");
    expect_in(html, "64²: CPU below 85 [83,85] triangles, H200 above</p>"); /* the table says the same */
    expect_in(html, "1 beyond</text>");
    expect_in(html,
              "-t\">Phases of a call: NVIDIA H200 [0:0 ptx], fused + ordered, call: loader; gradient, batch "
              "16, sigma 0.01, random scenes; 256² × 512: 8.59 ms, dispatch 70 %</title>");
    expect_in(html, "-t\">Time of a call: NVIDIA H200 [0:0 ptx], fused + ordered, call: loader; gradient, batch "
                    "16, sigma 0.01, random scenes; 256² × 512: CPU 33.6 ms, H200 8.59 ms</title>");
    expect_in(html, "<pre tabindex=\"0\" role=\"region\" aria-label=\"command\"><code>gpubench "
                    "'it'\\''s &lt;mine&gt;.json'</code></pre>");
    free(html);
    made_fini(&r);
}

static void test_pages_of_little(void **state)
{
    struct results r;
    char *html;
    (void)state;
    made_init(&r);
    html = page_of(&r, NULL);
    expect_in(html, "there is nothing to compare it with");
    free(html);
    made_cell(&r, "cpu", MADE_CPU, 64, 0, 1000, 1)->spec.batch = 0;
    free(page_of(&r, "speedup"));
    made_cell(&r, "device", MADE_GPU, 64, 0, 0, 1)->spec.batch = 0;
    html = page_of(&r, "scaling");
    expect_in(html, "no point has a time of both");
    free(html);
    json_free(r.head);
    r.head = NULL;
    r.partial = true;
    html = page_of(&r, "phases");
    expect_in(html, "The run was interrupted");
    free(html);
    made_fini(&r);
}

/* 4e12 FLOP/s and 1e12 bytes/s: the roof's corner is at 4 FLOP a byte. */
static void test_points_below_their_roof(void **state)
{
    struct results r;
    (void)state;
    made_init(&r);
    made_cell(&r, "cpu", MADE_CPU, 64, 32, 2000000, 10)->pairs = 100000;
    struct cell *cell = made_cell(&r, "device", MADE_GPU, 64, 32, 2000000, 10);
    cell->pairs = 1000000;
    cell->device_ns = 1450000;
    char *html = page_of(&r, NULL);
    assert_null(strstr(html, "Below the roofs")); /* no ceilings */
    free(html);
    struct json *records = json_set_array(r.head, "environment");
    struct json *top = json_add_object(json_set_array(json_add_object(records), "ceilings"));
    json_set_string(top, "on", "ocl:0:0");
    json_set_number(top, "flop_per_s", 4e12);
    json_set_number(top, "copy_bytes_per_s", 1e12);
    html = page_of(&r, NULL);
    expect_in(html, "<h2>Below the roofs</h2>");
    expect_in(html, ">H200: 4.00 TFLOP/s, 1.00 TB/s</text>");
    /* 145 FLOP a pair */
    expect_in(html, "<title>64² × 32: 100 GFLOP/s, ");
    assert_null(strstr(html, ">CPU: ")); /* it has no roof */
    expect_in(html, "-t\">Roofline: H200 reaches 100 GFLOP/s of 4.00 TFLOP/s at 64² × 32</title>");
    free(html);
    top = json_add_object(json_set_array(json_add_object(records), "ceilings"));
    json_set_string(top, "on", "openmp");
    json_set_number(top, "flop_per_s", 1e11);
    json_set_number(top, "copy_bytes_per_s", 1e11);
    html = page_of(&r, NULL);
    expect_in(html, "<path d=\"M-4-4h8v8h-8z\"");  /* the CPU: squares */
    expect_in(html, "<path d=\"M-4.5 0a4.5 4.5 "); /* the H200: circles */
    free(html);
    made_fini(&r);
}

/* The line that wins by most stands on top; all of them are in a list. */
static void test_the_best_of_many_lines(void **state)
{
    static const char *const names[] = {"fused", "taped", "recompute"};
    struct results r;
    (void)state;
    made_init(&r);
    made_cell(&r, "cpu", MADE_CPU, 64, 32, 4000000, 10);
    for (int i = 0; i < 3; i++)
        made_cell(&r, names[i], MADE_GPU, 64, 32, i == 1 ? 1000000 : 2000000, 10)->spec.strategy =
            (enum strategy)i;
    char *html = page_of(&r, NULL);
    expect_in(
        html,
        "<p class=\"verdict\">The best of 3: H200 wins everywhere measured, up to 4.0 times as fast as CPU.");
    expect_in(html, "<summary>All 3</summary>");
    assert_null(strstr(strstr(html, "class=\"verdict\"") + 1, "class=\"verdict\""));
    free(html);
    made_fini(&r);
}

/* Curves go through what sweep --refine added, by which crossings are told; only the grid has labels. */
static void test_refined_points_are_drawn(void **state)
{
    static const uint32_t triangles[] = {32, 512, 128};
    struct results r;
    struct err err = ERR_INIT;
    (void)state;
    made_init(&r);
    for (size_t i = 0; i < 3; i++) {
        made_cell(&r, "cpu", MADE_CPU, 64, triangles[i], triangles[i] * 1000u, 10);
        made_cell(&r, "device", MADE_GPU, 64, triangles[i], 100000, 10);
    }
    struct json *refined = json_set_array(r.head, "refined");
    for (size_t i = 0; i < r.cell_count; i++) {
        char id[2] = {(char)('a' + i), '\0'};
        r.cells[i].id = mem_strdup(id, &err);
        if (i >= 4)
            json_add_string(refined, id);
    }
    char *html = page_of(&r, NULL);
    const char *first = strstr(html, "L355.0 "); /* half way from 32 to 512 */
    assert_non_null(first);
    assert_non_null(strstr(first + 1, "L355.0 "));
    assert_non_null(strstr(html, ">512</text>"));
    assert_null(strstr(html, ">128</text>"));
    free(html);
    made_fini(&r);
}

/* Each run is there, with who wins, and no id twice. */
static void test_several_runs_are_one_page(void **state)
{
    struct results r;
    struct table_run runs[2] = {{.results = &r}, {.results = &r}};
    struct strbuf sb = STRBUF_INIT;
    struct err err = ERR_INIT;
    (void)state;
    made_init(&r);
    made_crossover(&r, MADE_GPU, 20);
    assert_true(results_write_html(runs, 2, &sb, &err));
    check_elements(sb.data);
    expect_in(sb.data, "<h1>gpubench: 2 runs</h1>");
    expect_in(sb.data, "<a href=\"#run1\">results</a>: H200 wins ");
    for (const char *at = sb.data; (at = strstr(at, " id=\"")); at++) {
        char id[64];
        snprintf(id, sizeof(id), "%.*s", (int)strcspn(at + 5, "\"") + 6, at);
        assert_null(strstr(at + 1, id));
    }
    strbuf_fini(&sb);
    made_fini(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_whole_page),           cmocka_unit_test(test_pages_of_little),
        cmocka_unit_test(test_points_below_their_roof),  cmocka_unit_test(test_the_best_of_many_lines),
        cmocka_unit_test(test_refined_points_are_drawn), cmocka_unit_test(test_several_runs_are_one_page),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
