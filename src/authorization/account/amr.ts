/** Values of `amr` (RFC 8176; `pop` is of the Extended Authentication Profile). A recovery code has none of its own: it is a factor more, and no code of an authenticator. */
export const AMR = {
  password: ['pwd'],
  totp: ['pwd', 'otp', 'mfa'],
  recoveryCode: ['pwd', 'mfa'],
  /** A key of an authenticator, in hardware or not, that has itself found out who uses it. */
  passkey: ['pop', 'mfa'],
} as const
