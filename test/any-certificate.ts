import { vi } from 'vitest'

/** Calls take self-signed certificates, without Node's warning of that, until the function that is returned is called. */
export function acceptAnyCertificate(): () => void {
  vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0')
  const warning = vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
  return () => {
    warning.mockRestore()
    vi.unstubAllEnvs()
  }
}
