/** The part of Bruno's own file parser that is used here; it comes without types. */
declare module '@usebruno/lang' {
  interface BruRequest {
    readonly http: { readonly method: string; readonly url: string }
    readonly headers: readonly { readonly name: string; readonly value: string }[]
    readonly body: { readonly json: string }
    readonly tests: string
  }
  const lang: {
    bruToJsonV2(text: string): BruRequest
    bruToEnvJsonV2(text: string): { variables: { name: string; value?: string; secret: boolean }[] }
    collectionBruToJson(text: string): { script: { req: string } }
  }
  export default lang
}
