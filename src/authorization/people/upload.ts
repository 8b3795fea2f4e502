import type { Deps } from '../../platform/deps.ts'
import type { Upload } from '../../platform/lib/action.ts'
import { hashPassword } from '../../platform/lib/crypto/password.ts'
import { InvalidInput } from '../../platform/lib/json/input.ts'
import { type LocalizedText, localized } from '../../platform/lib/localized-text.ts'
import { NotUtf8 } from '../../platform/lib/utf8.ts'
import { importUsers, USERS_FILE } from '../account/index.ts'

const MAX_USERS = 1_000
/** An operator is waiting for the page, and hashing shares its slots with sign-ins. */
const MAX_PASSWORDS = 200

const fileProblem = (problem: LocalizedText) => new InvalidInput([{ field: 'file', problem }])

async function recordsIn(file: Buffer) {
  const records = []
  try {
    for await (const record of USERS_FILE.records([file])) records.push(record)
  } catch (error) {
    throw error instanceof NotUtf8 ? fileProblem(localized('not-as-utf8', { problem: error.problem })) : error
  }
  if (records.length === 0) throw fileProblem(localized('has-no-users'))
  if (records.length > MAX_USERS) throw fileProblem(localized('has-many-users', { most: MAX_USERS }))
  const passwords = records.filter(({ value }) => Object(value).password !== undefined).length
  if (passwords > MAX_PASSWORDS) throw fileProblem(localized('has-many-passwords', { most: MAX_PASSWORDS }))
  return records
}

export const USERS_UPLOAD: Upload<Deps> = {
  hint: 'action.user_import.file',
  bytes: 512 * 1024,
  run: async (deps, file, { dryRun }) => {
    let lastHash: Promise<unknown> = Promise.resolve() // one password at a time
    const { problems, ...counts } = await USERS_FILE.import({
      ...{ records: await recordsIn(file), dryRun, most: MAX_USERS },
      send: (batch) => importUsers(deps, batch),
      hash: (password) => {
        const hashed = lastHash.then(() => deps.passwordSlots.run(() => hashPassword(password)))
        lastHash = hashed.catch(() => {})
        return hashed
      },
    })
    return { counts, problems }
  },
}
