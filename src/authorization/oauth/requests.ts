import { rehearse } from '../../platform/db/rehearsal.ts'
import type { Actor, Deps } from '../../platform/deps.ts'
import type { CallingApp } from '../registry/index.ts'
import { type AppCall, authenticateApp } from './authenticate.ts'
import { type AuthorizationRequest, checkAuthorizationRequest } from './authorize.ts'
import { answerTokenRequest } from './exchange.ts'
import type { TokenDeps } from './token-cap.ts'
import { readParameters, type TokenSet } from './wire.ts'

/** Requests of the contract's dialect, each from its URL on. */

/** A1, up to the person (rows 2–10). */
export const checkAuthorization = (deps: Deps, url: string): Promise<AuthorizationRequest> =>
  checkAuthorizationRequest(deps, readParameters(url))

/** A2 and A3. `actorOf` is told who calls once that is proved. */
export async function answerTokenCall(
  deps: TokenDeps,
  { url, ...call }: Omit<AppCall, 'parameters'> & { readonly url: string },
  actorOf: (app: CallingApp) => Actor,
): Promise<TokenSet> {
  const parameters = readParameters(url)
  const app = await authenticateApp(deps, { ...call, parameters })
  return answerTokenRequest(deps, { app, actor: actorOf(app) }, parameters)
}

/** Keeps no count: nothing is issued. */
const NO_TOKEN_CAP: TokenDeps['tokenCap'] = { refreshed: () => {} }

/** What would come of it; nothing is issued, spent or counted. */
const rehearseTokenCall = (deps: Deps, call: Parameters<typeof answerTokenCall>[1]): Promise<TokenSet> =>
  rehearse({ ...deps, tokenCap: NO_TOKEN_CAP }, (inside) => answerTokenCall(inside, call, () => ({ kind: 'app' })))

/** For who wants to know what would come of a request. */
export const CONTRACT_REQUESTS = { checkAuthorization, rehearseTokenCall, NO_TOKEN_CAP }
