import type { Deps } from '../../platform/deps.ts'
import type { Upload } from '../../platform/lib/action.ts'
import { hashPassword } from '../../platform/lib/crypto/password.ts'
import { InvalidInput } from '../../platform/lib/json/input.ts'
import { type LocalizedText, localized } from '../../platform/lib/localized-text.ts'
import { NotUtf8 } from '../../platform/lib/utf8.ts'
import { importUsers, USERS_FILE } from '../account/index.ts'

const MOST_USERS = 1_000
/** Somebody waits for the page meanwhile, and each is hashed in turn with those that people sign in with. */
const MOST_PASSWORDS = 200

const fileProblem = (problem: LocalizedText) => new InvalidInput([{ field: 'file', problem }])

async function recordsIn(file: Buffer) {
  const records = []
  try {
    for await (const record of USERS_FILE.records([file])) records.push(record)
  } catch (error) {
    throw error instanceof NotUtf8 ? fileProblem(localized('not-as-utf8', { problem: error.problem })) : error
  }
  if (records.length === 0) throw fileProblem(localized('has-no-users'))
  if (records.length > MOST_USERS) throw fileProblem(localized('has-many-users', { most: MOST_USERS }))
  const passwords = records.filter(({ value }) => Object(value).password !== undefined).length
  if (passwords > MOST_PASSWORDS) throw fileProblem(localized('has-many-passwords', { most: MOST_PASSWORDS }))
  return records
}

/** The import of a file in the console. */
export const USERS_UPLOAD: Upload<Deps> = {
  hint: 'action.user_import.file',
  bytes: 512 * 1024,
  run: async (deps, file, { dryRun }) => {
    let turn: Promise<unknown> = Promise.resolve()
    const { problems, ...counts } = await USERS_FILE.import({
      ...{ records: await recordsIn(file), dryRun, most: MOST_USERS },
      send: (some) => importUsers(deps, some),
      hash: (password) => {
        const hashed = turn.then(() => deps.passwordSlots.run(() => hashPassword(password)))
        turn = hashed.catch(() => {})
        return hashed
      },
    })
    return { counts, problems }
  },
}
