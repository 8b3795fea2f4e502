import type { Deps } from '../../platform/deps.ts'
import { action, type Upload } from '../../platform/lib/action.ts'
import { hashPassword } from '../../platform/lib/crypto/password.ts'
import { InvalidInput } from '../../platform/lib/json/input.ts'
import { type LocalizedText, localized } from '../../platform/lib/localized-text.ts'
import { NotUtf8 } from '../../platform/lib/utf8.ts'
import { maskedMail } from '../../platform/lib/web/admin-auth.ts'
import {
  blockUser,
  createUser,
  FACTORS,
  importUsers,
  listUsers,
  maskedUser,
  showUser,
  USERS_FILE,
  type UserKey,
  unblockUser,
  updateUser,
  userKey,
} from '../account/index.ts'
import { liveGrantsOf } from '../oauth/index.ts'
import { deletionOf } from './deletion.ts'
import { ACCESS_ACTIONS, DATA_ACTIONS, page, person } from './operator-data.ts'

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

const USERS_UPLOAD: Upload<Deps> = {
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

/** Bytes: the maximum number of users per import, each at maximum length. */
const IMPORT_LIMIT = 4 * 1024 * 1024

/** Masked, except on the service's own machine, where the database is accessible anyway. */
const shownTo =
  ({ actor }: Deps): typeof maskedUser =>
  (user) =>
    actor?.kind === 'cli' ? user : maskedUser(user)

/** Viewers see only the beginning of the passport: it is the mail address of most people. */
const forViewer = <Person extends { readonly passport: string }>(person: Person): Person => ({
  ...person,
  passport: maskedMail(person.passport),
})

const grantsOf = async (deps: Deps, user: UserKey): Promise<{ grants: number }> => ({
  grants: (await liveGrantsOf(deps, user)).grants,
})

async function factorsBeside(deps: Deps, { cid, user_id }: UserKey): Promise<object> {
  const { cid: _cid, user_id: _id, ...factors } = await FACTORS.show(deps, { cid, user_id })
  return factors
}

const accounts = [
  action({
    route: 'GET /users',
    command: 'user list',
    role: 'viewer',
    // Whose number it is is personal data too, and so are name and passport, which the list masks.
    elevated: {
      role: 'support',
      fields: ['passport', 'name', 'phone_number'],
      what: 'a search by passport, phone number or name',
    },
    input: listUsers.input,
    run: async (deps: Deps, filter) => {
      const { users, ...rest } = await listUsers(deps, filter)
      return { users: users.map(shownTo(deps)), ...rest }
    },
    masked: ({ users, ...page }) => ({ users: users.map(forViewer), ...page }),
    list: {
      rows: 'users',
      columns: [{ name: 'user', of: person }, 'name', 'passport', 'phone_number', 'status', 'created_at'],
    },
  }),
  action({
    route: 'GET /users/:cid/:user_id',
    command: 'user show',
    role: 'viewer',
    ...page('user'),
    elevated: { role: 'support', fields: ['reason'], what: 'unmasked personal data', page: '/users/unmask' },
    recordsLook: true,
    input: showUser.input,
    run: async (deps: Deps, user) => ({
      ...(await showUser(deps, user)),
      deletion_requested_at: (await deletionOf(deps, user))?.requested_at ?? null,
    }),
    masked: ({ deletion_requested_at: _who, ...user }) => forViewer(user),
    beside: factorsBeside,
    related: ({ cid, user_id }) => [
      { operation: 'GET /grants', text: 'action.grant_list', page: ['/grants', { cid, user_id }] },
      {
        operation: 'GET /audit',
        text: 'console.field.history',
        page: ['/audit', { target: `user:${cid}/${user_id}` }],
      },
    ],
  }),
  action({
    route: 'POST /users',
    command: 'user create',
    role: 'editor',
    run: createUser,
    secretAsOption: true,
  }),
  action({
    route: 'POST /users/update',
    command: 'user update',
    role: 'editor',
    ...page('update'),
    run: updateUser,
    suggested: () => ({}), // no defaults: the record is masked, and the masks would be written back
  }),
  action({
    route: 'POST /users/import',
    command: 'user import',
    role: 'editor',
    upload: USERS_UPLOAD,
    bodyLimit: IMPORT_LIMIT,
    run: importUsers,
  }),
  action({
    route: 'POST /users/unblock',
    command: 'user unblock',
    role: 'editor',
    ...page('unblock'),
    input: userKey,
    run: async (deps: Deps, user) => shownTo(deps)(await unblockUser(deps, user)),
    preview: { run: grantsOf },
    offered: ({ status }) => status !== 'active',
  }),
  action({
    route: 'POST /users/block',
    command: 'user block',
    role: 'editor',
    ...page('block'),
    dangerous: true,
    input: userKey,
    run: async (deps: Deps, user) => shownTo(deps)(await blockUser(deps, user)),
    preview: { run: grantsOf },
    offered: ({ status }) => status === 'active',
  }),
]

export const PEOPLE_ACTIONS = [...accounts, ...ACCESS_ACTIONS, ...DATA_ACTIONS]
