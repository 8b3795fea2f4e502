import { isIP } from 'node:net'
import { isLoopbackHost } from '../lib/web/web-url.ts'

/** Fields of the profile that people may change. */
export const PROFILE_FIELDS = ['name', 'avatar', 'gender', 'phone', 'mail'] as const
export type ProfileField = (typeof PROFILE_FIELDS)[number]

/** Whether passkeys work here: browsers need a host name and a secure context. */
export function hasPasskeys({ PASSKEYS, PUBLIC_URL }: { readonly PASSKEYS: boolean; readonly PUBLIC_URL: string }) {
  const { protocol, hostname } = new URL(PUBLIC_URL)
  return PASSKEYS && !isIP(hostname.replace(/^\[|\]$/g, '')) && (protocol === 'https:' || isLoopbackHost(hostname))
}
