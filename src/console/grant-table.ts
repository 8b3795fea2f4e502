import type { listGrants } from '../oauth/index.ts'
import type { PageContext, Table } from './page-model.ts'
import { at, link, stateCell, text, time } from './texts.ts'

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
