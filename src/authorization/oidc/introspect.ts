import type { Deps } from '../../platform/deps.ts'
import { epochSeconds } from '../../platform/lib/clock.ts'
import { NamedFailure } from '../../platform/lib/failure.ts'
import { standardNames } from '../../platform/lib/scope.ts'
import { subjectOf } from '../../platform/lib/subject.ts'
import { describeRefreshToken } from '../oauth/index.ts'
import type { CallingApp } from '../registry/index.ts'
import type { LiveToken } from '../resource/index.ts'
import type { Introspection } from './messages.ts'

type DescribedRefresh = NonNullable<Awaited<ReturnType<typeof describeRefreshToken>>>

const INACTIVE: Introspection = { active: false }

/** A client sees its own tokens only. `access`: what was found for the text as an access token. */
export async function introspect(
  deps: Deps,
  app: CallingApp,
  text: string,
  access: LiveToken | NamedFailure,
): Promise<Introspection> {
  if (!(access instanceof NamedFailure)) {
    const { cid, user_id: userId, scopes, expiresAt } = access
    if (access.app_key !== app.app_key) return INACTIVE
    return { ...activeOf(deps, app, { cid, userId, scopes, expiresAt }), token_type: 'Bearer' }
  }
  const refresh = await describeRefreshToken(deps, app, text)
  return refresh ? activeOf(deps, app, refresh) : INACTIVE
}

/** A token whose app has lost all of its scopes has not ended: elsewhere it is refused for its scope. */
const activeOf = ({ config }: Deps, app: CallingApp, { scopes, expiresAt, ...user }: DescribedRefresh) =>
  ({
    active: true,
    ...(scopes.length === 0 ? {} : { scope: standardNames(scopes).join(' ') }),
    client_id: app.app_key,
    exp: epochSeconds(expiresAt),
    sub: subjectOf(user),
    iss: config.PUBLIC_URL,
  }) as const
