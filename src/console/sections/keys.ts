import { parseInput } from '../../lib/json/input.ts'
import { listSigningKeys, retirementInput, retireSigningKey, rotateSigningKeys } from '../../oidc/index.ts'
import type { Action, PageContext, Section } from '../page-model.ts'
import { at, code, count, link, text, time } from '../texts.ts'

const readPage = async ({ deps, t }: PageContext) => {
  const found = await listSigningKeys(deps)
  return {
    table: {
      head: [
        'kid',
        'alg',
        t('console.field.created'),
        t('console.field.signs_from'),
        t('console.field.signs_until'),
        t('console.field.published_until'),
        t('console.field.change'),
      ],
      rows: found.map((key) => [
        code(key.kid),
        text(key.alg),
        time(key.created_at),
        time(key.signs_from),
        time(key.signs_until),
        time(key.published_until),
        link(t('console.keys.retire'), at('keys', key.kid, 'retire')),
      ]),
      none: t('console.keys.none'),
    },
    next: null,
  }
}

const rotate: Action = {
  path: '/keys/rotate',
  operation: 'POST /signing-keys/rotate',
  title: 'console.keys.rotate',
  confirm: async ({ deps, t }) => ({
    says: [t('console.keys.rotate_says', { seconds: count(deps.config.SIGNING_KEY_LEAD_S) })],
    back: at('keys'),
  }),
  run: async ({ deps }) => {
    await rotateSigningKeys(deps, {})
    return undefined
  },
}

const retire: Action = {
  path: '/keys/:kid/retire',
  operation: 'POST /signing-keys/retire',
  title: 'console.keys.retire',
  confirm: async ({ t, params }) => ({
    says: [t('console.keys.retire_says', { kid: params.kid ?? '' })],
    fields: [
      {
        name: 'at_once',
        label: t('console.keys.at_once'),
        kind: 'choice',
        required: true,
        choices: [
          ['false', t('console.keys.later')],
          ['true', t('console.keys.now')],
        ],
      },
    ],
    back: at('keys'),
  }),
  run: async ({ deps, params, fields }) => {
    await retireSigningKey(deps, parseInput(retirementInput, { kid: params.kid, at_once: fields.at_once === 'true' }))
    return undefined
  },
}

export const keys: Section = {
  id: 'keys',
  title: 'console.keys.title',
  operation: 'GET /signing-keys',
  lists: [
    {
      path: '/keys',
      operation: 'GET /signing-keys',
      title: 'console.keys.title',
      lead: 'console.keys.lead',
      filters: () => [],
      read: readPage,
      actions: ({ t }) => [
        { operation: 'POST /signing-keys/rotate', href: at('keys', 'rotate'), text: t('console.keys.rotate') },
      ],
    },
  ],
  actions: [rotate, retire],
}
