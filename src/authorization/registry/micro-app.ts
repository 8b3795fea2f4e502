import { randomBytes } from 'node:crypto'
import { recordAudit } from '../../platform/audit/index.ts'
import { pageNamed } from '../../platform/db/page.ts'
import type { Db } from '../../platform/db/sql.ts'
import { type Deps, inTransaction } from '../../platform/deps.ts'
import { addSeconds } from '../../platform/lib/clock.ts'
import { generateSecret, type SecretDates, type SecretRotation } from '../../platform/lib/crypto/generated-secret.ts'
import {
  InvalidInput,
  operation,
  refuseIfChanged,
  type UnchangedSince,
  unchangedSince,
} from '../../platform/lib/json/input.ts'
import { localized } from '../../platform/lib/localized-text.ts'
import { invalidRequest } from '../../platform/lib/web/rescode.ts'
import { withMaskedWebhook } from '../../platform/lib/web/web-url.ts'
import { hasSecret } from './oidc-fields.ts'
import { deleteSecrets, newSecret } from './secret-store.ts'
import * as store from './store.ts'
import { makeWebhookSecret, renewWebhookSecret } from './webhook.ts'
import {
  crossFieldProblems,
  givenMicroApp,
  type MicroApp,
  type MicroAppChanges,
  microAppChanges,
  microAppFilter,
  type NewMicroApp,
  withPkceInA1,
} from './wire.ts'

export const newAppKey = (): string => randomBytes(12).toString('hex')

interface CreationOptions {
  /** A fixed one for demo data; null: it gets one later. */
  readonly secret?: string | null
  readonly stage?: MicroApp['stage']
}

/** Creates the app. Its app_secret is shown only now; null if the app authenticates without one. */
export const createMicroApp = operation(
  givenMicroApp,
  async (
    deps: Deps,
    input: NewMicroApp,
    { secret: given = generateSecret('ghas'), stage = 'live' }: CreationOptions = {},
  ): Promise<MicroApp & { app_secret: string | null; webhook_secret?: string }> => {
    const app = { ...input, stage, app_key: input.app_key ?? newAppKey() }
    const now = deps.clock.now()
    const secret = hasSecret(app) ? given : null
    const first = secret === null ? null : newSecret(deps.keys, secret, now)
    return inTransaction(deps, async (inside, db) => {
      const created = await store.insertMicroApp(db, app, first, now)
      if (!created) throw new InvalidInput([{ field: 'app_key', problem: localized('already-taken') }])
      const { status, hosts, redirect_uris, scopes } = created
      const detail = { status, hosts, redirect_uris, scopes }
      await recordAudit(inside, { event: 'app_created', appKey: app.app_key, detail })
      if (created.webhook_url === null) return { ...created, app_secret: secret }
      const webhook_secret = await makeWebhookSecret(inside, app.app_key)
      return { ...created, app_secret: secret, webhook_secret }
    })
  },
)

/** A page of the apps that match the filter, oldest first. */
export const listMicroApps = operation(microAppFilter, (deps: Deps, filter) =>
  pageNamed('apps', store.listMicroApps(deps.db, filter)),
)

/** With the dates of its live secrets, the current one first. Like all below, throws 20007 (404) for an unknown app_key. */
export async function showMicroApp(deps: Deps, appKey: string): Promise<MicroApp & { secrets: SecretDates[] }> {
  const { secrets, ...app } = await existing(deps.db, appKey, deps.clock.now())
  return { ...app, secrets: secrets.map(({ secret_hash: _, ...dates }) => dates) }
}

export const updateMicroApp = operation(
  microAppChanges.extend(unchangedSince),
  async (
    deps: Deps,
    appKey: string,
    { unchanged_since, ...input }: MicroAppChanges & UnchangedSince,
  ): Promise<MicroApp & { webhook_secret?: string }> => {
    let webhook_secret: string | undefined
    const app = await changeMicroApp(deps, appKey, 'app_updated', async (inside, before, now) => {
      refuseIfChanged(before.updated_at, unchanged_since)
      const change = await changeFields(inside.db, before, withPkceInA1(input), now)
      if (!hasSecret(change.changed)) await deleteSecrets(inside.db, appKey)
      const urls = { before: before.webhook_url, after: change.changed.webhook_url }
      webhook_secret = await renewWebhookSecret(inside, appKey, urls)
      return change
    })
    return webhook_secret === undefined ? app : { ...app, webhook_secret }
  },
)

