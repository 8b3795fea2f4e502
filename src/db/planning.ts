/** Settings of PostgreSQL by name, with their values as `current_setting` shows them. */
export type ServerSettings = Readonly<Record<string, string>>

/**
 * Statements look up rows by key, each look-up fenced off by `offset 0` (grantByKey). They get one generic plan per
 * connection; lists of large tables that are read now and then get a custom plan (Db.listWithCustomPlan).
 *
 * Figures are CPU time of PostgreSQL 18 with 100,000 users, 2026-11-23.
 */
const SETTINGS: readonly { name: string; generic: string; custom: string }[] = [
  // Without it requests that come one at a time are planned again and again: A5 takes 2.0 times as much, A2 and A3 1.5 to
  // 1.7, a repeated notice 4.0. In mixed batches PostgreSQL comes to a generic plan by itself.
  { name: 'plan_cache_mode', generic: 'force_generic_plan', custom: 'force_custom_plan' },
  // Joined in the order in which they are written. Makes no difference in large tables (0.93 to 1.02 times as much without it);
  // kept for look-ups that are not fenced off, whose order a plan made of small tables would turn round.
  { name: 'join_collapse_limit', generic: '1', custom: '8' },
  // Makes no difference in large tables. A plan made of a table with up to five rows reads all of it, though (EXPLAIN), and may
  // stay in use while the table grows.
  { name: 'enable_seqscan', generic: 'off', custom: 'on' },
  // Make no difference in large tables. Made of a few dozen rows, the updates of A2 and A3 would join with the whole table.
  { name: 'enable_hashjoin', generic: 'off', custom: 'on' },
  { name: 'enable_mergejoin', generic: 'off', custom: 'on' },
  // Not measured by itself.
  { name: 'enable_material', generic: 'off', custom: 'on' },
  // Before version 18 a disabled scan that is the only one has a cost so high that it would be compiled.
  { name: 'jit', generic: 'off', custom: 'off' },
]

export const GENERIC_PLAN_SETTINGS: ServerSettings = Object.fromEntries(
  SETTINGS.map(({ name, generic }) => [name, generic]),
)

/** As the startup parameter `options` of a connection. */
export const startupOptions = (settings: ServerSettings): string =>
  Object.entries(settings)
    .map(([name, value]) => `-c ${name}=${value}`)
    .join(' ')

export const PLAN_SETTINGS: readonly string[] = SETTINGS.map(({ name }) => name)
/** For a custom plan, in the order of `PLAN_SETTINGS`. */
export const CUSTOM_PLAN_VALUES: readonly string[] = SETTINGS.map(({ custom }) => custom)
