import type { Role } from '../../platform/lib/web/admin-auth.ts'

/** Which role an operation needs: as a route below /admin/v1 and as a command. */
export interface Permission {
  readonly role: Role
  /** Method and pattern of the path below /admin/v1. */
  readonly route?: string
  /** Words of the command line. */
  readonly command?: string
}

const _viewer = (route?: string, command?: string) => row('viewer', route, command)
const _support = (route?: string, command?: string) => row('support', route, command)
const admin = (route?: string, command?: string) => row('admin', route, command)

const row = (role: Role, route?: string, command?: string): Permission => ({
  role,
  ...(route ? { route } : {}),
  ...(command ? { command } : {}),
})

/** Of the operations that are not rows yet. */
export const WRITTEN: readonly Permission[] = [
  // Only on the machine of the service, which has its database: whoever can do that is an admin.
  admin(undefined, 'migrate'),
  admin(undefined, 'purge'),
  admin(undefined, 'reseal'),
  admin(undefined, 'demo remove'),
]
