import { type Action, namesIn, partsOf } from '../../../platform/lib/action.ts'
import { contractAnswer, NamedFailure } from '../../../platform/lib/failure.ts'
import { InvalidInput } from '../../../platform/lib/json/input.ts'
import { prettyJson, prettyLossless } from '../../../platform/lib/json/lossless.ts'
import { cutTo } from '../../../platform/lib/storable.ts'
import { ROLES } from '../../../platform/lib/web/admin-auth.ts'
import type { Download } from '../../../platform/lib/web/download.ts'
import { failureEnvelope } from '../../../platform/lib/web/envelope.ts'
import type { Translate } from '../../../platform/lib/web/locale.ts'
import { noSuchPath, RescodeError } from '../../../platform/lib/web/rescode.ts'
import { ALL_ACTIONS, fieldsOf, hintOf, labelOf, type Values } from '../../actions/index.ts'
import type { ServiceDeps } from '../../jobs/index.ts'
import { formField } from '../action-form.ts'
import { given } from '../action-values.ts'
import type { Field, OneTimeResult, PageContext, Section } from '../page-model.ts'
import { carryOut, mayGive, perform } from '../placed.ts'
import { at, code, link, roleText, text } from '../texts.ts'

/** The API below /admin/v1, operation by operation, each with a form that asks it in the name of whoever is signed in. */

interface Asked extends Action<ServiceDeps> {
  /** Whether it is what the operation would do. */
  readonly isPreview?: true
}

const previewOf = ({ id, route, input, foresee, previewRole }: Action<ServiceDeps>): Asked[] =>
  foresee && previewRole
    ? [
        {
          ...{ id: `${id}_preview`, route: `GET ${partsOf(route).path}`, role: previewRole, input },
          perform: foresee,
          isPreview: true,
        },
      ]
    : []

const ASKED: ReadonlyMap<string, Asked> = new Map(
  ALL_ACTIONS.flatMap((action): Asked[] => [action, ...previewOf(action)]).map((asked) => [asked.id, asked]),
)

function askedIn({ params }: PageContext): Asked {
  const asked = ASKED.get(params.operation ?? '')
  if (!asked) throw noSuchPath()
  return asked
}

const ownId = ({ id, isPreview }: Asked): string => (isPreview ? id.replace(/_preview$/, '') : id)
const titleOf = (asked: Asked, t: Translate): string => {
  const title = t(`action.${ownId(asked)}`)
  return asked.isPreview ? t('actions.api.preview', { action: title }) : title
}

const partOf = ({ route }: Asked): string => route.split(/[/.]/)[1] ?? ''
const written = ({ route }: Asked): string => route.replace(' ', ' /admin/v1')

function fieldFor(asked: Asked, name: string, context: PageContext): Field[] {
  const field = fieldsOf(asked).find((candidate) => candidate.name === name)
  if (!field) return []
  const { t } = context
  const [label, hint] = [labelOf(t, asked, name), hintOf(t, asked, name)]
  const meaning = [label === name ? '' : label, hint ?? ''].filter((part) => part !== '').join(': ')
  return [{ ...formField(asked, field, context, field.initially), label: name, ...(meaning ? { hint: meaning } : {}) }]
}

/** The request as a command of a shell; the token stays a variable, and secrets stay out. */
function curlOf(asked: Asked, input: Values, { deps }: PageContext): string {
  const { method, path } = partsOf(asked.route)
  const inPath = namesIn(path)
  const known = fieldsOf(asked)
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
  const quoted = (said: string): string => `'${said.replaceAll("'", `'\\''`)}'`
  const body = method === 'GET' || others.length === 0 ? [] : ['--json', quoted(prettyLossless(shown))]
  return ['curl -X', method, quoted(url), '-H "Authorization: Bearer $GATEHOUSE_TOKEN"', ...body].join(' ')
}

const LONGEST_SHOWN = 100_000

async function beginningOf({ parts }: Download): Promise<string> {
  let shown = ''
  for await (const part of parts) {
    shown += part
    if (shown.length >= LONGEST_SHOWN) break
  }
  return cutTo(shown, LONGEST_SHOWN)
}

async function answerOf(asked: Asked, input: Values, context: PageContext): Promise<string> {
  if (asked.respond) return beginningOf(asked.respond.of(await carryOut(asked, context, input), context.t))
  return cutTo(prettyLossless({ rescode: 0, data: await perform(asked, context, input) }), LONGEST_SHOWN)
}

async function send(context: PageContext): Promise<OneTimeResult> {
  const { t } = context
  const asked = askedIn(context)
  await context.admit(asked.role, asked.route)
  const input = given(fieldsOf(asked), context.fields)
  const result = (tone: 'good' | 'bad', status: number, answer: string): OneTimeResult => ({
    tone,
    note: t('console.api.answered', { status: String(status) }),
    values: [],
    texts: [
      { title: t('console.api.answer'), text: prettyJson(answer) ?? answer, note: '' },
      { title: t('console.api.request'), text: curlOf(asked, input, context), note: '' },
    ],
  })
  try {
    return result('good', 200, await answerOf(asked, input, context))
  } catch (error) {
    if (error instanceof InvalidInput) throw error // the form says it beside its fields
    const failure = error instanceof NamedFailure ? contractAnswer(error) : error
    if (!(error instanceof NamedFailure) && !(error instanceof RescodeError)) throw error
    const refused = failure as RescodeError
    return result('bad', refused.status(true), prettyLossless(failureEnvelope(refused)))
  }
}

/** Read letter by letter. */
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
          choices: [...new Set([...ASKED.values()].map(partOf))].map((part) => [part, part]),
        },
        {
          name: 'role',
          label: t('field.role'),
          kind: 'choice',
          choices: ROLES.map((role) => [role, roleText(role, t)]),
        },
      ],
      read: async ({ t, fields }) => {
        const all = [...ASKED.values()].filter(
          (asked) => (fields.part ?? partOf(asked)) === partOf(asked) && (fields.role ?? asked.role) === asked.role,
        )
        const rows = all.map((asked) => [
          link(titleOf(asked, t), at('api', asked.id)),
          code(written(asked)),
          text(roleText(asked.role, t)),
          asked.command ? code(`gatehouse ${asked.command}`) : text('–'),
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
        const asked = askedIn(context)
        return {
          about: titleOf(asked, t),
          says: [...(asked.isPreview ? [] : [t(`action.${asked.id}.about`)]), t('console.api.really')],
          facts: [
            { name: t('console.api.request'), cells: [code(written(asked))] },
            { name: t('field.role'), cells: [text(roleText(asked.role, t))] },
            ...(asked.command ? [{ name: t('console.api.command'), cells: [code(`gatehouse ${asked.command}`)] }] : []),
            { name: 'curl', cells: [code(curlOf(asked, {}, context))] },
          ],
          fields: fieldsOf(asked).flatMap(({ name }) =>
            mayGive(asked, name, context.role) ? fieldFor(asked, name, context) : [],
          ),
          back: at('api'),
        }
      },
      run: send,
    },
  ],
}
