const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i

/** What is none names no row, and may hold what the database cannot. */
export const isUuid = (text: string): boolean => UUID.test(text)
