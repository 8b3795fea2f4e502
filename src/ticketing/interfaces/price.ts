import { z } from 'zod'
import { amount, date, idText, maybe, oneOf, stock, text, timeOfDay } from '../../platform/lib/json/fields.ts'
import { listOf } from '../../platform/lib/json/shape.ts'
import { implausibleInCalendar } from './implausible.ts'
import { partnerInterface } from './interface.ts'

const failures = { 201: 'bad parameters', 299: 'other price error' }
const prices = { marketPrice: amount(), mtPrice: amount(), settlementPrice: amount(), stock: stock() }
const range = { partnerDealId: idText(), startTime: date(), endTime: date() }

const dayPrice = z.looseObject({ partnerDealId: idText(), date: date(), ...prices })

export const priceCalendar = partnerInterface({
  name: 'price-calendar',
  defaultPath: '/product/price/query',
  reads: true,
  request: z.object(range),
  answer: z.looseObject({ body: listOf('prices', dayPrice) }),
  implausible: (entries) => implausibleInCalendar(entries, 'date'),
  failures,
})

const level = z.looseObject({ levelNo: idText(), levelName: text() })

/** One session or kind of ticket on one day. */
export const levelPrice = z.looseObject({
  partnerPrimaryKey: idText(),
  skuInfo: z.looseObject({
    startTime: maybe(timeOfDay()),
    endTime: maybe(timeOfDay()),
    levelInfoList: maybe(listOf('levels', level)),
  }),
  priceDate: date(),
  ...prices,
})

export const levelPriceCalendar = partnerInterface({
  name: 'level-price-calendar',
  defaultPath: '/product/level/price/calendar/v2',
  reads: true,
  encrypted: true,
  request: z.object({ ...range, asyncType: oneOf(0, 1) }),
  answer: z.looseObject({ partnerDealId: idText(), body: listOf('prices', levelPrice) }),
  implausible: (entries) => implausibleInCalendar(entries, 'priceDate'),
  listMayBeMissing: true,
  pending: { 999: 'will follow' },
  failures,
})
