import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { describe, expect, it, onTestFinished } from 'vitest'
import { SignatureSearches } from '../../src/ticketing/mws/diagnose/signature-searches.ts'
import { signatureOf } from '../signer.ts'
import { CALL, PARTNER } from './diagnose/wrongly.ts'

const settings = {
  now: new Date('2026-05-06T10:34:20Z'),
  skewSeconds: 600,
  mounts: ['/mtp/api', '/rhone/mtp/api', '/test/mtp/api'],
}
const signed = (secret: string, newline = '\n') =>
  `MWS demo:partner:${signatureOf({ path: CALL.path, date: CALL.date, secret, newline })}`
const search = (authorization: string) => ({ call: { ...CALL, authorization }, partner: PARTNER, settings })
/** A busy machine may take long to start a thread. */
const PATIENT = 300_000
const AMPLE = { msPerMinute: 600_000, atOnce: 30 }
const patient = () => new SignatureSearches({ caller: AMPLE, partner: AMPLE }, PATIENT)
const UNKNOWN = search(signed('another secret'))

describe('searching for the mistakes in a signature', () => {
  it('finds in its thread what is found without one', async () => {
    const found = await patient().run('caller', search(signed(PARTNER.secrets[0] as string, '')))
    expect(found).toMatchObject({ mistakes: ['newline-missing'], verified: true })
  })

  it('leaves the thread that answers requests alone', async () => {
    const searches = patient()
    await searches.run('partner', UNKNOWN) // the thread has started
    const before = performance.eventLoopUtilization()
    const began = performance.now()
    for (let times = 0; times < 10; times++) {
      expect((await searches.run('partner', UNKNOWN))?.mistakes).toEqual(['signature-unrecognised'])
    }
    const busy = performance.eventLoopUtilization(before).active
    expect(busy).toBeLessThan((performance.now() - began) / 2)
  })

  it('says at once that it is busy, when so many are under way or so much time was spent; others have a share of their own', {}, async () => {
    const share = { msPerMinute: 60_000, atOnce: 2 }
    const searches = new SignatureSearches({ caller: share, partner: share }, PATIENT)
    const answers = await Promise.all(Array.from({ length: 5 }, () => searches.run('caller', UNKNOWN)))
    expect(answers.map((found) => found !== undefined)).toEqual([true, true, false, false, false])
    const spent = new SignatureSearches({ caller: { msPerMinute: 1, atOnce: 5 }, partner: share }, PATIENT)
    expect(await spent.run('caller', UNKNOWN)).toBeDefined()
    expect(await spent.run('caller', UNKNOWN)).toBeUndefined()
    expect(await spent.run('partner', UNKNOWN)).toBeDefined()
  })

  it('goes on in another thread when one breaks', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'search-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const file = join(folder, 'breaks.mjs')
    const found = '{ diagnosis: { mistakes: [] }, ms: 1 }'
    writeFileSync(file, `export default ({ call }) => (call.url === '/break' ? process.exit(1) : ${found})`)
    const searches = new SignatureSearches({ caller: AMPLE, partner: AMPLE }, PATIENT, file)
    expect(await searches.run('caller', UNKNOWN)).toEqual({ mistakes: [] })
    await expect(searches.run('caller', { ...UNKNOWN, call: { ...CALL, url: '/break' } })).rejects.toThrow()
    expect(await searches.run('caller', UNKNOWN)).toEqual({ mistakes: [] })
    await searches.close()
  })

  it('fails with nothing else when its thread cannot be made', async () => {
    const searches = new SignatureSearches({ caller: AMPLE, partner: AMPLE }, PATIENT, 'file://elsewhere/search.mjs')
    await expect(searches.run('caller', UNKNOWN)).rejects.toThrow('host')
    await searches.close()
  })

  it('ends with the process; what is under way finds nothing', async () => {
    const searches = patient()
    const underWay = [searches.run('partner', UNKNOWN), searches.run('partner', UNKNOWN)]
    await searches.close()
    expect(await Promise.all(underWay)).toEqual([undefined, undefined])
    expect(await searches.run('partner', UNKNOWN)).toBeDefined()
    await searches.close()
  })
})
