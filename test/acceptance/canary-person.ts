import { TOTP } from 'otpauth'
import { expect } from 'vitest'
import type { PostOffice } from '../sandbox/notify/post-office.ts'
import { until } from '../until.ts'
import type { Browser } from './browser.ts'
import type { Canaries } from './canaries.ts'
import type { Client, User } from './client.ts'
import { header } from './http.ts'
import type { RunningProcess, System } from './system.ts'

/** A person on the account and developer pages, who types secrets correctly, wrongly, and while tables refuse rows. */

type Hook = { readonly deliveries: readonly { readonly body: string }[] }
export interface Post {
  readonly office: PostOffice
  readonly hook: Hook
}

const wrong = (code: string): string => String((Number(code) + 1) % 1_000_000).padStart(6, '0')
const showsNow = (secret: string, later = 0): string =>
  new TOTP({ secret, period: 30 }).generate({ timestamp: Date.now() + later })

/** Registers every secret on the way; returns the number of server errors while tables refused rows. */
export async function walkOfPerson(
  system: System,
  { origin }: RunningProcess,
  { client, canaries, post }: { readonly client: Client; readonly canaries: Canaries; readonly post: Post },
): Promise<number> {
  const serial = new URL(origin).port
  const mailTo = async (address: string, pattern: RegExp): Promise<string> =>
    until(() => pattern.exec(String(post.office.to(address).at(-1)?.mail.text))?.[1])
  const person = async (name: string): Promise<{ user: User; browser: Browser }> => {
    const user = await client.makeUser({ passport: `${name}${serial}@example.com`, name, phone_number: '13977700777' })
    const browser = client.newBrowser()
    await browser.send('POST', '/sign-in', { passport: user.passport, password: user.password })
    return { user, browser }
  }
  let failures = 0
  const send = async (browser: Browser, path: string, fields: Record<string, string> = {}, method = 'POST') => {
    const answer = await browser.send(method, path, method === 'GET' ? undefined : fields)
    if (answer.status >= 500) failures++
    return answer
  }
  /** Submits a secret while the table refuses rows, then in places where it does not belong, and finally correctly. */
  const type = async (browser: Browser, path: string, field: string, secret: string, table: string) => {
    await system.query(`alter table ${table} add constraint refuse_all check (false) not valid`)
    await send(browser, path, { [field]: secret })
    await system.query(`alter table ${table} drop constraint refuse_all`)
    await send(browser, path, { extra: secret, [secret]: 'x' })
    await send(browser, `${path}?${field}=${secret}`, {}, 'GET')
    return send(browser, path, { [field]: secret })
  }

  const { user, browser } = await person('ann')
  await send(browser, '/account/profile/phone', { value: '13966600888' })
  const { data } = await until(() => {
    const said = post.hook.deliveries.map(({ body }) => JSON.parse(body)).at(-1)
    return said?.data?.user_id === user.user_id && said
  })
  canaries.guardNumber('code of a new phone number', data.code)
  await send(browser, '/account/profile/phone/confirm', { code: wrong(data.code) })
  expect(
    header(await type(browser, '/account/profile/phone/confirm', 'code', data.code, 'user_profile'), 'location'),
  ).toContain('done=')
  const address = `new${serial}@example.com`
  await send(browser, '/account/profile/mail', { value: address })
  const code = await mailTo(address, /^(?:.*\D)?(\d{6})(?!\d)/m)
  canaries.guardNumber('code of a new mail address', code)
  await send(browser, '/account/profile/mail/confirm', { code: wrong(code) })
  await type(browser, '/account/profile/mail/confirm', 'code', code, 'user_credential')
  const passport = address

  await send(browser, '/developer/terms')
  const team = /\/developer\/teams\/([0-9a-f-]{36})/.exec((await browser.open('/developer')).text)?.[1] ?? ''
  const bob = await person('bob')
  await send(browser, `/developer/teams/${team}/invite`, { mail: bob.user.passport, role: 'developer' })
  const invitation = await mailTo(bob.user.passport, /join\?token=([\w-]+)/)
  canaries.guard('invitation to a team', invitation)
  expect((await type(bob.browser, '/developer/join', 'token', invitation, 'team_member')).status).toBe(303)

  const page = await send(browser, '/account/security/authenticator')
  const secret = /id="secret">([A-Z2-7]+)</.exec(page.text)?.[1] ?? ''
  canaries.guard('secret of an authenticator', secret)
  const first = canaries.guardNumber('code of an authenticator', showsNow(secret))
  await send(browser, '/account/security/authenticator/confirm', { code: wrong(first) })
  const shown = await type(browser, '/account/security/authenticator/confirm', 'code', first, 'recovery_code')
  const recovery = shown.text.match(/\b[a-z2-9]{4}(?:-[a-z2-9]{4}){3}\b/g) ?? []
  expect(recovery).toHaveLength(10)
  for (const one of recovery) {
    canaries.guard('recovery code', one)
    canaries.guard('recovery code', one.replaceAll('-', ''))
  }
  const second = canaries.guardNumber('code of an authenticator', showsNow(secret, 30_000))
  for (const typed of [recovery[0] ?? '', second]) {
    const again = client.newBrowser()
    await send(again, '/sign-in', { passport, password: user.password })
    await send(again, '/sign-in/code', { code: wrong(second) })
    await type(again, '/sign-in/code', 'code', typed, 'browser_session')
  }

  await send(client.newBrowser(), '/sign-in/forgotten', { passport: bob.user.passport })
  const link = await mailTo(bob.user.passport, /token=(ghpl_[\w-]+)/)
  canaries.guard('link of a forgotten password', link)
  const { action, field } = { action: '/password', field: 'token' }
  await send(client.newBrowser(), `${action}?token=${link}`, {}, 'GET')
  await type(client.newBrowser(), action, field, link, 'user_credential')
  return failures
}
