import { expect, inject, it } from 'vitest'
import { awaitDatabase } from '../../src/platform/db/await-database.ts'
import { openLog } from '../../src/platform/lib/log.ts'

const log = openLog({ level: 'silent', pretty: false })
const urlWith = (changes: Partial<Pick<URL, 'password' | 'pathname' | 'search'>>): string =>
  Object.assign(new URL(inject('serverUrl')), changes).href

it.each([
  [{ password: 'not-the-password' }, /cannot be used: the password in DATABASE_URL is wrong$/],
  [
    { pathname: '/nobody-made-it' },
    /nobody-made-it on 127.0.0.1:\d+ cannot be used: it does not exist on that server; create it, or correct DATABASE_URL$/,
  ],
  [
    { search: '?sslmode=verify-full' },
    /cannot be used: it does not speak TLS, which sslmode in DATABASE_URL asks for; set up TLS there, or leave sslmode out$/,
  ],
])('an error that waiting cannot fix is reported at once: %o', async (changes, sentence) => {
  await expect(awaitDatabase(urlWith(changes), { seconds: 600, log })).rejects.toThrow(sentence)
})
