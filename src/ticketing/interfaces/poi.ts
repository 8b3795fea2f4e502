import { z } from 'zod'
import { idText, maybe, oneOf, smallInt, text } from '../../platform/lib/json/fields.ts'
import { listOf } from '../../platform/lib/json/shape.ts'
import { partnerInterface } from './interface.ts'

const page = { method: z.literal('page'), currentPage: smallInt(), pageSize: smallInt() }
const multi = { method: z.literal('multi') }

/** Longitude and latitude are degrees × 10^6; locType 0 GCJ-02, 1 WGS-84, 2 Baidu, 3 Mapbar, 4 Sogou, 5 other. */
const poi = z.looseObject({
  partnerPoiId: idText(),
  name: text(),
  city: maybe(text()),
  address: maybe(text()),
  phone: maybe(idText()),
  locType: maybe(oneOf(0, 1, 2, 3, 4, 5)),
  longitude: maybe(smallInt()),
  latitude: maybe(smallInt()),
})

export const poiPull = partnerInterface({
  name: 'poi-pull',
  defaultPath: '/poi/query',
  reads: true,
  request: z.discriminatedUnion('method', [
    z.object(page),
    z.object({ ...multi, partnerPoiId: listOf('pois', idText()) }),
  ]),
  answer: z.looseObject({ totalSize: maybe(smallInt()), body: listOf('pois', poi) }),
})
