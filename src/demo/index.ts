import type { AddressInfo } from 'node:net'
import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import { listMicroApps, updateMicroApp } from '../authorization/registry/index.ts'
import type { Deps } from '../platform/deps.ts'
import { endTogether } from '../platform/lib/end-all.ts'
import type { Log } from '../platform/lib/log.ts'
import { closeInTime } from '../platform/lib/web/drain.ts'
import { listenOn } from '../platform/lib/web/listen.ts'
import { findPartner, updatePartner } from '../ticketing/partners/index.ts'
import {
  areDemoOidcUris,
  DEMO_APP,
  DEMO_OIDC_APP,
  DEMO_PARTNER,
  demoOidcUris,
  demoPartnerUrl,
  isDemoPartnerUrl,
} from './seed.ts'

export { orderTalk } from './order-talk.ts'
export { refuseDemoRows, removeDemo } from './remove.ts'
export { openDemoPartner } from './sandbox-part.ts'
export { seedDemo } from './seed.ts'

export interface Demo {
  /** The micro-app. */
  readonly url: string
  /** The demo partner's back office; undefined where no demo partner runs. */
  readonly officeUrl: string | undefined
  stop(): Promise<void>
}

/** Loads the demo's modules ahead of time, so that loading does not hold up requests later. */
export const loadDemo = async (): Promise<void> => {
  await Promise.all([import('./micro-app/index.ts'), import('./partner/index.ts')])
}

/** Listens and returns the port. */
type Listen = (app: FastifyInstance, host: string, setting: 'DEMO_PORT' | 'DEMO_PARTNER_PORT') => Promise<number>

/** Starts the demo micro-app and the demo partner; the service must be listening. */
export async function startDemo(deps: Deps, log: Log): Promise<Demo> {
  const apps: FastifyInstance[] = []
  const stop = () => endTogether(...apps.map((app) => () => app.close()))
  const listen: Listen = async (app, host, setting) => {
    apps.push(app)
    closeInTime(app, deps.config.SHUTDOWN_GRACE_S)
    await listenOn(app, host, deps.config[setting], setting)
    return (app.server.address() as AddressInfo).port
  }
  try {
    const url = await startMicroApp(deps, log, listen)
    const officeUrl = await startPartner(deps, log, listen)
    return { url, officeUrl, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

async function startMicroApp(deps: Deps, log: Log, listen: Listen): Promise<string> {
  const { config } = deps
  const client = {
    apiUrl: `http://127.0.0.1:${config.PORT}`,
    authUrl: config.PUBLIC_URL,
    appKey: DEMO_APP.appKey,
    appSecret: DEMO_APP.secret,
    redirectUri: '',
  }
  const oidc = {
    issuer: config.PUBLIC_URL,
    clientId: DEMO_OIDC_APP.appKey,
    clientSecret: DEMO_OIDC_APP.secret,
    redirectUri: '',
    signedOutUri: '',
  }
  const { buildMicroApp } = await import('./micro-app/index.ts')
  const port = await listen(await buildMicroApp(client, oidc, log), config.HOST, 'DEMO_PORT')
  const url = `http://localhost:${port}`
  client.redirectUri = `${url}/callback`
  oidc.redirectUri = `${url}/oidc/callback`
  oidc.signedOutUri = `${url}/`
  await updateOidcUris(deps, port)
  return url
}

/** Updates the app's redirect URIs if the port differs from that of the last start. */
async function updateOidcUris(deps: Deps, port: number): Promise<void> {
  const { apps } = await listMicroApps(deps, listMicroApps.input.parse({ app_key: DEMO_OIDC_APP.appKey }))
  const app = apps.find(({ app_key }) => app_key === DEMO_OIDC_APP.appKey)
  const uris = demoOidcUris(port)
  if (!app || !areDemoOidcUris(app.redirect_uris) || app.redirect_uris[0] === uris.redirect_uris[0]) return
  await updateMicroApp(deps, DEMO_OIDC_APP.appKey, uris)
}

/** Whatever HOST says: the partner's back office asks for no password. */
const LOOPBACK = '127.0.0.1'

const ANSWERS_WITHIN_MS = 1_000

const answers = (url: string): Promise<boolean> =>
  fetch(url, { signal: AbortSignal.timeout(ANSWERS_WITHIN_MS) }).then(
    ({ body }) => body?.cancel().then(() => true) ?? true,
    () => false,
  )

/** Starts nothing without the seeded partner and its secret: then this is not the demo's database, or no longer. */
async function startPartner(deps: Deps, log: Log, listen: Listen): Promise<string | undefined> {
  const { config, clock } = deps
  const { partnerId, clientId, secret } = DEMO_PARTNER
  const partner = await findPartner(deps, partnerId)
  if (partner?.client_id !== clientId || partner.secrets.length === 0) return undefined
  const { buildDemoPartner } = await import('./partner/index.ts')
  const app = await buildDemoPartner({
    partnerId: String(partnerId),
    clientId,
    clientSecret: secret,
    aesKey: partner.aes_key ?? undefined,
    platformUrl: `http://127.0.0.1:${config.PORT}`,
    log: log.child({ demo: 'partner' }) as FastifyBaseLogger,
    now: clock.now,
  })
  const port = await listen(app, LOOPBACK, 'DEMO_PARTNER_PORT')
  const base_url = demoPartnerUrl(port)
  const { base_url: known } = partner
  // The port differs from that of the last start, unless somebody's own program answers there.
  if (isDemoPartnerUrl(known) && known !== base_url) {
    if (await answers(known)) log.info({ known, base_url }, 'the demo partner keeps its URL, where a program answers')
    else await updatePartner(deps, partnerId, { base_url })
  }
  return `http://localhost:${port}`
}
