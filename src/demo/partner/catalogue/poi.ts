import type { Answer } from '../answer.ts'
import { type Fields, texts } from '../fields.ts'
import { pageOf } from './query.ts'

/** The places of this shop. Degrees × 10^6 as whole numbers; locType 0 is GCJ-02, what Chinese maps use. */
const POIS = [
  {
    partnerPoiId: 'DEMO-LAKE',
    name: '西湖 West Lake',
    city: '杭州',
    address: '西湖区龙井路1号',
    phone: '0571-88880001',
    locType: 0,
    longitude: 120_148_872,
    latitude: 30_242_489,
  },
  {
    partnerPoiId: 'DEMO-TOWER-HILL',
    name: '雷峰塔 Leifeng Tower',
    city: '杭州',
    address: '西湖区南山路15号',
    phone: '0571-88880002',
    locType: 0,
    longitude: 120_148_990,
    latitude: 30_231_210,
  },
]

/** POI pull. */
export function queryPois(body: Fields): Answer {
  if (body.method === 'page') return pageOf(POIS, body)
  const wanted = texts(body, 'partnerPoiId')
  const found = POIS.filter((poi) => wanted.includes(poi.partnerPoiId))
  return { totalSize: found.length, body: found }
}
