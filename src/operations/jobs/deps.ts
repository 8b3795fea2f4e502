import type { TokenDeps } from '../../authorization/oauth/index.ts'
import type { UpstreamDeps } from '../../authorization/upstream/index.ts'
import type { RunDeps } from '../../sandbox/certification/index.ts'

/** All that lives as long as the process: for work of every room. */
export interface ServiceDeps extends RunDeps, TokenDeps, UpstreamDeps {}
