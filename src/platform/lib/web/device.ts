import type { Translate } from './locale.ts'

/** The first match counts: most browsers also claim to be others. */
const BROWSERS: readonly (readonly [RegExp, string])[] = [
  [/MicroMessenger\//, 'WeChat'],
  [/AlipayClient\//, 'Alipay'],
  [/\bQQBrowser\/|MQQBrowser\//, 'QQ Browser'],
  [/\bEdg(?:e|A|iOS)?\//, 'Edge'],
  [/\bOPR\//, 'Opera'],
  [/SamsungBrowser\//, 'Samsung Internet'],
  [/\b(?:Firefox|FxiOS)\//, 'Firefox'],
  [/\b(?:Chrome|CriOS|Chromium|HeadlessChrome)\//, 'Chrome'],
  [/\bVersion\/[\d.]+.*\bSafari\//, 'Safari'],
  [/^curl\//, 'curl'],
]
const SYSTEMS: readonly (readonly [RegExp, string])[] = [
  [/\biPhone\b/, 'iPhone'],
  [/\biPad\b/, 'iPad'],
  [/\bHarmonyOS\b|\bOpenHarmony\b/, 'HarmonyOS'],
  [/\bAndroid\b/, 'Android'],
  [/\bWindows\b/, 'Windows'],
  [/\bMac OS X\b|\bMacintosh\b/, 'Mac'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bLinux\b/, 'Linux'],
]

/** The names of browser and operating system; null if the User-Agent names none that we know. */
export interface Device {
  readonly browser: string | null
  readonly system: string | null
}

export function deviceOf(userAgent: string | null): Device {
  const named = (list: typeof BROWSERS) => list.find(([sign]) => sign.test(userAgent ?? ''))?.[1] ?? null
  return { browser: named(BROWSERS), system: named(SYSTEMS) }
}

export function deviceInWords(userAgent: string | null, t: Translate): string {
  const { browser, system } = deviceOf(userAgent)
  if (browser && system) return t('account.device.both', { browser, system })
  return browser ?? system ?? t('account.device.unknown')
}
