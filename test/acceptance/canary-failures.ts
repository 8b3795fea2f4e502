import type { Canaries } from './canaries.ts'
import type { Walked } from './canary-walk.ts'
import type { Form } from './form.ts'
import { queryOf } from './http.ts'
import type { System } from './system.ts'

/** Sends each request once with valid values and returns the number of server errors. */
async function sendAll({ client, endpoints }: Walked): Promise<number> {
  let failures = 0
  for (const { method, path, query, headers, form, json } of endpoints) {
    const type = form ? 'application/x-www-form-urlencoded' : 'application/json'
    const body = form ? queryOf(form) : json && JSON.stringify(json)
    const all = { ...headers, ...(body ? { 'content-type': type } : {}) }
    const answer = await client.call(method, `${path}?${queryOf(query)}`, all, body)
    if (answer.status === 500) failures++
  }
  return failures
}

const READ = ['user_profile', 'user_credential', 'browser_session', 'micro_app', 'access_token', 'authorization_code']

/** Renames each table for a while, so that every statement fails once while it holds its values. */
export async function failAtReading(system: System, walked: Walked, tables = READ): Promise<number> {
  let failures = 0
  for (const table of tables) {
    await system.query(`alter table ${table} rename to ${table}_gone`)
    failures += await sendAll(walked)
    await system.query(`alter table ${table}_gone rename to ${table}`)
  }
  return failures
}

const WRITTEN = [...READ, 'refresh_token', 'user_grant', 'audit_event', 'failed_attempt', 'micro_app_secret']

/** Makes each table refuse every row for a while: PostgreSQL then quotes the whole row in the detail of its error. */
export async function failAtWriting(
  system: System,
  canaries: Canaries,
  walked: Walked,
  tables = WRITTEN,
): Promise<number> {
  const { client, app, browser } = walked
  let failures = 0
  for (const table of tables) {
    const unused = await client.getCode(browser, app, { state: canaries.plant(`a row of ${table}: state`) })
    const { refresh_token } = await client.getTokens(browser, app)
    const forms = [client.request(app), client.request(app)].map((request) => client.consentFormFor(browser, request))
    const [approved, refused] = await Promise.all(forms)
    await system.query(`alter table ${table} add constraint refuse_all check (false) not valid`)
    const phone_number = canaries.guard('phone number, refused', '13966600456')
    const password = canaries.plant(`a row of ${table}: password`)
    const big_avatar_url = `https://x.example.com/${canaries.plant(`a row of ${table}: avatar`)}`
    await client.makeUser({ password, phone_number, big_avatar_url }).catch(() => failures++)
    await client.makeApp({ redirect_uris: [big_avatar_url] }).catch(() => failures++)
    for (const call of [
      () => client.exchange(app, unused),
      () => client.exchange(app, unused, { state: 'wrong' }),
      () => client.refresh(app, refresh_token),
      () => client.refresh(app, refresh_token, { app_secret: password }),
      () => browser.submit(approved as Form, { decision: 'approve' }),
      () => browser.submit(refused as Form, { decision: 'refuse' }),
    ]) {
      if ((await call()).status === 500) failures++
    }
    failures += await sendAll(walked)
    await system.query(`alter table ${table} drop constraint refuse_all`)
  }
  return failures
}
