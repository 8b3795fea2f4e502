/** What a field means, in English and Chinese, and a value for the example; an object that has fields needs none. */
export type Meaning = readonly [en: string, zh: string, example?: unknown]

/** By name, or by the end of an anchor (`voucherList.status`, `order-close.request.body.closeType`) where names mean several things. */
export type Meanings = Readonly<Record<string, Meaning>>
