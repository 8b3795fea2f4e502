import { randomDigits } from '../../lib/crypto/made-secret.ts'
import { type OutputOf, parseInput } from '../../lib/json/input.ts'
import {
  createOperator,
  disableOperator,
  enableOperator,
  newOperatorToken,
  resetTotp,
  revokeOperatorToken,
  setOperatorPassword,
  setOperatorRole,
  showOperator,
} from '../../operators/index.ts'
import type { Action, Asking, Field, Once } from '../shown.ts'
import { at, code, count, roleChoices, roleText } from '../texts.ts'

type ShownOperator = OutputOf<typeof showOperator>

export const pageOf = (name: string, ...more: string[]): string => at('operators', name, ...more)

const nameOf = ({ params }: Asking) => parseInput(showOperator.input, { name: params.name })
export const operatorOf = (asking: Asking): Promise<ShownOperator> => showOperator(asking.deps, nameOf(asking))

const roleField = ({ t }: Asking, value?: string): Field => ({
  name: 'role',
  label: t('console.field.role'),
  kind: 'choice',
  required: true,
  choices: roleChoices(t),
  ...(value === undefined ? {} : { value }),
})

const daysField = ({ t }: Asking): Field => ({
  name: 'days',
  label: t('console.field.days'),
  kind: 'number',
  required: true,
  value: '90',
})

const once = ({ t }: Asking, name: string, value: string, note = t('console.once.note')): Once => ({
  note,
  values: [{ name, cells: [code(value)] }],
})

interface ChangeTexts {
  readonly title: string
  readonly says: string
}

/** A change of one operator; the path ends with `what`. */
const change = (
  what: string,
  { title, says }: ChangeTexts,
  run: (asking: Asking) => Promise<Once | undefined>,
  fields: (asking: Asking, of: ShownOperator) => Field[] = () => [],
): Action => ({
  path: `/operators/:name/${what}`,
  operation: `POST /operators/:name/${what}`,
  title,
  ask: async (asking) => {
    const found = await operatorOf(asking)
    const said = { name: found.name, tokens: count(found.tokens.length), role: roleText(found.role, asking.t) }
    return { says: [asking.t(says, said)], fields: fields(asking, found), back: pageOf(found.name) }
  },
  run,
})

/** Of a change that has nothing to tell. */
const silently = (run: (asking: Asking) => Promise<unknown>) => async (asking: Asking) => {
  await run(asking)
  return undefined
}

/** 20 characters of base62: 119 bits. */
const PASSWORD_LENGTH = 20

const create: Action = {
  path: '/operators/new',
  operation: 'POST /operators',
  title: 'console.operators.create',
  ask: async (asking) => ({
    says: [asking.t('console.operators.create_says')],
    fields: [
      { name: 'name', label: asking.t('console.field.name'), kind: 'text', required: true, most: 64 },
      roleField(asking, 'viewer'),
      daysField(asking),
    ],
    back: at('operators'),
  }),
  run: async (asking) => {
    const { name, role, days } = asking.fields
    const made = await createOperator(asking.deps, parseInput(createOperator.input, { name, role, days: Number(days) }))
    return once(asking, 'token', made.token)
  },
}

export const operatorActions: readonly Action[] = [
  create,
  change(
    'role',
    { title: 'console.operators.set_role', says: 'console.operators.set_role_says' },
    silently(async (asking) =>
      setOperatorRole(asking.deps, parseInput(setOperatorRole.input, { ...nameOf(asking), role: asking.fields.role })),
    ),
    (asking, { role }) => [roleField(asking, role)],
  ),
  change(
    'password',
    { title: 'console.operators.set_password', says: 'console.operators.set_password_says' },
    async (asking) => {
      const password = randomDigits(PASSWORD_LENGTH)
      await setOperatorPassword(asking.deps, { ...nameOf(asking), password })
      return once(asking, asking.t('console.field.password'), password, asking.t('console.operators.password_note'))
    },
  ),
  change(
    'reset-totp',
    { title: 'console.operators.reset_totp', says: 'console.operators.reset_totp_says' },
    silently((asking) => resetTotp(asking.deps, nameOf(asking))),
  ),
  change(
    'tokens',
    { title: 'console.operators.new_token', says: 'console.operators.new_token_says' },
    async (asking) => {
      const { token_name, role, days } = asking.fields
      const wanted = parseInput(newOperatorToken.input, { ...nameOf(asking), token_name, role, days: Number(days) })
      return once(asking, 'token', (await newOperatorToken(asking.deps, wanted)).token)
    },
    (asking, { role }) => [
      { name: 'token_name', label: asking.t('console.field.token_name'), kind: 'text', required: true, most: 64 },
      roleField(asking, role),
      daysField(asking),
    ],
  ),
  change(
    'tokens/revoke',
    { title: 'console.operators.revoke', says: 'console.operators.revoke_says' },
    silently((asking) =>
      revokeOperatorToken(
        asking.deps,
        parseInput(revokeOperatorToken.input, { ...nameOf(asking), token_id: asking.fields.token_id }),
      ),
    ),
  ),
  change(
    'disable',
    { title: 'console.operators.disable', says: 'console.operators.disable_says' },
    silently((asking) => disableOperator(asking.deps, nameOf(asking))),
  ),
  change(
    'enable',
    { title: 'console.operators.enable', says: 'console.operators.enable_says' },
    silently((asking) => enableOperator(asking.deps, nameOf(asking))),
  ),
]
