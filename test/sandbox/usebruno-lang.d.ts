/** What is used of Bruno's own reader of its files, which comes without types. */
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
