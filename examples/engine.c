/* An engine that reads bearoffs through endtable instead of code of its own:
 *
 *     cc engine.c $(pkg-config --cflags --libs endtable) -lpthread -lm -o engine
 *     ./engine bearoff-6.etb [two-sided-6x6.etb]
 *
 * It evaluates a position, plays a roll, reads a raw record, shares the tables
 * between threads, times look-ups, and shows what faults look like. */
#define _POSIX_C_SOURCE 200809L
#include <endtable.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { POINTS = ENDTABLE_POINTS, THREADS = 4, ROUNDS = 2000, WIDEST = 64 };

/* Ends the program unless a call went well. */
static void must(EndtableStatus status, const char *what)
{
    if (status != ENDTABLE_STATUS_OK) {
        char message[512];
        endtable_message(message, sizeof message);
        fprintf(stderr, "%s: %s\n", what, message);
        exit(1);
    }
}

/* Ends the program unless a call failed as it should. */
static void must_fail(EndtableStatus status, EndtableStatus expected, const char *what)
{
    char message[512];
    size_t length = endtable_message(message, sizeof message);
    if (status != expected || length < 2) {
        fprintf(stderr, "%s: status %d, %d expected\n", what, (int)status, (int)expected);
        exit(1);
    }
    printf("  %-28s status %d: %s\n", what, (int)status, message);
}

/* One engine's side: how many chequers on which of its points. */
static void put(uint8_t side[POINTS], const int *pairs)
{
    memset(side, 0, POINTS);
    for (; pairs[0]; pairs += 2)
        side[pairs[0] - 1] = (uint8_t)pairs[1];
}

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

static void show(const EndtableTables *tables, const uint8_t us[POINTS], const uint8_t them[POINTS])
{
    static const char *const actions[] = {"unknown", "no double", "double, take", "double, pass"};
    EndtableEvaluation seen;
    must(endtable_evaluate(tables, us, them, &seen), "evaluate");
    printf("win %.4f  gammons +%.4f -%.4f  epc %.3f against %.3f  cube: %s\n", seen.win,
           seen.win_gammon, seen.lose_gammon, seen.epc[0], seen.epc[1],
           actions[seen.action_centred]);
}

/* What the threads do: all read the same tables, each its own positions. */
struct work {
    const EndtableTables *tables;
    const EndtableTable *table;
    uint64_t positions, seed;
    size_t width;
    double sum;
};

static uint64_t next(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 20;
}

static void *run(void *argument)
{
    struct work *work = argument;
    uint32_t record[WIDEST];
    uint8_t us[POINTS], them[POINTS];
    EndtableEvaluation seen;
    for (int i = 0; i < ROUNDS; i++) {
        must(endtable_get(work->table, next(&work->seed) % work->positions, record, WIDEST), "get");
        work->sum += record[1];
        memset(us, 0, POINTS);
        memset(them, 0, POINTS);
        for (int chequer = 0; chequer < 6; chequer++) {
            us[next(&work->seed) % 6]++;
            them[next(&work->seed) % 6]++;
        }
        must(endtable_evaluate(work->tables, us, them, &seen), "evaluate");
        work->sum += seen.win;
    }
    return NULL;
}

