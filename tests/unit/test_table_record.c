#include "unit/made.h"

/* All tables of a kind, one after the other, at 80 columns. */
static void expect_tables(const struct results *r, const char *kind, const char *want)
{
    struct table *tables = NULL;
    struct strbuf got = STRBUF_INIT;
    struct err err = ERR_INIT;
    size_t count = 0;

    assert_true(table_kind_find(kind)->make(r, &tables, &count, &err));
    for (size_t i = 0; i < count; i++)
        assert_true(table_write_text(&tables[i], 80, false, &got, &err));
    assert_string_equal(strbuf_str(&got), want);
    tables_free(tables, count);
    strbuf_fini(&got);
}

static void test_gradient(void **state)
{
    static const uint32_t sizes[] = {128, 256, 256}, triangles[] = {64, 128, 512};
    struct results r;
    (void)state;
    made_init(&r);
    for (size_t i = 0; i < 3; i++) {
        made_cell(&r, "cpu", MADE_CPU, sizes[i], triangles[i], 2000000u << 2 * i, 10)->spec.batch = 1;
        for (size_t k = 0; k < 3; k++) {
            static const uint64_t ns[] = {300000, 390000, 100000};
            struct cell *c = made_cell(&r, "device", MADE_GPU, sizes[i], triangles[i], ns[k] << i, 10);
            c->spec.batch = 1;
            c->spec.strategy = (enum strategy)(STRATEGY_TAPED - k);
            c->tape_touched_bytes = (uint64_t)triangles[i] * sizes[i] * sizes[i];
            if (k == 0)
                c->tape_bytes = 12 * c->tape_touched_bytes;
            if (k == 0 && i == 2)
                made_fail(c, CELL_SKIPPED, "the tape needs 403 MB, the budget is 100 MB");
        }
    }
    expect_tables(&r, "gradient",
                  "Three strategies for the backward pass\n"
                  "gradient, batch 1, sigma 0.01, random scenes\n"
                  "CPU: AMD EPYC 7B13, 2 threads, AVX2    device: NVIDIA H200 [0:0 ptx], ordered\n"
                  "call: loader, 1 in flight\n"
                  "speedup: CPU time / the fastest strategy's (above 1: device faster)\n"
                  "gradient error: of all strategies the worst\n"
                  "tape: of all pixels; touched: of the triangles' rectangles alone\n"
                  "                 CPU   taped recompute fused         gradient\n"
                  "size triangles    us      us        us    us speedup    error    tape touched\n"
                  "128²        64  2000     300       390   100      20   2.2e-5 12.6 MB 1.05 MB\n"
                  "256²       128  8000     600       780   200      40   2.2e-5  101 MB 8.39 MB\n"
                  "256²       512 32000 skipped      1560   400      80   2.2e-5  403 MB 33.6 MB\n"
                  "256² × 512 on H200 skipped: the tape needs 403 MB, the budget is 100 MB\n");
    made_fini(&r);
}

static void test_batch(void **state)
{
    static const uint32_t batches[] = {8, 32, 64};
    struct results r;
    (void)state;
    made_init(&r);
    for (size_t i = 0; i < 6; i++) {
        uint32_t batch = batches[i % 3];
        enum render_mode mode = i < 3 ? MODE_FORWARD : MODE_GRADIENT;
        struct cell *c = made_cell(&r, "cpu", MADE_CPU, 128, 64, batch * 300000u, 10);
        c->spec.batch = batch;
        c->spec.mode = mode;
        for (size_t single = 0; single < (i < 5 ? 2 : 1); single++) {
            c = made_cell(&r, "device", MADE_GPU, 128, 64, batch * (single ? 200000u : 20000u), i ? 10 : 3);
            c->spec.batch = batch;
            c->spec.mode = mode;
            c->spec.dispatch = single ? DISPATCH_SINGLE : DISPATCH_BATCHED;
        }
    }
    expect_tables(&r, "batch",
                  "One scene a dispatch (single) against all in one (batched)\n"
                  "128x128, 64 triangles, sigma 0.01, random scenes\n"
                  "CPU: AMD EPYC 7B13, 2 threads, AVX2    device: NVIDIA H200 [0:0 ptx]\n"
                  "call: loader, 1 in flight\n"
                  "gain: single / batched\n"
                  "speedup: CPU time / batched time (above 1: device faster)\n"
                  "                  CPU  single  batched\n"
                  "mode      batch    ms      ms       ms  gain             speedup\n"
                  "forward       8  2.40    1.60    0.160  10?              15 H200?\n"
                  "forward      32  9.60    6.40    0.640  10.0 [9.9,10.1]  15.0 [14.9,15.2] H200\n"
                  "forward      64  19.2    12.8     1.28  10.0 [9.9,10.1]  15.0 [14.9,15.2] H200\n"
                  "gradient      8  2.40    1.60    0.160  10.0 [9.9,10.1]  15.0 [14.9,15.2] H200\n"
                  "gradient     32  9.60    6.40    0.640  10.0 [9.9,10.1]  15.0 [14.9,15.2] H200\n"
                  "gradient     64  19.2       -     1.28  -                15.0 [14.9,15.2] H200\n");
    made_fini(&r);
}

