import type { Command } from 'commander'
import { z } from 'zod'
import { jsTicket } from '../../authorization/resource/index.ts'
import { migrate } from '../../platform/db/migrate.ts'
import { movePeople } from '../../platform/db/move-people.ts'
import type { Deps } from '../../platform/deps.ts'
import { checkSecret, type SecretCheck } from '../../platform/lib/crypto/generated-secret.ts'
import { type Purged, purge, purgeOptions, refuseClockAhead } from '../jobs/index.ts'
import { type Resealed, resealEverything } from '../reseal/index.ts'
import type { CliContext } from './context.ts'
import { defineCommand } from './operation.ts'
import { readSecret } from './read-secret.ts'
import { print, progressBar } from './report.ts'
import { aligned, readable } from './text.ts'

/** Commands that need no running service: only its database, or nothing at all. */

/** Removes the demo (src/demo/remove.ts); passed in because the command line must not import the demo. */
type RemoveDemo = (deps: Deps) => Promise<Removed>

export function machineCommands(program: Command, context: CliContext, removeDemo: RemoveDemo): void {
  const { terminal } = context
  const define = <Input, Output>(
    command: Command,
    input: z.ZodType<Input>,
    run: (deps: Deps, input: Input) => Promise<Output>,
    text: (output: Output) => string,
  ) =>
    defineCommand(command, { input, inputFrom: (options) => options }, async (given, json) =>
      print(terminal, json, await context.withDeps((deps) => run(deps, given)), text),
    )
  const nothing = z.strictObject({})
  const asJson = (command: Command) => command.option('--json', 'print JSON')

  const demo = program.command('demo').description('the users, micro-apps and partner that npm start creates')
  define(
    demo.command('remove').description('delete them with their secrets, sessions and tokens; safe to run again'),
    nothing,
    removeDemo,
    removedText,
  )

  asJson(program.command('jsticket').description('the jsTicket of an access token').argument('<access_token>')).action(
    (token: string, { json = false }: { json?: boolean }) =>
      print(terminal, json, { jsTicket: jsTicket(token) }, (output) => output.jsTicket),
  )

  const secret = program.command('secret').description('app_secrets and clientSecrets')
  const check = secret.command('check').description('detect a mistyped secret by its checksum; typed or piped in')
  defineCommand(check, { input: nothing, inputFrom: () => ({}) }, async (_input, json) => {
    const prompt = { field: 'secret', question: 'Secret', fromInput: !terminal.stdin.isTTY }
    const verdict = checkSecret((await readSecret(terminal, prompt)) ?? '')
    print(terminal, json, verdict, checkText)
    if (verdict.verdict === 'mistyped') terminal.exitCode = 1
  })

  asJson(program.command('migrate').description('bring the database schema up to date')).action(
    ({ json = false }: { json?: boolean }) => runMigrations(context, json),
  )

  define(
    program
      .command('purge')
      .description('delete expired tokens and sessions, and old codes, grants, notices and calls')
      .option('--seconds <number>', 'stop after this many seconds (default: when nothing is left)'),
    purgeOptions,
    async (deps, options) => {
      await refuseClockAhead(deps)
      return withBar(context, (show) =>
        purge(deps, options, { onProgress: ({ total }: Purged) => show(total, undefined) }),
      )
    },
    purgedText,
  )

  define(
    program
      .command('reseal')
      .description('after SECRET_KEY was replaced everywhere: re-encrypt what was encrypted with SECRET_KEYS_OLD'),
    nothing,
    (deps) => withBar(context, (show) => resealEverything(deps, ({ seen, total }) => show(seen, total))),
    resealedText,
  )

  const shards = program.command('shards').description('schemas that people are spread over')
  asJson(
    shards
      .command('move-in')
      .description('move people into as many shards as SHARDS says, while no service runs; broken off, run it again'),
  ).action(async ({ json = false }: { json?: boolean }) => {
    const moved = await withBar(context, (show) =>
      context.withDatabase((databaseUrl, count) => movePeople(databaseUrl, count, show)),
    )
    print(terminal, json, moved, movedText)
  })
}

