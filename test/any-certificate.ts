import { vi } from 'vitest'

/** Accepts self-signed certificates, without Node's warning about it, until the returned function is called. */
export function acceptAnyCertificate(): () => void {
  vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0')
  const warning = vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
  return () => {
    warning.mockRestore()
    vi.unstubAllEnvs()
  }
}
