import { blockUser, endSessionsOfUser, listUsers, maskedUser, showUser, unblockUser } from '../../account/index.ts'
import { parseInput } from '../../lib/json/input.ts'
import { allows } from '../../lib/web/admin-auth.ts'
import { listGrants, liveGrantsOf, previewRevocation } from '../../oauth/index.ts'
import { grantTable } from '../grant-table.ts'
import type { Action, PageContext, Section } from '../page-model.ts'
import { PERSONAL_DATA } from '../permissions.ts'
import { at, code, count, countedGrants, link, orDash, stateCell, stateChoices, text, time } from '../texts.ts'
import { factorLinks, factorsInWords, removeFactorsAction } from './factors.ts'
import { accesses, keyOf, pageOf, personActions, personLinks, personOf } from './people.ts'

/** Viewers may not search by phone number or by masked names: they could guess them letter by letter. */
const SUPPORT_ONLY = ['name', 'phone_number']

const readPage = async ({ deps, t, fields, role }: PageContext) => {
  const asked = Object.entries(fields).filter(([name]) => allows(role, 'support') || !SUPPORT_ONLY.includes(name))
  const { users, next } = await listUsers(deps, parseInput(listUsers.input, Object.fromEntries(asked)))
  return {
    table: {
      head: [
        t('console.field.person'),
        t('console.field.passport'),
        t('console.field.phone'),
        t('console.field.state'),
        t('console.field.created'),
      ],
      rows: users
        .map(maskedUser)
        .map((user) => [
          link(`${user.name} (${user.cid}/${user.user_id})`, pageOf(user)),
          code(user.passport),
          orDash(user.phone_number),
          stateCell(user.status, t),
          time(user.created_at),
        ]),
      none: t('console.users.none'),
    },
    next,
  }
}

const SHOWN_GRANTS = 20

/** With a reason unmasked, which the operation keeps in the audit log. */
async function readOne(context: PageContext, reason?: string) {
  const { deps, t } = context
  const key = keyOf(context)
  const user = await showUser(deps, reason === undefined ? key : parseInput(showUser.input, { ...key, reason }))
  const found = await listGrants(deps, parseInput(listGrants.input, { ...key, limit: SHOWN_GRANTS }))
  const target = `user:${user.cid}/${user.user_id}`
  const change = user.status === 'active' ? 'block' : 'unblock'
  return {
    title: user.name,
    ...(reason === undefined ? { notice: t('console.users.masked') } : {}),
    facts: [
      { name: t('console.field.name'), cells: [text(user.name)] },
      { name: 'cid / user_id', cells: [code(`${user.cid} / ${user.user_id}`)] },
      { name: t('console.field.passport'), cells: [code(user.passport)] },
      { name: t('console.field.phone'), cells: [orDash(user.phone_number)] },
      { name: t('console.field.avatar'), cells: [orDash(user.big_avatar_url)] },
      { name: t('console.field.state'), cells: [stateCell(user.status, t)] },
      { name: t('console.users.factors'), cells: await factorsInWords(context, key) },
      { name: t('console.field.created'), cells: [time(user.created_at)] },
      {
        name: t('console.field.more'),
        cells: [
          link(
            t('console.users.all_grants'),
            `${at('grants')}?${new URLSearchParams({ ...key, cid: String(key.cid) })}`,
          ),
          link(t('console.field.history'), `${at('audit')}?${new URLSearchParams({ target })}`),
        ],
      },
    ],
    tables: [{ ...grantTable(found.grants, context), title: t('console.grants.title') }],
    actions: [
      {
        operation: `POST /users/${change}`,
        href: pageOf(key, change),
        text: change === 'block' ? t('console.users.block') : t('console.users.unblock'),
      },
      { operation: END_SESSIONS, href: pageOf(key, 'end-sessions'), text: t('console.users.end') },
      { operation: PERSONAL_DATA, href: pageOf(key, 'unmask'), text: t('console.users.unmask') },
      ...factorLinks(key, context),
      ...personLinks(key, context),
    ],
  }
}

const change = (what: 'block' | 'unblock'): Action => ({
  path: `/users/${what}`,
  operation: `POST /users/${what}`,
  title: what === 'block' ? 'console.users.block' : 'console.users.unblock',
  confirm: async (context) => {
    const key = keyOf(context)
    const user = await showUser(context.deps, key)
    const { grants } = await liveGrantsOf(context.deps, key)
    const numbers = { name: `${user.name} (${personOf(key)})`, grants: countedGrants(grants) }
    const message = what === 'block' ? 'console.users.block_says' : 'console.users.unblock_says'
    return { says: [context.t(message, numbers)], back: pageOf(key) }
  },
  run: async (context) => {
    await (what === 'block' ? blockUser : unblockUser)(context.deps, keyOf(context))
    return undefined
  },
})

const END_SESSIONS = 'POST /users/end-sessions'

const endSessions: Action = {
  path: '/users/end-sessions',
  operation: END_SESSIONS,
  title: 'console.users.end',
  back: (context) => pageOf(keyOf(context)),
  confirm: async (context) => {
    const key = keyOf(context)
    const { tokens, apps, sessions } = await previewRevocation.ofUser(context.deps, key)
    const numbers = { tokens: count(tokens), apps: count(apps), sessions: count(sessions) }
    return { says: [context.t('console.users.end_says', { person: personOf(key), ...numbers })], back: pageOf(key) }
  },
  run: async (context) => {
    await endSessionsOfUser(context.deps, keyOf(context))
    return undefined
  },
}

const unmask: Action = {
  path: '/users/unmask',
  operation: PERSONAL_DATA,
  title: 'console.users.unmask',
  confirm: async (context) => ({
    says: [context.t('console.users.unmask_says')],
    fields: [{ name: 'reason', label: context.t('console.field.reason'), kind: 'text', required: true, most: 500 }],
    back: pageOf(keyOf(context)),
  }),
  run: async (context) => {
    const { facts } = await readOne(context, context.fields.reason ?? '')
    return { note: context.t('console.users.unmasked'), values: facts }
  },
}

export const users: Section = {
  id: 'users',
  title: 'console.users.title',
  operation: 'GET /users',
  lists: [
    {
      path: '/users',
      operation: 'GET /users',
      title: 'console.users.title',
      lead: 'console.users.lead',
      filters: ({ t, role }) => [
        { name: 'passport', label: t('console.field.passport_begins'), kind: 'text', most: 128 },
        ...(allows(role, 'support')
          ? ([
              { name: 'name', label: t('console.field.name_begins'), kind: 'text', most: 100 },
              { name: 'phone_number', label: t('console.field.phone_begins'), kind: 'text', most: 21 },
            ] as const)
          : []),
        {
          name: 'status',
          label: t('console.field.state'),
          kind: 'choice',
          choices: stateChoices(['active', 'blocked'], t),
        },
      ],
      read: readPage,
    },
    accesses,
  ],
  details: [{ path: '/users/user', operation: 'GET /users/:cid/:user_id', read: (context) => readOne(context) }],
  actions: [change('block'), change('unblock'), endSessions, unmask, removeFactorsAction, ...personActions],
}
