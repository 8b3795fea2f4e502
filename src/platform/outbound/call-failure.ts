/** What a connection is waiting for. */
export type ConnectPhase = 'dns' | 'connect' | 'tls'

/**
 * What went wrong below HTTP. `address`: not an allowed one; `dns`, `connect`, `tls`: could not connect; `timeout`,
 * `too-large`: the response took too long or was too large; `broken`: no complete HTTP response arrived.
 */
export type CallFailure = 'address' | ConnectPhase | 'timeout' | 'too-large' | 'broken'
