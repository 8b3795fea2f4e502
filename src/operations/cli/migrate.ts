import type { Command } from 'commander'
import { migrate } from '../../platform/db/migrate.ts'
import type { CliContext } from './context.ts'
import { print } from './report.ts'

/** Brings the schema up to date and says what was applied; also behind `npm run migrate`. */
export async function runMigrations(context: CliContext, json: boolean): Promise<void> {
  const applied = await context.withDatabase(migrate)
  print(context.terminal, json, { applied }, () =>
    applied.length > 0
      ? applied.map((name) => `applied ${name}`).join('\n')
      : 'nothing to apply: the schema is current',
  )
}

/** `gatehouse migrate`. */
export function migrateCommand(program: Command, context: CliContext): void {
  program
    .command('migrate')
    .description('bring the database schema up to date')
    .option('--json', 'print JSON')
    .action(({ json = false }: { json?: boolean }) => runMigrations(context, json))
}
