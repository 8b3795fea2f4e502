import type { ClientBase } from 'pg'
import type { ServerSettings } from './planning.ts'

/**
 * The meaning of statements and their answers depends on these, and `alter database … set` or `alter role … set` may
 * have changed them. So each connection gets the values that this code was written for, whatever the operator has set.
 * Not here: `search_path`, which says where the tables are (check-sessions.ts), and what is the operator's choice, such
 * as `default_transaction_read_only`, `synchronous_commit` and limits.
 */
export const NEEDED_SETTINGS: ServerSettings = {
  client_encoding: 'UTF8',
  DateStyle: 'ISO, MDY',
  IntervalStyle: 'postgres',
  TimeZone: 'UTC',
  bytea_output: 'hex',
  extra_float_digits: '1',
  array_nulls: 'on',
  standard_conforming_strings: 'on',
  transform_null_equals: 'off',
  default_transaction_isolation: 'read committed',
}

/** As the startup parameter `options`, in which a backslash escapes a space. */
export const startupOptions = (settings: ServerSettings): string =>
  Object.entries(settings)
    .map(([name, value]) => `-c ${name}=${value.replace(/[\\\s]/g, '\\$&')}`)
    .join(' ')

/** Applies settings to an open connection. */
export const makeSettings = (client: ClientBase, settings: ServerSettings) =>
  client.query('select set_config(name, value, false) from unnest($1::text[], $2::text[]) as setting (name, value)', [
    Object.keys(settings),
    Object.values(settings),
  ])
