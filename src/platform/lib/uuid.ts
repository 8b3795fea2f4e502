const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i

/** Checked before a query: anything else identifies no row, and PostgreSQL would refuse it. */
export const isUuid = (text: string): boolean => UUID.test(text)
