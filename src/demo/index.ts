import type { AddressInfo } from 'node:net'
import type { Deps } from '../deps.ts'
import { closeInTime } from '../lib/close-in-time.ts'
import { listenOn } from '../lib/listen.ts'
import type { Log } from '../lib/log.ts'
import { buildMicroApp } from './micro-app/index.ts'
import { DEMO_APP } from './seed.ts'

export interface Demo {
  readonly url: string
  stop(): Promise<void>
}

/** Starts the demo micro-app beside the service, which listens already. */
export async function startDemo(deps: Deps, log: Log): Promise<Demo> {
  const { config } = deps
  const client = {
    apiUrl: `http://127.0.0.1:${config.PORT}`,
    authUrl: config.PUBLIC_URL,
    appKey: DEMO_APP.appKey,
    appSecret: DEMO_APP.secret,
    redirectUri: '',
  }
  const app = await buildMicroApp(client, log)
  closeInTime(app, config.SHUTDOWN_GRACE_S)
  await listenOn(app, config.HOST, config.DEMO_PORT, 'DEMO_PORT')
  const { port } = app.server.address() as AddressInfo
  client.redirectUri = `http://localhost:${port}/callback`
  return { url: `http://localhost:${port}`, stop: () => app.close() }
}
