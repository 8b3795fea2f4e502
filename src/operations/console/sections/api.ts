import { type Action, namesIn, partsOf } from '../../../platform/lib/action.ts'
import { contractAnswer, NamedFailure } from '../../../platform/lib/failure.ts'
import { InvalidInput } from '../../../platform/lib/json/input.ts'
import { prettyJson, prettyLossless } from '../../../platform/lib/json/lossless.ts'
import { shellQuoted } from '../../../platform/lib/shell-quoted.ts'
import { cutTo } from '../../../platform/lib/storable.ts'
import { ROLES } from '../../../platform/lib/web/admin-auth.ts'
import type { Download } from '../../../platform/lib/web/download.ts'
import { failureEnvelope } from '../../../platform/lib/web/envelope.ts'
import type { Translate } from '../../../platform/lib/web/locale.ts'
import { noSuchPath, RescodeError } from '../../../platform/lib/web/rescode.ts'
import { ALL_ACTIONS, fieldsOf, hintOf, labelOf, type Values, withWarnings } from '../../actions/index.ts'
import type { ServiceDeps } from '../../jobs/index.ts'
import { clearedField, formField, withCleared } from '../action-form.ts'
import type { Field, OneTimeResult, PageContext, Section } from '../page-model.ts'
import { carryOut, mayGive, perform } from '../placed.ts'
import { at, code, fact, link, roleText, text } from '../texts.ts'

/** The admin API, operation by operation, each with a form that performs it on behalf of the signed-in operator. */

interface Operation extends Action<ServiceDeps> {
  /** It only says what the operation would do. */
  readonly isPreview?: true
}

const previewOf = ({ id, route, input, foresee, previewRole }: Action<ServiceDeps>): Operation[] =>
  foresee && previewRole
    ? [
        {
          ...{ id: `${id}_preview`, route: `GET ${partsOf(route).path}`, role: previewRole, input },
          perform: foresee,
          isPreview: true,
        },
      ]
    : []

const OPERATIONS: ReadonlyMap<string, Operation> = new Map(
  ALL_ACTIONS.flatMap((action): Operation[] => [action, ...previewOf(action)]).map((op) => [op.id, op]),
)

function operationIn({ params }: PageContext): Operation {
  const op = OPERATIONS.get(params.operation ?? '')
  if (!op) throw noSuchPath()
  return op
}

const actionId = ({ id, isPreview }: Operation): string => (isPreview ? id.replace(/_preview$/, '') : id)
const titleOf = (op: Operation, t: Translate): string => {
  const title = t(`action.${actionId(op)}`)
  return op.isPreview ? t('actions.api.preview', { action: title }) : title
}

const partOf = ({ route }: Operation): string => route.split(/[/.]/)[1] ?? ''
const requestLine = ({ route }: Operation): string => route.replace(' ', ' /admin/v1')

function fieldFor(op: Operation, name: string, context: PageContext): Field[] {
  const field = fieldsOf(op).find((candidate) => candidate.name === name)
  if (!field) return []
  const { t } = context
  const [label, hint] = [labelOf(t, op, name), hintOf(t, op, name)]
  const meaning = !hint || label === name ? (hint ?? label) : t('layout.pair', { label, value: hint })
  return [
    { ...formField(op, field, context, field.initially), label: name, ...(meaning === name ? {} : { hint: meaning }) },
  ]
}

/** The request as a shell command. The token is a variable, and secrets are left out. */
function curlOf(op: Operation, input: Values, { deps }: PageContext): string {
  const { method, path } = partsOf(op.route)
  const inPath = namesIn(path)
  const known = fieldsOf(op)
  const others = Object.entries(input).filter(([name]) => !inPath.includes(name))
  const shown = Object.fromEntries(
    others.map(([name, value]) => [name, known.find((field) => field.name === name)?.secret ? '…' : value]),
  )
  const query = new URLSearchParams(
    Object.fromEntries(Object.entries(shown).map(([name, value]) => [name, String(value)])),
  )
  const place = path.replace(/:(\w+)/g, (whole, name: string) =>
    input[name] === undefined ? whole : encodeURIComponent(String(input[name])),
  )
  const url = `${deps.config.PUBLIC_URL}/admin/v1${place}${method === 'GET' && query.size > 0 ? `?${query}` : ''}`
  const body = method === 'GET' || others.length === 0 ? [] : ['--json', shellQuoted(prettyLossless(shown))]
  return ['curl -X', method, shellQuoted(url), '-H "Authorization: Bearer $GATEHOUSE_TOKEN"', ...body].join(' ')
}

