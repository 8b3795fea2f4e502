import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { parsedUrl } from '../../src/platform/lib/parsed-url.ts'

const SRC = join(import.meta.dirname, '../../src')

it('a URL is parsed correctly however many were parsed before', () => {
  for (let place = 0; place < 20_000; place++) parsedUrl(`https://app.example/${place}`)
  expect(parsedUrl('https://münchen.de/cb')?.hostname).toBe('xn--mnchen-3ya.de')
  expect(parsedUrl('https://göod.com:99999/cb')).toBeUndefined()
  expect(parsedUrl('/cb')).toBeUndefined()
  expect(parsedUrl('/cb', 'https://app.example')?.href).toBe('https://app.example/cb')
})

it('no source uses URL.canParse, which Node 20 and 22 get wrong after some thousand calls', () => {
  const sources = readdirSync(SRC, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.ts'))
  const found = sources.filter((path) => readFileSync(join(SRC, path), 'utf8').includes('URL.canParse('))
  expect(found).toEqual([])
})
