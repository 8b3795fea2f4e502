import { HISTORY_COLUMNS } from '../../platform/history/index.ts'
import { action, type Verdict } from '../../platform/lib/action.ts'
import { byOperator, type CallDeps, type CallProblem } from '../partner-calls/index.ts'
import { pullCatalogue } from './pull-catalogue.ts'
import { pullPrices } from './pull-prices.ts'
import { pullProduct } from './pull-product.ts'
import { productPage, showProduct } from './show-product.ts'
import { catalogueOrOne, oneProduct, priceRange, productFilter } from './wire.ts'

const PRODUCTS = '/partners/:partner_id/products'
const PRODUCT = `${PRODUCTS}/:partner_deal_id`

interface Pulled {
  readonly failure: CallProblem | null
  readonly problems: readonly object[]
}

const verdict = ({ failure, problems }: Pulled): Verdict =>
  failure || problems.length > 0
    ? { tone: 'bad', text: 'catalogue.not_all_pulled' }
    : { tone: 'good', text: 'catalogue.pulled' }

/** The report, with the reason of a failed call. */
const told = ({ failure, ...report }: Pulled): object => ({
  ...(failure ? { detail: failure.detail, code: failure.code } : {}),
  ...report,
  problems: [...report.problems, ...(failure?.problems ?? [])],
})
const OF_ENTRIES = ['entry', 'path', 'problem'] as const
const pull = { verdict, told, parts: { problems: OF_ENTRIES, warnings: OF_ENTRIES } }

export const PRODUCT_ACTIONS = [
  action({
    route: `GET ${PRODUCTS}`,
    command: 'product list',
    arguments: [],
    role: 'viewer',
    input: productFilter,
    run: productPage,
    list: {
      rows: 'products',
      columns: ['partner_deal_id', 'mt_deal_id', 'sale_state', 'pulled_at', 'title'],
    },
  }),
  action({
    route: `GET ${PRODUCT}`,
    command: 'product show',
    arguments: ['partner_deal_id'],
    role: 'viewer',
    input: oneProduct,
    run: showProduct,
    record: 'product',
    parts: {
      prices: ['price_date', 'partner_primary_key', 'market_price', 'mt_price', 'settlement_price', 'stock'],
      history: HISTORY_COLUMNS,
    },
  }),
  action({
    route: `POST ${PRODUCTS}/pull`,
    command: 'product pull',
    arguments: ['partner_deal_id'],
    role: 'editor',
    input: catalogueOrOne,
    run: (deps: CallDeps, { partner_id, partner_deal_id }) =>
      partner_deal_id === undefined
        ? pullCatalogue(deps, { partner_id }, byOperator(deps))
        : pullProduct(deps, { partner_id, partner_deal_id }, { cause: byOperator(deps) }),
    ...pull,
  }),
  action({
    route: `POST ${PRODUCT}/pull`,
    role: 'editor',
    input: oneProduct,
    run: (deps: CallDeps, product) => pullProduct(deps, product, { cause: byOperator(deps) }),
    ...pull,
  }),
  action({
    route: `POST ${PRODUCT}/pull-prices`,
    command: 'product pull-prices',
    arguments: ['partner_deal_id'],
    role: 'editor',
    input: priceRange,
    run: (deps: CallDeps, range) => pullPrices(deps, range, { cause: byOperator(deps) }),
    ...pull,
  }),
]
