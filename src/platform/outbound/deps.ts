import type { Deps } from '../deps.ts'
import type { AddressGuard } from './address-guard.ts'

/** For operations that send something to an address that somebody else has named. */
export interface OutboundDeps extends Deps {
  readonly calls: { readonly guard: AddressGuard }
}
