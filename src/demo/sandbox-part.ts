import { stringifyLossless } from '../lib/json/lossless.ts'
import { demoActionFor } from '../sandbox/index.ts'

/** What the people at the demo partner do when a step of the sandbox waits for a notice. */

/** Makes something happen at the demo partner, such as a visitor at the gate; see partner/control. */
export type AtPartner = (action: string, input: object) => Promise<void>

const NOT_RUNNING = 'the demo partner does not respond; start the demo in another terminal first: npm start'

/** The control API of the demo partner below its base URL; throws when nobody answers there. */
export async function partnerControls(baseUrl: string | null | undefined): Promise<AtPartner> {
  const ask = async (path: string, input?: object): Promise<void> => {
    const { request } = await import('undici')
    const { statusCode, body } = await request(`${baseUrl}/control/${path}`, {
      method: input ? 'POST' : 'GET',
      headers: { 'Content-Type': 'application/json' },
      body: input ? stringifyLossless(input) : null,
    })
    const answer = await body.text()
    if (statusCode !== 200) throw new Error(`the demo partner refuses to ${path}: ${answer.slice(0, 200)}`)
  }
  await ask('state').catch(() => {
    throw new Error(NOT_RUNNING)
  })
  return ask
}

type Awaited = Parameters<typeof demoActionFor>[0]

/** Opens the shop below its base URL; throws when nobody answers there. */
export async function openDemoPartner(baseUrl: string | null): Promise<(awaited: Awaited) => Promise<void>> {
  const atPartner = await partnerControls(baseUrl)
  return async (awaited) => {
    const action = demoActionFor(awaited)
    if (action) await atPartner(action.name, action.input)
  }
}
