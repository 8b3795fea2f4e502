import { RescodeError } from '../lib/rescode.ts'

/** Every way in which A4 and A5 refuse beyond those of A1–A3 (decisions, section 1). */

export const invalidToken = (detail: string): RescodeError => new RescodeError(20009, { detail })

export const expiredToken = (): RescodeError => new RescodeError(20020)

export const accessDenied = (detail: string): RescodeError => new RescodeError(20011, { detail })

export const noPhoneNumber = (): RescodeError =>
  new RescodeError(20013, {
    nativeStatus: 400,
    detail: 'the user has no phone number',
  })
