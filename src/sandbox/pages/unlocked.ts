import type { Deps } from '../../deps.ts'
import { hasSignaturePass } from './unlocked-store.ts'

/** The test run is locked until the signature tool was passed (source, "Authentication": a partner must pass it before). */
export const isUnlocked = ({ db }: Deps, partnerId: bigint): Promise<boolean> => hasSignaturePass(db, partnerId)
