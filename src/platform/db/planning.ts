/** PostgreSQL settings by name, with values as `current_setting` shows them. */
export type ServerSettings = Readonly<Record<string, string>>

/**
 * Statements look up rows by key, each look-up fenced off by `offset 0` (grantByKey), or by `= any (array[…])` where
 * that is impossible (sql.sameKey). They get one generic plan per connection; rarely read lists of large tables get a
 * custom plan (Db.listWithCustomPlan).
 *
 * Figures are the factor by which PostgreSQL 18 takes more CPU time without the one setting: `npm run bench:planning --
 * --users 20000 --rounds 4`, 2026-11-28. Case 1: planned on analyzed tables of three rows that have grown since. Case
 * 2: planned on large, analyzed tables. A setting below 1.05 is dropped.
 */
export const GENERIC_PLAN_SETTINGS: ServerSettings = {
  // Case 2: requests that come one at a time: A5 1.4, A2 and notices 1.1. Before one item had a statement of its own
  // (sql.rows), PostgreSQL planned them again and again: 1.3 to 3.2, in batches 1.1 to 1.6.
  plan_cache_mode: 'force_generic_plan',
  // Case 1: A5 103 and introspection 72, in batches of 40 520 and 310; A2 6, A3 23 and 41, revocation 80, who calls 3.3;
  // in batches A3 of policy fixed 160, who calls 20, notices 34. Case 2: no difference.
  enable_seqscan: 'off',
  // Case 1: in batches of 40 notices 2.1 and 1.6, who calls 1.6 and 1.5; one notice 4.7 without the second. Case 2: no
  // difference.
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  // Case 1: in batches of 40 notices 8, who calls 5: the secrets of all apps would be kept in memory. Case 2: no
  // difference.
  enable_material: 'off',
  // No difference with the embedded PostgreSQL, which cannot compile. On PostgreSQL 15 a disabled scan that is the only
  // one has a cost so high that it is compiled each time: 36 ms in place of 0.01 for a row of a table without an index.
  jit: 'off',
}

/** PostgreSQL's own settings. */
export const CUSTOM_PLAN_SETTINGS: ServerSettings = {
  plan_cache_mode: 'force_custom_plan',
  enable_seqscan: 'on',
  enable_hashjoin: 'on',
  enable_mergejoin: 'on',
  enable_material: 'on',
  jit: 'off',
}

/** For a custom plan that reads tables by their indexes alone, however few rows PostgreSQL believes that they have. */
export const INDEX_PLAN_SETTINGS: ServerSettings = {
  ...GENERIC_PLAN_SETTINGS,
  plan_cache_mode: 'force_custom_plan',
  enable_bitmapscan: 'off',
  enable_sort: 'off',
}
