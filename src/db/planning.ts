/** Settings of PostgreSQL by name, with their values as `current_setting` shows them. */
export type ServerSettings = Readonly<Record<string, string>>

/**
 * Statements look up rows by key, each look-up fenced off by `offset 0` (grantByKey). They get one generic plan per
 * connection; lists of large tables that are read now and then get a custom plan (Db.listWithCustomPlan).
 *
 * Figures say how many times as much processor time PostgreSQL 18 takes without the setting, the others as they are:
 * `npm run bench:planning`, 100,000 users, 2026-11-25. Case 1: plans made of three rows that were analyzed, tables grown
 * since. Case 2: plans made of large, analyzed tables. Below 1.05 a setting goes.
 */
const SETTINGS: readonly { name: string; generic: string; custom: string }[] = [
  // Case 2: requests that come one at a time are planned again and again: introspection 1.4, who calls 2.5, A2 1.4, A3 1.2.
  // In batches of 40 still 1.1 to 1.4.
  { name: 'plan_cache_mode', generic: 'force_generic_plan', custom: 'force_custom_plan' },
  // Case 1: A3 of policy fixed 42, in batches of 40 400 (2 ms become 840), who calls 2.4 and 19. Case 2: 0.9 to 1.3, no
  // difference.
  { name: 'enable_seqscan', generic: 'off', custom: 'on' },
  // Case 1: who calls 1.7 to 3.9 and 1.8 to 2.4. What is not fenced off has the wrong plan either way, until autovacuum has
  // analyzed the table: A2, rotation and revocation in batches of 40 take 1.0 to 1.6 s, and a tenth of that with either of
  // these. Case 2: 0.7 to 1.2, no difference. They stay because without both 25 cases of test/db/plans.test.ts fail, with
  // plans made of dozens and of thousands of rows too: A1, A2, A3, introspection and revocation would read whole tables.
  { name: 'enable_hashjoin', generic: 'off', custom: 'on' },
  { name: 'enable_mergejoin', generic: 'off', custom: 'on' },
  // Case 1: who calls 3.0 and 3.7: the secrets of all apps would be kept in memory. Case 2: 0.8 to 1.2, no difference.
  { name: 'enable_material', generic: 'off', custom: 'on' },
  // No difference with the embedded PostgreSQL, which cannot compile. On PostgreSQL 15 a disabled scan that is the
  // only one has a cost so high that it is compiled each time: 36 ms in place of 0.01 for a row of a table without an index.
  { name: 'jit', generic: 'off', custom: 'off' },
]

export const GENERIC_PLAN_SETTINGS: ServerSettings = Object.fromEntries(
  SETTINGS.map(({ name, generic }) => [name, generic]),
)

export const PLAN_SETTINGS: readonly string[] = SETTINGS.map(({ name }) => name)
/** For a custom plan, in the order of `PLAN_SETTINGS`. */
export const CUSTOM_PLAN_VALUES: readonly string[] = SETTINGS.map(({ custom }) => custom)
