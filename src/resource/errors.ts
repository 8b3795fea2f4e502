import { RescodeError } from '../lib/web/rescode.ts'

/** Every way in which A4 and A5 refuse beyond those of A1–A3 (decisions, section 1). */

export const invalidToken = (detail: string): RescodeError => new RescodeError(20009, { detail })

export const expiredToken = (): RescodeError => new RescodeError(20020)

export const accessDenied = (detail: string): RescodeError => new RescodeError(20011, { detail })

/** Nobody's mistake, but the contract's table gives 20013 no other native status than 500 (400 only for a code). */
export const noPhoneNumber = (): RescodeError => new RescodeError(20013, { detail: 'the user has no phone number' })
