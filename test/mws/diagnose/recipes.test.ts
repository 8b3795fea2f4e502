import { describe, expect, it } from 'vitest'
import { ALONE } from '../../../src/ticketing/mws/diagnose/date-recipes.ts'
import { RECIPES } from '../../../src/ticketing/mws/diagnose/find-mistakes.ts'
import { diagnose } from '../../../src/ticketing/mws/diagnose/index.ts'
import { EXPLANATIONS } from '../../../src/ticketing/mws/diagnose/mistakes.ts'
import { fuzzSettings } from '../../fuzz/random.ts'
import { processorTime } from '../../processor-time.ts'
import { type Signing, signatureOf } from '../../signer.ts'
import { CALL, PARTNER, WRONGLY } from './wrongly.ts'

/** Each pair takes a whole search, so only `npm run fuzz` tries all of them. */
const { everyNth } = fuzzSettings()

const settings = {
  now: new Date('2026-05-06T10:34:20Z'),
  skewSeconds: 600,
  prefixes: ['', '/rhone', '/test'],
}
const right = { path: CALL.path, date: CALL.date, secret: PARTNER.secrets[0] as string }

const diagnosed = (wrong: Partial<Signing>) => {
  const authorization = `MWS ${PARTNER.clientId}:${signatureOf({ ...right, ...wrong })}`
  return diagnose({ ...CALL, authorization }, PARTNER, settings)
}

/** Whether the mistake changes the signature at all: Base64 without + and / is its own URL-safe spelling. */
const differs = (wrong: Partial<Signing>, from: Partial<Signing> = {}) =>
  signatureOf({ ...right, ...from, ...wrong }) !== signatureOf({ ...right, ...from })

/** Pairs that feed the HMAC the same bytes as another pair, which is reported instead. */
const SAME_BYTES = new Map([['trailing-newline + date-not-signed', 'newline-replaced,date-not-signed']])

const examples = Object.entries(WRONGLY).flatMap(([name, ways]) => ways.map((wrong) => ({ name, wrong })))

describe('the signature tool', () => {
  it('has a test for every recipe, and a name for every mistake', () => {
    expect(Object.keys(WRONGLY).sort()).toEqual(RECIPES.map(({ name }) => name).sort())
    for (const name of Object.keys(EXPLANATIONS)) expect(name).toMatch(/^[a-z0-9]+(-[a-z0-9]+)*$/)
  })

  it('finds nothing wrong with a correct signature', () => {
    expect(diagnosed({})).toEqual({
      mistakes: [],
      explanation: 'The signature is correct and the Date is within the limit.',
      stringToSign: `POST ${CALL.path}\n${CALL.date}`,
      warnings: ['partner-id-missing'],
      verified: true,
    })
  })

  it('recognises every single mistake', () => {
    const seen = new Set<string>()
    for (const { name, wrong } of examples) {
      if (!differs(wrong)) continue
      expect(diagnosed(wrong).mistakes, `${name} ${JSON.stringify(wrong)}`).toEqual([name])
      seen.add(name)
    }
    process.stdout.write(`single mistakes recognised: ${seen.size} names in ${examples.length} ways\n`)
    expect([...seen].sort()).toEqual(Object.keys(WRONGLY).sort())
  })

  it('recognises both mistakes of every meaningful pair', () => {
    const names = Object.keys(WRONGLY).filter((name) => name !== ALONE)
    const wrong: string[] = []
    let [found, pairs] = [0, 0]
    for (const [index, one] of names.entries()) {
      for (const [offset, other] of names.slice(index + 1).entries()) {
        const pick = (name: string) => (WRONGLY[name] ?? [])[(index + offset) % (WRONGLY[name] ?? []).length] ?? {}
        const [first, second] = [pick(one), pick(other)]
        if (Object.keys(first).some((part) => part in second)) continue
        if (!differs(first, second) || !differs(second, first)) continue
        if (found++ % everyNth !== 0) continue
        pairs++
        const { mistakes } = diagnosed({ ...first, ...second })
        const pair = `${one} + ${other}`
        if (mistakes.join() === SAME_BYTES.get(pair)) continue
        if ([...mistakes].sort().join() !== [one, other].sort().join()) wrong.push(`${pair}: ${mistakes}`)
      }
    }
    process.stdout.write(`pairs recognised: ${pairs - wrong.length} of ${pairs}\n`)
    expect(wrong).toEqual([])
  })

  it('never reveals the correct signature or the secret', () => {
    const [rightSignature, secret] = [signatureOf(right), right.secret]
    for (const { wrong } of examples) {
      const diagnosis = JSON.stringify(diagnosed(wrong))
      expect(diagnosis).not.toContain(rightSignature)
      expect(diagnosis).not.toContain(secret)
    }
  })

  it('gives up on a signature with another secret within the time of 20,000 signatures', () => {
    const two = { ...PARTNER, secrets: [right.secret, 'another-live-secret'] }
    const authorization = `MWS ${PARTNER.clientId}:${signatureOf({ ...right, secret: 'not his' })}`
    const leastOf = (work: () => void) => Math.min(...Array.from({ length: 10 }, () => processorTime(work)))
    const search = leastOf(() => {
      expect(diagnose({ ...CALL, authorization }, two, settings).mistakes).toEqual(['signature-unrecognised'])
    })
    // Relative, since the time of one signature differs between machines and with their load.
    const thousand = leastOf(() => {
      for (let n = 0; n < 1_000; n++) signatureOf(right)
    })
    process.stdout.write(
      `worst case, two live secrets: ${search.toFixed(1)} ms, of ${thousand.toFixed(1)} ms a thousand\n`,
    )
    expect(search / thousand).toBeLessThan(20)
  })
})
