import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { utcTime } from '../../src/platform/lib/time-zone.ts'
import { timesOn } from '../times.ts'

/** Times are formatted in one place: views/when.eta, with utcTime. */

const ROOT = join(import.meta.dirname, '../..')
const filesIn = (folder: string, ending: string): [string, string][] =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith(ending))
    .map((path) => [`${folder}/${path}`, readFileSync(join(ROOT, folder, path), 'utf8')])

it('no view but when.eta writes a time element or formats a time', () => {
  const views = filesIn('views', '.eta').filter(([, text]) =>
    /<time [a-z]|toISOString\(\)\.|toLocale\w*String/.test(text),
  )
  expect(views.map(([path]) => path)).toEqual(['views/when.eta'])
})

it('no source but time-zone.ts formats a time', () => {
  const worded = /replace\('T', ' '\)|dateStyle|timeStyle|toLocale(?:Date|Time)String|toUTCString/
  const sources = filesIn('src', '.ts').filter(([, text]) => worded.test(text))
  expect(sources.map(([path]) => path).sort()).toEqual([
    'src/demo/partner/outbox.ts', // the Date header of its calls
    'src/demo/partner/wire.ts', // a seller's own program, in Beijing time
    'src/platform/lib/crypto/signing.ts', // Date headers
    'src/platform/lib/time-zone.ts',
  ])
})

it('a text does not show a time in nested brackets', () => {
  for (const locale of ['en', 'zh-CN']) {
    const texts: [string, string][] = Object.entries(
      JSON.parse(readFileSync(join(ROOT, `views/locales/${locale}.json`), 'utf8')),
    )
    const doubled = texts.filter(([, text]) => /[(（][^)）]*\{(?:at|time|until)\}[^)）]*[(（]/.test(text))
    expect(doubled, locale).toEqual([])
  }
})

it('a time is shown in UTC to the second, and labelled so', () => {
  expect(utcTime('2026-05-06T10:34:20.123Z')).toBe('2026-05-06 10:34:20 UTC')
})

it('timesOn finds everything on a page that looks like a time', () => {
  const time =
    '<time datetime="2026-05-06T10:34:20.000Z" title="2026-05-06 10:34:20 UTC">2026-05-06 10:34:20 UTC</time>'
  const page = (body: string) => timesOn(`<html><body>${body}</body></html>`)
  expect(page(`<p>Sent ${time}</p>`)).toEqual({ stray: [], right: ['2026-05-06T10:34:20.000Z'] })
  expect(page('<pre>Wed, 06 May 2026 10:34:20 GMT</pre>').stray).toEqual([])
  expect(page('<a href="/x?at=10:34">http://127.0.0.1:4320</a>').stray).toEqual([])
  for (const stray of [
    '<p>2026-05-06 10:34:20 UTC</p>',
    '<p>at 10:34</p>',
    '<p>Wed, 06 May 2026 10:34:20 GMT</p>',
    '<p>2026-05-06T10:34:20.000Z</p>',
    '<time datetime="2026-05-06T10:34:20.000Z">2026-05-06 10:34:20 UTC</time>',
    time.replace('10:34:20 UTC<', '10:34:20<'),
    time.replace('datetime="2026-05-06T10', 'datetime="2026-05-06T11'),
    '<input aria-label="Heartbeat, 2026-05-06 10:34:20 UTC">',
    '<span title="10:34:20">x</span>',
  ])
    expect(page(stray).stray.length, stray).toBeGreaterThan(0)
})
