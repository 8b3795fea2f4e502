/** Settings of PostgreSQL by name, with their values as `current_setting` shows them. */
export type ServerSettings = Readonly<Record<string, string>>

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

export const BY_KEY_SETTINGS: ServerSettings = Object.fromEntries(SETTINGS.map(({ name, byKey }) => [name, byKey]))

/** As the startup parameter `options` of a connection. */
export const startupOptions = (settings: ServerSettings): string =>
  Object.entries(settings)
    .map(([name, value]) => `-c ${name}=${value}`)
    .join(' ')

export const NAMES: readonly string[] = SETTINGS.map(({ name }) => name)
/** For `NAMES`, in their order. */
export const FREELY: readonly string[] = SETTINGS.map(({ freely }) => freely)
