import { describe, expect, it } from 'vitest'
import { openLog } from '../../src/platform/lib/log.ts'
import { openSampledLog } from '../../src/platform/lib/sampled-log.ts'
import { until } from '../until.ts'

function sampledTo(everyMs: number, level = 'info') {
  const lines: Record<string, unknown>[] = []
  const log = openLog({ level, pretty: false }, { write: (text: string) => lines.push(JSON.parse(text)) })
  return { sampled: openSampledLog(log, everyMs), lines }
}

const refusal = (kind: string, fields = {}) =>
  ({ level: 'info', kind, message: 'refused', fields: () => fields }) as const

describe('a sampled log', () => {
  it('writes the first line of each kind, and at the end of the interval how many were left out', async () => {
    const { sampled, lines } = sampledTo(1_000)
    for (let n = 0; n < 1_000; n++) sampled.write(refusal('a', { n }))
    sampled.write(refusal('b'))
    expect(lines).toMatchObject([
      { kind: 'a', n: 0, msg: 'refused' },
      { kind: 'b', msg: 'refused' },
    ])
    await until(() => lines.length >= 3)
    expect(lines[2]).toMatchObject({ kind: 'a', leftOut: 999, level: 30 })
    sampled.write(refusal('a', { n: 'again' }))
    expect(lines[3]).toMatchObject({ kind: 'a', n: 'again' })
    expect(lines).toHaveLength(4)
    sampled.close()
  })

  it('reports how many were left out when it is closed', () => {
    const { sampled, lines } = sampledTo(60_000)
    for (let n = 0; n < 3; n++) sampled.write(refusal('a'))
    sampled.close()
    expect(lines).toMatchObject([{ kind: 'a' }, { kind: 'a', leftOut: 2 }])
  })

  it('limits the number of kinds: those beyond share one sample', () => {
    const { sampled, lines } = sampledTo(60_000)
    for (let n = 0; n < 5_000; n++) sampled.write(refusal(`kind ${n}`))
    expect(lines.length).toBeLessThan(300)
    sampled.close()
    expect(lines.at(-1)).toMatchObject({ kind: 'other' })
  })

  it('does not compute the fields of a line that is not written', () => {
    const { sampled } = sampledTo(60_000, 'warn')
    sampled.write({
      ...refusal('a'),
      fields: () => {
        throw new Error('asked')
      },
    })
  })
})
