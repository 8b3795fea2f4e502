/**
 * Statements look up rows by key. They are planned once a connection, joined in the order in which they are written, by
 * indexes: the planner, left alone, plans a gathered statement anew for each batch, which costs more than the batch, and
 * while tables are small reads them whole. Lists of large tables that are looked at now and then are planned freely
 * (Db.search).
 */
const SETTINGS: readonly { name: string; byKey: string; freely: string }[] = [
  { name: 'plan_cache_mode', byKey: 'force_generic_plan', freely: 'force_custom_plan' },
  { name: 'join_collapse_limit', byKey: '1', freely: '8' },
  { name: 'enable_seqscan', byKey: 'off', freely: 'on' },
  { name: 'enable_hashjoin', byKey: 'off', freely: 'on' },
  { name: 'enable_mergejoin', byKey: 'off', freely: 'on' },
  { name: 'enable_material', byKey: 'off', freely: 'on' },
  // Before version 18 a way that is off and the only one seems dear enough to be compiled.
  { name: 'jit', byKey: 'off', freely: 'off' },
]

/** As the startup parameter `options` of a connection. */
export const BY_KEY: string = SETTINGS.map(({ name, byKey }) => `-c ${name}=${byKey}`).join(' ')

export const NAMES: readonly string[] = SETTINGS.map(({ name }) => name)
/** For `NAMES`, in their order. */
export const FREELY: readonly string[] = SETTINGS.map(({ freely }) => freely)
