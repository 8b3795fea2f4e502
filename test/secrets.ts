/** Secrets of services under test. */
export const SECRET_KEY = 'a secret key that is used by tests and by nothing else'
export const ADMIN_TOKEN = 'admin-token-used-by-tests-only'
