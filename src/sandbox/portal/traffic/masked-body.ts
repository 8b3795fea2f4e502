import type { z } from 'zod'
import { date, dateTime, int64, numericText, price, smallInt, timeOfDay } from '../../../platform/lib/json/fields.ts'
import { parseLossless, prettyLossless } from '../../../platform/lib/json/lossless.ts'
import type { Detail } from '../../../platform/lib/localized-text.ts'
import { HIDDEN, maskedDescribe } from '../../../platform/lib/masked-reason.ts'
import type { FieldKind, SchemaField } from '../docs/field.ts'
import { fieldsOfMessage, type MessageName } from '../docs/reference.ts'

/**
 * What operators see of bodies without giving a reason: the fields of the contract that are about no person and open no
 * gate. Every other field is masked, one that is new or that a partner adds too. No names, texts for people, codes of
 * tickets, documents or ways to reach somebody; a value is shown only if it has the type of its field.
 */
export const SHOWN_FIELDS: ReadonlySet<string> = new Set([
  // of every message, and of pages of lists
  ...['code', 'partnerId', 'method', 'currentPage', 'pageSize', 'totalSize', 'asyncType'],
  // ids
  ...['partnerPoiId', 'partnerDealId', 'partnerDealIds', 'mtDealId', 'orderId', 'partnerOrderId', 'refundId'],
  ...['refundSerialNo', 'rescheduleNo', 'partnerPrimaryKey', 'levelIds', 'levelNo', 'originLevelIds', 'targetLevelIds'],
  // quantities
  ...['quantity', 'orderQuantity', 'usedQuantity', 'refundedQuantity', 'refundQuantity', 'successCount', 'count'],
  ...['stock', 'maxBuyCount', 'minBuyCount', 'idLimitDays', 'idLimitCount', 'phoneLimitDays', 'phoneLimitCount'],
  ...['visitorInfoGroupSize', 'aheadMinutes', 'refundLimitMinutes', 'orderCancelTime', 'useDateMode'],
  // money
  ...['marketPrice', 'mtPrice', 'settlementPrice', 'buyPrice', 'unitPrice', 'totalPrice', 'refundPrice', 'refundFee'],
  ...['prepaidAccountBalance', 'creditAccountBalance'],
  // days and times of products, visits and calls
  ...['date', 'priceDate', 'startTime', 'endTime', 'travelDate', 'originDate', 'targetDate', 'useStartDate'],
  ...['useEndDate', 'refundTime', 'requestTime', 'responseTime', 'voucherInvalidTime', 'voucherDateBegin'],
  ...['voucherDateEnd', 'scheduleOnlineTime', 'scheduleOfflineTime'],
  ...['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'],
  // states and kinds
  ...['status', 'checkStatus', 'msRatioCheckStatus', 'orderStatus', 'voucherType', 'issueType', 'asyReturnVoucher'],
  ...['realNameType', 'closeType', 'rescheduleType', 'refundMessageType', 'refundType', 'refundTimeType'],
  ...['refundFeeMode', 'partlyRefund', 'visitorInfoType', 'needTicket', 'needCertificateSupplement'],
  ...['returnVoucher', 'voucherLoaders', 'aheadHoursType', 'locType'],
])

const TYPES: Readonly<Partial<Record<FieldKind, z.ZodType>>> = {
  int: smallInt(),
  stock: smallInt(),
  int64: int64(),
  digits: numericText(),
  price: price(),
  date: date(),
  datetime: dateTime(),
  time: timeOfDay(),
}

/** An id without spaces that has a digit: no name of a person, no sentence, no mail address. */
const ID = /^(?=.*\d)[\w.:/+-]{1,64}$/

const fits = (value: unknown, { kind, values }: SchemaField): boolean => {
  if (values.length > 0) return values.some((known) => String(known) === String(value))
  if (kind === 'boolean') return typeof value === 'boolean'
  if (kind === 'id' || kind === 'text') return ID.test(String(value)) || dateTime().safeParse(value).success
  return TYPES[kind]?.safeParse(value).success ?? false
}

const isNothing = (value: unknown): boolean => value === null || value === ''

function masked(value: unknown, field: SchemaField | undefined): unknown {
  if (Array.isArray(value)) return value.map((entry) => maskedEntry(entry, field?.list ? field : undefined))
  return maskedEntry(value, field)
}

function maskedEntry(value: unknown, field: SchemaField | undefined): unknown {
  if (Array.isArray(value)) return value.map((entry) => maskedEntry(entry, undefined))
  if (typeof value === 'object' && value !== null) return maskedFields(value, field?.fields ?? [])
  const isShown = field !== undefined && SHOWN_FIELDS.has(field.name) && fits(value, field)
  return isShown || isNothing(value) ? value : HIDDEN
}

/** A name that the contract lacks may be about a person too, as the keys of a map by document number. */
function maskedFields(object: object, fields: readonly SchemaField[]): object {
  let unknown = 0
  return Object.fromEntries(
    Object.entries(object).map(([name, value]) => {
      const field = fields.find((candidate) => candidate.name === name)
      return [field ? name : `(unknown ${++unknown})`, masked(value, field)]
    }),
  )
}

/** Our own answers say why a notice was refused; what a partner says may be anything. */
const withOurWords = (shown: object, given: object, reason: Detail | null): object =>
  'describe' in given ? { ...shown, describe: maskedDescribe(String(given.describe), reason) } : shown

/**
 * Indented JSON without what may be about a person; undefined for text that is not JSON, or has a name twice, which may
 * hold anything. Nothing is shown of a message that is not one of the contract.
 */
export function maskedBody(text: string, message: MessageName | undefined): string | undefined {
  const read = parseLossless(Buffer.from(text))
  if ('problem' in read) return undefined
  const { value } = read
  const fields = message === undefined ? [] : fieldsOfMessage(message)
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return prettyLossless(masked(value, undefined))
  const shown = maskedFields(value, fields)
  return prettyLossless(message?.direction === 'our-answer' ? withOurWords(shown, value, message.reason) : shown)
}