/** Applies the changes that its team requested, and makes the app live. `admit` throws if it may not be any more. */
export const putLive = (
  deps: Deps,
  appKey: string,
  { unchanged_since: _, ...changes }: MicroAppChanges & UnchangedSince,
  { requestId, admit }: { readonly requestId: string; readonly admit: (before: MicroApp) => void },
): Promise<MicroApp> =>
  changeMicroApp(deps, appKey, 'app_request_approved', async ({ db }, before, now) => {
    admit(before)
    const { changed, detail } = await changeFields(db, before, { ...changes, stage: 'live' }, now)
    return { changed, detail: { request_id: requestId, ...detail } }
  })

/** Stores the changes; the detail has these fields before and after. Throws InvalidInput if the fields contradict each other. */
async function changeFields(db: Db, before: MicroApp, changes: store.Changes, now: Date) {
  const changed = await store.updateMicroApp(db, before.app_key, changes, now)
  const problems = crossFieldProblems(changed)
  if (problems.length > 0) throw new InvalidInput(problems)
  const valuesOf = (app: MicroApp) => {
    const recorded: Readonly<Record<string, unknown>> = withMaskedWebhook(app)
    return Object.fromEntries(Object.keys(changes).map((field) => [field, recorded[field]]))
  }
  return { changed, detail: { before: valuesOf(before), after: valuesOf(changed) } }
}

const withStatus =
  (status: 'approved' | 'suspended') =>
  (deps: Deps, appKey: string): Promise<MicroApp> =>
    changeMicroApp(deps, appKey, `app_${status}`, async ({ db }, _before, now) => ({
      changed: await store.updateMicroApp(db, appKey, { status }, now),
    }))

/** Lets the app ask users for consent; also lifts a suspension. */
export const approveMicroApp = withStatus('approved')

/** Bars the app from consent, tokens and data until it is approved again. */
export const suspendMicroApp = withStatus('suspended')

/** Ends all grants that the app has now, with their codes and tokens, and the consents remembered for it. */
export const endTokensOfApp = (deps: Deps, appKey: string): Promise<MicroApp> =>
  changeMicroApp(deps, appKey, 'app_tokens_ended', async ({ db }, _before, now) => ({
    changed: await store.setValidFrom(db, appKey, now),
  }))

/** A new webhook secret, shown only now. For `overlap_s` more seconds each call is signed with both. */
export async function rotateAppWebhookSecret(
  deps: Deps,
  appKey: string,
  { overlap_s }: SecretRotation,
): Promise<MicroApp & { webhook_secret: string }> {
  let webhook_secret = ''
  const app = await changeMicroApp(deps, appKey, 'app_webhook_secret_rotated', async (inside, before, now) => {
    const { secrets: _, ...changed } = before
    if (changed.webhook_url === null) throw invalidRequest(localized('no-app-webhook'), { status: 404 })
    webhook_secret = await makeWebhookSecret(inside, appKey, addSeconds(now, overlap_s))
    return { changed, detail: { overlap_s } }
  })
  return { ...app, webhook_secret }
}

interface Change {
  readonly changed: MicroApp
  /** For the audit log; never a secret. */
  readonly detail?: object
}

/** Changes an app and records it in the audit log, in one transaction. Changes of one app wait for each other. */
export const changeMicroApp = (
  deps: Deps,
  appKey: string,
  event: `app_${string}`,
  work: (inside: Deps, before: store.MicroAppWithSecrets, now: Date) => Promise<Change>,
): Promise<MicroApp> =>
  inTransaction(deps, async (inside, db) => {
    await store.lockMicroApp(db, appKey)
    const now = deps.clock.now() // after waiting for the lock
    const { changed, detail = {} } = await work(inside, await existing(db, appKey, now), now)
    await recordAudit(inside, { event, appKey, detail })
    return changed
  })

async function existing(db: Db, appKey: string, now: Date): Promise<store.MicroAppWithSecrets> {
  const found = await store.findMicroApp(db, appKey, now)
  if (!found) throw invalidRequest(localized('no-micro-app'), { status: 404 })
  return found
}