const MAX_SHOWN = 100_000

async function beginningOf({ parts }: Download): Promise<string> {
  let shown = ''
  for await (const part of parts) {
    shown += part
    if (shown.length >= MAX_SHOWN) break
  }
  return cutTo(shown, MAX_SHOWN)
}

async function answerOf(op: Operation, input: Values, context: PageContext): Promise<string> {
  if (op.respond) return beginningOf(op.respond.of(await carryOut(op, context, input), context.t))
  const data = withWarnings(op, await perform(op, context, input))
  return cutTo(prettyLossless({ rescode: 0, data }), MAX_SHOWN)
}

async function send(context: PageContext): Promise<OneTimeResult> {
  const { t } = context
  const op = operationIn(context)
  const input = withCleared(fieldsOf(op), context.fields)
  const result = (tone: 'good' | 'bad', status: number, answer: string): OneTimeResult => ({
    tone,
    note: t('console.api.answered', { status: String(status) }),
    values: [],
    texts: [
      { title: t('console.api.answer'), text: prettyJson(answer) ?? answer, note: '' },
      { title: t('console.api.request'), text: curlOf(op, input, context), note: '' },
    ],
  })
  try {
    await context.admit(op.role, op.route)
    return result('good', 200, await answerOf(op, input, context))
  } catch (error) {
    if (error instanceof InvalidInput) throw error // the form shows it beside its fields
    if (!(error instanceof NamedFailure || error instanceof RescodeError)) throw error
    const refused = error instanceof NamedFailure ? contractAnswer(error) : error
    return result('bad', refused.status(true), prettyLossless(failureEnvelope(refused)))
  }
}

/** Fields that are not trimmed. */
const secrets = () =>
  ALL_ACTIONS.flatMap((action) => fieldsOf(action).flatMap(({ name, secret }) => (secret ? [name] : [])))

const DESCRIPTION = 'GET /openapi.json'

export const api: Section = {
  id: 'api',
  title: 'actions.api',
  operation: DESCRIPTION,
  lists: [
    {
      path: '/api',
      operation: DESCRIPTION,
      title: 'actions.api',
      lead: 'console.api.lead',
      filters: ({ t }) => [
        {
          name: 'part',
          label: t('console.api.part'),
          kind: 'choice',
          choices: [...new Set([...OPERATIONS.values()].map(partOf))].map((part) => [part, part]),
        },
        {
          name: 'role',
          label: t('field.role'),
          kind: 'choice',
          choices: ROLES.map((role) => [role, roleText(role, t)]),
        },
      ],
      read: async ({ t, fields }) => {
        const all = [...OPERATIONS.values()].filter(
          (op) => (fields.part ?? partOf(op)) === partOf(op) && (fields.role ?? op.role) === op.role,
        )
        const rows = all.map((op) => [
          link(titleOf(op, t), at('api', op.id)),
          code(requestLine(op)),
          text(roleText(op.role, t)),
          op.command ? code(`gatehouse ${op.command}`) : text('–'),
        ])
        const head = [t('console.api.operation'), t('console.api.request'), t('field.role'), t('console.api.command')]
        return { table: { head, rows, none: t('console.nothing_matches') }, next: null }
      },
    },
  ],
  forms: [
    {
      path: '/api/:operation',
      operation: DESCRIPTION,
      title: 'console.api.try',
      button: 'console.api.send',
      exactly: secrets,
      back: ({ params }) => at('api', params.operation ?? ''),
      confirm: async (context) => {
        const { t } = context
        const op = operationIn(context)
        return {
          about: titleOf(op, t),
          says: [...(op.isPreview ? [] : [t(`action.${op.id}.about`)]), t('console.api.really')],
          facts: [
            fact(t('console.api.request'), code(requestLine(op))),
            fact(t('field.role'), text(roleText(op.role, t))),
            ...(op.command ? [fact(t('console.api.command'), code(`gatehouse ${op.command}`))] : []),
            fact('curl', code(curlOf(op, {}, context))),
          ],
          fields: [
            ...fieldsOf(op).flatMap(({ name }) => (mayGive(op, name, context.role) ? fieldFor(op, name, context) : [])),
            ...clearedField(op, fieldsOf(op), context),
          ],
          back: at('api'),
        }
      },
      run: send,
    },
  ],
}
