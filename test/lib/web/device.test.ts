import { expect, it } from 'vitest'
import { deviceOf } from '../../../src/platform/lib/web/device.ts'

const MAC = 'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko)'
const WINDOWS =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36'
const PHONE = 'Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko)'
const ANDROID = 'Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko)'

it.each([
  [WINDOWS, 'Chrome', 'Windows'],
  [`${WINDOWS} Edg/141.0.0.0`, 'Edge', 'Windows'],
  [`${WINDOWS} OPR/122.0.0.0`, 'Opera', 'Windows'],
  [`${MAC} Version/18.6 Safari/605.1.15`, 'Safari', 'Mac'],
  ['Mozilla/5.0 (X11; Linux x86_64; rv:143.0) Gecko/20100101 Firefox/143.0', 'Firefox', 'Linux'],
  [`${PHONE} Version/18.6 Mobile/15E148 Safari/604.1`, 'Safari', 'iPhone'],
  [`${PHONE} CriOS/141.0.0.0 Mobile/15E148 Safari/604.1`, 'Chrome', 'iPhone'],
  [`${PHONE} Mobile/15E148 MicroMessenger/8.0.60 NetType/WIFI`, 'WeChat', 'iPhone'],
  [`${ANDROID} SamsungBrowser/28.0 Chrome/130.0.0.0 Mobile Safari/537.36`, 'Samsung Internet', 'Android'],
  [`${ANDROID} Chrome/141.0.0.0 Mobile Safari/537.36`, 'Chrome', 'Android'],
  ['curl/8.7.1', 'curl', null],
  ['something else', null, null],
  [null, null, null],
])('the browser and system of %s', (userAgent, browser, system) => {
  expect(deviceOf(userAgent)).toEqual({ browser, system })
})
