import { DEMO_USERS, importUsers } from '../authorization/account/index.ts'
import { createMicroApp, DEMO_APPS } from '../authorization/registry/index.ts'
import { type Deps, inTransaction } from '../platform/deps.ts'
import { createPartner, DEMO_PARTNERS, setAesKey } from '../ticketing/partners/index.ts'
import { lockSeeding } from './store.ts'

/** Public on purpose, for local use only: production neither seeds it nor starts while it is active (remove.ts). */
export const DEMO_APP = {
  appKey: 'demo-app',
  secret: 'demo-secret-for-local-use-only',
}

/** For OAuth 2.0 and OpenID Connect; programs outside this repository use it too. */
export const DEMO_OIDC_APP = {
  appKey: 'demo-oidc',
  secret: 'demo-oidc-secret-for-local-use-only',
}

export const DEMO_PARTNER = {
  partnerId: 7001n,
  clientId: 'demo-partner',
  secret: 'demo-partner-secret-local-use-only',
  aesKey: 'demo-aes-key-16c',
}

const hosts = ['localhost', '127.0.0.1']

const APPS = [
  {
    app_key: DEMO_APP.appKey,
    secret: DEMO_APP.secret,
    name: 'Sunny Day Trips',
    scopes: ['USER_INFO', 'PHONE_NUMBER'],
  },
  {
    app_key: 'demo-phone-only',
    secret: 'demo-phone-secret-local-only',
    name: 'Call Me Back',
    scopes: ['PHONE_NUMBER'],
  },
  {
    app_key: 'demo-pending',
    secret: 'demo-pending-secret-local',
    name: 'Not Approved Yet',
    scopes: ['USER_INFO', 'PHONE_NUMBER'],
    status: 'pending',
  },
] as const

/** Passwords are `<passport>-password`. Stored as hashes because hashing three takes a tenth of the start. */
const USERS = [
  {
    passport: 'alice',
    user_id: '10001',
    name: '爱丽丝 Alice',
    gender: '2',
    phone_number: '13800000001',
    password_hash: '$argon2id$v=19$m=19456,t=2,p=1$U4DGQMadivrjqts0rE48+Q$GWLnYs/Kx8h3yyGAcNf3cgt/l0bFmo0wfdu9wpHoRro',
  },
  {
    passport: 'bob',
    user_id: '10002',
    name: '鲍勃 Bob',
    gender: '1',
    phone_number: '13800000002',
    password_hash: '$argon2id$v=19$m=19456,t=2,p=1$TXWZuB2MZMkeEmIXE/Gfwg$l5k4OLVNyz6TFBmGUA610c/kwwNBiRjuPCd34aID5S0',
  },
  {
    passport: 'mallory',
    user_id: '10003',
    name: 'Mallory',
    gender: '0',
    phone_number: '13800000003',
    password_hash: '$argon2id$v=19$m=19456,t=2,p=1$mjQL1cdR6eUZD0ko0cXo6w$9pW7wK10EMWZaeD1IDDMN5fm0Nn2t+CtVtSZdMinjOs',
    status: 'blocked',
  },
] as const

/** The OpenID Connect URIs of the demo micro-app, and of any program on this machine. */
export const demoOidcUris = (port: number) => ({
  redirect_uris: [`http://localhost:${port}/oidc/callback`, 'http://127.0.0.1/callback'],
  post_logout_uris: [`http://localhost:${port}/`, 'http://127.0.0.1/'],
})

/** Whether these are the demo's URIs, with any port; otherwise somebody has changed them. */
export const areDemoOidcUris = (uris: readonly string[]): boolean =>
  uris.length === 2 && /^http:\/\/localhost:\d+\/oidc\/callback$/.test(uris[0] ?? '')

/** Where the platform reaches the demo partner; PARTNER_ADDRESS_ALLOW must allow this address. */
export const demoPartnerUrl = (port: number): string => `http://127.0.0.1:${port}`

/** Whether this is the demo's URL, with any port; otherwise somebody has changed it. */
export const isDemoPartnerUrl = (url: string | null): url is string =>
  url !== null && /^http:\/\/127\.0\.0\.1:\d+$/.test(url)

/**
 * Fills an empty database with the demo's micro-apps, users and partner, and adds what is missing to a database of the
 * demo; leaves any other alone. Safe with several processes.
 */
export async function seedDemo(deps: Deps): Promise<void> {
  await inTransaction(deps, async (inside, db) => {
    await lockSeeding(db)
    if (!(await DEMO_APPS.hasRows(db)) && !(await DEMO_USERS.hasRows(db))) await seedPeople(inside)
    await seedOidcApp(inside)
    if (!(await DEMO_PARTNERS.hasRows(db)) && (await DEMO_APPS.hasRows(db, DEMO_APP.appKey))) await seedPartner(inside)
  })
}

async function seedPeople(deps: Deps): Promise<void> {
  for (const { secret, ...app } of APPS) {
    await createMicroApp(deps, createMicroApp.input.parse({ ...app, hosts }), { secret })
  }
  const users = USERS.map((user) => ({
    status: 'active' as const,
    ...user,
    cid: 1,
    big_avatar_url: new URL(`/assets/avatar-${user.passport}.svg`, deps.config.PUBLIC_URL).href,
  }))
  const { outcomes } = await importUsers(deps, { dry_run: false, users })
  // Removing the demo deletes what is marked, so real people must not be.
  const others = users.filter((_, at) => outcomes[at] !== 'created').map(({ passport }) => passport)
  if (others.length > 0) throw new Error(`the demo cannot be seeded: there are other people named ${others.join(', ')}`)
  const [appKeys, passports] = [APPS.map(({ app_key }) => app_key), USERS.map(({ passport }) => passport)]
  await DEMO_APPS.mark(deps.db, appKeys)
  await DEMO_USERS.mark(deps.db, passports)
}

/** Seeds it again if somebody has deleted it; never where there is no demo. */
async function seedOidcApp(deps: Deps): Promise<void> {
  const { db, config } = deps
  const isDemo = (await DEMO_APPS.keys(db)).includes(DEMO_APP.appKey)
  if (!isDemo || (await DEMO_APPS.hasRows(db, DEMO_OIDC_APP.appKey))) return
  const app = createMicroApp.input.parse({
    app_key: DEMO_OIDC_APP.appKey,
    name: 'Open Trails',
    hosts,
    scopes: ['USER_INFO', 'PHONE_NUMBER'],
    ...demoOidcUris(config.DEMO_PORT),
  })
  await createMicroApp(deps, app, { secret: DEMO_OIDC_APP.secret })
  await DEMO_APPS.mark(db, [DEMO_OIDC_APP.appKey])
}

async function seedPartner(deps: Deps): Promise<void> {
  const partner = createPartner.input.parse({
    partner_id: DEMO_PARTNER.partnerId,
    client_id: DEMO_PARTNER.clientId,
    name: 'Lakeside Tickets 湖畔票务',
    base_url: demoPartnerUrl(deps.config.DEMO_PARTNER_PORT),
    contacts: {
      product: { name: 'Product manager', mail: 'product@lakeside.example' },
      business: { name: 'Business contact', mail: 'business@lakeside.example' },
    },
  })
  await createPartner(deps, partner, DEMO_PARTNER.secret)
  await setAesKey(deps, DEMO_PARTNER.partnerId, { aes_key: DEMO_PARTNER.aesKey })
  await DEMO_PARTNERS.mark(deps.db, DEMO_PARTNER.partnerId)
}