const withBar = <Result>(
  { terminal }: CliContext,
  work: (show: ReturnType<typeof progressBar>['show']) => Promise<Result>,
): Promise<Result> => {
  const bar = progressBar(terminal.stderr)
  return work(bar.show).finally(bar.end)
}

/** Brings the schema up to date and prints what was applied; `npm run migrate` uses it too. */
export async function runMigrations(context: CliContext, json: boolean): Promise<void> {
  const onLocked = (message: string) => context.terminal.stderr.write(`${message}\n`)
  const applied = await context.withDatabase((databaseUrl, shards) => migrate(databaseUrl, shards, onLocked))
  print(context.terminal, json, { applied }, () =>
    applied.length > 0
      ? applied.map((name) => `applied ${name}`).join('\n')
      : 'nothing to apply: the schema is current',
  )
}

interface Removed {
  readonly micro_apps: number
  readonly users: number
  readonly partners: number
  readonly partners_kept: number
}

function removedText({ micro_apps, users, partners, partners_kept }: Removed): string {
  if (micro_apps + users + partners + partners_kept === 0) return 'this database contains nothing of the demo'
  const kept = partners_kept === 0 ? '' : '\nits partner has orders: it stays, suspended and without secrets or URLs'
  return `removed: ${counted(micro_apps, 'micro-app')}, ${counted(users, 'user')}, ${counted(partners, 'partner')}${kept}`
}

const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`

/** Says whether a secret was copied completely, which no response on the wire reveals. */
function checkText(check: SecretCheck): string {
  if (check.verdict === 'unknown')
    return 'not a secret of Gatehouse, which begin with ghas_ or ghcs_; it cannot be checked'
  if (check.verdict === 'mistyped')
    return `this ${check.kind} was mistyped or not copied completely: its checksum is wrong`
  return `this ${check.kind} has no typing mistakes; app show and partner show tell whether it is still valid`
}

function purgedText({ deleted, finished, shards_away }: Purged): string {
  const rows = Object.entries(deleted).map(([table, count]) => [table, String(count)])
  const why = shards_away ? `${shards_away.join(', ')} cannot be used` : 'the time is up'
  const end = finished ? [] : [`${why} and there may be more; run it again`]
  return [rows.length > 0 ? aligned(rows) : 'nothing was deleted', ...end].join('\n')
}

const movedText = ({ to, from, rows }: Awaited<ReturnType<typeof movePeople>>): string =>
  [
    `people are in ${to} shards now; before in ${from}; rows, each compared:`,
    ...Object.entries(rows).map(([table, count]) => `  ${table} ${count}`),
  ].join('\n')

const resealedText = ({ unreadable, unused_secrets: unused, ...done }: Resealed): string =>
  [
    `values are made with SECRET_KEY since ${readable(done.replaced_at)}`,
    `re-encrypted: ${done.resealed}; already encrypted with it: ${done.sealed_before}`,
    ...named(`values that no key decrypts: ${unreadable.total}; set them again:`, unreadable.rows, unreadable.total),
    ...named(
      `app_secrets still hashed with an old key: ${unused.total}; they are rehashed on next use or rotation:`,
      unused.app_keys,
      unused.apps,
    ),
    `the last token or session of an old key ends ${readable(done.tokens_end_at)}`,
    done.droppable_at
      ? `SECRET_KEYS_OLD can be emptied after ${readable(done.droppable_at)}; only audit verify needs it for older events`
      : 'SECRET_KEYS_OLD is still needed for these app_secrets: run this again once they have been used or rotated',
  ].join('\n')

/** Some names under a title; nothing if the total is zero. */
const named = (title: string, names: readonly string[], total: number): string[] =>
  total === 0 ? [] : [title, ...names.map((name) => `  ${name}`), ...(names.length < total ? ['  …'] : [])]
