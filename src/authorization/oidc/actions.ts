import { z } from 'zod'
import type { Deps } from '../../platform/deps.ts'
import { action, type Shown } from '../../platform/lib/action.ts'
import { listSigningKeys, retirementInput, retireSigningKey, rotateSigningKeys, rotationInput } from './signing-key.ts'
import type { SigningKey } from './store.ts'

const columns: readonly Shown<SigningKey>[] = ['kid', 'alg', 'signs_from', 'signs_until', 'published_until']
const list = { rows: 'keys', columns } as const

/** Operators' actions on the keys that sign id_tokens. */
export const SIGNING_KEY_ACTIONS = [
  action({
    route: 'GET /signing-keys',
    command: 'signing-key list',
    role: 'viewer',
    page: { path: '/keys', about: [] },
    input: z.strictObject({}),
    run: async (deps: Deps) => ({ keys: await listSigningKeys(deps) }),
    list,
  }),
  action({
    route: 'POST /signing-keys/rotate',
    command: 'signing-key rotate',
    role: 'admin',
    page: { path: '/keys/rotate', about: [] },
    input: rotationInput,
    run: async (deps: Deps, input) => ({ keys: await rotateSigningKeys(deps, input) }),
    list,
  }),
  action({
    route: 'POST /signing-keys/retire',
    command: 'signing-key retire',
    arguments: ['kid'],
    role: 'admin',
    page: { path: '/keys/:kid/retire', about: ['kid'] },
    dangerous: true,
    input: retirementInput,
    run: async (deps: Deps, input) => ({ keys: await retireSigningKey(deps, input) }),
    list,
  }),
]
