import type { Command } from 'commander'
import type { OutputOf } from '../lib/json/input.ts'
import { listGrants, revokeGrantByOperator } from '../oauth/index.ts'
import type { CliContext } from './context.ts'
import { keyed, keyOf } from './field-options.ts'
import { defineListCommand } from './list.ts'
import { defineCommand } from './operation.ts'
import { aligned, readable } from './text.ts'

/** `gatehouse grant …`: as over /admin/v1/grants. */
export function grantCommands(program: Command, context: CliContext): void {
  const grant = program.command('grant').description('what users have allowed micro-apps')
  const list = keyed(grant.command('list').description('the grants of one user or to one micro-app, newest first'))
  defineListCommand(list.option('--app-key <key>', 'those to this micro-app'), context, {
    plural: 'grants',
    input: listGrants.input,
    inputFrom: (options) => ({ ...keyOf(options), app_key: options.appKey }),
    page: listGrants,
    table,
  })
  const revoke = keyed(
    grant.command('revoke').description('withdraw a grant: its code and tokens stop working at once'),
  )
  defineCommand(revoke.option('--grant-id <id>', 'as listed'), context, {
    input: revokeGrantByOperator.input,
    inputFrom: (options) => ({ ...keyOf(options), grant_id: options.grantId }),
    run: async (deps, reference) => {
      await revokeGrantByOperator(deps, reference)
      return { grant_id: reference.grant_id, revoked: true }
    },
    text: ({ grant_id }) => `grant ${grant_id} is withdrawn`,
  })
}

function table(grants: Readonly<OutputOf<typeof listGrants>['grants']>): string {
  if (grants.length === 0) return 'no grants'
  const rows = grants.map((grant) => [
    grant.grant_id,
    grant.app_key,
    readable(grant.created_at),
    readable(grant.revoked_at),
    readable(grant.scopes),
  ])
  return aligned([['GRANT_ID', 'APP_KEY', 'SINCE', 'REVOKED', 'SCOPES'], ...rows])
}
