import { once } from 'node:events'
import type { Command } from 'commander'
import { auditExport, exportAudit, listAudit, verification, verifyAudit } from '../audit/index.ts'
import type { OutputOf } from '../lib/json/input.ts'
import type { CliContext } from './context.ts'
import { defineCommand, defineCustomCommand } from './operation.ts'
import { streamRemote } from './remote.ts'
import { aligned, readable, withPeriod } from './text.ts'

const filters = (command: Command): Command =>
  withPeriod(
    command
      .option(
        '--actor <name>',
        'only what this operator did; or a kind: operator, cli, app, user, partner, job, system',
      )
      .option('--action <prefix>', 'only actions that begin like this, as app_')
      .option('--target <target>', 'only what was done to this, as app:demo-app, user:1/10001, partner:7')
      .option('--request-id <request_id>', 'only what this request did: the X-Request-Id of its answer'),
  )

const typedFilter = ({ actor, action, target, requestId, from, to }: Readonly<Record<string, unknown>>) => ({
  ...{ actor, action, target, request_id: requestId, from, to },
})

/** `gatehouse audit …`: who did what; as over /admin/v1/audit. */
export function auditCommands(program: Command, context: CliContext): void {
  const audit = program.command('audit').description('who did what, and whether the log is intact')
  const list = filters(audit.command('list').description('the newest events'))
    .option('--limit <number>', 'show at most this many (default: 100)')
    .option('--after <cursor>', 'next page: the `next` value of the previous page')
  defineCommand(list, context, {
    input: listAudit.input,
    inputFrom: ({ limit, after, ...options }) => ({ ...typedFilter(options), limit, after }),
    run: listAudit,
    text: ({ events, next }) => [table(events), ...(next ? ['', `more: --after ${next}`] : [])].join('\n'),
  })
  exportCommand(audit, context)
  const verify = audit
    .command('verify')
    .description('recompute the chain; exits with 1 when a row is missing or altered')
    .option('--head <head>', 'as an earlier verification printed it: shows whether the end was cut off since')
  defineCommand(verify, context, {
    input: verification,
    inputFrom: ({ head }) => ({ head }),
    run: verifyAudit,
    text: verifiedText,
    after: ({ intact }) => {
      if (!intact) context.terminal.exitCode = 1
    },
  })
}

function exportCommand(audit: Command, context: CliContext): void {
  const command = filters(
    audit.command('export').description('all events to standard output, the newest first'),
  ).option('--format <format>', 'ndjson or csv (default: ndjson)')
  const inputFrom = ({ format, ...options }: Readonly<Record<string, unknown>>) => ({ ...typedFilter(options), format })
  defineCustomCommand(command, { input: auditExport, inputFrom }, async (input, _json, given) => {
    const write = async (parts: AsyncIterable<string | Buffer>) => {
      for await (const part of parts)
        if (!context.terminal.stdout.write(part)) await once(context.terminal.stdout, 'drain')
    }
    if (context.remote) await write(await streamRemote(context.remote, { route: 'GET /audit/export', fields: given }))
    else await context.withDeps((deps) => write(exportAudit(deps, input)))
  })
}

function table(events: Readonly<OutputOf<typeof listAudit>['events']>): string {
  if (events.length === 0) return 'no events'
  const rows = events.map(({ at, actor, action, target, outcome, detail }) => [
    readable(at),
    actor.name === null ? actor.kind : `${actor.kind} ${actor.name}`,
    action,
    readable(target),
    outcome,
    JSON.stringify(detail),
  ])
  return aligned([['AT', 'ACTOR', 'ACTION', 'TARGET', 'OUTCOME', 'DETAIL'], ...rows])
}

const verifiedText = ({ intact, problems, head, ...counts }: OutputOf<typeof verifyAudit>): string =>
  [
    aligned([
      ['intact', readable(intact)],
      ...Object.entries(counts).map(([name, count]) => [name, String(count)]),
      ['head', readable(head)],
    ]),
    ...problems.map(
      ({ seal_no, first_at, last_at, audit_id, problem }) =>
        `seal ${seal_no}, ${readable(first_at)} to ${readable(last_at)}: ${problem}${audit_id ? ` (${audit_id})` : ''}`,
    ),
  ].join('\n')