static void share(const EndtableTables *tables, const EndtableTable *table, EndtableInfo info)
{
    pthread_t threads[THREADS];
    struct work work[THREADS];
    for (int i = 0; i < THREADS; i++) {
        /* Two threads each do the same, and must find the same. */
        work[i] = (struct work){tables, table, info.positions, (uint64_t)(i / 2), info.width, 0};
        if (pthread_create(&threads[i], NULL, run, &work[i]))
            exit(1);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    if (work[0].sum != work[1].sum || work[2].sum != work[3].sum || work[0].sum == work[2].sum) {
        fprintf(stderr, "threads disagree\n");
        exit(1);
    }
    printf("%d threads agree after %d look-ups and evaluations each\n", THREADS, ROUNDS);
}

/* The least time of a look-up over short runs: others use the machine, too. */
static void time_lookups(const EndtableTable *table, EndtableInfo info)
{
    enum { BATCH = 1000, RUNS = 200 };
    uint64_t numbers[BATCH], state = 7;
    uint32_t record[WIDEST];
    double best = INFINITY;
    for (int i = 0; i < BATCH; i++)
        numbers[i] = next(&state) % info.positions;
    for (int repeat = 0; repeat < RUNS; repeat++) {
        double start = now_ns();
        for (int i = 0; i < BATCH; i++)
            must(endtable_get(table, numbers[i], record, WIDEST), "get");
        best = fmin(best, (now_ns() - start) / BATCH);
    }
    printf("a look-up takes %.0f ns\n", best);
}

static void faults(const char *path, const EndtableTables *tables)
{
    EndtableTable *table = NULL;
    EndtableTables *none = NULL;
    EndtableInfo info;
    EndtableEvaluation seen;
    uint32_t record[WIDEST];
    uint64_t number = 0;
    size_t count = 0;
    const uint8_t dice[2] = {7, 1};
    uint8_t us[POINTS] = {0}, them[POINTS] = {0};

    printf("faults:\n");
    must(endtable_table_open(path, 0, 1, &table), path);
    must(endtable_table_info(table, &info), "info");
    must_fail(endtable_get(NULL, 0, record, WIDEST), ENDTABLE_STATUS_NULL, "null handle");
    must_fail(endtable_get(table, 0, NULL, WIDEST), ENDTABLE_STATUS_NULL, "null buffer");
    must_fail(endtable_get(table, 0, record, info.width - 1), ENDTABLE_STATUS_SMALL, "small buffer");
    must_fail(endtable_get(table, info.positions, record, WIDEST), ENDTABLE_STATUS_INVALID,
              "number out of range");
    number = UINT64_MAX;
    must_fail(endtable_get_batch(table, &number, 1, record, WIDEST), ENDTABLE_STATUS_INVALID,
              "batch out of range");
    must_fail(endtable_get_batch(table, &number, SIZE_MAX / 4, record, WIDEST),
              ENDTABLE_STATUS_SMALL, "batch too large");
    us[0] = 200;
    must_fail(endtable_number(table, us, NULL, POINTS, &number), ENDTABLE_STATUS_INVALID,
              "200 chequers");
    us[0] = 0;
    us[23] = 1;
    must_fail(endtable_number(table, us, NULL, POINTS, &number), ENDTABLE_STATUS_NOT_COVERED,
              "beyond the table");
    must_fail(endtable_number(table, us, NULL, 1000, &number), ENDTABLE_STATUS_INVALID,
              "1000 points");
    them[5] = 1;
    must_fail(endtable_evaluate(tables, us, them, &seen), ENDTABLE_STATUS_NOT_COVERED, "contact");
    must_fail(endtable_evaluate(tables, us, NULL, &seen), ENDTABLE_STATUS_NULL, "null opponent");
    us[23] = 0;
    us[0] = 1;
    must_fail(endtable_plays(tables, us, them, dice, ENDTABLE_CUBE_NONE, NULL, 0, &count),
              ENDTABLE_STATUS_INVALID, "a seven");
    must_fail(endtable_table_open("/no/such/file", 0, 0, &table), ENDTABLE_STATUS_IO, "no file");
    if (table)
        exit(1);
    must_fail(endtable_tables_open(NULL, 2, &none), ENDTABLE_STATUS_NULL, "null names");

    must(endtable_table_open(path, 0, 0, &table), path);
    must(endtable_table_close(table), "close");
    must_fail(endtable_get(table, 0, record, WIDEST), ENDTABLE_STATUS_CLOSED, "closed handle");
    must_fail(endtable_table_close(table), ENDTABLE_STATUS_CLOSED, "closed twice");
}

int main(int argc, char **argv)
{
    uint8_t us[POINTS], them[POINTS];
    EndtableTables *tables = NULL;
    EndtableTable *table = NULL;
    EndtableInfo info;
    if (argc < 2) {
        fprintf(stderr, "usage: engine ONE-SIDED.etb [MORE…]\n");
        return 2;
    }
    printf("endtable %s\n", endtable_version());

    /* All tables together answer questions about positions. */
    must(endtable_tables_open((const char *const *)argv + 1, (size_t)argc - 1, &tables), argv[1]);
    put(us, (const int[]){6, 1, 0});
    put(them, (const int[]){6, 1, 0});
    show(tables, us, them);
    put(us, (const int[]){6, 7, 5, 5, 4, 3, 0});
    put(them, (const int[]){2, 2, 1, 2, 0});
    show(tables, us, them);

    /* The plays of a roll, the best first. */
    put(us, (const int[]){6, 2, 4, 1, 0});
    put(them, (const int[]){5, 2, 0});
    EndtablePlay plays[8];
    size_t count = 0;
    const uint8_t dice[2] = {3, 1};
    must(endtable_plays(tables, us, them, dice, ENDTABLE_CUBE_CENTRED, plays, 8, &count), "plays");
    for (size_t i = 0; i < count && i < 8; i++) {
        for (uint32_t move = 0; move < plays[i].moves; move++)
            printf("%u/%u ", plays[i].from[move], plays[i].to[move]);
        printf(" equity %+.4f  win %.4f\n", plays[i].equity, plays[i].win);
    }

    /* A single table gives raw records: here, the chances of each roll. */
    uint32_t record[WIDEST];
    must(endtable_table_open(argv[1], 16 << 20, 1, &table), argv[1]);
    must(endtable_table_info(table, &info), "info");
    if (info.width > WIDEST || info.sides != 1) {
        fprintf(stderr, "%s: a one-sided table is expected first\n", argv[1]);
        return 2;
    }
    put(us, (const int[]){6, 1, 0});
    must(endtable_get_chequers(table, us, NULL, POINTS, record, WIDEST), "get");
    printf("one chequer on the six-point: off on roll 1 in %u, on roll 2 in %u of 65535\n",
           record[1], record[2]);

    share(tables, table, info);
    time_lookups(table, info);

    EndtableCacheStatistics cache;
    must(endtable_cache_statistics(table, &cache), "statistics");
    printf("cache: %llu hits, %llu misses\n", (unsigned long long)cache.hits,
           (unsigned long long)cache.misses);

    faults(argv[1], tables);
    must(endtable_table_close(table), "close");
    must(endtable_tables_close(tables), "close");
    return 0;
}
