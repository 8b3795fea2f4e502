import type { Deps } from '../../platform/deps.ts'
import type { TokenCap } from './token-cap.ts'

/** For operations that issue tokens. */
export interface TokenDeps extends Deps {
  readonly tokenCap: Pick<TokenCap, 'refreshed'>
}
