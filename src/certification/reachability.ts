import type { Config } from '../config/index.ts'

/** Failures that would tell a partner about our network, were they told apart: it chooses the URLs. */
const ALIKE = ['address', 'dns', 'connect']

const UNREACHABLE = 'the URL cannot be reached, or leads to an address or port that is not called'

/** Whether this kind of failure is told as `unreachable`: in production, where blocked, refused and unreachable read alike. */
export const isAlike = ({ NODE_ENV }: Pick<Config, 'NODE_ENV'>, kind: string): boolean =>
  NODE_ENV === 'production' && ALIKE.includes(kind)

/** A failed call as its partner may see it. */
export const shownFailure = (
  config: Pick<Config, 'NODE_ENV'>,
  failure: { readonly kind: string; readonly detail: string },
): { readonly kind: string; readonly detail: string } =>
  isAlike(config, failure.kind) ? { kind: 'unreachable', detail: UNREACHABLE } : failure
