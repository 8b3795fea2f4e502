import { Command } from 'commander'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { MICRO_APP_FIELDS } from '../../src/authorization/registry/micro-app-fields.ts'
import { microApp, microAppChanges, newMicroApp } from '../../src/authorization/registry/wire.ts'
import { ALL_ACTIONS, fieldsOf, hintOf, labelOf } from '../../src/operations/actions/index.ts'
import { actionCommands } from '../../src/operations/cli/actions.ts'
import type { CliContext } from '../../src/operations/cli/context.ts'
import type { Fields } from '../../src/platform/db/record-fields.ts'
import { sql } from '../../src/platform/db/sql.ts'
import { translator } from '../../src/platform/lib/web/locale.ts'
import { PARTNER_FIELDS } from '../../src/ticketing/partners/fields.ts'
import { newPartner, partner, partnerChanges } from '../../src/ticketing/partners/wire.ts'
import { openWorld, type World } from '../harness.ts'

/** Each field of the registry is described once; these tests check every place that has to know it. */

const program = new Command('gatehouse')
actionCommands(program, {} as CliContext, ALL_ACTIONS)
const helpOf = (...names: string[]): string =>
  names
    .reduce((command, name) => command.commands.find((one) => one.name() === name) ?? command, program)
    .helpInformation()
    .replace(/\s+/g, ' ')

/** Turns `--host <host> …` into `--host …`. */
const withoutArguments = (text: string): string => text.replace(/(--[\w-]+) <[^>]+>/g, '$1')

let world: World

beforeAll(async () => {
  world = await openWorld()
})
afterAll(() => world?.close())

describe.each([
  {
    what: 'app',
    table: 'micro_app',
    fields: MICRO_APP_FIELDS as Fields,
    stored: microApp.shape,
    created: newMicroApp.shape,
    changed: microAppChanges.shape,
  },
  {
    what: 'partner',
    table: 'partner',
    fields: PARTNER_FIELDS as Fields,
    stored: partner.shape,
    created: newPartner.shape,
    changed: partnerChanges.shape,
  },
])('every described field: $what', ({ what, table, fields, stored, created, changed }) => {
  it('is a column and part of the shown record', async () => {
    const columns = await world.deps.db.many(
      z.object({ name: z.string() }),
      sql`select column_name as name from information_schema.columns where table_name = ${table}`,
    )
    const names = columns.map(({ name }) => name)
    expect(
      Object.keys(fields).filter((name) => !names.includes(name)),
      `add a migration with these columns of ${table}`,
    ).toEqual([])
    expect(Object.keys(fields).filter((name) => !(name in stored))).toEqual([])
  })

  it('is accepted by /admin/v1 and the command line, and listed in its help', () => {
    const uses = [
      ['created', 'create', created],
      ['changed', 'update', changed],
    ] as const
    for (const [use, command, shape] of uses) {
      const help = helpOf(what, command)
      for (const [name, field] of Object.entries(fields)) {
        expect(name in shape, `${name} of ${command}`).toBe(field[use] !== undefined)
        const action = ALL_ACTIONS.find(({ id }) => id === `${what}_${command}`)
        if (!action) throw new Error(`${what} ${command} is no action`)
        const flag = fieldsOf(action).find((one) => one.name === name)?.flag
        // The choices, if there are any, follow in place of the full stop.
        const about = (hintOf(translator('en'), action, name) ?? labelOf(translator('en'), action, name)).replace(
          /\.$/,
          '',
        )
        const isListed = withoutArguments(help).includes(withoutArguments(`--${flag} ${about}`))
        expect(isListed, `${name} of ${command}`).toBe(field[use] !== undefined)
      }
    }
  })
})
