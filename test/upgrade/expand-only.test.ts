import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { statementsOf } from '../../src/platform/db/migrate.ts'
import { LAST_RELEASE, lastReleaseNames } from './last-release.ts'

/**
 * During an upgrade the last release reads and writes the schema of the next one, so the schema may only grow. Only
 * functions that are not called by that release may be dropped.
 */

const FOLDER = new URL('../../migrations/', import.meta.url)

const FORBIDDEN: Readonly<Record<string, RegExp>> = {
  'drops what may be read': /\bdrop\s+(?!index\b|default\b|not\s+null\b)/,
  'renames what may be read': /\brename\b/,
  'changes the type of a column': /\balter\s+column\s+\S+\s+(set\s+data\s+)?type\b/,
  'demands a value that is not written yet': /\bset\s+not\s+null\b/,
}

/** What a statement would break. `made`: tables created after the last release, which that release does not know. */
function breaks(statement: string, made: ReadonlySet<string>): string[] {
  const text = statement.toLowerCase().replace(/\s+/g, ' ')
  const [, dropped = ''] = /^drop function (?:if exists )?(\w+)\s?\([^)]*\)$/.exec(text) ?? []
  if (dropped !== '' && lastReleaseNames(dropped) !== true) return []
  const [, table = ''] = /^alter table (?:if exists )?(\S+)/.exec(text) ?? []
  if (made.has(table)) return []
  const added = text.split(/\badd (?:column )?/).slice(1)
  const demanded = added.some((column) => /\bnot null\b/.test(column) && !/\bdefault\b|\bgenerated\b/.test(column))
  const constrained = added.some((part) => /^(constraint|check|unique|foreign|primary)\b/.test(part))
  return [
    ...Object.entries(FORBIDDEN).flatMap(([what, pattern]) => (pattern.test(text) ? [what] : [])),
    ...(demanded ? ['adds a column without a default that must not be null'] : []),
    ...(constrained ? ['adds a constraint that what is written today may not fit'] : []),
  ]
}

const tableMadeBy = (statement: string): string | undefined =>
  /^create table (\S+)/i.exec(statement)?.[1]?.toLowerCase()

describe('migrations after the last release', () => {
  it('only extend the schema', () => {
    const files = readdirSync(FOLDER).filter((file) => file.endsWith('.sql'))
    expect(files).toContain(`${LAST_RELEASE.lastMigration}.sql`)
    const made = new Set<string>()
    const broken = files
      .sort()
      .filter((file) => file > `${LAST_RELEASE.lastMigration}.sql`)
      .flatMap((file) =>
        statementsOf(readFileSync(new URL(file, FOLDER), 'utf8')).flatMap((statement) => {
          const table = tableMadeBy(statement)
          if (table) made.add(table)
          return breaks(statement, made).map((what) => `${file} ${what}: ${statement}`)
        }),
      )
    expect(broken).toEqual([])
  })

  it('may not drop a function that the last release calls', (context) => {
    if (lastReleaseNames('hashtext') === undefined) return context.skip()
    expect(breaks('drop function hashtext(text)', new Set())).toHaveLength(1)
  })

  it.each([
    ['drop table notice', 1],
    ['alter table notice drop column body', 1],
    ['drop view some_view', 1],
    ['drop function no_such_function(int)', 0],
    ['drop function no_such_function(int) cascade', 1],
    ['alter table notice rename column body to content', 1],
    ['alter table notice alter column body type jsonb', 1],
    ['alter table notice alter column body set not null', 1],
    ['alter table notice add column x text not null', 1],
    ['alter table notice add column x text default 1, add column y int not null', 1],
    ['alter table notice add constraint c check (x > 1)', 1],
    ['alter table notice add column x text not null default 1', 0],
    ['alter table notice add column x text', 0],
    ['alter table made add column x text not null', 0],
    ['drop index notice_at', 0],
    ['alter table notice alter column body drop not null', 0],
  ])('are checked: %s has %i breaches', (statement, count) => {
    expect(breaks(statement, new Set(['made']))).toHaveLength(count)
  })
})
