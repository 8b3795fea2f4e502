import { randomDigits } from '../../lib/crypto/generated-secret.ts'
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
import type { Action, Field, OneTimeResult, PageContext } from '../page-model.ts'
import { at, code, count, roleChoices, roleText } from '../texts.ts'

type ShownOperator = OutputOf<typeof showOperator>

export const pageOf = (name: string, ...more: string[]): string => at('operators', name, ...more)

const nameOf = ({ params }: PageContext) => parseInput(showOperator.input, { name: params.name })
export const operatorOf = (context: PageContext): Promise<ShownOperator> => showOperator(context.deps, nameOf(context))

const roleField = ({ t }: PageContext, value?: string): Field => ({
  name: 'role',
  label: t('console.field.role'),
  kind: 'choice',
  required: true,
  choices: roleChoices(t),
  ...(value === undefined ? {} : { value }),
})

const daysField = ({ t }: PageContext): Field => ({
  name: 'days',
  label: t('console.field.days'),
  kind: 'number',
  required: true,
  value: '90',
})

const once = ({ t }: PageContext, name: string, value: string, note = t('console.once.note')): OneTimeResult => ({
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
  run: (context: PageContext) => Promise<OneTimeResult | undefined>,
  fields: (context: PageContext, of: ShownOperator) => Field[] = () => [],
): Action => ({
  path: `/operators/:name/${what}`,
  operation: `POST /operators/:name/${what}`,
  title,
  confirm: async (context) => {
    const found = await operatorOf(context)
    const values = { name: found.name, tokens: count(found.tokens.length), role: roleText(found.role, context.t) }
    return { says: [context.t(says, values)], fields: fields(context, found), back: pageOf(found.name) }
  },
  run,
})

/** A change without a result to show. */
const silently = (run: (context: PageContext) => Promise<unknown>) => async (context: PageContext) => {
  await run(context)
  return undefined
}

/** 20 characters of base62: 119 bits. */
const PASSWORD_LENGTH = 20

const create: Action = {
  path: '/operators/new',
  operation: 'POST /operators',
  title: 'console.operators.create',
  confirm: async (context) => ({
    says: [context.t('console.operators.create_says')],
    fields: [
      { name: 'name', label: context.t('console.field.name'), kind: 'text', required: true, most: 64 },
      roleField(context, 'viewer'),
      daysField(context),
    ],
    back: at('operators'),
  }),
  run: async (context) => {
    const { name, role, days } = context.fields
    const made = await createOperator(
      context.deps,
      parseInput(createOperator.input, { name, role, days: Number(days) }),
    )
    return once(context, 'token', made.token)
  },
}

export const operatorActions: readonly Action[] = [
  create,
  change(
    'role',
    { title: 'console.operators.set_role', says: 'console.operators.set_role_says' },
    silently(async (context) =>
      setOperatorRole(
        context.deps,
        parseInput(setOperatorRole.input, { ...nameOf(context), role: context.fields.role }),
      ),
    ),
    (context, { role }) => [roleField(context, role)],
  ),
  change(
    'password',
    { title: 'console.operators.set_password', says: 'console.operators.set_password_says' },
    async (context) => {
      const password = randomDigits(PASSWORD_LENGTH)
      await setOperatorPassword(context.deps, { ...nameOf(context), password })
      return once(context, context.t('console.field.password'), password, context.t('console.operators.password_note'))
    },
  ),
  change(
    'reset-totp',
    { title: 'console.operators.reset_totp', says: 'console.operators.reset_totp_says' },
    silently((context) => resetTotp(context.deps, nameOf(context))),
  ),
  change(
    'tokens',
    { title: 'console.operators.new_token', says: 'console.operators.new_token_says' },
    async (context) => {
      const { token_name, role, days } = context.fields
      const wanted = parseInput(newOperatorToken.input, { ...nameOf(context), token_name, role, days: Number(days) })
      return once(context, 'token', (await newOperatorToken(context.deps, wanted)).token)
    },
    (context, { role }) => [
      { name: 'token_name', label: context.t('console.field.token_name'), kind: 'text', required: true, most: 64 },
      roleField(context, role),
      daysField(context),
    ],
  ),
  change(
    'tokens/revoke',
    { title: 'console.operators.revoke', says: 'console.operators.revoke_says' },
    silently((context) =>
      revokeOperatorToken(
        context.deps,
        parseInput(revokeOperatorToken.input, { ...nameOf(context), token_id: context.fields.token_id }),
      ),
    ),
  ),
  change(
    'disable',
    { title: 'console.operators.disable', says: 'console.operators.disable_says' },
    silently((context) => disableOperator(context.deps, nameOf(context))),
  ),
  change(
    'enable',
    { title: 'console.operators.enable', says: 'console.operators.enable_says' },
    silently((context) => enableOperator(context.deps, nameOf(context))),
  ),
]
