import { endpointAt, mountsOf } from '../../platform/config/mounts.ts'
import type { Deps } from '../../platform/deps.ts'
import type { Waiting } from '../certification/index.ts'
import { curlOf } from './traffic/curl.ts'

/** Every address of a notice; its path is below MTP_PATH_PREFIXES. */
export const noticeUrls = ({ config }: Pick<Deps, 'config'>, path: string): string[] =>
  mountsOf(config.MTP_PATH_PREFIXES).map((mount) => config.PARTNER_URL + endpointAt(mount, path))

/** The notice that a step waits for as a shell script, which signs it when it runs; undefined where it is not known. */
export function noticeCurl(
  deps: Pick<Deps, 'config'>,
  partner: { readonly client_id: string; readonly partner_id: bigint },
  { path, notice }: Waiting,
): string | undefined {
  const [url] = noticeUrls(deps, path)
  if (url === undefined || notice === undefined) return undefined
  const caller = { clientId: partner.client_id, partnerId: String(partner.partner_id) }
  return curlOf({ url, ...caller, body: notice, encrypted: false, namesApp: false })
}
