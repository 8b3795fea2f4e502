import { z } from 'zod'
import type { OutputOf } from '../../platform/lib/json/input.ts'
import { grantableScopes } from '../../platform/lib/scope.ts'
import type { ApiOperation } from '../../platform/lib/web/api-operation.ts'
import type { appsOfPerson } from '../teams/index.ts'
import { curlOf, WITHOUT_DEMO } from './examples.ts'
import type { DescribedOperation } from './reference.ts'

export type OwnApp = OutputOf<typeof appsOfPerson>[number]

const chosenQuery = z.object({ app: z.string().max(64).catch('') }).catch({ app: '' })

/** The app named in the query, or the newest one. */
export function chosenApp(apps: readonly OwnApp[], query: unknown): OwnApp | undefined {
  const { app } = chosenQuery.parse(query)
  return apps.find(({ app_key }) => app_key === app) ?? apps.at(-1)
}

/** With a placeholder for the secret, which is only shown when it is made. */
function valuesOf({ app_key, kind, redirect_uris, hosts, scopes }: OwnApp, dialect: ApiOperation['dialect']) {
  const [uri = `https://${hosts[0]}/callback`] = redirect_uris
  const secret = (name: string) => (kind === 'server' ? WITHOUT_DEMO[name] : undefined)
  return {
    app_key,
    client_id: app_key,
    app_secret: secret('app_secret'),
    client_secret: secret('client_secret'),
    redirect_uri: uri,
    post_logout_redirect_uri: WITHOUT_DEMO.post_logout_redirect_uri,
    scope: (dialect === 'contract' ? scopes : grantableScopes(scopes).filter((scope) => /^[a-z]/.test(scope))).join(
      ' ',
    ),
  } as Readonly<Record<string, string | undefined>>
}

type Example = Readonly<Record<string, string>>

/** The example request as this app would send it. */
export function ownExample(dialect: ApiOperation['dialect'], example: Example, app: OwnApp | undefined): Example {
  if (!app) return example
  const own = valuesOf(app, dialect)
  const changed = Object.entries(example).map(([name, value]) => [name, name in own ? own[name] : value] as const)
  return Object.fromEntries(changed.filter((pair): pair is [string, string] => pair[1] !== undefined))
}

/** Equivalent operations of both dialects, and the index of the request. */
const PAIRS = [
  ['contract_authorize', 'authorize', 0],
  ['contract_token', 'token', 0],
  ['contract_token', 'token', 1],
  ['contract_user', 'userinfo', 0],
] as const

export function sideBySide(operations: readonly DescribedOperation[], app: OwnApp | undefined) {
  const example = (id: string, ordinal: number) => {
    const operation = operations.find((operation) => operation.id === id)
    if (!operation) throw new Error(`no operation ${id}`)
    const { dialect, title, url } = operation
    const sent = ownExample(dialect, operation.requests[ordinal]?.example ?? {}, app)
    const isPage = operation.answers.some(({ kind }) => kind === 'page')
    // Opened in a browser, so an address rather than a command.
    const command = isPage ? `${url}?${new URLSearchParams(sent)}` : curlOf(operation, sent)
    return { id, title, name: operation.requests[ordinal]?.name ?? '', command }
  }
  return PAIRS.map(([contract, standard, ordinal]) => ({
    contract: example(contract, ordinal),
    standard: example(standard, ordinal),
  }))
}
