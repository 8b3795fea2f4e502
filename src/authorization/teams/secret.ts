import { z } from 'zod'
import type { UserRowKey } from '../../platform/db/personal-rows.ts'
import type { Deps } from '../../platform/deps.ts'
import { rotation } from '../../platform/lib/crypto/generated-secret.ts'
import { operation } from '../../platform/lib/json/input.ts'
import { endTokensOfApp, rotateSecret, showMicroApp } from '../registry/index.ts'
import { changeApp } from './app.ts'
import { TeamRefusal } from './errors.ts'

/** When the newest secret was made, as its owner has seen it; empty where there was none. */
const newestSecret = (secrets: readonly { readonly created_at: Date }[]): string =>
  secrets[0]?.created_at.toISOString() ?? ''

const secretRotation = rotation.extend({ replaces: z.string().max(40) })

/**
 * A new secret in place of the one that was shown as the newest: a form that is sent twice makes one. It works at once, the
 * one before for `overlap_s` seconds more. Returns it to be shown this once.
 */
const rotateAppSecret = operation(
  secretRotation,
  (deps: Deps, appKey: string, { replaces, overlap_s }: z.output<typeof secretRotation>, person: UserRowKey) =>
    changeApp(deps, appKey, { person, role: 'owner' }, async (inside): Promise<string> => {
      if (newestSecret((await showMicroApp(inside, appKey)).secrets) !== replaces) throw new TeamRefusal('changed')
      return (await rotateSecret(inside, appKey, { overlap_s })).app_secret
    }),
)

/** Ends everything that people have allowed the app, with its tokens. They can allow it again. */
const endTokens = (deps: Deps, appKey: string, person: UserRowKey): Promise<unknown> =>
  changeApp(deps, appKey, { person, role: 'owner' }, (inside) => endTokensOfApp(inside, appKey))

/** What owners do with the secret of their app. */
export const APP_SECRET = { newest: newestSecret, rotate: rotateAppSecret, endTokens }
