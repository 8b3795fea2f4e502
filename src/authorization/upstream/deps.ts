import type { Deps } from '../../platform/deps.ts'
import type { Provider } from './provider.ts'

/** For operations that go to the platform's OpenID provider. */
export interface UpstreamDeps extends Deps {
  /** Undefined where people sign in here. */
  readonly upstream?: Provider | undefined
}
