import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { claimDataDir } from '../../src/platform/db/embedded/lock.ts'

const home = mkdtempSync(join(tmpdir(), 'gatehouse-lock-'))
afterAll(() => rmSync(home, { recursive: true, force: true }))

it('a DATA_DIR that cannot be written is reported with the remedy', async () => {
  const file = join(home, 'file')
  writeFileSync(file, '')
  for (const dataDir of [file, join(file, 'below')]) {
    await expect(claimDataDir(dataDir, 'service')).rejects.toThrow(
      /^DATA_DIR .*file.* cannot be used: .*\nset it to a folder that this user may write to$/,
    )
  }
})