static void test_reduction_without_a_cpu(void **state)
{
    struct results r;
    (void)state;
    made_init(&r);
    for (uint32_t size = 64; size <= 256; size *= 4)
        for (int k = 0; k < 3; k++) {
            static const uint64_t ns[] = {166000, 164600, 574000};
            struct cell *c = made_cell(&r, "device", MADE_GPU, size, 512, ns[k] * size / 64, 10);
            c->spec.reduction = (enum reduction)k;
            c->pairs = 131072u * size;
            c->counts.partial_sums = k == REDUCTION_DIRECT ? 0 : 700u * size;
            c->has_device_time = size != 256 || k != REDUCTION_LOCAL;
        }
    made_fail(&r.cells[r.cell_count - 1], CELL_WRONG, "alpha 1.0e-1, allowed 1.0e-4");
    expect_tables(&r, "reduction",
                  "Three ways to sum gradients    gradient, batch 16, sigma 0.01, random scenes\n"
                  "device: NVIDIA H200 [0:0 ptx], fused    call: loader, 1 in flight\n"
                  "x: speedup over direct (above 1: faster than direct), of the call and of the\n"
                  "device's own time\n"
                  "adds: to global memory, derived from counts: direct 10 a covered pixel and\n"
                  "triangle, local (atomics) and ordered (each to a place of its own) 10 a triangle\n"
                  "and touched tile; these add as often as direct, but in registers and local\n"
                  "memory\n"
                  "               direct local ordered  local ordered local ordered direct others\n"
                  "size triangles     us    us      us x call  x call x dev   x dev   adds   adds\n"
                  " 64²       512    574   165     166    3.5     3.5   3.5     3.5 83.9 M  448 k\n"
                  "256²       512  wrong   658     664      -       -     -       -  336 M 1.79 M\n"
                  "256² × 512 on H200 wrong: alpha 1.0e-1, allowed 1.0e-4\n");
    made_fini(&r);
}

static void test_phases(void **state)
{
    struct results r;
    (void)state;
    made_init(&r);
    for (uint32_t size = 64; size <= 256; size *= 2) {
        uint64_t ns = (uint64_t)size * size * 32;
        struct cell *c = made_cell(&r, "cpu", MADE_CPU, size, 32, ns, 10);
        c->has_phases = true;
        c->phases = (struct render_phases){.dispatch_ns = ns, .total_ns = ns};
        c = made_cell(&r, "device", MADE_GPU, size, 32, ns * 15 / 16, 10);
        c->spec.pool = false;
        made_phases(c, ns);
    }
    made_fail(&r.cells[3], CELL_TIMEOUT, "60 s were not enough");
    r.cells[5].phases = (struct render_phases){0};
    expect_tables(&r, "phases",
                  "Phases of a call    gradient, 32 triangles, batch 16, sigma 0.01, random scenes\n"
                  "device: NVIDIA H200 [0:0 ptx], fused + ordered, pool off\n"
                  "call: loader, 1 in flight\n"
                  "sum: of a synchronised call, from which the phases are\n"
                  "call: the free-running one, median    sync: what synchronising costs\n"
                  "gain: the most a call could gain if the phase were free\n"
                  "                                                     unac-\n"
                  "size      pack alloc upload dispatch readback loss counted sum    call sync\n"
                  " 64²   us 1.31  2.62   26.2     91.8     5.24    0    3.94 131     123 8.19\n"
                  "        %  1.0   2.0     20       70      4.0  0.0     3.0 100         +6.7\n"
                  "     gain 1.01  1.02   1.25     3.33     1.04 1.00    1.03\n"
                  "128²   us    -     -      -        -        -    -       -   - timeout    -\n"
                  "256²   us    0     0      0        0        0    0       0   0    1966    -\n"
                  "pool, a call at 64²: 6 hits, 0 misses, 25.5 MB held\n"
                  "pool, a call at 256²: 6 hits, 0 misses, 25.5 MB held\n"
                  "128² × 32 on H200 timeout: 60 s were not enough\n"
                  "Phases of a call    gradient, 32 triangles, batch 16, sigma 0.01, random scenes\n"
                  "CPU: AMD EPYC 7B13, 2 threads, AVX2    call: 1 in flight\n"
                  "sum: of a synchronised call, from which the phases are\n"
                  "call: the free-running one, median    sync: what synchronising costs\n"
                  "gain: the most a call could gain if the phase were free\n"
                  "                                                     unac-\n"
                  "size      pack alloc upload dispatch readback loss counted  sum call sync\n"
                  " 64²   us    0     0      0      131        0    0       0  131  131    0\n"
                  "        %  0.0   0.0    0.0      100      0.0  0.0     0.0  100      +0.0\n"
                  "     gain 1.00  1.00   1.00      all     1.00 1.00    1.00\n"
                  "128²   us    0     0      0      524        0    0       0  524  524    0\n"
                  "        %  0.0   0.0    0.0      100      0.0  0.0     0.0  100      +0.0\n"
                  "     gain 1.00  1.00   1.00      all     1.00 1.00    1.00\n"
                  "256²   us    0     0      0     2097        0    0       0 2097 2097    0\n"
                  "        %  0.0   0.0    0.0      100      0.0  0.0     0.0  100      +0.0\n"
                  "     gain 1.00  1.00   1.00      all     1.00 1.00    1.00\n");
    made_fini(&r);
}

