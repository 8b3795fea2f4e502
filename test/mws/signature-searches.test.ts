import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { SignatureSearches } from '../../src/ticketing/mws/diagnose/signature-searches.ts'
import { signatureOf } from '../signer.ts'
import { CALL, PARTNER } from './diagnose/wrongly.ts'

const settings = {
  now: new Date('2026-05-06T10:34:20Z'),
  skewSeconds: 600,
  prefixes: ['', '/rhone', '/test'],
}
const signed = (secret: string, newline = '\n') =>
  `MWS demo:partner:${signatureOf({ path: CALL.path, date: CALL.date, secret, newline })}`
const search = (authorization: string) => ({ call: { ...CALL, authorization }, partner: PARTNER, settings })
/** A timeout long enough for a busy machine to start a thread. */
const TIMEOUT_MS = 300_000
const NO_LIMIT = { msPerMinute: 600_000, atOnce: 30 }
const unlimited = () => new SignatureSearches({ caller: NO_LIMIT, partner: NO_LIMIT }, TIMEOUT_MS)
const SEARCHES = 10
/** More turns of the event loop than a message to a thread and back takes. */
const TURNS_OF_MESSAGES = 10
const UNKNOWN = search(signed('another secret'))

describe('searching for the mistakes in a signature', () => {
  it('finds the same in its thread as without one', async () => {
    const found = await unlimited().run('caller', search(signed(PARTNER.secrets[0] as string, '')))
    expect(found).toMatchObject({ mistakes: ['newline-missing'], verified: true })
  })

  it('leaves the event loop turning', async () => {
    const searches = unlimited()
    await searches.run('partner', UNKNOWN) // the thread has started
    let turns = 0
    let searching = true
    const turn = () => {
      turns++
      if (searching) setImmediate(turn)
    }
    setImmediate(turn)
    try {
      for (let times = 0; times < SEARCHES; times++) {
        expect((await searches.run('partner', UNKNOWN))?.mistakes).toEqual(['signature-unrecognised'])
      }
    } finally {
      searching = false
    }
    // Not measured by time, as other programs may keep this thread from running. A search in it lets only a few pass.
    expect(turns).toBeGreaterThan(SEARCHES * TURNS_OF_MESSAGES)
  })

  it('returns undefined at once when callers have used up their share, which does not affect partners', async () => {
    const share = { msPerMinute: 60_000, atOnce: 2 }
    const searches = new SignatureSearches({ caller: share, partner: share }, TIMEOUT_MS)
    const answers = await Promise.all(Array.from({ length: 5 }, () => searches.run('caller', UNKNOWN)))
    expect(answers.map((found) => found !== undefined)).toEqual([true, true, false, false, false])
    const spent = new SignatureSearches({ caller: { msPerMinute: 1, atOnce: 5 }, partner: share }, TIMEOUT_MS)
    expect(await spent.run('caller', UNKNOWN)).toBeDefined()
    expect(await spent.run('caller', UNKNOWN)).toBeUndefined()
    expect(await spent.run('partner', UNKNOWN)).toBeDefined()
  })

  it('starts another thread after one has crashed', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'search-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const file = join(folder, 'breaks.mjs')
    const found = '{ diagnosis: { mistakes: [] }, ms: 1 }'
    writeFileSync(file, `export default ({ call }) => (call.url === '/break' ? process.exit(1) : ${found})`)
    const searches = new SignatureSearches({ caller: NO_LIMIT, partner: NO_LIMIT }, TIMEOUT_MS, file)
    expect(await searches.run('caller', UNKNOWN)).toEqual({ mistakes: [] })
    await expect(searches.run('caller', { ...UNKNOWN, call: { ...CALL, url: '/break' } })).rejects.toThrow()
    expect(await searches.run('caller', UNKNOWN)).toEqual({ mistakes: [] })
    await searches.close()
  })

  it('only rejects the search when its thread cannot be started', async () => {
    const searches = new SignatureSearches(
      { caller: NO_LIMIT, partner: NO_LIMIT },
      TIMEOUT_MS,
      'file://elsewhere/search.mjs',
    )
    await expect(searches.run('caller', UNKNOWN)).rejects.toThrow('host')
    await searches.close()
  })

  it('ends with nothing found when it is closed, and starts again on demand', async () => {
    const searches = unlimited()
    const underWay = [searches.run('partner', UNKNOWN), searches.run('partner', UNKNOWN)]
    await searches.close()
    expect(await Promise.all(underWay)).toEqual([undefined, undefined])
    expect(await searches.run('partner', UNKNOWN)).toBeDefined()
    await searches.close()
  })
})
