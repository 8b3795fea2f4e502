import { InvalidInput } from '../../platform/lib/json/input.ts'
import { localized } from '../../platform/lib/localized-text.ts'
import type { Role } from '../../platform/lib/web/admin-auth.ts'
import { invalidRequest, RefusedRequest, RescodeError } from '../../platform/lib/web/rescode.ts'

export const noSuchOperator = (): RescodeError => invalidRequest(localized('no-operator'), { status: 404 })
export const noSuchToken = (): RescodeError => invalidRequest(localized('no-token'), { status: 404 })

export const nameTaken = (): InvalidInput => new InvalidInput([{ field: 'name', problem: localized('already-taken') }])

export const roleAboveOperator = (role: Role): InvalidInput =>
  new InvalidInput([{ field: 'role', problem: localized('above-own-role', { role }) }])

export const lastAdmin = (): RescodeError => new RefusedRequest(localized('last-admin'))

/** The operator is authenticated, but may not do this. */
export class RoleNeeded extends RescodeError {
  readonly needed: Role

  constructor(operation: string, needed: Role, has: Role) {
    super(20003, {
      message: localized('role-needed', { operation, needed, has }),
      detail: 'the role of the operator does not allow it',
    })
    this.needed = needed
  }
}

export const wrongBearer = (hasAdminToken: boolean): RescodeError =>
  new RescodeError(20015, {
    headers: { 'WWW-Authenticate': 'Bearer' },
    detail: `missing or wrong operator token${hasAdminToken ? '' : '; ADMIN_TOKEN is not set'}`,
  })

export const foreignHost = (): RescodeError =>
  new RescodeError(20003, {
    message: localized('demo-token-public'),
    detail: 'a Host that is not this machine, with the ADMIN_TOKEN of the demo',
  })
