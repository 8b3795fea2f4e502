import { createUser } from '../account/user.ts'
import type { Deps } from '../deps.ts'
import { createMicroApp } from '../registry/micro-app.ts'
import { newMicroApp } from '../registry/wire.ts'
import { hasAppsOrUsers, lockSeeding } from './store.ts'

/** Well-known on purpose and for local use only: nothing of this exists when NODE_ENV is production. */
export const DEMO_APP = {
  appKey: 'demo-app',
  secret: 'demo-secret-for-local-use-only',
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

const avatar = (name: string): string => `/assets/avatar-${name}.svg`

const USERS = [
  {
    passport: 'alice',
    user_id: '10001',
    name: '爱丽丝 Alice',
    gender: '2',
    phone_number: '13800000001',
    status: 'active',
  },
  {
    passport: 'bob',
    user_id: '10002',
    name: '鲍勃 Bob',
    gender: '1',
    phone_number: '13800000002',
    status: 'active',
  },
  {
    passport: 'mallory',
    user_id: '10003',
    name: 'Mallory',
    gender: '0',
    phone_number: '13800000003',
    status: 'blocked',
  },
] as const

/** Fills an empty database with the demo's micro-apps and users; leaves any other alone. Safe with several processes. */
export async function seedDemo(deps: Deps): Promise<void> {
  await deps.db.tx(async (db) => {
    await lockSeeding(db)
    if (await hasAppsOrUsers(db)) return
    const inside: Deps = { ...deps, db }
    for (const { secret, ...app } of APPS) {
      await createMicroApp(inside, newMicroApp.parse({ ...app, hosts }), secret)
    }
    for (const user of USERS) {
      const big_avatar_url = new URL(avatar(user.passport), deps.config.PUBLIC_URL).href
      await createUser(inside, {
        ...user,
        cid: 1,
        big_avatar_url,
        password: `${user.passport}-password`,
      })
    }
  })
}
