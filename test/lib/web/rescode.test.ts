import { describe, expect, it } from 'vitest'
import { TEXTS } from '../../../src/platform/lib/localized-text.ts'
import { RESCODES } from '../../../src/platform/lib/web/rescode.ts'

/** Three lists of the error codes of area A must agree. test/documents/tables.test.ts compares the README's table. */

/** The contract's names, copied (REFERENCE "Errors of area A"). */
const SOURCE: Readonly<Record<number, string>> = {
  20001: 'BadClientCredentialsException',
  20002: 'ClientAuthenticationException',
  20003: 'ForbiddenException',
  20004: 'InsufficientScopeException',
  20005: 'InvalidClientException',
  20006: 'InvalidGrantException',
  20007: 'InvalidRequestException',
  20008: 'InvalidScopeException',
  20009: 'InvalidTokenException',
  20010: 'MethodNotAllowed',
  20011: 'OAuth2AccessDeniedException',
  20012: 'RedirectMismatchException',
  20013: 'ServerErrorException',
  20014: 'UnauthorizedClientException',
  20015: 'UnauthorizedException',
  20016: 'UnauthorizedUserException',
  20017: 'UnsupportedGrantTypeException',
  20018: 'UnsupportedResponseTypeException',
  20019: 'UserDeniedAuthorizationException',
  20020: 'ExpiredAccessTokenException',
  20021: 'ExpiredRefreshTokenException',
}

/** The contract's statuses and messages, copied (REFERENCE "Errors of area A"). */
const DOCUMENTED: Readonly<Record<number, readonly [status: string, message: string]>> = {
  20001: ['401', 'Bad client credentials'],
  20002: ['401', 'Client authentication failed'],
  20003: ['403', 'Request forbidden'],
  20004: ['403', 'Insufficient scope'],
  20005: ['401', 'Invalid client'],
  20006: ['400', 'Invalid grant'],
  20007: ['400', 'Invalid request: *what*'],
  20008: ['400', 'Invalid scope: *what*'],
  20009: ['401', 'Invalid access token'],
  20010: ['405', 'Method not allowed'],
  20011: ['403', 'Access denied'],
  20012: ['400', 'Redirect URI mismatch'],
  20013: ['500 (400 for a code)', 'Server error, or `Invalid authorization code: <code>`'],
  20014: ['401', 'Micro-application not yet trusted'],
  20015: ['401', 'Unauthorized'],
  20016: ['401', 'User not yet trusted'],
  20017: ['400', 'Unsupported grant type: *what*; use authorization_code or refresh_token'],
  20018: ['400', 'Unsupported response type: *what*; use code'],
  20019: ['400', 'User denied authorization'],
  20020: ['401', 'Access token expired'],
  20021: ['400', 'Invalid refresh token (expired)'],
}

describe('the lists of error codes agree', () => {
  const codes = Object.keys(SOURCE)

  it('the code and the contract', () => {
    expect(Object.keys(RESCODES)).toEqual(codes)
    for (const [code, name] of Object.entries(SOURCE)) {
      expect(RESCODES[Number(code) as keyof typeof RESCODES].name).toBe(name)
    }
  })

  it('the code and the reference', () => {
    expect(Object.keys(DOCUMENTED)).toEqual(codes)
    for (const [code, [status, message]] of Object.entries(DOCUMENTED)) {
      const row = RESCODES[Number(code) as keyof typeof RESCODES]
      expect(String(row.status)).toBe(status.slice(0, 3))
      const said = TEXTS[row.message].replace(/\{(\w+)\}/, '*$1*')
      expect(message.startsWith(said), `${code}: ${said}`).toBe(true)
    }
  })
})
