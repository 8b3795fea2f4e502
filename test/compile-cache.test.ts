import { existsSync, readdirSync } from 'node:fs'
import module from 'node:module'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'
import { gatehouseProcess, PROGRAM } from './cli-process.ts'

it('starting the program caches its compiled code next to it, if this Node supports that', async () => {
  expect((await gatehouseProcess({}, '--help')).code).toBe(0)
  const folder = join(dirname(PROGRAM), 'parts/compiled')
  const versions = existsSync(folder) ? readdirSync(folder) : []
  expect(versions.some((name) => name.startsWith(`${process.version}-`))).toBe('enableCompileCache' in module)
})
