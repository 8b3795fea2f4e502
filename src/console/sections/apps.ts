import { rotation } from '../../lib/crypto/generated-secret.ts'
import { parseInput } from '../../lib/json/input.ts'
import { liveGrantsOf, previewRevocation } from '../../oauth/index.ts'
import {
  approveMicroApp,
  endTokensOfApp,
  hasSecret,
  listMicroApps,
  type MicroApp,
  rotateSecret,
  showMicroApp,
  suspendMicroApp,
} from '../../registry/index.ts'
import type { Action, PageContext, Section } from '../page-model.ts'
import { mayDo } from '../permissions.ts'
import { at, code, count, countedGrants, link, orDash, stateCell, stateChoices, text, time, yesNo } from '../texts.ts'

const STATES = ['pending', 'approved', 'suspended']

const pageOf = (app_key: string): string => at('apps', app_key)

const readPage = async ({ deps, t, fields }: PageContext) => {
  const { apps, next } = await listMicroApps(deps, parseInput(listMicroApps.input, fields))
  return {
    table: {
      head: [
        t('console.field.app'),
        'app_key',
        t('console.field.state'),
        t('console.field.scopes'),
        t('console.field.created'),
      ],
      rows: apps.map((app) => [
        link(app.name, pageOf(app.app_key)),
        code(app.app_key),
        stateCell(app.status, t),
        text(app.scopes.join(' ')),
        time(app.created_at),
      ]),
      none: t('console.apps.none'),
    },
    next,
  }
}

const appOf = ({ deps, params }: PageContext) => showMicroApp(deps, params.app_key ?? '')

async function readOne(context: PageContext) {
  const { t } = context
  const { secrets, ...app } = await appOf(context)
  return {
    title: app.name,
    facts: factsOf(app, context),
    tables: [
      {
        title: t('console.apps.secrets'),
        head: [t('console.field.created'), t('console.field.ends'), t('console.field.last_used')],
        rows: secrets.map((secret) => [time(secret.created_at), time(secret.ends_at), time(secret.last_used_at)]),
        none: t('console.apps.no_secrets'),
      },
    ],
    actions: [
      ...(app.status === 'approved' ? [] : [action(app, 'approve', t('console.apps.approve'))]),
      ...(app.status === 'suspended' ? [] : [action(app, 'suspend', t('console.apps.suspend'))]),
      ...(hasSecret(app) ? [action(app, 'rotate-secret', t('console.apps.rotate'))] : []),
      action(app, 'end-tokens', t('console.apps.end')),
    ],
  }
}

const action = ({ app_key }: MicroApp, what: string, text: string) => ({
  operation: `POST /apps/:app_key/${what}`,
  href: `${pageOf(app_key)}/${what}`,
  text,
})

const factsOf = (app: MicroApp, { t, role }: PageContext) => [
  { name: 'app_key', cells: [code(app.app_key)] },
  { name: t('console.field.state'), cells: [stateCell(app.status, t)] },
  { name: t('console.field.hosts'), cells: app.hosts.map(code) },
  { name: 'redirect_uris', cells: app.redirect_uris.map(code) },
  { name: t('console.field.logo'), cells: [orDash(app.logo_url)] },
  { name: t('console.field.scopes'), cells: app.scopes.map(code) },
  { name: t('console.field.refresh_days'), cells: [text(`${app.refresh_days}, ${app.refresh_policy}`)] },
  { name: t('console.field.http_allowed'), cells: [yesNo(app.http_allowed, t)] },
  { name: t('console.field.webhook'), cells: [orDash(app.webhook_url)] },
  { name: t('console.field.created'), cells: [time(app.created_at)] },
  { name: t('console.field.changed'), cells: [time(app.updated_at)] },
  {
    name: t('console.field.more'),
    cells: [
      link(t('console.apps.grants'), `${at('grants')}?${new URLSearchParams({ app_key: app.app_key })}`),
      ...(mayDo(role, 'GET /explain')
        ? [link(t('console.explain.refused'), `${at('search')}?${new URLSearchParams({ q: app.app_key })}`)]
        : []),
      link(t('console.field.history'), `${at('audit')}?${new URLSearchParams({ target: `app:${app.app_key}` })}`),
    ],
  },
]

