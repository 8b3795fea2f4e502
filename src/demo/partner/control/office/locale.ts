/** Languages of the back office. */
export type Locale = 'en' | 'zh-CN'

/** The language that the browser likes best of those that we have; English when it names none of them. */
export function localeOf(acceptLanguage = ''): Locale {
  const wishes = acceptLanguage.split(',').map((wish) => {
    const [tag = '', weight = ''] = wish
      .trim()
      .toLowerCase()
      .split(/;\s*q=/)
    return { language: tag.split('-')[0], weight: weight === '' ? 1 : Number(weight) }
  })
  const ours = wishes.filter(({ language, weight }) => (language === 'en' || language === 'zh') && weight > 0)
  const [best] = ours.sort((one, other) => other.weight - one.weight)
  return best?.language === 'zh' ? 'zh-CN' : 'en'
}