static void test_scaling(void **state)
{
    struct results r;
    (void)state;
    made_init(&r);
    made_crossover(&r, MADE_GPU, 10);
    for (size_t i = 0; i < r.cell_count; i++) {
        r.cells[i].pairs = 40ull * r.cells[i].spec.triangles * r.cells[i].spec.width;
        if (r.cells[i].kind == BACKEND_OPENCL)
            made_phases(&r.cells[i], r.cells[i].median_ns);
    }
    r.cells[1].median_ns = 400000; /* the smallest is no longer the fastest */
    made_fail(&r.cells[16], CELL_TIMEOUT, "60 s were not enough");
    expect_tables(&r, "scaling",
                  "Cost of four times the pixels, and of four times the triangles\n"
                  "gradient, batch 16, sigma 0.01, random scenes\n"
                  "device: NVIDIA H200 [0:0 ptx], fused + ordered    call: loader, 1 in flight\n"
                  "from the smallest to the largest measured, as if in steps of four: 4 is\n"
                  "proportional, 1 is free\n"
                  "             4x pixels  4x pixels  4x pixels  4x tri.  4x tri.  4x tri.\n"
                  "               32 tri.   128 tri.   512 tri.      64²     128²     256²\n"
                  "call              1.35        2.6        3.4     1.35      2.6      3.4\n"
                  "device            1.76        2.6        3.4     1.76      2.6      3.4\n"
                  "pack              1.76        2.6        3.4     1.76      2.6      3.4\n"
                  "alloc             1.76        2.6        3.4     1.76      2.6      3.4\n"
                  "upload            1.76        2.6        3.4     1.76      2.6      3.4\n"
                  "dispatch          1.76        2.6        3.4     1.76      2.6      3.4\n"
                  "readback          1.76        2.6        3.4     1.76      2.6      3.4\n"
                  "unaccounted       1.76        2.6        3.4     1.76      2.6      3.4\n"
                  "call rises and falls with pixels at 32 triangles\n"
                  "call rises with pixels at 128 triangles, 512 triangles\n"
                  "call rises and falls with triangles at 64²\n"
                  "call rises with triangles at 128², 256²\n"
                  "device rises with pixels throughout    device rises with triangles throughout\n"
                  "Cost of four times the pixels, and of four times the triangles\n"
                  "gradient, batch 16, sigma 0.01, random scenes\n"
                  "CPU: AMD EPYC 7B13, 2 threads, AVX2    call: 1 in flight\n"
                  "from the smallest to the largest measured, as if in steps of four: 4 is\n"
                  "proportional, 1 is free\n"
                  "      4x pixels  4x pixels  4x pixels  4x tri.  4x tri.  4x tri.\n"
                  "        32 tri.   128 tri.   512 tri.      64²     128²     256²\n"
                  "call        4.0        4.0        4.0      4.0      4.0      4.0\n"
                  "call rises with pixels throughout    call rises with triangles throughout\n"
                  "Cost of a triangle and of a covered pixel-triangle pair\n"
                  "gradient, batch 16, sigma 0.01, random scenes\n"
                  "device: NVIDIA H200 [0:0 ptx], fused + ordered    call: loader, 1 in flight\n"
                  "                 call           call       call     device\n"
                  "size  triangles    us  ns a triangle  ns a pair  ns a pair\n"
                  " 64²         32   400            781        4.9        1.4\n"
                  " 64²        128   331            162        1.0       0.51\n"
                  " 64²        512   724             88       0.55       0.28\n"
                  "128²         32   331            647        2.0        1.0\n"
                  "128²        128   724            354        1.1       0.55\n"
                  "128²        512  2297            280       0.88       0.44\n"
                  "256²         32   724           1415        2.2        1.1\n"
                  "256²        128  2297           1122        1.8       0.88\n"
                  "256²        512  8589           1048        1.6       0.82\n"
                  "Cost of a triangle and of a covered pixel-triangle pair\n"
                  "gradient, batch 16, sigma 0.01, random scenes\n"
                  "CPU: AMD EPYC 7B13, 2 threads, AVX2    call: 1 in flight\n"
                  "                    call           call       call\n"
                  "size  triangles       ms  ns a triangle  ns a pair\n"
                  " 64²         32    0.131            256        1.6\n"
                  " 64²        128    0.524            256        1.6\n"
                  " 64²        512     2.10            256        1.6\n"
                  "128²         32    0.524           1024        3.2\n"
                  "128²        128     2.10           1024        3.2\n"
                  "128²        512     8.39           1024        3.2\n"
                  "256²         32     2.10           4096        6.4\n"
                  "256²        128     8.39           4096        6.4\n"
                  "256²        512  timeout        timeout    timeout\n"
                  "256² × 512 on CPU timeout: 60 s were not enough\n");
    made_fini(&r);
}

