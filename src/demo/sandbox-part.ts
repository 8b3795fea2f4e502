import { z } from 'zod'
import { parseLossless, stringifyLossless } from '../platform/lib/json/lossless.ts'
import { demoActionFor } from '../sandbox/portal/index.ts'

/** Acts for the people at the demo partner when a step of the sandbox waits for a notice. */

const sentNotice = z.object({
  path: z.string(),
  message: z.record(z.string(), z.unknown()),
  /** `200: success`, or why there was no response. */
  lastAnswer: z.string(),
})
/** A notice that the partner has sent, and the platform's response. */
export type SentNotice = z.output<typeof sentNotice>

const controlAnswer = z.object({ value: z.object({ notices: z.array(sentNotice) }) })

/** Performs an action of partner/control, such as a visitor at the gate; returns the notices that it caused. */
export type AtPartner = (action: string, input: object) => Promise<SentNotice[]>

const NOT_RUNNING = 'the demo partner does not respond; start the demo in another terminal first: npm start'

/** Connects to the control API at the demo partner's base URL; throws if nothing answers. */
export async function partnerControls(baseUrl: string | null | undefined): Promise<AtPartner> {
  const ask = async (path: string, input?: object): Promise<string> => {
    const init = input && { method: 'POST', body: stringifyLossless(input) }
    const answer = await fetch(`${baseUrl}/control/${path}`, init)
    const text = await answer.text()
    if (!answer.ok) throw new Error(`the demo partner refuses to ${path}: ${text.slice(0, 200)}`)
    return text
  }
  await ask('state').catch(() => {
    throw new Error(NOT_RUNNING)
  })
  return async (action, input) =>
    controlAnswer.parse(parseLossless(Buffer.from(await ask(action, input)))).value.notices
}

type Awaited = Parameters<typeof demoActionFor>[0]

/** Connects to the demo partner at its base URL; throws if nothing answers. */
export async function openDemoPartner(baseUrl: string | null): Promise<(awaited: Awaited) => Promise<void>> {
  const atPartner = await partnerControls(baseUrl)
  return async (awaited) => {
    const action = demoActionFor(awaited)
    if (action) await atPartner(action.name, action.input)
  }
}
