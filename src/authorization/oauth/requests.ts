import { rehearse } from '../../platform/db/rehearsal.ts'
import type { Actor, Deps } from '../../platform/deps.ts'
import type { CallingApp } from '../registry/index.ts'
import { type AppCall, authenticateApp } from './authenticate.ts'
import { type AuthorizationRequest, checkAuthorizationRequest } from './authorize.ts'
import { answerTokenRequest } from './exchange.ts'
import type { TokenDeps } from './token-cap.ts'
import { readParameters, type TokenSet } from './wire.ts'

/** Requests of the contract's dialect, beginning with the URL. */

/** A1 up to the user's session (rows 2–10). */
export const checkAuthorization = (deps: Deps, url: string): Promise<AuthorizationRequest> =>
  checkAuthorizationRequest(deps, readParameters(url))

/** A2 and A3. `actorOf` is called once the app is authenticated. */
export async function answerTokenCall(
  deps: TokenDeps,
  { url, ...call }: Omit<AppCall, 'parameters'> & { readonly url: string },
  actorOf: (app: CallingApp) => Actor,
): Promise<TokenSet> {
  const parameters = readParameters(url)
  const app = await authenticateApp(deps, { ...call, parameters })
  return answerTokenRequest(deps, { app, actor: actorOf(app) }, parameters)
}

/** Counts nothing, for a rehearsal. */
const NO_TOKEN_CAP: TokenDeps['tokenCap'] = { refreshed: () => {} }

/** What the call would answer; nothing is issued, spent or counted. */
const rehearseTokenCall = (deps: Deps, call: Parameters<typeof answerTokenCall>[1]): Promise<TokenSet> =>
  rehearse({ ...deps, tokenCap: NO_TOKEN_CAP }, (inside) => answerTokenCall(inside, call, () => ({ kind: 'app' })))

/** For explaining what a request would get. */
export const CONTRACT_REQUESTS = { checkAuthorization, rehearseTokenCall, NO_TOKEN_CAP }
