import { INTERFACES, type InterfaceName, interfaceNamed } from '../../interfaces/index.ts'
import { masker } from '../../lib/crypto/masking.ts'
import { interfaceUrl, type PartnerWithSecrets, secretTexts } from '../../partners/index.ts'

export interface CoveredInterface {
  readonly name: InterfaceName
  readonly url: string
}

/** The interfaces for which the partner has a URL, with it. */
export function coveredInterfaces(partner: PartnerWithSecrets): CoveredInterface[] {
  const mask = masker(secretTexts(partner))
  return INTERFACES.flatMap(({ name, defaultPath }) => {
    const url = interfaceUrl(partner, name, defaultPath)
    return url === undefined ? [] : [{ name, url: mask(url) }]
  })
}

export const isCovered = (partner: PartnerWithSecrets, name: InterfaceName): boolean =>
  interfaceUrl(partner, name, interfaceNamed(name)?.defaultPath ?? '') !== undefined
