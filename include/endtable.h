/* endtable: tables of solved game endings, in C.
 *
 * Every function returns a status; `endtable_message` has the words. Handles
 * may be used from any number of threads; only closing one must wait until no
 * other call uses it. Made by cbindgen from src/capi: do not edit. */

#ifndef ENDTABLE_H
#define ENDTABLE_H

#include <stddef.h>
#include <stdint.h>

/* Counts of a side: its points 1 to 24 and its bar. */
#define ENDTABLE_POINTS 25

// How a call ended. Anything but `ENDTABLE_STATUS_OK` leaves a message for
// `endtable_message` and the caller's buffers without meaning.
typedef enum EndtableStatus {
  // Done.
  ENDTABLE_STATUS_OK = 0,
  // A pointer that must not be null is null.
  ENDTABLE_STATUS_NULL = 1,
  // The handle has been closed.
  ENDTABLE_STATUS_CLOSED = 2,
  // The caller's buffer is too small.
  ENDTABLE_STATUS_SMALL = 3,
  // An argument is out of range or makes no sense.
  ENDTABLE_STATUS_INVALID = 4,
  // No open table covers the position.
  ENDTABLE_STATUS_NOT_COVERED = 5,
  // Reading failed.
  ENDTABLE_STATUS_IO = 6,
  // The file breaks its format.
  ENDTABLE_STATUS_CORRUPT = 7,
  // The file needs something that this version does not know.
  ENDTABLE_STATUS_UNSUPPORTED = 8,
  // The file asks for more memory than is allowed.
  ENDTABLE_STATUS_LIMIT = 9,
  // A fault of the library's own, which was stopped at the border.
  ENDTABLE_STATUS_FAULT = 10,
} EndtableStatus;

// What to do with the cube when the side on roll may turn it.
typedef enum EndtableCubeAction {
  // No open table tells.
  ENDTABLE_CUBE_ACTION_UNKNOWN = 0,
  // Roll on.
  ENDTABLE_CUBE_ACTION_NO_DOUBLE = 1,
  // Double, and the opponent takes.
  ENDTABLE_CUBE_ACTION_DOUBLE_TAKE = 2,
  // Double, and the opponent gives up.
  ENDTABLE_CUBE_ACTION_DOUBLE_PASS = 3,
} EndtableCubeAction;

// Who may double.
typedef enum EndtableCube {
  // Nobody: equities without a cube, as at a match score.
  ENDTABLE_CUBE_NONE = 0,
  // Both sides.
  ENDTABLE_CUBE_CENTRED = 1,
  // The side on roll.
  ENDTABLE_CUBE_ON_ROLL = 2,
  // Its opponent.
  ENDTABLE_CUBE_OPPONENT = 3,
} EndtableCube;

// An open table, for any number of threads.
typedef struct EndtableTable EndtableTable;

// Bearoff tables that are open together, for any number of threads.
typedef struct EndtableTables EndtableTables;

// What is known of a position, as the side on roll sees it. Chances are from
// 0 to 1, equities in points for money at a cube of 1; what the open tables
// do not tell is NaN. Arrays are the side on roll and its opponent.
typedef struct EndtableEvaluation {
  // Whether this position was evaluated (`ENDTABLE_STATUS_OK`), or why not.
  enum EndtableStatus status;
  // 1 when the chances come from a two-sided table.
  int32_t exact;
  // Chance of winning, gammons included.
  double win;
  // Chance of winning a gammon.
  double win_gammon;
  // Chance of losing a gammon.
  double lose_gammon;
  // Equity when nobody can double.
  double equity_cubeless;
  // Equity, not doubling now, when the side on roll owns the cube.
  double equity_owned;
  // Equity, not doubling now, with the cube in the middle.
  double equity_centred;
  // Equity when the opponent owns the cube.
  double equity_opponent;
  // What to do when the cube is in the middle.
  enum EndtableCubeAction action_centred;
  // What to do when the side on roll owns it.
  enum EndtableCubeAction action_owned;
  // Mean number of rolls to bear off.
  double mean_rolls[2];
  // Its standard deviation.
  double deviation_rolls[2];
  // Effective pip count.
  double epc[2];
  // Effective less plain pip count.
  double wastage[2];
} EndtableEvaluation;