const approve: Action = {
  path: '/apps/:app_key/approve',
  operation: 'POST /apps/:app_key/approve',
  title: 'console.apps.approve',
  confirm: async (context) => {
    const app = await appOf(context)
    const { grants, people } = await liveGrantsOf(context.deps, app)
    const numbers = { name: app.name, grants: countedGrants(grants), people: countedGrants(people) }
    return { says: [context.t('console.apps.approve_says', numbers)], back: pageOf(app.app_key) }
  },
  run: async ({ deps, params }) => {
    await approveMicroApp(deps, params.app_key ?? '')
    return undefined
  },
}

const suspend: Action = {
  path: '/apps/:app_key/suspend',
  operation: 'POST /apps/:app_key/suspend',
  title: 'console.apps.suspend',
  confirm: async (context) => {
    const app = await appOf(context)
    const { grants, people } = await liveGrantsOf(context.deps, app)
    const numbers = { name: app.name, grants: countedGrants(grants), people: countedGrants(people) }
    return { says: [context.t('console.apps.suspend_says', numbers)], back: pageOf(app.app_key) }
  },
  run: async ({ deps, params }) => {
    await suspendMicroApp(deps, params.app_key ?? '')
    return undefined
  },
}

const endTokens: Action = {
  path: '/apps/:app_key/end-tokens',
  operation: 'POST /apps/:app_key/end-tokens',
  title: 'console.apps.end',
  back: ({ params }) => pageOf(params.app_key ?? ''),
  confirm: async (context) => {
    const { name, app_key } = await appOf(context)
    const { tokens, people } = await previewRevocation.ofApp(context.deps, app_key)
    const numbers = { name, tokens: count(tokens), people: count(people) }
    return { says: [context.t('console.apps.end_says', numbers)], back: pageOf(app_key) }
  },
  run: async ({ deps, params }) => {
    await endTokensOfApp(deps, params.app_key ?? '')
    return undefined
  },
}

const rotate: Action = {
  path: '/apps/:app_key/rotate-secret',
  operation: 'POST /apps/:app_key/rotate-secret',
  title: 'console.apps.rotate',
  confirm: async (context) => {
    const { t } = context
    const { name, app_key, secrets } = await appOf(context)
    return {
      says: [t('console.apps.rotate_says', { name, secrets: count(secrets.length) })],
      fields: [
        {
          name: 'overlap_s',
          label: t('console.field.overlap'),
          kind: 'number',
          required: true,
          value: '86400',
          hint: t('console.field.overlap_hint'),
        },
      ],
      back: pageOf(app_key),
    }
  },
  run: async ({ deps, t, params, fields }) => {
    const input = parseInput(rotation, { overlap_s: Number(fields.overlap_s) })
    const { app_secret } = await rotateSecret(deps, params.app_key ?? '', input)
    return { note: t('console.once.note'), values: [{ name: 'app_secret', cells: [code(app_secret)] }] }
  },
}

export const apps: Section = {
  id: 'apps',
  title: 'console.apps.title',
  operation: 'GET /apps',
  lists: [
    {
      path: '/apps',
      operation: 'GET /apps',
      title: 'console.apps.title',
      lead: 'console.apps.lead',
      filters: ({ t }) => [
        { name: 'name', label: t('console.field.name_begins'), kind: 'text', most: 100 },
        { name: 'app_key', label: t('console.field.app_key_begins'), kind: 'text', most: 128 },
        { name: 'status', label: t('console.field.state'), kind: 'choice', choices: stateChoices(STATES, t) },
      ],
      read: readPage,
    },
  ],
  details: [{ path: '/apps/:app_key', operation: 'GET /apps/:app_key', read: readOne }],
  actions: [approve, suspend, rotate, endTokens],
}
