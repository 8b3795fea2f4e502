import { z } from 'zod'
import type { UserRowKey } from '../../platform/db/personal-rows.ts'
import { operation } from '../../platform/lib/json/input.ts'
import type { OutboundDeps } from '../../platform/outbound/index.ts'
import { checkWebhookUrl, EVENT_TYPES, listAppEvents, retryAppEvent, testWebhook } from '../app-events/index.ts'
import {
  MICRO_APP_FIELDS,
  presentWebhookSecrets,
  rotateAppWebhookSecret,
  showMicroApp,
  updateMicroApp,
} from '../registry/index.ts'
import { changeApp } from './app.ts'
import { rebaseRequest } from './app-store.ts'
import { TeamRefusal } from './errors.ts'
import { type SecretReplacement, secretReplacement } from './wire.ts'

/** The webhook of an app. People never see it, so changing it needs no approval even in live apps. */

/** Sets, changes or (null) removes the address; returns the secret of a new one, to be shown once. */
const setWebhook = operation(
  z.strictObject({ webhook_url: MICRO_APP_FIELDS.webhook_url.changed }),
  (deps: OutboundDeps, appKey: string, { webhook_url }: { webhook_url: string | null }, person: UserRowKey) => {
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

/** To be shown once; the old one also signs for a while. `replaces`: as in rotateAppSecret. */
const rotateSecret = operation(
  secretReplacement,
  (deps: OutboundDeps, appKey: string, { replaces, overlap_s }: SecretReplacement, person: UserRowKey) =>
    changeApp(deps, appKey, { person, role: 'owner' }, async (inside) => {
      if ((await presentWebhookSecrets(inside, appKey)).mark !== replaces) throw new TeamRefusal('changed')
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

export const APP_WEBHOOK = {
  set: setWebhook,
  secrets: presentWebhookSecrets,
  rotate: rotateSecret,
  test,
  retry,
  deliveries: listAppEvents,
  types: EVENT_TYPES,
}
