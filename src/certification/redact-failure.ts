import type { Config } from '../config/index.ts'

/**
 * Failures that say something about our network. Partners choose the URLs, so they must not learn which of these it
 * was.
 */
const ALIKE = ['address', 'dns', 'connect']

const UNREACHABLE = 'the URL cannot be reached, or leads to an address or port that is not called'

/**
 * Whether a failure of this kind is shown as `unreachable`. In production blocked, refused and unreachable look the
 * same.
 */
export const isNetworkFailure = ({ NODE_ENV }: Pick<Config, 'NODE_ENV'>, kind: string): boolean =>
  NODE_ENV === 'production' && ALIKE.includes(kind)

/** A failed call as its partner may see it. */
export const redactFailure = (
  config: Pick<Config, 'NODE_ENV'>,
  failure: { readonly kind: string; readonly detail: string },
): { readonly kind: string; readonly detail: string } =>
  isNetworkFailure(config, failure.kind) ? { kind: 'unreachable', detail: UNREACHABLE } : failure