// A legal play and what it is worth to the side that makes it; NaN where the
// open tables do not tell.
typedef struct EndtablePlay {
  // Chequers moved, 0 to 4.
  uint32_t moves;
  // Where each starts: 1 to 24, 25 for the bar.
  uint8_t from[4];
  // Where each ends: 1 to 24, 0 for off.
  uint8_t to[4];
  // What plays are sorted by; with the cube if the tables tell.
  double equity;
  // Equity when nobody can double.
  double equity_cubeless;
  // Chance of winning, gammons included.
  double win;
  // Chance of winning a gammon.
  double win_gammon;
  // Chance of losing a gammon.
  double lose_gammon;
} EndtablePlay;

// What a table says of itself.
typedef struct EndtableInfo {
  // Positions in the table.
  uint64_t positions;
  // Length of the file in bytes.
  uint64_t file_bytes;
  // Values in a record.
  size_t width;
  // 1 for one-sided bearoffs, 2 for two-sided ones, 0 for other tables.
  uint32_t sides;
  // Points of a side of a bearoff.
  uint32_t points;
  // Chequers of a side of a bearoff, at most.
  uint32_t chequers;
} EndtableInfo;

// How a table's block cache has done so far.
typedef struct EndtableCacheStatistics {
  // Look-ups answered from the cache.
  uint64_t hits;
  // Look-ups for which a block was read.
  uint64_t misses;
  // Blocks held now.
  uint64_t blocks;
  // Bytes held now, bookkeeping included.
  uint64_t bytes;
} EndtableCacheStatistics;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// Copies the message of this thread's last failure to `buffer`, cut off at
// `size` bytes with its closing zero. Returns the bytes that the whole
// message needs, zero included; `buffer` may be null if `size` is 0.
//
// # Safety
// `buffer` has room for `size` bytes.
size_t endtable_message(char *buffer, size_t size);

// The library's version, such as "0.1.0".
const char *endtable_version(void);

// Opens tables for evaluation, each a table or a gnubg database whatever its
// name. With a `count` of 0 it opens what lies in `ENDTABLE_PATH` and the
// user's data folder, passing over what is no bearoff or cannot be read.
// `*tables` is set to null on failure.
//
// # Safety
// `names` has `count` names that end with a zero; `tables` points to room.
enum EndtableStatus endtable_tables_open(const char *const *names,
                                         size_t count,
                                         struct EndtableTables **tables);

// How many tables are open together.
//
// # Safety
// `tables` is null or came from `endtable_tables_open`; `count` points to room.
enum EndtableStatus endtable_tables_count(const struct EndtableTables *tables, size_t *count);

// Closes the tables. No call with them may be running in another thread;
// later ones get `ENDTABLE_STATUS_CLOSED`.
//
// # Safety
// `tables` is null or came from `endtable_tables_open`.
enum EndtableStatus endtable_tables_close(struct EndtableTables *tables);

// Evaluates a position: `on_roll[i]` chequers of the side on roll on its
// point `i + 1`, `on_roll[24]` on the bar; `opponent` likewise from its own
// side.
//
// # Safety
// `tables` is null or came from `endtable_tables_open`; `on_roll` and
// `opponent` have `ENDTABLE_POINTS` counts each; `evaluation` points to room.
enum EndtableStatus endtable_evaluate(const struct EndtableTables *tables,
                                      const uint8_t *on_roll,
                                      const uint8_t *opponent,
                                      struct EndtableEvaluation *evaluation);

// Evaluates `count` positions: for each `ENDTABLE_POINTS` counts of the side
// on roll and as many of its opponent in `boards`. What cannot be evaluated
// says so in its `status`; the call's own status is that of the first such.
//
// # Safety
// `tables` is null or came from `endtable_tables_open`; `boards` has
// `2 * ENDTABLE_POINTS * count` counts, `evaluations` room for `capacity`.
enum EndtableStatus endtable_evaluate_batch(const struct EndtableTables *tables,
                                            const uint8_t *boards,
                                            size_t count,
                                            struct EndtableEvaluation *evaluations,
                                            size_t capacity);

