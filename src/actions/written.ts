import type { Role } from '../lib/web/admin-auth.ts'

/** Which role an operation needs: as a route below /admin/v1 and as a command. */
export interface Permission {
  readonly role: Role
  /** Method and pattern of the path below /admin/v1. */
  readonly route?: string
  /** Words of the command line. */
  readonly command?: string
}

const viewer = (route?: string, command?: string) => row('viewer', route, command)
const support = (route?: string, command?: string) => row('support', route, command)
const admin = (route?: string, command?: string) => row('admin', route, command)

const row = (role: Role, route?: string, command?: string): Permission => ({
  role,
  ...(route ? { route } : {}),
  ...(command ? { command } : {}),
})

/** Of the operations that are not rows yet. */
export const WRITTEN: readonly Permission[] = [
  viewer('GET /openapi.json'),

  viewer('GET /audit', 'audit list'),
  support('GET /audit/export', 'audit export'),
  support('GET /audit/verify', 'audit verify'),

  viewer('GET /requests/:request_id'),
  support('GET /explain', 'explain'),

  viewer('GET /settings', 'settings'),

  viewer('GET /signing-keys', 'signing-key list'),
  admin('POST /signing-keys/rotate', 'signing-key rotate'),
  admin('POST /signing-keys/retire', 'signing-key retire'),

  // Only on the machine of the service, which has its database: whoever can do that is an admin.
  admin(undefined, 'migrate'),
  admin(undefined, 'purge'),
  admin(undefined, 'reseal'),
  admin(undefined, 'demo remove'),
]
