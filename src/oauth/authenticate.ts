import type { Deps } from '../deps.ts'
import { equalSecrets } from '../lib/crypto/keys.ts'
import type { CallingApp } from '../registry/index.ts'
import { type Credentials, readBasic, verifyCredentials } from './credentials.ts'
import { refuse } from './failures.ts'
import type { Parameters } from './wire.ts'

export interface ClientCall {
  readonly parameters: Parameters
  /** The Authorization header, if any; `Basic` is understood beside the query (A2 rows 4–5). */
  readonly authorization: string | undefined
  readonly address: string
  /** A body is never read. Without credentials elsewhere, the answer says that they do not go there. */
  readonly hasBody: boolean
}

/** A2 rows 3–7, also for A3: the approved micro-app that calls. */
export async function authenticateClient(deps: Deps, call: ClientCall): Promise<CallingApp> {
  const basic = readBasic(call.authorization)
  const credentials = presentedCredentials(call, basic)
  const app = await verifyCredentials(deps, credentials, call.address)
  if (basic === 'malformed') throw refuse('basic_malformed')
  if (basic && contradicts(call.parameters, basic)) throw refuse('basic_contradicts_query')
  if (app.status !== 'approved') throw refuse('app_not_approved', { detail: app.status })
  return app
}

function presentedCredentials(call: ClientCall, basic: Credentials | 'malformed' | undefined): Credentials {
  const appKey = call.parameters.get('app_key')
  const appSecret = call.parameters.get('app_secret')
  if (appKey && appSecret) return { appKey, appSecrets: [appSecret] }
  if (basic === 'malformed') throw refuse('basic_malformed')
  if (basic) return basic
  throw refuse(call.hasBody && !appKey ? 'credentials_in_body' : 'credentials_missing')
}

const contradicts = (parameters: Parameters, basic: Credentials): boolean => {
  const appKey = parameters.get('app_key') || basic.appKey
  const appSecret = parameters.get('app_secret')
  return appKey !== basic.appKey || Boolean(appSecret && !basic.appSecrets.some((one) => equalSecrets(one, appSecret)))
}
