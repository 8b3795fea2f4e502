import { sharedSystem } from '../acceptance/system.ts'

/** The OpenAPI document of area A and of the standard dialect, as the service serves it. */

// biome-ignore lint/suspicious/noExplicitAny: documents of a format that others define
export type Json = any

export const documentOf = async (origin: string, language = 'en'): Promise<Json> =>
  (await fetch(`${origin}/openapi.json`, { headers: { 'Accept-Language': language } })).json()

/** The operations with their routes, such as `POST /oauth2/token`. */
export const operationsOf = (document: Json): [route: string, operation: Json][] =>
  Object.entries<Json>(document.paths).flatMap(([path, methods]) =>
    Object.entries<Json>(methods).map(([method, operation]): [string, Json] => [
      `${method.toUpperCase()} ${path}`,
      operation,
    ]),
  )

/** The origins of the shared service's processes: one with the default HTTP statuses, one with native statuses. */
export const origins = async (): Promise<string[]> => (await sharedSystem()).processes.map(({ origin }) => origin)
