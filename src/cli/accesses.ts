import type { Command } from 'commander'
import { accessFilter, listAccesses } from '../resource/index.ts'
import type { CliContext } from './context.ts'
import { keyed, keyOf } from './field-options.ts'
import { lists } from './list.ts'
import { aligned, readable } from './text.ts'

/** `gatehouse user accesses`: which app has read whose data. */
export function accessesCommand(user: Command, context: CliContext): void {
  const command = user
    .command('accesses')
    .description(
      'which apps have read the profile or phone number of a user, newest hour first; the audit log keeps it',
    )
  lists(keyed(command), context, {
    plural: 'accesses',
    input: accessFilter,
    typed: keyOf,
    page: listAccesses,
    table: (accesses) => {
      if (accesses.length === 0) return 'nothing was read'
      const rows = accesses.map(({ hour, app_key, kind, reads, last_at }) => [
        readable(hour),
        app_key,
        kind,
        String(reads),
        readable(last_at),
      ])
      return aligned([['HOUR', 'APP_KEY', 'WHAT', 'READS', 'LAST'], ...rows])
    },
  })
}
