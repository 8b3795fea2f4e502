import type { RunDeps } from '../certification/index.ts'
import type { TokenDeps } from '../oauth/index.ts'
import type { UpstreamDeps } from '../upstream/index.ts'

/** All that lives as long as the process: for work of every room. */
export interface ServiceDeps extends RunDeps, TokenDeps, UpstreamDeps {}