// Lists the legal plays of two dice, the best first. `*count` is set to how
// many there are; `plays` takes the best `capacity` of them and may be null
// for none. `dice` are two numbers from 1 to 6; `cube` tells who may double,
// for money, and is one of `EndtableCube`.
//
// # Safety
// `tables` is null or came from `endtable_tables_open`; `on_roll` and
// `opponent` have `ENDTABLE_POINTS` counts each; `plays` has room for
// `capacity`, `count` for a number.
enum EndtableStatus endtable_plays(const struct EndtableTables *tables,
                                   const uint8_t *on_roll,
                                   const uint8_t *opponent,
                                   const uint8_t *dice,
                                   int32_t cube,
                                   struct EndtablePlay *plays,
                                   size_t capacity,
                                   size_t *count);

// Opens a table. `cache_bytes` is the budget of its block cache, 0 for none.
// With `mapped` other than 0 the file is mapped into memory, which is the
// fastest and for which nobody may change the file until it is closed.
// `*table` is set to null on failure.
//
// # Safety
// `name` ends with a zero; `table` points to room for a pointer.
enum EndtableStatus endtable_table_open(const char *name,
                                        size_t cache_bytes,
                                        int mapped,
                                        struct EndtableTable **table);

// Closes a table. No call with it may be running in another thread; later
// ones get `ENDTABLE_STATUS_CLOSED`.
//
// # Safety
// `table` is null or came from `endtable_table_open`.
enum EndtableStatus endtable_table_close(struct EndtableTable *table);

// Tells what a table says of itself.
//
// # Safety
// `table` is null or came from `endtable_table_open`; `info` points to room.
enum EndtableStatus endtable_table_info(const struct EndtableTable *table,
                                        struct EndtableInfo *info);

// Looks up the record of a number: `values` takes as many raw values as the
// table's width, of `capacity` for which it has room.
//
// # Safety
// `table` is null or came from `endtable_table_open`; `values` has room for
// `capacity` values.
enum EndtableStatus endtable_get(const struct EndtableTable *table,
                                 uint64_t number,
                                 uint32_t *values,
                                 size_t capacity);

// The number of a position of a bearoff table: `on_roll[i]` chequers on point
// `i + 1` for `points` points, which may be more or less than the table has
// if the others are empty; `opponent` likewise for a two-sided table and null
// for a one-sided one.
//
// # Safety
// `table` is null or came from `endtable_table_open`; `on_roll` and
// `opponent` have `points` counts unless null; `number` points to room.
enum EndtableStatus endtable_number(const struct EndtableTable *table,
                                    const uint8_t *on_roll,
                                    const uint8_t *opponent,
                                    size_t points,
                                    uint64_t *number);

// Looks up the record of a position, as `endtable_number` and then
// `endtable_get`.
//
// # Safety
// As `endtable_number` and `endtable_get`.
enum EndtableStatus endtable_get_chequers(const struct EndtableTable *table,
                                          const uint8_t *on_roll,
                                          const uint8_t *opponent,
                                          size_t points,
                                          uint32_t *values,
                                          size_t capacity);

// Looks up many records at once, in any order: `values` takes `count` records
// one after the other, of `capacity` values for which it has room.
//
// # Safety
// `table` is null or came from `endtable_table_open`; `numbers` has `count`
// numbers, `values` room for `capacity` values.
enum EndtableStatus endtable_get_batch(const struct EndtableTable *table,
                                       const uint64_t *numbers,
                                       size_t count,
                                       uint32_t *values,
                                       size_t capacity);

// Tells how the table's block cache has done so far.
//
// # Safety
// `table` is null or came from `endtable_table_open`; `statistics` points to room.
enum EndtableStatus endtable_cache_statistics(const struct EndtableTable *table,
                                              struct EndtableCacheStatistics *statistics);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* ENDTABLE_H */
