import type { Command } from 'commander'
import { movePeople } from '../../platform/db/move-people.ts'
import type { CliContext } from './context.ts'
import { print, progressBar } from './report.ts'

/** `gatehouse shards move-in`: people of one PostgreSQL, or of fewer shards, into as many as SHARDS says. */
export function shardsCommand(program: Command, context: CliContext): void {
  program
    .command('shards')
    .description('schemas that people are spread over')
    .command('move-in')
    .description('move people into as many shards as SHARDS says, while no service runs; broken off, run it again')
    .option('--json', 'print JSON')
    .action(async ({ json = false }: { json?: boolean }) => {
      const bar = progressBar(context.terminal.stderr)
      const moved = await context
        .withDatabase((databaseUrl, shards) => movePeople(databaseUrl, shards, (done, all) => bar.show(done, all)))
        .finally(bar.end)
      print(context.terminal, json, moved, () =>
        [
          `people are in ${moved.to} shards now; before in ${moved.from}; rows, each compared:`,
          ...Object.entries(moved.rows).map(([table, rows]) => `  ${table} ${rows}`),
        ].join('\n'),
      )
    })
}