static void test_kernels(void **state)
{
    struct results r;
    struct err err = ERR_INIT;
    (void)state;
    made_init(&r);
    made_cell(&r, "cpu", MADE_CPU, 64, 32, 1000000, 10);
    struct cell *c = made_cell(&r, "device", MADE_GPU, 64, 32, 400000, 10);
    c->kernels = mem_calloc(2, sizeof(*c->kernels), "kernels", &err);
    assert_non_null(c->kernels);
    c->kernel_count = 2;
    c->kernels[0] = (struct kernel_time){"setup", 1, 20000, 110592};
    c->kernels[1] = (struct kernel_time){"fused", 4, 160000, 0};
    made_fail(made_cell(&r, "device", MADE_GPU, 64, 128, 1, 1), CELL_FAILED, "CL_OUT_OF_RESOURCES (-5)");
    expect_tables(&r, "kernels",
                  "Kernels of a call    gradient, batch 16, sigma 0.01, random scenes\n"
                  "device: NVIDIA H200 [0:0 ptx], fused + ordered    call: loader, 1 in flight\n"
                  "share: of the time from the first kernel's start to the last one's end; what is\n"
                  "missing at 100 is between kernels\n"
                  "bytes: of the arrays that it is given, each once    GB/s: bytes / time\n"
                  "                                   device  share\n"
                  "size  triangles  kernel  launches      us      %   bytes  GB/s\n"
                  " 64²         32  setup          1    20.0   10.0  111 kB   5.5\n"
                  " 64²         32  fused          4     160   80.0       -     -\n"
                  "64² × 128 on H200 failed: CL_OUT_OF_RESOURCES (-5)\n");
    made_fini(&r);
}

static void test_a_single_cell_breaks_no_table(void **state)
{
    size_t count, kinds;
    const struct table_kind *kind = table_kinds(&kinds);
    struct results r;
    (void)state;
    for (uint64_t ns = 0; ns <= 1000; ns += 1000)
        for (size_t device = MADE_CPU; device <= MADE_GPU; device++)
            for (size_t i = 0; i < kinds; i++) {
                struct table *tables = NULL;
                struct err err = ERR_INIT;
                count = 0;
                made_init(&r);
                assert_true(kind[i].make(&r, &tables, &count, &err));
                assert_int_equal(count > 0, true);
                tables_free(tables, count);
                tables = NULL;
                count = 0;
                struct cell *c = made_cell(&r, "only", device, 1, 0, ns, 1);
                c->spec.batch = 0;
                c->has_phases = true;
                if (kind[i].modes == 1u << MODE_FORWARD)
                    c->spec.mode = MODE_FORWARD;
                assert_true(kind[i].make(&r, &tables, &count, &err));
                assert_true(count > 0);
                for (size_t k = 0; k < count; k++) {
                    char *text = made_text(&tables[k], 80, true);
                    assert_null(strstr(text, "nan"));
                    assert_null(strstr(text, "inf"));
                    free(text);
                }
                tables_free(tables, count);
                made_fini(&r);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gradient),
        cmocka_unit_test(test_batch),
        cmocka_unit_test(test_reduction_without_a_cpu),
        cmocka_unit_test(test_phases),
        cmocka_unit_test(test_scaling),
        cmocka_unit_test(test_kernels),
        cmocka_unit_test(test_a_single_cell_breaks_no_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
