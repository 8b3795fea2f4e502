import { parseInput } from '../../lib/json/input.ts'
import { listGrants, revokeGrantByOperator } from '../../oauth/index.ts'
import type { Action, PageContext, Section, Table } from '../page-model.ts'
import { at, link, stateCell, text, time } from '../texts.ts'

type Grants = Awaited<ReturnType<typeof listGrants>>['grants']

const userOf = ({ cid, user_id }: Grants[number]): string =>
  `${at('users', 'user')}?${new URLSearchParams({ cid: String(cid), user_id })}`

const revokeOf = ({ cid, user_id, grant_id }: Grants[number]): string =>
  `${at('grants', 'revoke')}?${new URLSearchParams({ cid: String(cid), user_id, grant_id })}`

export const grantTable = (grants: Grants, { t }: PageContext): Table => ({
  head: [
    t('console.field.app'),
    t('console.field.person'),
    t('console.field.scopes'),
    t('console.field.created'),
    t('console.field.state'),
    t('console.field.change'),
  ],
  rows: grants.map((grant) => [
    { ...link(grant.app_key, at('apps', grant.app_key)), isCode: true },
    link(`${grant.cid}/${grant.user_id}`, userOf(grant)),
    text(grant.scopes.join(' ')),
    time(grant.created_at),
    stateCell(grant.revoked_at ? 'withdrawn' : 'active', t),
    grant.revoked_at ? text('–') : link(t('console.grants.revoke'), revokeOf(grant)),
  ]),
  none: t('console.grants.none'),
})

async function readPage(context: PageContext) {
  const { deps, t, fields } = context
  if (Object.keys(fields).length === 0) {
    return { table: { head: [], rows: [], none: t('console.grants.ask') }, next: null }
  }
  const { grants, next } = await listGrants(deps, parseInput(listGrants.input, fields))
  return { table: grantTable(grants, context), next }
}

const referenceOf = ({ fields: { cid, user_id, grant_id } }: PageContext) =>
  parseInput(revokeGrantByOperator.input, { cid: Number(cid), user_id, grant_id })

const revoke: Action = {
  path: '/grants/revoke',
  operation: 'POST /grants/revoke',
  title: 'console.grants.revoke',
  confirm: async (context) => {
    const { cid, user_id, grant_id } = referenceOf(context)
    const says = context.t('console.grants.revoke_says', { grant: grant_id, person: `${cid}/${user_id}` })
    const back = `${at('grants')}?${new URLSearchParams({ cid: String(cid), user_id })}`
    return { says: [says], back }
  },
  run: async (context) => {
    await revokeGrantByOperator(context.deps, referenceOf(context))
    return undefined
  },
}

export const grants: Section = {
  id: 'grants',
  title: 'console.grants.title',
  operation: 'GET /grants',
  lists: [
    {
      path: '/grants',
      operation: 'GET /grants',
      title: 'console.grants.title',
      lead: 'console.grants.lead',
      filters: () => [
        { name: 'app_key', label: 'app_key', kind: 'text', most: 128 },
        { name: 'cid', label: 'cid', kind: 'text', most: 10 },
        { name: 'user_id', label: 'user_id', kind: 'text', most: 128 },
      ],
      read: readPage,
    },
  ],
  actions: [revoke],
}
