import { randomBytes } from 'node:crypto'
import type { Deps } from '../deps.ts'
import { storedForm } from '../lib/keys.ts'
import { appKeyTaken, noSuchMicroApp } from './errors.ts'
import * as store from './store.ts'
import { APP_KEY, type MicroApp, type MicroAppChanges, type NewMicroApp, type SecretDates } from './wire.ts'

/** 32 random bytes as base64url. */
export const newSecret = (): string => randomBytes(32).toString('base64url')

/** Creates the app with its first app_secret, which no later call can show again. `secret` is given for demo data only. */
export async function createMicroApp(
  deps: Deps,
  input: NewMicroApp,
  secret: string = newSecret(),
): Promise<MicroApp & { app_secret: string }> {
  const app = { ...input, app_key: input.app_key ?? randomBytes(12).toString('hex') }
  const first = { hash: storedForm(deps.keys, secret), now: deps.clock.now() }
  const created = await store.insertMicroApp(deps.db, app, first)
  if (!created) throw appKeyTaken()
  return { ...created, app_secret: secret }
}

/** Every app, oldest first. */
export const listMicroApps = (deps: Deps): Promise<MicroApp[]> => store.listMicroApps(deps.db)

/** The app with the dates of its live secrets, the current one first; throws 20007 (404) for an unknown app_key, as all below. */
export async function showMicroApp(deps: Deps, appKey: string): Promise<MicroApp & { secrets: SecretDates[] }> {
  const { secrets, ...app } = await existing(appKey, () => store.findMicroApp(deps.db, appKey, deps.clock.now()))
  return { ...app, secrets: secrets.map(({ secret_hash: _, ...dates }) => dates) }
}

export const updateMicroApp = (deps: Deps, appKey: string, changes: MicroAppChanges): Promise<MicroApp> =>
  existing(appKey, () => store.updateMicroApp(deps.db, appKey, changes, deps.clock.now()))

/** Lets the app ask users for consent; also takes a suspension back. */
export const approveMicroApp = (deps: Deps, appKey: string): Promise<MicroApp> =>
  existing(appKey, () => store.setStatus(deps.db, appKey, 'approved', deps.clock.now()))

/** Bars the app: no consent, no tokens, no data, until it is approved again. */
export const suspendMicroApp = (deps: Deps, appKey: string): Promise<MicroApp> =>
  existing(appKey, () => store.setStatus(deps.db, appKey, 'suspended', deps.clock.now()))

/** What cannot be an app_key never reaches the database, which has no way to hold a NUL character. */
async function existing<T>(appKey: string, find: () => Promise<T | undefined>): Promise<T> {
  const found = APP_KEY.test(appKey) ? await find() : undefined
  if (found === undefined) throw noSuchMicroApp()
  return found
}
