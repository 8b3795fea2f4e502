import { z } from 'zod'
import { problem } from '../../platform/lib/json/field-problem.ts'
import { amount, idText, maybe, oneOf, smallInt, stock, text } from '../../platform/lib/json/fields.ts'
import { EVEN_IF_WRONG, LIST_LIMITS, listOf, requireField } from '../../platform/lib/json/shape.ts'
import { localized } from '../../platform/lib/localized-text.ts'
import { implausibleInProducts } from './implausible.ts'
import { partnerInterface, plainAnswer } from './interface.ts'

const image = z.looseObject({ imageName: maybe(z.string()), imageUrl: text(), frontImage: maybe(z.unknown()) })

/** Keeps the valid entries of a list. */
const usable = <Element extends z.ZodType>(element: Element, name: 'details' | 'images') =>
  (({ input }) =>
    (Array.isArray(input) ? input : [])
      .slice(0, LIST_LIMITS.details)
      .flatMap((value) => {
        const read = element.safeParse(value)
        return read.success ? [read.data] : []
      })
      .slice(0, LIST_LIMITS[name])) satisfies (context: { input: unknown }) => z.output<Element>[]

/**
 * What is read leniently, as the contract defines it: of an invalid field the usable part is stored. These only affect
 * what buyers see; prices, stock, dates, quantities, visitors, and the rules for refunds and vouchers stay strict.
 */
const lenientFields = {
  subTitle: maybe(z.string()).catch(undefined),
  servicePhones: listOf('details', z.unknown()).catch(usable(z.unknown(), 'details')),
  getInAddresses: listOf('details', text()).catch(usable(text(), 'details')),
  orderCancelTime: maybe(
    smallInt().refine(
      (minutes) => minutes > 30 && minutes <= 120,
      problem('must-be-minutes', { least: 30, most: 120 }),
    ),
  ).catch(undefined),
  dealImageInfos: maybe(listOf('images', image)).catch(usable(image, 'images')),
}

const flag = () => maybe(z.boolean())

const flags = (...names: string[]) => z.looseObject(Object.fromEntries(names.map((name) => [name, flag()])))

const visitorInfoRule = flags(
  ...['name', 'pinyin', 'mobile', 'address', 'email', 'credentials', 'passport', 'hkmlp', 'tlp', 'mtp'],
)
const validWeekRule = flags('monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday')

/** refundFeeMode: 1 none, 2 per ticket, 3 per order, 4 ratio. */
const refundStair = z.looseObject({
  refundTimeType: oneOf(0, 1, 2, 3),
  refundLimitMinutes: maybe(smallInt()),
  refundFeeMode: oneOf(1, 2, 3, 4),
  refundFee: maybe(amount()),
  refundNote: maybe(z.string()),
})

const exchangeRule = z.looseObject({
  effectiveCertificate: maybe(z.unknown()),
  voucherLoaders: maybe(listOf('details', smallInt())),
  needCertificateSupplement: flag(),
  certificateSupplement: maybe(z.string()),
})

/** Required for an open-date product; a dated one has a price calendar instead. */
const openDate = {
  stock: maybe(stock()),
  marketPrice: maybe(amount()),
  mtPrice: maybe(amount()),
  settlementPrice: maybe(amount()),
  voucherDateBegin: maybe(text()),
  voucherDateEnd: maybe(text()),
  validWeekRule: maybe(validWeekRule),
}

/** Fields that are required for this value of another. */
const REQUIRED_WHEN = [
  { other: 'useDateMode', value: 0, fields: Object.keys(openDate) as (keyof typeof openDate)[] },
  { other: 'returnVoucher', value: false, fields: ['voucherText'] },
] as const

/** A product. The platform keeps the whole entry, beside the few fields that it queries. */
const product = z
  .looseObject({
    partnerDealId: idText(),
    partnerPoiId: maybe(idText()),
    title: text(),
    include: z.string(),
    exclude: maybe(z.string()),
    otherNote: z.string(),
    /** 0 open date; n: valid n days from the booked date, and a price calendar exists */
    useDateMode: smallInt(),
    // Visitors.
    /** 1 none, 2 one, 3 all, 4 per group */
    visitorInfoType: oneOf(1, 2, 3, 4),
    visitorInfoGroupSize: maybe(smallInt()),
    visitorInfoRule: maybe(visitorInfoRule),
    idLimitDays: maybe(smallInt()),
    idLimitCount: maybe(smallInt()),
    phoneLimitDays: maybe(smallInt()),
    /** 0 none */
    phoneLimitCount: smallInt(),
    /** 0 none */
    maxBuyCount: smallInt(),
    minBuyCount: smallInt().refine((count) => count >= 1, problem('must-be-at-least', { least: 1 })),
    // Refunds.
    /** 1 any time, 3 never, 4 conditional */
    refundType: oneOf(1, 3, 4),
    partlyRefund: z.boolean(),
    refundNote: maybe(z.string()),
    refundStairsRules: maybe(listOf('details', refundStair)),
    // Tickets and vouchers.
    needTicket: z.boolean(),
    getTicketRule: maybe(exchangeRule),
    getVoucherRule: exchangeRule,
    returnVoucher: z.boolean(),
    voucherText: maybe(z.string().max(20, problem('must-have-characters', { most: 20 }))),
    voucherTimes: maybe(listOf('times', z.unknown())),
    // Sale.
    scheduleOnlineTime: maybe(text()),
    scheduleOfflineTime: text(),
    aheadHoursType: maybe(smallInt()),
    aheadMinutes: maybe(smallInt()),
    aheadTimeRules: maybe(z.unknown()),
    unavailableDates: maybe(z.unknown()),
    ...openDate,
    ...lenientFields,
  })
  .superRefine((entry, context) => {
    for (const { other, value, fields } of REQUIRED_WHEN) {
      if (entry[other] !== value) continue
      const message = localized('required-because', { field: other, value: String(value) })
      for (const field of fields) requireField(entry, context, field, message)
    }
  }, EVEN_IF_WRONG)
  .meta({
    requiredWhen: Object.fromEntries(
      REQUIRED_WHEN.flatMap(({ other, value, fields }) => fields.map((field) => [field, `${other} = ${value}`])),
    ),
  })

export const productPull = partnerInterface({
  name: 'product-pull',
  defaultPath: '/product/query',
  reads: true,
  request: z.discriminatedUnion('method', [
    z.object({ method: z.literal('page'), currentPage: smallInt(), pageSize: smallInt() }),
    z.object({ method: z.literal('multi'), partnerDealIds: listOf('deals', idText()) }),
  ]),
  answer: z.looseObject({ totalSize: maybe(smallInt()), body: listOf('products', product) }),
  implausible: implausibleInProducts,
})

/** status: 0 waiting, 1 online, 2 failed, 3 offline, 4 not yet online; checkStatus: see its values in the reference. */
export const productStatus = partnerInterface({
  name: 'product-status',
  defaultPath: '/product/status',
  request: listOf(
    'products',
    z.object({
      partnerDealId: idText(),
      status: oneOf(0, 1, 2, 3, 4),
      checkStatus: oneOf(0, 1, 2, 3, 4, 5, 9).optional(),
      msRatioCheckStatus: smallInt().optional(),
    }),
  ),
  answer: plainAnswer,
})
