import { z } from 'zod'
import type { UserRowKey } from '../../platform/db/personal-rows.ts'
import { rotation } from '../../platform/lib/crypto/generated-secret.ts'
import { operation } from '../../platform/lib/json/input.ts'
import type { OutboundDeps } from '../../platform/outbound/index.ts'
import { checkWebhookUrl, listAppEvents, retryAppEvent, testWebhook } from '../app-events/index.ts'
import {
  MICRO_APP_FIELDS,
  rotateAppWebhookSecret,
  showMicroApp,
  updateMicroApp,
  webhookSecretMark,
} from '../registry/index.ts'
import { changeApp } from './app.ts'
import { TeamRefusal } from './errors.ts'
import { rebaseRequest } from './request-store.ts'

/** The webhook of an app, as its team has it. People are not shown it, so a change of a live app needs no approval. */

const webhook = z.strictObject({ webhook_url: MICRO_APP_FIELDS.webhook_url.changed })

/** Sets, changes or (null) removes the address. Returns a new address's secret, shown once. Throws InvalidInput. */
const setWebhook = operation(
  webhook,
  (
    deps: OutboundDeps,
    appKey: string,
    { webhook_url }: z.output<typeof webhook>,
    person: UserRowKey,
  ): Promise<string | undefined> => {
    if (webhook_url !== null) checkWebhookUrl(deps, webhook_url)
    return changeApp(deps, appKey, { person, role: 'owner' }, async (inside) => {
      const before = await showMicroApp(inside, appKey)
      if (before.webhook_url === webhook_url) return undefined
      const { webhook_secret, updated_at } = await updateMicroApp(inside, appKey, { webhook_url })
      await rebaseRequest(inside.db, appKey, before.updated_at, updated_at)
      return webhook_secret
    })
  },
)

const secretRotation = rotation.extend({ replaces: z.string().max(40) })

/**
 * An owner makes a new secret, to be shown this once; for a while the one so far signs too. It is in place of the one that
 * was shown as the newest: a form that is sent twice makes one.
 */
const rotateSecret = operation(
  secretRotation,
  async (
    deps: OutboundDeps,
    appKey: string,
    { replaces, overlap_s }: z.output<typeof secretRotation>,
    person: UserRowKey,
  ): Promise<string> =>
    changeApp(deps, appKey, { person, role: 'owner' }, async (inside) => {
      if ((await webhookSecretMark(inside, appKey)) !== replaces) throw new TeamRefusal('changed')
      return (await rotateAppWebhookSecret(inside, appKey, { overlap_s })).webhook_secret
    }),
)

const test = (deps: OutboundDeps, appKey: string, person: UserRowKey): Promise<unknown> =>
  changeApp(deps, appKey, { person, role: 'developer' }, (inside) => testWebhook(inside, appKey))

const retry = operation(
  retryAppEvent.input,
  (deps: OutboundDeps, appKey: string, { event_id }: { readonly event_id: string }, person: UserRowKey) =>
    changeApp(deps, appKey, { person, role: 'developer' }, (inside) =>
      retryAppEvent(inside, { app_key: appKey, event_id }),
    ),
)

/** What a team does about the webhook of its app. */
export const APP_WEBHOOK = {
  set: setWebhook,
  newest: webhookSecretMark,
  rotate: rotateSecret,
  test,
  retry,
  deliveries: listAppEvents,
}
