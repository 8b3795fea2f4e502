import { rehearse } from '../../platform/db/rehearsal.ts'
import type { Query } from '../../platform/lib/web/request-target.ts'
import type { OutboundDeps } from '../../platform/outbound/index.ts'
import { CONTRACT_REQUESTS } from '../oauth/index.ts'
import { checkStandardRequest, RedirectedFailure } from './authorize.ts'
import { authenticateClient, type ClientCall } from './client.ts'
import { prefetchKeys } from './client-assertion.ts'
import { ClientKeys } from './client-keys.ts'
import { examineIdToken } from './id-token.ts'
import { SigningKeys } from './signing-key-cache.ts'
import { answerStandardTokenRequest, TOKEN_PARAMETERS } from './token.ts'
import { readUserInfo } from './userinfo.ts'
import { readKnown } from './wire.ts'

/** For explaining what a request of the standard dialect would get, or what an id_token says. */
export function openStandardRequests(given: OutboundDeps) {
  const deps = { ...given, signingKeys: new SigningKeys(given), clientKeys: new ClientKeys(given) }
  return {
    /** The authorization endpoint up to the user's session. */
    checkAuthorization: (query: Query): Promise<unknown> =>
      checkStandardRequest(deps, query).catch((error: unknown) => {
        throw error instanceof RedirectedFailure ? error.failure : error
      }),
    /** The token endpoint; nothing is issued, spent or counted. */
    rehearseTokenCall: async ({ form, ...call }: Omit<ClientCall, 'parameters'> & { readonly form: Query }) => {
      const parameters = readKnown(form, TOKEN_PARAMETERS)
      await prefetchKeys(deps, parameters)
      return rehearse({ ...deps, tokenCap: CONTRACT_REQUESTS.NO_TOKEN_CAP }, async (inside) => {
        const client = await authenticateClient(inside, { ...call, parameters })
        return answerStandardTokenRequest(inside, client, { kind: 'app' }, parameters)
      })
    },
    /** Userinfo; since nothing is disclosed, no read is recorded. */
    checkUserInfo: async (call: Parameters<typeof readUserInfo>[1]): Promise<void> =>
      void (await readUserInfo(deps, call)),
    examineIdToken: (text: string) => examineIdToken(deps, text),
  }
}
export type StandardRequests = ReturnType<typeof openStandardRequests>
