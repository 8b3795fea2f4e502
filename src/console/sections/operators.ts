import { listOperators } from '../../operators/index.ts'
import type { PageContext, Section } from '../page-model.ts'
import { at, count, link, roleText, stateCell, text, time, yesNo } from '../texts.ts'
import { operatorActions, operatorOf, pageOf } from './operator-actions.ts'

const readPage = async ({ deps, t }: PageContext) => ({
  table: {
    head: [
      t('console.field.name'),
      t('console.field.role'),
      t('console.field.state'),
      t('console.field.authenticator'),
      t('console.field.tokens'),
      t('console.field.created'),
    ],
    rows: (await listOperators(deps)).map((one) => [
      link(one.name, pageOf(one.name)),
      text(roleText(one.role, t)),
      stateCell(one.status, t),
      yesNo(one.has_totp, t),
      text(count(one.tokens.length)),
      time(one.created_at),
    ]),
    none: t('console.operators.none'),
  },
  next: null,
})

async function readOne(context: PageContext) {
  const { t } = context
  const found = await operatorOf(context)
  const { name } = found
  const change = (what: string, text: string) => ({
    operation: `POST /operators/:name/${what}`,
    href: pageOf(name, what),
    text,
  })
  return {
    title: name,
    facts: [
      { name: t('console.field.role'), cells: [text(roleText(found.role, t))] },
      { name: t('console.field.state'), cells: [stateCell(found.status, t)] },
      { name: t('console.field.password'), cells: [yesNo(found.has_password, t)] },
      { name: t('console.field.authenticator'), cells: [yesNo(found.has_totp, t)] },
      { name: t('console.field.created'), cells: [time(found.created_at)] },
      {
        name: t('console.field.more'),
        cells: [
          link(t('console.operators.did'), `${at('audit')}?${new URLSearchParams({ actor: name })}`),
          link(t('console.field.history'), `${at('audit')}?${new URLSearchParams({ target: `operator:${name}` })}`),
        ],
      },
    ],
    tables: [
      {
        title: t('console.field.tokens'),
        head: [
          t('console.field.name'),
          t('console.field.role'),
          t('console.field.created'),
          t('console.field.ends'),
          t('console.field.last_used'),
          t('console.field.change'),
        ],
        rows: found.tokens.map((token) => [
          text(token.name),
          text(roleText(token.role, t)),
          time(token.created_at),
          time(token.expires_at),
          time(token.last_used_at),
          link(t('console.operators.revoke'), `${pageOf(name, 'tokens', 'revoke')}?token_id=${token.token_id}`),
        ]),
        none: t('console.operators.no_tokens'),
      },
    ],
    actions: [
      change('role', t('console.operators.set_role')),
      change('password', t('console.operators.set_password')),
      change('reset-totp', t('console.operators.reset_totp')),
      change('tokens', t('console.operators.new_token')),
      found.status === 'active'
        ? change('disable', t('console.operators.disable'))
        : change('enable', t('console.operators.enable')),
    ],
  }
}

export const operators: Section = {
  id: 'operators',
  title: 'console.operators.title',
  operation: 'GET /operators',
  lists: [
    {
      path: '/operators',
      operation: 'GET /operators',
      title: 'console.operators.title',
      lead: 'console.operators.lead',
      filters: () => [],
      read: readPage,
      actions: ({ t }) => [
        { operation: 'POST /operators', href: at('operators', 'new'), text: t('console.operators.create') },
      ],
    },
  ],
  details: [{ path: '/operators/:name', operation: 'GET /operators/:name', read: readOne }],
  actions: operatorActions,
}
