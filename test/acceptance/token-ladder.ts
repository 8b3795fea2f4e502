import type { App } from './client.ts'
import { addRaw, type Defect, type Draft, defect, illegal, set, useHeader, useMethod } from './ladder.ts'

/** A2 rows 1–8, which code exchange and refresh share. */

export const basic = (appKey: string, secret: string): string =>
  `Basic ${Buffer.from(`${appKey}:${secret}`).toString('base64')}`

export interface TokenWorld {
  readonly app: App
  readonly other: App
  readonly pending: App
  readonly suspended: App
}

const useApp = (which: 'pending' | 'suspended') => (draft: Draft, world: TokenWorld) => {
  const { app_key, app_secret } = world[which]
  Object.assign(draft.parameters, { app_key, app_secret })
}

const BAD_CREDENTIALS = { rescode: 20001, message: /^Bad client credentials$/ }

export function clientDefects<World extends TokenWorld>(): Defect<World>[] {
  return [
    ...['GET', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'].map((method) =>
      defect<World>(1, method, 'method', useMethod(method), { rescode: 20010, status: 405 }),
    ),
    ...['app_key', 'app_secret', 'grant_type'].map((name) =>
      defect<World>(2, `${name} twice`, `${name} raw`, addRaw(`&${name}=x`), illegal(/./)),
    ),
    defect<World>(2, 'undecodable', 'raw', addRaw('&x=%ff'), illegal(/./)),
    defect<World>(2, 'with a NUL', 'raw', addRaw('&x=%00'), illegal(/./)),
    defect<World>(2, 'longer than 8 KiB', 'raw', addRaw(`&x=${'y'.repeat(8_200)}`), illegal(/./)),
    defect<World>(2, 'of 20 KB', 'raw', addRaw(`&x=${'y'.repeat(20_000)}`), illegal(/./)),
    // Basic may replace these two parameters, so they count as a defect only without an Authorization header.
    defect<World>(3, 'no app_key', 'app_key authorization', set({ app_key: undefined }), { rescode: 20001 }),
    defect<World>(3, 'no app_secret', 'app_secret authorization', set({ app_secret: undefined }), { rescode: 20001 }),
    defect<World>(3, 'empty app_secret', 'app_secret', set({ app_secret: '' }), { rescode: 20001 }),
    defect<World>(3, 'unknown app', 'app_key', set({ app_key: 'no-such-app' }), BAD_CREDENTIALS),
    defect<World>(3, 'impossible app', 'app_key', set({ app_key: "' or 1=1 --" }), BAD_CREDENTIALS),
    defect<World>(3, 'wrong secret', 'app_secret', set({ app_secret: 'wrong' }), BAD_CREDENTIALS),
    defect<World>(3, 'very long secret', 'app_secret', set({ app_secret: 'x'.repeat(7_000) }), BAD_CREDENTIALS),
    defect<World>(
      3,
      "another app's secret",
      'app_secret',
      (draft, { other }) => set({ app_secret: other.app_secret })(draft),
      BAD_CREDENTIALS,
    ),
    defect<World>(
      4,
      'Basic for another app',
      'authorization',
      (draft, { other }) => useHeader('authorization', basic(other.app_key, other.app_secret))(draft),
      { rescode: 20005 },
    ),
    defect<World>(
      4,
      'Basic with another secret',
      'authorization',
      (draft, { app }) => useHeader('authorization', basic(app.app_key, 'wrong'))(draft),
      { rescode: 20005 },
    ),
    ...['Basic', 'Basic ', 'Basic !!!', 'basic bm9jb2xvbg==', 'Basic bm9jb2xvbg==', 'Basic /w=='].map((value) =>
      defect<World>(5, `malformed ${value}`, 'authorization', useHeader('authorization', value), { rescode: 20002 }),
    ),
    defect<World>(6, 'app not approved', 'app_key app_secret', useApp('pending'), { rescode: 20014 }),
    defect<World>(6, 'app suspended', 'app_key app_secret', useApp('suspended'), { rescode: 20014 }),
    defect<World>(8, 'no grant_type', 'grant_type', set({ grant_type: undefined }), illegal(/grant_type/)),
    ...['password', 'client_credentials', 'AUTHORIZATION_CODE', 'refresh_token ', 'implicit'].map((grant_type) =>
      defect<World>(8, `grant_type "${grant_type}"`, 'grant_type', set({ grant_type }), {
        rescode: 20017,
        message: `Unsupported grant type: ${grant_type.trim()}`,
      }),
    ),
  ]
}

/** The first defect of each row, and a few others that must take precedence. */
export const representativesOf = <World>(defects: readonly Defect<World>[]): Defect<World>[] =>
  defects.filter(
    ({ row, name }, index) =>
      defects.findIndex((other) => other.row === row) === index ||
      /^(no app_secret|no grant_type|longer|wrong|no redirect)/.test(name),
  )
